"""Pruning and honest leaves through the estimators' parameters, from rows and from sketch sets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import thetatree as tt
from thetatree.grow.count_tree import count_tree

METHODS = ("none", "cost_complexity", "validation", "reduced_error", "pessimistic", "min_impurity")


def customers(n=4000, seed=0, noise=0.25):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"f{j}": rng.random(n) < 0.4 for j in range(8)})
    frame["age"] = rng.integers(18, 80, n).astype(float)
    frame["city"] = rng.choice(["Oslo", "Bergen", "Tromsø"], n)
    chance = 0.15 + 0.5 * (frame["f0"] & (frame["age"] > 45)) + 0.2 * (frame["city"] == "Oslo")
    frame["y"] = (rng.random(n) < chance * (1 - noise) + noise / 2).astype(int)
    frame.insert(0, "id", np.arange(n))
    return frame


@pytest.fixture(scope="module")
def frame():
    return customers()


@pytest.fixture(scope="module")
def sketches(frame):
    return tt.sketch(frame, key="id", target="y", lg_k=9, bins=8)


def columns(frame):
    return frame.drop(columns=["id", "y"])


def deep(**parameters):
    return tt.ThetaSketchDecisionTreeClassifier(
        **{"significance": None, "min_held": 0, "max_depth": 7} | parameters
    )


# ---- rows


def test_each_way_is_the_trees_own(frame):
    X, y = columns(frame)[:2000], frame["y"][:2000]
    X_val, y_val = columns(frame)[2000:], frame["y"][2000:]
    whole = tt.CARTClassifier(min_samples_leaf=3).fit(X, y).tree_
    ways = {
        "none": whole,
        None: whole,
        "cost_complexity": whole.prune(ccp_alpha=0.0),
        "pessimistic": whole.prune_pessimistic(),
        "min_impurity": whole.prune_min_impurity(0.0),
    }
    for way, expected in ways.items():
        assert tt.CARTClassifier(min_samples_leaf=3, pruning=way).fit(X, y).tree_ == expected, way
    for way in ("validation", "reduced_error"):
        model = tt.CARTClassifier(min_samples_leaf=3, pruning=way).fit(X, y, X_val=X_val, y_val=y_val)
        assert model.tree_ == whole.prune_validation(X_val, y_val)
    both = tt.CARTClassifier(min_samples_leaf=3, pruning="cost_complexity", ccp_alpha=0.002).fit(X, y)
    assert (
        both.tree_
        == whole.prune(ccp_alpha=0.002)
        == tt.CARTClassifier(min_samples_leaf=3, ccp_alpha=0.002).fit(X, y).tree_
    )
    least = tt.CARTClassifier(min_impurity_decrease=0.001).fit(X, y).tree_
    model = tt.CARTClassifier(min_impurity_decrease=0.001, pruning="min_impurity").fit(X, y)
    assert model.tree_ == least.prune_min_impurity(0.001)


@pytest.mark.parametrize(
    "learner", [tt.CARTClassifier, tt.CARTRegressor, tt.AIDRegressor, tt.THAIDClassifier]
)
def test_every_learner_prunes(learner, frame):
    X, y = columns(frame), frame["y"]
    whole = learner(min_samples_leaf=5).fit(X, y)
    for extra in (
        {"pruning": "validation"},
        {"ccp_alpha": "cv-1se", "ccp_folds": 3},
        {"pruning": "cost_complexity"},
    ):
        model = learner(min_samples_leaf=5, **extra).fit(X, y)
        assert model.get_n_leaves() <= whole.get_n_leaves()
        assert np.isfinite(model.predict(X)).all()
        assert hasattr(model, "cp_table_") == ("ccp_alpha" in extra)


def test_a_share_of_the_rows_is_kept_aside(frame):
    X, y = columns(frame), frame["y"]
    model = tt.CARTClassifier(pruning="validation", validation_fraction=0.3).fit(X, y)
    assert model.tree_.n_node_samples[0] == 2800
    share = y.mean()
    assert model.tree_.values[0, 1] == pytest.approx(share, abs=0.001)  # each class by the same share
    assert model.tree_ == tt.CARTClassifier(pruning="validation", validation_fraction=0.3).fit(X, y).tree_
    other = tt.CARTClassifier(pruning="validation", validation_fraction=0.3, random_state=1).fit(X, y)
    assert other.tree_ != model.tree_


def test_weights_count_in_what_is_kept_aside():
    """Rows of weight 2 count as two of them: pruned where the weight of the wrong ones says so."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 3)).astype(float)
    y = np.where(rng.random(400) < 0.3, 1 - X[:, 0], X[:, 0]).astype(int)
    weight = rng.integers(0, 3, 400).astype(float)
    model = tt.CARTClassifier(pruning="validation", class_weight={0: 3.0, 1: 1.0}).fit(
        X, y, sample_weight=weight
    )
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.tree_.n_node_samples[0] == pytest.approx(0.75 * (weight > 0).sum(), abs=2)


