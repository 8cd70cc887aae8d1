"""Rows in: any data frame becomes columns of flags, numbers and categories, a target and weights."""
