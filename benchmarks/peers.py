"""The libraries that are measured: each makes an estimator for a case, one tree, as exact as it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cases import Case

OURS = "thetatree"
REFERENCE = "scikit-learn"  # what the targets are relative to

# Library -> the module that says whether it is installed.
MODULES = {OURS: "thetatree", REFERENCE: "sklearn", "LightGBM": "lightgbm"}

_MOST_LIGHTGBM_LEAVES = 131_072  # its own limit


def _thetatree(case: Case, n_threads: int) -> Any:
    import thetatree as tt

    cls = tt.CARTClassifier if case.task == "classify" else tt.CARTRegressor
    return cls(max_depth=case.depth, n_jobs=n_threads)


def _scikit_learn(case: Case, n_threads: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    cls = DecisionTreeClassifier if case.task == "classify" else DecisionTreeRegressor
    return cls(max_depth=case.depth, random_state=0)  # it grows a tree on one thread


def _lightgbm(case: Case, n_threads: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    cls = LGBMClassifier if case.task == "classify" else LGBMRegressor
    return cls(
        n_estimators=1,
        learning_rate=1.0,
        num_leaves=min(_MOST_LIGHTGBM_LEAVES, case.n_rows) if case.depth is None else 2**case.depth,
        max_depth=-1 if case.depth is None else case.depth,
        min_child_samples=1,
        min_child_weight=0.0,
        min_split_gain=0.0,
        reg_lambda=0.0,
        n_jobs=n_threads,
        random_state=0,
        verbosity=-1,
    )


MAKERS: dict[str, Callable[[Case, int], Any]] = {
    OURS: _thetatree,
    REFERENCE: _scikit_learn,
    "LightGBM": _lightgbm,
}


def n_leaves(model: Any) -> int:
    """Return the leaves of a fitted model; of all its trees, where it has one per class."""
    if hasattr(model, "get_n_leaves"):
        return int(model.get_n_leaves())
    return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])
