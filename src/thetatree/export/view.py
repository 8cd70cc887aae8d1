"""What every export that runs needs of a tree: what sends a row down a branch, and an order to write it in.

Words: a *test* is what has to hold for a row to take one branch of a node, missing and unseen values
included; a branch is taken if and only if its test holds, so that any branch can be asked for first. A
*block* is the code below a branch; writing the largest branch of each node last, outside of any block, keeps
blocks nested no deeper than the binary logarithm of the number of nodes, however deep the tree is.

Where a tree parts a row with a missing value among all branches, as C4.5 does, an export has no leaf to say.
Such a node has one branch more, the *lost* one, for these rows: they get no answer instead of a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from thetatree.data.features import Feature
from thetatree.export.model import tree_of
from thetatree.sketch.kinds import OTHER
from thetatree.tree.tree import EVERY_BRANCH, SplitKind, Tree

Kind: TypeAlias = Literal["any", "none", "le", "gt", "true", "false", "in", "not in"]
_OPPOSITE: dict[Kind, Kind] = {"any": "none", "le": "gt", "true": "false", "in": "not in"}
_OPPOSITE |= {theirs: mine for mine, theirs in _OPPOSITE.items()}


@dataclass(frozen=True)
class Test:
    """What sends a row down one branch: its value is known and does what `kind` says, or it is missing.

    Attributes
    ----------
    feature : int
        The feature that is looked at.
    kind : str
        "any" known value or "none" at all; at most ("le") or above ("gt") the threshold; a "true" or "false"
        flag; a category "in" the codes or "not in" them, values that training never saw included.
    missing : bool
        Whether a missing value takes this branch. Categories that training never saw are "not in" any codes;
        where they count as missing, the tests are such that the two need not be told apart.
    threshold : float
        Of "le" and "gt"; finite.
    codes : tuple of int
        Of "in" and "not in": codes of labels, ascending; never empty.
    """

    feature: int
    kind: Kind
    missing: bool
    threshold: float = math.nan
    codes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Step:
    """A step of writing a tree: `open` the block of a branch, `close` it, end in a `leaf`, `go` to a part.

    `node` is the node whose branch is opened, the leaf, or the root of the part. A block may also end without
    an answer (`lost`), because a missing value at `node` parts the row.
    """

    what: Literal["open", "close", "leaf", "go", "lost"]
    node: int
    branch: int = -1


class View:
    """A tree as an export writes it.

    Attributes
    ----------
    tree : Tree
        The tree.
    columns : list of int
        Where each feature stands in the tables that the model predicts on.
    n_columns : int
        How many columns those tables have.
    sketched : bool
        Whether the model was fitted on sketches: its categories are texts, of which the empty one is missing,
        and values that training never saw are taken for "other" where that is among the labels.
    """

    def __init__(self, model: Any) -> None:
        self.tree: Tree = tree_of(model)
        self.sketched = hasattr(model, "columns_")
        columns = getattr(model, "columns_", None)
        self.columns: list[int] = list(range(self.tree.n_features)) if columns is None else list(columns)
        self.n_columns = int(getattr(model, "n_features_in_", self.tree.n_features))

    @cached_property
    def tested(self) -> list[int]:
        """The features that the tree tests, ascending."""
        inner = self.tree.feature[~self.tree.is_leaf]
        return [int(feature) for feature in np.unique(inner)]

    @cached_property
    def leaves(self) -> list[int]:
        """The leaves, ascending."""
        return [int(node) for node in np.flatnonzero(self.tree.is_leaf)]

    def feature(self, index: int) -> Feature:
        """Return a feature."""
        return self.tree.features[index]

    def missing_branch(self, node: int) -> int:
        """Return the branch of missing values; the lost one, after the last, where they are parted."""
        branch = int(self.tree.missing_branch[node])
        return branch if branch != EVERY_BRANCH else int(np.diff(self.tree.child_start[node : node + 2])[0])

    def children(self, node: int) -> list[int]:
        """Return the children of a node in the order of its branches."""
        tree = self.tree
        below: list[int] = tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist()
        return below

    # ---- tests

    def test(self, node: int, branch: int) -> Test:
        """Return what sends a row from a node down one of its branches."""
        feature = int(self.tree.feature[node])
        missing = self.missing_branch(node) == branch
        kind = self.feature(feature).kind
        if kind == "category":
            return self._of_category(node, branch, feature, missing)
        if missing and self.tree.missing_branch[node] == EVERY_BRANCH:
            return Test(feature, "none", missing)
        threshold = float(self.tree.threshold[node])
        if self.tree.kind[node] == SplitKind.PRESENCE:
            test: Kind = "true"
        elif math.isinf(threshold):
            test = "any" if threshold > 0 else "none"
        elif kind == "number":
            return Test(feature, "le" if branch == 0 else "gt", missing, threshold)
        else:  # a flag compared as 0 or 1
            test = "none" if threshold < 0 else "false" if threshold < 1 else "any"
        return Test(feature, test if branch == 0 else _OPPOSITE[test], missing)

    def _of_category(self, node: int, branch: int, feature: int, missing: bool) -> Test:
        taken, unseen = self.branches_of_labels(node)
        if unseen == branch:
            others = tuple(np.flatnonzero(taken != branch).tolist())
            return Test(feature, "not in" if others else "any", missing, codes=others)
        own = tuple(np.flatnonzero(taken == branch).tolist())
        return Test(feature, "in" if own else "none", missing, codes=own)

    def branches_of_labels(self, node: int) -> tuple[NDArray[np.int64], int]:
        """Return the branch that each label of a node's category takes, and that of unseen values."""
        tree = self.tree
        feature = self.feature(int(tree.feature[node]))
        kind, missing = SplitKind(int(tree.kind[node])), self.missing_branch(node)
        n_labels = len(feature.labels)
        if (
            kind is SplitKind.THRESHOLD
        ):  # t = inf asks whether the value is known; codes are compared otherwise
            taken = (np.arange(n_labels + 1) > tree.threshold[node]).astype(np.int64)
            others = int(taken[-1])
            taken = taken[:-1]
        else:
            others = 1 if kind is SplitKind.SUBSET else missing
            taken = np.full(n_labels, others, dtype=np.int64)
            listed = slice(tree.category_start[node], tree.category_start[node + 1])
            taken[tree.category[listed]] = tree.category_branch[listed]
        if self.sketched and OTHER in feature.labels:
            return taken, int(taken[feature.labels.index(OTHER)])
        return taken, others if feature.unlisted else missing

    def unseen_code(self, index: int) -> int:
        """Return the code that stands for labels of a category that training never saw; -1 for missing."""
        feature = self.feature(index)
        if self.sketched and OTHER in feature.labels:
            return feature.labels.index(OTHER)
        return len(feature.labels) if feature.unlisted else -1

    # ---- the order of writing

    def steps(self, root: int = 0, parts: frozenset[int] = frozenset()) -> Iterator[Step]:
        """Walk the tree below a node: the smaller branches of each in blocks of their own, then the largest.

        Every block ends in a leaf or goes on to a part, so that what follows it is reached by the other rows
        only. Roots of `parts` below the root are left to their own walk.
        """
        end = self.tree.subtree_end
        waiting = [Step("leaf", root)]  # "leaf" here is any node to be visited
        while waiting:
            step = waiting.pop()
            if step.what == "close":
                yield step
                continue
            node = step.node
            if step.what == "open":
                yield step
                waiting.append(Step("close", node, step.branch))
                below = self.children(node)
                if step.branch == len(below):
                    yield Step("lost", node)
                    continue
                node = below[step.branch]
            if node in parts and node != root:
                yield Step("go", node)
                continue
            below = self.children(node)
            if not below:
                yield Step("leaf", node)
                continue
            largest = max(range(len(below)), key=lambda branch: (end[below[branch]] - below[branch], branch))
            waiting.append(Step("leaf", below[largest]))
            lost = [len(below)] if self.tree.missing_branch[node] == EVERY_BRANCH else []
            waiting += [Step("open", node, b) for b in [*reversed(range(len(below))), *lost] if b != largest]

    def parts(self, most: int) -> list[int]:
        """Return the roots of parts of at most so many tests and leaves, ascending.

        A node that alone has more tests is a part with nothing else in it.
        """
        cost = np.maximum(np.diff(self.tree.child_start), 1).tolist()
        roots = [0]
        for node in range(self.tree.node_count - 1, -1, -1):
            below = sorted(self.children(node), key=lambda child: -int(cost[child]))
            total = cost[node] + sum(cost[child] for child in below)
            for child in below:
                if total <= most or cost[child] <= 1:
                    break
                roots.append(child)
                total -= cost[child] - 1
            cost[node] = total
        return sorted(set(roots))

    # ---- what leaves say

    def classes(self) -> tuple[Any, ...]:
        """Return the class labels."""
        if self.tree.classes is None:
            raise ValueError("a regression tree has no classes")
        return self.tree.classes

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """The class of the greatest share at each node, the first of equals, by its position."""
        return np.asarray(np.argmax(self.tree.values, axis=1))


def runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    """Return ascending codes as ranges of neighbours, both ends included."""
    array = np.asarray(codes)
    last = np.flatnonzero(np.append(np.diff(array) > 1, True))
    first = np.concatenate([[0], last[:-1] + 1])
    return [(int(array[a]), int(array[b])) for a, b in zip(first, last, strict=True)]
