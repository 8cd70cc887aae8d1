"""Wilson's interval and the binomial test, against their formulas and scipy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from thetatree import judge


def test_the_published_figures():
    assert judge.wilson(30, 100, 0.95) == pytest.approx((0.21895, 0.39585), abs=5e-6)
    assert judge.binomial_p(30, 100, 0.15, method="exact") == pytest.approx(1.206e-4, rel=5e-4)
    assert judge.binomial_p(30, 100, 0.15, method="twice_smaller") == pytest.approx(2.110e-4, rel=5e-4)


def test_wilson_solves_its_equation():
    """The bounds are the rates r at which (k/n - r)² = z² r (1 - r) / n."""
    rng = np.random.default_rng(0)
    n = rng.integers(1, 500, 300)
    k = (rng.random(300) * (n + 1)).astype(int)
    lower, upper = judge.wilson(k, n, 0.9)
    for bound in (lower, upper):
        assert np.allclose((k / n - bound) ** 2, 1.6448536269514722**2 * bound * (1 - bound) / n)
    assert ((lower <= k / n) & (k / n <= upper)).all()
    assert (lower[k == 0] == 0).all() and (upper[k == n] == 1).all()
    for i in range(0, 300, 30):
        theirs = binomtest(int(k[i]), int(n[i])).proportion_ci(0.9, method="wilson")
        assert (lower[i], upper[i]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_at_the_ends():
    assert judge.wilson(0, 0) == (0.0, 1.0)
    lower, upper = judge.wilson([[1, 2]], [[3], [4]])
    assert lower.shape == upper.shape == (2, 2)
    assert judge.wilson(2.5, 7.25)[0] < 2.5 / 7.25 < judge.wilson(2.5, 7.25)[1]


def test_exact_is_scipys():
    rng = np.random.default_rng(1)
    for _ in range(400):
        n = int(rng.integers(1, 200))
        k, rate = int(rng.integers(0, n + 1)), float(rng.choice([0.01, 0.15, 0.3, 0.5, 0.9]))
        assert judge.binomial_p(k, n, rate) == pytest.approx(binomtest(k, n, rate).pvalue, rel=1e-9)
        tails = [binomtest(k, n, rate, side).pvalue for side in ("less", "greater")]
        doubled = judge.binomial_p(k, n, rate, method="twice_smaller")
        assert doubled == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)


def test_it_does_not_underflow():
    """Against exact arithmetic, where the p-value is below the least float."""
    n, k, rate = 700, 650, Fraction(1, 10)
    chances = [math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(n + 1)]
    truth = sum(c for c in chances if c <= chances[k])
    wanted = math.log(truth.numerator) - math.log(truth.denominator)
    assert wanted < -745
    assert judge.binomial_p(k, n, 0.1, log=True) == pytest.approx(wanted, rel=1e-12)
    assert judge.binomial_p(k, n, 0.1) == 0
    doubled = judge.binomial_p(k, n, 0.1, method="twice_smaller", log=True)
    assert doubled == pytest.approx(wanted + math.log(2), rel=1e-12)


def test_it_takes_a_billion():
    assert judge.binomial_p(500_000_000, 1_000_000_000, 0.5) == 1
    normal = math.log(2 * norm.sf((100_000 - 0.5) / math.sqrt(250_000_000)))
    assert judge.binomial_p(500_100_000, 1_000_000_000, 0.5, log=True) == pytest.approx(normal, abs=1e-6)


def test_certain_rates():
    assert judge.binomial_p(0, 10, 0.0) == judge.binomial_p(10, 10, 1.0) == judge.binomial_p(0, 0, 0.5) == 1
    assert judge.binomial_p(1, 10, 0.0) == 0
    assert judge.binomial_p(1, 10, 0.0, log=True) == -math.inf


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 10, 0.1), r"k must be between 0 and n; got k=-1 of n=10"),
        ((11, 10, 0.1), r"k must be between 0 and n; got k=11 of n=10"),
        ((1, 10, 1.1), r"rate must be between 0 and 1; got 1.1"),
        ((1, math.nan, 0.1), r"n must be a finite number; got nan"),
        (("a", 10, 0.1), r"k must be a number or numbers; got 'a'"),
        (([1, 2], 10, 0.1), r"k must be a finite number; got \[1, 2\]"),
        ((1, 10, 0.1, "mid"), r"method must be 'exact' or 'twice_smaller'; got 'mid'"),
        ((1.5, 10, 0.1), r"method='exact' adds up whole outcomes; got k=1.5 of n=10: use 'twice_smaller'"),
    ],
)
def test_binomial_p_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        judge.binomial_p(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 3), r"k must be between 0 and n, and n finite; got k=5.0 with n=3.0"),
        (([1, math.nan], 3), r"got k=nan with n=3.0"),
        ((1, math.inf), r"and n finite; got k=1.0 with n=inf"),
        ((1, 3, 95), r"level must be a number between 0 and 1, such as 0.95; got 95"),
        (("x", 3), r"k must be a number or numbers; got 'x'"),
    ],
)
def test_wilson_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        judge.wilson(*arguments)
