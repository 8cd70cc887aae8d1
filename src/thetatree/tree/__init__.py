"""The tree itself: arrays, rules, pruning, importance and prediction, whatever grew it."""
