"""Growing from a sketch set as the design states it, one candidate at a time.

Which keys of a node the sketches can tell, and below which τ, is asked of `Sources.resolve` (judged against
the rows elsewhere). From there everything is by definition: counts made to add up, limits, the gate, and the
choice among the candidates. `judge` walks a grown tree and says where it differs.

Table: rows with a hash for each key, drawn at random, so that no key need be hashed. A flag's column holds 1,
0 or -1 (missing), a number's floats (NaN), a category's text (None), a tags column sets of text (None).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import chi2

import thetatree as tt

from . import criteria

CLOSE = 1e-9  # scores this near each other (relative) are told apart by rounding alone
EXACT = (1 << 63) - 1


# Tables and their sketches


@dataclass
class Table:
    """Keys by ascending hash, their classes, and columns by name: (kind, values)."""

    hashes: np.ndarray
    y: np.ndarray
    columns: dict[str, tuple[str, Any]] = field(default_factory=dict)

    def __len__(self):
        return len(self.hashes)


def random_hashes(rng, n):
    """Distinct hashes, ascending."""
    hashes = np.unique(rng.integers(1, EXACT, size=n + 10, dtype=np.uint64))
    return np.sort(rng.choice(hashes, size=n, replace=False))


def image(hashes, k):
    """The sketch of a set of ascending hashes: its k smallest, θ the next one."""
    held, theta = (hashes[:k], int(hashes[k])) if len(hashes) > k else (hashes, EXACT)
    longs = 3 if theta < EXACT else 1 if len(held) < 2 else 2
    head = struct.pack("<BBBBBBH", longs, 3, 3, 0, 0, 0x1A if len(held) or theta < EXACT else 0x1E, 0x93CC)
    head += struct.pack("<Q", len(held)) if longs > 1 else b""
    head += struct.pack("<Q", theta) if longs > 2 else b""
    return head + held.astype("<u8").tobytes()


def units_of(name, kind, values):
    """Per value of a column: its text, and which keys have it; and which keys have any value known."""
    if kind == "flag":
        return [(name, values == 1)], values >= 0
    if kind == "number":
        known = ~np.isnan(values)
        edges = np.unique(values[known])[:-1]
        return [((name, f"<={edge!r}"), known & (values <= edge)) for edge in edges.tolist()], known
    known = np.array([v is not None for v in values])
    sets = [v if isinstance(v, (set, frozenset)) else {v} for v in values]
    texts = sorted({text for some, has in zip(sets, known, strict=True) if has for text in some})
    return [((name, t), known & np.array([t in some for some in sets])) for t in texts], known


def sketches_of(table, k, mask, absent):
    """Named sketches of the keys that a mask keeps; k may differ by name."""
    size = k if callable(k) else (lambda _: k)
    named = {"total": image(table.hashes[mask], size("total"))}
    for name, (kind, values) in table.columns.items():
        units, known = units_of(name, kind, values)
        for unit, has in units:
            named[unit] = image(table.hashes[mask & has], size(unit))
            if kind == "flag" and name in absent:
                named[unit] = (named[unit], image(table.hashes[mask & known & ~has], size(unit)))
        if not known.all():
            named[(name, None)] = image(table.hashes[mask & known], size(name))
    return named


_KINDS = {"flag": "flag", "number": "threshold", "category": "category", "tags": "multi"}


def sketch_set(table, k, form="per_class", absent=()):
    """Sketch a table in any of the three forms."""
    kinds = {name: _KINDS[kind] for name, (kind, _) in table.columns.items()}
    every = np.ones(len(table), bool)
    labels = sorted(set(table.y.tolist()))
    if form == "per_class":
        parts = {label: sketches_of(table, k, table.y == label, absent) for label in labels}
    elif form == "one_vs_all":
        parts = {labels[-1]: sketches_of(table, k, table.y == labels[-1], absent)}
        parts[None] = sketches_of(table, k, every, absent)
    else:
        plain = Table(table.hashes, table.y)
        parts = {label: sketches_of(plain, k, table.y == label, ()) for label in labels}
        parts[None] = sketches_of(table, k, every, absent)
    return tt.SketchSet.from_sketches(parts, kinds=kinds)


def random_table(rng, n, n_classes=2, *, kinds=("flag", "number", "category", "tags"), gaps=True):
    """A table of one to six columns whose classes depend on some of them."""
    table = Table(random_hashes(rng, n), np.zeros(n, np.int64))
    latent = rng.normal(size=n) * rng.choice([0.3, 1.0, 3.0])
    for j in range(int(rng.integers(1, 7))):
        kind = str(rng.choice(kinds))
        values, effect = _random_column(rng, n, kind)
        latent = latent + rng.choice([0.0, 1.0, -1.5]) * effect
        if gaps and rng.random() < 0.4:
            values = _with_gaps(rng, values, kind)
        table.columns[f"f{j}"] = (kind, values)
    cuts = np.quantile(latent, np.sort(rng.uniform(0.1, 0.9, n_classes - 1)))
    table.y = np.searchsorted(cuts, latent)
    table.y[:n_classes] = np.arange(n_classes)
    return table


def _random_column(rng, n, kind):
    if kind == "flag":
        values = (rng.random(n) < rng.choice([0.03, 0.2, 0.5, 0.9])).astype(np.int8)
        return values, values.astype(float)
    if kind == "number":
        values = rng.integers(0, int(rng.integers(2, 9)), n).astype(float)
        return values, values / values.max() if values.max() else values
    texts = np.array(list("abcdef")[: int(rng.integers(2, 6))])
    if kind == "category":
        codes = rng.integers(0, len(texts), n)
        return texts[codes].astype(object), rng.normal(size=len(texts))[codes]
    has = rng.random((n, len(texts))) < 0.3
    sets = np.empty(n, object)
    sets[:] = [frozenset(texts[row].tolist()) for row in has]
    return sets, has @ rng.normal(size=len(texts))


def _with_gaps(rng, values, kind):
    gone = rng.random(len(values)) < rng.choice([0.05, 0.4])
    out = values.copy()
    out[gone] = {"flag": -1, "number": np.nan}.get(kind)
    return out


# Counts that add up


def conserve(node, left, right):
    """Make two estimates (n, variance) add up to the node's; None where there is nothing to go by."""
    (n, v), (p, vp), (a, va) = node, left, right
    if n <= 0:
        return (0.0, 0.0), (0.0, 0.0)
    if p + a <= 0:
        return None
    if a <= 0:
        first, spread = n, 0.0  # no key is on the other side; what rounding would leave there is none either
    elif v < vp + va:
        first = min(max(p + (n - p - a) * vp / (vp + va), 0.0), n)
        spread = vp * va / (vp + va)
    else:
        first = n * p / (p + a)
        s = first / n
        spread = (1 - s) ** 2 * vp + s**2 * va
    s = first / n
    return (first, s**2 * v + spread), (n - first, (1 - s) ** 2 * v + spread)


