"""AID by what it must do: known answers, each rule by hand, the order of division, printouts, odd inputs."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import thetatree as tt
from thetatree import criteria

FIVE = [[1.2], [2.5], [3.8], [4.1], [5.0]]
ANSWERS = [10, 12, 20, 22, 21]


def survey(seed=0, n=300):
    """A frame of a number, a flag, a free and an ordered category with gaps, and an income."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "urban": rng.random(n) < 0.4,
            "trade": rng.choice(["farm", "office", "shop", "works"], n),
            "school": pd.Categorical(
                rng.choice(["none", "some", "all"], n), categories=["none", "some", "all"], ordered=True
            ),
            "noise": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "trade"] = None
    income = frame.age / 20 + 3 * (frame.trade == "office") * frame.urban + (frame.school == "all")
    return frame, (income + rng.normal(size=n)).to_numpy()


def first_split(model):
    return model.tree_.to_frame().split[0]


def loss(tree):
    return tree.weighted_n_node_samples * tree.impurity


# ---- known answers


def test_best_cut_is_3_15_with_bss_120_of_tss_124():
    model = tt.AIDRegressor(max_depth=1).fit(FIVE, ANSWERS)
    assert first_split(model) == "x0 ≤ 3.15"
    row = model.summary_frame().iloc[0]
    assert (row.bss, row.tss) == pytest.approx((120, 124))
    assert row.r2 == pytest.approx(120 / 124)
    assert model.predict([[1], [9]]).tolist() == [11, 21]


@pytest.mark.parametrize("seed", range(20))
def test_seven_cuts_of_eight_categories_contain_the_best_of_127_partitions(seed):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(8), rng.integers(0, 8, 60)])
    y = rng.normal(size=8)[codes] + rng.normal(size=68)
    frame = pd.DataFrame({"c": np.array(list("abcdefgh"))[codes]})
    partitions = criteria.partitions(8)
    assert len(partitions) == len(set(partitions)) == 127
    best = max(
        criteria.score("squared_error", y, [y[np.isin(codes, left)], y[np.isin(codes, right)]])
        for left, right in partitions
    )
    model = tt.AIDRegressor(max_depth=1).fit(frame, y)
    assert model.tree_.score[0] == pytest.approx(best)


def test_all_features_constant():
    X = pd.DataFrame({"number": [7.0] * 6, "flag": [True] * 6, "word": ["same"] * 6, "none": [np.nan] * 6})
    model = tt.AIDRegressor().fit(X, range(6))
    assert model.tree_.node_count == 1
    assert model.predict(X).tolist() == [2.5] * 6
    assert "1 final group after 0 splits" in model.summary()
    assert len(model.summary_frame()) == len(model.trace_frame()) == 0


def test_a_branch_without_rows_is_never_made():
    """A category that training saw, but not in this group, joins a side that has rows, and its mean."""
    frame, y = survey()
    model = tt.AIDRegressor().fit(frame, y)
    assert (model.tree_.n_node_samples > 0).all()
    strange = frame.assign(trade="never seen", school=pd.Categorical(["none"] * len(frame)))
    leaves = model.apply(strange)
    assert np.array_equal(model.predict(strange), model.tree_.values[leaves, 0])


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e9])
def test_an_offset_of_y_changes_nothing(offset):
    frame, _ = survey()
    y = np.round(frame.age / 10 + frame.urban * 3).to_numpy() + np.arange(len(frame)) % 3
    plain, far = (tt.AIDRegressor(p1=0.02, p2=0.008).fit(frame, y + o) for o in (0.0, offset))
    assert np.array_equal(plain.tree_.feature, far.tree_.feature)
    assert np.array_equal(plain.tree_.threshold, far.tree_.threshold)
    assert np.allclose(plain.tree_.score, far.tree_.score, rtol=1e-6, equal_nan=True)


def test_constant_y_is_one_group():
    for y in ([3.0] * 5, [1e9 + 0.1] * 5, [0] * 5):
        model = tt.AIDRegressor(min_improvement=0.5, p1=0.5, p2=0.5).fit(FIVE, y)
        assert model.tree_.node_count == 1
        assert model.tree_.impurity[0] == 0
        assert "R² = 0 " in model.summary()


