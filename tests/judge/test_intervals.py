"""How often intervals hold, a short form of `make intervals`."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from thetatree.sketch.counts import interval
from thetatree.tree.estimates import Estimates

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def coverage():
    """The benchmark's own simulation on few sketch sets."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("intervals", BENCHMARKS / "intervals.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.simulate(40, seed=1)
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(
    ("kind", "what", "least", "most"),
    [
        ("fixed", "count", 0.93, 0.97),
        ("fixed", "leaf rate", 0.92, 0.98),
        ("fixed, half the keys", "leaf rate", 0.92, 0.985),
        ("chosen", "count", 0.88, 0.98),
        ("chosen", "leaf rate", 0.82, 0.97),
        ("chosen, honest", "leaf rate", 0.91, 0.985),
        ("chosen, without the gate", "leaf rate", 0.75, 0.95),
        ("chosen, honest, without the gate", "leaf rate", 0.9, 0.985),
    ],
)
def test_intervals_hold_as_often_as_they_say(coverage, kind, what, least, most):
    """Given nodes at the level; chosen ones less often; honest ones at the level again."""
    assert least <= coverage.share(kind, what) <= most


def test_an_exact_count_that_went_one_way_is_bounded_by_what_is_not_held():
    """Of 100 keys, counted elsewhere, half are looked at: what nobody saw may have gone the other way."""
    one, half = np.array([[100.0]]), np.array([[0.5]])
    lower, upper = Estimates(one, np.zeros((1, 1)), half, np.array([50.0])).interval()
    assert lower[0, 0] == pytest.approx(100 - interval(0.0, 0.5).upper)
    assert 90 < lower[0, 0] < 100 == upper[0, 0]
