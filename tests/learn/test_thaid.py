"""THAID by what it must do: known answers, every partition, the two stopping rules, ties, odd inputs."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

import thetatree as tt
from thetatree import _kernel, criteria

CRITERIA = ["theta", "delta", "weighted_delta"]


def rows_of(*tables):
    """A column that tells the tables apart, and the classes A, B, ... as often as each table says."""
    side = np.repeat(np.arange(len(tables)), [sum(t) for t in tables])
    y = np.concatenate([np.repeat([chr(65 + k) for k in range(len(t))], t) for t in tables])
    return pd.DataFrame({"side": pd.Categorical(side)}), y


def survey(seed=0, n=300, n_classes=3):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "urban": rng.random(n) < 0.4,
            "trade": rng.choice(["farm", "office", "shop", "works"], n),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "trade"] = None
    latent = frame.age / 20 + 3 * (frame.trade == "office") * frame.urban + rng.normal(size=n)
    return frame, np.searchsorted(np.quantile(latent, np.arange(1, n_classes) / n_classes), latent)


def first_split(model):
    return model.tree_.to_frame().split[0]


def left_codes(tree, node=0):
    return set(tree.category[tree.category_start[node] : tree.category_start[node + 1]].tolist())


# ---- known answers


def test_theta_is_0_80_and_lambda_one_half():
    frame, y = rows_of([50, 10], [10, 30])
    model = tt.THAIDClassifier().fit(frame, y)
    row = model.summary_frame().iloc[0]
    assert row.theta_undivided == pytest.approx(0.60)
    assert row.theta == pytest.approx(0.80)
    assert row["lambda"] == pytest.approx(0.5)
    assert model.tree_.score[0] == pytest.approx(0.80)
    assert "θ 0.8 (0.6 undivided), λ 0.5" in model.summary()
    assert model.predict(frame[::60]).tolist() == ["A", "B"]


def test_delta_is_0_8_and_weighted_delta_0_4():
    frame, y = rows_of([30, 10, 10], [10, 20, 20])
    for criterion, score in (("delta", 0.8), ("weighted_delta", 0.4)):
        model = tt.THAIDClassifier(criterion=criterion).fit(frame, y)
        assert model.tree_.score[0] == pytest.approx(score)
        row = model.summary_frame().iloc[0]
        assert (row.delta, row.weighted_delta) == pytest.approx((0.8, 0.4))


def test_all_features_constant():
    X = pd.DataFrame({"number": [7.0] * 6, "flag": [True] * 6, "word": ["same"] * 6, "none": [np.nan] * 6})
    for criterion in CRITERIA:
        model = tt.THAIDClassifier(criterion=criterion).fit(X, [0, 1, 1, 2, 1, 0])
        assert model.tree_.node_count == 1
        assert model.predict(X).tolist() == [1] * 6
        assert model.predict_proba(X)[0] == pytest.approx([1 / 3, 1 / 2, 1 / 6])
        assert "1 final group after 0 splits, θ = 0.5 (0.5 undivided), λ = 0" in model.summary()
        assert len(model.summary_frame()) == 0


def test_a_branch_without_rows_is_never_made():
    """A category that training saw, but not in this group, joins a side that has rows, and its shares."""
    frame, y = survey()
    model = tt.THAIDClassifier(criterion="weighted_delta").fit(frame, y)
    assert (model.tree_.n_node_samples > 0).all()
    strange = frame.assign(trade="never seen")
    assert np.allclose(model.predict_proba(strange).sum(axis=1), 1)


def test_one_class():
    model = tt.THAIDClassifier().fit([[1], [2]], ["only", "only"])
    assert model.tree_.node_count == 1
    assert "θ = 1 (1 undivided)" in model.summary()
    assert "λ" not in model.summary()


# ---- categories


@pytest.mark.parametrize("n", range(2, 11))
def test_the_search_visits_each_partition_once(n):
    visited = _kernel.partition_masks(n).tolist()
    assert len(visited) == len(set(visited)) == 2 ** (n - 1) - 1
    as_left_sides = {tuple(i for i in range(n) if mask >> i & 1) for mask in visited}
    assert as_left_sides == {left for left, _ in criteria.partitions(n)}


def test_all_63_partitions_of_seven_categories_are_tried_once():
    """Each of the 63 is found where it is the one that tells the classes apart."""
    partitions = criteria.partitions(7)
    assert len(partitions) == len(_kernel.partition_masks(7)) == 63
    assert len({frozenset(map(frozenset, p)) for p in partitions}) == 63
    codes = np.repeat(np.arange(7), 12)
    frame = pd.DataFrame({"c": np.array(list("abcdefg"))[codes]})
    minor = np.tile([0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2], 7)  # a third class everywhere alike
    for left, _ in partitions:
        y = np.where(minor == 2, 2, np.isin(codes, left))
        for criterion in CRITERIA:
            model = tt.THAIDClassifier(criterion=criterion, max_depth=1).fit(frame, y)
            assert left_codes(model.tree_) == set(left)


def brute_force(criterion, codes, y, n, n_classes, weight=None):
    """The best score of all partitions, with the scores that break theta's ties."""
    table = np.zeros((n, n_classes))
    np.add.at(table, (codes, y), 1.0 if weight is None else weight)

    def rank(left, right):
        sides = [table[list(left)].sum(axis=0), table[list(right)].sum(axis=0)]
        of = {name: criteria.score(name, table.sum(axis=0), sides) for name in CRITERIA}
        return (of["theta"], of["weighted_delta"]) if criterion == "theta" else (of[criterion],)

    return max(tuple(round(s, 9) for s in rank(*p)) for p in criteria.partitions(n))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(25))
