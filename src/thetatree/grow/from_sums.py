"""Growing regression trees from sketches whose keys carry a number.

A node's size comes from the keys that the resolution rule finds, its mean and variance from their numbers:
all of them where θ = 1, a sample of the node below. Children's sizes add up to their parent's, and their sums
to its sum. A split of estimated numbers must part the means by more than noise would.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from thetatree import _kernel
from thetatree.grow.from_sketches import tree_features
from thetatree.sketch.sources import (
    CATEGORY,
    FLAG,
    THRESHOLD,
    Sources,
    Tested,
    source_of_all,
    tested_features,
)
from thetatree.sketch.tuple_set import TupleSet
from thetatree.tree.tree import SplitKind, Tree

_TIE = 1e-12
_PURE = 1e-14  # of the root's variance: what rounding leaves
Cells = list[int]


@dataclass(frozen=True)
class SumRules:
    """Limits; -1 and 0: none. As in `GrowRules` and `SketchRules`."""

    max_depth: int = -1
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int = -1
    positive_gain: bool = False
    largest_first: bool = False
    min_improvement: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    significance: float = 0.0
    min_held: float = 0.0
    trace: bool = False
    n_threads: int = 1


class Part(NamedTuple):
    """A set of keys: its size and mean, each with a variance, and the variance of the numbers themselves."""

    n: float
    n_error: float
    mean: float
    mean_error: float
    spread: float
    held: float
    tau: float

    @classmethod
    def of(cls, sums: NDArray[np.float64]) -> Part:
        """Estimate from held keys, τ, sum and sum of squares."""
        held, tau, total, squares = (float(x) for x in sums)
        if held == 0:
            return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, tau)
        n, mean = held / tau, total / held
        ss = max(0.0, squares - total * mean)
        # The variance of the n keys, of which `held` are a sample; of all of them it is ss / n.
        spread = ss / held if tau == 1 or held == 1 else ss / (held - 1) * (n - 1) / n
        return cls(n, n * (1 - tau) / tau, mean, spread * (1 - tau) / held, spread, held, tau)


@dataclass
class _Split:
    feature: int
    left: Part
    right: Part
    gain: float  # BSS
    cut: int
    left_cells: Cells
    missing_left: bool


@dataclass
class _Node:
    cells: dict[int, Cells]
    part: Part
    depth: int
    split: _Split | None = None
    best: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    children: tuple[_Node, ...] = ()

    @property
    def loss(self) -> float:
        return self.part.n * self.part.spread


def grow_from_sums(sketches: TupleSet, rules: SumRules) -> Tree:
    """Grow a tree."""
    return _Grower(sketches, rules).grow()


class _Grower:
    def __init__(self, sketches: TupleSet, rules: SumRules) -> None:
        self._rules = rules
        self._data = data = sketches.data
        self._tested: tuple[Tested, ...] = tested_features(data)
        self._source = source_of_all(data, self._tested)
        column = data.column
        total = data.entries.total(-1)
        inside = np.isin(sketches.keys, column[total])
        # Squares of numbers far from 0 would cancel.
        self._centre = float(sketches.y[inside].mean()) if inside.any() else 0.0
        cells = [(one.kind, len(one.values), data.features[one.feature].complete) for one in self._tested]
        self._sums = _kernel.Sums(
            column.hashes,
            column.offsets,
            column.thetas,
            self._source,
            cells,
            sketches.keys,
            sketches.y - self._centre,
        )
        (own,) = self._among({}, [])
        root = Part.of(own)
        n = data.entries.n[total]
        self._root = _Node({}, root if n < 0 else root._replace(n=float(n), n_error=0.0), 0)

    def _among(self, node: dict[int, Cells], tests: list[tuple[int, Cells]]) -> NDArray[np.float64]:
        found = self._sums.among(list(node.items()), tests, self._rules.n_threads)
        return np.asarray(found).reshape(-1, 4)

    def grow(self) -> Tree:
        """Divide the most promising node until the rules say stop."""
        rules = self._rules
        heap: list[tuple[float, int, _Node]] = []
        made = 0

        def offer(node: _Node) -> None:
            nonlocal made
            made += 1
            self._examine(node)
            if node.split is not None:
                worth = node.loss if rules.largest_first else node.split.gain
                heapq.heappush(heap, (-worth, made, node))

        offer(self._root)
        leaves = 1
        while heap and (rules.max_leaf_nodes < 0 or leaves < rules.max_leaf_nodes):
            node = heapq.heappop(heap)[2]
            node.children = self._divide(node)
            leaves += 1
            for child in node.children:
                offer(child)
        return self._tree()

    def _examine(self, node: _Node) -> None:
        rules, part = self._rules, node.part
        node.best = np.full(len(self._tested), np.nan)
        too_small = part.n < rules.min_samples_split or part.n < 2 * rules.min_samples_leaf
        pure = part.spread <= _PURE * self._root.part.spread
        if too_small or pure or node.depth == rules.max_depth:
            return
        if rules.min_impurity_split > 0 and part.spread <= rules.min_impurity_split:
            return
        if rules.p1 > 0 and node.loss < rules.p1 * self._root.loss:
            return
        found = self._candidates(node)
        level = chi2.isf(rules.significance / max(1, len(found)), 1) if rules.significance else 0.0
        for split in found:
            if not self._fits(node, split):
                continue
            seen = node.best[split.feature]
            node.best[split.feature] = split.gain if np.isnan(seen) else max(seen, split.gain)
            if not self._worth(node, split, level):
                continue
            if node.split is None or split.gain > node.split.gain * (1 + _TIE):
                node.split = split

    def _fits(self, node: _Node, split: _Split) -> bool:
        """Whether both sides are large enough."""
        rules, left, right = self._rules, split.left, split.right
        least = max(rules.min_samples_leaf, rules.min_weight_leaf)
        return min(left.n, right.n) >= least and not (rules.positive_gain and split.gain <= 0)

    def _worth(self, node: _Node, split: _Split, level: float) -> bool:
        """Whether the rules on gains, and the gate, let the split pass."""
        rules, left, right = self._rules, split.left, split.right
        if rules.positive_gain and not split.gain > _TIE * node.loss:
            return False
        needed = max(rules.min_improvement * node.loss, rules.p2 * self._root.loss)
        if needed > 0 and split.gain < needed:
            return False
        decrease = split.gain / self._root.part.n
        if rules.min_impurity_decrease > 0 and decrease + np.finfo(float).eps < rules.min_impurity_decrease:
            return False
        noise = left.mean_error + right.mean_error
        if noise == 0 or not rules.significance:
            return True
        enough = min(left.held, right.held) >= rules.min_held
        return enough and (left.mean - right.mean) ** 2 > level * noise

    def _candidates(self, node: _Node) -> list[_Split]:
        """Every split of every feature, in the order of features and cuts."""
        tests: list[tuple[int, int, Cells, Cells]] = []  # feature, cut, left, right; missing apart
        orders = self._category_orders(node)
        for f, one in enumerate(self._tested):
            allowed = node.cells.get(f, [1] * (len(one.values) + 2))
            known = [*allowed[:-1], 0]
            for cut, marked in enumerate(_sides(one, orders.get(f, ()))):
                left = [a & b for a, b in zip(known, marked, strict=True)]
                right = [a & (1 - b) for a, b in zip(known, marked, strict=True)]
                if any(left) and any(right):
                    tests.append((f, cut, left, right))
        sides = self._among(node.cells, [(f, side) for f, _, *both in tests for side in both])[1:]
        gaps = {f for f, _ in enumerate(self._tested) if self._source["known"][f] >= 0}
        joined: list[tuple[int, Cells]] = []
        for i, (f, _, left, right) in enumerate(tests):
            if f in gaps and node.cells.get(f, [1])[-1]:
                heavier = left if _size(sides[2 * i]) >= _size(sides[2 * i + 1]) else right
                joined.append((f, [*heavier[:-1], 1]))
        with_missing = iter(self._among(node.cells, joined)[1:]) if joined else iter(())
        found = []
        for i, (f, cut, left, _) in enumerate(tests):
            both = [sides[2 * i], sides[2 * i + 1]]
            missing_left = _size(both[0]) >= _size(both[1])
            if f in gaps and node.cells.get(f, [1])[-1]:
                both[0 if missing_left else 1] = next(with_missing)
            a, b = conserved(node.part, Part.of(both[0]), Part.of(both[1]))
            if a.held == 0 or b.held == 0:
                continue
            gain = a.n * b.n / (a.n + b.n) * (a.mean - b.mean) ** 2 if a.n + b.n > 0 else 0.0
            found.append(_Split(f, a, b, gain, cut, left, missing_left))
        return found

    def _category_orders(self, node: _Node) -> dict[int, list[int]]:
        """The cells of each category that the node has keys of, by mean: the best cut is among these."""
        tests: list[tuple[int, Cells]] = []
        for f, one in enumerate(self._tested):
            if one.kind == CATEGORY:
                allowed = node.cells.get(f, [1] * (len(one.values) + 2))
                for cell in range(len(one.values) + 1):
                    if allowed[cell]:
                        tests.append((f, [int(i == cell) for i in range(len(one.values) + 2)]))
        orders: dict[int, list[tuple[float, int]]] = {}
        for (f, cells), sums in zip(tests, self._among(node.cells, tests)[1:], strict=True):
            if sums[0] > 0:
                orders.setdefault(f, []).append((sums[2] / sums[0], cells.index(1)))
        return {f: [cell for _, cell in sorted(found)] for f, found in orders.items()}

    def _divide(self, node: _Node) -> tuple[_Node, ...]:
        split = node.split
        assert split is not None
        one = self._tested[split.feature]
        allowed = node.cells.get(split.feature, [1] * (len(one.values) + 2))
        left = [*split.left_cells[:-1], int(allowed[-1] and split.missing_left)]
        right = [a - b for a, b in zip(allowed, left, strict=True)]
        sides = ((left, split.left), (right, split.right))
        return tuple(
            _Node(node.cells | {split.feature: cells}, part, node.depth + 1) for cells, part in sides
        )

    def _tree(self) -> Tree:
        nodes: list[_Node] = []
        stack = [self._root]
        while stack:
            nodes.append(stack.pop())
            stack += reversed(nodes[-1].children)
        sources = Sources(self._data, self._tested, [self._source], (), [-1.0])
        features = tree_features(sources)
        arrays = _arrays(nodes, self._root.part.n, self._centre)
        kinds = [self._kind(node) for node in nodes]
        arrays["kind"] = np.array([kind for kind, _, _ in kinds])
        arrays["threshold"] = np.array([threshold for _, threshold, _ in kinds])
        lists = [listed for _, _, listed in kinds]
        arrays["category_start"] = np.cumsum([0, *map(len, lists)])
        arrays["category"] = np.array([code for listed in lists for code in listed], np.int32)
        arrays["category_branch"] = np.zeros(len(arrays["category"]), np.int32)
        if self._rules.trace:
            arrays["trace"] = np.array([node.best for node in nodes])
        return Tree.from_arrays(arrays, features, None, "squared_error")

    def _kind(self, node: _Node) -> tuple[int, float, list[int]]:
        """A node's kind of split, its threshold and its listed categories."""
        split = node.split if node.children else None
        if split is None:
            return SplitKind.LEAF, -2.0, []
        one = self._tested[split.feature]
        if one.kind == FLAG:
            return SplitKind.PRESENCE, -2.0, []
        if one.kind == THRESHOLD:
            return SplitKind.THRESHOLD, self._data.features[one.feature].edges[split.cut], []
        return SplitKind.SUBSET, -2.0, [cell for cell, marked in enumerate(split.left_cells) if marked]


