"""Pruning: nodes become leaves. Minimal cost-complexity pruning cuts the weakest link first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel

if TYPE_CHECKING:
    from thetatree.tree.tree import Tree


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
        "impurity_decrease": 0.0,
    }
    for name, value in blank.items():
        out[name] = np.where(was_cut, np.array(value, dtype=out[name].dtype), out[name])
    out["child"] = new_id[tree.child[inner[child_owner]]].astype(np.int32)
    out["category"] = tree.category[inner[category_owner]]
    out["category_branch"] = tree.category_branch[inner[category_owner]]
    out["child_start"] = _offsets(np.where(inner, np.diff(tree.child_start), 0)[keep])
    out["category_start"] = _offsets(np.where(inner, np.diff(tree.category_start), 0)[keep])
    return type(tree).from_arrays(out, tree.features, tree.classes, tree.criterion)


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _risk(tree: Tree) -> NDArray[np.float64]:
    weight = tree.weighted_n_node_samples
    return np.asarray(weight * tree.impurity / weight[0])


def weakest_below(tree: Tree, ccp_alpha: float) -> NDArray[np.int64]:
    """Return the nodes that minimal cost-complexity pruning cuts at this alpha."""
    if not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha must be 0 or greater; got {ccp_alpha!r}")
    return _kernel.weakest_links(tree.child_start, tree.child, _risk(tree), float(ccp_alpha))[1]


def cost_complexity_path(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weakest links' effective alphas, in order, and the leaves' total impurity after each."""
    start, _, alphas, risks = _kernel.weakest_links(tree.child_start, tree.child, _risk(tree), np.inf)
    return np.concatenate([[0.0], alphas]), np.concatenate([[start], risks])
