"""Pruning: nodes become leaves.

Each way of pruning gives the nodes to cut, and one function cuts them. Minimal cost-complexity pruning
cuts the weakest link first. Validation pruning finds the subtree that is best on held-out keys, in one
pass from the leaves up. `min_impurity` collapses pairs of leaves whose split hardly lowered the impurity.
Pessimistic pruning is in `pessimistic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel

if TYPE_CHECKING:
    from thetatree.tree.held_out import HeldOut
    from thetatree.tree.tree import Tree

NO_GAIN = 1e-14  # of the root's risk
_ROUNDING = 1e-10  # of the whole: sums of weights that differ by less are taken for equal


def cut_at(tree: Tree, nodes: NDArray[np.int64]) -> Tree:
    """Return the tree in which the given nodes are leaves."""
    outside = nodes[(nodes < 0) | (nodes >= tree.node_count)]
    if len(outside):
        raise ValueError(f"there is no node {int(outside[0])}: the tree has nodes 0 to {tree.node_count - 1}")
    cut = np.zeros(tree.node_count, dtype=bool)
    cut[nodes] = True
    below = np.zeros(tree.node_count + 1, dtype=np.int64)
    np.add.at(below, nodes + 1, 1)
    np.add.at(below, tree.subtree_end[nodes], -1)
    keep = np.cumsum(below)[:-1] <= 0
    return _subtree(tree, keep, cut | tree.is_leaf)


def _subtree(tree: Tree, keep: NDArray[np.bool_], leaf: NDArray[np.bool_]) -> Tree:
    new_id = np.cumsum(keep) - 1
    arrays = tree.arrays()
    child_owner = np.repeat(np.arange(tree.node_count), np.diff(tree.child_start))
    inner = keep & ~leaf
    category_owner = np.repeat(np.arange(tree.node_count), np.diff(tree.category_start))
    out = {name: arrays[name][keep] for name in arrays if len(arrays[name]) == tree.node_count}
    was_cut = leaf[keep]
    blank = {
        "kind": 0,
        "feature": -2,
        "threshold": -2.0,
        "missing_branch": -1,
        "score": np.nan,
        "p_value": np.nan,
        "impurity_decrease": 0.0,
    }
    for name, value in blank.items():
        if name not in out:
            continue
        out[name] = np.where(was_cut, np.array(value, dtype=out[name].dtype), out[name])
    out["child"] = new_id[tree.child[inner[child_owner]]].astype(np.int32)
    out["category"] = tree.category[inner[category_owner]]
    out["category_branch"] = tree.category_branch[inner[category_owner]]
    out["child_start"] = _offsets(np.where(inner, np.diff(tree.child_start), 0)[keep])
    out["category_start"] = _offsets(np.where(inner, np.diff(tree.category_start), 0)[keep])
    return type(tree).from_arrays(out, tree.features, tree.classes, tree.criterion)


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def node_risks(tree: Tree) -> NDArray[np.float64]:
    """Return each node's impurity weighted by its share of the root: the risk that alpha trades off."""
    weight = tree.weighted_n_node_samples
    return np.asarray(weight * tree.impurity / weight[0])


def weakest_below(tree: Tree, ccp_alpha: float) -> NDArray[np.int64]:
    """Return the nodes that minimal cost-complexity pruning cuts at this alpha."""
    if not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha must be 0 or greater; got {ccp_alpha!r}")
    risk = node_risks(tree)
    most = max(float(ccp_alpha), NO_GAIN * float(risk[0]))  # a link that gains nothing may seem to gain 1e-17
    return _kernel.weakest_links(tree.child_start, tree.child, risk, most)[1]


def cost_complexity_path(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weakest links' effective alphas, in order, and the leaves' total impurity after each."""
    start, _, alphas, risks = _kernel.weakest_links(tree.child_start, tree.child, node_risks(tree), np.inf)
    return np.concatenate([[0.0], alphas]), np.concatenate([[start], risks])


def validation_below(tree: Tree, held_out: HeldOut) -> NDArray[np.int64]:
    """Return the nodes to cut for the smallest of the subtrees that lose least on held-out keys.

    What is best below a node depends on nothing outside it, so a node becomes a leaf where it loses no more
    than the best of its branches together.
    """
    as_leaf = held_out.loss.tolist()
    slack = _ROUNDING * (as_leaf[0] if tree.classes is None else held_out.weight)
    below = [0.0] * tree.node_count
    parent, leaf = tree.parent.tolist(), tree.is_leaf.tolist()
    cut = []
    for node in range(tree.node_count - 1, -1, -1):
        best = as_leaf[node]
        if not leaf[node] and best > below[node] + slack:
            best = below[node]
        elif not leaf[node]:
            cut.append(node)
        if node:
            below[parent[node]] += best
    return np.array(cut[::-1], dtype=np.int64)


def min_impurity_below(tree: Tree, min_impurity_decrease: float) -> NDArray[np.int64]:
    """Return the nodes to cut: those with leaves only below whose own impurity falls by less, from below.

    The decrease is the node's own, not weighted by its share of the root. At 0 a split that gains nothing
    stays.
    """
    if not 0 <= min_impurity_decrease < np.inf:
        raise ValueError(f"min_impurity_decrease must be 0 or greater; got {min_impurity_decrease!r}")
    weight = tree.weighted_n_node_samples
    inner = np.flatnonzero(~tree.is_leaf)
    below = np.bincount(tree.parent[1:], (weight * tree.impurity)[1:], tree.node_count)
    decrease = tree.impurity - below / np.where(weight > 0, weight, 1.0)
    keeps = [False] * tree.node_count  # whether any branch stays divided
    parent = tree.parent.tolist()
    cut = []
    for node in inner[::-1].tolist():
        stays = keeps[node] or decrease[node] + np.finfo(float).eps >= min_impurity_decrease
        if not stays:
            cut.append(node)
        elif node:
            keeps[parent[node]] = True
    return np.array(cut[::-1], dtype=np.int64)
