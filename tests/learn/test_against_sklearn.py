"""scikit-learn's trees: the same leaves, impurities, training predictions and alphas, or a shown tie."""

import functools

import numpy as np
import pytest
from side_by_side import compare, merged
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import thetatree as tt

DEPTHS = [*range(1, 11), None]
LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
    "diabetes": load_diabetes,
}


@functools.cache
def real_data(name):
    X, y = LOADERS[name](return_X_y=True)
    return X.astype(np.float32).astype(np.float64), y


def pair(criterion, **parameters):
    if criterion in ("gini", "entropy", "log_loss"):
        return tt.CARTClassifier, DecisionTreeClassifier, {"criterion": criterion, **parameters}
    return tt.CARTRegressor, DecisionTreeRegressor, {"criterion": criterion, **parameters}


def check(X, y, criterion, weight=None, walk_weight=None, **parameters):
    """Fit both, compare; returns (our model, scikit-learn's, what the comparison found)."""
    ours_class, theirs_class, arguments = pair(criterion, **parameters)
    ours = ours_class(**arguments).fit(X, y, sample_weight=weight)
    theirs = theirs_class(random_state=0, **arguments).fit(X, y, sample_weight=weight)
    codes = y if not hasattr(ours, "classes_") else np.searchsorted(ours.classes_, y)
    least = parameters.get("min_samples_leaf", 1)
    done = compare(
        ours.tree_,
        theirs.tree_,
        X,
        codes,
        weight if walk_weight is None else walk_weight,
        criterion,
        min_leaf=least if isinstance(least, int) else 1,
    )
    if done.ties == 0:
        assert ours.get_n_leaves() == theirs.get_n_leaves()
        assert ours.get_depth() == theirs.get_depth()
        counted = X if weight is None else X[np.asarray(weight) > 0]
        for method in ("predict", "predict_proba") if hasattr(ours, "classes_") else ("predict",):
            assert np.allclose(
                getattr(ours, method)(counted), getattr(theirs, method)(counted), rtol=1e-9, atol=1e-12
            )
        if done.twins == 0:
            assert np.allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=1e-9)
    return ours, theirs, done


def check_alphas(X, y, criterion, **parameters):
    ours_class, theirs_class, arguments = pair(criterion, **parameters)
    ours = ours_class(**arguments).cost_complexity_pruning_path(X, y)
    theirs = theirs_class(random_state=0, **arguments).cost_complexity_pruning_path(X, y)
    size = max(1.0, float(theirs.impurities.max()))
    a, b = (merged(path.ccp_alphas, 1e-12 * size) for path in (ours, theirs))
    assert len(a) == len(b)
    assert np.allclose(a, b, rtol=0, atol=1e-12 * size)
    assert np.isclose(ours.impurities[0], theirs.impurities[0], rtol=0, atol=1e-12 * size)
    assert np.isclose(ours.impurities[-1], theirs.impurities[-1], rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_real_classification(name, criterion):
    X, y = real_data(name)
    compared_without_tie = 0
    for depth in DEPTHS:
        *_, done = check(X, y, criterion, max_depth=depth)
        compared_without_tie += done.ties == 0
        if done.ties == 0:
            check_alphas(X, y, criterion, max_depth=depth)
    assert compared_without_tie > 0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_real_regression(criterion):
    X, y = real_data("diabetes")
    compared_without_tie = 0
    for depth in DEPTHS:
        *_, done = check(X, y, criterion, max_depth=depth)
        compared_without_tie += done.ties == 0
        if done.ties == 0:
            check_alphas(X, y, criterion, max_depth=depth)
    assert compared_without_tie > 0


def random_set(seed):
    """Values exact in float32 and far enough apart for scikit-learn to tell them apart."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(10, 90)), int(rng.integers(1, 6))
    columns = []
    for _ in range(p):
        shape = rng.choice(["few", "grid", "normal", "large", "binary"])
        if shape == "few":
            x = rng.integers(0, 6, n)
        elif shape == "grid":
            x = rng.integers(-400, 400, n) / 64
        elif shape == "normal":
            x = np.round(rng.normal(size=n) * 2**14) / 2**14
        elif shape == "large":
            x = rng.integers(-(2**20), 2**20, n) * 8.0
        else:
            x = rng.integers(0, 2, n)
        columns.append(x)
    X = np.column_stack(columns).astype(np.float64)
    assert (X.astype(np.float32) == X).all()
    ranks = np.argsort(np.argsort(X[:, 0])) / n
    latent = rng.choice([0.0, 1.0]) * 3 * ranks + rng.normal(size=n)
    k = int(rng.integers(2, 6))
    classes = np.searchsorted(np.quantile(latent, np.linspace(0, 1, k + 1)[1:-1]), latent)
    numbers = np.round(latent * rng.choice([1, 4])) if rng.random() < 0.3 else latent * rng.choice([1, 1000])
    return X, classes, numbers


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
@pytest.mark.parametrize("first", range(0, 300, 100))
def test_random_sets(first, criterion):
    whole = 0
    for seed in range(first, first + 100):
        X, classes, numbers = random_set(seed)
        y = classes if criterion in ("gini", "entropy") else numbers
        for depth in (None, 1 + seed % 10):
            try:
                *_, done = check(X, y, criterion, max_depth=depth)
                if done.ties == 0:
                    whole += 1
                    if depth is None:
                        check_alphas(X, y, criterion)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {criterion}, depth {depth}: {error}") from error
    assert whole >= 20


def continuous(seed, n=150, p=4):
    """Noise everywhere, so that ties are rare; weights whose sums are exact, so that pure nodes are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32).astype(np.float64)
    latent = X[:, 0] + np.where(X[:, 1] > 0, X[:, 2], 0) + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(latent, [0.5, 0.8]), latent)
    return X, y, latent, rng.integers(4, 200, n) / 64


