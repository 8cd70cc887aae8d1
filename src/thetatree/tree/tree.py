"""The one `Tree`: an immutable struct of arrays, nodes in preorder (a parent before its children).

Words: a *branch* is a child of a node, counted from 0; branch 0 is the left one, where the test is true. A
*leaf* has no branch. Ragged arrays come as offsets and items: the children of node i are
``child[child_start[i]:child_start[i + 1]]``, its listed categories likewise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.features import Feature
from thetatree.tree.estimates import Estimates

if TYPE_CHECKING:
    import pandas as pd

    from thetatree.data.rows import Rows
    from thetatree.tree.routing import Parts
    from thetatree.tree.rules import Rule

EVERY_BRANCH = -2  # as a missing branch


class SplitKind(IntEnum):
    """How a node sends its rows on."""

    LEAF = 0
    THRESHOLD = 1  # x <= t goes left; t = inf asks whether the value is known at all
    PRESENCE = 2  # a flag that is set goes left
    SUBSET = 3  # a listed category goes left
    MULTIWAY = 4  # each listed category has its own branch


_DTYPES: dict[str, Any] = {
    "kind": np.uint8,
    "feature": np.int32,
    "threshold": np.float64,
    "child_start": np.int64,
    "child": np.int32,
    "category_start": np.int64,
    "category": np.int32,
    "category_branch": np.int32,
    "missing_branch": np.int32,
    "impurity": np.float64,
    "score": np.float64,
    "impurity_decrease": np.float64,
    "weighted_n_node_samples": np.float64,
    "n_node_samples": np.int64,
}

_ESTIMATES = ("count", "standard_error", "theta", "held")


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A decision tree as arrays over its nodes.

    Attributes
    ----------
    features : tuple of Feature
        What the columns are: name, kind, labels.
    classes : tuple or None
        The class labels, in the order of `value`'s last axis; None for regression.
    criterion : str
        What the splits were chosen by.
    kind, feature, threshold : ndarray
        The split of each node; in leaves 0, -2 and -2.0, as in scikit-learn.
    child_start, child : ndarray
        The children. `children_left` and `children_right` are their first and last.
    category_start, category, category_branch : ndarray
        Listed categories of subset and multiway splits, ascending, and the branch that each takes.
    missing_branch : ndarray
        The branch that missing values take, and unseen categories unless their feature is `unlisted`; -2:
        every branch, in parts as its `weighted_n_node_samples`; -1 in leaves.
    impurity, score, impurity_decrease : ndarray
        The node's impurity; the score its split was chosen by; the impurity decrease, weighted by the
        node's share of the root as `min_impurity_decrease` is.
    p_value : ndarray
        How likely the best of all candidates of a node is to part it so sharply where nothing there has to do
        with the target; NaN in leaves, and where the learner makes no such test.
    n_node_samples, weighted_n_node_samples : ndarray
        Rows and weight.
    values : ndarray of shape (node_count, n_outputs)
        Class shares, or the mean (the median for absolute_error).
    estimates : Estimates or None
        Counts with their errors, where the tree was grown from sketches.
    trace : ndarray of shape (node_count, n_features) or None
        Each feature's best score at each node, where the learner keeps it; NaN where there was none, or where
        a rule had made the node a leaf before it was searched.
    """

    features: tuple[Feature, ...]
    classes: tuple[Any, ...] | None
    criterion: str
    kind: NDArray[np.uint8]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    child_start: NDArray[np.int64]
    child: NDArray[np.int32]
    category_start: NDArray[np.int64]
    category: NDArray[np.int32]
    category_branch: NDArray[np.int32]
    missing_branch: NDArray[np.int32]
    impurity: NDArray[np.float64]
    score: NDArray[np.float64]
    impurity_decrease: NDArray[np.float64]
    weighted_n_node_samples: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    values: NDArray[np.float64]
    p_value: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    estimates: Estimates | None = None
    trace: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        what = "regression" if self.classes is None else "classification"
        n = f"n={self.n_node_samples[0]:,}"
        return f"Tree({what} by {self.criterion}, leaves={self.n_leaves}, depth={self.max_depth}, {n})"

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        features: tuple[Feature, ...],
        classes: tuple[Any, ...] | None,
        criterion: str,
    ) -> Tree:
        """Build a tree from the kernel's arrays (or a file's); they are made read-only."""
        own = {name: np.array(arrays[name], dtype=dtype, order="C") for name, dtype in _DTYPES.items()}
        n_outputs = 1 if classes is None else len(classes)
        own["values"] = np.array(arrays["value"], dtype=np.float64).reshape(-1, n_outputs)
        undone = np.full(len(own["kind"]), np.nan)
        own["p_value"] = np.array(arrays.get("p_value", undone), dtype=np.float64)
        if "trace" in arrays:
            own["trace"] = np.array(arrays["trace"], dtype=np.float64).reshape(-1, len(features))
        estimates = None
        if "count" in arrays:
            parts = {name: np.array(arrays[name], dtype=np.float64) for name in _ESTIMATES}
            for name in ("count", "standard_error", "theta"):
                parts[name] = parts[name].reshape(-1, n_outputs)
            estimates = Estimates(**parts)
            own_and_estimates = [*own.values(), *parts.values()]
        else:
            own_and_estimates = list(own.values())
        for array in own_and_estimates:
            array.flags.writeable = False
        return cls(features=features, classes=classes, criterion=criterion, **own, estimates=estimates)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, as `from_arrays` takes them."""
        out: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _DTYPES}
        out["value"] = self.values
        if not np.isnan(self.p_value).all():
            out["p_value"] = self.p_value
        if self.estimates is not None:
            out.update({name: getattr(self.estimates, name) for name in _ESTIMATES})
        if self.trace is not None:
            out["trace"] = self.trace
        return out

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return (
            self.features == other.features
            and self.classes == other.classes
            and self.criterion == other.criterion
            and mine.keys() == theirs.keys()
            and all(np.array_equal(mine[name], theirs[name], equal_nan=True) for name in mine)
        )

    def __hash__(self) -> int:
        return hash((self.node_count, self.feature.tobytes(), self.threshold.tobytes()))

    # ---- scikit-learn's names

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.kind)

    @property
    def capacity(self) -> int:
        """Number of nodes; nothing is held in reserve."""
        return self.node_count

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def n_outputs(self) -> int:
        """Always 1: a tree has one target."""
        return 1

    @property
    def n_classes(self) -> NDArray[np.intp]:
        """Number of classes, as an array of one; 1 for regression."""
        return np.array([self.values.shape[1]], dtype=np.intp)

    @property
    def max_n_classes(self) -> int:
        """Number of classes; 1 for regression."""
        return int(self.values.shape[1])

    @property
    def value(self) -> NDArray[np.float64]:
        """`values` in scikit-learn's shape: (node_count, 1, n_classes)."""
        return self.values[:, np.newaxis, :]

    @cached_property
    def children_left(self) -> NDArray[np.int64]:
        """First child of each node; -1 in leaves."""
        return self._nth_child(last=False)

    @cached_property
    def children_right(self) -> NDArray[np.int64]:
        """Last child of each node; -1 in leaves."""
        return self._nth_child(last=True)

    def _nth_child(self, *, last: bool) -> NDArray[np.int64]:
        out = np.full(self.node_count, -1, dtype=np.int64)
        inner = ~self.is_leaf
        at = self.child_start[1:] - 1 if last else self.child_start[:-1]
        out[inner] = self.child[at[inner]]
        return _frozen(out)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Marks the leaves."""
        return _frozen(np.equal(self.kind, SplitKind.LEAF))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """Parent of each node; -1 at the root."""
        out = np.full(self.node_count, -1, dtype=np.int64)
        out[self.child] = np.repeat(np.arange(self.node_count), np.diff(self.child_start))
        return _frozen(out)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Depth of each node; 0 at the root."""
        out = np.zeros(self.node_count, dtype=np.int64)
        level = np.zeros(1, dtype=np.int64)
        while len(level := self.child[_ranges(self.child_start, level)].astype(np.int64)):
            out[level] = out[self.parent[level]] + 1
        return _frozen(out)

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    @cached_property
    def subtree_end(self) -> NDArray[np.int64]:
        """One past the last node below each node: subtrees are contiguous in preorder."""
        parent = self.parent.tolist()
        sizes = [1] * self.node_count
        for node in range(self.node_count - 1, 0, -1):
            sizes[parent[node]] += sizes[node]
        return _frozen(np.arange(self.node_count) + np.array(sizes, dtype=np.int64))

    # ---- prediction

    @cached_property
    def router(self) -> _kernel.Router:
        """The kernel's view of this tree."""
        coded = np.array([f.kind != "number" for f in self.features], dtype=np.uint8)
        return _kernel.Router(
            self.kind,
            self.feature,
            self.threshold,
            self.child_start,
            self.child,
            self.category_start,
            self.category,
            self.category_branch,
            self.missing_branch,
            coded,
        )

    @cached_property
    def fractional(self) -> bool:
        """Whether a missing value sends a row to every branch, in parts: it may end in many leaves."""
        return bool(np.equal(self.missing_branch, EVERY_BRANCH).any())

    @cached_property
    def heaviest_branch(self) -> NDArray[np.int64]:
        """The branch of the greatest weight of each node, the first of equals; -1 in leaves."""
        weight, start = self.weighted_n_node_samples[self.child], self.child_start
        order = np.lexsort((-weight, np.repeat(np.arange(self.node_count), np.diff(start))))
        out = np.full(self.node_count, -1, dtype=np.int64)
        inner = ~self.is_leaf
        out[inner] = order[start[:-1][inner]] - start[:-1][inner]
        return _frozen(out)

    def undivided(self) -> Tree:
        """Return the tree with missing values sent down the heaviest branch where all had parts of them.

        Every row then ends in one leaf, which is what exports that run and counts on sketches need. Rows
        without gaps are predicted as before.

        Examples
        --------
        >>> from thetatree import C45Classifier
        >>> tree = C45Classifier().fit([[1], [1], [1], [2], [2]], [0, 0, 0, 1, 1]).tree_
        >>> tree.missing_branch.tolist(), tree.undivided().missing_branch.tolist()
        ([-2, -1, -1], [0, -1, -1])
        """
        branch = np.where(
            np.equal(self.missing_branch, EVERY_BRANCH), self.heaviest_branch, self.missing_branch
        )
        arrays = self.arrays() | {"missing_branch": branch}
        return Tree.from_arrays(arrays, self.features, self.classes, self.criterion)

    def apply(self, X: Any, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return the leaf of each row; of a row that ends in several, the one with the greatest part.

        Parameters
        ----------
        X : table
            Whatever the estimators read, with the columns that the tree was grown on.
        n_jobs : int, optional
            Threads; all by default.
        """
        return self.apply_rows(self._read(X), n_jobs)

    def _read(self, X: Any) -> Rows:
        from thetatree.data.rows import check_names, is_frame, read_rows

        rows = read_rows(X)
        if is_frame(X):
            check_names(rows, self.features)
        return rows

    def apply_rows(self, rows: Rows, n_jobs: int | None = None) -> NDArray[np.int64]:
        """Return the leaf of each row that has been read already."""
        from thetatree.tree.routing import route_rows

        return route_rows(self, rows, n_jobs)

    def part_rows(self, rows: Rows, n_jobs: int | None = None) -> Parts:
        """Return all the leaves that each row ends in, and the part of it that each leaf gets."""
        from thetatree.tree.routing import part_rows

        return part_rows(self, rows, n_jobs)

    def values_of_rows(self, rows: Rows, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what is predicted for each row: its leaf's values, or the mean of those it ends in."""
        if not self.fractional:
            return np.asarray(self.values[self.apply_rows(rows, n_jobs)])
        return self.part_rows(rows, n_jobs).mean(self.values)

    def decision_path(self, X: Any) -> sp.csr_matrix:
        """Return which nodes each row passes, wholly or in part, as an indicator matrix (row × node)."""
        return self.path_of_rows(self._read(X))

    def path_of_rows(self, rows: Rows, n_jobs: int | None = None) -> sp.csr_matrix:
        """Return which nodes each row passes that has been read already."""
        from thetatree.tree.routing import path_matrix

        return path_matrix(self, rows, n_jobs)

    # ---- what it says

    def rules(self) -> list[Rule]:
        """Return one readable rule per leaf, from left to right."""
        from thetatree.tree.rules import rules_of

        return rules_of(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the nodes as a data frame, one row each."""
        from thetatree.tree.rules import frame_of

        return frame_of(self)

    def _repr_html_(self) -> str:
        """Return the tree for a notebook."""
        from thetatree.report.notebook import tree_html

        return tree_html(self)

    def report(
        self, path: str | Path, data: Any = None, *, title: str | None = None, note: str | None = None
    ) -> Path:
        """Write a report: one HTML file to hand on; see the estimators' `report`."""
        from thetatree.report.page import write_report

        return write_report(self, path, data, title=title, note=note)

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the mean decrease in impurity by feature, in column order."""
        total = np.zeros(self.n_features)
        inner = ~self.is_leaf
        np.add.at(total, self.feature[inner], np.maximum(self.impurity_decrease[inner], 0.0))
        if normalize and total.sum() > 0:
            total /= total.sum()
        return total

    # ---- pruning

    def prune(self, *, ccp_alpha: float | None = None, at: Any = None) -> Tree:
        """Return a smaller tree.

        Parameters
        ----------
        ccp_alpha : float, optional
            Minimal cost-complexity pruning: links whose effective alpha is at most this are cut.
        at : sequence of int, optional
            Nodes that become leaves.
        """
        from thetatree.tree.prune import cut_at, weakest_below

        if (ccp_alpha is None) == (at is None):
            raise ValueError("give either ccp_alpha or at")
        if ccp_alpha is not None:
            at = weakest_below(self, ccp_alpha)
        nodes = np.asarray(at)
        if nodes.ndim != 1 or (len(nodes) and nodes.dtype.kind not in "iu"):
            raise ValueError(f"at must be a list of node numbers; got {at!r}")
        return cut_at(self, nodes.astype(np.int64))

    def cost_complexity_path(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the alphas at which pruning cuts a link, and the leaves' total impurity after each.

        Examples
        --------
        >>> from thetatree import CARTRegressor
        >>> tree = CARTRegressor().fit([[1], [2], [3]], [0, 1, 4]).tree_
        >>> alphas, _ = tree.cost_complexity_path()
        >>> alphas.round(3).tolist()
        [0.0, 0.167, 2.722]
        >>> [tree.prune(ccp_alpha=alpha).n_leaves for alpha in alphas]
        [3, 2, 1]
        """
        from thetatree.tree.prune import cost_complexity_path

        return cost_complexity_path(self)

    def prune_validation(self, X_val: Any, y_val: Any = None, sample_weight: Any = None) -> Tree:
        """Return the smallest of the subtrees that lose least on held-out keys (reduced error pruning).

        No subtree has fewer held-out errors (of a regression tree: a smaller squared error, or absolute one
        where the tree is about medians), so accuracy never falls; of equally good ones the smallest is taken.

        Parameters
        ----------
        X_val : table or SketchSet
            Rows with the columns that the tree was grown on, or sketches of other keys.
        y_val : array-like
            Labels or numbers, one per row; a SketchSet knows its classes.
        sample_weight : array-like, optional
            One weight per row.

        Examples
        --------
        >>> from thetatree import CARTClassifier
        >>> tree = CARTClassifier().fit([[1], [2], [3], [4]], [0, 1, 0, 1]).tree_
        >>> tree.n_leaves, tree.prune_validation([[1], [2], [3], [4]], [0, 1, 1, 1]).n_leaves
        (4, 2)
        """
        from thetatree.tree.held_out import losses_on
        from thetatree.tree.prune import cut_at, validation_below

        return cut_at(self, validation_below(self, losses_on(self, X_val, y_val, sample_weight)))

    def prune_pessimistic(self, confidence: float = 0.25, limits: str = "release8") -> Tree:
        """Return the tree pruned as C4.5 does: by upper limits of the training errors, without held-out keys.

        Parameters
        ----------
        confidence : float, default=0.25
            A smaller one prunes more.
        limits : {"release8", "exact", "normal"}, default="release8"
            Which upper limit.

        Examples
        --------
        >>> from thetatree import CARTClassifier
        >>> tree = CARTClassifier().fit([[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 0, 0]).tree_
        >>> tree.n_leaves, tree.prune_pessimistic().n_leaves
        (3, 1)
        """
        from thetatree.tree.pessimistic import pessimistic_below
        from thetatree.tree.prune import cut_at

        return cut_at(self, pessimistic_below(self, confidence, limits))

    def prune_min_impurity(self, min_impurity_decrease: float) -> Tree:
        """Return the tree without splits into leaves that lower their node's impurity by less, from below.

        Unlike the limit of the same name while growing, the decrease is not weighted by the node's share of
        the root, and a split stays where any split below it does.

        Examples
        --------
        >>> from thetatree import CARTClassifier
        >>> xor = CARTClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).tree_
        >>> xor.prune_min_impurity(0.1).n_leaves, xor.prune_min_impurity(0.6).n_leaves
        (4, 1)
        """
        from thetatree.tree.prune import cut_at, min_impurity_below

        return cut_at(self, min_impurity_below(self, min_impurity_decrease))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _ranges(start: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of all items of the given nodes in a ragged array."""
    counts = start[nodes + 1] - start[nodes]
    offsets = np.repeat(start[nodes] - np.cumsum(counts) + counts, counts)
    return offsets + np.arange(int(counts.sum()))