def test_a_split_needs_a_gain():
    xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    assert tt.CARTRegressor().fit(xor, [0, 1, 1, 0]).get_n_leaves() == 4
    assert tt.AIDRegressor().fit(xor, [0, 1, 1, 0]).get_n_leaves() == 1


# ---- when a split is worth making


def test_min_improvement_is_a_share_of_the_groups_own_tss():
    full = tt.AIDRegressor().fit(FIVE, ANSWERS).summary_frame()
    assert full.improvement.tolist() == pytest.approx([120 / 124, 1, 0.75, 1])
    at = tt.AIDRegressor(min_improvement=0.75).fit(FIVE, ANSWERS)
    assert at.get_n_leaves() == 5
    above = tt.AIDRegressor(min_improvement=0.76).fit(FIVE, ANSWERS)
    assert above.summary_frame().improvement.tolist() == pytest.approx([120 / 124, 1])
    assert tt.AIDRegressor(min_improvement=0.97).fit(FIVE, ANSWERS).get_n_leaves() == 1


def test_p2_is_a_share_of_the_original_tss():
    assert tt.AIDRegressor(p2=2 / 124).fit(FIVE, ANSWERS).get_n_leaves() == 3
    assert tt.AIDRegressor(p2=2.01 / 124).fit(FIVE, ANSWERS).get_n_leaves() == 2
    assert tt.AIDRegressor(p2=120 / 124).fit(FIVE, ANSWERS).get_n_leaves() == 2
    assert tt.AIDRegressor(p2=0.97).fit(FIVE, ANSWERS).get_n_leaves() == 1


def test_p1_says_which_groups_are_candidates():
    assert tt.AIDRegressor(p1=2 / 124).fit(FIVE, ANSWERS).get_n_leaves() == 4  # the group of 0.5 is none
    assert tt.AIDRegressor(p1=2.01 / 124).fit(FIVE, ANSWERS).get_n_leaves() == 2
    assert tt.AIDRegressor(p1=1.0).fit(FIVE, ANSWERS).get_n_leaves() == 2


