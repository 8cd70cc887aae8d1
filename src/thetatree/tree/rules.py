"""What a tree says, in words: conditions, rules and the table of nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.data.features import Feature, Label
from thetatree.tree.tree import SplitKind

if TYPE_CHECKING:
    import pandas as pd

    from thetatree.tree.tree import Tree


_OR_MISSING = " or missing"


@dataclass(frozen=True)
class Rule:
    """The way to one leaf: the conditions that lead there and what it predicts."""

    leaf: int
    conditions: tuple[str, ...]
    n: int
    weight: float
    prediction: Any
    values: tuple[float, ...]

    def __str__(self) -> str:
        return conjunction(self.conditions) or "always"


def number_text(value: float, decimals: int | None = None) -> str:
    """Write a number as short as it can be read back, or with so many decimals."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _label_text(label: Label) -> str:
    return repr(label) if isinstance(label, str) else str(label)


def _set_text(feature: Feature, codes: Any, most: int | None = None) -> str:
    labels = [_label_text(feature.labels[int(c)]) for c in codes[:most]]
    more = len(codes) - len(labels)
    return "{" + ", ".join(labels) + (f", … {more:,} more" if more else "") + "}"


def condition(
    tree: Tree, node: int, branch: int, decimals: int | None = None, most: int | None = None
) -> str:
    """Return the test that leads from an inner node to one of its branches, in words.

    Missing values are mentioned where training had some in that column. Of a set of more than `most` labels
    so many are named.
    """
    feature = tree.features[tree.feature[node]]
    kind = SplitKind(int(tree.kind[node]))
    listed = slice(tree.category_start[node], tree.category_start[node + 1])
    with_missing = _OR_MISSING if feature.gaps and tree.missing_branch[node] == branch else ""
    if kind is SplitKind.THRESHOLD and math.isinf(tree.threshold[node]):
        return f"{feature.name} is {'known' if branch == 0 else 'missing'}"
    if kind is SplitKind.THRESHOLD:
        sign = "≤" if branch == 0 else ">"
        text = f"{feature.name} {sign} {number_text(float(tree.threshold[node]), decimals)}"
    elif kind is SplitKind.PRESENCE:
        text = feature.name if branch == 0 else f"not {feature.name}"
    elif kind is SplitKind.SUBSET:
        word = "in" if branch == 0 else "not in"
        text = f"{feature.name} {word} {_set_text(feature, tree.category[listed], most)}"
    else:
        mine = tree.category[listed][tree.category_branch[listed] == branch]
        text = (
            f"{feature.name} = {_label_text(feature.labels[int(mine[0])])}"
            if len(mine) == 1
            else (f"{feature.name} in {_set_text(feature, mine, most)}")
        )
    return text + with_missing


def conjunction(conditions: Sequence[str]) -> str:
    """Return conditions as one, in which what may be missing is kept together."""
    if len(conditions) < 2:
        return "".join(conditions)
    return " and ".join(f"({c})" if c.endswith(_OR_MISSING) else c for c in conditions)


def prediction(tree: Tree, node: int) -> Any:
    """Return the class or the number that a node predicts."""
    if tree.classes is None:
        return float(tree.values[node, 0])
    return tree.classes[int(np.argmax(tree.values[node]))]


