"""What a tree says, in words: conditions, rules and the table of nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.data.features import Feature, Label
from thetatree.tree.tree import SplitKind

if TYPE_CHECKING:
    import pandas as pd

    from thetatree.tree.tree import Tree


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
        return " and ".join(self.conditions) if self.conditions else "always"


def number_text(value: float, decimals: int | None = None) -> str:
    """Write a number as short as it can be read back, or with so many decimals."""
    if math.isinf(value) or math.isnan(value):
        return str(value)
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _label_text(label: Label) -> str:
    return repr(label) if isinstance(label, str) else str(label)


def _set_text(feature: Feature, codes: Any) -> str:
    return "{" + ", ".join(_label_text(feature.labels[int(c)]) for c in codes) + "}"


def condition(tree: Tree, node: int, branch: int, decimals: int | None = None) -> str:
    """Return the test that leads from an inner node to one of its branches, in words.

    Missing values are mentioned where training had some in that column.
    """
    feature = tree.features[tree.feature[node]]
    kind = SplitKind(int(tree.kind[node]))
    listed = slice(tree.category_start[node], tree.category_start[node + 1])
    with_missing = " or missing" if feature.gaps and tree.missing_branch[node] == branch else ""
    if kind is SplitKind.THRESHOLD and math.isinf(tree.threshold[node]):
        return f"{feature.name} is {'known' if branch == 0 else 'missing'}"
    if kind is SplitKind.THRESHOLD:
        sign = "≤" if branch == 0 else ">"
        text = f"{feature.name} {sign} {number_text(float(tree.threshold[node]), decimals)}"
    elif kind is SplitKind.PRESENCE:
        text = feature.name if branch == 0 else f"not {feature.name}"
    elif kind is SplitKind.SUBSET:
        text = (
            f"{feature.name} {'in' if branch == 0 else 'not in'} {_set_text(feature, tree.category[listed])}"
        )
    else:
        mine = tree.category[listed][tree.category_branch[listed] == branch]
        text = (
            f"{feature.name} = {_label_text(feature.labels[int(mine[0])])}"
            if len(mine) == 1
            else (f"{feature.name} in {_set_text(feature, mine)}")
        )
    return text + with_missing


def prediction(tree: Tree, node: int) -> Any:
    """Return the class or the number that a node predicts."""
    if tree.classes is None:
        return float(tree.values[node, 0])
    return tree.classes[int(np.argmax(tree.values[node]))]


def rules_of(tree: Tree) -> list[Rule]:
    """Return one rule per leaf, in preorder."""
    rules = []
    path: list[str] = []
    depth = tree.depth
    for node in range(tree.node_count):
        del path[max(0, int(depth[node]) - 1) :]
        if node:
            above = int(tree.parent[node])
            children = tree.child[tree.child_start[above] : tree.child_start[above + 1]]
            path.append(condition(tree, above, int(np.flatnonzero(children == node)[0])))
        if tree.is_leaf[node]:
            rules.append(
                Rule(
                    node,
                    tuple(path),
                    int(tree.n_node_samples[node]),
                    float(tree.weighted_n_node_samples[node]),
                    prediction(tree, node),
                    tuple(tree.values[node].tolist()),
                )
            )
    return rules


def split_text(tree: Tree, node: int) -> str:
    """Return a node's test in words; empty in leaves."""
    return "" if tree.is_leaf[node] else condition(tree, node, 0).removesuffix(" or missing")


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
        "prediction": [prediction(tree, i) for i in nodes],
    }
    if tree.classes is not None:
        for k, label in enumerate(tree.classes):
            columns[f"share_{label}"] = tree.values[:, k]
    return pd.DataFrame(columns)