def _sides(one: Tested, order: Any) -> list[Cells]:
    """For each candidate of a feature, the cells that go left."""
    n = len(one.values)
    if one.kind == FLAG:
        return [[1, 0, 0]]
    if one.kind == THRESHOLD:
        return [[int(cell <= cut) for cell in range(n)] + [0, 0] for cut in range(n)]
    chosen = [set(order[: i + 1]) for i in range(len(order) - 1)]
    return [[int(cell in some) for cell in range(n + 2)] for some in chosen]


def _size(sums: NDArray[np.float64]) -> float:
    return float(sums[0] / sums[1])


def conserved(node: Part, left: Part, right: Part) -> tuple[Part, Part]:
    """Make sizes and sums of two sides add up to their node's, sharing differences by their variances."""
    total = left.n + right.n
    if total <= 0:
        return left, right
    spread = left.n_error + right.n_error
    if node.n_error < spread:
        n = float(np.clip(left.n + (node.n - total) * left.n_error / spread, 0, node.n))
        error = left.n_error * right.n_error / spread
    else:
        n = node.n * left.n / total
        share = n / node.n if node.n else 0.0
        error = (1 - share) ** 2 * left.n_error + share**2 * right.n_error
    share = n / node.n if node.n else 0.0
    gap = node.mean - share * left.mean - (1 - share) * right.mean
    own = share**2 * left.mean_error + (1 - share) ** 2 * right.mean_error
    shifts = (gap, gap)
    if node.mean_error < own:
        shifts = (gap * share * left.mean_error / own, gap * (1 - share) * right.mean_error / own)
    return (
        left._replace(n=n, n_error=share**2 * node.n_error + error, mean=left.mean + shifts[0]),
        right._replace(
            n=node.n - n, n_error=(1 - share) ** 2 * node.n_error + error, mean=right.mean + shifts[1]
        ),
    )


def _arrays(nodes: list[_Node], n_root: float, centre: float) -> dict[str, NDArray[Any]]:
    place = {id(node): i for i, node in enumerate(nodes)}
    splits = [node.split if node.children else None for node in nodes]
    parts = [node.part for node in nodes]
    return {
        "feature": np.array([-2 if split is None else split.feature for split in splits]),
        "child_start": np.cumsum([0, *(len(node.children) for node in nodes)]),
        "child": np.array([place[id(child)] for node in nodes for child in node.children], np.int32),
        "missing_branch": np.array([-1 if s is None else 0 if s.missing_left else 1 for s in splits]),
        "impurity": np.array([part.spread for part in parts]),
        "score": np.array([0.0 if split is None else split.gain for split in splits]),
        "impurity_decrease": np.array([0.0 if split is None else split.gain / n_root for split in splits]),
        "weighted_n_node_samples": np.array([part.n for part in parts]),
        "n_node_samples": np.array([round(part.n) for part in parts]),
        "value": np.array([part.mean + centre for part in parts]),
        "count": np.array([part.n for part in parts]),
        "standard_error": np.sqrt([part.n_error for part in parts]),
        "theta": np.array([part.tau for part in parts]),
        "held": np.array([part.held for part in parts]),
    }