def test_cross_validated_alpha():
    X, y = load_breast_cancer(return_X_y=True)
    model = tt.CARTClassifier(ccp_alpha="cv-1se", random_state=3).fit(X, y)
    table = model.cp_table_
    line = table[table["choice"].str.contains("cv-1se")].iloc[0]
    assert model.get_n_leaves() - 1 == line["nsplit"]
    assert model.tree_ == tt.CARTClassifier(ccp_alpha=float(line["alpha"])).fit(X, y).tree_
    best = tt.CARTClassifier(ccp_alpha="cv", random_state=3).fit(X, y)
    assert best.cp_table_.equals(table)
    assert best.get_n_leaves() - 1 == table["nsplit"][table["xerror"].idxmin()]
    again = best.set_params(ccp_alpha=0.0).fit(X, y)
    assert not hasattr(again, "cp_table_")
    path = best.set_params(ccp_alpha="cv").cost_complexity_pruning_path(X, y)
    assert len(path.ccp_alphas) >= len(table)


def test_cross_validation_judges_better_than_training():
    """xerror is near the error on new rows; the training error is far below."""
    X, y = load_diabetes(return_X_y=True)
    model = tt.CARTRegressor(ccp_alpha="cv", random_state=0).fit(X[:300], y[:300])
    table = model.cp_table_
    spread = np.mean((y[:300] - y[:300].mean()) ** 2)
    new = np.mean((model.predict(X[300:]) - y[300:]) ** 2) / spread
    line = table[table["choice"].str.startswith("cv")].iloc[0]
    assert abs(line["xerror"] - new) < 4 * line["xstd"]
    assert table["rel error"].iloc[-1] == 0.0
    assert table["xerror"].iloc[-1] > line["xerror"]


# ---- honest leaves


def test_honest_leaves_from_rows(frame):
    X, y = columns(frame), frame["y"]
    model = tt.CARTClassifier(honest=0.5, min_samples_leaf=10).fit(X, y)
    tree = model.tree_
    assert tree.n_node_samples[0] == 2000
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    flattered = tt.CARTClassifier(min_samples_leaf=10).fit(X, y)
    fresh = customers(20_000, seed=9)
    # What the leaves say of their own error, and the error on new rows.
    error = lambda m: np.mean((m.predict_proba(columns(fresh))[:, 1] - fresh["y"]) ** 2)  # noqa: E731
    said = lambda m: float(  # noqa: E731
        (m.tree_.values.prod(axis=1) * m.tree_.weighted_n_node_samples)[m.tree_.is_leaf].sum()
        / m.tree_.weighted_n_node_samples[0]
    )
    assert abs(said(model) - error(model)) < abs(said(flattered) - error(flattered)) / 2


