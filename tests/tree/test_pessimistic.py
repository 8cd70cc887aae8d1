"""Pessimistic pruning of trees that other learners grew."""

import numpy as np
import pytest
from naive.pessimistic import pruned_leaves

import thetatree as tt
from thetatree.tree.pessimistic import estimated_errors, pessimistic_below


def grown(seed, n=200, **options):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 4)).astype(float)
    y = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), (X[:, 0] > 2) + (X[:, 1] > 3))
    return tt.CARTClassifier(**options).fit(X, y)


@pytest.mark.parametrize("limits", ["release8", "exact", "normal"])
@pytest.mark.parametrize("confidence", [0.05, 0.25, 0.6])
def test_same_leaves_as_the_naive_rule(limits, confidence):
    for seed in range(10):
        tree = grown(seed).tree_
        pruned = tree.prune(at=pessimistic_below(tree, confidence, limits))
        assert pruned.node_count < tree.node_count
        expected = pruned_leaves(tree, confidence, limits)
        assert sorted(pruned.weighted_n_node_samples[pruned.is_leaf].tolist()) == sorted(expected)


def test_a_smaller_confidence_prunes_more():
    tree = grown(3).tree_
    sizes = [tree.prune(at=pessimistic_below(tree, cf)).node_count for cf in (0.01, 0.25, 0.9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_a_pure_split_is_kept_and_noise_is_not():
    x = np.arange(40.0).reshape(-1, 1)
    clear = tt.CARTClassifier().fit(x, np.repeat([0, 1], 20)).tree_
    assert len(pessimistic_below(clear)) == 0
    y = np.repeat([0, 1], 20)
    y[[3, 30]] = 1 - y[[3, 30]]
    noisy = tt.CARTClassifier().fit(x, y).tree_
    assert noisy.prune(at=pessimistic_below(noisy)).n_leaves == 2


def test_cases_from_sketches_are_the_keys_that_are_held():
    import pandas as pd

    rng = np.random.default_rng(5)
    n = 4000
    flags = pd.DataFrame({f"f{j}": rng.random(n) < 0.5 for j in range(3)}).assign(id=range(n))
    flags["y"] = np.where(flags.f0 & (rng.random(n) < 0.8), "a", "b")
    sketches = tt.sketch(flags, key="id", target="y", lg_k=7)
    tree = tt.CARTClassifier().fit(sketches).tree_
    cases, errors = estimated_errors(tree)
    assert cases[0] < 1000 < tree.weighted_n_node_samples[0]
    assert (errors <= cases).all()


def test_regression_trees_are_refused():
    tree = tt.CARTRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).tree_
    with pytest.raises(ValueError, match="a regression tree has none"):
        pessimistic_below(tree)
