"""Many rows walk abreast: each form of a matrix ends in the same leaves; infinite values are refused."""

import numpy as np
import pytest

import thetatree as tt


def fitted(n_columns=5, missing=True):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, n_columns))
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=1.0) + rng.normal(size=3000) > 0).astype(int)
    return tt.CARTClassifier(min_samples_leaf=5).fit(X, y), X


def one_by_one(tree, X):
    """Follow each row by the tree's own arrays."""
    leaves = np.zeros(len(X), dtype=np.int64)
    for i, row in enumerate(X):
        node = 0
        while not tree.is_leaf[node]:
            value = row[tree.feature[node]]
            branch = tree.missing_branch[node] if np.isnan(value) else int(not value <= tree.threshold[node])
            node = tree.child[tree.child_start[node] + branch]
        leaves[i] = node
    return leaves


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 2047, 2049, 5000])
def test_leaves_of_every_form(dtype, n):
    model, X = fitted()
    X = np.resize(X, (n, X.shape[1])).astype(dtype)
    expected = one_by_one(model.tree_, X.astype(np.float64))
    wide = np.zeros((n, 11), dtype=dtype)
    wide[:, 1::2] = X
    for form in (X, np.asfortranarray(X), wide[:, 1::2]):
        for n_jobs in (1, 2):
            assert np.array_equal(model.set_params(n_jobs=n_jobs).apply(form), expected)


def test_whole_numbers_and_thresholds_between_floats():
    """A float32 threshold is rounded so that no comparison with a float32 value changes."""
    X = np.nextafter(np.float32(1.0), np.float32(2.0)) * np.ones((4000, 1), dtype=np.float32)
    X[::2] = 1.0
    y = (X[:, 0] > 1).astype(int)
    model = tt.CARTClassifier().fit(X, y)
    assert model.get_n_leaves() == 2
    assert np.array_equal(model.predict(X), y)
    whole = np.arange(6000).reshape(-1, 1) % 7
    model = tt.CARTClassifier().fit(whole, whole[:, 0])
    assert np.array_equal(model.predict(whole), whole[:, 0])
    assert np.array_equal(model.predict(whole.astype(np.uint8)), whole[:, 0])


def test_flags_in_one_matrix():
    rng = np.random.default_rng(2)
    X = rng.random((5000, 70)) < 0.4
    y = X[:, 3] ^ X[:, 60]
    model = tt.CARTClassifier(max_depth=4).fit(X, y)
    assert np.array_equal(model.predict(X), model.predict(X.astype(np.int8)))
    assert np.array_equal(model.predict(X), model.predict(np.asfortranarray(X)))


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [10, 6000])
def test_infinite_values_are_refused(n, dtype, order):
    model, X = fitted(missing=False)
    X = np.resize(X, (n, X.shape[1])).astype(dtype)
    X[n - 3, 2] = -np.inf
    form = {"C": X, "F": np.asfortranarray(X), "strided": np.repeat(X, 2, axis=1)[:, ::2]}[order]
    with pytest.raises(ValueError, match="contains infinity: column 'x2'"):
        model.predict(form)
