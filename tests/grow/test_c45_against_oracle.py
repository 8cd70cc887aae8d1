"""C4.5 against its naive oracle on random problems with categories, gaps and weights: grown, pruned, asked.

THETATREE_C45_PROBLEMS sets how many problems are tried.
"""

import os
from dataclasses import asdict, replace

import numpy as np
import pytest
from naive.c45 import C45, Rules, difference
from naive.problems import random_problem

from thetatree import _kernel
from thetatree.data.coding import code_rows
from thetatree.data.features import Feature
from thetatree.data.rows import Column, Rows
from thetatree.grow.c45 import C45Rules
from thetatree.tree.error_limits import METHODS, upper_error
from thetatree.tree.tree import Tree

N_PROBLEMS = int(os.environ.get("THETATREE_C45_PROBLEMS", "600"))
BATCH = 50
OPTIONS = {
    "ratio": False,
    "mdl": False,
    "subsets": True,
    "binary_categories": True,
    "once_per_path": True,
    "collapse": False,
    "raising": False,
}


def c45_problem(seed):
    """A problem of the row learners under C4.5's own rules, each of them on in some of the problems."""
    rng = np.random.default_rng([seed, 45])
    problem = random_problem(seed, "entropy")
    if rng.random() < 0.6:  # larger ones, so that there is something to prune
        times = int(rng.integers(2, 6))
        order = rng.permutation(np.tile(np.arange(len(problem.y)), times))
        columns = [c[order] for c in problem.columns]
        y = np.where(rng.random(len(order)) < 0.2, rng.choice(problem.y, len(order)), problem.y[order])
        weights = None if problem.weights is None else problem.weights[order]
        problem = replace(problem, columns=columns, y=y, weights=weights)
    chosen = {name: value for name, value in OPTIONS.items() if rng.random() < 0.25}
    if "subsets" in chosen:
        chosen.pop("binary_categories", None)
    numbers = {
        "min_cases": float(rng.choice([1.0, 3.0, 5.5])),
        "min_split": float(rng.integers(4, 20)),
        "min_ratio": float(rng.uniform(0.01, 0.3)),
        "min_decrease": float(rng.uniform(0.001, 0.1)),
        "min_impurity": float(rng.uniform(0.1, 0.9)),
        "max_depth": int(rng.integers(1, 5)),
        "confidence": float(rng.uniform(0.01, 0.9)),
        "limits": str(rng.choice(METHODS)),
    }
    chosen |= {name: value for name, value in numbers.items() if rng.random() < 0.2}
    if "subsets" not in chosen and rng.random() < 0.25:
        problem = with_many_values(problem, rng)
    return problem, Rules(n_classes=problem.settings["n_classes"], **chosen)


def with_many_values(problem, rng):
    """A category more, with about as many values as keep it out of the average gain; it knows the class."""
    n = len(problem.y)
    levels = int(n * rng.uniform(0.2, 0.5)) + 2
    values = np.where(rng.random(n) < 0.5, problem.y, rng.integers(0, levels, n)).astype(np.int32)
    values[:2] = levels - 1, 0
    return replace(problem, columns=[*problem.columns, values], kinds=[*problem.kinds, "category"])


def as_rows(problem, columns=None):
    read, features = [], []
    for j, (values, kind) in enumerate(zip(columns or problem.columns, problem.kinds, strict=True)):
        labels = tuple(range(max(1, int(problem.columns[j].max()) + 1))) if kind == "category" else ()
        dtype = {"flag": np.int8, "category": np.int32, "number": np.float64}[kind]
        read.append(Column(f"x{j}", kind, np.ascontiguousarray(values, dtype=dtype), labels))
        features.append(Feature(f"x{j}", kind, labels))
    return Rows(len(read[0].values), [c.name for c in read], read), tuple(features)


def kernel_trees(problem, rules, n_threads=1):
    rows, features = as_rows(problem)
    options = C45Rules(**asdict(rules), n_threads=n_threads).for_kernel()
    weights = None if problem.weights is None else np.asarray(problem.weights, dtype=np.float64)
    trees = _kernel.grow_c45(code_rows(rows, n_threads), problem.y.astype(np.int32), weights, options)
    classes = tuple(range(rules.n_classes))
    return [Tree.from_arrays(arrays, features, classes, "gain_ratio") for arrays in trees]


