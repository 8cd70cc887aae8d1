"""Folds: what is grown on and what is held out, of rows and of the hashes of a sketch set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from thetatree.data.target import read_weights
from thetatree.judge.counts import Counts
from thetatree.judge.leaf_counts import class_codes, counts_of_sketches
from thetatree.judge.proportions import Floats
from thetatree.judge.scores import CLASS_SCORES, NUMBER_SCORES, class_scores, number_scores
from thetatree.learn.params import whole
from thetatree.sketch.counts import lg_k_for
from thetatree.sketch.sketch_set import SketchSet

_FEW_HELD = 200  # held keys of a class below which its share is not known to a tenth


@dataclass(frozen=True)
class Judged:
    """One model on one fold: its figures, and for classes what they are counts of."""

    scores: dict[str, float]
    model: Any
    counts: Counts | None = None
    classes: tuple[Any, ...] | None = None

    def line(self) -> dict[str, float]:
        """Return the figures, and the size of the tree where the model is one."""
        tree = getattr(self.model, "tree_", None)
        if tree is None or not hasattr(tree, "n_leaves"):
            return self.scores
        return self.scores | {"leaves": float(tree.n_leaves), "depth": float(tree.max_depth)}


class Fold(Protocol):
    """Something to grow on and something to judge by."""

    def judge(self, estimator: Any, bins: int) -> Judged:
        """Fit a clone and judge it on what was held out."""


@dataclass(frozen=True)
class Folds:
    """All folds, made one by one; `names` of the figures, and `notes` on what limits them."""

    n: int
    source: str
    names: tuple[str, ...]
    notes: tuple[str, ...]
    make: Any

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.make())


def folds_of(
    estimator: Any,
    data: Any,
    y: Any,
    *,
    folds: Any,
    sample_weight: Any,
    random_state: Any,
    fit_params: Mapping[str, Any] | None,
) -> Folds:
    """Divide rows or a sketch set."""
    given = dict(fit_params or {})
    if isinstance(data, SketchSet):
        if y is not None or sample_weight is not None:
            raise ValueError("y and sample_weight come with rows: a SketchSet knows its classes")
        n = whole("folds", folds, 2) or 2
        return Folds(
            n,
            "sketches",
            CLASS_SCORES,
            _too_few_keys(data, n),
            lambda: (_SketchFold(*pair, given) for pair in data.folds(n)),
        )
    if y is None:
        raise ValueError("rows need their y: cross_validate(estimator, X, y); or give a SketchSet")
    classify = is_classifier(estimator)
    target = np.asarray(y)
    if _num_samples(data) != len(target):
        raise ValueError(f"there are {_num_samples(data)} rows, but {len(target)} values of y")
    weight = read_weights(sample_weight, len(target))
    splits = _splits(target, folds, random_state, classify=classify)
    classes = tuple(np.unique(target).tolist()) if classify else None
    names = CLASS_SCORES if classify else NUMBER_SCORES
    return Folds(
        len(splits),
        "rows",
        names,
        (),
        lambda: (_RowFold(data, target, weight, classes, given, *split) for split in splits),
    )


def _splits(y: NDArray[Any], folds: Any, random_state: Any, *, classify: bool) -> list[Any]:
    if isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        n = whole("folds", folds, 2, most=len(y)) or 2
        way = StratifiedKFold if classify else KFold
        splitter = way(n, shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(folds, y, classifier=classify)
    return list(splitter.split(np.zeros(len(y)), y))


def _too_few_keys(data: SketchSet, n: int) -> tuple[str, ...]:
    totals = data.counts()
    totals = totals[totals["feature"].isna() & totals["class"].notna() & (totals["theta"] < 1)]
    if totals.empty:
        return ()
    least = totals.iloc[int(totals["held"].argmin())]
    held = float(least["held"]) / n
    if held >= _FEW_HELD:
        return ()
    now = data.origin.lg_k or int(np.ceil(np.log2(max(2, least["held"]))))
    wanted = lg_k_for(held, _FEW_HELD, now)
    return (
        f"a fold holds about {held:.0f} keys of class {least['class']!r}: "
        f"lg_k = {wanted} or fewer folds would tell more",
    )


@dataclass(frozen=True)
class _SketchFold:
    grown_on: SketchSet
    held_out: SketchSet
    fit_params: Mapping[str, Any]

    def judge(self, estimator: Any, bins: int) -> Judged:
        model = clone(estimator).fit(self.grown_on, **self.fit_params)
        counts = counts_of_sketches(model, self.held_out)
        classes = getattr(model, "leaf_classes_", None)
        chosen = None if classes is None else classes[counts.leaf]
        return Judged(class_scores(counts, bins, chosen), model, counts, counts.tree.classes)


@dataclass(frozen=True)
class _RowFold:
    data: Any
    y: NDArray[Any]
    weight: Floats | None
    classes: tuple[Any, ...] | None
    fit_params: Mapping[str, Any]
    grown_on: NDArray[np.int64]
    held_out: NDArray[np.int64]

    def judge(self, estimator: Any, bins: int) -> Judged:
        given = dict(self.fit_params)
        if self.weight is not None:
            given["sample_weight"] = self.weight[self.grown_on]
        X = _safe_indexing(self.data, self.grown_on)
        model = clone(estimator).fit(X, self.y[self.grown_on], **given)
        X, y = _safe_indexing(self.data, self.held_out), self.y[self.held_out]
        weight = np.ones(len(y)) if self.weight is None else self.weight[self.held_out]
        if self.classes is None:
            scores = number_scores(y.astype(np.float64), np.asarray(model.predict(X)), weight)
            return Judged(scores, model)
        counts = _counts_of_predictions(model, X, y, weight, self.classes)
        scores = class_scores(counts, bins)
        right = np.asarray(model.predict(X)) == y  # not every estimator predicts its likeliest class
        scores["accuracy"] = float((weight * right).sum() / weight.sum()) if weight.any() else float("nan")
        return Judged(scores, model, counts, self.classes)


def _counts_of_predictions(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, classes: tuple[Any, ...]
) -> Counts:
    """Return single rows as groups; a class that was not in the fold grown on is never predicted."""
    n = len(y)
    predicted = np.zeros((n, len(classes)))
    known = class_codes(np.asarray(model.classes_), classes)
    predicted[:, known] = model.predict_proba(X)
    count = np.zeros((n, len(classes)))
    count[np.arange(n), class_codes(y, classes)] = weight
    counted = (weight > 0).astype(np.float64)
    return Counts(predicted, counted, count, counted)
