"""Honest leaves: the splits of a tree stay, and its nodes are filled anew from keys that did not choose them.

A node that none of these keys reaches keeps no count and predicts what its parent does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree.tree.held_out import Floats, sums_below

if TYPE_CHECKING:
    from thetatree.tree.estimates import Estimates
    from thetatree.tree.tree import Tree


def refilled_by_rows(
    tree: Tree, leaves: NDArray[np.int64], y: NDArray[Any], weight: Floats | None = None
) -> Tree:
    """Return the tree with the values, impurities and counts of other rows.

    Parameters
    ----------
    tree : Tree
        The tree whose splits stay.
    leaves : ndarray
        The leaf of each row.
    y : ndarray
        Codes into the tree's classes, or numbers.
    weight : ndarray, optional
        One weight per row.
    """
    weights = np.ones(len(leaves)) if weight is None else weight
    n_rows = sums_below(tree, np.bincount(leaves, minlength=tree.node_count))
    if tree.classes is None:
        return _refilled(tree, *_numbers_by_node(tree, leaves, y, weights), n_rows)
    n, k = tree.node_count, len(tree.classes)
    tally = sums_below(tree, np.bincount(leaves * k + y, weights, n * k).reshape(n, k))
    return _refilled_by_classes(tree, tally, n_rows)


def refilled_by_counts(tree: Tree, counts: Estimates, class_weight: Floats) -> Tree:
    """Return the tree with the counts of other keys, as `count_tree` gives them."""
    n_keys = np.rint(counts.count.sum(axis=1)).astype(np.int64)
    arrays = _refilled_by_classes(tree, counts.count * class_weight, n_keys).arrays()
    arrays |= {name: getattr(counts, name) for name in ("count", "standard_error", "theta", "held")}
    return type(tree).from_arrays(arrays, tree.features, tree.classes, tree.criterion)


def _refilled_by_classes(tree: Tree, tally: Floats, n_keys: NDArray[np.int64]) -> Tree:
    weight = tally.sum(axis=1)
    shares = tally / np.where(weight > 0, weight, 1.0)[:, np.newaxis]
    return _refilled(tree, shares, class_impurities(tree.criterion, shares), weight, n_keys)


def class_impurities(criterion: str, shares: Floats) -> Floats:
    """Return the impurity of each row of class shares, as nodes of that criterion are judged by."""
    if criterion in ("entropy", "log_loss", "gain_ratio"):
        logs = np.log2(np.where(shares > 0, shares, 1.0))
        return np.asarray(np.maximum(0.0, -(shares * logs).sum(axis=1)))
    if criterion == "theta":
        return np.asarray(1 - shares.max(axis=1))
    return np.asarray(np.maximum(0.0, 1 - (shares**2).sum(axis=1)))


def _numbers_by_node(
    tree: Tree, leaves: NDArray[np.int64], y: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats]:
    """Value, impurity and weight of each node: in the order of their leaves, its rows are in one piece."""
    order = np.argsort(leaves, kind="stable")
    y, weights = y[order], weights[order]
    begin = np.searchsorted(leaves[order], np.arange(tree.node_count))
    end = np.searchsorted(leaves[order], tree.subtree_end)
    value, impurity, weight = np.zeros((3, tree.node_count))
    for node in np.flatnonzero(end > begin).tolist():
        own = slice(begin[node], end[node])
        value[node], impurity[node] = _centre_and_loss(tree.criterion, y[own], weights[own])
        weight[node] = weights[own].sum()
    return value[:, np.newaxis], impurity, weight


def _centre_and_loss(criterion: str, y: Floats, w: Floats) -> tuple[float, float]:
    """What a leaf of these rows predicts, and its mean loss."""
    if criterion == "absolute_error":
        centre = weighted_median(y, w)
        return centre, float(np.average(np.abs(y - centre), weights=w))
    centre = float(np.average(y, weights=w))
    if criterion == "poisson":
        some = y > 0
        ratio = y[some] / centre if centre > 0 else y[some]
        return centre, float((w[some] * y[some] * np.log(ratio)).sum() / w.sum())
    return centre, float(np.average((y - centre) ** 2, weights=w))


def weighted_median(y: Floats, w: Floats) -> float:
    """Return the median; where the weight below reaches exactly half, the mean of the two middle values."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(w[order])
    at = int(np.searchsorted(below, below[-1] / 2))
    exactly = below[at] == below[-1] / 2 and at + 1 < len(y)
    return float((y[order[at]] + y[order[at + 1]]) / 2 if exactly else y[order[at]])


def _refilled(tree: Tree, values: Floats, impurity: Floats, weight: Floats, n: NDArray[np.int64]) -> Tree:
    values, impurity = values.copy(), impurity.copy()
    if not weight[0] > 0:
        raise ValueError("no key of any weight is left to fill the tree with")
    empty = np.flatnonzero(~(weight > 0))
    for node in empty.tolist():  # parents come first
        values[node] = values[tree.parent[node]]
        impurity[node] = impurity[tree.parent[node]]
    loss = weight * impurity
    below = np.bincount(tree.parent[1:], loss[1:], tree.node_count)
    decrease = np.where(tree.is_leaf, 0.0, (loss - below) / weight[0])
    arrays = {k: v for k, v in tree.arrays().items() if k not in ("count", "standard_error", "theta", "held")}
    arrays |= {
        "value": values,
        "impurity": impurity,
        "impurity_decrease": decrease,
        "weighted_n_node_samples": weight,
        "n_node_samples": n,
    }
    return type(tree).from_arrays(arrays, tree.features, tree.classes, tree.criterion)