def noise_chance(criterion, counts, left, taus, gain):
    """How likely a split that has nothing to do with the classes is to gain as much (nats, or gini).

    The gain is a quadratic form of the errors of the classes' left shares, so a sum of chi-squares with the
    form's eigenvalues for weights; its law is that of the chi-square with the same first three cumulants.
    """
    p = sum(left) / sum(counts)
    some = [c for c, count in enumerate(counts) if count > 0]
    share = np.array([counts[c] for c in some]) / sum(counts)
    variance = np.array([((1 - p) / taus[0][c] + p / taus[1][c]) / counts[c] for c in some])
    about_mean = np.eye(len(some)) - np.outer(np.ones(len(some)), share)
    form = about_mean.T @ np.diag(share**2 if criterion == "gini" else share / 2) @ about_mean
    weights = np.linalg.eigvalsh(np.sqrt(np.outer(variance, variance)) * form)
    first, second, third = (float((weights**power).sum()) for power in (1, 2, 3))
    freedom = second**3 / third**2
    return chi2.sf(freedom + (gain - first) / math.sqrt(second) * math.sqrt(freedom), freedom)


# Candidates


@dataclass
class Candidate:
    """A test of a node, both sides counted: per side and class (count, variance)."""

    place: int
    left: tuple[int, ...]
    missing_left: bool
    sides: tuple[list[tuple[float, float]], list[tuple[float, float]]]
    held: tuple[float, float]
    allowed: tuple[list[int], list[int]]
    valid: bool
    p_value: float = 1.0
    ranking: tuple[float, ...] = ()
    decrease: float = 0.0


@dataclass
class Node:
    """What is known of a node on the way down."""

    allowed: dict[int, list[int]]
    counts: list[tuple[float, float]]
    depth: int = 0
    parent: Node | None = None


