"""What is counted in the leaves of a tree: of the rows it was grown on, of other rows, or of sketches.

Words: the *cases* of a leaf are rows or keys; without weights their *weight* is their number. *Sure cases*:
what the leaf's interval rests on, (Σw)²/Σw² for weighted rows; sketches have variances instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from thetatree.data.target import read_weights
from thetatree.export.model import tree_of
from thetatree.grow.count_tree import count_tree
from thetatree.judge.proportions import Floats, normal_quantile, wilson
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.tree import Estimates, Tree


@dataclass(frozen=True)
class LeafCounts:
    """Counts by leaf.

    Attributes
    ----------
    tree : Tree
        The tree whose leaves they are.
    leaf : ndarray of shape (n_leaves,)
        Node numbers, from left to right.
    n : ndarray of shape (n_leaves,)
        Cases; for sketches estimates.
    count : ndarray of shape (n_leaves, n_classes)
        Weight of each class; for regression one column, the weight.
    sure : ndarray of shape (n_leaves,)
        Sure cases.
    variance, theta : ndarray of shape (n_leaves, n_classes), or None for rows
        Of counts estimated from sketches: the variance, and the share of keys that could be counted.
    mean, deviation : ndarray of shape (n_leaves,), or None for classes
        Mean and standard deviation of y in each leaf.
    unit : str
        "rows" or "keys".
    """

    tree: Tree
    leaf: NDArray[np.int64]
    n: Floats
    count: Floats
    sure: Floats
    variance: Floats | None = None
    theta: Floats | None = None
    mean: Floats | None = None
    deviation: Floats | None = None
    unit: str = "rows"

    @property
    def weight(self) -> Floats:
        """Weight of each leaf."""
        return np.asarray(self.count.sum(axis=1))

    @property
    def predicted(self) -> Floats:
        """What the tree says of each leaf: its class shares, or its number in one column."""
        return np.asarray(self.tree.values[self.leaf])

    def gathered(self, group: NDArray[np.int64]) -> LeafCounts:
        """Put leaves together that have the same group number; for class counts only."""
        n_groups = int(group.max(initial=-1)) + 1

        def added(values: Floats) -> Floats:
            out = np.zeros((n_groups, *values.shape[1:]))
            np.add.at(out, group, values)
            return out

        count, weight = added(self.count), added(self.weight)
        # Σw² of a leaf is weight² / sure.
        squares = added(
            np.divide(self.weight**2, self.sure, out=np.zeros_like(self.sure), where=self.sure > 0)
        )
        sure = np.divide(weight**2, squares, out=np.zeros(n_groups), where=squares > 0)
        theta = None
        if self.theta is not None:
            theta = np.ones_like(count)
            np.minimum.at(theta, group, self.theta)
        return replace(
            self,
            leaf=np.arange(n_groups),
            n=added(self.n),
            count=count,
            sure=sure,
            variance=None if self.variance is None else added(self.variance),
            theta=theta,
        )

    def rate_interval(self, klass: NDArray[np.int64], level: float) -> tuple[Floats, Floats]:
        """Return the bounds of each leaf's share of a class (one class number a leaf).

        Wilson's interval. Rows count as a sample of those that they stand for. Of sketches it says how far
        the share may be from that of all keys: n̂ keys of a class found at threshold τ (n̂(1−τ)/τ is their
        variance) are worth n̂ / [(1−r)(1/τ₁ − 1) + r(1/τ₀ − 1)] cases, and exact counts have no width.
        """
        leaves = np.arange(len(self.leaf))
        hits, weight = self.count[leaves, klass], self.weight
        rate = np.divide(hits, weight, out=np.zeros_like(weight), where=weight > 0)
        sure = self.sure
        if self.variance is not None:
            sure = self._worth(klass, rate)
        exact = np.isinf(sure)
        cases = np.where(exact, 1.0, sure)
        lower, upper = wilson(np.clip(rate * cases, 0, cases), cases, level)
        return np.where(exact, rate, lower), np.where(exact, rate, upper)

    def _worth(self, klass: NDArray[np.int64], rate: Floats) -> Floats:
        """Return how many sure cases a leaf's estimated share is worth; infinite where all is exact."""
        assert self.variance is not None and self.theta is not None
        leaves = np.arange(len(self.leaf))
        unsure = _unsure(self.count, self.variance, self.theta)
        own = unsure[leaves, klass]
        others = self.count.copy()
        others[leaves, klass] = 0
        spread = self.variance.copy()
        spread[leaves, klass] = 0
        unsure[leaves, klass] = (
            0  # where no other key was found, the coarsest of the others' sketches decides
        )
        rest = np.where(
            others.sum(axis=1) > 0, _ratio(spread.sum(axis=1), others.sum(axis=1)), unsure.max(axis=1)
        )
        scale = (1 - rate) * own + rate * rest
        weight = self.weight
        return np.where(scale > 0, _ratio(weight, scale), np.where(weight > 0, np.inf, 0.0))

    def mean_interval(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return standard error and (Student's) bounds of each mean; NaN where one case says nothing."""
        normal_quantile("segments", level)
        assert self.mean is not None and self.deviation is not None
        enough = self.sure > 1
        freedom = np.where(enough, self.sure - 1, 1.0)
        error = np.where(enough, self.deviation / np.sqrt(freedom), np.nan)
        width = stdtrit(freedom, (1 + level) / 2) * error
        return error, self.mean - width, self.mean + width


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


def _unsure(count: Floats, variance: Floats, theta: Floats) -> Floats:
    """Return 1/τ − 1 of each count: variance over count, or its sketch's where no key was found."""
    return np.where(count > 0, _ratio(variance, count), 1 / theta - 1)


# The tree's own counts


def own_counts(tree: Tree) -> LeafCounts:
    """Return what the tree was grown on."""
    leaf = np.flatnonzero(tree.is_leaf)
    n = tree.n_node_samples[leaf].astype(np.float64)
    if tree.estimates is not None:
        return _estimated(tree, tree.estimates)
    weight = tree.weighted_n_node_samples[leaf]
    if tree.classes is not None:
        return LeafCounts(tree, leaf, n, tree.values[leaf] * weight[:, np.newaxis], n)
    if tree.criterion == "absolute_error":
        raise ValueError(
            "segments: the leaves of a tree by absolute_error hold medians, no means: "
            "give the rows too, as in segments(model, X, y)"
        )
    spread = tree.impurity[leaf] if tree.criterion == "squared_error" else np.full(len(leaf), np.nan)
    return LeafCounts(
        tree, leaf, n, weight[:, np.newaxis], n, mean=tree.values[leaf, 0], deviation=np.sqrt(spread)
    )


def _estimated(tree: Tree, known: Estimates) -> LeafCounts:
    leaf = np.flatnonzero(tree.is_leaf)
    count = known.count[leaf]
    n, held = count.sum(axis=1), known.held[leaf]
    variance, theta = known.standard_error[leaf] ** 2, known.theta[leaf]
    return LeafCounts(tree, leaf, n, count, held, variance, theta, unit="keys")


def counts_of_sketches(model: Any, sketches: SketchSet) -> LeafCounts:
    """Count the keys of a sketch set in the leaves of a model."""
    before, last = _steps(model)
    if before:
        raise ValueError(
            "a pipeline changes columns before its tree sees them, which sketches can not follow: "
            "give rows, or the tree alone"
        )
    tree = tree_of(last)
    use_absent, n_jobs = getattr(last, "use_absent", True), getattr(last, "n_jobs", None)
    return _estimated(tree, count_tree(tree, sketches, use_absent=use_absent, n_jobs=n_jobs))


# Rows


def counts_of_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> LeafCounts:
    """Count given rows in the leaves of a model."""
    if y is None:
        raise ValueError("segments: rows need their y: segments(model, X, y)")
    tree = judged_tree(model)
    at = leaves_of_rows(model, X)
    y = np.asarray(y)
    if y.shape != (len(at),):
        raise ValueError(f"segments: y must hold one value per row, {len(at)} in all; its shape is {y.shape}")
    weight = read_weights(sample_weight, len(at))
    leaf = np.flatnonzero(tree.is_leaf)
    place = np.searchsorted(leaf, at)
    w = np.ones(len(at)) if weight is None else weight
    counted = w > 0
    n = np.bincount(place[counted], minlength=len(leaf)).astype(np.float64)
    sure = _ratio(_sums(place, w, leaf) ** 2, _sums(place, w * w, leaf))
    if tree.classes is not None:
        code = class_codes(y, tree.classes)
        count = np.zeros((len(leaf), len(tree.classes)))
        np.add.at(count, (place, code), w)
        return LeafCounts(tree, leaf, n, count, sure)
    total = _sums(place, w, leaf)
    values = _numbers(y)
    mean = _ratio(_sums(place, w * values, leaf), total)
    spread = _ratio(_sums(place, w * (values - mean[place]) ** 2, leaf), total)
    mean = np.where(total > 0, mean, np.nan)
    return LeafCounts(tree, leaf, n, total[:, np.newaxis], sure, mean=mean, deviation=np.sqrt(spread))


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
        elif not hasattr(model, "tree_") and hasattr(model, "estimator_"):
            model = model.estimator_
        else:
            return before, model


def judged_tree(model: Any) -> Tree:
    """Return the tree of a Tree, an estimator, a pipeline, a search or a strategy around one."""
    return tree_of(_steps(model)[1])


def leaves_of_rows(model: Any, X: Any) -> NDArray[np.int64]:
    """Return the leaf of each row."""
    before, last = _steps(model)
    for step in before:
        X = step.transform(X)
    return np.asarray(last.apply(X), dtype=np.int64)
