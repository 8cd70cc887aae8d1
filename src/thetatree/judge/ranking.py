"""Leaves in the order in which they would be chosen: by what the tree predicts, the highest first.

Leaves of the same prediction can not be told apart by it: they make one step. That the order is the tree's
own and not that of the counts keeps judgement on other rows honest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetatree.judge.counts import Counts
from thetatree.judge.leaf_counts import LeafCounts
from thetatree.judge.proportions import Floats


@dataclass(frozen=True)
class Ranking:
    """Steps from the highest score to the lowest.

    Attributes
    ----------
    score : ndarray of shape (n_steps,)
        What the tree predicts: the target's share, or its number.
    n, weight : ndarray of shape (n_steps,)
        Cases and their weight.
    hits : ndarray of shape (n_steps,)
        Weight of the target class; for regression the sum of y.
    lower, upper : ndarray of shape (n_steps,)
        Bounds of each step's rate; NaN for regression.
    leaves : ndarray of shape (n_steps,)
        Leaves in each step.
    unit : str
        "rows" or "keys".
    """

    score: Floats
    n: Floats
    weight: Floats
    hits: Floats
    lower: Floats
    upper: Floats
    leaves: Floats
    unit: str

    @property
    def others(self) -> Floats:
        """Weight of what is not the target."""
        return self.weight - self.hits


def ratio(part: Any, whole: Any) -> Floats:
    """Divide; NaN where there is nothing to divide by."""
    part, divisor = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    return np.asarray(np.divide(part, divisor, out=np.full(part.shape, np.nan), where=divisor != 0))


def ranked(counts: Counts, target: int | None, level: float) -> Ranking:
    """Rank by the share of a class, or by the predicted number where there is no class."""
    score = counts.predicted[:, 0 if target is None else target]
    distinct, place = np.unique(-score, return_inverse=True)
    place = place.astype(np.int64)

    def added(values: Floats) -> Floats:
        return np.asarray(np.bincount(place, values, minlength=len(distinct)), dtype=np.float64)

    if target is None:
        assert isinstance(counts, LeafCounts) and counts.mean is not None
        hits = added(np.where(counts.weight > 0, counts.mean * counts.weight, 0.0))
        lower = upper = np.full(len(distinct), np.nan)
    else:
        hits = added(counts.count[:, target])
        steps = counts.gathered(place)
        lower, upper = steps.rate_interval(np.full(len(distinct), target), level)
    return Ranking(
        -distinct,
        added(counts.n),
        added(counts.weight),
        hits,
        lower,
        upper,
        np.bincount(place).astype(np.float64),
        counts.unit,
    )
