"""What a model's predictions are worth, as figures: of counts, so that rows and sketches are judged alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from thetatree.judge.counts import Counts
from thetatree.judge.curves import area
from thetatree.judge.proportions import Floats
from thetatree.judge.ranking import ranked, ratio

CLASS_SCORES = ("accuracy", "auc", "log_loss", "brier", "calibration_error")
NUMBER_SCORES = ("r2", "rmse", "mae")
LESS_IS_BETTER = ("log_loss", "brier", "calibration_error", "rmse", "mae")

_LEAST = float(np.finfo(np.float64).eps)


def class_scores(counts: Counts, bins: int, chosen: NDArray[np.int64] | None = None) -> dict[str, float]:
    """Return accuracy, AUC, log loss, Brier score and expected calibration error.

    AUC of more than two classes is the mean of each against the others; a class without cases has none. The
    Brier score is that of the second class, or of more than two classes the sum over them. The calibration
    error is about the second class, or about the likeliest. `chosen` says which class each group was given,
    -1 for none, where that is not the likeliest.
    """
    p, count = counts.predicted, counts.count
    total = count.sum()
    likeliest = p.argmax(axis=1)
    given = likeliest if chosen is None else chosen
    right = np.where(given >= 0, count[np.arange(len(p)), given], 0.0)
    two = p.shape[1] == 2
    sure = np.clip(p, _LEAST, 1 - _LEAST)
    off = (p**2).sum(axis=1, keepdims=True) - 2 * p + 1  # Σ (p − 1 of the true class)², by true class
    return {
        "accuracy": float(ratio(right.sum(), total)),
        "auc": _auc(counts),
        "log_loss": float(ratio(-(count * np.log(sure)).sum(), total)),
        "brier": float(ratio((count * off).sum(), total)) / (2 if two else 1),
        "calibration_error": _calibration_error(counts, np.ones_like(likeliest) if two else likeliest, bins),
    }


def _auc(counts: Counts) -> float:
    """Mean over the classes that have cases, and others have too."""
    n_classes = counts.count.shape[1]
    classes = [1] if n_classes == 2 else range(n_classes)
    areas = [area(ranked(counts, k, 0.95)) for k in classes]
    known = [a for a in areas if not np.isnan(a)]
    return float(np.mean(known)) if known else float("nan")


def _calibration_error(counts: Counts, klass: NDArray[np.int64], bins: int) -> float:
    groups = np.arange(len(klass))
    score, hits, weight = counts.predicted[groups, klass], counts.count[groups, klass], counts.weight
    place = np.minimum((score * bins).astype(np.int64), bins - 1)
    gap = np.abs(np.bincount(place, score * weight - hits))
    return float(ratio(gap.sum(), weight.sum()))


def number_scores(y: Floats, predicted: Floats, weight: Floats) -> dict[str, float]:
    """Return R², the root of the mean squared error and the mean absolute error."""
    total, off = weight.sum(), y - predicted
    mean = float(ratio((weight * y).sum(), total))
    squares, spread = (weight * off**2).sum(), (weight * (y - mean) ** 2).sum()
    return {
        "r2": 1 - float(ratio(squares, spread)),
        "rmse": float(np.sqrt(ratio(squares, total))),
        "mae": float(ratio((weight * np.abs(off)).sum(), total)),
    }