def oracle_of(problem, rules):
    _, features = as_rows(problem)
    levels = [len(f.labels) for f in features]
    return C45(problem.columns, problem.kinds, levels, problem.y, problem.weights, rules)


def asked_rows(problem, rng):
    """The training rows with further gaps, and values from anywhere in their column."""
    columns = []
    for values, kind in zip(problem.columns, problem.kinds, strict=True):
        drawn = rng.choice(values, len(values))
        gap = np.nan if kind == "number" else -1
        columns.append(np.where(rng.random(len(values)) < 0.2, gap, drawn).astype(values.dtype))
    return columns


def check_answers(problem, oracle, root, tree, rng):
    columns = asked_rows(problem, rng)
    rows, _ = as_rows(problem, columns)
    asked = C45(columns, problem.kinds, oracle.n_levels, problem.y, None, oracle.rules).columns
    parts, shares, leaf = tree.part_rows(rows), tree.values_of_rows(rows), tree.apply_rows(rows)
    for i in range(min(20, rows.n_rows)):
        found = oracle.leaves_of(root, [column[i] for column in asked])
        own = slice(parts.start[i], parts.start[i + 1])
        assert np.allclose([part for _, part, _ in found], parts.part[own])
        expected = sum(part * np.array(values) for _, part, values in found)
        assert np.allclose(expected, shares[i])
        assert parts.part[own].max() == parts.part[own][parts.leaf[own] == leaf[i]]


@pytest.mark.parametrize("first", range(0, N_PROBLEMS, BATCH))
def test_same_trees_as_oracle(first):
    compared = divided = 0
    for seed in range(first, min(first + BATCH, N_PROBLEMS)):
        problem, rules = c45_problem(seed)
        oracle = oracle_of(problem, rules)
        grown, pruned = kernel_trees(problem, rules)
        root = oracle.grow()
        if oracle.doubtful:
            continue
        found = difference(root, grown)
        assert found is None, f"seed {seed}, {rules}: grown: {found}"
        root = oracle.prune(root)
        if oracle.doubtful:
            continue
        found = difference(root, pruned)
        assert found is None, f"seed {seed}, {rules}: pruned: {found}"
        check_answers(problem, oracle, root, pruned, np.random.default_rng([seed, 46]))
        compared += 1
        divided += grown.node_count > 1
        if seed % 10 == 0:
            assert [grown, pruned] == kernel_trees(problem, rules, n_threads=2)
    assert compared > 0.8 * BATCH
    assert divided > 0.3 * BATCH


def test_the_problems_try_everything():
    """Of the first problems enough have each rule on, gaps, weights, categories, and something to prune."""
    problems = [c45_problem(seed) for seed in range(100)]
    default = Rules(n_classes=2)
    for name in asdict(default):
        if name not in ("n_classes", "prune"):
            assert sum(getattr(r, name) != getattr(default, name) for _, r in problems) > 5, name
    assert sum("category" in p.kinds for p, _ in problems) > 30
    assert sum(any(map(oracle_of(p, r).has_many_values, range(len(p.kinds)))) for p, r in problems) > 5
    assert sum(p.weights is not None for p, _ in problems) > 30
    gaps = [
        np.isnan(c).any() if k == "number" else (c < 0).any()
        for p, _ in problems
        for c, k in zip(p.columns, p.kinds, strict=True)
    ]
    assert sum(map(bool, gaps)) > 50
    trees = [kernel_trees(problem, rules) for problem, rules in problems]
    assert sum(grown.node_count > 5 for grown, _ in trees) > 20
    assert sum(1 < pruned.node_count < grown.node_count for grown, pruned in trees) > 8
    assert sum((grown.n_node_samples == 0).any() for grown, _ in trees) > 5


def test_the_kernels_error_limits():
    rng = np.random.default_rng(0)
    for rule, method in enumerate(METHODS):
        for cf in (0.001, 0.05, 0.25, 0.3, 0.75):
            n = rng.uniform(0.05, 60, size=200)
            e = n * rng.choice([0, 0.01, 0.2, 0.6, 1], size=200)
            e = np.where(rng.random(200) < 0.3, np.minimum(np.round(e), n), e)
            n[:9] = np.arange(1, 10)
            e[:9] = n[:9] - 0.5  # where another rule begins
            kernel = [_kernel.error_limit(rule, cf, float(a), float(b)) for a, b in zip(e, n, strict=True)]
            np.testing.assert_allclose(kernel, n * upper_error(e, n, cf, method), rtol=1e-7, atol=1e-9)
