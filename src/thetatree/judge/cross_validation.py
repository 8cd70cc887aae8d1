"""Cross-validation of a tree, from rows or from sketches alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.judge.calibration import Calibration, calibration_of
from thetatree.judge.counts import Counts, together
from thetatree.judge.folds import Folds, Judged, folds_of
from thetatree.judge.table import Table, fixed
from thetatree.learn.params import whole as whole_number
from thetatree.progress import progress as shown_progress

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(Table):
    """Figures of each fold, their means and standard errors.

    Attributes
    ----------
    frame : DataFrame
        One line per fold: accuracy, auc, log_loss, brier, calibration_error (for numbers r2, rmse, mae),
        the number of leaves and the depth.
    mean, se : Series
        Over the folds; the standard error is the folds' standard deviation over the root of their number.
    models : list
        The fitted models, one per fold.
    """

    mean: pd.Series[float] = field(kw_only=True)
    se: pd.Series[float] = field(kw_only=True)
    models: list[Any] = field(kw_only=True)
    counts: Counts | None = field(kw_only=True)
    classes: tuple[Any, ...] | None = field(kw_only=True)

    def calibration(self, bins: int = 10, target: Any = None) -> Calibration:
        """Return predicted against observed rates of all held-out cases together.

        Parameters
        ----------
        bins : int, default=10
            Equal intervals of the prediction.
        target : label, optional
            The class; with two classes the second.
        """
        if self.counts is None or self.classes is None:
            raise ValueError("calibration is for classes, and this model predicts numbers")
        if target is None and len(self.classes) == 2:
            target = self.classes[1]
        if target not in self.classes:
            raise ValueError(f"target={target!r} is not a class; the classes are {list(self.classes)}")
        k, parts = self.classes.index(target), whole_number("bins", bins, 1) or 1
        return calibration_of(self.counts, k, f"{target}, cross-validated", parts, 0.95)

    def _draw(self, ax: Any) -> None:
        names = [name for name in self.mean.index if name not in ("leaves", "depth")]
        for place, name in enumerate(names):
            values = self.frame[name].to_numpy()
            ax.plot(np.full(len(values), place), values, "o", color="grey", alpha=0.5)
        ax.errorbar(range(len(names)), self.mean[names], yerr=self.se[names], fmt="s", capsize=5)
        ax.set_xticks(range(len(names)), names)


def cross_validate(
    estimator: Any,
    data: Any,
    y: Any = None,
    *,
    folds: Any = 5,
    sample_weight: Any = None,
    bins: int = 10,
    random_state: Any = 0,
    fit_params: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> CrossValidation:
    """Grow on all folds but one and judge on that one, in turn.

    Parameters
    ----------
    estimator : estimator
        Cloned for each fold. On rows any classifier with predict_proba or any regressor.
    data : table or SketchSet
        Rows; or sketches, whose **hashes** are divided: each key is in the same fold in every sketch, and the
        held-out keys of each leaf are estimated by the resolution rule.
    y : array-like, optional
        The target of the rows.
    folds : int, splitter or iterable, default=5
        How many; rows are shuffled, and for classes stratified. For rows also what scikit-learn takes as cv.
    sample_weight : array-like, optional
        Weights of the rows, for growing and for judging.
    bins : int, default=10
        Equal intervals of the prediction for the calibration error.
    random_state : int, default=0
        Of the shuffling; a sketch set needs none.
    fit_params : dict, optional
        Passed to fit, as {"feature_mapping": ...}.
    progress : bool, optional
        Whether to show a bar on stderr; by default on a terminal, after a second.

    Returns
    -------
    CrossValidation
        A table that prints; `.frame`, `.mean`, `.se`, `.calibration()`, `.plot()`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = cross_validate(CARTClassifier(max_depth=3), X, y)
    >>> float(found.mean["accuracy"].round(2))
    0.93
    >>> cross_validate(CARTClassifier(), X)
    Traceback (most recent call last):
        ...
    ValueError: rows need their y: cross_validate(estimator, X, y); or give a SketchSet
    """
    parts = whole_number("bins", bins, 1) or 1
    divided = folds_of(
        estimator,
        data,
        y,
        folds=folds,
        sample_weight=sample_weight,
        random_state=random_state,
        fit_params=fit_params,
    )
    judged = []
    with shown_progress("cross-validating", divided.n, "folds", shown=progress) as advance:
        for fold in divided:
            judged.append(fold.judge(estimator, parts))
            advance(1)
    return _summed_up(divided, judged)


def _summed_up(divided: Folds, judged: list[Judged]) -> CrossValidation:
    import pandas as pd

    frame = pd.DataFrame([one.line() for one in judged])
    mean, se = averages(frame)
    frame.insert(0, "fold", np.arange(1, divided.n + 1))
    shown = [*divided.names, *(name for name in ("leaves", "depth") if name in mean)]
    cells = {"fold": [*map(str, frame["fold"]), "mean", "se"]}
    for name in shown:
        values = [*frame[name], mean[name], se[name]]
        cells[name.replace("_", " ")] = fixed(values, 1 if name in ("leaves", "depth") else 4)
    first = divided.names[0]
    found = f"{first} {mean[first]:.4f} ± {se[first]:.4f}"
    title = f"{divided.n}-fold cross-validation from {divided.source}: {found}"
    counts = [one.counts for one in judged if one.counts is not None]
    return CrossValidation(
        title,
        frame,
        cells,
        divided.notes,
        mean=mean,
        se=se,
        models=[one.model for one in judged],
        counts=together(counts) if counts else None,
        classes=judged[0].classes,
    )


def averages(frame: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return means and standard errors over the folds."""
    return frame.mean(), frame.std(ddof=1) / np.sqrt(len(frame))
