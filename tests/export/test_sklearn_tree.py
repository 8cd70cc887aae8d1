"""The tree as scikit-learn's, against `predict`; SHAP and dtreeviz run on it."""

import re
import shutil

import matplotlib
import numpy as np
import pandas as pd
import pytest
from export.engines import lacking
from naive.models import random_model
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, export_text

import thetatree as tt

matplotlib.use("Agg")


KINDS = ("classifier", "regressor", "aid", "thaid", "hand")


def check(case):
    """Rows that are float32 end in the same leaf; return whether scikit-learn can have the tree."""
    try:
        theirs = tt.export.to_sklearn(case.model)
    except ValueError as error:  # thresholds made to be neighbours
        assert re.search(r"is cut at .* no float32", str(error))
        return False
    table = case.table.astype(object).where(case.table.notna(), np.nan).astype(np.float64)
    table = table.fillna(0.0) if theirs.criterion == "absolute_error" else table
    X = table.astype(np.float32)
    own = case.tree
    leaves = own.apply(X.astype(np.float64))
    X = X if hasattr(case.model, "feature_names_in_") else X.to_numpy()
    assert np.array_equal(theirs.apply(X), leaves)
    if own.classes is None:
        assert np.array_equal(theirs.predict(X), own.values[leaves, 0])
    else:
        assert np.array_equal(theirs.predict_proba(X), own.values[leaves])
        assert theirs.predict(X).tolist() == [own.classes[k] for k in own.values.argmax(axis=1)[leaves]]
    assert theirs.get_depth() == own.max_depth and theirs.get_n_leaves() == own.n_leaves
    assert theirs.decision_path(X).shape == (len(X), own.node_count)
    return True


def test_against_predict():
    done = [check(random_model(seed, kinds=KINDS, binary_numbers=True)) for seed in range(40)]
    assert sum(done) > 20


def test_it_is_scikit_learns_own():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.astype(np.float32)
    ours = tt.CARTClassifier(max_depth=4).fit(X, y)
    theirs = tt.export.to_sklearn(ours, X)
    assert type(theirs) is DecisionTreeClassifier
    assert theirs.classes_.tolist() == [0, 1]
    assert theirs.feature_names_in_.tolist() == X.columns.tolist()
    assert np.array_equal(theirs.predict(X), ours.predict(X))
    assert "worst" in export_text(theirs, feature_names=X.columns.tolist())
    assert np.allclose(theirs.feature_importances_, ours.feature_importances_)
    assert clone(theirs).fit(X, y).get_depth() > 0


@pytest.mark.filterwarnings("ignore")  # of shap's own, about matplotlib and numpy
def test_shap_explains_it():
    """SHAP values add up to the prediction, for a classifier and a regression."""
    import shap

    X, y = load_breast_cancer(return_X_y=True)
    X = X.astype(np.float32)
    model = tt.CARTClassifier(max_depth=4).fit(X, y)
    explainer = shap.TreeExplainer(tt.export.to_sklearn(model, X))
    values = explainer.shap_values(X[:50])
    assert np.allclose(values.sum(axis=1) + explainer.expected_value, model.predict_proba(X[:50]))
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    regressor = tt.CARTRegressor(max_depth=4).fit(X, y)
    explainer = shap.TreeExplainer(tt.export.to_sklearn(regressor, X))
    values = explainer.shap_values(X[:50])
    assert np.allclose(values.sum(axis=1) + explainer.expected_value, regressor.predict(X[:50]))


@pytest.mark.filterwarnings("ignore")  # of dtreeviz's own
def test_dtreeviz_draws_it():
    import dtreeviz

    if not shutil.which("dot"):
        lacking("graphviz")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5].astype(np.float32)
    theirs = tt.export.to_sklearn(tt.CARTClassifier(max_depth=3).fit(X, y), X)
    view = dtreeviz.model(
        theirs,
        X_train=X,
        y_train=y,
        feature_names=X.columns.tolist(),
        target_name="y",
        class_names=["m", "b"],
    )
    drawing = view.view(fontname="DejaVu Sans").svg()
    assert drawing.count("<g") > theirs.tree_.node_count
    assert "mean" in view.explain_prediction_path(X.iloc[0].to_numpy())


def test_flags_change_sides():
    X = pd.DataFrame({"g": [True, True, False, False], "x": [1.0, 2.0, 3.0, 4.0]})
    ours = tt.CARTClassifier().fit(X, [1, 1, 0, 0])
    theirs = tt.export.to_sklearn(ours, X)
    assert ours.tree_.kind[0] == 2
    assert theirs.tree_.threshold[0] == 0.5
    assert theirs.predict(pd.DataFrame({"g": [1, 0], "x": [0, 0]})).tolist() == [1, 0]


def test_trees_from_sketches_know_their_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"key": np.arange(2000), "a": rng.random(2000) < 0.5, "b": rng.random(2000) < 0.3})
    frame["y"] = np.where(frame.a & (rng.random(2000) < 0.9), "yes", "no")
    sketches = tt.sketch(frame, key="key", target="y")
    model = tt.ThetaSketchDecisionTreeClassifier().fit(sketches, {"b": 1, "a": 3})
    X = rng.integers(0, 2, size=(100, 4)).astype(float)
    theirs = tt.export.to_sklearn(model, X)
    assert theirs.n_features_in_ == 4 and 3 in theirs.tree_.feature
    assert theirs.predict(X).tolist() == model.predict(X).tolist()


def test_what_it_cannot_is_refused():
    X = pd.DataFrame({"city": ["a", "b", "a", "b"], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(ValueError, match=r"splits the categories of column 'city'.*thresholds only"):
        tt.export.to_sklearn(tt.CARTClassifier().fit(X, [0, 1, 0, 1]))
    close = 1e9 + np.arange(4) / 8
    with pytest.raises(ValueError, match=r"column 'x0' is cut at 1000000000\.0625 and at .*no float32"):
        tt.export.to_sklearn(tt.CARTRegressor().fit(close[:, np.newaxis], [0, 1, 0, 1]))
    with pytest.raises(ValueError, match=r"column 'x0' is cut at 1.5e\+200, beyond float32"):
        tt.export.to_sklearn(tt.CARTRegressor().fit([[1e200], [2e200]], [0, 1]))
    one_cut = tt.CARTRegressor().fit(close[:2, np.newaxis], [0, 1])
    with pytest.raises(
        ValueError, match=r"1 of 2 rows end elsewhere in scikit-learn.*row 1: leaf 1 instead of 2"
    ):
        tt.export.to_sklearn(one_cut, close[:2, np.newaxis])
