"""Sparse matrices whose entries are all one number, as one-hot data are: the tree of the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetatree as tt


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("value", [1, -2.5, 0.0, 7])
def test_same_tree_as_dense(value, dtype):
    if np.dtype(dtype).kind != "f":
        value = bool(value) if dtype == "bool" else int(value)
    rng = np.random.default_rng(0)
    held = rng.random((400, 30)) < rng.choice([0.0, 0.05, 0.4, 1.0], 30)
    y = (held[:, :8].sum(axis=1) + rng.normal(size=400) > 2).astype(int)
    rows, columns = np.nonzero(held)
    matrix = sp.csr_array((np.full(len(rows), value, dtype=dtype), (rows, columns)), shape=held.shape)
    dense = np.where(held, np.float64(value), 0.0)
    ours = tt.CARTClassifier(max_depth=6).fit(matrix, y)
    expected = tt.CARTClassifier(max_depth=6).fit(dense, y)
    for name in ("feature", "threshold", "n_node_samples", "values"):
        assert np.array_equal(getattr(ours.tree_, name), getattr(expected.tree_, name), equal_nan=True), name
    assert np.array_equal(ours.predict(matrix), expected.predict(dense))
