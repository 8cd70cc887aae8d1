"""The criteria against numbers worked out by hand, and against other libraries' definitions."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from thetatree import criteria

L2 = math.log(2)


@pytest.mark.parametrize(
    "name, counts, value",
    [
        ("gini", [3, 2, 1], 1 - (9 + 4 + 1) / 36),
        ("gini", [5, 5], 0.5),
        ("gini", [1, 1, 1, 1], 0.75),
        ("gini", [7, 0], 0.0),
        ("entropy", [3, 2, 1], 1.4591479170272448),
        ("entropy", [1, 1, 1, 1, 1, 1, 1, 1], 3.0),
        ("log_loss", [1, 1], 1.0),
        ("gain_ratio", [1, 3], 2 - 0.75 * math.log2(3)),
        ("theta", [3, 2, 1], 0.5),
        ("chi_square", [5, 5], 0.5),
        ("binomial", [5, 5], 0.5),
        ("delta", [5, 5], 0.5),
        ("weighted_delta", [5, 5], 0.5),
        ("gini", [0, 0], 0.0),
        ("entropy", [0.5, 1.5], 2 - 0.75 * math.log2(3)),
        ("squared_error", [1, 2, 3, 6], 3.5),
        ("absolute_error", [1, 2, 3, 6], 1.5),
        ("absolute_error", [1, 2, 10], 3.0),
        ("poisson", [1, 3], (math.log(0.5) + 3 * math.log(1.5)) / 2),
        ("poisson", [0, 2], L2),
        ("poisson", [0, 0], 0.0),
    ],
)
def test_impurity(name, counts, value):
    assert criteria.impurity(name, counts) == pytest.approx(value, abs=1e-12)
    assert criteria.impurity(name, np.array(counts, dtype=float)) == pytest.approx(value, abs=1e-12)


PARENT, CHILDREN = [40, 30, 30], [[30, 10, 10], [10, 20, 20]]


@pytest.mark.parametrize(
    "name, value",
    [
        ("gini", (1 - 0.16 - 0.09 - 0.09) - 0.5 * (1 - 0.36 - 0.08) - 0.5 * (1 - 0.04 - 0.32)),
        ("theta", 0.5),
        ("delta", 0.8),
        ("weighted_delta", 0.4),
        ("chi_square", 2 * 10**2 / 20 + 4 * 5**2 / 15),
    ],
)
def test_scores_of_three_classes(name, value):
    assert criteria.score(name, PARENT, CHILDREN) == pytest.approx(value, abs=1e-12)


def test_gain_ratio_is_gain_over_split_information():
    parent, children = [9, 5], [[2, 3], [4, 0], [3, 2]]
    gain = criteria.score("entropy", parent, children)
    assert gain == pytest.approx(0.24674981977443933)  # Quinlan's weather data, outlook
    information = criteria.impurity("entropy", [5, 4, 5])
    assert criteria.score("gain_ratio", parent, children) == pytest.approx(gain / information)
    assert criteria.score("gain_ratio", [3, 3], [[3, 3], [0, 0]]) == 0.0
    assert criteria.score("log_loss", parent, children) == gain


def test_chi_square_is_the_statistic():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.integers(1, 40, (rng.integers(2, 5), rng.integers(2, 5)))
        expected = stats.chi2_contingency(table, correction=False).statistic
        assert criteria.score("chi_square", table.sum(axis=0), table) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(10))
def test_binomial_is_the_two_sided_tail(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 60, (2, 2))
    parent = table.sum(axis=0)
    rate = parent[1] / parent.sum()
    least = min(
        min(1.0, 2 * min(stats.binom.cdf(k, n, rate), stats.binom.sf(k - 1, n, rate)))
        for k, n in zip(table[:, 1], table.sum(axis=1), strict=True)
    )
    assert criteria.score("binomial", parent, table) == pytest.approx(-math.log(least), rel=1e-9, abs=1e-9)


def test_binomial_never_underflows():
    score = criteria.score("binomial", [10**6, 10**6], [[10**6, 0], [0, 10**6]])
    assert score == pytest.approx(10**6 * L2 - L2, rel=1e-9)
    more = criteria.score("binomial", [2 * 10**6, 2 * 10**6], [[2 * 10**6, 0], [0, 2 * 10**6]])
    assert more > score


def test_scores_of_numbers():
    y = [1.0, 2.0, 9.0, 10.0, 11.0]
    left, right = y[:2], y[2:]
    assert criteria.score("squared_error", y, [left, right]) == pytest.approx(89.2 - 0.5 - 2)
    assert criteria.score("absolute_error", y, [left, right]) == pytest.approx(18 - 1 - 2)
    deviance = sum(v * math.log(v / 6.6) for v in y)
    deviance -= sum(v * math.log(v / 1.5) for v in left) + sum(v * math.log(v / 10) for v in right)
    assert criteria.score("poisson", y, [left, right]) == pytest.approx(deviance)
    offset = np.array(y) + 1e9
    assert criteria.score("squared_error", offset, [offset[:2], offset[2:]]) == pytest.approx(86.7)


def test_children_that_are_empty_count_for_nothing():
    for name in ("gini", "entropy", "theta", "weighted_delta", "chi_square"):
        with_empty = criteria.score(name, PARENT, [*CHILDREN, [0, 0, 0]])
        assert with_empty == pytest.approx(criteria.score(name, PARENT, CHILDREN))
    assert criteria.score("squared_error", [1, 3], [[1, 3], []]) == 0


@pytest.mark.parametrize("n", range(1, 11))
def test_partitions(n):
    found = criteria.partitions(n)
    assert len(found) == 2 ** (n - 1) - 1
    assert len({frozenset(map(frozenset, pair)) for pair in found}) == len(found)
    for left, right in found:
        assert left
        assert right
        assert sorted(left + right) == list(range(n))
        assert left[0] == 0
        assert list(left) == sorted(left)
        assert list(right) == sorted(right)


def test_partitions_of_four_by_hand():
    left = [set(c) for size in (1, 2, 3) for c in itertools.combinations(range(4), size) if 0 in c]
    assert sorted(map(sorted, left)) == sorted(sorted(a) for a, _ in criteria.partitions(4))


@pytest.mark.parametrize("n", [25, 1000])
def test_too_many_partitions(n):
    with pytest.raises(ValueError, match=rf"{n} categories.*24"):
        criteria.partitions(n)


@pytest.mark.parametrize("n", [2.5, "3", None])
def test_partitions_of_nothing_sensible(n):
    with pytest.raises((ValueError, TypeError)):
        criteria.partitions(n)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: criteria.impurity("nope", [1, 2]), "'nope'.*gini"),
        (lambda: criteria.score("nope", [1, 2], [[1, 0], [0, 2]]), "'nope'.*gini"),
        (lambda: criteria.impurity("gini", [1, -2]), "0 or greater"),
        (lambda: criteria.impurity("gini", [1, math.nan]), "0 or greater"),
        (lambda: criteria.impurity("gini", [1, math.inf]), "0 or greater"),
        (lambda: criteria.impurity("gini", [[1, 2]]), "list of numbers"),
        (lambda: criteria.impurity("squared_error", [1, math.nan]), "finite"),
        (lambda: criteria.impurity("squared_error", [[1, 2]]), "list of finite"),
        (lambda: criteria.impurity("poisson", [1, -1]), "0 or greater"),
        (lambda: criteria.score("gini", [3, 3], [[1, 2], [1, 1]]), r"add up to \[2.0, 3.0\].*\[3.0, 3.0\]"),
        (lambda: criteria.score("gini", [3, 3], [[1, 2, 0], [2, 1, 0]]), "2 class counts"),
        (lambda: criteria.score("gini", [3, 3], []), "child"),
        (lambda: criteria.score("binomial", PARENT, CHILDREN), "two classes.*chi_square"),
        (lambda: criteria.score("delta", [3, 3], [[1, 1], [1, 1], [1, 1]]), "two children.*weighted_delta"),
        (lambda: criteria.score("squared_error", [1, 2, 3], [[1], [2]]), "children"),
        (lambda: criteria.score("squared_error", [1, 2, 3], [[1], [2, 4]]), "children"),
        (lambda: criteria.score("gini", [0, 0], [[0, 0], [0, 0]]), "empty|zero|no row|count"),
        (lambda: criteria.score("theta", [0, 0], [[0, 0], [0, 0]]), "empty|zero|no row|count"),
        (lambda: criteria.score("binomial", [0, 0], [[0, 0], [0, 0]]), "empty|zero|no row|count"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
