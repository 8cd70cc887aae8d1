"""Every split that a node may consider, in the order of the contract.

A *level* is a distinct known value of a feature in the node. A *cut* is a test on the known values; with
the rule for missing values it becomes a *split*.

A *shadow* is a split that another sound implementation could offer in place of one of ours, because
floating error decides which: the order of two categories whose means agree to the last digits, the
heavier of two sides that weigh the same. Shadows are never chosen. One that would do as well as the
chosen split makes the node doubtful. They are enumerated as subsets: for small problems only.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import criteria

CLOSE = 1e-9
# Sums of some dozens of numbers agree to this, relative to the largest: closer means may change places.
SAME_MEAN = 1e-12


@dataclass(frozen=True)
class Data:
    """The coded columns, the target and the weights, as Python lists."""

    columns: list[list[float]]
    kinds: list[str]
    y: list[float]
    weights: list[float]
    criterion: str
    is_classification: bool
    n_classes: int

    def weight(self, rows: Iterable[int]) -> float:
        return math.fsum(self.weights[row] for row in rows)

    def group(self, rows: Sequence[int]) -> criteria.Group:
        """What a criterion sees of the rows."""
        if not self.is_classification:
            return [(self.y[row], self.weights[row]) for row in rows]
        return [self.weight(row for row in rows if self.y[row] == k) for k in range(self.n_classes)]

    @property
    def order_by(self) -> str:
        """The criterion whose node value orders categories: absolute_error orders by mean as well."""
        return "gini" if self.is_classification else "squared_error"

    def whole_weights(self) -> bool:
        return all(weight == int(weight) for weight in self.weights)


@dataclass(frozen=True)
class Split:
    """A test; rows that pass it go left."""

    kind: str
    feature: int
    threshold: float = math.nan
    left_categories: frozenset[int] = frozenset()
    missing_left: bool = False


def is_missing(kind: str, value: float) -> bool:
    """NaN in any column, a negative code in a flag or a category."""
    return math.isnan(value) or (kind != "number" and value < 0)


def goes_left(split: Split, kind: str, value: float) -> bool:
    """Route one value of the split's feature."""
    if is_missing(kind, value):
        return split.missing_left
    if split.kind == "presence":
        return value == 1
    if split.kind == "subset":
        return value in split.left_categories
    return value <= split.threshold


def partition(split: Split, data: Data, rows: Sequence[int]) -> tuple[list[int], list[int]]:
    """Rows to the left and rows to the right."""
    kind, column = data.kinds[split.feature], data.columns[split.feature]
    left = [row for row in rows if goes_left(split, kind, column[row])]
    right = [row for row in rows if not goes_left(split, kind, column[row])]
    return left, right


def splits(
    feature: int, data: Data, rows: Sequence[int], max_categories: int, missing: str, ordered: bool = False
) -> tuple[list[Split], list[Split]]:
    """All splits of the node's rows on the feature, and their shadows."""
    kind, column = data.kinds[feature], data.columns[feature]
    known = [row for row in rows if not is_missing(kind, column[row])]
    if not known:
        return [], []
    offered, shadows = cuts(feature, data, known, data.group(rows), max_categories, ordered)
    if missing == "learnt" and len(known) < len(rows):
        both = [replace(cut, missing_left=side) for cut in offered for side in (False, True)]
        both.append(Split("threshold", feature, threshold=math.inf))
        return both, [replace(cut, missing_left=side) for cut in shadows for side in (False, True)]
    ruled = [missing_to_heavier(cut, data, known) for cut in offered]
    shadows = [missing_to_heavier(cut, data, known) for cut in shadows]
    shadows += [
        replace(cut, missing_left=not cut.missing_left) for cut in ruled if _is_even(cut, data, known)
    ]
    return ruled, shadows


def missing_to_heavier(cut: Split, data: Data, known: Sequence[int]) -> Split:
    """Let missing values join the heavier known side, the left one when both weigh the same."""
    left, right = partition(cut, data, known)
    return replace(cut, missing_left=data.weight(left) >= data.weight(right))


def _is_even(cut: Split, data: Data, known: Sequence[int]) -> bool:
    """Whether rounding may decide which side is the heavier; sums of whole weights have none."""
    left, right = (data.weight(side) for side in partition(cut, data, known))
    return not data.whole_weights() and abs(left - right) <= CLOSE * (left + right)


def cuts(
    feature: int,
    data: Data,
    known: Sequence[int],
    node: criteria.Group,
    max_categories: int,
    ordered: bool = False,
) -> tuple[list[Split], list[Split]]:
    """Tests on the known values, and their shadows."""
    levels = sorted({data.columns[feature][row] for row in known})
    if len(levels) < 2:
        return [], []
    if data.kinds[feature] == "number":
        return [
            Split("threshold", feature, threshold=midpoint(*pair)) for pair in itertools.pairwise(levels)
        ], []
    if data.kinds[feature] == "flag":
        return [Split("presence", feature)], []
    codes = [int(level) for level in levels]
    if ordered:
        return _subsets(feature, [range(code + 1) for code in codes[:-1]]), []
    if data.is_classification and data.n_classes > 2 and len(codes) <= max_categories:
        return _subsets(feature, every_partition(codes)), []
    groups = {code: _rows_of_level(code, feature, data, known) for code in codes}
    if data.is_classification and data.n_classes > 2:
        return _several_orders(feature, data, groups, node)
    return _one_order(feature, data, groups)


