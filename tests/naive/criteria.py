"""Every criterion of the row learners, from its definition: impurity, value and score of groups of rows.

A *group* is what a criterion sees of some rows: for classification the weight of each class, for
regression the list of (y, weight) pairs. Sums are `math.fsum`, so they are right to the last bit, and
y is centred before it is squared: with y near 1e6 a plain sum of squares keeps four digits.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from scipy.special import betainc, betaln

Counts = Sequence[float]
Sample = Sequence[tuple[float, float]]
Group = Counts | Sample

CLASSIFICATION = (
    "gini",
    "entropy",
    "log_loss",
    "gain_ratio",
    "chi_square",
    "binomial",
    "theta",
    "delta",
    "weighted_delta",
)
REGRESSION = ("squared_error", "absolute_error", "poisson")


def weight(group: Group) -> float:
    """Total weight of the group."""
    return math.fsum(item[1] if isinstance(item, tuple) else item for item in group)


def shares(counts: Counts) -> list[float]:
    """Share of each class."""
    total = math.fsum(counts)
    return [count / total for count in counts]


def mean(sample: Sample) -> float:
    """Weighted mean; the second pass removes the rounding of the products w * y."""
    total = weight(sample)
    first = math.fsum(w * y for y, w in sample) / total
    return first + math.fsum(w * (y - first) for y, w in sample) / total


def median(sample: Sample) -> float:
    """Smallest y with more than half of the weight at or below it; the midpoint if half is hit exactly."""
    ordered = sorted(sample)
    half = weight(sample) / 2
    for i, (y, _) in enumerate(ordered):
        below = math.fsum(w for _, w in ordered[: i + 1])
        if below == half:
            return (y + ordered[i + 1][0]) / 2
        if below > half:
            return y
    return ordered[-1][0]


# Impurities


def gini(counts: Counts) -> float:
    """1 - sum p²."""
    return 1 - math.fsum(p * p for p in shares(counts))


def entropy(counts: Counts) -> float:
    """Entropy in bits."""
    return math.fsum(p * math.log2(1 / p) for p in shares(counts) if p > 0)


def error_rate(counts: Counts) -> float:
    """1 - max p."""
    return 1 - max(shares(counts))


def variance(sample: Sample) -> float:
    """Weighted variance about the mean."""
    near = _shifted(sample, mean(sample))
    rest = mean(near)
    return math.fsum(w * (d - rest) ** 2 for d, w in near) / weight(sample)


def absolute_deviation(sample: Sample) -> float:
    """Mean absolute deviation about the median."""
    return _absolute_error(sample) / weight(sample)


def half_deviance(sample: Sample) -> float:
    """Mean of y ln(y / ȳ).

    Each term is taken less (y - ȳ), which sums to nothing: so the rounding of ȳ, a first-order error of
    y ln(y / ȳ), does not matter.
    """
    centre = mean(sample)
    if centre == 0:
        return 0.0
    return math.fsum(w * _unit_deviance(y, centre) for y, w in sample) / weight(sample)


def _unit_deviance(y: float, centre: float) -> float:
    if y == 0:
        return centre
    step = (y - centre) / centre
    # log1p is right where y is near the centre, log where y / centre is near 0.
    log_ratio = math.log1p(step) if step > -0.5 else math.log(y / centre)
    return y * log_ratio - (y - centre)


def _absolute_error(sample: Sample) -> float:
    centre = median(sample)
    return math.fsum(w * abs(y - centre) for y, w in sample)


def _shifted(sample: Sample, origin: float) -> list[tuple[float, float]]:
    return [(y - origin, w) for y, w in sample]


# Scores: the higher the better


def decrease(measure: Callable[[Any], float], parent: Group, left: Group, right: Group) -> float:
    """Impurity of the parent minus the weighted impurity of its children."""
    total = weight(parent)
    children = [weight(child) / total * measure(child) for child in (left, right)]
    return math.fsum([measure(parent), -children[0], -children[1]])


def gain_ratio(parent: Counts, left: Counts, right: Counts) -> float:
    """Information gain over split information."""
    information = entropy([weight(left), weight(right)])
    return decrease(entropy, parent, left, right) / information if information > 0 else 0.0


def chi_square(parent: Counts, left: Counts, right: Counts) -> float:
    """Sum of (O - E)² / E over the table of children and classes; a class without rows has no cells."""
    total = weight(parent)
    cells = [
        (observed, weight(child) * all_of_class / total)
        for child in (left, right)
        for observed, all_of_class in zip(child, parent, strict=True)
        if all_of_class > 0
    ]
    return math.fsum((observed - expected) ** 2 / expected for observed, expected in cells)


def binomial(parent: Counts, left: Counts, right: Counts) -> float:
    """-ln of the smaller of the two children's p-values against the parent's rate of class 1."""
    return max(minus_log_p(child, parent) for child in (left, right))


def minus_log_p(child: Counts, parent: Counts) -> float:
    """-ln p, p = min(1, 2 min(P(X <= k), P(X >= k))), X binomial at the parent's rate."""
    no, yes = child
    miss_rate, rate = shares(parent)
    at_most = log_betainc(no, yes + 1, miss_rate) if no > 0 else 0.0
    at_least = log_betainc(yes, no + 1, rate) if yes > 0 else 0.0
    return max(0.0, -(math.log(2) + min(at_most, at_least)))


