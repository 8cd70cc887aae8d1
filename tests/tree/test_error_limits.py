"""Upper error limits: known figures, the definition of the exact one, and what all three have in common."""

import numpy as np
import pytest
from scipy.stats import binom

from thetatree.tree.error_limits import METHODS, upper_error


def test_three_limits_of_one_error_in_sixteen():
    limits = {method: round(upper_error(1, 16, 0.25, method), 4) for method in METHODS}
    assert limits == {"release8": 0.1567, "exact": 0.1596, "normal": 0.1547}


@pytest.mark.parametrize(("n", "limit"), [(6, 0.206), (9, 0.143), (1, 0.750)])
@pytest.mark.parametrize("method", METHODS)
def test_limits_without_errors_are_those_of_the_book(method, n, limit):
    assert round(upper_error(0, n, 0.25, method), 3) == limit


@pytest.mark.parametrize(("e", "n", "cf"), [(1, 16, 0.25), (3, 20, 0.1), (0, 7, 0.4), (19, 20, 0.25)])
def test_exact_limit_by_its_definition(e, n, cf):
    assert binom.cdf(e, n, upper_error(e, n, cf, "exact")) == pytest.approx(cf)


def test_release8_between_none_and_one_error_is_a_straight_line():
    at = [upper_error(e, 8) for e in (0, 0.25, 1)]
    assert at[1] == pytest.approx(0.75 * at[0] + 0.25 * at[2])


def test_release8_where_hardly_a_case_is_right():
    assert upper_error(2.5, 3) == pytest.approx((2.5 + 0.67 * 0.5) / 3)
    assert upper_error(2.5, 3, 0.25, "normal") == 1
    assert upper_error(2.75, 3) == pytest.approx((2.75 + 0.67 * 0.25) / 3)
    assert upper_error(3, 3) == 1


@pytest.mark.parametrize("method", METHODS)
def test_limits_rise_with_errors_and_fall_with_cases_and_confidence(method):
    e = np.arange(0, 40)
    assert (np.diff(upper_error(e, 50, 0.25, method)) > 0).all()
    assert (np.diff(upper_error(2, np.arange(4, 200), 0.25, method)) < 0).all()
    by_cf = [upper_error(3, 30, cf, method) for cf in (0.05, 0.1, 0.25, 0.4)]
    assert sorted(by_cf, reverse=True) == by_cf
    assert (upper_error(e, 50, 0.25, method) > e / 50).all()


def test_arrays_and_numbers_agree():
    e, n = np.array([[0.0, 0.4], [1.0, 7.0]]), np.array([3.0, 12.0])
    limits = upper_error(e, n)
    assert limits.shape == (2, 2)
    assert limits[1, 1] == upper_error(7.0, 12.0)
    assert isinstance(upper_error(1, 2), float)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2), r"e=3.0 errors in n=2.0 cases"),
        ((-1, 2), r"e=-1.0 errors"),
        ((0, 0), r"n=0.0 cases"),
        ((0, float("inf")), "n=inf cases"),
        ((1, 2, 0.0), "cf must be a share"),
        ((1, 2, 1), "cf must be a share"),
        ((1, 2, 0.25, "wilson"), "method must be one of 'release8', 'exact', 'normal'; got 'wilson'"),
    ],
)
def test_refuses_what_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        upper_error(*arguments)
