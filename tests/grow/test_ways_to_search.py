"""However numbers are searched (bins, lists, sorting; one thread or two), the tree is the same."""

import numpy as np
import pytest
from naive.kernel_tree import kernel_tree
from naive.problems import Problem

import thetatree as tt

BY_SORTING = {"binned_from": 10**9, "listed_to": 0}
WAYS = {
    "full ranks": {"most_bins": 0, **BY_SORTING},
    "bins": {"most_bins": 255, "binned_from": 2, "listed_to": 0},
    "few bins": {"most_bins": 7, "binned_from": 2, "listed_to": 0},
    "bins and lists": {"most_bins": 60, "binned_from": 400, "listed_to": 700},
    "lists": {"most_bins": 60, "binned_from": 10**9, "listed_to": 10**9},
}
CRITERIA = [
    "gini",
    "entropy",
    "chi_square",
    "gain_ratio",
    "theta",
    "squared_error",
    "absolute_error",
    "poisson",
]


def test_any_order_of_many_columns_gives_the_same_predictions():
    """More columns of bins than one block of them holds; so few levels that no lists are kept."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3000, 70))
    y = x[:, 66] * (x[:, 3] > 0) + x[:, 40] + rng.normal(size=3000)
    weight = rng.uniform(0.5, 2, 3000)
    for model, target in (
        (tt.CARTRegressor(max_depth=2), y),
        (tt.CARTClassifier(max_depth=2), (y > np.median(y)).astype(int)),
    ):
        plain = model.fit(x, target, sample_weight=weight)
        assert model.tree_.feature[0] in (40, 66)
        expected = plain.predict(x)
        turned = model.fit(x[:, ::-1], target, sample_weight=weight).predict(x[:, ::-1])
        np.testing.assert_allclose(turned, expected)


def test_float32_is_binned_as_the_same_numbers_in_float64():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 4)).astype(np.float32)
    y = (x[:, 0] + x[:, 3] * (x[:, 1] > 0) + rng.normal(size=4000) > 0).astype(int)
    narrow, wide = (tt.CARTClassifier(max_depth=5).fit(X, y).tree_ for X in (x, x.astype(float)))
    assert narrow == wide
    assert len(set(narrow.feature[~narrow.is_leaf])) > 2


def problem_of(criterion, n_classes, shape, n=2500):
    rng = np.random.default_rng(n_classes)
    x = rng.normal(size=(n, 5))
    x[:, 1] = np.where(rng.random(n) < 0.6, 0.0, x[:, 1])  # one value fills most bins
    x[:, 2] = np.round(x[:, 2], 2)
    x[:, 3] = x[:, 3].astype(np.float32)
    x[:, 4] = np.exp(3 * x[:, 4])
    latent = (
        x[:, 0]
        + np.where(x[:, 1] > 0, x[:, 2], x[:, 3])
        + (0.5 if shape != "noise" else 50) * rng.normal(size=n)
    )
    if shape == "missing":
        x[rng.random(x.shape) < 0.15] = np.nan
    weights = rng.integers(1, 9, n) / 4 if shape == "weighted" else None
    y = (
        latent
        if n_classes == 0
        else np.searchsorted(np.quantile(latent, np.arange(1, n_classes) / n_classes), latent)
    )
    if criterion == "poisson":
        y = np.round(np.exp(latent / 3))
    settings = {
        "task": "classification" if n_classes else "regression",
        "criterion": criterion,
        "n_classes": n_classes,
        "max_depth": 7,
        "min_samples_split": 2,
        "min_samples_leaf": 3,
        "min_weight_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "min_impurity_split": 0.0,
        "max_categories": 5,
        "missing": "learnt",
    }
    return Problem(0, list(x.T), ["number"] * 5, y, weights, settings)


@pytest.mark.parametrize("shape", ["plain", "missing", "weighted", "noise"])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_same_tree_by_every_way(criterion, shape):
    regression = CRITERIA.index(criterion) >= CRITERIA.index("squared_error")
    for n_classes in (0,) if regression else (2, 3, 7):
        problem = problem_of(criterion, n_classes, shape)
        expected = kernel_tree(problem, most_bins=255, **BY_SORTING)
        assert expected.node_count > 10
        for name, way in WAYS.items():
            tree = kernel_tree(problem, **way)
            where = f"{name}, {n_classes} classes"
            assert np.array_equal(tree.feature, expected.feature), where
            assert np.array_equal(tree.threshold, expected.threshold, equal_nan=True), where
            assert np.array_equal(tree.missing_branch, expected.missing_branch), where
            assert np.array_equal(tree.n_node_samples, expected.n_node_samples), where


@pytest.mark.parametrize("n_classes", [0, 2, 5])
def test_same_tree_by_two_threads(n_classes):
    """Enough rows that large nodes are shared and small ones are handed out."""
    problem = problem_of("gini" if n_classes else "squared_error", n_classes, "plain", n=60_000)
    problem.settings["max_depth"] = None
    one, two = (kernel_tree(problem, n_threads=n, most_bins=255) for n in (1, 2))
    assert one == two
    assert one.max_depth > 10
