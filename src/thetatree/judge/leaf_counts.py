"""What is counted in the leaves of a tree: of the rows it was grown on, of other rows, or of sketches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thetatree.data.target import read_weights
from thetatree.export.model import tree_of
from thetatree.grow.count_tree import count_tree
from thetatree.judge.counts import Counts, share_of
from thetatree.judge.proportions import Floats, normal_quantile
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.estimates import Estimates
from thetatree.tree.tree import Tree


@dataclass(frozen=True)
class LeafCounts(Counts):
    """Counts by leaf.

    Attributes
    ----------
    tree : Tree
        The tree whose leaves they are.
    leaf : ndarray of shape (n_leaves,)
        Node numbers, from left to right.
    mean, deviation : ndarray of shape (n_leaves,), or None for classes
        Mean and standard deviation of y in each leaf.
    """

    tree: Tree = field(kw_only=True)
    leaf: NDArray[np.int64] = field(kw_only=True)
    mean: Floats | None = field(default=None, kw_only=True)
    deviation: Floats | None = field(default=None, kw_only=True)

    def mean_interval(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return standard error and (Student's) bounds of each mean; NaN where one case says nothing."""
        normal_quantile("segments", level)
        assert self.mean is not None and self.deviation is not None
        enough = self.sure > 1
        freedom = np.where(enough, self.sure - 1, 1.0)
        error = np.where(enough, self.deviation / np.sqrt(freedom), np.nan)
        width = stdtrit(freedom, (1 + level) / 2) * error
        return error, self.mean - width, self.mean + width


# The tree's own counts


def own_counts(tree: Tree) -> LeafCounts:
    """Return what the tree was grown on."""
    leaf = np.flatnonzero(tree.is_leaf)
    n = tree.n_node_samples[leaf].astype(np.float64)
    if tree.estimates is not None:
        return estimated_leaves(tree, tree.estimates)
    weight = tree.weighted_n_node_samples[leaf]
    if tree.classes is not None:
        count = tree.values[leaf] * weight[:, np.newaxis]
        return LeafCounts(tree.values[leaf], n, count, n, tree=tree, leaf=leaf)
    if tree.criterion == "absolute_error":
        raise ValueError(
            "segments: the leaves of a tree by absolute_error hold medians, no means: "
            "give the rows too, as in segments(model, X, y)"
        )
    spread = tree.impurity[leaf] if tree.criterion == "squared_error" else np.full(len(leaf), np.nan)
    predicted, one_column, deviation = tree.values[leaf], weight[:, np.newaxis], np.sqrt(spread)
    return LeafCounts(
        predicted, n, one_column, n, tree=tree, leaf=leaf, mean=predicted[:, 0], deviation=deviation
    )


def estimated_leaves(tree: Tree, known: Estimates) -> LeafCounts:
    """Return the leaves' part of what was estimated of all nodes."""
    leaf = np.flatnonzero(tree.is_leaf)
    count = known.count[leaf]
    n, held = count.sum(axis=1), known.held[leaf]
    variance, theta = known.standard_error[leaf] ** 2, known.theta[leaf]
    predicted = tree.values[leaf]
    return LeafCounts(predicted, n, count, held, variance, theta, "keys", tree=tree, leaf=leaf)


def counts_of_sketches(model: Any, sketches: SketchSet) -> LeafCounts:
    """Count the keys of a sketch set in the leaves of a model."""
    return estimated_leaves(*estimates_of_sketches(model, sketches))


def estimates_of_sketches(model: Any, sketches: SketchSet) -> tuple[Tree, Estimates]:
    """Count the keys of a sketch set in every node of a model's tree."""
    before, last = _steps(model)
    if before:
        raise ValueError(
            "a pipeline changes columns before its tree sees them, which sketches can not follow: "
            "give rows, or the tree alone"
        )
    tree = tree_of(last)
    use_absent, n_jobs = getattr(last, "use_absent", True), getattr(last, "n_jobs", None)
    return tree, count_tree(tree, sketches, use_absent=use_absent, n_jobs=n_jobs)