def test_two_classes_one_order_holds_the_best_partition(criterion, seed):
    """The cuts of the order by class share contain the optimum of theta, delta and weighted_delta."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    codes = np.concatenate([np.arange(n), rng.integers(0, n, int(rng.integers(5, 120)))])
    y = (rng.random(len(codes)) < rng.random(n)[codes]).astype(int)
    weight = rng.integers(1, 4, len(y)) if seed % 2 else None
    if len(set(y)) < 2:
        pytest.skip("one class")
    best = brute_force(criterion, codes, y, n, 2, weight)
    frame = pd.DataFrame({"c": pd.Categorical(codes)})
    model = tt.THAIDClassifier(criterion=criterion, max_depth=1).fit(frame, y, sample_weight=weight)
    if model.tree_.node_count == 1:  # no partition has a gain
        shares = np.bincount(y, weights=weight) / (len(y) if weight is None else weight.sum())
        assert best[0] == pytest.approx(shares.max() if criterion == "theta" else 0)
        return
    assert model.tree_.score[0] == pytest.approx(best[0])
    if criterion == "theta":
        assert model.summary_frame().weighted_delta[0] == pytest.approx(best[1])


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(10))
def test_many_classes_are_searched_exhaustively_up_to_max_categories(criterion, seed):
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(3, 9)), int(rng.integers(3, 6))
    codes = np.concatenate([np.arange(n), rng.integers(0, n, 90)])
    y = np.array([rng.choice(n_classes, p=rng.dirichlet([0.5] * n_classes)) for _ in codes])
    y[:n_classes] = np.arange(n_classes)
    frame = pd.DataFrame({"c": pd.Categorical(codes)})
    best = brute_force(criterion, codes, y, n, n_classes)
    model = tt.THAIDClassifier(criterion=criterion, max_depth=1, max_categories=n).fit(frame, y)
    assert model.tree_.score[0] == pytest.approx(best[0])
    ordered = tt.THAIDClassifier(criterion=criterion, max_depth=1, max_categories=2).fit(frame, y)
    if ordered.tree_.node_count > 1:
        assert ordered.tree_.score[0] <= best[0] + 1e-9


def test_several_orders_beat_that_of_the_majority_class():
    """Beyond max_categories the seed's order, by the majority's share, misses what another class's finds."""
    rng = np.random.default_rng(0)
    worse = 0
    for _ in range(30):
        n = 8
        shares = rng.dirichlet([0.4] * 3, size=n)
        codes = np.repeat(np.arange(n), 40)
        y = np.array([rng.choice(3, p=shares[c]) for c in codes])
        table = np.zeros((n, 3))
        np.add.at(table, (codes, y), 1)
        major = table.sum(axis=0).argmax()
        order = np.argsort(-table[:, major] / table.sum(axis=1), kind="stable")
        alone = max(
            criteria.score(
                "theta", table.sum(axis=0), [table[order[:i]].sum(axis=0), table[order[i:]].sum(axis=0)]
            )
            for i in range(1, n)
        )
        frame = pd.DataFrame({"c": pd.Categorical(codes)})
        model = tt.THAIDClassifier(max_depth=1, max_categories=4).fit(frame, y)
        found = model.tree_.score[0] if model.tree_.node_count > 1 else table.sum(axis=0).max() / len(y)
        assert found >= alone - 1e-12
        worse += alone < found - 1e-12
    assert worse > 5


