"""Trees from sketches: at every node the parts add up to the whole, and each count is what the rule says.

THETATREE_CONSERVED_TREES sets how many trees are grown of each kind of set.
"""

import itertools
import math
import os

import numpy as np
import pytest
from naive import sketched
from naive.resolution import tested_of as things_tested

from thetatree import _kernel
from thetatree.sketch import sources as counting

CASES = [
    case
    for case in itertools.product(
        ("per_class", "one_vs_all", "class_free"), ("direct", "built", "owners", "days")
    )
    if case != ("one_vs_all", "built")
]
SUBSET = 3
TREES = int(os.environ.get("THETATREE_CONSERVED_TREES", "8"))
RULES = {
    "criterion": 0,
    "max_depth": 4,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_leaf": 0,
    "min_impurity_decrease": 0,
    "min_impurity_split": 0,
    "max_leaf_nodes": -1,
    "max_features": 0,
    "max_categories": 10,
    "positive_gain": False,
    "min_score": 0,
    "min_gain": 0,
    "significance": 0,
    "min_held": 0,
    "seed": 0,
    "n_threads": 1,
}


def grown(sources, **rules):
    column = sources.data.column
    return _kernel.grow_from_sketches(
        column.hashes,
        column.offsets,
        column.thetas,
        sources.classes,
        sources.exact_n,
        sources.cells,
        {**RULES, **rules, "class_weight": [1.0] * len(sources.labels)},
    )


def conserved(node, left, right):
    """The design's rule for one class: (count, variance) of the parts of a node."""
    (n, v), (p, vp), (a, va) = node, left, right
    if n <= 0:
        return (0.0, 0.0), (0.0, 0.0)
    if a <= 0:
        part, variance = n, 0.0
    elif v < vp + va:
        part = min(max(p + (n - p - a) * vp / (vp + va), 0.0), n)
        variance = vp * va / (vp + va)
    else:
        part = n * p / (p + a)
        share = part / n
        variance = (1 - share) ** 2 * vp + share**2 * va
    share = part / n
    return (part, share**2 * v + variance), (n - part, (1 - share) ** 2 * v + variance)


def estimate(sources, klass, allowed):
    hashes, tau = sources.resolve(klass, allowed)
    n = len(hashes) / tau
    return n, n * (1 - tau) / tau, len(hashes)


def children_cells(tree, node, sources, allowed):
    """The cells that a split sends left and right, as far as the node allows them.

    A value that a category split does not list goes right, as in routing.
    """
    place = int(tree["feature"][node])
    one = things_tested(sources.data)[place]
    n = len(one.values)
    marks = allowed.get(place, [1] * (n + 2))
    if tree["kind"][node] == SUBSET:
        start = [*tree["category_start"], len(tree["category"])]
        left = {int(cell) for cell in tree["category"][start[node] : start[node + 1]]}
    elif one.kind == "threshold":
        left = {*range(int(tree["threshold"][node]) + 1)}
    else:
        left = {0}
    if tree["missing_branch"][node] == 0:
        left.add(n + 1)
    sides = [[int(m and (cell in left) is side) for cell, m in enumerate(marks)] for side in (True, False)]
    return place, *sides


def check_tree(tree, sources):
    """Walk from the root, carrying what each node allows."""
    classes = range(len(sources.labels))
    count = tree["count"].reshape(-1, len(sources.labels))
    variance = tree["variance"].reshape(count.shape)
    assert (count >= 0).all()
    assert (variance >= 0).all()
    assert np.isfinite(count).all()
    for c in classes:
        n, v, _ = estimate(sources, c, {})
        exact = sources.exact_n[c]
        expected = (n, v) if exact < 0 else (exact, 0)
        assert (count[0, c], variance[0, c]) == pytest.approx(expected)
    open_nodes, splits = [(0, {})], 0
    while open_nodes:
        node, allowed = open_nodes.pop()
        assert tree["held"][node] == sum(estimate(sources, c, allowed)[2] for c in classes)
        if tree["kind"][node] == 0:
            continue
        splits += 1
        first = tree["child_start"][node]
        left, right = (int(child) for child in tree["child"][first : first + 2])
        place, *cells = children_cells(tree, node, sources, allowed)
        sides = [{**{p: m for p, m in allowed.items() if p != place}, place: marks} for marks in cells]
        for c in classes:
            assert math.isclose(count[left, c] + count[right, c], count[node, c], rel_tol=1e-9, abs_tol=1e-9)
            parts = [estimate(sources, c, side)[:2] for side in sides]
            expected = conserved((count[node, c], variance[node, c]), *parts)
            found = [(count[child, c], variance[child, c]) for child in (left, right)]
            assert np.ravel(found) == pytest.approx(np.ravel(expected), rel=1e-9, abs=1e-6)
        open_nodes += zip((left, right), sides, strict=True)
    return splits


@pytest.mark.parametrize("case", CASES, ids=map("-".join, CASES))
def test_parts_add_up_and_are_what_the_rule_says(case):
    splits = 0
    for seed in range(TREES):
        rng = np.random.default_rng([11, seed, CASES.index(case)])
        _, made = sketched.make(rng, *case)
        sources = counting.sources_of(made.data, counting.tested_features(made.data))
        tree = grown(sources, criterion=int(rng.integers(0, 2)))
        splits += check_tree(tree, sources)
    assert splits > 20