LIMITS = [
    {"min_samples_split": 12},
    {"min_samples_split": 0.1},
    {"min_samples_leaf": 7},
    {"min_samples_leaf": 0.06},
    {"min_weight_fraction_leaf": 0.04},
    {"min_impurity_decrease": 0.01},
    {"max_depth": 4, "min_samples_leaf": 5, "min_samples_split": 20},
    {"max_leaf_nodes": 7},
    {"max_leaf_nodes": 12, "min_samples_leaf": 4},
    {"ccp_alpha": 0.012},
]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_limits_and_weights(criterion, limits):
    whole = 0
    for seed in range(4):
        X, y, latent, weight = continuous(seed)
        target = y if criterion in ("gini", "entropy") else latent
        for w in (None, weight):
            *_, done = check(X, target, criterion, weight=w, **limits)
            whole += done.ties == 0
    assert whole > 0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_whole_and_zero_weights(criterion):
    for seed in range(20):
        X, classes, numbers = random_set(1000 + seed)
        weight = np.random.default_rng(seed).integers(0, 4, len(X)).astype(float)
        weight[0] = 1
        y = classes if criterion in ("gini", "entropy") else numbers
        check(X, y, criterion, weight=weight)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 3.5, 2: 0.25}])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_class_weight(criterion, class_weight):
    for seed in range(5):
        X, y, _, weight = continuous(seed)
        for w in (None, weight):
            if class_weight == "balanced":
                each = len(y) / (3 * np.bincount(y))
            else:
                each = np.array([class_weight[k] for k in range(3)])
            product = each[y] * (1 if w is None else w)
            check(X, y, criterion, weight=w, walk_weight=product, class_weight=class_weight)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_missing_values(criterion):
    whole = 0
    for seed in range(25):
        X, y, latent, weight = continuous(seed, n=80)
        rng = np.random.default_rng(seed)
        X[rng.random(X.shape) < rng.choice([0.05, 0.3])] = np.nan
        if seed % 3 == 0:
            X[latent > 0.5, 1] = np.nan  # missing says something
        target = y if criterion in ("gini", "entropy") else latent
        *_, done = check(X, target, criterion, weight=weight if seed % 2 else None, max_depth=5)
        whole += done.ties == 0
    assert whole > 0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
@pytest.mark.parametrize("best_first", [False, True])
def test_monotonic_constraints(criterion, best_first):
    for seed in range(12):
        X, y, latent, weight = continuous(seed, n=120, p=3)
        rng = np.random.default_rng(seed)
        signs = rng.integers(-1, 2, 3)
        target = (y > 0).astype(int) if criterion in ("gini", "entropy") else latent
        limits = {"max_leaf_nodes": 10} if best_first else {"max_depth": 6}
        # Weights, so that no value lies exactly on a bound, where scikit-learn's rounding decides.
        check(X, target, criterion, weight=weight, monotonic_cst=signs.tolist(), **limits)


@pytest.mark.parametrize("seed", range(8))
def test_poisson_deviance(seed):
    X, _, latent, weight = continuous(seed)
    y = np.exp(latent)
    check(X, y, "poisson", weight=weight if seed % 2 else None, max_depth=5)


@pytest.mark.parametrize("seed", range(6))
def test_same_route_for_new_rows(seed):
    """Where the trees are the same, so is every prediction, missing values of training columns included."""
    X, y, _, _ = continuous(seed, n=200)
    X[::7, 0] = np.nan
    ours, theirs, done = check(X, y, "gini", max_depth=3, min_samples_leaf=15)
    assert done.ties == done.twins == 0
    new = np.random.default_rng(seed).normal(size=(500, 4)).astype(np.float32).astype(np.float64)
    new[::5, 0] = np.nan
    assert np.allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=0, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("shape", ["plain", "weighted", "missing", "limited", "noise", "rounded"])
def test_more_rows_than_bins(criterion, shape):
    """Nodes of thousands of rows are searched by bins, of which only the promising are opened."""
    for seed in range(2):
        X, y, latent, weight = continuous(seed, n=4000, p=3)
        rng = np.random.default_rng(seed)
        if shape == "missing":
            X[rng.random(X.shape) < 0.2] = np.nan
        if shape == "rounded":
            X = np.round(X, 2)
        if shape == "noise":
            y, latent = rng.permutation(y), rng.permutation(latent)
        if seed:
            y = np.minimum(y, 1)
        target = y if criterion in ("gini", "entropy") else latent
        limits = {"min_samples_leaf": 150} if shape == "limited" else {"max_depth": 6}
        check(X, target, criterion, weight=weight if shape == "weighted" else None, **limits)