def test_honest_regression_and_pruning_together():
    X, y = load_diabetes(return_X_y=True)
    for extra in ({}, {"pruning": "validation"}, {"ccp_alpha": "cv"}, {"ccp_alpha": 1.0}):
        model = tt.CARTRegressor(honest=0.4, **extra).fit(X, y)
        kept = 442 * (0.75 if "pruning" in extra else 1.0)
        assert model.tree_.n_node_samples[0] == pytest.approx(0.4 * kept, abs=2)
        assert np.isfinite(model.predict(X)).all()


# ---- sketches


@pytest.mark.parametrize("way", METHODS)
def test_each_way_from_sketches(way, frame, sketches):
    whole = deep().fit(sketches)
    model = deep(pruning=way, min_impurity_decrease=0.0).fit(sketches)
    assert model.get_n_leaves() <= whole.get_n_leaves()
    shares = model.predict_proba(columns(frame))
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    if way in ("validation", "pessimistic"):
        accuracy = lambda m: np.mean(m.predict(columns(frame)) == frame["y"])  # noqa: E731
        assert model.get_n_leaves() < whole.get_n_leaves() / 2
        assert accuracy(model) > accuracy(whole) - 0.01


@pytest.mark.parametrize("way", ["cost_complexity", "validation", "pessimistic", "min_impurity"])
def test_zero_gain_structure_from_sketches(way):
    """XOR: the first split gains nothing, and stays, since the branch as a whole pays."""
    table = pd.DataFrame([[a, b] for a in (0, 1) for b in (0, 1)] * 100, columns=["a", "b"]).astype(bool)
    frame = table.assign(id=np.arange(400), y=(table["a"] ^ table["b"]).astype(int))
    model = tt.ThetaSketchDecisionTreeClassifier(pruning=way).fit(tt.sketch(frame, key="id", target="y"))
    assert model.get_n_leaves() == 4
    assert model.score(table, frame["y"]) == 1.0


def test_validation_keeps_a_share_of_the_hashes(sketches):
    model = deep(pruning="validation", validation_fraction=0.3).fit(sketches)
    assert model.tree_.estimates.count[0].sum() == pytest.approx(0.7 * 4000, rel=0.1)
    rest, part = sketches.split(0.3, seed=1)
    whole = deep().fit(rest)
    assert model.tree_ == whole.tree_.prune_validation(part)


def test_held_out_data_of_three_kinds(frame, sketches):
    """A 0/1 matrix by the mapping, raw columns by name, and a sketch set."""
    fresh = customers(3000, seed=5)
    mapping = {f"f{j}": j for j in range(8)}
    data = {
        name: {"total": held(frame[frame["y"] == k])}
        | {f: held(frame[(frame["y"] == k) & frame[f]]) for f in mapping}
        for name, k in (("positive", 1), ("negative", 0))
    }
    flags = fresh[list(mapping)].to_numpy().astype(int)
    model = deep(pruning="validation").fit(data, mapping, X_val=flags, y_val=fresh["y"])
    whole = deep().fit(data, mapping)
    assert (model.predict(flags) == fresh["y"]).mean() >= (whole.predict(flags) == fresh["y"]).mean()
    assert model.get_n_leaves() < whole.get_n_leaves()

    raw = deep(pruning="validation").fit(sketches, X_val=columns(fresh), y_val=fresh["y"].to_numpy())
    whole = deep().fit(sketches)
    accuracy = lambda m: (m.predict(columns(fresh)) == fresh["y"]).mean()  # noqa: E731
    assert accuracy(raw) >= accuracy(whole)

    others = tt.sketch(fresh, key="id", target="y", lg_k=12, like=sketches)
    by_set = deep(pruning="validation").fit(sketches, X_val=others)
    assert by_set.tree_ == raw.tree_  # exact sketches of the same keys say the same
    cart = tt.CARTClassifier(pruning="validation").fit(sketches, X_val=others)
    assert cart.get_n_leaves() >= 1


def held(rows):
    import datasketches

    sketch = datasketches.update_theta_sketch(12)
    for key in rows["id"].tolist():
        sketch.update(key)
    return sketch


