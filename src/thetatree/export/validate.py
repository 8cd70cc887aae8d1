"""Whether arrays from a file can be a tree: sizes, ranges, order, and no cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree.data.features import Feature
from thetatree.tree.tree import EVERY_BRANCH, SplitKind

_PER_NODE = (
    "kind",
    "feature",
    "threshold",
    "missing_branch",
    "impurity",
    "score",
    "impurity_decrease",
    "weighted_n_node_samples",
    "n_node_samples",
)
_WHOLE = (
    "kind",
    "feature",
    "missing_branch",
    "child_start",
    "child",
    "category_start",
    "category",
    "category_branch",
)


def check_tree_arrays(
    arrays: Mapping[str, NDArray[Any]], features: Sequence[Feature], n_outputs: int
) -> None:
    """Raise ValueError unless the arrays are those of a tree over these features."""
    missing = [name for name in (*_PER_NODE, *_WHOLE, "value") if name not in arrays]
    _require(not missing, f"the tree lacks {missing}")
    n = len(arrays["kind"])
    _require(n > 0, "the tree has no node")
    _require(len(features) > 0, "the tree has no feature")
    _require(all(len(arrays[name]) == n for name in _PER_NODE), "arrays over the nodes differ in length")
    _require(len(arrays["value"]) == n * n_outputs, "values do not fit the number of classes")
    for name in _WHOLE:
        values = arrays[name]
        _require(values.dtype.kind in "iu" or len(values) == 0, f"{name} must hold whole numbers")
        _require(
            len(values) == 0 or bool(np.abs(values.astype(np.float64)).max() < 2**31),
            f"{name} is out of range",
        )
    for name in ("value", "impurity", "impurity_decrease", "weighted_n_node_samples", "n_node_samples"):
        _require(bool(np.isfinite(arrays[name]).all()), f"{name} is not finite everywhere")
    for name in ("impurity", "weighted_n_node_samples", "n_node_samples"):
        _require(bool((arrays[name] >= 0).all()), f"{name} is negative somewhere")
    if "p_value" in arrays:
        _check_p_values(arrays["p_value"], n)
    if "trace" in arrays:
        _require(len(arrays["trace"]) == n * len(features), "trace does not fit the nodes and features")
        _require(not bool(np.isinf(arrays["trace"]).any()), "trace is infinite somewhere")
    if "count" in arrays:
        _check_estimates(arrays, n, n_outputs)
    samples = arrays["n_node_samples"]
    _require(samples.dtype.kind in "iu", "n_node_samples must hold whole numbers")
    _require(bool((arrays["weighted_n_node_samples"] > 0).any()), "no node has any weight")
    if n_outputs > 1:
        shares = arrays["value"].reshape(n, n_outputs)
        whole = bool((shares >= 0).all()) and bool(np.allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-6))
        _require(whole, "the shares of classes are not all positive, or do not add up to 1")
    _check_children(arrays, n)
    _check_splits(arrays, features)


def _check_p_values(p_value: NDArray[Any], n: int) -> None:
    _require(len(p_value) == n, "p_value does not fit the nodes")
    known = p_value[~np.isnan(p_value)]
    _require(bool(((known >= 0) & (known <= 1)).all()), "p_value must be between 0 and 1")


def _check_estimates(arrays: Mapping[str, NDArray[Any]], n: int, n_outputs: int) -> None:
    sizes = {"count": n * n_outputs, "standard_error": n * n_outputs, "theta": n * n_outputs, "held": n}
    for name, length in sizes.items():
        _require(name in arrays and len(arrays[name]) == length, f"{name} does not fit the nodes")
        good = bool(np.isfinite(arrays[name]).all()) and bool((arrays[name] >= 0).all())
        _require(good, f"{name} must be finite and not negative")
    theta = arrays["theta"]
    _require(bool(((theta > 0) & (theta <= 1)).all()), "theta must be above 0 and at most 1")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _check_offsets(start: NDArray[Any], n: int, n_items: int, name: str) -> None:
    _require(len(start) == n + 1 and start[0] == 0 and start[-1] == n_items, f"{name} does not fit its items")
    _require(bool((np.diff(start) >= 0).all()), f"{name} must not fall")


def _check_children(arrays: Mapping[str, NDArray[Any]], n: int) -> None:
    start, child = arrays["child_start"], arrays["child"].astype(np.int64)
    _check_offsets(start, n, len(child), "child_start")
    _check_offsets(arrays["category_start"], n, len(arrays["category"]), "category_start")
    _require(len(child) == n - 1, "each node but the root needs one parent")
    owner = np.repeat(np.arange(n), np.diff(start))
    # Preorder: children come after their parent, so there can be no cycle.
    _require(
        bool((child > owner).all()) and bool((child < n).all()), "a child does not come after its parent"
    )
    _require(bool((np.bincount(child, minlength=n) <= 1).all()), "a node has two parents")
    # In preorder a node's first child comes next, and a sibling right after the subtree before it.
    end = _subtree_ends(owner, child, n)
    inner = np.diff(start) > 0
    expected = np.empty(n - 1, dtype=np.int64)
    expected[1:] = end[child[:-1]]
    expected[start[:-1][inner]] = np.flatnonzero(inner) + 1
    _require(bool((child == expected).all()), "the nodes are not in preorder")


def _subtree_ends(owner: NDArray[Any], child: NDArray[Any], n: int) -> NDArray[np.int64]:
    parent = np.zeros(n, dtype=np.int64)
    parent[child] = owner
    above, size = parent.tolist(), [1] * n
    for node in range(n - 1, 0, -1):
        size[above[node]] += size[node]
    return np.arange(n) + np.array(size, dtype=np.int64)


def _check_splits(arrays: Mapping[str, NDArray[Any]], features: Sequence[Feature]) -> None:
    kind, feature = arrays["kind"], arrays["feature"]
    n_children = np.diff(arrays["child_start"])
    leaf = kind == SplitKind.LEAF
    _require(
        bool((kind <= SplitKind.MULTIWAY).all()) and bool((kind >= 0).all()), "a split is of no known kind"
    )
    _require(bool((n_children[leaf] == 0).all()), "a leaf has children")
    binary = ~leaf & (kind != SplitKind.MULTIWAY)
    _require(bool((n_children[binary] == 2).all()), "a two-way split has not two children")
    _require(
        bool((n_children[kind == SplitKind.MULTIWAY] >= 2).all()),
        "a multiway split has fewer than two children",
    )
    inner = feature[~leaf]
    _require(
        bool((inner >= 0).all() and (inner < len(features)).all()),
        "a split names a feature that is not there",
    )
    branch = arrays["missing_branch"][~leaf]
    one = branch != EVERY_BRANCH
    _require(
        bool((branch[one] >= 0).all() and (branch < n_children[~leaf]).all()), "a missing branch is not there"
    )
    # What is missing is parted by the weights of the branches, so one of them needs some.
    owner = np.repeat(np.arange(len(kind)), n_children)
    below = np.bincount(owner, arrays["weighted_n_node_samples"][arrays["child"].astype(np.int64)], len(kind))
    _require(
        bool((below[~leaf][~one] > 0).all()), "a split parts missing values among branches without weight"
    )
    _require(
        not bool(np.isnan(arrays["threshold"][kind == SplitKind.THRESHOLD]).any()),
        "a threshold is not a number",
    )
    _check_categories(arrays, features, n_children)


def _check_categories(
    arrays: Mapping[str, NDArray[Any]], features: Sequence[Feature], n_children: NDArray[Any]
) -> None:
    kind, feature, start = arrays["kind"], arrays["feature"], arrays["category_start"]
    category, branch = arrays["category"], arrays["category_branch"]
    _require(len(branch) == len(category), "category_branch does not fit category")
    listed = np.diff(start)
    takes = (kind == SplitKind.SUBSET) | (kind == SplitKind.MULTIWAY)
    _require(bool((listed[~takes] == 0).all()), "a split lists categories that it cannot use")
    _require(bool((listed[takes] > 0).all()), "a split on a category lists none")
    kinds = np.array([f.kind for f in features], dtype=object)
    cut = (kind == SplitKind.THRESHOLD) & np.isfinite(arrays["threshold"])
    tests = (
        (kind == SplitKind.PRESENCE, "flag", "a presence test is on a feature that is no flag"),
        (cut, "number", "a threshold is on a feature that is no number"),
        (takes, "category", "categories are listed of a feature that has none"),
    )
    for marked, needed, message in tests:
        _require(bool((kinds[feature[marked]] == needed).all()), message)
    owner = np.repeat(np.arange(len(kind)), listed)
    if len(owner) == 0:
        return
    n_labels = np.array([len(f.labels) for f in features])
    _require(
        bool((category >= 0).all() and (category < n_labels[feature[owner]]).all()), "a category is not there"
    )
    _require(
        bool((branch >= 0).all() and (branch < n_children[owner]).all()), "a category's branch is not there"
    )
    ascending = (np.diff(category) > 0) | (np.diff(owner) > 0)
    _require(bool(ascending.all()), "listed categories must ascend")
