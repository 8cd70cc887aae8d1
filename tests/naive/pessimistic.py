"""Pessimistic pruning as one reads it: from a node down, one question each."""

from thetatree.tree.error_limits import upper_error


def pruned_leaves(tree, confidence, limits):
    """The weights of the leaves that are left."""
    return _prune(tree, 0, confidence, limits)[1]


def _prune(tree, node, confidence, limits):
    cases = float(tree.weighted_n_node_samples[node])
    wrong = cases * (1 - max(tree.values[node]))
    as_leaf = cases * upper_error(wrong, cases, confidence, limits)
    children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
    if len(children) == 0:
        return as_leaf, [cases]
    parts = [_prune(tree, child, confidence, limits) for child in children]
    as_tree = sum(errors for errors, _ in parts)
    if as_leaf <= as_tree + 0.1:
        return as_leaf, [cases]
    return as_tree, [leaf for _, leaves in parts for leaf in leaves]
