"""0/1 columns are packed to bits: whatever their type, order in memory and number, the tree is the same."""

import numpy as np
import pytest

import thetatree as tt

TYPES = ["float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def problem(n_columns, n=700):
    rng = np.random.default_rng(n_columns)
    X = rng.random((n, n_columns)) < rng.uniform(0.05, 0.95, n_columns)
    signal = X[:, 0].astype(int) + X[:, n_columns // 2] - X[:, -1] + rng.normal(scale=0.8, size=n)
    return X, np.digitize(signal, [0.0, 1.0])


def splits(model):
    tree = model.tree_
    return tree.feature.tolist(), tree.n_node_samples.tolist(), tree.values.tolist()


@pytest.mark.parametrize("n_columns", [1, 63, 64, 65, 130, 257, 330])
def test_types_and_orders(n_columns):
    X, y = problem(n_columns)
    expected = splits(tt.CARTClassifier(max_depth=6).fit(X.astype(np.float64) * 1.5, y))  # not packed
    for dtype in TYPES:
        typed = X.astype(dtype)
        wide = np.zeros((len(X), 2 * n_columns + 1), dtype=dtype)
        wide[:, 1::2] = typed
        unaligned = np.frombuffer(b"\0" + typed.tobytes(), dtype=np.uint8)[1:].view(dtype).reshape(X.shape)
        for form in (typed, np.asfortranarray(typed), wide[:, 1::2], typed[::-1], unaligned):
            target = y[::-1] if form.base is typed and form.strides[0] < 0 else y
            assert splits(tt.CARTClassifier(max_depth=6).fit(form, target)) == expected, dtype


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int16", "int64"])
@pytest.mark.parametrize("value", [2, 100, -1, 0.5, np.nan])
def test_one_other_value(dtype, value):
    """A column that turns out not to be 0/1 somewhere is coded as the number that it is."""
    if np.dtype(dtype).kind != "f" and (value != value or value % 1 or (value < 0 and dtype == "uint8")):
        pytest.skip("the type cannot hold it")
    X, y = problem(70, n=900)
    X = X.astype(dtype)
    X[611, 33] = value
    model = tt.CARTClassifier(max_depth=5).fit(X, y)
    again = tt.CARTClassifier(max_depth=5).fit(X.astype(np.float64) * 3, y)  # scaled: none is 0/1
    assert splits(model) == splits(again)


def test_regression_and_weights():
    X, y = problem(130)
    weight = np.arange(len(y)) % 5 / 4 + 0.25
    for model in (tt.CARTClassifier(max_depth=6), tt.CARTRegressor(max_depth=6)):
        expected = splits(model.fit(X.astype(np.float64) * 1.5, y, sample_weight=weight))
        assert splits(model.fit(X.astype(np.float32), y, sample_weight=weight))[0] == expected[0]