def log_betainc(a: float, b: float, x: float) -> float:
    """ln I_x(a, b), also where I_x(a, b) itself is below the smallest float."""
    plain = float(betainc(a, b, x))
    return math.log(plain) if plain > 1e-250 else log_betainc_series(a, b, x)


def log_betainc_series(a: float, b: float, x: float) -> float:
    """I_x(a, b) = x^a (1-x)^b / (a B(a, b)) * (1 + x (a+b)/(a+1) + x² (a+b)(a+b+1)/((a+1)(a+2)) + ...)."""
    if x <= 0:
        return -math.inf
    terms = [1.0]
    while terms[-1] > 1e-18 * terms[0]:
        i = len(terms) - 1
        terms.append(terms[-1] * x * (a + b + i) / (a + 1 + i))
    front = a * math.log(x) + b * math.log1p(-x) - math.log(a) - float(betaln(a, b))
    return front + math.log(math.fsum(terms))


def theta(parent: Counts, left: Counts, right: Counts) -> float:
    """Share of the rows in the modal class of their child."""
    return (max(left) + max(right)) / weight(parent)


def delta(parent: Counts, left: Counts, right: Counts) -> float:
    """Sum over the classes of the difference between the children's shares."""
    return math.fsum(abs(p - q) for p, q in zip(shares(left), shares(right), strict=True))


def weighted_delta(parent: Counts, left: Counts, right: Counts) -> float:
    """Sum over the children of their weight share times their distance from the parent's shares."""
    total, node = weight(parent), shares(parent)
    return math.fsum(
        weight(child) / total * abs(p - q)
        for child in (left, right)
        for p, q in zip(shares(child), node, strict=True)
    )


def between_sum_of_squares(parent: Sample, left: Sample, right: Sample) -> float:
    """Sum over the children of weight * (child's mean - parent's mean)²."""
    origin = mean(parent)
    rest = mean(_shifted(parent, origin))
    return math.fsum(weight(child) * (mean(_shifted(child, origin)) - rest) ** 2 for child in (left, right))


def absolute_error_saved(parent: Sample, left: Sample, right: Sample) -> float:
    """Total absolute error of the parent minus that of the children."""
    return math.fsum([_absolute_error(parent), -_absolute_error(left), -_absolute_error(right)])


def half_deviance_saved(parent: Sample, left: Sample, right: Sample) -> float:
    """Total half deviance of the parent minus that of the children."""
    return weight(parent) * decrease(half_deviance, parent, left, right)


def balance(left: Group, right: Group) -> float:
    """Share of the weight in the lighter child."""
    return min(weight(left), weight(right)) / math.fsum([weight(left), weight(right)])


# By name

_IMPURITY: dict[str, Callable[[Any], float]] = {
    **dict.fromkeys(("gini", "delta", "weighted_delta", "chi_square", "binomial"), gini),
    **dict.fromkeys(("entropy", "log_loss", "gain_ratio"), entropy),
    "theta": error_rate,
    "squared_error": variance,
    "absolute_error": absolute_deviation,
    "poisson": half_deviance,
}

_SCORE: dict[str, Callable[[Any, Any, Any], float]] = {
    "gini": lambda parent, left, right: decrease(gini, parent, left, right),
    "entropy": lambda parent, left, right: decrease(entropy, parent, left, right),
    "log_loss": lambda parent, left, right: decrease(entropy, parent, left, right),
    "gain_ratio": gain_ratio,
    "chi_square": chi_square,
    "binomial": binomial,
    "theta": theta,
    "delta": delta,
    "weighted_delta": weighted_delta,
    "squared_error": between_sum_of_squares,
    "absolute_error": absolute_error_saved,
    "poisson": half_deviance_saved,
}


def impurity(criterion: str, group: Group) -> float:
    """Node impurity that goes with the criterion."""
    return _IMPURITY[criterion](group)


def impurity_decrease(criterion: str, parent: Group, left: Group, right: Group) -> float:
    """Decrease of the node impurity, not yet scaled by the node's share of the root."""
    return decrease(_IMPURITY[criterion], parent, left, right)


def score(criterion: str, parent: Group, left: Group, right: Group) -> float:
    """What the search maximises."""
    return _SCORE[criterion](parent, left, right)


def ranking(criterion: str, parent: Group, left: Group, right: Group) -> tuple[float, ...]:
    """The score, followed by what breaks its ties (theta only)."""
    first = score(criterion, parent, left, right)
    if criterion != "theta":
        return (first,)
    return (first, score("weighted_delta", parent, left, right), balance(left, right))


def scales(criterion: str, parent: Group) -> tuple[float, ...]:
    """For each entry of `ranking`, the size that a difference is judged against."""
    if criterion == "theta":
        return (1.0, 1.0, 1.0)
    if criterion in ("gini", "entropy", "log_loss"):
        return (impurity(criterion, parent),)
    if criterion == "chi_square":
        return (weight(parent),)
    if criterion in REGRESSION:
        return (weight(parent) * impurity(criterion, parent),)
    return (1.0,)


def score_is_decrease(criterion: str) -> bool:
    """Whether splits of equal score have equal decreases of impurity."""
    return criterion in ("gini", "entropy", "log_loss", *REGRESSION)


def value(criterion: str, group: Group) -> list[float]:
    """What a node predicts: class shares, or one number."""
    if criterion in CLASSIFICATION:
        return shares(group)  # type: ignore[arg-type]
    if criterion == "absolute_error":
        return [median(group)]  # type: ignore[arg-type]
    return [mean(group)]  # type: ignore[arg-type]
