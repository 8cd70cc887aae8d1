"""What estimators fitted on sketches share: where the tree's features stand in the tables to predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thetatree.data.rows import Rows
from thetatree.learn.base import TreeEstimator
from thetatree.learn.raw_columns import RawTable, columns_by_name, columns_by_place


class FindsColumns(TreeEstimator):
    """An estimator that may have been fitted on sketches.

    Attributes
    ----------
    columns_ : list of int or None
        Only after a fit on sketches: where the tree's features stand in the tables given to `predict`; None
        where they are found by name.
    """

    columns_: list[int] | None

    def _option(self, name: str, default: Any) -> Any:
        """Give a parameter that not every learner has."""
        return getattr(self, name, default)

    def _remember_columns(self, columns: list[int] | None) -> None:
        """Keep where each of the tree's features is found in the tables given to `predict`."""
        self.columns_ = columns
        if columns is None:
            self.n_features_in_ = self.tree_.n_features
            self.feature_names_in_ = np.array([f.name for f in self.tree_.features], dtype=object)
        else:
            self.n_features_in_ = max(columns, default=-1) + 1
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit without a mapping

    def _forget_sketches(self) -> None:
        """Before a fit on rows: drop what a fit on sketches left."""
        self.__dict__.pop("columns_", None)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease in impurity, in column order, adding up to 1; columns without a sketch have 0."""
        own = super().feature_importances_
        columns = getattr(self, "columns_", None)
        if columns is None:
            return own
        out = np.zeros(self.n_features_in_)
        np.add.at(out, columns, own)
        return out

    def _rows_to_route(self, X: Any) -> Rows:
        check_is_fitted(self)
        if not hasattr(self, "columns_"):
            return super()._rows_to_route(X)
        features = self.tree_.features
        table = RawTable(X, self)
        if self.columns_ is None and table.named:
            picked = columns_by_name(table, features)
        else:
            places = self._places(len(table.names))
            picked = columns_by_place(table, features, places, lists=self.columns_ is not None)
        return Rows(table.n_rows, [c.name for c in picked], picked)

    def _places(self, n_columns: int) -> list[int]:
        """Where each of the tree's features stands in a table of so many columns."""
        expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
        if self.columns_ is None:
            if n_columns != self.n_features_in_:
                names = [f.name for f in self.tree_.features]
                raise ValueError(f"X has {n_columns} features, but {expected}: {names}; or a data frame")
            return list(range(self.n_features_in_))
        if n_columns < self.n_features_in_:
            last = self.n_features_in_ - 1
            raise ValueError(
                f"X has {n_columns} features, but {expected}: feature_mapping names column {last}"
            )
        return list(self.columns_)

    def model_extras(self) -> dict[str, Any]:
        """What a model file keeps beside the tree."""
        return {"columns": self.columns_} if hasattr(self, "columns_") else {}

    def restore_extras(self, extras: dict[str, Any]) -> None:
        """Take back what `model_extras` gave."""
        if "columns" not in extras:
            return
        columns = extras["columns"]
        if columns is not None:
            whole = all(isinstance(c, int) and c >= 0 for c in columns)
            if not whole or len(columns) != self.tree_.n_features:
                raise ValueError("the columns do not fit the tree's features")
        self._remember_columns(columns)
