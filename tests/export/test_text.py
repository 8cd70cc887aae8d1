"""to_text against its golden files; THETATREE_WRITE_GOLDEN=1 rewrites them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import thetatree as tt
from thetatree.demo import make_customers

GOLDEN = Path(__file__).parents[1] / "golden"


def iris():
    data = load_iris(as_frame=True)
    return tt.export.to_text(tt.CARTClassifier(max_depth=3).fit(data.data, data.target_names[data.target]))


def customers():
    X, y = make_customers(3000)
    model = tt.CARTClassifier(criterion="entropy", max_depth=4, min_samples_leaf=40).fit(X, y)
    return tt.export.to_text(model, decimals=2)


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return tt.export.to_text(tt.CARTRegressor(max_depth=5, min_samples_leaf=20).fit(X, y), max_depth=2)


def weighted():
    X = pd.DataFrame({"x": [1.0, 2.0, np.nan, np.nan], "c": pd.Categorical([3, 4, 3, 4])})
    model = tt.CARTRegressor().fit(X, [1e-9, 123456789.0, 5, 6], sample_weight=[1, 2.5, 1, 1])
    return tt.export.to_text(model)


def one_leaf():
    return tt.export.to_text(tt.CARTClassifier().fit([[1.0], [1.0]], [True, False]))


@pytest.mark.parametrize("make", [iris, customers, diabetes, weighted, one_leaf], ids=lambda f: f.__name__)
def test_golden(make):
    text = make() + "\n"
    path = GOLDEN / f"to_text_{make.__name__}.txt"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_of_a_tree_or_an_estimator():
    model = tt.CARTClassifier(max_depth=2).fit([[1], [2], [3]], [0, 1, 0])
    assert tt.export.to_text(model) == tt.export.to_text(model.tree_)


def test_depth_is_cut_and_counted():
    rng = np.random.default_rng(0)
    model = tt.CARTClassifier().fit(rng.normal(size=(200, 3)), rng.integers(0, 2, 200))
    tree = model.tree_
    whole = tt.export.to_text(model, max_depth=None).splitlines()
    assert len(whole) == 1 + tree.node_count
    for depth in (0, 1, 3):
        lines = tt.export.to_text(model, max_depth=depth).splitlines()
        hidden = sum(
            int(line.split("... ")[1].split()[0].replace(",", "")) for line in lines if "..." in line
        )
        shown = sum("..." not in line for line in lines) - 1
        assert shown == (tree.depth <= depth).sum()
        assert shown + hidden == tree.node_count
