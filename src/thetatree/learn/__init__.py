"""The estimators that people call."""
