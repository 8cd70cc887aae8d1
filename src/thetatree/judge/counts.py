"""Counts of classes in groups of cases of which a model says the same: leaves, or single rows.

Words: *cases* are rows or keys; without weights their *weight* is their number. *Sure cases*: what an
interval rests on, (Σw)²/Σw² for weighted rows; counts from sketches have variances instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thetatree.judge.proportions import Floats, wilson


@dataclass(frozen=True)
class Counts:
    """What was predicted of each group of cases, and what they are.

    Attributes
    ----------
    predicted : ndarray of shape (n_groups, n_classes)
        Predicted class shares; for regression the predicted number in one column.
    n : ndarray of shape (n_groups,)
        Cases; for sketches estimates.
    count : ndarray of shape (n_groups, n_classes)
        Weight of each class; for regression one column, the weight.
    sure : ndarray of shape (n_groups,)
        Sure cases.
    variance, theta : ndarray of shape (n_groups, n_classes), or None for rows
        Of counts estimated from sketches: the variance, and the share of keys that could be counted.
    unit : str
        "rows" or "keys".
    """

    predicted: Floats
    n: Floats
    count: Floats
    sure: Floats
    variance: Floats | None = None
    theta: Floats | None = None
    unit: str = "rows"

    @property
    def weight(self) -> Floats:
        """Weight of each group."""
        return np.asarray(self.count.sum(axis=1))

    def gathered(self, group: NDArray[np.int64]) -> Counts:
        """Put cases together that have the same group number; for class counts only."""
        n_groups = int(group.max(initial=-1)) + 1

        def added(values: Floats) -> Floats:
            out = np.zeros((n_groups, *values.shape[1:]))
            np.add.at(out, group, values)
            return out

        count, weight = added(self.count), added(self.weight)
        # Σw² of a group is weight² / sure.
        sure = share_of(weight**2, added(share_of(self.weight**2, self.sure)))
        theta = None
        if self.theta is not None:
            theta = np.ones_like(count)
            np.minimum.at(theta, group, self.theta)
        variance = None if self.variance is None else added(self.variance)
        # What several groups of cases were predicted is their mean.
        predicted = share_of(added(self.predicted * self.weight[:, np.newaxis]), weight[:, np.newaxis])
        return Counts(predicted, added(self.n), count, sure, variance, theta, self.unit)

    def rate_interval(self, klass: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
        """Return the bounds of each group's share of a class (one class number a group).

        Wilson's interval. Rows count as a sample of those that they stand for. Of sketches it says how far
        the share may be from that of all keys: n̂ keys of a class found at threshold τ (n̂(1−τ)/τ is their
        variance) are worth n̂ / [(1−r)(1/τ₁ − 1) + r(1/τ₀ − 1)] cases, and exact counts have no width.
        """
        groups = np.arange(len(self.n))
        hits, weight = self.count[groups, klass], self.weight
        rate = share_of(hits, weight)
        sure = self.sure if self.variance is None else self._worth(klass)
        exact = np.isinf(sure)
        cases = np.where(exact, 1.0, sure)
        lower, upper = wilson(np.clip(rate * cases, 0, cases), cases, level)
        return np.where(exact, rate, lower), np.where(exact, rate, upper)

    def cases(self, klass: NDArray[np.int64]) -> Floats:
        """Return how many independent cases each group's share of a class is worth, as a sample.

        Rows are a sample of those to come. So are keys, of which only some are held: n keys found at
        threshold τ are worth the nτ held ones.
        """
        if self.variance is None:
            return self.sure
        worth = self._worth(klass)
        return np.where(np.isinf(worth), self.weight, share_of(self.weight, 1 + share_of(self.weight, worth)))

    def _worth(self, klass: NDArray[np.int64]) -> Floats:
        """Return how many sure cases a group's estimated share is worth; infinite where all is exact."""
        assert self.variance is not None and self.theta is not None
        groups = np.arange(len(self.n))
        unsure = _unsure(self.count, self.variance, self.theta)
        own = unsure[groups, klass]
        others = self.count.copy()
        others[groups, klass] = 0
        spread = self.variance.copy()
        spread[groups, klass] = 0
        unsure[groups, klass] = 0
        n = others.sum(axis=1)  # where no other key was found, the coarsest of the others' sketches decides
        rest = np.where(n > 0, share_of(spread.sum(axis=1), n), unsure.max(axis=1))
        weight = self.weight
        rate = share_of(self.count[groups, klass], weight)
        scale = (1 - rate) * own + rate * rest
        return np.where(scale > 0, share_of(weight, scale), np.where(weight > 0, np.inf, 0.0))


def together(parts: Sequence[Counts]) -> Counts:
    """Put the groups of several counts one after the other, as of the folds of a cross-validation."""
    first = parts[0]

    def joined(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in parts])

    estimated = first.variance is not None
    return Counts(
        joined("predicted"),
        joined("n"),
        joined("count"),
        joined("sure"),
        joined("variance") if estimated else None,
        joined("theta") if estimated else None,
        first.unit,
    )


def share_of(a: Floats, b: Floats) -> Floats:
    """Divide; 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _unsure(count: Floats, variance: Floats, theta: Floats) -> Floats:
    """Return 1/τ − 1 of each count: variance over count, or its sketch's where no key was found."""
    return np.where(count > 0, share_of(variance, count), 1 / theta - 1)
