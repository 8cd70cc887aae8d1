"""The best split of one node, and whether it is the only right one.

Two flags let a differential test tell a floating tie from a bug:

- *ties*: a candidate that parts the rows differently (or bounds the children differently, under a
  monotonic constraint) came within 1e-9 of the chosen one;
- *doubtful*: the tie rule (1e-12) does not settle it either: a difference of its own order, a limit hit to
  the last digit, an order of categories that rounding decides. Ties that are not doubtful have one right
  answer: the first.

What stands below a doubtful node may differ as well: stop comparing there.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import criteria
from .candidates import CLOSE, Data, Split, partition, splits

TOLERANCE = 1e-12
# Differences below this are rounding, and far enough below the tolerance to be a tie for everybody.
ROUNDING = 1e-13
SLACK = 2.2e-16


@dataclass(frozen=True)
class Limits:
    """What a node and its candidates must respect.

    From `positive_gain` on they are those of AID and THAID: see docs/aid.md and docs/thaid.md. By feature:
    `tiers` (the lowest is tried first) and `ordered` (categories are cut in the order of their codes).
    `force` is the only feature that the root may be split by. `largest_first` expands the node of the
    greatest loss first, not the split of the greatest decrease.
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int | None = None
    max_categories: int = 8
    missing: str = "learnt"
    monotonic: Sequence[int] | None = None
    positive_gain: bool = False
    min_score: float = 0.0
    min_gain: float = 0.0
    min_improvement: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    tiers: Sequence[int] | None = None
    force: int | None = None
    ordered: Sequence[int] | None = None
    largest_first: bool = False


@dataclass(frozen=True)
class Scored:
    """A candidate and what became of it. `is_close_call`: rounding may decide whether it is admissible."""

    split: Split
    left: list[int]
    right: list[int]
    ranking: tuple[float, ...]
    decrease: float
    is_admissible: bool
    is_close_call: bool


@dataclass
class Draft:
    """A node while the tree grows."""

    rows: list[int]
    depth: int
    bounds: tuple[float, float]
    chosen: Scored | None = None
    ties: bool = False
    doubtful: bool = False
    children: list["Draft"] = field(default_factory=list)


def search(draft: Draft, data: Data, limits: Limits) -> None:
    """Set the draft's chosen split, if any is admissible, and its flags."""
    draft.doubtful = draft.ties = _is_barely_impure(draft, data, limits)
    if _is_leaf(draft, data, limits):
        return
    for features in _stages(draft, data, limits):
        _search_among(features, draft, data, limits)
        if draft.chosen is not None:
            return


def _stages(draft: Draft, data: Data, limits: Limits) -> list[list[int]]:
    """The features that are considered together, stage by stage until one of them can split."""
    features = range(len(data.columns))
    if limits.force is not None and draft.depth == 0:
        return [[limits.force]]
    if limits.tiers is None:
        return [list(features)]
    return [[f for f in features if limits.tiers[f] == tier] for tier in sorted(set(limits.tiers))]


def _search_among(features: Sequence[int], draft: Draft, data: Data, limits: Limits) -> None:
    asked = _asked_of_score(draft, data, limits)
    offered: list[list[Scored]] = []
    shadows: list[Scored] = []
    for feature in features:
        ordered = limits.ordered is not None and bool(limits.ordered[feature])
        real, shadow = splits(feature, data, draft.rows, limits.max_categories, limits.missing, ordered)
        offered.append([_scored(split, draft, data, limits, asked) for split in real])
        shadows += [_scored(split, draft, data, limits, asked) for split in shadow]
    sizes = criteria.scales(data.criterion, data.group(draft.rows))
    best_of_each = [_best(candidates, sizes) for candidates in offered]
    draft.chosen = _best([best for best in best_of_each if best is not None], sizes)
    _flag(draft, [scored for candidates in offered for scored in candidates], shadows, sizes, limits)


def loss(rows: Sequence[int], data: Data) -> float:
    """Weight times impurity: for squared error the sum of squares."""
    return data.weight(rows) * criteria.impurity(data.criterion, data.group(rows))