class Grower:
    """All candidates of any node, by definition."""

    def __init__(self, sources, rules):
        self.sources, self.rules = sources, rules
        self.k = len(sources.classes)
        self.weight = rules["class_weight"]
        self.root = Node({}, [self._total(c) for c in range(self.k)])
        self.root_weight = sum(self.weighted(self.root.counts))

    def _total(self, c):
        if self.sources.exact_n[c] >= 0:
            return self.sources.exact_n[c], 0.0
        return self._count(c, {})[:2]

    def _count(self, c, allowed):
        """Estimate, its variance, held keys and τ of a class of a node."""
        keys, tau = self.sources.resolve(c, allowed)
        n = len(keys) / tau
        return n, n * (1 - tau) / tau, float(len(keys)), tau

    def weighted(self, counts):
        return [n * w for (n, _), w in zip(counts, self.weight, strict=True)]

    def shares(self, node):
        """Those of the counts and of two held keys more, which are as the parent's are."""
        weights = np.array(self.weighted(node.counts))
        if node.parent is None:
            return criteria.shares(weights.tolist())
        taus = [self._count(c, node.allowed)[3] for c in range(self.k)]
        key = max(w * (1 - tau) / tau for w, tau in zip(self.weight, taus, strict=True))
        return (weights + 2 * key * np.array(self.shares(node.parent))) / (weights.sum() + 2 * key)

    def impurity(self, counts):
        return criteria.impurity(self.rules["criterion"], self.weighted(counts))

    def cells(self, node, place):
        shape = self.sources.shapes[place]
        return node.allowed.get(place, [1] * (shape[1] + 2))

    def has_gaps(self, place):
        return any(source["known"][place] >= 0 for source in self.sources.classes)

    def tests(self, node, place):
        """The sets of cells that may go left."""
        kind, n_units = self.sources.shapes[place]
        allowed = self.cells(node, place)
        if kind != 1:
            return [
                [int(allowed[cell] and cell <= cut) if cell <= n_units else 0 for cell in range(n_units + 2)]
                for cut in range(n_units)
                if allowed[cut] and allowed[cut + 1]
            ]
        levels = []
        for cell in range(n_units + 1):
            only = [int(i == cell) for i in range(n_units + 2)]
            if allowed[cell]:
                tally = [self._count(c, {**node.allowed, place: only})[0] for c in range(self.k)]
                if sum(tally) > 0:
                    levels.append((cell, self.weighted([(n, 0.0) for n in tally])))
        groups = self._groups(levels)
        return [[int(cell in group) for cell in range(n_units + 2)] for group in groups]

    def _groups(self, levels):
        n = len(levels)
        if n < 2:
            return []
        if self.k > 2:
            assert n <= self.rules["max_categories"], "the oracle parts few categories, exhaustively"
            return [
                {levels[0][0]} | {levels[i][0] for i in range(1, n) if mask >> (i - 1) & 1}
                for mask in range((1 << (n - 1)) - 1)
            ]
        ordered = sorted(levels, key=lambda level: level[1][1] / sum(level[1]))
        return [{cell for cell, _ in ordered[: i + 1]} for i in range(n - 1)]

    def candidates(self, node):
        tests = {p: self.tests(node, p) for p in range(len(self.sources.shapes))}
        features = sum(bool(of_feature) for of_feature in tests.values())
        out = []
        for place, of_feature in tests.items():
            n = len(of_feature)
            if self.sources.shapes[place][0] == 1 and self.k == 2:
                n = 2**n - 1  # the best cut of the ordered categories is the best of all groupings
            out += [self.candidate(node, place, left, features * n) for left in of_feature]
        return out

    def candidate(self, node, place, test, n_candidates):
        cells = self.cells(node, place)
        missing = len(cells) - 1
        left, right = [*test], [int(a and not t) for a, t in zip(cells, test, strict=True)]
        right[missing] = 0
        counted = [
            [self._count(c, {**node.allowed, place: side}) for c in range(self.k)] for side in (left, right)
        ]
        weights = [sum(self.weighted([one[:2] for one in side])) for side in counted]
        missing_left = weights[0] >= weights[1]
        gaps = bool(cells[missing]) and self.has_gaps(place)
        if cells[missing]:
            (left if missing_left else right)[missing] = 1
        if gaps:
            side = left if missing_left else right
            counted[not missing_left] = [self._count(c, {**node.allowed, place: side}) for c in range(self.k)]
        parts = [conserve(own, lo[:2], hi[:2]) for own, lo, hi in zip(node.counts, *counted, strict=True)]
        names = tuple(cell for cell, is_left in enumerate(test) if is_left)
        if None in parts:
            return Candidate(place, names, missing_left, ([], []), (0, 0), (left, right), False)
        sides = [part[0] for part in parts], [part[1] for part in parts]
        if not gaps:
            missing_left = sum(self.weighted(sides[0])) >= sum(self.weighted(sides[1]))
        held = tuple(sum(one[2] for one in side) for side in counted)
        out = Candidate(place, names, missing_left, sides, held, (left, right), True)
        taus = [[one[3] for one in side] for side in counted]
        out.valid = self._within_limits(node, out, taus)
        if out.valid:
            self._score(node, out)
            out.valid = self._gains_enough(node, out, taus, n_candidates)
        return out

    def _within_limits(self, node, candidate, taus):
        rules = self.rules
        sizes = [sum(n for n, _ in side) for side in candidate.sides]
        weights = [sum(self.weighted(side)) for side in candidate.sides]
        exact = all(tau >= 1 for side in taus for tau in side)
        return (
            min(sizes) > 0
            and min(weights) > 0
            and min(sizes) >= rules["min_samples_leaf"]
            and min(weights) >= rules["min_weight_leaf"]
            and (exact or min(candidate.held) >= rules["min_held"])
        )

    def _score(self, node, candidate):
        name = self.rules["criterion"]
        groups = [self.weighted(counts) for counts in (node.counts, *candidate.sides)]
        candidate.ranking = criteria.ranking(name, *groups)
        candidate.decrease = criteria.impurity_decrease(name, *groups)

    def _gains_enough(self, node, candidate, taus, n_candidates):
        rules = self.rules
        scaled = candidate.decrease * sum(self.weighted(node.counts)) / self.root_weight
        least = rules["min_impurity_decrease"]
        if least > 0 and scaled + 2.220446049250313e-16 < least:
            return False
        if not self._worth_making(node, candidate):
            return False
        counts = [n for n, _ in node.counts]
        sides = [[n for n, _ in side] for side in candidate.sides]
        plain = "gini" if rules["criterion"] == "gini" else "entropy"
        gain = criteria.impurity_decrease(plain, counts, *sides) * (1 if plain == "gini" else math.log(2))
        chance = noise_chance(rules["criterion"], counts, sides[0], taus, gain)
        candidate.p_value = min(1.0, chance * n_candidates)
        if rules["significance"] <= 0 or all(tau >= 1 for side in taus for tau in side):
            return True
        return chance < rules["significance"] / n_candidates

    def _worth_making(self, node, candidate):
        """Whether THAID's demands are met: some gain, a level of the score, a gain above the undivided."""
        rules, counts = self.rules, self.weighted(node.counts)
        score, size = candidate.ranking[0], criteria.scales(rules["criterion"], counts)[0]
        if rules.get("positive_gain") and candidate.decrease <= 1e-12 * self.impurity(node.counts):
            return False
        undivided = max(criteria.shares(counts)) if rules["criterion"] == "theta" else 0.0
        asked = [(rules.get("min_score", 0), 0.0), (rules.get("min_gain", 0), undivided)]
        least = max([rule + above for rule, above in asked if rule > 0], default=-math.inf)
        return score >= least - 1e-12 * max(least, size)

    def may_split(self, node):
        rules = self.rules
        n = sum(n for n, _ in node.counts)
        weight = sum(self.weighted(node.counts))
        return (
            sum(w > 0 for w in self.weighted(node.counts)) > 1
            and not (rules["max_depth"] >= 0 and node.depth >= rules["max_depth"])
            and n >= max(rules["min_samples_split"], 2 * rules["min_samples_leaf"])
            and weight >= 2 * rules["min_weight_leaf"]
            and not (0 < rules["min_impurity_split"] >= self.impurity(node.counts))
        )

    def best(self, node):
        """All candidates that may be chosen, the best first; equals in the order of features and cuts."""
        if not self.may_split(node):
            return []
        valid = [one for one in self.candidates(node) if one.valid]
        return sorted(valid, key=lambda one: tuple(-value for value in one.ranking))