def _rows_of_level(code: int, feature: int, data: Data, known: Sequence[int]) -> criteria.Group:
    return data.group([row for row in known if data.columns[feature][row] == code])


def _subsets(feature: int, lefts: Iterable[Sequence[int]]) -> list[Split]:
    return [Split("subset", feature, left_categories=frozenset(left)) for left in lefts]


def midpoint(low: float, high: float) -> float:
    """Halfway, without overflow; the low value itself where no float lies between."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def every_partition(codes: Sequence[int]) -> list[list[int]]:
    """The left sides: the lowest code and every subset of the others but all of them."""
    lowest, others = codes[0], codes[1:]
    return [
        [lowest] + [code for bit, code in enumerate(others) if m >> bit & 1]
        for m in range(2 ** len(others) - 1)
    ]


def by_key(key: dict[int, float]) -> list[int]:
    """Codes by ascending key, equal keys by code."""
    return sorted(key, key=lambda code: (key[code], code))


def prefixes(order: Sequence[int]) -> list[list[int]]:
    """Every beginning of the order but the whole."""
    return [list(order[:size]) for size in range(1, len(order))]


def _one_order(
    feature: int, data: Data, groups: dict[int, criteria.Group]
) -> tuple[list[Split], list[Split]]:
    """Prefixes of the order by class-1 share or by mean."""
    key = {code: criteria.value(data.order_by, group)[-1] for code, group in groups.items()}
    order = by_key(key)
    # Whole counts divide to the same float wherever the ratio is the same. Means do not: y may be centred.
    certain = data.is_classification and data.whole_weights()
    margin = SAME_MEAN * max(map(abs, [1.0] if data.is_classification else data.y))
    shadows = [] if certain else tied_prefixes(order, key, margin)
    return _subsets(feature, prefixes(order)), _subsets(feature, shadows)


def _several_orders(
    feature: int, data: Data, groups: dict[int, criteria.Group], node: criteria.Group
) -> tuple[list[Split], list[Split]]:
    """Prefixes of the orders by each class's share, then by the first principal component."""
    codes = sorted(groups)
    keys = [
        {code: criteria.value(data.order_by, groups[code])[k] for code in codes}
        for k in range(data.n_classes)
    ]
    component, is_unique = principal_component(groups, node)  # type: ignore[arg-type]
    lefts = [left for key in [*keys, component] for left in prefixes(by_key(key))]
    # The component comes out of an eigensolver: no two of its values are equal for sure.
    shadows = tied_prefixes(by_key(component), component, CLOSE) if is_unique else every_partition(codes)
    if not data.whole_weights():
        shadows += [left for key in keys for left in tied_prefixes(by_key(key), key, SAME_MEAN)]
    return (
        _subsets(feature, [_side_of_lowest(left, codes) for left in lefts]),
        _subsets(feature, [_side_of_lowest(left, codes) for left in shadows]),
    )


def _side_of_lowest(left: Sequence[int], codes: Sequence[int]) -> list[int]:
    if codes[0] in left:
        return list(left)
    return [code for code in codes if code not in left]


def principal_component(
    levels: Mapping[int, criteria.Counts], node: criteria.Counts
) -> tuple[dict[int, float], bool]:
    """Each level's projection on the first principal component of the shares, and whether it is unique.

    Centred at the shares of all the node's rows, those with the feature missing among them.
    """
    codes = sorted(levels)
    centred = np.array([criteria.shares(levels[code]) for code in codes]) - np.array(criteria.shares(node))
    weights = np.array([criteria.weight(levels[code]) for code in codes])
    sizes, axes = np.linalg.eigh(centred.T @ (weights[:, None] * centred))
    is_unique = bool(sizes[-1] - sizes[-2] > 1e-6 * sizes[-1]) or bool(sizes[-1] < 1e-20)
    projections = (centred @ axes[:, -1]).tolist()
    return dict(zip(codes, projections, strict=True)), is_unique


def tied_prefixes(order: Sequence[int], key: dict[int, float], margin: float) -> list[list[int]]:
    """Prefixes that the order would have if levels with keys within the margin changed places."""
    tied: list[list[int]] = []
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and key[order[end]] - key[order[end - 1]] <= margin:
            continue
        run = order[start:end]
        inner = (some for count in range(1, len(run)) for some in itertools.combinations(run, count))
        tied += [[*order[:start], *some] for some in inner]
        start = end
    return tied
