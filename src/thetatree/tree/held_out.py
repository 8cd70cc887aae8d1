"""What each node of a tree would cost as a leaf, on keys that the tree was not grown from.

The loss of a key is 1 if its class is not the predicted one; for regression the squared error, or the
absolute one where the tree is about medians. Rows and sketches give the same figures, so that pruning and
cross-validation are written once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from thetatree.tree.estimates import Estimates
    from thetatree.tree.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HeldOut:
    """Losses of a tree's nodes on held-out keys.

    Attributes
    ----------
    loss : ndarray of shape (node_count,)
        What the node would cost as a leaf: the weighted sum over the held-out keys that reach it.
    squares : ndarray of shape (node_count,)
        The same sum of squared losses.
    doubt : ndarray of shape (node_count,)
        Variance of the loss, where the keys were counted from sketches; else 0.
    weight : float
        Weight of all held-out keys.
    """

    loss: Floats
    squares: Floats
    doubt: Floats
    weight: float


def sums_below(tree: Tree, at_leaves: NDArray[Any]) -> NDArray[Any]:
    """Add up what stands at the leaves below each node; subtrees are contiguous in preorder."""
    zero = np.zeros((1, *at_leaves.shape[1:]), dtype=at_leaves.dtype)
    running = np.concatenate([zero, np.cumsum(at_leaves, axis=0)])
    return np.asarray(running[tree.subtree_end] - running[:-1])


def class_codes(tree: Tree, y: Any) -> NDArray[np.int64]:
    """Return the place of each label among the tree's classes; -1 for a class that the tree never saw."""
    place = {label: k for k, label in enumerate(tree.classes or ())}
    return np.array([place.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.int64)


def row_losses(
    tree: Tree, leaves: NDArray[np.int64], y: NDArray[Any], weight: Floats | None = None
) -> HeldOut:
    """Judge a tree's nodes by rows.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaves : ndarray
        The leaf of each row.
    y : ndarray
        Codes into the tree's classes (-1: none of them), or numbers.
    weight : ndarray, optional
        One weight per row.
    """
    weights = np.ones(len(leaves)) if weight is None else weight
    if tree.classes is None:
        return _losses_of_numbers(tree, leaves, np.asarray(y, dtype=np.float64), weights)
    n, k = tree.node_count, len(tree.classes)
    known = y >= 0
    right = np.bincount(leaves[known] * k + y[known], weights[known], n * k).reshape(n, k)
    total = sums_below(tree, np.bincount(leaves, weights, n))
    loss = total - sums_below(tree, right)[np.arange(n), tree.values.argmax(axis=1)]
    return HeldOut(loss, loss, np.zeros(n), float(weights.sum()))


def _losses_of_numbers(tree: Tree, leaves: NDArray[np.int64], y: Floats, weights: Floats) -> HeldOut:
    n = tree.node_count
    loss, squares = np.zeros(n), np.zeros(n)
    node = np.asarray(leaves)
    left, w = y, weights
    while len(node):  # every row climbs to the root
        error = np.abs(left - tree.values[node, 0])
        if tree.criterion != "absolute_error":
            error = error**2
        loss += np.bincount(node, w * error, n)
        squares += np.bincount(node, w * error**2, n)
        node = tree.parent[node]
        on = node >= 0
        node, left, w = node[on], left[on], w[on]
    return HeldOut(loss, squares, np.zeros(n), float(weights.sum()))


def losses_on(tree: Tree, X: Any, y: Any = None, sample_weight: Any = None) -> HeldOut:
    """Judge a tree's nodes by a table with its target, or by a sketch set."""
    from thetatree.data.target import read_target, read_weights
    from thetatree.grow.count_tree import count_tree
    from thetatree.sketch.sketch_set import SketchSet

    if isinstance(X, SketchSet):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "a SketchSet knows its classes and has no weights: leave out y and sample_weight"
            )
        return count_losses(tree, count_tree(tree, X))
    leaves = tree.apply(X)
    codes, classes = read_target(y, len(leaves), tree, classify=tree.classes is not None)
    target = codes if classes is None else class_codes(tree, classes)[codes]
    return row_losses(tree, leaves, target, read_weights(sample_weight, len(leaves)))


def count_losses(tree: Tree, counts: Estimates, class_weight: Floats | None = None) -> HeldOut:
    """Judge a tree's nodes by the counts of held-out keys, as `count_tree` gives them.

    The doubt is that of the wrong classes' counts, taken as independent.
    """
    weights = np.ones(counts.count.shape[1]) if class_weight is None else class_weight
    wrong = np.ones_like(counts.count)
    wrong[np.arange(tree.node_count), tree.values.argmax(axis=1)] = 0.0
    loss = (counts.count * wrong) @ weights
    doubt = (counts.standard_error**2 * wrong) @ weights**2
    return HeldOut(loss, loss, doubt, float(counts.count[0] @ weights))
