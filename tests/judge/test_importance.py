"""Importances: by definition, named and in column order, from rows and from sketches, with intervals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetatree as tt
from thetatree.judge import importance


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "zebra": rng.normal(size=n),
            "vip": rng.random(n) < 0.3,
            "city": rng.choice(list("abc"), n),
            "noise": rng.normal(size=n),
            "age": rng.integers(18, 80, n).astype(float),
        }
    )
    chance = 0.2 + 0.4 * frame["vip"] + 0.3 * (frame["age"] > 50)
    return frame, (rng.random(n) < chance).astype(int).to_numpy()


X, Y = people()
NEW, NEW_Y = people(seed=1)


def sketched(frame, y, lg_k=10):
    table = frame.drop(columns=["zebra", "noise"]).assign(y=y)
    table.insert(0, "id", np.arange(len(y)))
    return tt.sketch(table, key="id", target="y", lg_k=lg_k, bins=8)


def test_names_are_in_column_order():
    for made in (tt.CARTClassifier, tt.CARTRegressor):
        model = made(max_depth=4).fit(X, Y)
        for kind in ("mdi", "splits"):
            frame = importance(model, kind=kind)
            assert frame["feature"].tolist() == list(X.columns)
        for kind in ("unbiased", "permutation"):
            assert importance(model, NEW, NEW_Y, kind=kind)["feature"].tolist() == list(X.columns)


def test_mdi_and_splits_are_the_trees():
    model = tt.CARTClassifier(max_depth=5).fit(X, Y)
    np.testing.assert_array_equal(importance(model)["importance"], model.feature_importances_)
    np.testing.assert_array_equal(importance(model.tree_)["importance"], model.feature_importances_)
    splits = importance(model, kind="splits")["importance"]
    assert splits.sum() == (~model.tree_.is_leaf).sum()
    assert splits.tolist() == [int((model.tree_.feature == j).sum()) for j in range(5)]


@pytest.mark.parametrize("made", [tt.CARTClassifier, tt.CARTRegressor])
def test_unbiased_on_the_training_rows_is_the_decrease(made):
    """With its own rows the formula is the decrease of gini, or of the variance."""
    weight = np.random.default_rng(3).uniform(0.5, 2, len(Y))
    model = made(max_depth=6).fit(X, Y, sample_weight=weight)
    own = importance(model, X, Y, kind="unbiased", sample_weight=weight)["importance"]
    np.testing.assert_allclose(own, model.tree_.compute_feature_importances(normalize=False), atol=1e-12)


def test_unbiased_gives_noise_nothing():
    """A column of noise seems important by training, and is worth nothing on new rows."""
    trained, unbiased = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, b = rng.normal(size=(2, 300, 3))
        y, z = rng.integers(0, 2, (2, 300))
        model = tt.CARTClassifier(max_depth=6).fit(a, y)
        trained.append(model.tree_.compute_feature_importances(normalize=False).sum())
        unbiased.append(importance(model, b, z, kind="unbiased")["importance"].sum())
    assert np.mean(trained) > 0.15
    assert abs(np.mean(unbiased)) < 3 * np.std(unbiased) / np.sqrt(20) + 1e-9
    assert abs(np.mean(unbiased)) < 0.02


def test_unbiased_node_by_node():
    model = tt.CARTClassifier(max_depth=3).fit(X, Y)
    tree, leaves = model.tree_, model.apply(NEW)
    expected = np.zeros(5)
    for node in np.flatnonzero(~tree.is_leaf):
        inside = (leaves >= node) & (leaves < tree.subtree_end[node])
        share = np.bincount(NEW_Y[inside], minlength=2) / inside.sum()
        for child in tree.child[tree.child_start[node] : tree.child_start[node + 1]]:
            there = (leaves >= child) & (leaves < tree.subtree_end[child])
            counts = np.bincount(NEW_Y[there], minlength=2)
            step = tree.values[child] - tree.values[node]
            expected[tree.feature[node]] += (step * (counts - there.sum() * share)).sum() / len(NEW_Y)
    np.testing.assert_allclose(importance(model, NEW, NEW_Y, kind="unbiased")["importance"], expected)


@pytest.mark.parametrize("made", [tt.CARTClassifier, tt.CARTRegressor])
def test_permutation_beside_scikit_learn(made):
    model = made(max_depth=5).fit(X, Y)
    mine = importance(model, NEW, NEW_Y, kind="permutation", n_repeats=10)["importance"].to_numpy()
    theirs = permutation_importance(model, NEW, NEW_Y, n_repeats=10, random_state=0)
    np.testing.assert_allclose(mine, theirs.importances_mean, atol=0.02)
    assert mine[1] > 0.05 and mine[1] > mine[0]


def test_permutation_of_any_table():
    numbers = X[["zebra", "noise", "age"]].to_numpy()
    model = tt.CARTClassifier(max_depth=4).fit(numbers, Y)
    plain = importance(model, numbers, Y, kind="permutation")
    assert plain["feature"].tolist() == ["x0", "x1", "x2"]
    sparse = importance(model, sp.csr_matrix(numbers), Y, kind="permutation")
    pd.testing.assert_frame_equal(plain, sparse)
    framed = tt.CARTClassifier(max_depth=4).fit(pl.from_pandas(X), Y)
    polars = importance(framed, pl.from_pandas(NEW), NEW_Y, kind="permutation")
    assert polars["feature"].tolist() == list(X.columns)
    piped = make_pipeline(StandardScaler(), tt.CARTClassifier(max_depth=4)).fit(numbers, Y)
    np.testing.assert_allclose(
        importance(piped, numbers, Y, kind="permutation")["importance"], plain["importance"], atol=1e-9
    )


def test_from_sketches():
    """Exact sketches give what rows give; estimates come near."""
    exact, coarse = (sketched(X, Y, lg_k) for lg_k in (13, 9))
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(exact)
    named = importance(model)
    assert named["feature"].tolist() == ["age", "city", "vip"]
    np.testing.assert_array_equal(named["importance"], model.feature_importances_)
    columns = NEW[["age", "city", "vip"]]
    rows = importance(model, columns, NEW_Y, kind="unbiased")["importance"]
    new = tt.sketch(
        columns.assign(y=NEW_Y, id=np.arange(len(NEW_Y))), key="id", target="y", lg_k=13, like=exact
    )
    np.testing.assert_allclose(importance(model, new, kind="unbiased")["importance"], rows, atol=1e-12)
    near = tt.sketch(
        columns.assign(y=NEW_Y, id=np.arange(len(NEW_Y))), key="id", target="y", lg_k=9, like=exact
    )
    np.testing.assert_allclose(importance(model, near, kind="unbiased")["importance"], rows, atol=0.05)
    bounds = importance(model, coarse, n_bootstrap=20)
    assert (bounds["lower"] <= bounds["upper"]).all()
    assert bounds["error"].max() > 0


def test_bootstrap_of_rows():
    model = tt.CARTClassifier(max_depth=3).fit(X, Y)
    frame = importance(model, X, Y, n_bootstrap=30)
    again = importance(model, X, Y, n_bootstrap=30)
    pd.testing.assert_frame_equal(frame, again)
    assert list(frame.columns) == ["feature", "importance", "error", "lower", "upper"]
    vip = frame.set_index("feature").loc["vip"]
    assert 0 < vip["lower"] < vip["importance"] < vip["upper"] < 1
    narrow, wide = (
        importance(model, NEW, NEW_Y, kind="unbiased", n_bootstrap=60, level=level) for level in (0.5, 0.99)
    )
    assert ((wide["upper"] - wide["lower"]) >= (narrow["upper"] - narrow["lower"])).all()
    shuffled = importance(model, NEW, NEW_Y, kind="permutation", n_bootstrap=10, n_repeats=3)
    assert shuffled.set_index("feature").loc["vip", "lower"] > 0


def test_bounds_hold_the_importance_of_new_rows():
    """Unbiased importances of many samples lie within the bounds of one, about as often as they say."""
    model = tt.CARTClassifier(max_depth=3).fit(X, Y)
    large, y = people(200_000, seed=77)
    truth = importance(model, large, y, kind="unbiased")["importance"].to_numpy()[[1, 4]]
    held = 0
    for seed in range(40):
        frame = importance(model, *people(800, seed=100 + seed), kind="unbiased", n_bootstrap=100)
        held += ((frame["lower"][[1, 4]] <= truth) & (truth <= frame["upper"][[1, 4]])).sum()
    assert 68 <= held <= 80  # of 80; 95% are 76


def test_half_samples_vary_as_bootstraps_do():
    """Half of the keys without replacement spread as n of n drawn with it."""
    rng = np.random.default_rng(0)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(sketched(X, Y, 13))
    columns = NEW[["age", "city", "vip"]]
    keyed = columns.assign(y=NEW_Y, id=rng.integers(0, 1 << 60, len(NEW_Y)))
    new = tt.sketch(keyed, key="id", target="y", lg_k=13, like=sketched(X, Y, 13))
    rows = importance(model, columns, NEW_Y, kind="unbiased", n_bootstrap=150)["error"]
    keys = importance(model, new, kind="unbiased", n_bootstrap=150)["error"]
    used = rows > 0
    np.testing.assert_allclose(keys[used], rows[used], rtol=0.3)


def test_a_single_leaf_has_no_importance():
    model = tt.CARTClassifier(max_depth=1).fit(X[:20], np.zeros(20, int))
    for kind in ("mdi", "unbiased", "permutation", "splits"):
        assert not importance(model, X[:20], np.zeros(20, int), kind=kind)["importance"].any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "gain"}, ValueError, "kind must be one of 'mdi', 'unbiased'"),
        ({"kind": "unbiased"}, ValueError, "kind='unbiased' judges by keys that the tree was not grown from"),
        ({"kind": "permutation", "X": NEW}, ValueError, "kind='permutation' needs the y"),
        (
            {"kind": "mdi", "n_bootstrap": 5},
            ValueError,
            "refit the model to resamples: give the training data",
        ),
        ({"n_bootstrap": -1}, ValueError, "n_bootstrap must be a whole number"),
        ({"level": 1.0}, ValueError, "level must be a share"),
        ({"kind": "unbiased", "X": NEW, "y": NEW_Y[:5]}, ValueError, "X has 3000 rows, y has 5"),
        ({"kind": "unbiased", "X": NEW, "y": NEW_Y + 7}, ValueError, "is not a class of the tree"),
        ({"kind": "permutation", "X": NEW, "y": NEW_Y, "n_repeats": 0}, ValueError, "n_repeats must be"),
    ],
)
def test_wrong_input_is_named(arguments, error, message):
    model = tt.CARTClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(error, match=message):
        importance(model, **arguments)


def test_what_sketches_and_trees_cannot_do():
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(sketched(X, Y))
    with pytest.raises(ValueError, match="which sketches do not have: use kind='unbiased' or rows"):
        importance(model, sketched(X, Y), kind="permutation")
    with pytest.raises(TypeError, match="give the estimator, not its tree"):
        importance(model.tree_, sketched(X, Y), n_bootstrap=2)
