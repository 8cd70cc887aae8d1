"""Small random problems for AID and THAID: those of the row learners, under the two learners' own rules."""

from dataclasses import replace
from typing import Any

import numpy as np

from .problems import Problem, random_problem

THAID_CRITERIA = ("theta", "delta", "weighted_delta")


def random_aid_problem(seed: int) -> Problem:
    """A problem for AID; each of its rules is on in a third of the problems."""
    rng = np.random.default_rng([seed, 63])
    problem = random_problem(seed, "squared_error")
    n = len(problem.kinds)
    drawn = {
        "min_improvement": float(rng.uniform(0.01, 0.3)),
        "p1": float(rng.uniform(0.01, 0.3)),
        "p2": float(rng.uniform(0.002, 0.1)),
        "max_leaf_nodes": int(rng.integers(2, 9)),
        "tiers": rng.integers(0, 3, size=n).tolist(),
        "force": int(rng.integers(n)),
        "ordered": rng.integers(0, 2, size=n).tolist(),
    }
    return _under(problem, rng, drawn, {"largest_first": True})


def random_thaid_problem(seed: int) -> Problem:
    """A problem for THAID; each of its rules is on in a third of the problems."""
    rng = np.random.default_rng([seed, 73])
    criterion = str(rng.choice(THAID_CRITERIA))
    problem = random_problem(seed, criterion)
    drawn = {
        "min_score": float(rng.uniform(0.2, 0.9)),
        "min_gain": float(rng.uniform(0.01, 0.3)),
        "max_leaf_nodes": int(rng.integers(2, 9)),
    }
    return _under(problem, rng, drawn, {})


def _under(
    problem: Problem, rng: np.random.Generator, drawn: dict[str, Any], always: dict[str, Any]
) -> Problem:
    rules = {name: value for name, value in drawn.items() if rng.random() < 1 / 3}
    off = {"max_leaf_nodes": None, "monotonic": None}
    return replace(problem, settings=problem.settings | off | {"positive_gain": True} | always | rules)
