"""How often intervals hold, a short form of `make intervals`."""

import importlib.util
import sys
from pathlib import Path

import pytest

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