def _asked_of_score(draft: Draft, data: Data, limits: Limits) -> float:
    """What the score of a split must reach; a forced one need not."""
    if limits.force is not None and draft.depth == 0:
        return -math.inf
    modal = max(criteria.shares(data.group(draft.rows))) if data.criterion == "theta" else 0.0
    asked = [
        (limits.min_score, limits.min_score),
        (limits.min_gain, modal + limits.min_gain),
        (limits.min_improvement, limits.min_improvement * loss(draft.rows, data)),
        (limits.p2, limits.p2 * loss(range(len(data.y)), data)),
    ]
    return max([score for rule, score in asked if rule > 0], default=-math.inf)


def _is_leaf(draft: Draft, data: Data, limits: Limits) -> bool:
    rows, weight = draft.rows, data.weight(draft.rows)
    impurity = criteria.impurity(data.criterion, data.group(rows))
    return (
        draft.depth == limits.max_depth
        or len(rows) < max(limits.min_samples_split, 2 * limits.min_samples_leaf)
        or weight < 2 * limits.min_weight_leaf
        or len({data.y[row] for row in rows}) == 1
        or 0 < limits.min_impurity_split >= impurity
        or _held_of_root(draft, data) < limits.p1 - TOLERANCE
    )


def _held_of_root(draft: Draft, data: Data) -> float:
    """The node's share of the root's loss."""
    whole = loss(range(len(data.y)), data)
    return loss(draft.rows, data) / whole if whole > 0 else 1.0


def _is_barely_impure(draft: Draft, data: Data, limits: Limits) -> bool:
    impurity = criteria.impurity(data.criterion, data.group(draft.rows))
    return (limits.min_impurity_split > 0 and _is_close(impurity, limits.min_impurity_split)) or (
        limits.p1 > 0 and _is_close(_held_of_root(draft, data), limits.p1)
    )


def _is_close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=CLOSE)


def _scored(split: Split, draft: Draft, data: Data, limits: Limits, asked: float) -> Scored:
    left, right = partition(split, data, draft.rows)
    if min(len(left), len(right)) < max(1, limits.min_samples_leaf):
        return Scored(split, left, right, (), 0.0, is_admissible=False, is_close_call=False)
    groups = [data.group(rows) for rows in (draft.rows, left, right)]
    gain = criteria.impurity_decrease(data.criterion, groups[0], groups[1], groups[2])
    decrease = gain * data.weight(draft.rows) / math.fsum(data.weights)
    ranking = criteria.ranking(data.criterion, groups[0], groups[1], groups[2])
    relative_gain = _relative(gain, criteria.impurity(data.criterion, groups[0]), limits)
    demands = [
        *_score_demands(ranking[0], asked, criteria.scales(data.criterion, groups[0])[0]),
        *_weight_demands(left, right, data, limits),
        *_decrease_demands(decrease, limits),
        *_monotonic_demands(split, left, right, draft.bounds, data, limits),
    ]
    return Scored(
        split,
        left,
        right,
        ranking,
        decrease,
        is_admissible=_has_events(left, right, data)
        and all(a >= b for a, b, _ in demands)
        and (relative_gain > TOLERANCE or not limits.positive_gain),
        is_close_call=any(is_rounded and _is_close(a, b) for a, b, is_rounded in demands)
        or (limits.positive_gain and ROUNDING < relative_gain < 10 * TOLERANCE),
    )


def _relative(gain: float, impurity: float, limits: Limits) -> float:
    """The gain as a share of the node's impurity, where a positive one is asked for."""
    return gain / impurity if limits.positive_gain and impurity > 0 else 0.0


# A demand (a, b, is_rounded) asks for a >= b; is_rounded: both may be computed with other last digits.
Demand = tuple[float, float, bool]


def _weight_demands(left: list[int], right: list[int], data: Data, limits: Limits) -> list[Demand]:
    is_rounded = not data.whole_weights()
    return [(data.weight(side), limits.min_weight_leaf, is_rounded) for side in (left, right)]


def _score_demands(score: float, asked: float, size: float) -> list[Demand]:
    if asked == -math.inf:
        return []
    return [(score + TOLERANCE * max(asked, size), asked, True)]


def _decrease_demands(decrease: float, limits: Limits) -> list[Demand]:
    if limits.min_impurity_decrease <= 0:
        return []
    return [(decrease + SLACK, limits.min_impurity_decrease, True)]


