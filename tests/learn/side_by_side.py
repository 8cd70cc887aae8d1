"""Our tree and scikit-learn's, walked together with the training rows.

Where the two choose different splits, the walk proves a tie: both partitions are scored by the criterion's
definition and must be equal within 1e-9. Below a tie nothing is compared. (scikit-learn makes a leaf where
rounding turns a gain of nothing into a loss; the walk then shows that our split's gain is nothing.)
"""

from dataclasses import dataclass

import numpy as np

from thetatree import criteria


@dataclass
class Comparison:
    """How far the trees went together; `twins` counts nodes parted alike by different features."""

    nodes: int = 0
    ties: int = 0
    twins: int = 0


def weighted_median(y, weight):
    order = np.argsort(y, kind="stable")
    y, weight = y[order], weight[order]
    below = np.cumsum(weight)
    half = below[-1] / 2
    i = int(np.searchsorted(below, half - 1e-9 * below[-1]))
    if abs(below[i] - half) <= 1e-9 * below[-1] and i + 1 < len(y):
        return (y[i] + y[i + 1]) / 2
    return y[i]


def loss(criterion, y, weight):
    """The node's total loss, by definition (thetatree.criteria knows no weights for regression)."""
    if criterion == "squared_error":
        mean = np.average(y, weights=weight)
        return float((weight * (y - mean) ** 2).sum())
    if criterion == "absolute_error":
        return float((weight * np.abs(y - weighted_median(y, weight))).sum())
    mean = np.average(y, weights=weight)
    some = y > 0
    return float((weight[some] * y[some] * np.log(y[some] / mean)).sum())


def partition_score(criterion, y, weight, left, classes):
    """Score of the split into left and the rest."""
    if classes:
        counts = [np.bincount(y[m], weights=weight[m], minlength=classes) for m in (left, ~left)]
        return criteria.score(criterion, counts[0] + counts[1], counts)
    if (weight == 1).all():
        return criteria.score(criterion, y, [y[left], y[~left]])
    return loss(criterion, y, weight) - sum(loss(criterion, y[m], weight[m]) for m in (left, ~left))


def goes_left(x, threshold, missing_left):
    return np.where(np.isnan(x), missing_left, x <= threshold)


def compare(ours, theirs, X, y, weight=None, criterion="gini", min_leaf=1, rtol=1e-9):
    """Walk both trees; raises AssertionError at a difference that is no tie."""
    X = np.asarray(X, dtype=np.float64)
    classes = 0 if ours.classes is None else len(ours.classes)
    y = np.asarray(y) if classes else np.asarray(y, dtype=np.float64)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    scale = 1.0 if classes else max(float(np.abs(y).max()), 1e-300)
    open_nodes = [(0, 0, np.flatnonzero(weight > 0))]
    done = Comparison()
    while open_nodes:
        i, j, rows = open_nodes.pop()
        where = f"node {i} of ours, {j} of scikit-learn's"
        done.nodes += 1
        assert ours.n_node_samples[i] == len(rows) == theirs.n_node_samples[j], where
        assert np.isclose(
            ours.weighted_n_node_samples[i], theirs.weighted_n_node_samples[j], rtol=rtol, atol=0
        ), where
        assert np.isclose(ours.impurity[i], theirs.impurity[j], rtol=rtol, atol=1e-11 * scale**2), (
            f"{where}: impurity {ours.impurity[i]!r}, {theirs.impurity[j]!r}"
        )
        assert np.allclose(ours.values[i], theirs.value[j, 0], rtol=rtol, atol=1e-11 * scale), (
            f"{where}: value {ours.values[i]}, {theirs.value[j, 0]}"
        )
        a_leaf, b_leaf = bool(ours.is_leaf[i]), theirs.children_left[j] < 0
        if a_leaf:
            # Sums of weights that round leave scikit-learn's pure nodes with some impurity to split.
            assert b_leaf or len(np.unique(y[rows])) == 1, f"{where}: ours is a leaf, scikit-learn's is not"
            done.ties += not b_leaf
            continue
        f, g = ours.feature[i], theirs.feature[j]
        a = goes_left(X[rows, f], ours.threshold[i], ours.missing_branch[i] == 0).astype(bool)
        size = 1.0 if classes else weight[rows].sum()
        nothing = 1e-13 * size * float(ours.impurity[i])
        if b_leaf:
            gain = partition_score(criterion, y[rows], weight[rows], a, classes)
            assert gain <= nothing, f"{where}: ours gains {gain!r}, scikit-learn's is a leaf"
            done.ties += 1
            continue
        b = goes_left(X[rows, g], theirs.threshold[j], bool(theirs.missing_go_to_left[j])).astype(bool)
        if (a == b).all():
            done.twins += f != g
            if f == g and np.isfinite(ours.threshold[i]):
                assert np.isclose(ours.threshold[i], theirs.threshold[j], rtol=1e-6, atol=1e-6), where
            open_nodes.append((ours.children_left[i], theirs.children_left[j], rows[a]))
            open_nodes.append((ours.children_right[i], theirs.children_right[j], rows[~a]))
            continue
        assert min(a.sum(), (~a).sum()) >= min_leaf, f"{where}: our split breaks min_samples_leaf"
        scores = [partition_score(criterion, y[rows], weight[rows], m, classes) for m in (a, b)]
        assert abs(scores[0] - scores[1]) <= 1e-9 * max(map(abs, scores)) + nothing, (
            f"{where}: no tie: x{f} ≤ {ours.threshold[i]} scores {scores[0]!r}, "
            f"scikit-learn's x{g} ≤ {theirs.threshold[j]} {scores[1]!r}"
        )
        done.ties += 1
    return done


def merged(alphas, tolerance):
    """Ascending alphas with runs of equal ones as one."""
    alphas = np.sort(np.asarray(alphas))
    return alphas[np.concatenate([[True], np.diff(alphas) > tolerance])]
