"""The criteria by their definitions, usable by hand.

These are the plain formulas, written to be read; growing uses the kernel's. Logs are to base 2, p = n/N.

Examples
--------
>>> from thetatree import criteria
>>> round(criteria.impurity("gini", [3, 2, 1]), 4)
0.6111
>>> round(criteria.score("theta", [60, 40], [[50, 10], [10, 30]]), 2)
0.8
>>> y = [10, 12, 20, 22, 21]
>>> criteria.score("squared_error", y, [y[:2], y[2:]])
120.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thetatree import _kernel

CLASSIFICATION = (
    "gini",
    "entropy",
    "log_loss",
    "gain_ratio",
    "chi_square",
    "binomial",
    "theta",
    "delta",
    "weighted_delta",
)
REGRESSION = ("squared_error", "absolute_error", "poisson")

# The kernel's numbers; log_loss is entropy by another name.
CODES = {
    "gini": 0,
    "entropy": 1,
    "log_loss": 1,
    "gain_ratio": 2,
    "chi_square": 3,
    "binomial": 4,
    "theta": 5,
    "delta": 6,
    "weighted_delta": 7,
    "squared_error": 8,
    "absolute_error": 9,
    "poisson": 10,
}

_ENTROPY = ("entropy", "log_loss", "gain_ratio")


def check_criterion(name: Any, *, classify: bool) -> str:
    """Return the name if it is a criterion of that kind; otherwise say which there are."""
    known = CLASSIFICATION if classify else REGRESSION
    if name not in known:
        what = "classification" if classify else "regression"
        raise ValueError(f"unknown criterion {name!r} for {what}: choose one of {', '.join(known)}")
    return str(name)


def impurity(name: str, counts: ArrayLike) -> float:
    """Return how mixed a node is.

    Parameters
    ----------
    name : str
        A criterion. Those that are no impurity themselves have the one that their nodes are judged by:
        entropy for gain_ratio, 1 − max p for theta, gini for chi_square, binomial and the deltas.
    counts : array-like
        Class counts, or for a regression criterion the values of y.

    Examples
    --------
    >>> impurity("entropy", [2, 2])
    1.0
    >>> impurity("squared_error", [1.0, 3.0])
    1.0
    """
    if name in REGRESSION:
        return _loss(name, _numbers(counts, name)) / max(1, np.size(counts))
    check_criterion(name, classify=True)
    n = _counts(counts)
    total = n.sum()
    if total == 0:
        return 0.0
    p = n[n > 0] / total
    if name in _ENTROPY:
        return float(max(0.0, -(p * np.log2(p)).sum()))
    if name == "theta":
        return float(1 - p.max())
    return float(max(0.0, 1 - (p * p).sum()))


def score(name: str, parent: ArrayLike, children: Sequence[ArrayLike]) -> float:
    """Return what a split is chosen by; higher is better.

    Parameters
    ----------
    name : str
        A criterion.
    parent : array-like
        Class counts of the node, or its values of y for regression.
    children : sequence of array-like
        The same for each child.

    Returns
    -------
    float
        gini, entropy: the impurity decrease; gain_ratio: information gain over split information;
        chi_square, theta, delta, weighted_delta: the statistic; binomial: −ln of the smaller p-value;
        squared_error: the between sum of squares; absolute_error, poisson: how much the total loss falls.

    Examples
    --------
    >>> round(score("delta", [40, 30, 30], [[30, 10, 10], [10, 20, 20]]), 2)
    0.8
    >>> round(score("weighted_delta", [40, 30, 30], [[30, 10, 10], [10, 20, 20]]), 2)
    0.4
    """
    if name in REGRESSION:
        parts = [_numbers(child, name) for child in children]
        whole = _numbers(parent, name)
        if not np.array_equal(np.sort(np.concatenate([*parts, whole[:0]])), np.sort(whole)):
            raise ValueError("the children's values of y are not those of the parent")
        return float(_loss(name, whole) - sum(_loss(name, part) for part in parts))
    check_criterion(name, classify=True)
    n = _counts(parent)
    table = np.array([_counts(child) for child in children])
    if table.ndim != 2 or table.shape[1:] != n.shape:
        raise ValueError(f"each child needs {len(n)} class counts, as the parent has")
    if not np.allclose(table.sum(axis=0), n):
        raise ValueError(
            f"the children's counts add up to {table.sum(axis=0).tolist()}, the parent has {n.tolist()}"
        )
    if n.sum() == 0:
        raise ValueError(f"there is no row to split: all counts of {parent!r} are zero")
    return _STATISTICS[name](n, table[table.sum(axis=1) > 0])


def partitions(n: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return each way to part n categories in two, once: 2^(n−1) − 1 pairs, category 0 always on the left.

    Examples
    --------
    >>> partitions(3)
    [((0,), (1, 2)), ((0, 1), (2,)), ((0, 2), (1,))]
    """
    if n > 24:
        raise ValueError(
            f"{n} categories have 2^{n - 1} − 1 partitions, too many to list; 24 categories at most"
        )
    out = []
    for mask in range(2 ** max(0, n - 1) - 1):
        left = (0, *(i for i in range(1, n) if mask >> (i - 1) & 1))
        out.append((left, tuple(i for i in range(n) if i not in left)))
    return out


