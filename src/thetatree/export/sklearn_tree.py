"""The tree as scikit-learn's own, so that whatever reads a DecisionTree reads it: SHAP, dtreeviz, the rest.

scikit-learn rounds what it predicts on to float32. Rows that are float32 already (all whole numbers up to
2^24 among them) end where this tree sends them, thresholds being kept as they are. What relies on more is
refused where it shows: in two thresholds that float32 cannot tell apart, or in rows given to check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree.export.view import View
from thetatree.tree.tree import SplitKind

_CRITERIA = {
    True: ("gini", "entropy", "log_loss"),
    False: ("squared_error", "absolute_error", "poisson"),
}


def to_sklearn(model: Any, X: Any = None) -> Any:
    """Return a fitted DecisionTreeClassifier or DecisionTreeRegressor for a tree of numbers and flags.

    Columns are the model's, all of them numbers: flags as 0 and 1, missing ones NaN (scikit-learn takes -1
    for a number). Nodes keep their numbers; a flag's branches change sides, since "x ≤ 0.5" sends 0 left.

    Parameters
    ----------
    model : estimator or Tree
        What to turn; a tree with splits on categories is refused.
    X : table, optional
        Rows to check: each must end in the same leaf. scikit-learn compares as float32, so rows that need
        float64 can end elsewhere; this tells.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> export.to_sklearn(model).predict([[1.5], [3.5]]).tolist()
    [5.0, 9.0]
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    view = View(model)
    tree = view.tree
    _refuse_what_it_cannot(view)
    classify = tree.classes is not None
    criteria = _CRITERIA[classify]
    known = tree.criterion in criteria
    out = (DecisionTreeClassifier if classify else DecisionTreeRegressor)(
        criterion=tree.criterion if known else criteria[0]
    )
    out.n_features_in_, out.n_outputs_ = view.n_columns, 1
    out.max_features_ = view.n_columns
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        out.feature_names_in_ = np.array(names, dtype=object)
    if tree.classes is not None:
        own = getattr(model, "classes_", None)
        out.classes_ = np.array(tree.classes) if own is None else np.array(own)
        out.n_classes_ = len(tree.classes)
    out.tree_ = _low_level(view)
    if X is not None:
        _check(model, out, X)
    return out


def _refuse_what_it_cannot(view: View) -> None:
    tree = view.tree
    for index in view.tested:
        feature = view.feature(index)
        if feature.kind == "category":
            raise ValueError(
                f"the tree splits the categories of column {feature.name!r}, but scikit-learn's trees have "
                f"thresholds only: make flags of its values before fitting, or use another export"
            )
    if tree.fractional:
        raise ValueError(
            "the tree parts rows with a missing value among all branches (missing='fractional'), but those "
            "of scikit-learn send a row to one leaf: use to_sql, to_python, to_c or to_java"
        )
    multiway = np.flatnonzero(np.equal(tree.kind, SplitKind.MULTIWAY))
    if len(multiway):
        raise ValueError(f"node {multiway[0]} has several branches, but those of scikit-learn have two")
    for index in view.tested:
        column = f"column {view.feature(index).name!r}"
        own = (tree.feature == index) & np.isfinite(tree.threshold) & (tree.kind == SplitKind.THRESHOLD)
        cuts = np.unique(tree.threshold[own])
        below = _float32_below(cuts)
        same = np.flatnonzero(below[1:] == below[:-1])
        if len(same):
            a, b = cuts[same[0] : same[0] + 2].tolist()
            raise ValueError(
                f"{column} is cut at {a!r} and at {b!r}, between which there is no float32: "
                f"scikit-learn, which compares as float32, cannot tell them apart; scale or shift the "
                f"column before fitting, or use another export"
            )
        if len(cuts) and np.abs(cuts).max() > np.finfo(np.float32).max:
            raise ValueError(
                f"{column} is cut at {float(cuts[np.argmax(np.abs(cuts))])!r}, beyond float32, as which "
                f"scikit-learn compares: scale the column before fitting, or use another export"
            )


def _float32_below(cuts: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the greatest float32 that is at most each threshold."""
    with np.errstate(over="ignore"):
        nearest = cuts.astype(np.float32)
        return np.where(nearest > cuts, np.nextafter(nearest, np.float32(-np.inf)), nearest)


def _low_level(view: View) -> Any:
    from sklearn.tree._tree import Tree as LowLevelTree

    tree = view.tree
    inner = ~tree.is_leaf
    flag = np.equal(tree.kind, SplitKind.PRESENCE)
    columns = np.array([*view.columns, -2])
    out = LowLevelTree(
        view.n_columns,
        np.array([1 if tree.classes is None else len(tree.classes)], dtype=np.intp),
        1,
    )
    nodes = np.zeros(tree.node_count, dtype=out.__getstate__()["nodes"].dtype)
    left, right = tree.children_left, tree.children_right
    nodes["left_child"] = np.where(flag, right, left)
    nodes["right_child"] = np.where(flag, left, right)
    nodes["feature"] = np.where(inner, columns[np.where(inner, tree.feature, -1)], -2)
    nodes["threshold"] = np.where(flag, 0.5, np.where(inner, tree.threshold, -2.0))
    nodes["impurity"] = tree.impurity
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = np.where(inner, (tree.missing_branch == 0) != flag, False)
    values = np.ascontiguousarray(tree.value)
    out.__setstate__(
        {"max_depth": tree.max_depth, "node_count": tree.node_count, "nodes": nodes, "values": values}
    )
    return out


def _check(model: Any, out: Any, X: Any) -> None:
    """Raise if a row ends in another leaf, naming the value that float32 rounds over a threshold."""
    own, theirs = np.asarray(model.apply(X)), out.apply(X)
    wrong = np.flatnonzero(own != theirs)
    if not len(wrong):
        return
    row = int(wrong[0])
    raise ValueError(
        f"{len(wrong):,} of {len(own):,} rows end elsewhere in scikit-learn, which rounds values to float32; "
        f"the first is row {row}: leaf {theirs[row]} instead of {own[row]}. Round the columns to float32 "
        f"before fitting and predicting, or use another export"
    )
