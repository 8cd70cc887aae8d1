"""Targets and weights in every container."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import thetatree as tt

X = np.arange(6.0)[:, None]
LABELS = ["a", "a", "b", "b", "c", "c"]


@pytest.mark.parametrize(
    "y",
    [
        LABELS,
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        pd.Series(LABELS),
        pd.Series(LABELS, dtype="category"),
        pd.Series(LABELS, dtype="string"),
        pd.array(LABELS, dtype="string"),
        pl.Series(LABELS),
        pl.Series(LABELS, dtype=pl.Categorical),
        pa.array(LABELS),
        pa.chunked_array([LABELS[:2], LABELS[2:]]),
        pd.Index(LABELS),
    ],
    ids=lambda y: type(y).__module__.split(".")[0] + "-" + str(getattr(y, "dtype", type(y).__name__)),
)
def test_text_labels(y):
    model = tt.CARTClassifier().fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(X).tolist() == LABELS


@pytest.mark.parametrize("dtype", ["int64", "Int64", "UInt8", "float64", "Float64", "int64[pyarrow]"])
def test_numbers_as_pandas(dtype):
    y = pd.Series([3, 3, 1, 1, 2, 2], dtype=dtype)
    assert tt.CARTClassifier().fit(X, y).predict(X).tolist() == [3, 3, 1, 1, 2, 2]
    assert tt.CARTRegressor().fit(X, y).predict(X).tolist() == [3, 3, 1, 1, 2, 2]


def test_nullable_booleans():
    y = pd.Series([True, True, False, False, True, False], dtype="boolean")
    assert tt.CARTClassifier().fit(X, y).predict(X).tolist() == y.tolist()


def test_a_column_vector_warns_as_in_scikit_learn():
    with pytest.warns(Warning, match=r"column-vector y"):
        tt.CARTClassifier().fit(X, np.array([[0], [0], [1], [1], [2], [2]]))


@pytest.mark.parametrize(
    "y",
    [
        ["a", None] * 3,
        np.array(["a", np.nan] * 3, dtype=object),
        pd.Series(["a", pd.NA] * 3, dtype="string"),
        pd.Series(["a", pd.NA] * 3, dtype=object),
        pd.Series([1, pd.NA] * 3, dtype="Int64"),
        pd.Series([True, pd.NA] * 3, dtype="boolean"),
        pd.Series(["a", None] * 3, dtype="category"),
        pl.Series(["a", None] * 3),
        pl.Series([1, None] * 3),
        np.array([0.0, np.nan] * 3),
    ],
    ids=str,
)
def test_missing_labels_are_refused_by_row(y):
    with pytest.raises(ValueError, match=r"y contains NaN.*row 1 .*3 of 6"):
        tt.CARTClassifier().fit(X, y)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1000])
def test_many_classes(n):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.concatenate([np.arange(n), rng.integers(0, n, 2 * n)]))
    x = (y + 0.25 * rng.random(len(y)))[:, None]
    for labels in (y, y - 5, y.astype(np.int16), y.astype(str)):
        model = tt.CARTClassifier().fit(x, labels)
        assert model.classes_.tolist() == np.unique(labels).tolist()
        assert (model.predict(x) == labels).all()


@pytest.mark.parametrize(
    "weight",
    [
        [1, 2, 3, 1, 2, 3],
        np.array([1, 2, 3, 1, 2, 3], dtype=np.float32),
        pd.Series([1, 2, 3, 1, 2, 3]),
        pl.Series([1, 2, 3, 1, 2, 3]),
        np.array([1.0, 0, 2, 0, 3, 0, 1, 0, 2, 0, 3, 0])[::2],
    ],
    ids=lambda w: type(w).__name__,
)
def test_weights_in_any_container(weight):
    expected = tt.CARTClassifier(max_depth=1).fit(X, LABELS, sample_weight=[1.0, 2, 3, 1, 2, 3])
    assert tt.CARTClassifier(max_depth=1).fit(X, LABELS, sample_weight=weight).tree_ == expected.tree_
