"""The libraries that are measured: each makes an estimator for a case, one tree, as exact as it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cases import Case

OURS = "thetatree"
REFERENCE = "scikit-learn"  # what the targets are relative to

HISTOGRAM = "scikit-learn histogram"

# Library -> the module that says whether it is installed.
MODULES = {
    OURS: "thetatree",
    REFERENCE: "sklearn",
    HISTOGRAM: "sklearn",
    "sklearnex": "sklearnex",
    "LightGBM": "lightgbm",
    "XGBoost": "xgboost",
    "CatBoost": "catboost",
    "YDF": "ydf",
    "snapml": "snapml",
    "lleaves": "lleaves",
    "treelite": "treelite",
}
PREDICT_ONLY = {"lleaves", "treelite"}  # they run LightGBM's trees
EXACT = {OURS, REFERENCE, "YDF"}  # every cut between two values is looked at

_MOST_LIGHTGBM_LEAVES = 131_072  # its own limit


def _criterion(case: Case) -> dict[str, str]:
    return {"criterion": case.criterion} if case.criterion else {}


def _thetatree(case: Case, n_threads: int) -> Any:
    import thetatree as tt

    cls = tt.CARTClassifier if case.task == "classify" else tt.CARTRegressor
    return cls(max_depth=case.depth, n_jobs=n_threads, **_criterion(case))


def _scikit_learn(case: Case, n_threads: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    cls = DecisionTreeClassifier if case.task == "classify" else DecisionTreeRegressor
    return cls(max_depth=case.depth, random_state=0, **_criterion(case))  # it grows a tree on one thread


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


def _histogram(case: Case, n_threads: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    cls = HistGradientBoostingClassifier if case.task == "classify" else HistGradientBoostingRegressor
    return cls(
        max_iter=1,
        learning_rate=1.0,
        max_leaf_nodes=None,
        max_depth=case.depth,
        min_samples_leaf=1,
        early_stopping=False,
        random_state=0,
        categorical_features="from_dtype",
    )


def _sklearnex(case: Case, n_threads: int) -> Any:
    from sklearnex.ensemble import RandomForestClassifier, RandomForestRegressor

    cls = RandomForestClassifier if case.task == "classify" else RandomForestRegressor
    return cls(
        n_estimators=1,
        bootstrap=False,
        max_features=None,
        max_depth=case.depth,
        n_jobs=n_threads,
        random_state=0,
    )


def _xgboost(case: Case, n_threads: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    cls = XGBClassifier if case.task == "classify" else XGBRegressor
    return cls(
        n_estimators=1,
        learning_rate=1.0,
        tree_method="hist",
        max_depth=case.depth or 0,
        min_child_weight=0.0,
        reg_lambda=0.0,
        n_jobs=n_threads,
        random_state=0,
        enable_categorical=case.form == "categories",
    )


def _catboost(case: Case, n_threads: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    cls = CatBoostClassifier if case.task == "classify" else CatBoostRegressor
    return cls(
        iterations=1,
        learning_rate=1.0,
        depth=case.depth,
        grow_policy="Depthwise",
        bootstrap_type="No",
        random_strength=0.0,
        thread_count=n_threads,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )


class _YDF:
    """YDF's CART behind fit and predict."""

    def __init__(self, case: Case, n_threads: int) -> None:
        self.case, self.n_threads = case, n_threads

    def fit(self, X: Any, y: Any) -> _YDF:
        import ydf

        classify = self.case.task == "classify"
        learner = ydf.CartLearner(
            label="y",
            task=ydf.Task.CLASSIFICATION if classify else ydf.Task.REGRESSION,
            max_depth=-1 if self.case.depth is None else self.case.depth + 1,
            min_examples=1,
            validation_ratio=0.0,
            num_threads=self.n_threads,
        )
        self.model = learner.train({"X": X, "y": y}, verbose=0)
        return self

    def predict(self, X: Any) -> Any:
        scores = self.model.predict({"X": X})
        if self.case.task != "classify":
            return scores
        return (scores > 0.5).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


class _LightGBMTree:
    """LightGBM's tree in another one's hands."""

    def __init__(self, case: Case, n_threads: int) -> None:
        self.n_threads = n_threads
        self.grower = _lightgbm(case, n_threads)

    def fit(self, X: Any, y: Any) -> _LightGBMTree:
        self.take(self.grower.fit(X, y).booster_)
        return self

    def take(self, booster: Any) -> None:
        raise NotImplementedError

    def scores(self, X: Any) -> Any:
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        return (self.scores(X) > 0.5).astype(int)


class _Lleaves(_LightGBMTree):
    """Compiled by LLVM."""

    def take(self, booster: Any) -> None:
        import tempfile
        from pathlib import Path

        import lleaves

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.txt"
            booster.save_model(str(file))
            self.model = lleaves.Model(model_file=str(file))
            self.model.compile()

    def scores(self, X: Any) -> Any:
        return self.model.predict(X, n_jobs=self.n_threads)


class _Treelite(_LightGBMTree):
    """Run by treelite's own tree walker."""

    def take(self, booster: Any) -> None:
        import treelite

        self.model = treelite.frontend.from_lightgbm(booster)

    def scores(self, X: Any) -> Any:
        from treelite import gtil

        return gtil.predict(self.model, X, nthread=self.n_threads).ravel()


def _snapml(case: Case, n_threads: int) -> Any:
    from snapml import DecisionTreeClassifier, DecisionTreeRegressor

    cls = DecisionTreeClassifier if case.task == "classify" else DecisionTreeRegressor
    return cls(max_depth=case.depth, n_jobs=n_threads, use_histograms=True, random_state=0)


MAKERS: dict[str, Callable[[Case, int], Any]] = {
    OURS: _thetatree,
    REFERENCE: _scikit_learn,
    HISTOGRAM: _histogram,
    "sklearnex": _sklearnex,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "CatBoost": _catboost,
    "YDF": _YDF,
    "snapml": _snapml,
    "lleaves": _Lleaves,
    "treelite": _Treelite,
}


def n_leaves(model: Any) -> int | None:
    """Return the leaves of a fitted model, of all its trees if there are more; None if it does not tell."""
    if hasattr(model, "get_n_leaves"):
        return int(model.get_n_leaves())
    if hasattr(model, "booster_"):
        return sum(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])
    if hasattr(model, "get_booster"):
        return int((model.get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum())
    return None