def _monotonic_demands(
    split: Split,
    left: list[int],
    right: list[int],
    bounds: tuple[float, float],
    data: Data,
    limits: Limits,
) -> list[Demand]:
    """As in scikit-learn, an unconstrained split may pass the bounds: the values are clipped then."""
    order = order_of_sides(split, limits)
    if order == 0:
        return []
    values = level(left, data), level(right, data)
    high, low = (values[1], values[0]) if order > 0 else values
    # Equal ratios of whole counts, and equal medians, are the same float for everybody.
    is_exact = data.whole_weights() and data.criterion not in ("squared_error", "poisson")
    return [
        (high, low, not (is_exact and high == low)),
        *[(value, bounds[0], True) for value in values],
        *[(bounds[1], value, True) for value in values],
    ]


def _has_events(left: list[int], right: list[int], data: Data) -> bool:
    """Whether a Poisson mean is above zero on both sides."""
    return data.criterion != "poisson" or all(any(data.y[row] > 0 for row in side) for side in (left, right))


def order_of_sides(split: Split, limits: Limits) -> int:
    """+1: the right child's value must be the higher; -1: the left one's; 0: no constraint.

    The high side of a number is right, that of a flag left. Known against missing has no high side.
    """
    if limits.monotonic is None or split.kind == "subset" or split.threshold == math.inf:
        return 0
    sign = limits.monotonic[split.feature]
    return -sign if split.kind == "presence" else sign


def level(rows: list[int], data: Data) -> float:
    """The number that a monotonic constraint compares: class-1 share, mean or median."""
    return criteria.value(data.criterion, data.group(rows))[-1]


# Comparing candidates


def _best(candidates: Sequence[Scored], sizes: Sequence[float]) -> Scored | None:
    best: Scored | None = None
    for scored in candidates:
        if scored.is_admissible and (best is None or _beats(scored.ranking, best.ranking, sizes)):
            best = scored
    return best


def _beats(new: Sequence[float], old: Sequence[float], sizes: Sequence[float]) -> bool:
    for s, b, size in zip(new, old, sizes, strict=True):
        tolerance = TOLERANCE * max(abs(b), size)
        if abs(s - b) > tolerance:
            return s > b
    return False


def _comparison(new: Sequence[float], old: Sequence[float], sizes: Sequence[float]) -> str:
    """How the new ranking stands to the old: "better", "worse", "tied", or "doubtful" near the tolerance."""
    for s, b, size in zip(new, old, sizes, strict=True):
        gap = (s - b) / max(abs(b), size, 5e-324)
        if abs(gap) > CLOSE:
            return "better" if gap > 0 else "worse"
        if abs(gap) > ROUNDING:
            return "doubtful"
    return "tied"


def _flag(
    draft: Draft, offered: list[Scored], shadows: list[Scored], sizes: Sequence[float], limits: Limits
) -> None:
    """Set the flags by every candidate that was, or with other rounding would be, admissible."""
    chosen = draft.chosen
    if chosen is None:
        possible = [scored for scored in offered + shadows if scored.ranking]
        draft.doubtful |= any(scored.is_admissible or scored.is_close_call for scored in possible)
        draft.ties |= draft.doubtful
        return
    draft.doubtful |= chosen.is_close_call
    for index, scored in enumerate(offered + shadows):
        is_shadow = index >= len(offered)
        if not scored.ranking or not (scored.is_admissible or scored.is_close_call):
            continue
        if _same_children(scored, chosen, limits) and not is_shadow:
            continue
        how = _comparison(scored.ranking, chosen.ranking, sizes)
        is_uncertain = is_shadow or scored.is_close_call or how == "doubtful"
        draft.ties |= how in ("tied", "doubtful")
        draft.doubtful |= how != "worse" and is_uncertain
    draft.ties |= draft.doubtful


def _same_children(a: Scored, b: Scored, limits: Limits) -> bool:
    """Whether both part the rows alike, and leave them under the same constraint."""
    same_rows = a.left in (b.left, b.right)
    return same_rows and _high_side(a, limits) == _high_side(b, limits)


def _high_side(scored: Scored, limits: Limits) -> list[int] | None:
    order = order_of_sides(scored.split, limits)
    return None if order == 0 else scored.right if order > 0 else scored.left
