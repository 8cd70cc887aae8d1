"""The kernel against the naive oracle: the same tree, node by node, on random problems.

A node that the oracle calls doubtful has a choice that rounding decides (see tests/naive); there and below
nothing is compared. THETATREE_ORACLE_PROBLEMS sets how many problems are tried.
"""

import os

import numpy as np
import pytest
from naive.cart import apply as naive_apply
from naive.cart import grow as naive_grow
from naive.kernel_tree import difference, kernel_tree
from naive.problems import random_problem

N_PROBLEMS = int(os.environ.get("THETATREE_ORACLE_PROBLEMS", "2000"))
BATCH = 100
# Ways to search numbers: by bins alone, by bins and by lists below, by lists alone, by sorting each node.
WAYS = [
    {"most_bins": 5, "binned_from": 2, "listed_to": 0},
    {"most_bins": 3, "binned_from": 12, "listed_to": 11},
    {"most_bins": 4, "binned_from": 1000, "listed_to": 1000},
    {"most_bins": 6, "binned_from": 1000, "listed_to": 0},
]


@pytest.mark.parametrize("first", range(0, N_PROBLEMS, BATCH))
def test_same_tree_as_oracle(first):
    compared = 0
    for seed in range(first, min(first + BATCH, N_PROBLEMS)):
        problem = random_problem(seed)
        arguments, settings = problem.arguments()
        naive = naive_grow(*arguments, **settings)
        way = WAYS[seed % len(WAYS)]
        for tree in (kernel_tree(problem), kernel_tree(problem, **way)):
            found = difference(problem, naive, tree)
            assert found is None, f"seed {seed}, {way}, {problem.settings}: {found}"
        compared += sum(not node.doubtful for node in naive)
    assert compared > 0


@pytest.mark.parametrize("seed", range(0, min(N_PROBLEMS, 200)))
def test_routing_agrees_with_oracle(seed):
    """Training rows end where the oracle sends them, and two threads grow the same tree."""
    problem = random_problem(seed)
    arguments, settings = problem.arguments()
    naive = naive_grow(*arguments, **settings)
    tree = kernel_tree(problem)
    assert tree == kernel_tree(problem, n_threads=2)
    if any(node.doubtful for node in naive):
        pytest.skip("rounding decides a split of this problem")
    arrays = [
        np.ascontiguousarray(
            values, dtype={"flag": np.int8, "number": np.float64, "category": np.int32}[kind]
        )
        for values, kind in zip(problem.columns, problem.kinds, strict=True)
    ]
    leaves, _ = tree.router.rows(len(problem.y), arrays, 1)
    expected = [naive[i] for i in naive_apply(naive, problem.columns, problem.kinds)]
    assert [n.n for n in expected] == tree.n_node_samples[leaves].tolist()
    assert np.allclose([n.value for n in expected], tree.values[leaves], rtol=1e-9, atol=1e-9)
