"""What is written into a report, without a browser: safe text, the same bytes, the figures of judge."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import NASTY, sketched, table, target
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import r2_score, roc_auc_score

import thetatree as tt
from thetatree.report.page import page

GOLDEN = Path(__file__).parents[1] / "golden" / "report_iris.html"


def content(html):
    (text,) = re.findall(r'<script type="application/json" id="content">(.*?)</script>', html, re.S)
    return json.loads(text)


def iris(max_depth=2):
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    return tt.CARTClassifier(max_depth=max_depth).fit(data.data, y), data.data, y


def test_golden():
    """All but the style and the script, which stand as files in the package, and parameters left alone."""
    model, X, y = iris()
    text = page(model, (X, y), title="Irises", note="of 1936")
    text = re.sub(r"<style>.*?</style>", "<style>...</style>", text, flags=re.S)
    text = re.sub(r"<script>.*?</script>", "<script>...</script>", text, flags=re.S)
    text = re.sub(r'("(?:thetatree|scikit-learn|numpy|Python)"),"[^"]*"', r'\1,"?"', text)
    text = re.sub(r'\["\w+","[^"]*",false\],?', "", text)
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model, X, y = iris()
    path = model.report(tmp_path / "a.html", (X, y))
    assert path == tmp_path / "a.html"
    assert path.read_bytes() == model.report(str(tmp_path / "b.html"), (X, y)).read_bytes()
    assert model.tree_.report(tmp_path / "c.html").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.html", "b.html", "c.html"]


def test_no_name_ends_the_script():
    rng = np.random.default_rng(0)
    frame = table(rng)
    model = tt.CARTClassifier(max_depth=5).fit(frame, target(rng, frame, 6))
    text = page(model, title="</title><script>")
    assert text.count("<script") == text.count("</script>") == 2
    assert "{{" not in text.replace("`${", "").split("<script>")[0]
    assert {f["name"] for f in content(text)["features"]} == set(NASTY)
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", text)


def test_it_is_small():
    model, X, y = iris()
    assert len(page(model, (X, y)).encode()) < 110_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    big = tt.CARTClassifier(max_leaf_nodes=1000).fit(X, (X[:, 0] * X[:, 1] + rng.normal(size=5000) > 0))
    assert len(page(big).encode()) < 450_000


def test_conditions_and_bounds_are_those_of_the_tree():
    model, *_ = iris(4)
    found, tree = content(page(model)), model.tree_
    for rule, places in zip(tree.rules(), found["rules"], strict=True):
        assert tuple(found["words"][i] for i in places) == rule.conditions
    path = [found["tree"]["condition"][node] for node in range(1, 4)]
    assert path == ["petal length (cm) ≤ 2.45", "petal length (cm) > 2.45", "petal width (cm) ≤ 1.75"]
    segments = tt.judge.segments(model, target="virginica").frame.set_index("leaf")
    for leaf, line in segments.iterrows():
        k = 3 * int(leaf) + 2
        assert found["bounds"]["low"][k] == pytest.approx(line["lower"], rel=1e-3)
        assert found["bounds"]["high"][k] == pytest.approx(line["upper"], rel=1e-3)


def test_the_estimates_of_a_sketch_tree():
    model, _, _, sketches = sketched()
    tree = model.tree_
    found = content(page(model, sketches))
    assert found["estimates"]["count"] == pytest.approx(tree.estimates.count.ravel(), rel=1e-5)
    assert found["estimates"]["error"] == pytest.approx(1.96 * tree.estimates.node_error, rel=1e-5)
    assert "keys given" in found["data"]["what"]
    assert found["data"]["counts"][:2] == pytest.approx(tree.estimates.count[0], rel=0.02)


def test_what_is_said_of_classes():
    model, X, y = iris(3)
    X, y = X.iloc[::3], y[::3]
    found = content(page(model, (X, y)))["data"]
    assert ["Accuracy", f"{model.score(X, y):.1%}"] in found["figures"]
    for k, label in enumerate(model.classes_):
        score = model.predict_proba(X)[:, k]
        assert found["auc"][k] == pytest.approx(roc_auc_score(y == label, score))
    path = model.decision_path(X).toarray()
    assert found["n"] == path.sum(axis=0).tolist()
    counts = np.reshape(found["counts"], (-1, 3))
    for k, label in enumerate(model.classes_):
        assert counts[:, k].tolist() == path[y == label].sum(axis=0).tolist()
    assert [chart["kind"] for chart in found["charts"]] == ["gains", "roc", "calibration"] * 3


def test_what_is_said_of_numbers():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = tt.CARTRegressor(max_depth=3).fit(X[:300], y[:300])
    X, y = X[300:], y[300:].to_numpy()
    found = content(page(model, (X, y)))["data"]
    figures = dict(found["figures"])
    assert float(figures["R²"]) == pytest.approx(r2_score(y, model.predict(X)), abs=6e-4)
    error = np.sqrt(np.mean((y - model.predict(X)) ** 2))
    assert float(figures["Root mean squared error"]) == pytest.approx(error, rel=1e-3)
    path = model.decision_path(X).toarray().astype(bool)
    for node in range(model.tree_.node_count):
        if path[:, node].any():
            assert found["mean"][node] == pytest.approx(y[path[:, node]].mean(), rel=1e-5)
    hist = np.reshape(found["hist"], (model.tree_.node_count, -1))
    assert hist.sum(axis=1).tolist() == path.sum(axis=0).tolist()


def test_wrong_data_is_refused():
    model, X, y = iris()
    with pytest.raises(TypeError, match=r"a pair \(X, y\) or a SketchSet; got DataFrame"):
        page(model, X)
    with pytest.raises(ValueError, match="not a class of the tree"):
        page(model, (X, np.where(y == "setosa", "rose", y)))
    with pytest.raises(ValueError, match="not fitted"):
        tt.CARTClassifier().report("never.html")
    assert not Path("never.html").exists()


def test_equal_texts_of_labels_are_told_apart():
    frame = pd.DataFrame({"c": pd.Series([1, "1", 2, "2"] * 5, dtype=object)})
    model = tt.CARTClassifier().fit(frame, [0, 1, 1, 0] * 5)
    assert content(page(model))["features"][0]["labels"] == ["1", "2", "'1'", "'2'"]
