"""The CART grower as the contract states it, with no thought for speed.

Every node lists its candidate splits, parts its rows by each, and scores the two lists of rows from
scratch. A node's split depends on its own rows and bounds only: so the whole tree is grown first, and
`max_leaf_nodes` then chooses, best first, which of its splits to keep.

What the flags of a node mean is told in `search.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from . import criteria
from .candidates import CLOSE, Data, Split, goes_left
from .search import Draft, Limits, Scored, level, loss, order_of_sides, search

Values = Sequence[float] | NDArray[Any]
Columns = Sequence[Values] | NDArray[Any]


@dataclass
class Node:
    """One node of the finished tree; a leaf has feature -1, threshold NaN, children -1 and score 0."""

    split: str
    feature: int
    threshold: float
    left_categories: frozenset[int]
    missing_left: bool
    left: int
    right: int
    n: int
    weight: float
    value: list[float]
    impurity: float
    score: float
    impurity_decrease: float
    depth: int
    ties: bool
    doubtful: bool


def grow(
    columns: Columns,
    kinds: Sequence[str],
    y: Values,
    weights: Values | None,
    *,
    task: str,
    criterion: str,
    n_classes: int = 0,
    **rules: Any,
) -> list[Node]:
    """Grow a tree; nodes in preorder.

    `columns` are one sequence per feature: a flag holds 0, 1 or missing, a number floats, a category codes.
    Missing is NaN anywhere, and any negative value in a flag or a category. `task` is "classification"
    (y holds codes below `n_classes`) or "regression". `rules` are the fields of `Limits`; `min_weight_leaf`
    is an absolute weight.
    """
    limits = Limits(**rules)
    if task not in ("classification", "regression") or limits.missing not in ("learnt", "majority"):
        raise ValueError(f"unknown task {task!r} or missing rule {limits.missing!r}")
    every = [1.0] * len(y) if weights is None else _plain(weights)
    kept = [row for row, weight in enumerate(every) if weight > 0]
    target = _plain(y)
    data = Data(
        columns=[[values[row] for row in kept] for values in map(_plain, columns)],
        kinds=list(kinds),
        y=[target[row] for row in kept],
        weights=[every[row] for row in kept],
        criterion=criterion,
        is_classification=task == "classification",
        n_classes=n_classes,
    )
    root = _grow_fully(data, limits)
    return _in_preorder(root, _expanded(root, data, limits), data)


def _plain(values: Values) -> list[float]:
    return [float(value) for value in values]


def _grow_fully(data: Data, limits: Limits) -> Draft:
    root = Draft(list(range(len(data.y))), 0, (-math.inf, math.inf))
    waiting = [root]
    while waiting:
        draft = waiting.pop()
        search(draft, data, limits)
        if draft.chosen is not None:
            draft.children = _children(draft, draft.chosen, data, limits)
            waiting += draft.children
    return root


def _children(draft: Draft, chosen: Scored, data: Data, limits: Limits) -> list[Draft]:
    """The two children; across a constrained split they may not pass the middle of its two values."""
    low, high = draft.bounds
    left, right = (low, high), (low, high)
    order = order_of_sides(chosen.split, limits)
    if order != 0:
        middle = (level(chosen.left, data) + level(chosen.right, data)) / 2
        below, above = (low, middle), (middle, high)
        left, right = (below, above) if order > 0 else (above, below)
    return [Draft(chosen.left, draft.depth + 1, left), Draft(chosen.right, draft.depth + 1, right)]


# Which nodes keep their split


def _expanded(root: Draft, data: Data, limits: Limits) -> list[Draft]:
    """Drafts to expand, in order of expansion."""
    expanded, waiting = _best_first(root, data, limits, contested_first=False)
    if limits.max_leaf_nodes is None or not expanded:
        return expanded
    other, _ = _best_first(root, data, limits, contested_first=True)
    contest = len(expanded)
    if {id(draft) for draft in expanded} != {id(draft) for draft in other}:
        contest = next(
            i for i, pair in enumerate(zip(expanded, other, strict=True)) if pair[0] is not pair[1]
        )
    _pass_on_flags(expanded + waiting, contest, data.criterion)
    return expanded


def _pass_on_flags(drafts: list[Draft], contest: int, criterion: str) -> None:
    """Flag all that a tie may bring into, or push out of, the budget of leaves.

    `drafts` are in order of expansion; from `contest` on, another order of equal decreases gives another
    tree. Another split of a tied node has other children, and for a criterion that is not the decrease
    of impurity another decrease too: then the node's own turn may come sooner or later.
    """
    is_decrease = criteria.score_is_decrease(criterion)
    ties = not is_decrease and any(draft.ties for draft in drafts)
    doubtful = not is_decrease and any(draft.doubtful for draft in drafts)
    ties, doubtful = ties or drafts[0].ties, doubtful or drafts[0].doubtful
    for index, draft in enumerate(drafts[1:], start=1):
        ties_here, doubtful_here = draft.ties, draft.doubtful
        draft.ties |= ties or index >= contest
        draft.doubtful |= doubtful or index >= contest
        ties, doubtful = ties or ties_here, doubtful or doubtful_here


def _best_first(
    root: Draft, data: Data, limits: Limits, contested_first: bool
) -> tuple[list[Draft], list[Draft]]:
    """Expanded drafts, and those that could be expanded still; ties go to the first (or last) created."""

    def urgency(draft: Draft) -> float:
        return loss(draft.rows, data) if limits.largest_first else _gain(draft)

    expanded: list[Draft] = []
    waiting = [root] if root.chosen is not None else []
    while waiting and (limits.max_leaf_nodes is None or len(expanded) + 1 < limits.max_leaf_nodes):
        top = max(urgency(draft) for draft in waiting)
        exact = next(draft for draft in waiting if urgency(draft) == top)
        near = [draft for draft in waiting if urgency(draft) >= top - CLOSE * top]
        rivals = [draft for draft in near if draft is not exact]
        draft = rivals[-1] if contested_first and rivals else exact
        waiting = [other for other in waiting if other is not draft]
        waiting += [child for child in draft.children if child.chosen is not None]
        expanded.append(draft)
    return expanded, waiting


def _gain(draft: Draft) -> float:
    """The decrease of a chosen split, without the rounding below zero."""
    assert draft.chosen is not None
    decrease = draft.chosen.decrease
    return 0.0 if -1e-12 < decrease < 0 else decrease


def _in_preorder(root: Draft, expanded: list[Draft], data: Data) -> list[Node]:
    keep = {id(draft) for draft in expanded}
    nodes: list[Node] = []
    # Each entry: the draft, its parent's id, and which child of the parent it is.
    waiting: list[tuple[Draft, int, str]] = [(root, -1, "")]
    while waiting:
        draft, parent, side = waiting.pop()
        if parent >= 0:
            setattr(nodes[parent], side, len(nodes))
        is_split = id(draft) in keep
        if is_split:
            waiting.append((draft.children[1], len(nodes), "right"))
            waiting.append((draft.children[0], len(nodes), "left"))
        nodes.append(_node(draft, is_split, data))
    return nodes


def _node(draft: Draft, is_split: bool, data: Data) -> Node:
    group = data.group(draft.rows)
    chosen = draft.chosen if is_split else None
    split = chosen.split if chosen is not None else Split("leaf", -1)
    return Node(
        split=split.kind,
        feature=split.feature,
        threshold=split.threshold,
        left_categories=split.left_categories,
        missing_left=split.missing_left,
        left=-1,
        right=-1,
        n=len(draft.rows),
        weight=data.weight(draft.rows),
        value=_clipped(criteria.value(data.criterion, group), draft.bounds),
        impurity=criteria.impurity(data.criterion, group),
        score=chosen.ranking[0] if chosen is not None else 0.0,
        impurity_decrease=_gain(draft) if chosen is not None else 0.0,
        depth=draft.depth,
        ties=draft.ties,
        doubtful=draft.doubtful,
    )


def _clipped(value: list[float], bounds: tuple[float, float]) -> list[float]:
    """The value within the bounds that the constrained splits above have set."""
    last = min(max(value[-1], bounds[0]), bounds[1])
    if last == value[-1]:
        return value
    return [last] if len(value) == 1 else [1 - last, last]


# Using the tree


def apply(nodes: Sequence[Node], columns: Columns, kinds: Sequence[str]) -> list[int]:
    """Id of the leaf that each row falls into."""
    plain = [_plain(column) for column in columns]
    return [_leaf(nodes, [column[row] for column in plain], kinds) for row in range(len(plain[0]))]


def predict(nodes: Sequence[Node], columns: Columns, kinds: Sequence[str]) -> list[list[float]]:
    """Value of the leaf that each row falls into."""
    return [nodes[leaf].value for leaf in apply(nodes, columns, kinds)]


def _leaf(nodes: Sequence[Node], row: Sequence[float], kinds: Sequence[str]) -> int:
    at = 0
    while nodes[at].split != "leaf":
        node = nodes[at]
        split = Split(node.split, node.feature, node.threshold, node.left_categories, node.missing_left)
        at = node.left if goes_left(split, kinds[node.feature], row[node.feature]) else node.right
    return at