# ---- when a split is worth making


def test_min_score_is_a_level():
    frame, y = rows_of([50, 10], [10, 30])
    assert tt.THAIDClassifier(min_score=0.8).fit(frame, y).get_n_leaves() == 2
    assert tt.THAIDClassifier(min_score=0.81).fit(frame, y).get_n_leaves() == 1
    delta = 50 / 60 - 10 / 40
    for criterion, score in (("delta", 2 * delta), ("weighted_delta", 2 * delta * 2 * 0.6 * 0.4)):
        below, above = (
            tt.THAIDClassifier(criterion=criterion, min_score=score * f).fit(frame, y) for f in (1.0, 1.001)
        )
        assert (below.get_n_leaves(), above.get_n_leaves()) == (2, 1)


def test_a_level_says_nothing_of_the_gain():
    """A 90/10 group passes a level of 0.8 with the least of splits, a gain of 0.05 stops it."""
    frame, y = rows_of([50, 1], [40, 9], [0, 2])
    assert (y == "A").mean() > 0.85
    level = tt.THAIDClassifier(min_score=0.8).fit(frame, y)
    assert level.get_n_leaves() > 1
    assert tt.THAIDClassifier(min_gain=0.05).fit(frame, y).get_n_leaves() == 1


def test_min_gain_is_above_what_the_group_has_undivided():
    frame, y = rows_of([50, 10], [10, 30])
    assert tt.THAIDClassifier(min_gain=0.2).fit(frame, y).get_n_leaves() == 2
    assert tt.THAIDClassifier(min_gain=0.201).fit(frame, y).get_n_leaves() == 1
    three, y = rows_of([30, 10, 10], [10, 20, 20])
    for criterion, gain in (("delta", 0.8), ("weighted_delta", 0.4)):
        at = tt.THAIDClassifier(criterion=criterion, min_gain=gain).fit(three, y)
        beyond = tt.THAIDClassifier(criterion=criterion, min_gain=gain + 0.001).fit(three, y)
        assert (at.get_n_leaves(), beyond.get_n_leaves()) == (2, 1)


def test_a_split_needs_a_gain():
    """Both sides have the same mode: theta gains nothing, delta does."""
    frame, y = rows_of([50, 10], [30, 20])
    assert tt.CARTClassifier(criterion="theta").fit(frame, y).get_n_leaves() == 2
    assert tt.THAIDClassifier().fit(frame, y).get_n_leaves() == 1
    assert tt.THAIDClassifier(criterion="delta").fit(frame, y).get_n_leaves() == 2
    alike, y = rows_of([30, 10], [15, 5])
    for criterion in CRITERIA:
        assert tt.THAIDClassifier(criterion=criterion).fit(alike, y).get_n_leaves() == 1


def test_theta_stops_on_noise():
    rng = np.random.default_rng(0)
    X = rng.random((400, 5)) < 0.5
    y = rng.choice(3, 400, p=[0.6, 0.2, 0.2])
    assert tt.THAIDClassifier(max_depth=3, min_samples_leaf=20).fit(X, y).get_n_leaves() == 1