def test_the_two_rules_of_improvement_differ():
    """2% of the group's own TSS grows on and on; 2% and 0.8% of the original one stops early."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (1000, 6)).astype(float)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 4) + rng.normal(size=1000) * 2
    own = tt.AIDRegressor(min_improvement=0.02, min_samples_leaf=10).fit(X, y)
    original = tt.AIDRegressor(p1=0.02, p2=0.008, min_samples_leaf=10).fit(X, y)
    assert own.get_n_leaves() > 2 * original.get_n_leaves() > 8
    frame = original.summary_frame()
    assert (frame.bss >= 0.008 * frame.tss[0]).all()
    assert (frame.tss >= 0.02 * frame.tss[0]).all()


def test_group_sizes_bind_the_search():
    """The best cut leaves one row on a side; with two rows asked for, the next best is taken."""
    x = [[1], [2], [3], [4], [5], [6]]
    y = [100, 0, 0, 10, 10, 10]
    assert first_split(tt.AIDRegressor(max_depth=1).fit(x, y)) == "x0 ≤ 1.5"
    assert first_split(tt.AIDRegressor(max_depth=1, min_samples_leaf=2).fit(x, y)) == "x0 ≤ 2.5"
    heavy = tt.AIDRegressor(max_depth=1, min_weight_fraction_leaf=0.3)
    assert first_split(heavy.fit(x, y, sample_weight=[1, 1, 1, 1, 1, 5])) == "x0 ≤ 3.5"


# ---- the order of division


def test_the_group_of_the_greatest_tss_is_divided_first():
    frame, y = survey()
    full = tt.AIDRegressor(min_samples_leaf=10).fit(frame, y)
    splits = full.summary_frame()
    for most in (2, 3, 5, 8):
        model = tt.AIDRegressor(min_samples_leaf=10, max_groups=most).fit(frame, y)
        assert model.get_n_leaves() == most
        ours = model.summary_frame()
        assert ours.equals(splits.head(most - 1).assign(node=ours.node))
        # Whatever could still be divided holds less than what was divided last.
        open_nodes = np.flatnonzero(model.tree_.is_leaf & (np.nan_to_num(model.tree_.trace).max(axis=1) > 0))
        assert (loss(model.tree_)[open_nodes] <= ours.tss.iloc[-1] + 1e-9).all()


def test_max_groups_is_not_best_first_by_gain():
    """The noisy half holds more variation, the other half the better split."""
    x = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2], [1, 3]] * 4, dtype=float)
    rng = np.random.default_rng(0)
    y = np.where(x[:, 0] == 0, 100 + 8 * (x[:, 1] > 1), rng.normal(size=32) * 9)
    model = tt.AIDRegressor(max_groups=3).fit(x, y)
    by_gain = tt.CARTRegressor(max_leaf_nodes=3).fit(x, y)
    assert model.summary_frame().tss[1] == loss(model.tree_)[[1, model.tree_.children_right[0]]].max()
    assert model.tree_.feature.tolist() != by_gain.tree_.feature.tolist()


# ---- monotonic and free predictors


ORDERED = ["low", "mid", "high", "top"]
PEAK = [0, 10, 0, 10]  # free: {low, high} against {mid, top}


def ratings(make):
    return [label for label in ORDERED for _ in range(5)], np.repeat(PEAK, 5) + make


def test_free_categories_are_parted_by_mean():
    labels, y = ratings(0.0)
    model = tt.AIDRegressor(max_depth=1).fit(pd.DataFrame({"r": pd.Categorical(labels)}), y)
    assert first_split(model) == "r in {'high', 'low'}"
    assert model.tree_.impurity[1] == 0


@pytest.mark.parametrize(
    "column",
    [
        lambda v: pd.DataFrame({"r": pd.Categorical(v, categories=ORDERED, ordered=True)}),
        lambda v: pd.DataFrame({"r": pd.Categorical(v, categories=ORDERED)}),
        lambda v: pd.DataFrame({"r": pd.Categorical(v, categories=["unused", *ORDERED])}),
        lambda v: pl.DataFrame({"r": pl.Series(v, dtype=pl.Enum(ORDERED))}),
    ],
    ids=["ordered pandas", "pandas", "with an unused label", "polars Enum"],
)
@pytest.mark.parametrize("named", [["r"], [0], "r"])
def test_monotonic_categories_are_cut_between_neighbours(column, named):
    labels, y = ratings(0.0)
    model = tt.AIDRegressor(max_depth=1, monotonic=named).fit(column(labels), y)
    assert first_split(model) == "r in {'low'}"  # of equal cuts (the first and the last) the first
    full = tt.AIDRegressor(monotonic=named).fit(column(labels), y)
    assert full.get_n_leaves() == 4
    assert full.predict(column(ORDERED)).tolist() == PEAK


def test_labels_without_a_declared_order_are_sorted():
    frame = pd.DataFrame({"r": list("dcba") * 3})
    model = tt.AIDRegressor(max_depth=1, monotonic=["r"]).fit(frame, [4, 3, 2, 0] * 3)
    assert first_split(model) == "r in {'a'}" or first_split(model) == "r in {'a', 'b'}"
    arrow = tt.AIDRegressor(max_depth=1, monotonic=[0]).fit(
        pl.from_pandas(frame).to_arrow(), [4, 3, 2, 0] * 3
    )
    assert first_split(arrow) == first_split(model)


def test_a_monotonic_category_that_a_group_lacks_goes_where_its_order_says():
    frame = pd.DataFrame(
        {
            "g": [True] * 9 + [False] * 6,
            "r": pd.Categorical(list("aaabbbccc") + list("aaaccc"), ordered=True),
        }
    )
    y = np.array([50.0] * 3 + [52] * 3 + [56] * 3 + [0.0] * 3 + [5] * 3)
    model = tt.AIDRegressor(monotonic=["r"]).fit(frame, y)
    assert model.predict(pd.DataFrame({"g": [False], "r": ["b"]})) == [5]  # the cut lies above "a"
    back = tt.AIDRegressor(monotonic=["r"]).fit(
        frame.assign(r=frame.r.cat.reorder_categories(list("cba"))), y
    )
    assert back.predict(pd.DataFrame({"g": [False], "r": ["b"]})) == [0]


def test_monotonic_numbers_and_flags_are_as_they_are():
    frame, y = survey()
    free = tt.AIDRegressor(max_depth=4).fit(frame, y)
    marked = tt.AIDRegressor(max_depth=4, monotonic=["age", "urban", "noise"]).fit(frame, y)
    assert marked.tree_ == free.tree_


# ---- ranks and force


def test_a_lower_tier_goes_first_while_it_can_split():
    frame, y = survey()
    assert first_split(tt.AIDRegressor().fit(frame, y)).startswith("age")
    ranked = tt.AIDRegressor(ranks={"urban": 0}, min_samples_leaf=10).fit(frame, y)
    assert first_split(ranked) == "urban"
    # A flag splits once; below it the others follow.
    assert {ranked.tree_.feature[i] for i in (1, ranked.tree_.children_right[0])} != {1}
    last = tt.AIDRegressor(ranks={"age": 2}, min_samples_leaf=10).fit(frame, y)
    assert not first_split(last).startswith("age")
    by_place = tt.AIDRegressor(ranks={1: 0}, min_samples_leaf=10).fit(frame, y)
    assert by_place.tree_ == ranked.tree_


def test_a_tier_without_an_admissible_split_is_passed_over():
    frame, y = survey()
    first = tt.AIDRegressor(ranks={"noise": 0}).fit(frame, y)
    assert first_split(first).startswith("noise")
    worth = tt.AIDRegressor(ranks={"noise": 0}, p2=0.05).fit(frame, y)
    assert first_split(worth) == first_split(tt.AIDRegressor().fit(frame, y))
    same = tt.AIDRegressor(ranks=dict.fromkeys(frame, 3)).fit(frame, y)
    assert same.tree_ == tt.AIDRegressor().fit(frame, y).tree_


def test_the_trace_shows_later_tiers_too():
    frame, y = survey()
    plain = tt.AIDRegressor(max_depth=1).fit(frame, y)
    ranked = tt.AIDRegressor(max_depth=1, ranks={"urban": 0}).fit(frame, y)
    assert np.array_equal(plain.tree_.trace[0], ranked.tree_.trace[0])


@pytest.mark.parametrize("named", ["noise", 4])
def test_a_forced_first_split(named):
    frame, y = survey()
    model = tt.AIDRegressor(force=named, max_depth=3).fit(frame, y)
    assert model.tree_.feature[0] == 4
    assert set(model.tree_.feature[[1, model.tree_.children_right[0]]]) != {4}
    # It need not be worth it, but sizes hold.
    strict = tt.AIDRegressor(force=named, p1=0.02, p2=0.05, min_improvement=0.05, min_samples_leaf=40)
    tree = strict.fit(frame, y).tree_
    assert tree.feature[0] == 4
    assert tree.n_node_samples.min() >= 40
    assert (tree.score[1:][~tree.is_leaf[1:]] >= 0.05 * loss(tree)[0]).all()


def test_a_forced_split_that_cannot_be_made_is_refused():
    frame, y = survey()
    with pytest.raises(ValueError, match=r"force='same' cannot make the first split"):
        tt.AIDRegressor(force="same").fit(frame.assign(same=1.0), y)
    with pytest.raises(ValueError, match=r"force=1 cannot"):
        tt.AIDRegressor(force=1, min_samples_leaf=140).fit(frame, y)
    assert tt.AIDRegressor(force="same").fit(frame.assign(same=1.0), y * 0).get_n_leaves() == 1


# ---- the printout


def test_summary_frame_adds_up():
    frame, y = survey()
    weight = np.random.default_rng(5).integers(1, 4, len(y)).astype(float)
    model = tt.AIDRegressor(min_samples_leaf=15, p2=0.005).fit(frame, y, sample_weight=weight)
    splits = model.summary_frame()
    assert len(splits) == model.get_n_leaves() - 1 > 3
    assert splits.tss.is_monotonic_decreasing
    mean = np.average(y, weights=weight)
    assert splits.tss[0] == pytest.approx((weight * (y - mean) ** 2).sum())
    assert np.allclose(splits.tss, splits.bss + splits.left_tss + splits.right_tss)
    assert splits.r2.iloc[-1] == pytest.approx(model.score(frame, y, sample_weight=weight))
    assert np.allclose(splits.r2_gained, splits.bss / splits.tss[0])
    assert np.allclose(splits.improvement, splits.bss / splits.tss)
    assert (splits.left_n + splits.right_n == splits.n).all()
    for side in ("left", "right"):
        for _, row in splits.iterrows():
            node = row.node + 1 if side == "left" else model.tree_.children_right[row.node]
            inside = np.asarray(model.decision_path(frame)[:, [node]].todense()).ravel() == 1
            assert inside.sum() == row[f"{side}_n"]
            assert np.average(y[inside], weights=weight[inside]) == pytest.approx(row[f"{side}_mean"])
            spread = np.average((y[inside] - row[f"{side}_mean"]) ** 2, weights=weight[inside])
            assert row[f"{side}_sd"] == pytest.approx(np.sqrt(spread))


def test_the_trace_is_each_predictors_best_bss():
    frame, y = survey()
    model = tt.AIDRegressor(max_groups=4).fit(frame, y)
    trace = model.trace_frame()
    assert trace.columns.tolist() == ["group", *frame.columns]
    root = tt.candidates(frame, y, "squared_error")
    assert np.allclose(trace.iloc[0, 1:].astype(float), root.score)
    splits = model.summary_frame()
    assert trace.group.tolist() == splits.group.tolist()
    assert np.allclose(trace.iloc[:, 1:].max(axis=1), splits.bss)
    second = np.asarray(model.decision_path(frame)[:, [splits.node[1]]].todense()).ravel() == 1
    below = tt.candidates(frame[second], y[second], "squared_error")
    assert np.allclose(trace.iloc[1, 1:].astype(float), below.score)


def test_without_a_trace():
    frame, y = survey()
    with_trace = tt.AIDRegressor(max_depth=3).fit(frame, y)
    without = tt.AIDRegressor(max_depth=3, trace=False).fit(frame, y)
    assert without.tree_.trace is None
    assert np.array_equal(without.tree_.threshold, with_trace.tree_.threshold, equal_nan=True)
    assert "best BSS" not in without.summary()
    with pytest.raises(ValueError, match=r"fit it with trace=True"):
        without.trace_frame()


def test_drawn_predictors_are_the_ones_traced():
    frame, y = survey()
    model = tt.AIDRegressor(max_depth=3, max_features=2, random_state=3).fit(frame, y)
    assert model.tree_ == clone(model).fit(frame, y).tree_
    found = (~np.isnan(model.tree_.trace[~model.tree_.is_leaf])).sum(axis=1)
    assert (found >= 1).all()
    assert (found <= 3).all()
    assert model.max_features_ == 2


def test_summary_of_a_pruned_tree():
    frame, y = survey()
    model = tt.AIDRegressor(ccp_alpha=0.05).fit(frame, y)
    assert 1 < model.get_n_leaves() < tt.AIDRegressor().fit(frame, y).get_n_leaves()
    assert len(model.summary_frame()) == model.get_n_leaves() - 1
    assert np.allclose(model.trace_frame().iloc[:, 1:].max(axis=1), model.summary_frame().bss)


# ---- the shared interface


def test_whole_weights_count_like_repeated_rows():
    frame, y = survey()
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    again = frame.loc[frame.index.repeat(weight)]
    weighted = tt.AIDRegressor(p1=0.02, p2=0.008).fit(frame, y, sample_weight=weight)
    repeated = tt.AIDRegressor(p1=0.02, p2=0.008).fit(again, np.repeat(y, weight))
    assert np.array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert np.allclose(weighted.tree_.values, repeated.tree_.values)
    assert np.allclose(weighted.tree_.score, repeated.tree_.score, equal_nan=True)


def test_saved_pickled_and_copied(tmp_path):
    frame, y = survey()
    model = tt.AIDRegressor(p2=0.01, monotonic=["school"], ranks={"age": 0}, force="urban", max_groups=7)
    model.fit(frame, y)
    model.save(tmp_path / "aid.json")
    loaded = tt.AIDRegressor.load(tmp_path / "aid.json")
    for again in (loaded, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.tree_ == model.tree_
        assert again.get_params() == model.get_params() or again is loaded
        assert np.array_equal(again.predict(frame), model.predict(frame))
        assert again.summary() == model.summary()
        assert again.trace_frame().equals(model.trace_frame())
    assert clone(loaded).fit(frame, y).tree_ == model.tree_


def test_a_tree_10_000_levels_deep(tmp_path):
    """With y that alternates the best cut sets one row apart, every time."""
    n = 10_001
    x, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2.0
    model = tt.AIDRegressor().fit(x, y)
    assert model.get_depth() >= 9_990
    assert model.score(x, y) == 1.0
    model.save(tmp_path / "deep.json")
    again = tt.load(tmp_path / "deep.json")
    assert again.tree_ == model.tree_ == pickle.loads(pickle.dumps(model)).tree_
    assert len(model.summary_frame()) == model.get_n_leaves() - 1
    assert model.summary().count("\n") > 10_000
    assert tt.AIDRegressor(max_groups=9_000).fit(x, y).get_n_leaves() == 9_000


def test_threads_and_text():
    frame, y = survey(n=20_000)
    one, two = (tt.AIDRegressor(max_depth=6, n_jobs=k).fit(frame, y) for k in (1, 2))
    assert one.tree_ == two.tree_
    assert one.feature_importances_.sum() == pytest.approx(1)
    assert tt.export.to_text(one).startswith("regression tree by squared_error")
    assert len(one.tree_.rules()) == one.get_n_leaves()


def test_missing_values():
    x = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    learnt = tt.AIDRegressor().fit(x, [1, 1, 5, 5])
    assert first_split(learnt) == "x0 is known"
    assert learnt.predict([[np.nan], [9.0]]).tolist() == [5, 1]
    assert tt.AIDRegressor(missing="majority").fit(x, [1, 2, 5, 5]).get_n_leaves() == 2
    with pytest.raises(ValueError, match=r"column 'x0' has missing values"):
        tt.AIDRegressor(missing="error").fit(x, [1, 1, 5, 5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_improvement": 1.5}, r"min_improvement must be a number between 0 and 1; got 1.5"),
        ({"min_improvement": "0.1"}, r"min_improvement must be a number"),
        ({"p1": -0.1}, r"p1 must be a number between 0 and 1"),
        ({"p2": 2}, r"p2 must be a number between 0 and 1; got 2"),
        ({"max_groups": 1}, r"max_groups must be a whole number of at least 2 or None; got 1"),
        ({"monotonic": ["school", "shool"]}, r"monotonic names 'shool', which is not a column of X: \['age'"),
        ({"monotonic": [9]}, r"monotonic names 9"),
        ({"monotonic": 1.5}, r"monotonic names 1.5"),
        ({"ranks": {"agee": 1}}, r"ranks names 'agee'"),
        ({"ranks": {"age": 1.5}}, r"ranks\['age'\] must be a whole number; got 1.5"),
        ({"ranks": ["age"]}, r"ranks must be a dict of tiers by column; got \['age'\]"),
        ({"force": "agee"}, r"force names 'agee', which is not a column of X"),
        ({"force": -1}, r"force names -1"),
        ({"force": True}, r"force names True"),
        ({"missing": "fractional"}, r"missing must be one of 'learnt', 'majority', 'error'"),
    ],
)
def test_refusals(parameters, message):
    frame, y = survey(n=40)
    with pytest.raises(ValueError, match=message):
        tt.AIDRegressor(**parameters).fit(frame, y)
