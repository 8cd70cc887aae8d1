"""Rules that decide about a leaf: take it for the target, leave it, or leave it undecided.

Words: a leaf's *rate* is its share of the target, *cases* how many independent ones that share is worth: rows
(of weights (Σw)²/Σw²), of sketches the held keys. The *reference* is the rate to compare with, by default
that of all leaves together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thetatree.judge.collateral import fewest_false_alarms
from thetatree.judge.counts import Counts, share_of
from thetatree.judge.proportions import Floats, binomial_p, wilson

STRATEGIES = ("cost", "binomial", "ratio", "wilson", "minimum_collateral")

Decisions = NDArray[np.int8]
TAKE, UNDECIDED, LEAVE = 1, 0, -1


@dataclass(frozen=True)
class Leaves:
    """The leaves as every rule sees them."""

    hits: Floats
    weight: Floats
    n: Floats
    cases: Floats
    reference: float

    @property
    def rate(self) -> Floats:
        """Share of the target; 0 in leaves without cases."""
        return share_of(self.hits, self.weight)

    @property
    def false(self) -> Floats:
        """Weight of everything else."""
        return np.maximum(self.weight - self.hits, 0.0)


def leaves_of(counts: Counts, target: int, reference: float | None) -> Leaves:
    """Return what the rules see of the counts."""
    hits, weight = counts.count[:, target], counts.weight
    overall = float(share_of(hits.sum(), weight.sum()))
    cases = counts.cases(np.full(len(weight), target))
    return Leaves(hits, weight, counts.n, cases, overall if reference is None else reference)


def by_cost(leaves: Leaves, missed: float, false_alarm: float) -> Decisions:
    """Take a leaf from the rate on at which missing its hits costs as much as its false alarms.

    That rate is w₋ / (w₋ + w₊): 3 for a missed hit and 1 for a false alarm make 1/4.
    """
    return _decided(leaves.rate >= false_alarm / (false_alarm + missed))


def by_test(leaves: Leaves, significance: float, method: str) -> tuple[Decisions, Floats]:
    """Take a leaf whose rate is above the reference by the binomial test, leave one that is below it.

    Cases that are no whole numbers are tested by twice the smaller tail whatever the method.
    """
    p = np.array(
        [
            _p_of(rate, cases, leaves.reference, method)
            for rate, cases in zip(leaves.rate, leaves.cases, strict=True)
        ]
    )
    sure = (p <= significance) & (leaves.cases > 0)
    return _side(leaves.rate > leaves.reference, sure), p


def _p_of(rate: float, cases: float, reference: float, method: str) -> float:
    k = min(rate * cases, cases)
    whole = round(k), round(cases)
    if method == "exact" and np.allclose((k, cases), whole, rtol=1e-9, atol=1e-9):
        return binomial_p(*whole, reference)
    return binomial_p(k, cases, reference, method="twice_smaller")


def by_ratio(leaves: Leaves, ratio: float, min_n: float) -> Decisions:
    """Take a leaf with at least so many hits to each false alarm; one with too few cases is undecided."""
    return _side(leaves.hits >= ratio * leaves.false, (leaves.n >= min_n) & (leaves.weight > 0))


def by_interval(leaves: Leaves, level: float) -> Decisions:
    """Take a leaf whose Wilson interval is above the reference, leave one whose interval is below it."""
    k = np.minimum(leaves.rate * leaves.cases, leaves.cases)
    lower, upper = wilson(k, leaves.cases, level)
    above = lower > leaves.reference
    return _side(above, above | (upper < leaves.reference))


def by_collateral(leaves: Leaves, recall: float) -> Decisions:
    """Take the leaves that reach the recall with the fewest false alarms."""
    return _decided(fewest_false_alarms(leaves.hits, leaves.false, recall))


def _decided(take: NDArray[np.bool_]) -> Decisions:
    return np.where(take, TAKE, LEAVE).astype(np.int8)


def _side(above: NDArray[np.bool_], sure: NDArray[np.bool_]) -> Decisions:
    return np.where(sure, np.where(above, TAKE, LEAVE), UNDECIDED).astype(np.int8)
