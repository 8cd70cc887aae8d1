"""The search for the parameters that cross-validation likes best, from rows or from sketches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from thetatree.judge.cross_validation import averages
from thetatree.judge.folds import Folds, folds_of
from thetatree.judge.scores import LESS_IS_BETTER
from thetatree.judge.table import Table, fixed
from thetatree.learn.params import choice
from thetatree.progress import progress as shown_progress
from thetatree.sketch.sketch_set import SketchSet

if TYPE_CHECKING:
    import pandas as pd

_ALIKE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult(Table):
    """Candidates with what cross-validation says of them.

    Attributes
    ----------
    frame : DataFrame
        One line per candidate: its parameters, mean_ and se_ of every figure, leaves and depth on average,
        and whether it was chosen.
    best_params_ : dict
        The parameters chosen.
    best_score_ : float
        Their mean score.
    best_index_ : int
        Their line of the frame.
    best_estimator_ : estimator
        Fitted with them on all the data; None with refit=False.
    metric : str
        What they were chosen by.
    """

    best_params_: dict[str, Any] = field(kw_only=True)
    best_score_: float = field(kw_only=True)
    best_index_: int = field(kw_only=True)
    best_estimator_: Any = field(kw_only=True)
    metric: str = field(kw_only=True)

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.frame))
        mean, se = self.frame[f"mean_{self.metric}"], self.frame[f"se_{self.metric}"]
        ax.errorbar(places, mean, yerr=se, marker="o", capsize=3)
        ax.plot([self.best_index_], [self.best_score_], "o", color="black", markersize=10, fillstyle="none")
        ax.set_xticks(places, self.cells["parameters"], rotation=90)
        ax.set(ylabel=self.metric)


def search(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    data: Any,
    y: Any = None,
    *,
    folds: Any = 5,
    metric: str | None = None,
    rule: str = "best",
    sample_weight: Any = None,
    refit: bool = True,
    random_state: Any = 0,
    fit_params: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> SearchResult:
    """Cross-validate every combination of parameters on the same folds and choose one.

    Parameters
    ----------
    estimator : estimator
        Cloned for each fit.
    grid : dict or list of dict
        The values to try, by parameter.
    data : table or SketchSet
        Rows, or sketches whose hashes are divided.
    y : array-like, optional
        The target of the rows.
    folds : int, splitter or iterable, default=5
        As for `cross_validate`.
    metric : str, optional
        accuracy (the default), auc, log_loss, brier or calibration_error; of numbers r2 (the default), rmse
        or mae.
    rule : {"best", "1se"}, default="best"
        "best": the best mean score. "1se": the fewest leaves of all whose mean is within one standard error
        of the best. Of equals the one with fewer leaves, then the first.
    sample_weight : array-like, optional
        Weights of the rows.
    refit : bool, default=True
        Whether to fit the choice on all the data.
    random_state : int, default=0
        Of the shuffling of rows.
    fit_params : dict, optional
        Passed to fit.
    progress : bool, optional
        Whether to show a bar on stderr; by default on a terminal, after a second.

    Returns
    -------
    SearchResult
        `best_params_`, `best_estimator_`, `best_score_`, `best_index_`, `.frame`, `.plot()`; it prints.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = search(CARTClassifier(), {"max_depth": [1, 2, 3, 4]}, X, y, rule="1se")
    >>> found.best_params_
    {'max_depth': 2}
    >>> search(CARTClassifier(), {"depth": [1]}, X, y)
    Traceback (most recent call last):
        ...
    ValueError: grid names 'depth', which is not a parameter of CARTClassifier
    """
    choice("rule", rule, ("best", "1se"))
    candidates = _candidates(estimator, grid)
    divided = folds_of(
        estimator,
        data,
        y,
        folds=folds,
        sample_weight=sample_weight,
        random_state=random_state,
        fit_params=fit_params,
    )
    metric = choice("metric", divided.names[0] if metric is None else metric, divided.names)
    frame = _judged(estimator, candidates, divided, progress)
    best = _chosen(frame, metric, rule)
    frame["chosen"] = np.arange(len(frame)) == best
    fitted = None
    if refit:
        given = dict(fit_params or {}) | ({} if sample_weight is None else {"sample_weight": sample_weight})
        fitted = _with(estimator, candidates[best])
        fitted = fitted.fit(data, **given) if isinstance(data, SketchSet) else fitted.fit(data, y, **given)
    return SearchResult(
        f"search by {divided.n}-fold cross-validation from {divided.source}: {_told(candidates[best])}",
        frame,
        _cells(frame, candidates, metric),
        divided.notes,
        best_params_=candidates[best],
        best_score_=float(frame[f"mean_{metric}"].iloc[best]),
        best_index_=best,
        best_estimator_=fitted,
        metric=metric,
    )


def _candidates(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    known = estimator.get_params()
    for part in [grid] if isinstance(grid, Mapping) else grid:
        for name in part:
            if name not in known:
                raise ValueError(
                    f"grid names {name!r}, which is not a parameter of {type(estimator).__name__}"
                )
    candidates = list(ParameterGrid(grid))
    if not candidates:
        raise ValueError("the grid is empty: give values to try, as in {'max_depth': [2, 3, 4]}")
    return candidates


def _with(estimator: Any, params: Mapping[str, Any]) -> Any:
    return clone(estimator).set_params(**{name: clone(value, safe=False) for name, value in params.items()})


def _judged(
    estimator: Any, candidates: list[dict[str, Any]], divided: Folds, progress: bool | None
) -> pd.DataFrame:
    import pandas as pd

    lines: list[list[dict[str, float]]] = [[] for _ in candidates]
    with shown_progress("searching", divided.n * len(candidates), "fits", shown=progress) as advance:
        for fold in divided:  # outermost: a fold is cut out once for all candidates
            for params, mine in zip(candidates, lines, strict=True):
                mine.append(fold.judge(_with(estimator, params), 10).line())
                advance(1)
    rows = []
    for params, mine in zip(candidates, lines, strict=True):
        mean, se = averages(pd.DataFrame(mine))
        row: dict[str, Any] = {f"param_{name}": value for name, value in params.items()}
        for name in divided.names:
            row |= {f"mean_{name}": mean[name], f"se_{name}": se[name]}
        row |= {name: mean[name] for name in ("leaves", "depth") if name in mean}
        rows.append(row)
    return pd.DataFrame(rows)


def _chosen(frame: pd.DataFrame, metric: str, rule: str) -> int:
    sign = -1.0 if metric in LESS_IS_BETTER else 1.0
    score = sign * frame[f"mean_{metric}"].to_numpy(dtype=np.float64)
    if np.isnan(score).all():
        raise ValueError(f"no candidate has a {metric}: is there a fold with each class?")
    score = np.where(np.isnan(score), -np.inf, score)
    best = int(score.argmax())
    margin = float(frame[f"se_{metric}"].iloc[best]) if rule == "1se" else _ALIKE * abs(score[best])
    leaves = frame["leaves"].to_numpy() if "leaves" in frame else np.zeros(len(frame))
    near = np.flatnonzero(score >= score[best] - margin)
    return int(near[np.lexsort((near, -score[near], leaves[near]))[0]])


def _told(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in params.items()) or "as given"


def _cells(frame: pd.DataFrame, candidates: list[dict[str, Any]], metric: str) -> dict[str, list[str]]:
    cells = {"": ["*" if chosen else "" for chosen in frame["chosen"]]}
    cells["parameters"] = [_told(params) for params in candidates]
    cells[metric.replace("_", " ")] = fixed(frame[f"mean_{metric}"], 4)
    cells["se"] = fixed(frame[f"se_{metric}"], 4)
    if "leaves" in frame:
        cells["leaves"] = fixed(frame["leaves"], 1)
    return cells
