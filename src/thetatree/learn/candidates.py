"""`thetatree.candidates`: what a tree could start with, and how good each start is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thetatree.learn.cart import CARTClassifier, CARTRegressor
from thetatree.split.criteria import CLASSIFICATION, REGRESSION

if TYPE_CHECKING:
    import pandas as pd


def candidates(
    X: Any, y: Any, criterion: str = "gini", *, sample_weight: Any = None, **parameters: Any
) -> pd.DataFrame:
    """Return every feature's best split at the root.

    Parameters
    ----------
    X : table
        What the estimators read.
    y : array-like
        Labels, or numbers for a regression criterion.
    criterion : str, default="gini"
        Any criterion; it also says whether this is classification.
    sample_weight : array-like, optional
        One weight per row.
    **parameters
        Limits and choices of `CARTClassifier` or `CARTRegressor`: min_samples_leaf, missing, ...

    Returns
    -------
    pandas.DataFrame
        One row per feature in column order: feature, split, score (what the criterion ranks by), gain (the
        impurity decrease), cut, n_left, n_right, weight_left, weight_right, missing_left.

    Examples
    --------
    >>> frame = candidates([[1.2], [2.5], [3.8], [4.1], [5.0]], [10, 12, 20, 22, 21], "squared_error")
    >>> frame[["split", "score", "n_left", "n_right"]].values.tolist()
    [['x0 ≤ 3.15', 120.0, 2, 3]]
    """
    if criterion not in CLASSIFICATION + REGRESSION:
        raise ValueError(
            f"unknown criterion {criterion!r}: choose one of {', '.join(CLASSIFICATION + REGRESSION)}"
        )
    cls = CARTRegressor if criterion in REGRESSION else CARTClassifier
    model = cls(criterion=criterion, **parameters)
    return model.root_candidates(X, y, sample_weight)
