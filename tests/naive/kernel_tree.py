"""The kernel's tree of a problem, and where it differs from the oracle's."""

import numpy as np

from thetatree import _kernel
from thetatree.data.features import Feature
from thetatree.grow.rules import GrowRules
from thetatree.tree.tree import SplitKind, Tree

# Rules that the oracle and the kernel call by one name.
SAME_NAME = (
    "positive_gain",
    "min_score",
    "min_gain",
    "min_improvement",
    "p1",
    "p2",
    "largest_first",
)


def kernel_tree(problem, n_threads=1, most_bins=0, **search):
    """`most_bins` and `search` choose the way in which numbers are searched, never the tree."""
    s = problem.settings
    n = len(problem.y)
    columns = _kernel.Columns(n, n_threads, most_bins)
    features = []
    for j, (values, kind) in enumerate(zip(problem.columns, problem.kinds, strict=True)):
        labels = ()
        if kind == "flag":
            columns.add_flags([np.ascontiguousarray(values, dtype=np.int8)])
        elif kind == "number":
            columns.add_numbers([np.ascontiguousarray(values, dtype=np.float64)])
        else:
            labels = tuple(range(int(max(values.max(), 0)) + 1))
            columns.add_category(np.ascontiguousarray(values, dtype=np.int32), len(labels))
        features.append(Feature(f"x{j}", kind, labels))
    regression = s["task"] == "regression"
    n_classes = 0 if regression else s["n_classes"]
    monotonic = s.get("monotonic")
    rules = GrowRules(
        criterion=s["criterion"],
        n_classes=n_classes,
        max_depth=-1 if s.get("max_depth") is None else s["max_depth"],
        min_samples_split=s["min_samples_split"],
        min_samples_leaf=s["min_samples_leaf"],
        min_weight_leaf=s["min_weight_leaf"],
        min_impurity_decrease=s["min_impurity_decrease"],
        min_impurity_split=s["min_impurity_split"],
        max_leaf_nodes=-1 if s.get("max_leaf_nodes") is None else s["max_leaf_nodes"],
        max_categories=s["max_categories"],
        majority=s["missing"] == "majority",
        monotonic=list(monotonic) if monotonic is not None and any(monotonic) else [],
        tier=s.get("tiers") or [],
        ordered=s.get("ordered") or [],
        force=-1 if s.get("force") is None else s["force"],
        n_threads=n_threads,
        **search,
        **{name: s[name] for name in SAME_NAME if name in s},
    )
    y = np.asarray(problem.y, dtype=np.float64 if regression else np.int32)
    weight = None if problem.weights is None else np.asarray(problem.weights, dtype=np.float64)
    arrays = _kernel.grow(columns, y, weight, rules.for_kernel())
    classes = None if regression else tuple(range(n_classes))
    return Tree.from_arrays(arrays, tuple(features), classes, s["criterion"])


def difference(problem, naive, tree):
    """Return what differs first, or None. Below a doubtful node nothing is compared."""
    scale = 1.0
    if problem.settings["task"] == "regression":
        scale = max(1.0, float(np.abs(problem.y).max()))
    open_nodes = [(0, 0)]
    while open_nodes:
        i, j = open_nodes.pop()
        a = naive[i]
        if a.n != tree.n_node_samples[j]:
            return f"node {i}: {a.n} rows, kernel {tree.n_node_samples[j]}"
        if not np.isclose(a.impurity, tree.impurity[j], rtol=1e-9, atol=1e-11 * scale**2):
            return f"node {i}: impurity {a.impurity}, kernel {tree.impurity[j]}"
        if not np.allclose(a.value, tree.values[j], rtol=1e-9, atol=1e-11 * scale):
            return f"node {i}: value {a.value}, kernel {tree.values[j]}"
        if a.doubtful:
            continue
        kind = {"leaf": 0, "threshold": 1, "presence": 2, "subset": 3}[a.split]
        if kind != tree.kind[j]:
            return (
                f"node {i}: {a}, kernel kind {tree.kind[j]} feature {tree.feature[j]} score {tree.score[j]}"
            )
        if kind == SplitKind.LEAF:
            continue
        if a.feature != tree.feature[j]:
            return f"node {i}: {a}, kernel feature {tree.feature[j]} score {tree.score[j]!r}"
        if kind == SplitKind.THRESHOLD and a.threshold != tree.threshold[j]:
            return f"node {i}: {a}, kernel threshold {tree.threshold[j]}"
        if kind == SplitKind.SUBSET:
            listed = set(tree.category[tree.category_start[j] : tree.category_start[j + 1]].tolist())
            if listed != set(a.left_categories):
                return f"node {i}: {a}, kernel {listed}"
        if (0 if a.missing_left else 1) != tree.missing_branch[j]:
            return f"node {i}: {a}, kernel missing branch {tree.missing_branch[j]}"
        if not np.isclose(a.score, tree.score[j], rtol=1e-7, atol=1e-9 * scale**2):
            return f"node {i}: score {a.score}, kernel {tree.score[j]}"
        open_nodes += [(a.left, tree.children_left[j]), (a.right, tree.children_right[j])]
    return None