@dataclass(frozen=True)
class _Reach:
    """What a way has left of one feature: all its tests so far, taken together."""

    text: str = ""  # of the only test, where there is one
    tests: int = 0
    low: float = -math.inf
    high: float = math.inf
    missing: bool = True
    known: bool = True
    listed: frozenset[int] | None = None  # the categories that are left; None while none was asked for
    others: frozenset[int] = frozenset()  # those that are out

    def after(self, tree: Tree, node: int, branch: int) -> _Reach:
        """Return what is left behind one more test."""
        text = condition(tree, node, branch)
        missing = self.missing and bool(tree.missing_branch[node] == branch)
        more = replace(self, text=text, tests=self.tests + 1, missing=missing)
        kind, threshold = SplitKind(int(tree.kind[node])), float(tree.threshold[node])
        if kind is SplitKind.THRESHOLD and math.isinf(threshold):
            return replace(more, known=self.known and branch == 0)
        if kind is SplitKind.THRESHOLD and branch == 0:
            return replace(more, high=min(self.high, threshold))
        if kind is SplitKind.THRESHOLD:
            return replace(more, low=max(self.low, threshold))
        if kind is SplitKind.PRESENCE:
            return more
        at = slice(tree.category_start[node], tree.category_start[node + 1])
        mine = tree.category_branch[at] == branch
        if kind is SplitKind.SUBSET and branch == 1:
            return replace(more, others=self.others | frozenset(tree.category[at].tolist()))
        taken = frozenset(tree.category[at][mine].tolist())
        return replace(more, listed=taken if self.listed is None else self.listed & taken)

    def words(self, feature: Feature) -> str:
        """Say it as one condition."""
        if self.tests == 1 or feature.kind == "flag":
            return self.text if self.missing else self.text.removesuffix(_OR_MISSING)
        if feature.kind == "number" and not (self.known and self._bounded()):
            return self.text
        text = self._interval(feature.name) if feature.kind == "number" else self._categories(feature)
        return text + (_OR_MISSING if self.missing and feature.gaps else "")

    def _bounded(self) -> bool:
        return not (math.isinf(self.low) and math.isinf(self.high))

    def _interval(self, name: str) -> str:
        if math.isinf(self.low):
            return f"{name} ≤ {number_text(self.high)}"
        if math.isinf(self.high):
            return f"{name} > {number_text(self.low)}"
        return f"{number_text(self.low)} < {name} ≤ {number_text(self.high)}"

    def _categories(self, feature: Feature) -> str:
        if self.listed is None:
            return f"{feature.name} not in {_set_text(feature, sorted(self.others))}"
        return f"{feature.name} in {_set_text(feature, sorted(self.listed - self.others))}"


def rules_of(tree: Tree) -> list[Rule]:
    """Return one rule per leaf, in preorder: a condition per feature, in the order in which they are met."""
    rules = []
    reach: dict[int, _Reach] = {}
    undo: list[tuple[int, _Reach | None]] = []  # by depth: the feature tested last, and what it was before
    depth, parent = tree.depth.tolist(), tree.parent.tolist()
    branch = np.arange(len(tree.child)) - np.repeat(tree.child_start[:-1], np.diff(tree.child_start))
    branch_of = dict(zip(tree.child.tolist(), branch.tolist(), strict=True))
    for node in range(tree.node_count):
        while len(undo) >= max(depth[node], 1):
            feature, before = undo.pop()
            if before is None:
                del reach[feature]
            else:
                reach[feature] = before
        if node:
            above = parent[node]
            feature = int(tree.feature[above])
            undo.append((feature, reach.get(feature)))
            reach[feature] = reach.get(feature, _Reach()).after(tree, above, branch_of[node])
        if tree.is_leaf[node]:
            rules.append(
                Rule(
                    node,
                    tuple(left.words(tree.features[feature]) for feature, left in reach.items()),
                    int(tree.n_node_samples[node]),
                    float(tree.weighted_n_node_samples[node]),
                    prediction(tree, node),
                    tuple(tree.values[node].tolist()),
                )
            )
    return rules


def split_text(tree: Tree, node: int, most: int | None = None) -> str:
    """Return a node's test in words; empty in leaves."""
    return "" if tree.is_leaf[node] else condition(tree, node, 0, most=most).removesuffix(_OR_MISSING)


def frame_of(tree: Tree) -> pd.DataFrame:
    """Return the nodes as a data frame."""
    import pandas as pd

    nodes = range(tree.node_count)
    columns: dict[str, Any] = {
        "node": np.arange(tree.node_count),
        "parent": tree.parent,
        "depth": tree.depth,
        "split": [split_text(tree, i) for i in nodes],
        "feature": [None if tree.is_leaf[i] else tree.features[tree.feature[i]].name for i in nodes],
        "threshold": np.where(np.equal(tree.kind, SplitKind.THRESHOLD), tree.threshold, np.nan),
        "left": tree.children_left,
        "right": tree.children_right,
        "missing": tree.missing_branch,
        "n": tree.n_node_samples,
        "weight": tree.weighted_n_node_samples,
        "impurity": tree.impurity,
        "score": tree.score,
        "impurity_decrease": tree.impurity_decrease,
        "p_value": tree.p_value,
        "prediction": [prediction(tree, i) for i in nodes],
    }
    if tree.classes is not None:
        for k, label in enumerate(tree.classes):
            columns[f"share_{label}"] = tree.values[:, k]
    return pd.DataFrame(columns)
