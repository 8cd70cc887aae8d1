"""Plots: what is drawn is what the tree and judge say."""

import builtins

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from cases import multiway, sketched, table, target
from matplotlib import pyplot
from sklearn.datasets import load_diabetes, load_iris

import thetatree as tt

mpl.use("agg")


@pytest.fixture(autouse=True)
def drawn():
    """Every figure can really be drawn."""
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    return tt.CARTClassifier(max_depth=3).fit(data.data, y), data.data, y


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_tree(iris):
    model, *_ = iris
    ax = tt.plot.tree(model)
    for test in ("all rows", "petal length (cm) ≤ 2.45", "versicolor 98%", "150"):
        assert test in texts(ax)
    assert texts(ax) == texts(tt.plot.tree(model.tree_))
    folded = texts(tt.plot.tree(model, max_depth=1))
    assert folded.count("…") == 1
    assert sum("petal" in text for text in folded) == 2
    with pytest.raises(ValueError, match="max_depth must be 0 or greater"):
        tt.plot.tree(model, max_depth=-1)


def test_trees_of_every_kind():
    rng = np.random.default_rng(0)
    frame = table(rng)
    model, *_ = sketched()
    assert any("±" in text for text in texts(tt.plot.tree(model)))
    assert "colour = 'blue'" in texts(tt.plot.tree(multiway()))
    big = tt.CARTClassifier().fit(frame, target(rng, frame, 6))
    assert len(texts(tt.plot.tree(big))) < 300
    tt.plot.tree(tt.CARTRegressor(max_depth=4).fit(frame, target(rng, frame, 0)))
    tt.plot.tree(tt.CARTRegressor().fit([[1.0], [1.0]], [2.0, 2.0]))


def test_names_are_no_mathematics():
    X = pd.DataFrame({"$a_b$ \\frac{": [1.0, 2, 3, 4], "_hidden": [1.0, 1, 2, 2]})
    model = tt.CARTClassifier().fit(X, ["_x$", "$y$", "_x$", "z"])
    for ax in (tt.plot.tree(model), tt.plot.importance(model), tt.plot.gains(model)):
        ax.figure.canvas.draw()


def test_importance(iris):
    model, *_ = iris
    ax = tt.plot.importance(model)
    names = [label.get_text() for label in ax.get_yticklabels()]
    order = np.argsort(-model.feature_importances_)
    assert names == [model.feature_names_in_[j] for j in order if model.feature_importances_[j] > 0]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(
        [x for x in np.sort(model.feature_importances_)[::-1] if x > 0]
    )
    assert len(tt.plot.importance(model, top=1).patches) == 1
    tt.plot.importance(tt.CARTClassifier().fit([[1.0], [1.0]], [0, 1]))


def test_cp(iris):
    _, X, y = iris
    model = tt.CARTClassifier(ccp_alpha="cv-1se", random_state=0).fit(X, y)
    table = model.cp_table_
    ax = tt.plot.cp(model)
    line, *_ = ax.containers[0].lines
    assert line.get_ydata() == pytest.approx(table["xerror"].to_numpy())
    best = table.loc[table["xerror"].idxmin()]
    dashed = next(one for one in ax.lines if one.get_linestyle() == "--")
    assert dashed.get_ydata()[0] == pytest.approx(best["xerror"] + best["xstd"])
    rings = {one.get_xdata()[0] for one in ax.lines if one.get_fillstyle() == "none"}
    assert rings == set(np.flatnonzero(table["choice"] != ""))
    assert len(tt.plot.cp(table).lines) == len(ax.lines)
    long = pd.concat([table] * 12, ignore_index=True)
    assert len(tt.plot.cp(long).containers) == 0  # a band, no bars
    with pytest.raises(ValueError, match="fit it with ccp_alpha='cv'"):
        tt.plot.cp(tt.CARTClassifier().fit(X, y))
    with pytest.raises(ValueError, match="lacks the column 'xstd'"):
        tt.plot.cp(table.drop(columns="xstd"))


def test_gains_and_calibration(iris):
    model, X, y = iris
    for plot in (tt.plot.gains, tt.plot.calibration):
        ax = plot(model)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == list(model.classes_)
        assert "grown from" in ax.get_title()
        ax = plot(model, X, y, target="virginica")
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["virginica"]
        assert "data given" in ax.get_title()
    frame = tt.judge.segments(model, X, y, target="virginica").gains().frame
    line = tt.plot.gains(model, X, y, target="virginica").lines[1]
    assert line.get_ydata()[1:] == pytest.approx(frame["captured"].to_numpy())


def test_of_numbers_and_of_sketches():
    X, y = load_diabetes(return_X_y=True)
    model = tt.CARTRegressor(max_depth=3).fit(X, y)
    line, *_ = tt.plot.calibration(model, X, y).containers[0].lines
    assert line.get_xdata() == pytest.approx(line.get_ydata())
    tt.plot.gains(model, X, y)
    model, _, _, sketches = sketched()
    assert len(tt.plot.gains(model, sketches).lines) == 2
    tt.plot.calibration(model, sketches)


def test_pruning_path():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    model = tt.CARTClassifier().fit(X, X[:, 0] + rng.normal(size=800) > 0)
    path = model.cost_complexity_pruning_path(X, X[:, 0] > 9)
    assert len(path.ccp_alphas) >= 1
    ax = tt.plot.pruning_path(model)
    alphas, leaves = ax.lines[0].get_data()
    assert (leaves[0], leaves[-1]) == (model.get_n_leaves(), 1)
    for alpha, n in list(zip(alphas, leaves, strict=True))[1::20]:
        assert model.tree_.prune(ccp_alpha=float(alpha)).n_leaves == n
    tt.plot.pruning_path(tt.CARTClassifier().fit([[1.0], [1.0]], [0, 1]))


def test_into_axes_of_ones_own(iris):
    model, *_ = iris
    for plot in (tt.plot.tree, tt.plot.importance, tt.plot.gains, tt.plot.calibration, tt.plot.pruning_path):
        ax = pyplot.subplots()[1]
        assert plot(model, ax=ax) is ax


def test_without_matplotlib(iris, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'thetatree\[plot\]'"):
        tt.plot.tree(iris[0])