def test_group_sizes_bind_the_search():
    """Raw delta takes the smallest pure tail; with a size asked for, the next best split is found."""
    frame, y = rows_of([2, 0], [118, 60], [60, 160])
    tail = tt.THAIDClassifier(criterion="delta", max_depth=1).fit(frame, y)
    assert tail.tree_.n_node_samples.min() == 2
    sized = tt.THAIDClassifier(criterion="delta", max_depth=1, min_samples_leaf=20).fit(frame, y)
    assert sorted(sized.tree_.n_node_samples.tolist()) == [180, 220, 400]
    weighted = tt.THAIDClassifier(criterion="weighted_delta", max_depth=1).fit(frame, y)
    assert sorted(weighted.tree_.n_node_samples.tolist()) == [180, 220, 400]
    heavy = tt.THAIDClassifier(criterion="delta", max_depth=1, min_weight_fraction_leaf=0.1).fit(frame, y)
    assert heavy.tree_ == sized.tree_


def test_theta_breaks_ties_by_weighted_delta_then_balance():
    """Of two columns of one theta the second parts the classes better, or as well and more evenly."""
    six = np.repeat([0, 1, 2], [6, 4, 2])
    parted = np.repeat([0, 1, 0], [6, 4, 2]), np.repeat([0, 1, 1], [6, 4, 2])
    four = np.repeat([0, 1], 4)
    even = np.array([1, 1, 0, 0, 0, 0, 0, 0]), np.array([1, 1, 1, 0, 1, 0, 0, 0])
    for y, (worse, better) in ((six, parted), (four, even)):
        scores = [tt.candidates(c[:, None], y, "theta").score[0] for c in (worse, better)]
        assert scores[0] == scores[1]
        for order in ([worse, better], [better, worse]):
            model = tt.THAIDClassifier(max_depth=1).fit(pd.DataFrame(dict(enumerate(order))), y)
            assert order[model.tree_.feature[0]] is better


# ---- the printout


@pytest.mark.parametrize("criterion", CRITERIA)
def test_summary_frame_agrees_with_the_definitions(criterion):
    frame, y = survey()
    weight = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
    model = tt.THAIDClassifier(criterion=criterion, max_depth=4, min_samples_leaf=10)
    model.fit(frame, y, sample_weight=weight)
    splits = model.summary_frame()
    assert len(splits) == model.get_n_leaves() - 1 > 1
    tree = model.tree_
    path = np.asarray(model.decision_path(frame).todense()) == 1
    for _, row in splits.iterrows():
        node, right = row.node, tree.children_right[row.node]
        counts = [np.bincount(y[path[:, i]], weight[path[:, i]], 3) for i in (node, node + 1, right)]
        for name in CRITERIA:
            assert row[name] == pytest.approx(criteria.score(name, counts[0], counts[1:]))
        undivided = counts[0].max() / counts[0].sum()
        assert row["lambda"] == pytest.approx((row.theta - undivided) / (1 - undivided))
        assert [row[f"left_share_{k}"] for k in range(3)] == pytest.approx(counts[1] / counts[1].sum())
        assert [row[f"right_share_{k}"] for k in range(3)] == pytest.approx(counts[2] / counts[2].sum())
        assert (row.left_n, row.right_n) == (path[:, node + 1].sum(), path[:, right].sum())
        assert (row.left_mode, row.right_mode) == (counts[1].argmax(), counts[2].argmax())
    assert np.allclose(splits[criterion], tree.score[splits.node])
    theta = float(model.summary().split("θ = ")[1].split()[0])
    assert theta == pytest.approx(model.score(frame, y, sample_weight=weight), abs=1e-4)


# ---- from sketches


