"""The ONNX model, run by onnxruntime, against `predict` on random models."""

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from export.test_exports import chain
from naive.models import random_model

import thetatree as tt


def feed(session, case):
    """The case's table as the model's inputs."""
    out = {}
    for one in session.get_inputs():
        values = [None if pd.isna(v) else v for v in case.table[one.name].tolist()]
        if one.type == "tensor(string)":
            out[one.name] = np.array([["" if v is None else v] for v in values], dtype=object)
        else:
            out[one.name] = np.array([[np.nan if v is None else float(v)] for v in values])
    return out


def check(case):
    model = tt.export.to_onnx(case.model)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(None, feed(session, case)), strict=True))
    assert np.array_equal(found["leaf"], case.leaves), case.name
    if case.shares is None:
        assert found["value"].tolist() == case.predictions, case.name
    else:
        assert found["label"].tolist() == case.predictions, case.name
        assert np.array_equal(found["probabilities"], case.shares), case.name


def without_empty_texts(case):
    """A string of ONNX is never missing: where the empty text is a label, a missing value cannot be given."""
    return all("" not in feature.labels for feature in case.tree.features)


def test_against_predict():
    cases = [random_model(seed) for seed in range(50)]
    fit = [case for case in cases if without_empty_texts(case) and not case.tree.fractional]
    assert len(fit) > 20
    for case in fit:
        check(case)


def test_columns_are_coded_by_their_labels():
    X = pd.DataFrame(
        {"city": ["Århus", "Oslo", "", "Bern"] * 5, "code": pd.Categorical([10, 20, 30, 40] * 5)}
    )
    model = tt.CARTRegressor().fit(X, [1.0, 2.0, 3.0, 4.0] * 5)
    session = onnxruntime.InferenceSession(tt.export.to_onnx(model).SerializeToString())
    inputs = {one.name: one.type for one in session.get_inputs()}
    assert inputs == {"city": "tensor(string)"} or inputs == {"code": "tensor(double)"}
    flags = tt.CARTClassifier().fit(X[["code"]], [True, False, True, True] * 5)
    session = onnxruntime.InferenceSession(tt.export.to_onnx(flags).SerializeToString())
    said = session.run(["label"], {"code": np.array([[10.0], [20.0], [99.0]])})[0]
    assert said.tolist() == flags.predict(pd.DataFrame({"code": pd.Categorical([10, 20, 99])})).tolist()


def test_one_leaf():
    model = tt.CARTClassifier().fit([[1.0], [1.0], [1.0]], ["a", "b", "b"])
    session = onnxruntime.InferenceSession(tt.export.to_onnx(model).SerializeToString())
    leaf, label, shares = session.run(None, {"x0": np.array([[1.0], [np.nan]])})
    assert (leaf.tolist(), label.tolist()) == ([0, 0], ["b", "b"])
    assert np.allclose(shares, [[1 / 3, 2 / 3]] * 2)


def test_float32_data_is_exact_as_double():
    X = np.random.default_rng(0).normal(size=(500, 2)).astype(np.float32)
    model = tt.CARTRegressor().fit(X, X[:, 0] * X[:, 1])
    session = onnxruntime.InferenceSession(tt.export.to_onnx(model).SerializeToString())
    found = session.run(["value"], {f"x{j}": X[:, [j]].astype(np.float64) for j in range(2)})[0]
    assert np.array_equal(found, model.predict(X))


def test_what_it_cannot_is_refused():
    with pytest.raises(ValueError, match=r"4,000 tests deep.*the limit is 1,000"):
        tt.export.to_onnx(chain(4000))
    mixed = pd.DataFrame({"code": pd.Series(["a", 1, "b", 2] * 3, dtype=object)})
    with pytest.raises(ValueError, match=r"column 'code' has texts and numbers.*one type"):
        tt.export.to_onnx(tt.CARTClassifier().fit(mixed, [0, 1, 1, 0] * 3))
    huge = pd.DataFrame({"id": pd.Categorical([2**53, 2**53 + 1] * 3)})
    with pytest.raises(ValueError, match=r"the label 9007199254740993, which is no float64"):
        tt.export.to_onnx(tt.CARTClassifier().fit(huge, [0, 1] * 3))
    named = pd.DataFrame({"": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"no inputs without a name"):
        tt.export.to_onnx(tt.CARTRegressor().fit(named, [0, 1]))