# Rows


def counts_of_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> LeafCounts:
    """Count given rows in the leaves of a model."""
    if y is None:
        raise ValueError("segments: rows need their y: segments(model, X, y)")
    tree = judged_tree(model)
    at = leaves_of_rows(model, X)
    y = np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (len(at),):
        raise ValueError(f"segments: y must hold one value per row, {len(at)} in all; its shape is {y.shape}")
    weight = read_weights(sample_weight, len(at))
    leaf = np.flatnonzero(tree.is_leaf)
    place = np.searchsorted(leaf, at)
    w = np.ones(len(at)) if weight is None else weight
    counted = w > 0
    n = np.bincount(place[counted], minlength=len(leaf)).astype(np.float64)
    sure = share_of(_sums(place, w, leaf) ** 2, _sums(place, w * w, leaf))
    if tree.classes is not None:
        code = class_codes(y, tree.classes)
        count = np.zeros((len(leaf), len(tree.classes)))
        np.add.at(count, (place, code), w)
        return LeafCounts(tree.values[leaf], n, count, sure, tree=tree, leaf=leaf)
    total = _sums(place, w, leaf)
    values = _numbers(y)
    mean = share_of(_sums(place, w * values, leaf), total)
    spread = share_of(_sums(place, w * (values - mean[place]) ** 2, leaf), total)
    mean = np.where(total > 0, mean, np.nan)
    predicted, one_column, deviation = tree.values[leaf], total[:, np.newaxis], np.sqrt(spread)
    return LeafCounts(predicted, n, one_column, sure, tree=tree, leaf=leaf, mean=mean, deviation=deviation)


def _sums(place: NDArray[np.int64], values: Floats, leaf: NDArray[np.int64]) -> Floats:
    return np.asarray(np.bincount(place, values, minlength=len(leaf)), dtype=np.float64)


def _numbers(y: NDArray[Any]) -> Floats:
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"segments: the tree predicts numbers, but y holds {y.dtype}") from None
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"segments: y[{row}] is {values[row]}: leave out rows without a value")
    return values


def class_codes(y: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the place of each label among the tree's classes."""
    code_of = {label: code for code, label in enumerate(classes)}
    labels, inverse = np.unique(y, return_inverse=True) if y.dtype.kind != "O" else _distinct(y)
    unknown = [label for label in labels.tolist() if label not in code_of]
    if unknown:
        raise ValueError(
            f"y holds {unknown[0]!r}, which is not a class of the tree; its classes are {list(classes)}"
        )
    return np.array([code_of[label] for label in labels.tolist()], dtype=np.int64)[inverse]


def _distinct(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the labels of a column of objects, which need not be sortable."""
    seen: dict[Any, int] = {}
    inverse = np.array([seen.setdefault(label, len(seen)) for label in y.tolist()], dtype=np.int64)
    labels = np.empty(len(seen), dtype=object)
    labels[:] = list(seen)
    return labels, inverse


def _steps(model: Any) -> tuple[list[Any], Any]:
    """Return what a model does to its columns first, and the estimator that holds the tree."""
    from sklearn.pipeline import Pipeline

    before: list[Any] = []
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            if len(model) > 1:
                before.append(model[:-1])
            model = model[-1]
        elif hasattr(model, "estimator_"):
            model = model.estimator_
        else:
            return before, model


def judged_tree(model: Any) -> Tree:
    """Return the tree of a Tree, an estimator, a pipeline, a search or a strategy around one."""
    return tree_of(_steps(model)[1])


def fitted_tree_of(model: Any) -> Any:
    """Return the estimator that holds the tree, out of whatever is around it."""
    return _steps(model)[1]


def leaves_of_rows(model: Any, X: Any) -> NDArray[np.int64]:
    """Return the leaf of each row."""
    before, last = _steps(model)
    for step in before:
        X = step.transform(X)
    return np.asarray(last.apply(X), dtype=np.int64)