def members(seed=0, n=4000, n_classes=3):
    """Flags and categories under one key, in the order in which a sketch set keeps them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["blue", "green", "red", "white", "yellow"], n),
            "member": rng.random(n) < 0.4,
            "plan": rng.choice([f"p{i}" for i in range(8)], n),
            "vip": rng.random(n) < 0.2,
        }
    )
    latent = 2 * frame.member * frame.colour.isin(["blue", "red"]) + frame.plan.isin(["p1", "p4", "p6"])
    latent = latent + frame.vip + rng.normal(size=n)
    classes = np.searchsorted(np.quantile(latent, np.arange(1, n_classes) / n_classes), latent)
    return frame, np.array(["a", "b", "c", "d"])[classes]


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"max_depth": 3, "min_gain": 0.01},
        {"min_score": 0.2, "min_samples_leaf": 50},
        {"max_categories": 4, "min_samples_leaf": 20},
        {"class_weight": {"a": 2.0}, "max_leaf_nodes": 6},
    ],
    ids=str,
)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_exact_sketches_give_the_tree_of_the_rows(criterion, parameters, n_classes):
    """With every θ at 1 the fit from sketches is the fit from the same flags and categories as rows."""
    frame, y = members(n_classes=n_classes)
    sketches = tt.sketch(frame.assign(id=np.arange(len(y)), y=y), key="id", target="y", lg_k=14)
    model = tt.THAIDClassifier(criterion=criterion, **parameters)
    by_rows, by_sketches = clone(model).fit(frame, y), clone(model).fit(sketches)
    rows, sketched = by_rows.tree_, by_sketches.tree_
    assert rows.n_leaves > 1
    for name in (
        "kind",
        "feature",
        "missing_branch",
        "child",
        "n_node_samples",
        "category_start",
        "category",
    ):
        assert np.array_equal(getattr(rows, name), getattr(sketched, name)), name
    for name in ("score", "impurity", "values", "impurity_decrease", "weighted_n_node_samples"):
        assert np.allclose(getattr(rows, name), getattr(sketched, name), atol=1e-12, equal_nan=True), name
    assert (sketched.estimates.standard_error == 0).all()
    assert by_sketches.predict(frame).tolist() == by_rows.predict(frame).tolist()
    assert by_sketches.summary() == by_rows.summary()


def test_estimated_sketches_and_what_does_not_go_with_them(tmp_path):
    frame, y = members(n=20_000)
    sketches = tt.sketch(frame.assign(id=np.arange(len(y)), y=y), key="id", target="y", lg_k=9)
    model = tt.THAIDClassifier(max_depth=3).fit(sketches)
    assert model.get_n_leaves() > 1
    assert (model.tree_.estimates.standard_error > 0).any()
    assert (model.summary_frame().theta > model.summary_frame().theta_undivided).all()
    assert tt.THAIDClassifier(max_depth=3, min_gain=0.5).fit(sketches).get_n_leaves() == 1
    assert tt.THAIDClassifier(max_depth=3, min_score=0.99).fit(sketches).get_n_leaves() == 1
    model.save(tmp_path / "thaid.json")
    assert tt.load(tmp_path / "thaid.json").summary() == model.summary()
    with pytest.raises(ValueError, match=r"y does not go with a SketchSet"):
        tt.THAIDClassifier().fit(sketches, y)
    with pytest.raises(ValueError, match=r"missing='error' does not go with a SketchSet"):
        tt.THAIDClassifier(missing="error").fit(sketches)


# ---- the shared interface


@pytest.mark.parametrize("criterion", CRITERIA)
def test_iris(criterion):
    X, y = load_iris(return_X_y=True)
    model = tt.THAIDClassifier(criterion=criterion, min_samples_leaf=5).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert tt.export.to_text(model).startswith(f"classification tree by {criterion}")
    assert len(model.tree_.rules()) == model.get_n_leaves()


def test_weights_count_like_repeated_rows():
    frame, y = survey()
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    for criterion in CRITERIA:
        model = tt.THAIDClassifier(criterion=criterion, max_depth=5)
        weighted = clone(model).fit(frame, y, sample_weight=weight)
        repeated = clone(model).fit(frame.loc[frame.index.repeat(weight)], np.repeat(y, weight))
        assert np.array_equal(weighted.tree_.feature, repeated.tree_.feature)
        assert np.allclose(weighted.tree_.values, repeated.tree_.values)


def test_class_weight():
    frame, y = rows_of([50, 10], [30, 20])
    assert tt.THAIDClassifier().fit(frame, y).get_n_leaves() == 1
    for weight in ("balanced", {"B": 2.5}):
        model = tt.THAIDClassifier(class_weight=weight).fit(frame, y)
        assert model.get_n_leaves() == 2
        assert model.predict(frame[-1:]).tolist() == ["B"]


def test_saved_pickled_and_copied(tmp_path):
    frame, y = survey()
    model = tt.THAIDClassifier(min_gain=0.01, min_score=0.4, max_leaf_nodes=9).fit(frame, y)
    model.save(tmp_path / "thaid.json")
    loaded = tt.THAIDClassifier.load(tmp_path / "thaid.json")
    for again in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.tree_ == model.tree_
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
        assert again.summary() == model.summary()
    assert clone(loaded).fit(frame, y).tree_ == model.tree_


def test_a_tree_10_000_levels_deep(tmp_path):
    """delta is greatest where a side is pure, and with labels that alternate only a single row is."""
    n = 10_001
    x, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = tt.THAIDClassifier(criterion="delta").fit(x, y)
    assert model.get_depth() >= 9_990
    assert model.score(x, y) == 1.0
    model.save(tmp_path / "deep.json")
    assert tt.load(tmp_path / "deep.json").tree_ == model.tree_ == pickle.loads(pickle.dumps(model)).tree_
    assert len(model.summary_frame()) == model.get_n_leaves() - 1
    assert model.summary().count("\n") > 10_000


def test_best_first_pruned_and_drawn():
    frame, y = survey(n=1000)
    for most in (2, 5):
        assert tt.THAIDClassifier(max_leaf_nodes=most).fit(frame, y).get_n_leaves() == most
    full = tt.THAIDClassifier(criterion="weighted_delta").fit(frame, y)
    pruned = tt.THAIDClassifier(criterion="weighted_delta", ccp_alpha=0.01).fit(frame, y)
    assert 1 < pruned.get_n_leaves() < full.get_n_leaves()
    path = full.cost_complexity_pruning_path(frame, y)
    assert (np.diff(path.ccp_alphas) >= 0).all()
    drawn = tt.THAIDClassifier(max_features=1, random_state=1).fit(frame, y)
    assert drawn.tree_ == clone(drawn).fit(frame, y).tree_
    assert drawn.max_features_ == 1


def test_missing_values():
    x = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    learnt = tt.THAIDClassifier().fit(x, ["a", "a", "b", "b"])
    assert first_split(learnt) == "x0 is known"
    assert learnt.predict([[np.nan], [9.0]]).tolist() == ["b", "a"]
    with pytest.raises(ValueError, match=r"column 'x0' has missing values"):
        tt.THAIDClassifier(missing="error").fit(x, ["a", "a", "b", "b"])


def test_threads():
    frame, y = survey(n=20_000)
    for criterion in CRITERIA:
        one, two = (
            tt.THAIDClassifier(criterion=criterion, max_depth=6, n_jobs=k).fit(frame, y) for k in (1, 2)
        )
        assert one.tree_ == two.tree_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "gini"}, r"criterion must be one of 'theta', 'delta', 'weighted_delta'; got 'gini'"),
        ({"min_score": -1}, r"min_score must be a number between 0 and 2; got -1"),
        ({"min_gain": 2.5}, r"min_gain must be a number between 0 and 2; got 2.5"),
        ({"max_categories": 25}, r"max_categories must be a whole number between 2 and 24"),
        ({"max_leaf_nodes": 1}, r"max_leaf_nodes must be a whole number of at least 2 or None"),
        ({"missing": "fractional"}, r"missing must be one of 'learnt', 'majority', 'error'"),
        ({"class_weight": {7: 1}}, r"class_weight names 7, which is not a class"),
    ],
)
def test_refusals(parameters, message):
    frame, y = survey(n=40)
    with pytest.raises(ValueError, match=message):
        tt.THAIDClassifier(**parameters).fit(frame, y)