# Judging a tree


def judge(tree, sources, rules):
    """Walk a tree that was grown without max_leaf_nodes and max_features; say what is wrong, or None.

    Where several candidates score alike within rounding, any of them will do.
    """
    grower = Grower(sources, rules)
    walk = [(0, grower.root)]
    while walk:
        at, node = walk.pop()
        wrong = _wrong_counts(tree, at, node, grower)
        if wrong:
            return f"node {at}: {wrong}"
        best = grower.best(node)
        if tree.is_leaf[at]:
            if best:
                return f"node {at} is a leaf, but could be split: {best[0]}"
            continue
        chosen = _find(tree, at, best, sources)
        if isinstance(chosen, str):
            return f"node {at}: {chosen}"
        if not np.isclose(tree.score[at], chosen.ranking[0], rtol=1e-7, atol=1e-10 * _scale(grower, node)):
            return f"node {at}: score {tree.score[at]!r}, not {chosen.ranking[0]!r}"
        if not np.isclose(tree.p_value[at], chosen.p_value, rtol=1e-6, atol=1e-300):
            return f"node {at}: p-value {tree.p_value[at]!r}, not {chosen.p_value!r}"
        share = sum(grower.weighted(node.counts)) / grower.root_weight
        if not np.isclose(
            tree.impurity_decrease[at], max(0.0, chosen.decrease) * share, rtol=1e-7, atol=1e-12
        ):
            return f"node {at}: decrease {tree.impurity_decrease[at]!r}, not {chosen.decrease * share!r}"
        if _rank_gap(grower, node, best[0], chosen):
            return f"node {at}: chose {chosen}, but {best[0]} is better"
        for child, side in ((tree.children_left[at], 0), (tree.children_right[at], 1)):
            allowed = {**node.allowed, chosen.place: chosen.allowed[side]}
            below = Node(allowed, chosen.sides[side], node.depth + 1, node)
            if not np.isclose(tree.estimates.held[child], chosen.held[side]):
                return f"node {child}: holds {tree.estimates.held[child]}, not {chosen.held[side]}"
            walk.append((int(child), below))
    return None


