"""AID and THAID against the naive oracle, rule by rule, on random problems with categories, gaps and weights.

THETATREE_SURVEY_PROBLEMS sets how many problems each learner is tried on.
"""

import os

import numpy as np
import pytest
from naive.cart import grow as naive_grow
from naive.kernel_tree import difference, kernel_tree
from naive.surveys import random_aid_problem, random_thaid_problem

N_PROBLEMS = int(os.environ.get("THETATREE_SURVEY_PROBLEMS", "300"))
BATCH = 50
PROBLEMS = {"aid": random_aid_problem, "thaid": random_thaid_problem}


def has_gaps(problem):
    return any(
        bool(np.isnan(values).any() if kind == "number" else (values < 0).any())
        for values, kind in zip(problem.columns, problem.kinds, strict=True)
    )


@pytest.mark.parametrize("learner", PROBLEMS)
@pytest.mark.parametrize("first", range(0, N_PROBLEMS, BATCH))
def test_same_tree_as_oracle(learner, first):
    compared = split = 0
    for seed in range(first, min(first + BATCH, N_PROBLEMS)):
        problem = PROBLEMS[learner](seed)
        arguments, settings = problem.arguments()
        naive = naive_grow(*arguments, **settings)
        tree = kernel_tree(problem)
        found = difference(problem, naive, tree)
        assert found is None, f"seed {seed}, {problem.settings}: {found}"
        compared += sum(not node.doubtful for node in naive)
        split += sum(node.feature >= 0 and not node.doubtful for node in naive)
        if seed % 10 == 0:
            assert tree == kernel_tree(problem, n_threads=2)
    assert compared > BATCH
    assert split > BATCH


@pytest.mark.parametrize("learner", PROBLEMS)
def test_the_problems_try_everything(learner):
    """Of the first problems enough have each rule on, categories, gaps, weights and a comparable tree."""
    problems = [PROBLEMS[learner](seed) for seed in range(100)]
    own = {
        "aid": ("min_improvement", "p1", "p2", "max_leaf_nodes", "tiers", "force", "ordered"),
        "thaid": ("min_score", "min_gain", "max_leaf_nodes"),
    }[learner]
    for rule in own:
        assert sum(problem.settings.get(rule) is not None for problem in problems) > 20, rule
    assert sum("category" in problem.kinds for problem in problems) > 30
    assert sum(problem.weights is not None for problem in problems) > 30
    gaps = [has_gaps(problem) for problem in problems]
    assert sum(gaps) > 30
