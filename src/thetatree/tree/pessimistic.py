"""Pessimistic error pruning of any classification tree (Quinlan 1993, chapter 4).

A node is to become a leaf where the errors reckoned with at the leaf are no more, but for a tenth of a case,
than those at the leaves below it. What is reckoned with is the upper limit of `error_limits`, so no rows are
kept aside. The rows themselves are not needed either; C4.5's other choice, to put a node's largest branch in
its place, does need them and is the kernel's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thetatree.tree.error_limits import upper_error

if TYPE_CHECKING:
    from thetatree.tree.tree import Tree

SLACK = 0.1  # cases by which a leaf may be worse than what it replaces


def estimated_errors(
    tree: Tree, confidence: float = 0.25, limits: str = "release8"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each node's cases, and the errors to be reckoned with if it were a leaf.

    Weights count as cases. Of a tree from sketches the keys that are really held are the cases: what a
    count was estimated from, not what it came to.
    """
    if tree.classes is None:
        raise ValueError("pessimistic pruning counts errors of classes: a regression tree has none")
    cases = tree.weighted_n_node_samples if tree.estimates is None else tree.estimates.held
    errors = cases * (1 - tree.values.max(axis=1))
    some = cases > 0
    reckoned = np.zeros(tree.node_count)
    reckoned[some] = cases[some] * upper_error(errors[some], cases[some], confidence, limits)
    return np.asarray(cases), reckoned


def pessimistic_below(tree: Tree, confidence: float = 0.25, limits: str = "release8") -> NDArray[np.int64]:
    """Return the nodes that become leaves, for `Tree.prune(at=...)`."""
    as_leaf = estimated_errors(tree, confidence, limits)[1].tolist()
    parent, leaf = tree.parent.tolist(), tree.is_leaf.tolist()
    below = [0.0] * tree.node_count  # errors of the pruned subtrees of a node's branches
    cut = []
    for node in range(tree.node_count - 1, -1, -1):
        if leaf[node]:
            errors = as_leaf[node]
        elif as_leaf[node] <= below[node] + SLACK:
            errors = as_leaf[node]
            cut.append(node)
        else:
            errors = below[node]
        if node:
            below[parent[node]] += errors
    return np.array(cut[::-1], dtype=np.int64)