def _scale(grower, node):
    return max(criteria.scales(grower.rules["criterion"], grower.weighted(node.counts)))


def _rank_gap(grower, node, best, chosen):
    """Whether one ranks above the other by more than rounding."""
    sizes = criteria.scales(grower.rules["criterion"], grower.weighted(node.counts))
    for a, b, size in zip(best.ranking, chosen.ranking, sizes, strict=True):
        if abs(a - b) > CLOSE * max(abs(a), size):
            return a > b
    return False


def _wrong_counts(tree, at, node, grower):
    counts = [n for n, _ in node.counts]
    errors = [math.sqrt(v) for _, v in node.counts]
    if not np.allclose(tree.estimates.count[at], counts, rtol=1e-9, atol=1e-9):
        return f"counts {tree.estimates.count[at]}, not {counts}"
    if not np.allclose(tree.estimates.standard_error[at], errors, rtol=1e-7, atol=1e-7):
        return f"errors {tree.estimates.standard_error[at]}, not {errors}"
    weights = grower.weighted(node.counts)
    if not np.isclose(tree.weighted_n_node_samples[at], sum(weights), rtol=1e-9):
        return f"weight {tree.weighted_n_node_samples[at]}, not {sum(weights)}"
    if not np.allclose(tree.values[at], grower.shares(node), rtol=1e-9, atol=1e-12):
        return f"values {tree.values[at]}, not {grower.shares(node)}"
    if not np.isclose(tree.impurity[at], grower.impurity(node.counts), rtol=1e-9, atol=1e-11):
        return f"impurity {tree.impurity[at]}, not {grower.impurity(node.counts)}"
    if abs(tree.n_node_samples[at] - sum(counts)) > 0.5 + 1e-6:
        return f"n {tree.n_node_samples[at]}, not {sum(counts)}"
    return None


def _find(tree, at, candidates, sources):
    """The candidate that a node of the tree is split by, or what is odd about the node."""
    place = int(tree.feature[at])
    kind, n_units = sources.shapes[place]
    if int(tree.kind[at]) != {0: 2, 1: 3, 2: 1}[kind]:
        return f"kind {tree.kind[at]} on a feature of kind {kind}"
    listed = tree.category[tree.category_start[at] : tree.category_start[at + 1]].tolist()
    for one in candidates:
        if one.place != place or one.missing_left != (tree.missing_branch[at] == 0):
            continue
        if kind == 0:
            return one
        if kind == 1 and [cell for cell in one.left if cell < n_units] == listed:
            return one
        edges = sources.data.features[sources.tested[place].feature].edges
        if kind == 2 and edges[max(one.left)] == tree.threshold[at]:
            return one
    return f"split on place {place} (threshold {tree.threshold[at]}, {listed}) is not among the candidates"
