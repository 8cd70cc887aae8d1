"""What every estimator shares: reading rows, routing, and scikit-learn's interface around a `Tree`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from thetatree.data.rows import Rows, check_names, first_gap, is_frame, read_rows, select
from thetatree.data.target import Target, read_target, read_weights, with_class_weight
from thetatree.learn import params
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.held_out import HeldOut, class_codes, row_losses
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

Given = ParamSpec("Given")
Fitted = TypeVar("Fitted")


def whole_or_not_at_all(fit: Callable[Given, Fitted]) -> Callable[Given, Fitted]:
    """Make a `fit` that leaves the estimator as it was where it fails or is interrupted."""

    @wraps(fit)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Fitted:
        held = vars(args[0])
        before = dict(held)
        try:
            return fit(*args, **kwargs)
        except BaseException:
            held.clear()
            held.update(before)
            raise

    return guarded


class TreeEstimator(BaseEstimator):
    """An estimator whose model is one `Tree`."""

    tree_: Tree
    cp_table_: pd.DataFrame
    n_features_in_: int

    def _read(self, X: Any, *, reset: bool, categorical: Any = "from_dtype") -> Rows:
        """Read a table and check it against the columns of fit."""
        if isinstance(X, SketchSet):
            raise TypeError(
                f"{type(self).__name__} reads rows here, not a SketchSet: sketches count keys of classes; "
                f"give a table, or fit a classifier on the set"
            )
        chooser = params.categorical_chooser(categorical) if reset else None
        rows = read_rows(X, self, chooser)
        if reset:
            params.check_categorical(categorical, rows.names)
        elif is_frame(X):
            check_names(rows, self.tree_.features)
        elif not hasattr(self, "feature_names_in_") and rows.n_columns == self.n_features_in_:
            return rows  # scikit-learn has nothing to object to, and asking it takes its time
        validate_data(self, X if is_frame(X) else _shape_of(rows), reset=reset, skip_check_array=True)
        return rows

    def _rows_to_route(self, X: Any) -> Rows:
        """Read a table that is to find its leaves."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        if getattr(self, "missing", None) == "error":
            _refuse_gaps(rows)
        return rows

    def _keep_pruned(self, tree: Tree, table: pd.DataFrame | None) -> None:
        """Keep the tree of a fit, and the table where cross-validation chose its alpha."""
        self.tree_ = tree
        self.__dict__.pop("cp_table_", None)
        if table is not None:
            self.cp_table_ = table

    def _losses_on_rows(self, X: Any, y: Any) -> HeldOut:
        """Judge the nodes of the tree by held-out rows, read as `predict` reads them."""
        leaves = self.apply(X)
        codes, classes = read_target(y, len(leaves), self, classify=self.tree_.classes is not None)
        target = codes if classes is None else class_codes(self.tree_, classes)[codes]
        return row_losses(self.tree_, leaves, target)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row ends in; of several the one that gets the greatest part of it."""
        rows = self._rows_to_route(X)
        return self.tree_.apply_rows(rows, getattr(self, "n_jobs", None))

    def decision_path(self, X: Any) -> sp.csr_matrix:
        """Return which nodes each row passes, wholly or in part, as a sparse indicator matrix."""
        rows = self._rows_to_route(X)
        return self.tree_.path_of_rows(rows, getattr(self, "n_jobs", None))

    def _values(self, X: Any) -> NDArray[np.float64]:
        rows = self._rows_to_route(X)
        return self.tree_.values_of_rows(rows, getattr(self, "n_jobs", None))

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease in impurity by feature, in column order, adding up to 1."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a JSON file; the file appears whole or not at all."""
        from thetatree.export.model_file import save_model

        save_model(self, path)

    def report(
        self, path: str | Path, data: Any = None, *, title: str | None = None, note: str | None = None
    ) -> Path:
        """Write a report: one HTML file to hand on, with the tree to walk through, its segments and figures.

        Parameters
        ----------
        path : str or Path
            The file, which appears whole or not at all.
        data : (X, y) or SketchSet, optional
            What the tree is judged on: gains, ROC and calibration, and what each node holds of it.
        title, note : str, optional
            The heading, and a line below it. No date is written of itself: the same model gives the same
            bytes.

        Returns
        -------
        Path
            Where the report is.
        """
        from thetatree.report.page import write_report

        return write_report(self, path, data, title=title, note=note)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model of this class from a file that `save` wrote."""
        from thetatree.export.model_file import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ValueError(
                f"{path} holds a {type(model).__name__}, not a {cls.__name__}: use thetatree.load"
            )
        return model

    def model_extras(self) -> dict[str, Any]:
        """Return what a model file keeps beside the tree; JSON values."""
        return {}

    def restore_extras(self, extras: dict[str, Any]) -> None:
        """Take back what `model_extras` gave."""

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram for a notebook, with the tree below it once there is one."""
        from sklearn.utils import estimator_html_repr

        diagram = str(estimator_html_repr(self))
        return diagram + self.tree_._repr_html_() if hasattr(self, "tree_") else diagram

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", None) != "error"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class TreeClassifier(ClassifierMixin, TreeEstimator):
    """A classification tree."""

    classes_: NDArray[Any]

    def _target(self, y: Any, n_rows: int, sample_weight: Any) -> Target:
        codes, classes = read_target(y, n_rows, self, classify=True)
        assert classes is not None
        weight = read_weights(sample_weight, n_rows)
        class_weight = getattr(self, "class_weight", None)
        return Target(codes, classes, with_class_weight(weight, class_weight, codes, classes))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class shares of each row's leaf, in the order of `classes_`.

        Of a row that a missing value sent to several leaves: their mean, by its parts.
        """
        return self._values(X)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the greatest share in each row's leaf; the first of equals."""
        rows = self._rows_to_route(X)
        n_jobs = getattr(self, "n_jobs", None)
        if self.tree_.fractional:
            return np.asarray(self.classes_[np.argmax(self.tree_.values_of_rows(rows, n_jobs), axis=1)])
        leaves = self.tree_.apply_rows(rows, n_jobs)
        return np.asarray(self.classes_[np.argmax(self.tree_.values, axis=1)][leaves])


class TreeRegressor(RegressorMixin, TreeEstimator):
    """A regression tree."""

    def _target(self, y: Any, n_rows: int, sample_weight: Any) -> Target:
        values, _ = read_target(y, n_rows, self, classify=False)
        return Target(values, None, read_weights(sample_weight, n_rows))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the value of each row's leaf."""
        return self._values(X)[:, 0]


def counted_rows(rows: Rows, target: Target) -> tuple[Rows, Target]:
    """Leave out rows of weight zero, as if they had not been given."""
    if target.weight is None or target.weight.all():
        return rows, target
    keep = target.weight > 0
    return select(rows, keep), Target(target.y[keep], target.classes, target.weight[keep])


class _Shape:
    """Stands for a table in scikit-learn's checks, which need its shape only."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.ndim = 2

    def __len__(self) -> int:
        return self.shape[0]


def _shape_of(rows: Rows) -> Any:
    return _Shape((rows.n_rows, rows.n_columns))


def _refuse_gaps(rows: Rows) -> None:
    """Raise if any value is missing, naming the column."""
    column = first_gap(rows)
    if column is not None:
        raise ValueError(
            f"Input X contains NaN: column {rows.names[column]!r} has missing values and missing='error'; "
            f"fill them, or fit with missing='learnt' or 'majority'"
        )
