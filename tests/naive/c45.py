"""C4.5 by its definitions, read from docs/c45.md: lists of cases, one question at a time, nodes as objects.

A case is a row and its weight in the node. Where rounding could decide (two tests all but equal, a gain at a
limit) a doubt is noted, and the tree is not to be compared.
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from thetatree.tree.error_limits import upper_error

FORGIVEN, EPSILON, TIE = 1e-9, 1e-3, 1e-12


@dataclass
class Rules:
    """The rules of one problem, by the names that the kernel has for them."""

    n_classes: int
    ratio: bool = True
    mdl: bool = True
    subsets: bool = False
    binary_categories: bool = False
    once_per_path: bool = False
    collapse: bool = True
    min_cases: float = 2.0
    min_split: float = 2.0
    min_ratio: float = 0.0
    min_decrease: float = 0.0
    min_impurity: float = 0.0
    max_depth: int = -1
    prune: bool = True
    raising: bool = True
    limits: str = "release8"
    confidence: float = 0.25


@dataclass
class Test:
    """What a node asks: `branch_of(value)` for a known value gives a branch, or None where it has none."""

    kind: str
    feature: int
    n_branches: int
    gain: float
    info: float
    uncorrected: float
    threshold: float = math.nan
    groups: tuple[tuple[int, ...], ...] = ()
    shares: list[float] = field(default_factory=list)

    def branch_of(self, value: Any) -> int | None:
        if value is None:
            return None
        if self.kind == "threshold":
            return 0 if value <= self.threshold else 1
        if self.kind == "presence":
            return 0 if value else 1
        for branch, group in enumerate(self.groups):
            if value in group:
                return branch
        return 1 if self.kind == "subset" else None


@dataclass
class Node:
    cases: list[tuple[int, float]]
    by_class: list[float]
    test: Test | None = None
    branches: list["Node"] = field(default_factory=list)

    @property
    def weight(self) -> float:
        return sum(self.by_class)


class C45:
    """Grows, prunes and asks one tree."""

    def __init__(self, columns, kinds, n_levels, y, weights, rules):
        self.columns = [
            [_known(v, kind) for v in column] for column, kind in zip(columns, kinds, strict=True)
        ]
        self.kinds, self.n_levels, self.y, self.rules = kinds, n_levels, [int(k) for k in y], rules
        self.all_cases = [(i, 1.0 if weights is None else float(weights[i])) for i in range(len(y))]
        self.total = sum(w for _, w in self.all_cases)
        self.doubtful = False

    # ---- growing

    def grow(self):
        root = self.grow_node(self.all_cases, 0, frozenset())
        return self.collapsed(root) if self.rules.collapse else root

    def grow_node(self, cases, depth, used):
        node = Node(cases, self.count(cases))
        if sum(w > 0 for w in node.by_class) <= 1 or depth == self.rules.max_depth:
            return node
        if self.below(node.weight, max(self.rules.min_split, 2 * self.rules.min_cases)):
            return node
        if self.rules.min_impurity > 0 and entropy(node.by_class) <= self.rules.min_impurity:
            self.doubt(entropy(node.by_class), self.rules.min_impurity)
            return node
        node.test = self.best_test(node, used)
        if node.test is None:
            return node
        if self.rules.once_per_path:
            used = used | {node.test.feature}
        for part in self.divide(node.test, cases):
            if part:
                node.branches.append(self.grow_node(part, depth + 1, used))
            else:
                node.branches.append(Node([], [0.0] * self.rules.n_classes))
        return node

    def best_test(self, node, used):
        tests = [self.test_of(node, f) for f in range(len(self.kinds)) if f not in used]
        possible = [t for t in tests if t is not None]
        if not possible:
            return None
        all_many = all(self.has_many_values(f) for f in range(len(self.kinds)))
        counted = [t.gain for t in possible if all_many or not self.has_many_values(t.feature)]
        average = sum(counted) / len(counted) if counted else 1e6
        best = None
        for test in possible:
            if not self.more(test.gain, 0.0, entropy(node.by_class)):
                continue
            if self.rules.ratio:
                self.doubt(test.gain, average - EPSILON)
                self.doubt(test.info, EPSILON)
                if test.gain < average - EPSILON or test.info <= EPSILON:
                    continue
            if self.rules.min_ratio > 0:
                ratio = test.gain / test.info if test.info > 0 else 0.0
                self.doubt(ratio, self.rules.min_ratio)
                if ratio < self.rules.min_ratio:
                    continue
            decrease = test.uncorrected * node.weight / self.total
            if self.rules.min_decrease > 0:
                self.doubt(decrease, self.rules.min_decrease)
            if decrease < self.rules.min_decrease:
                continue
            if best is None or self.more(self.worth(test), self.worth(best), 0.0):
                best = test
        return best

    def worth(self, test):
        return test.gain / test.info if self.rules.ratio else test.gain

    def has_many_values(self, feature):
        if self.kinds[feature] == "number" or self.rules.subsets:
            return False
        one_each = self.kinds[feature] == "category" and not self.rules.binary_categories
        return (self.n_levels[feature] if one_each else 2) >= 0.3 * self.total

    def test_of(self, node, feature):
        kind = self.kinds[feature]
        if kind == "number":
            return self.cut_of(node, feature)
        levels = list(range(self.n_levels[feature]))
        if kind == "flag":
            test = self.measured(node, Test("presence", feature, 2, 0, 0, 0))
            return test if self.enough(node, test) >= 2 else None
        if self.rules.binary_categories:
            return self.one_against_others(node, feature, levels)
        if self.rules.subsets and len(levels) > 2:
            return self.grouped(node, feature, levels)
        test = self.measured(node, Test("multiway", feature, len(levels), 0, 0, 0, groups=singles(levels)))
        return test if self.enough(node, test) >= 2 else None

    def cut_of(self, node, feature):
        """Of the admissible cuts the one of the greatest gain, the first of equals."""
        known = [(self.columns[feature][i], w) for i, w in node.cases if self.columns[feature][i] is not None]
        weight = sum(w for _, w in known)
        least = max(self.rules.min_cases, min(25.0, 0.1 * weight / self.rules.n_classes))
        values = sorted({v for v, _ in known})
        best, cuts = None, 0
        for low, high in pairwise(values):
            left = sum(w for v, w in known if v <= low)
            if self.below(left, least) or self.below(weight - left, least):
                continue
            cuts += 1
            test = self.measured(node, Test("threshold", feature, 2, 0, 0, 0, threshold=low))
            now = 0.0 if best is None else best[0].gain
            if self.more(test.gain, now, entropy(node.by_class)):
                best = (test, low, high)
        if best is None:
            return None
        test, low, high = best
        if self.rules.mdl and cuts > 1:
            test.gain -= math.log2(cuts) / node.weight
        if not self.more(test.gain, 0.0, entropy(node.by_class)):
            return None
        middle = low / 2 + high / 2
        everywhere = {v for v in self.columns[feature] if v is not None and low <= v <= middle and v < high}
        test.threshold = max(everywhere | {low})
        return test

    def one_against_others(self, node, feature, levels):
        best = None
        for level in levels:
            test = self.measured(node, Test("subset", feature, 2, 0, 0, 0, groups=((level,),)))
            if self.enough(node, test) < 2:
                continue
            if best is None or self.more(test.gain, best.gain, entropy(node.by_class)):
                best = test
        return best

    def grouped(self, node, feature, levels):
        """Merge the two groups that leave the best worth, while it does not fall."""
        found = {self.columns[feature][i] for i, w in node.cases if w > 0}
        groups = singles([level for level in levels if level in found])
        if len(groups) < 2:
            return None

        def tried(groups):
            test = self.measured(node, Test("multiway", feature, len(groups), 0, 0, 0, groups=groups))
            if self.enough(node, test) < 2:
                return test, -1.0
            if not self.rules.ratio:
                return test, test.gain
            self.doubt(test.info, EPSILON)
            return test, test.gain / test.info if test.info > EPSILON else -1.0

        test, now = tried(groups)
        while len(groups) > 2:
            best, merged = -1.0, None
            for i in range(len(groups)):
                for j in range(i + 1, len(groups)):
                    joined = merge(groups, i, j)
                    value = tried(joined)[1]
                    if self.more(value, best, 1.0):
                        best, merged = value, joined
            if now >= 0 and self.more(now, best, 1.0):
                break
            if merged is None:
                merged = merge(groups, *self.lightest(node, feature, groups))
            groups = merged
            test, now = tried(groups)
        return test if self.enough(node, test) >= 2 else None

    def lightest(self, node, feature, groups):
        weights = [sum(w for i, w in node.cases if self.columns[feature][i] in group) for group in groups]
        for a in weights:
            for b in weights:
                if a != b:
                    self.doubt(a, b)
        i, j = sorted(range(len(groups)), key=lambda g: weights[g])[:2]
        return min(i, j), max(i, j)

    def measured(self, node, test):
        """Gain and split information by their definitions."""
        parts = [[0.0] * self.rules.n_classes for _ in range(test.n_branches)]
        unknown = 0.0
        for i, w in node.cases:
            branch = test.branch_of(self.columns[test.feature][i])
            if branch is None:
                unknown += w
            else:
                parts[branch][self.y[i]] += w
        sizes = [sum(part) for part in parts]
        known = sum(sizes)
        if known == 0:
            test.gain = test.info = test.uncorrected = 0.0
            return test
        together = [sum(part[k] for part in parts) for k in range(self.rules.n_classes)]
        after = sum(size / known * entropy(part) for size, part in zip(sizes, parts, strict=True))
        test.gain = test.uncorrected = known / node.weight * (entropy(together) - after)
        test.info = entropy([*sizes, unknown])
        test.shares = [size / known for size in sizes]
        return test

    def enough(self, node, test):
        """How many branches have enough cases."""
        sizes = [0.0] * test.n_branches
        for i, w in node.cases:
            branch = test.branch_of(self.columns[test.feature][i])
            if branch is not None:
                sizes[branch] += w
        return sum(not self.below(size, self.rules.min_cases) for size in sizes)

    def divide(self, test, cases):
        """Known cases to their branch, the others to all of them, in parts."""
        parts = [[] for _ in range(test.n_branches)]
        unknown = []
        for i, w in cases:
            branch = test.branch_of(self.columns[test.feature][i])
            if branch is None:
                unknown.append((i, w))
            else:
                parts[branch].append((i, w))
        sizes = [sum(w for _, w in part) for part in parts]
        shares = [size / sum(sizes) for size in sizes] if sum(sizes) > 0 else test.shares
        for part, share in zip(parts, shares, strict=True):
            if share > 0:
                part += [(i, w * share) for i, w in unknown]
        return parts

    def collapsed(self, node):
        """Below first: a subtree that makes no fewer errors than a leaf is one."""
        if not node.branches:
            return node
        node.branches = [self.collapsed(branch) for branch in node.branches]
        self.doubt(self.errors(node), leaf_errors(node) - EPSILON)
        if self.errors(node) >= leaf_errors(node) - EPSILON:
            node.branches = []
        return node

    def errors(self, node):
        return sum(map(self.errors, node.branches)) if node.branches else leaf_errors(node)

    # ---- pruning

    def prune(self, root):
        return self.estimate(root, self.all_cases)[0]

    def estimate(self, node, cases):
        """The node pruned, with these cases in it, and the errors to be reckoned with."""
        here = Node(cases, self.count(cases), node.test)
        as_leaf = self.reckoned(here.by_class)
        if not node.branches:
            return here, as_leaf
        parts = self.divide(node.test, cases)
        as_tree = 0.0
        for branch, part in zip(node.branches, parts, strict=True):
            if part:
                pruned, errors = self.estimate(branch, part)
                as_tree += errors
            else:
                pruned = Node([], [0.0] * self.rules.n_classes)
            here.branches.append(pruned)
        weights = [branch.weight for branch in here.branches]
        for w in weights:
            if w != max(weights):
                self.doubt(w, max(weights))
        largest = here.branches[weights.index(max(weights))]
        as_branch = self.errors_given(largest, cases) if self.rules.raising else as_leaf
        self.doubt(as_leaf, as_tree + 0.1)
        if self.rules.raising:
            self.doubt(as_leaf, as_branch + 0.1)
            self.doubt(as_branch, as_tree + 0.1)
        if as_leaf <= as_branch + 0.1 and as_leaf <= as_tree + 0.1:
            return Node(cases, here.by_class), as_leaf
        if self.rules.raising and as_branch <= as_tree + 0.1:
            return self.estimate(largest, cases)
        return here, as_tree

    def errors_given(self, node, cases):
        if not node.branches:
            return self.reckoned(self.count(cases))
        parts = self.divide(node.test, cases)
        pairs = zip(node.branches, parts, strict=True)
        return sum(self.errors_given(branch, part) for branch, part in pairs if part)

    def reckoned(self, by_class):
        n = sum(by_class)
        e = max(0.0, n - max(by_class))
        return n * upper_error(min(e, n), n, self.rules.confidence, self.rules.limits)

    # ---- asking

    def leaves_of(self, node, row, part=1.0, lender=None):
        """Every leaf that a row ends in, its part, and the class shares there."""
        lender = node if node.weight > 0 else lender
        if not node.branches:
            return [(node, part, [w / lender.weight for w in lender.by_class])]
        branch = node.test.branch_of(row[node.test.feature])
        if branch is not None:
            return self.leaves_of(node.branches[branch], row, part, lender)
        whole = sum(b.weight for b in node.branches)
        return [
            found
            for b in node.branches
            if b.weight > 0
            for found in self.leaves_of(b, row, part * b.weight / whole, lender)
        ]

    # ---- helpers

    def count(self, cases):
        by_class = [0.0] * self.rules.n_classes
        for i, w in cases:
            by_class[self.y[i]] += w
        return by_class

    def below(self, weight, least):
        self.doubt(weight, least - FORGIVEN)
        return weight < least - FORGIVEN

    def more(self, a, b, scale):
        """Whether a beats b by more than rounding makes."""
        tolerance = TIE * max(abs(b), scale)
        if 0.1 * tolerance < abs(a - b) < 1e3 * tolerance:
            self.doubtful = True
        return a > b + tolerance

    def doubt(self, a, b):
        if a != b and abs(a - b) < 1e-10 * max(1.0, abs(a)):
            self.doubtful = True


def _known(value, kind):
    if kind == "number":
        return None if math.isnan(value) else float(value)
    return None if value < 0 else int(value)


def entropy(weights):
    total = sum(weights)
    return max(0.0, -sum(w / total * math.log2(w / total) for w in weights if w > 0)) if total > 0 else 0.0


def leaf_errors(node):
    return node.weight - max(node.by_class)


def singles(levels):
    return tuple((level,) for level in levels)


def merge(groups, i, j):
    """Groups keep the order of their lowest values."""
    joined = tuple(sorted(groups[i] + groups[j]))
    return tuple(sorted([joined, *(g for k, g in enumerate(groups) if k not in (i, j))]))


# ---- comparing


def in_preorder(root):
    """Nodes as the tree has them: (node, the node above that lends its shares to one without cases)."""
    nodes, open_nodes = [], [(root, root)]
    while open_nodes:
        node, lender = open_nodes.pop()
        lender = node if node.weight > 0 else lender
        nodes.append((node, lender))
        open_nodes += [(branch, lender) for branch in reversed(node.branches)]
    return nodes


def difference(root, tree):
    """What differs first between the oracle's tree and the kernel's, or None."""
    nodes = in_preorder(root)
    if len(nodes) != tree.node_count:
        return f"{len(nodes)} nodes, kernel {tree.node_count}"
    kinds = {"threshold": 1, "presence": 2, "subset": 3, "multiway": 4}
    for j, (node, lender) in enumerate(nodes):
        if not np.isclose(node.weight, tree.weighted_n_node_samples[j], rtol=1e-9, atol=1e-12):
            return f"node {j}: weight {node.weight}, kernel {tree.weighted_n_node_samples[j]}"
        if len(node.cases) != tree.n_node_samples[j]:
            return f"node {j}: {len(node.cases)} rows, kernel {tree.n_node_samples[j]}"
        shares = np.array(lender.by_class) / lender.weight
        if not np.allclose(shares, tree.values[j], rtol=1e-9, atol=1e-12):
            return f"node {j}: shares {shares}, kernel {tree.values[j]}"
        if (kinds[node.test.kind] if node.branches else 0) != tree.kind[j]:
            return f"node {j}: {node.test}, kernel kind {tree.kind[j]}"
        if not node.branches:
            continue
        found = _test_difference(node, tree, j)
        if found:
            return f"node {j}: {found}"
    return None


def _test_difference(node, tree, j):
    test = node.test
    if test.feature != tree.feature[j]:
        return f"{test}, kernel feature {tree.feature[j]} score {tree.score[j]}"
    if test.kind == "threshold" and test.threshold != tree.threshold[j]:
        return f"{test}, kernel threshold {tree.threshold[j]!r}"
    if test.kind == "presence" and tree.threshold[j] != 0.5:
        return f"{test}, kernel threshold {tree.threshold[j]!r}"
    listed = slice(tree.category_start[j], tree.category_start[j + 1])
    pairs = dict(zip(tree.category[listed].tolist(), tree.category_branch[listed].tolist(), strict=True))
    if pairs != {level: branch for branch, group in enumerate(test.groups) for level in group}:
        return f"{test}, kernel {pairs}"
    below = sum(b.weight / node.weight * entropy(b.by_class) for b in node.branches)
    root_weight = tree.weighted_n_node_samples[0]
    decrease = (entropy(node.by_class) - below) * node.weight / root_weight
    if not np.isclose(max(0.0, decrease), tree.impurity_decrease[j], rtol=1e-7, atol=1e-10):
        return f"decrease {decrease}, kernel {tree.impurity_decrease[j]}"
    return None