def _counts(counts: ArrayLike) -> NDArray[np.float64]:
    n = np.asarray(counts, dtype=np.float64)
    if n.ndim != 1 or (n < 0).any() or not np.isfinite(n).all():
        raise ValueError(f"class counts must be a list of numbers, 0 or greater; got {counts!r}")
    return n


def _numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    y = np.asarray(values, dtype=np.float64)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError(f"{name} takes the values of y as a list of finite numbers; got {values!r}")
    if name == "poisson" and (y < 0).any():
        raise ValueError("poisson needs y to be 0 or greater")
    return y


def _loss(name: str, y: NDArray[np.float64]) -> float:
    if len(y) == 0:
        return 0.0
    if name == "squared_error":
        return float(((y - y.mean()) ** 2).sum())
    if name == "absolute_error":
        return float(np.abs(y - np.median(y)).sum())
    some = y[y > 0]
    return float((some * np.log(some / y.mean())).sum()) if len(some) else 0.0


def _weighted(name: str, table: NDArray[np.float64]) -> float:
    return float(sum(row.sum() * impurity(name, row) for row in table) / table.sum())


def _gini(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    return impurity("gini", n) - _weighted("gini", table)


def _entropy(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    return impurity("entropy", n) - _weighted("entropy", table)


def _gain_ratio(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    information = impurity("entropy", table.sum(axis=1))
    return _entropy(n, table) / information if information > 0 else 0.0


def _chi_square(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    expected = np.outer(table.sum(axis=1), n) / n.sum()
    some = expected > 0
    return float(((table - expected)[some] ** 2 / expected[some]).sum())


def _binomial(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    if len(n) != 2:
        raise ValueError(f"binomial is for two classes; there are {len(n)}: use chi_square for more")
    rate = float(n[1] / n.sum())
    return float(max(-_kernel.log_two_sided(row[1], row.sum(), rate) for row in table))


def _theta(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    return float(table.max(axis=1).sum() / n.sum())


def _delta(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    if len(table) != 2:
        raise ValueError(f"delta is the distance of two children; there are {len(table)}: use weighted_delta")
    shares = table / table.sum(axis=1, keepdims=True)
    return float(np.abs(shares[0] - shares[1]).sum())


def _weighted_delta(n: NDArray[np.float64], table: NDArray[np.float64]) -> float:
    weight = table.sum(axis=1)
    distance = np.abs(table / weight[:, np.newaxis] - n / n.sum()).sum(axis=1)
    return float((weight * distance).sum() / n.sum())


_STATISTICS = {
    "gini": _gini,
    "entropy": _entropy,
    "log_loss": _entropy,
    "gain_ratio": _gain_ratio,
    "chi_square": _chi_square,
    "binomial": _binomial,
    "theta": _theta,
    "delta": _delta,
    "weighted_delta": _weighted_delta,
}
