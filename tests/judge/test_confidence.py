"""Confidence in the choice of a split: beside rivals that are as good, better and worse."""

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.judge import split_confidence


def rivals(seed, n=500, gap=0.0):
    """Two columns of which the second is as good as the first, less a gap; and noise."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "first": base + 0.5 * rng.normal(size=n),
            "second": base + (0.5 + gap) * rng.normal(size=n),
            "noise": rng.normal(size=n),
            "constant": np.ones(n),
        }
    )
    return X, (base + 0.5 * rng.normal(size=n) > 0).astype(int)


def test_columns_and_order():
    X, y = rivals(0)
    model = tt.CARTClassifier(max_depth=2).fit(X, y)
    frame = split_confidence(model, X, y, n_bootstrap=40)
    assert list(frame.columns) == ["feature", "score", "wins", "beaten"]
    assert frame["feature"][0] == model.tree_.features[model.tree_.feature[0]].name
    assert frame["score"].tolist() == sorted(frame["score"], reverse=True)
    assert frame["score"][0] == pytest.approx(model.tree_.score[0])
    assert frame["wins"].sum() == pytest.approx(1.0)
    assert np.isnan(frame["beaten"][0])
    assert "constant" not in frame["feature"].tolist()
    pd.testing.assert_frame_equal(frame, split_confidence(model, X, y, n_bootstrap=40))


def test_equal_rivals_leave_doubt_and_worse_ones_do_not():
    even = [runner_up(*rivals(seed)) for seed in range(8)]
    clear = [runner_up(*rivals(seed, n=1500, gap=1.5)) for seed in range(3)]
    assert 0.5 < np.mean(even) < 0.9
    assert min(clear) > 0.97


def runner_up(X, y):
    return split_confidence(tt.CARTClassifier(max_depth=1).fit(X, y), X, y, n_bootstrap=30)["beaten"][1]


@pytest.mark.parametrize("made", [tt.CARTClassifier, tt.CARTRegressor, tt.THAIDClassifier, tt.AIDRegressor])
def test_every_learner_and_inner_nodes(made):
    X, y = rivals(1, 300)
    model = made(max_depth=3).fit(X, y)
    for node in np.flatnonzero(~model.tree_.is_leaf)[:2].tolist():
        frame = split_confidence(model, X, y, node=node, n_bootstrap=10)
        assert frame["feature"][0] == model.tree_.features[model.tree_.feature[node]].name
        assert frame["score"][0] == pytest.approx(model.tree_.score[node])


def test_tables_of_any_kind_and_weights():
    X, y = rivals(2, 200)
    numbers = X.to_numpy()
    model = tt.CARTClassifier(max_depth=1).fit(numbers, y)
    frame = split_confidence(model, numbers, y, sample_weight=np.ones(200), n_bootstrap=5)
    assert frame["feature"].tolist()[0].startswith("x")


def test_the_root_of_a_sketch_set():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"f{j}": rng.random(6000) < 0.4 for j in range(4)})
    frame["y"] = (rng.random(6000) < 0.2 + 0.3 * frame["f2"] + 0.03 * frame["f1"]).astype(int)
    frame.insert(0, "id", np.arange(6000))
    sketches = tt.sketch(frame, key="id", target="y", lg_k=9)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(sketches)
    found = split_confidence(model, sketches, n_bootstrap=30)
    assert found["feature"][0] == "f2" and found["beaten"][1] == 1.0
    assert found["score"][0] == pytest.approx(model.tree_.score[0])
    with pytest.raises(ValueError, match="only node 0 can be judged"):
        split_confidence(model, sketches, node=int(np.flatnonzero(~model.tree_.is_leaf)[1]))
    with pytest.raises(TypeError, match="give the SketchSet that it was fitted on"):
        split_confidence(model, frame[["f0", "f1", "f2", "f3"]], frame["y"])


def test_wrong_input_is_named():
    X, y = rivals(3, 100)
    model = tt.CARTClassifier(max_depth=1).fit(X, y)
    for node in (1, -1, 99):
        with pytest.raises(ValueError, match="has no split: give the number of an inner node"):
            split_confidence(model, X, y, node=node)
    with pytest.raises(ValueError, match="rows need their y"):
        split_confidence(model, X)
    with pytest.raises(ValueError, match="n_bootstrap must be"):
        split_confidence(model, X, y, n_bootstrap=0)