def test_cross_validated_alpha_from_hash_folds(frame, sketches):
    model = deep(ccp_alpha="cv-1se", ccp_folds=5).fit(sketches)
    table = model.cp_table_
    line = table[table["choice"].str.contains("cv-1se")].iloc[0]
    assert model.get_n_leaves() - 1 == line["nsplit"]
    fresh = customers(20_000, seed=8)
    root_error = min(fresh["y"].mean(), 1 - fresh["y"].mean())
    new = (model.predict(columns(fresh)) != fresh["y"]).mean() / root_error
    assert abs(new - line["xerror"]) < 4 * line["xstd"]
    exact = tt.sketch(frame, key="id", target="y", lg_k=13, bins=8)
    precise = deep(ccp_alpha="cv-1se", ccp_folds=5).fit(exact).cp_table_
    assert precise["xstd"].iloc[0] < table["xstd"].iloc[0]  # less doubt in the counts


def test_honest_leaves_from_hashes(sketches):
    model = deep(honest=0.5).fit(sketches)
    rest, part = sketches.split(0.5, seed=2)
    structure = deep().fit(rest).tree_
    assert np.array_equal(model.tree_.feature, structure.feature)
    counts = count_tree(structure, part)
    np.testing.assert_array_equal(model.tree_.estimates.count, counts.count)
    some = counts.count.sum(axis=1) > 0
    np.testing.assert_allclose(
        model.tree_.values[some], counts.count[some] / counts.count[some].sum(axis=1, keepdims=True)
    )
    assert np.isfinite(model.tree_.values).all()


def test_honest_trees_are_saved_and_read(sketches, tmp_path):
    for model in (deep(honest=0.5).fit(sketches), deep(ccp_alpha="cv").fit(sketches)):
        model.save(tmp_path / "model.json")
        again = tt.load(tmp_path / "model.json")
        assert again.tree_ == model.tree_
        assert again.get_params() == model.get_params()


# ---- wrong input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": "prune"}, "pruning must be one of 'none'"),
        ({"ccp_alpha": "1se"}, "ccp_alpha must be a number of at least 0, 'cv' or 'cv-1se'"),
        ({"ccp_alpha": -1.0}, "ccp_alpha must be a number of at least 0"),
        ({"pruning": "validation", "ccp_alpha": 0.1}, "two ways of pruning"),
        ({"pruning": "pessimistic", "ccp_alpha": "cv"}, "two ways of pruning"),
        (
            {"pruning": "validation", "validation_fraction": 1.0},
            "validation_fraction must be a share between",
        ),
        ({"honest": 1}, "honest must be a share between"),
        ({"ccp_alpha": "cv", "ccp_folds": 1}, "ccp_folds must be a whole number of at least 2"),
    ],
)
def test_wrong_parameters_are_named(parameters, message, frame, sketches):
    with pytest.raises(ValueError, match=message):
        tt.CARTClassifier(**parameters).fit(columns(frame)[:50], frame["y"][:50])
    with pytest.raises(ValueError, match=message):
        deep(**parameters).fit(sketches)


def test_wrong_held_out_data_is_named(frame, sketches):
    X, y = columns(frame)[:200], frame["y"][:200]
    with pytest.raises(ValueError, match="X_val and y_val are for pruning='validation'; pruning is None"):
        tt.CARTClassifier().fit(X, y, X_val=X, y_val=y)
    with pytest.raises(ValueError, match="y_val"):
        tt.CARTClassifier(pruning="validation").fit(X, y, X_val=X)
    with pytest.raises(ValueError, match="X_val"):
        tt.CARTClassifier(pruning="validation").fit(X, y, y_val=y)
    with pytest.raises(ValueError, match="a SketchSet knows its classes"):
        deep(pruning="validation").fit(sketches, X_val=sketches, y_val=y)
    with pytest.raises(ValueError, match="too few for 10 folds"):
        tt.CARTClassifier(ccp_alpha="cv").fit(X[:5], [0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match="regression tree has none"):
        tt.CARTRegressor(pruning="pessimistic").fit(X, y)
