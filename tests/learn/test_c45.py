"""C45Classifier: the published figures, each rule, parts of cases, pruning, files, sketches, odd input."""

import hashlib
import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from naive.play import with_a_gap, with_names, with_numbers
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import thetatree as tt
from thetatree.tree.tree import EVERY_BRANCH


def leaf_figures(tree):
    """Weight and errors of each leaf."""
    weight = tree.weighted_n_node_samples[tree.is_leaf]
    return list(zip(weight, weight * (1 - tree.values[tree.is_leaf].max(axis=1)), strict=True))


# The figures of the book


def test_ratios_of_the_named_days():
    X, y = with_names()
    ratio = tt.C45Classifier().root_candidates(X, y).set_index("feature").gain_ratio
    expected = {"outlook": 0.1564, "humidity": 0.1518, "windy": 0.0488, "temperature": 0.0188}
    assert ratio.round(4).to_dict() == expected
    tree = tt.C45Classifier().fit(X, y).tree_
    assert (tree.n_leaves, tree.node_count) == (5, 8)
    assert tree.features[tree.feature[0]].name == "outlook"


def test_tree_of_the_days_with_numbers():
    X, y = with_numbers()
    model = tt.C45Classifier().fit(X, y)
    tree = model.tree_
    assert (tree.n_leaves, tree.node_count) == (5, 8)
    assert tree.features[tree.feature[0]].name == "outlook"
    root = model.root_candidates(X, y).set_index("feature").loc["outlook"]
    assert root.gain == pytest.approx(0.24675, abs=5e-6)
    assert root.gain_ratio == pytest.approx(0.15643, abs=5e-6) == tree.score[0]
    assert tree.impurity_decrease[0] == pytest.approx(0.24675, abs=5e-6)
    sunny = X.outlook == "sunny"
    humidity = model.root_candidates(X[sunny], y[sunny]).set_index("feature").loc["humidity"]
    # Cuts above 70 and 85 leave two cases on either side: two of them, so the price is log2(2) / 5.
    assert humidity.gain == pytest.approx(0.97095 - 0.2, abs=5e-6)
    # The greatest value of all days that is not above (70 + 85) / 2.
    assert str(tree.rules()[-1]) == "outlook = 'sunny' and humidity > 75"
    without_price = tt.C45Classifier(mdl=False).root_candidates(X[sunny], y[sunny]).set_index("feature")
    assert without_price.gain["humidity"] == pytest.approx(0.97095, abs=5e-6)


def test_days_with_an_unknown_outlook():
    X, y = with_a_gap()
    model = tt.C45Classifier().fit(X, y)
    root = model.root_candidates(X, y).set_index("feature").loc["outlook"]
    figures = [round(root[name], 4) for name in ("gain", "split_information", "gain_ratio")]
    assert figures == [0.1990, 1.8092, 0.1100]
    leaves = {str(rule): rule.leaf for rule in model.tree_.rules()}
    weight = model.tree_.weighted_n_node_samples
    wrong = weight * (1 - model.tree_.values.max(axis=1))
    got = {rule: (round(weight[leaf], 2), round(wrong[leaf], 2)) for rule, leaf in leaves.items()}
    assert got == {
        "outlook = 'overcast'": (3.23, 0),
        "outlook = 'rain' and windy": (2.38, 0.38),
        "outlook = 'rain' and not windy": (3, 0),
        "outlook = 'sunny' and humidity ≤ 75": (2, 0),
        "outlook = 'sunny' and humidity > 75": (3.38, 0.38),
    }


def test_a_case_that_is_asked_for_an_unknown_value():
    X, y = with_a_gap()
    model = tt.C45Classifier().fit(X, y)
    case = pd.DataFrame({"outlook": ["sunny"], "temperature": [70.0], "humidity": [np.nan], "windy": [False]})
    shares = dict(zip(model.classes_, model.predict_proba(case)[0], strict=True))
    low, high = 2 / (5 + 5 / 13 - 0), (3 + 5 / 13) / (5 + 5 / 13)
    assert shares["Play"] == pytest.approx(low + high * (5 / 13) / (3 + 5 / 13))
    assert shares["Play"] == pytest.approx(0.44, abs=5e-3)
    assert model.predict(case).tolist() == ["Don't"]


@pytest.mark.parametrize(
    ("load", "before", "after", "errors"),
    [(load_iris, 9, 9, 3), (load_wine, 9, 9, 2), (load_breast_cancer, 29, 25, 5)],
)
def test_sizes_of_release_8(load, before, after, errors):
    X, y = load(return_X_y=True)
    training = tt.C45Classifier().fit(X, y).training_
    assert (training.grown.nodes, training.pruned.nodes, training.pruned.errors) == (before, after, errors)


# The search


def test_guard_of_the_average_gain():
    """A test that parts off a few cases has a good ratio; it loses to one that gains more."""
    i = np.arange(100)
    X = pd.DataFrame({"tail": (i >= 46) & (i < 50), "half": (i < 34) | (i >= 84)})
    y = (i < 50).astype(int)
    found = tt.C45Classifier().root_candidates(X, y).set_index("feature")
    assert found.gain_ratio["tail"] > found.gain_ratio["half"]
    assert found.gain["tail"] < found.gain.mean() - 1e-3 < found.gain["half"]
    tree = tt.C45Classifier().fit(X, y).tree_
    assert tree.features[tree.feature[0]].name == "half"


def test_a_category_of_very_many_values_stays_out_of_the_average():
    """Pairs of cases gain more than all else; were they counted, nothing else would reach the average."""
    rng = np.random.default_rng(0)
    n = 60
    good = rng.random(n) < 0.5
    y = np.where(rng.random(n) < 0.15, ~good, good)
    frame = pd.DataFrame({"pair": pd.Categorical(np.arange(n) // 2), "good": good})
    found = tt.C45Classifier().root_candidates(frame, y).set_index("feature")
    assert found.gain["good"] < found.gain.mean() - 1e-3
    tree = tt.C45Classifier(max_depth=1).fit(frame, y).tree_
    assert tree.features[tree.feature[0]].name == "good"
    by_gain = tt.C45Classifier(max_depth=1, criterion="gain", pruning=None).fit(frame, y).tree_
    assert by_gain.features[by_gain.feature[0]].name == "pair"


def test_least_cases_beside_a_cut():
    """A tenth of the cases per class, but no more than 25 and no fewer than min_samples_leaf."""
    for n, least in ((40, 2), (100, 5), (2000, 25)):
        x = np.arange(n, dtype=float)
        y = (np.arange(n) < 1).astype(int)
        options = {"mdl": False, "pruning": None, "max_depth": 1, "collapse": False}
        tree = tt.C45Classifier(**options).fit(x.reshape(-1, 1), y).tree_
        assert sorted(tree.n_node_samples[1:].tolist()) == [least, n - least]
        tree = tt.C45Classifier(**options, min_samples_leaf=30).fit(x.reshape(-1, 1), y).tree_
        assert tree.node_count == 1 if n < 60 else min(tree.n_node_samples[1:]) == 30


def test_two_branches_of_a_category_need_enough_cases():
    frame = pd.DataFrame({"c": pd.Categorical(list("aaaaab"))})
    y = [0, 0, 0, 0, 0, 1]
    assert tt.C45Classifier(pruning=None).fit(frame, y).get_n_leaves() == 1
    assert tt.C45Classifier(pruning=None, min_samples_leaf=1).fit(frame, y).get_n_leaves() == 2
    third = pd.DataFrame({"c": pd.Categorical(list("aaaaabbc"))})
    tree = tt.C45Classifier(pruning=None).fit(third, [0, 0, 0, 0, 0, 1, 1, 1]).tree_
    assert tree.n_node_samples.tolist() == [8, 5, 2, 1]


def test_thresholds_are_values_of_the_training_data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0.1) + (X[:, 1] > X[:, 2])
    tree = tt.C45Classifier().fit(X, y).tree_
    assert tree.node_count > 9
    for node in np.flatnonzero(~tree.is_leaf):
        assert tree.threshold[node] in X[:, tree.feature[node]]


def test_the_stored_threshold_is_of_the_whole_data():
    """In the node only 0, 1, 10 and 11 are found, but 5 occurs elsewhere and lies below the middle."""
    X = np.array([[0, 0], [0, 1], [0, 10], [0, 11], [1, 5], [1, 5.6], [1, 5], [1, 5]], dtype=float)
    y = [0, 0, 1, 1, 2, 2, 2, 2]
    tree = tt.C45Classifier(mdl=False, pruning=None).fit(X, y).tree_
    inner = {int(tree.feature[i]): float(tree.threshold[i]) for i in np.flatnonzero(~tree.is_leaf)}
    assert inner == {0: 0.0, 1: 5.0}


def test_grouped_values():
    frame = pd.DataFrame({"c": pd.Categorical(np.repeat(list("abcd"), 10))})
    y = np.repeat([0, 1, 0, 1], 10)
    tree = tt.C45Classifier(subsets=True).fit(frame, y).tree_
    assert [str(rule) for rule in tree.rules()] == ["c in {'a', 'c'}", "c in {'b', 'd'}"]
    many = tt.C45Classifier().fit(frame, y).tree_
    assert many.node_count == 5


def test_values_are_not_grouped_where_too_few_branches_would_have_enough_cases():
    """a and b together leave c alone with its one case; all three apart is the best that may be."""
    frame = pd.DataFrame({"c": pd.Categorical(list("aabbc"))})
    grown = tt.C45Classifier(subsets=True, pruning=None).fit(frame, [0, 0, 0, 0, 1]).tree_
    assert [str(rule) for rule in grown.rules()] == ["c = 'a'", "c = 'b'", "c = 'c'"]


def test_a_grouped_value_that_the_node_did_not_have_is_parted():
    frame = pd.DataFrame(
        {
            "n": np.repeat([0.0, 1.0], 40),
            "c": pd.Categorical(list("abcd" * 10) + ["e"] * 40),
            "noise": np.arange(80) % 8 < 4,
            "more": np.arange(80) % 16 < 8,
        }
    )
    y = np.concatenate([np.tile([0, 1, 0, 1], 10), np.full(40, 2)])
    model = tt.C45Classifier(subsets=True).fit(frame, y)
    assert [str(rule) for rule in model.tree_.rules()] == [
        "n ≤ 0 and c in {'a', 'c'}",
        "n ≤ 0 and c in {'b', 'd'}",
        "n > 0",
    ]
    asked = pd.DataFrame({"n": [0.0], "c": ["e"], "noise": [True], "more": [True]})
    assert model.predict_proba(asked).round(6).tolist() == [[0.5, 0.5, 0.0]]


def test_one_value_against_the_others():
    frame = pd.DataFrame({"c": pd.Categorical(np.repeat(list("abc"), 10))})
    y = np.repeat([0, 1, 0], 10)
    tree = tt.C45Classifier(binary_categories=True).fit(frame, y).tree_
    assert [str(rule) for rule in tree.rules()] == ["c in {'b'}", "c not in {'b'}"]


def test_once_per_path():
    rng = np.random.default_rng(2)
    X = rng.random((400, 2))
    y = ((X[:, 0] > 0.3) & (X[:, 0] < 0.6)).astype(int)
    free = tt.C45Classifier().fit(X, y).tree_
    once = tt.C45Classifier(once_per_path=True, pruning=None, collapse=False).fit(X, y).tree_
    assert free.max_depth >= 2
    for tree, most in ((free, 9), (once, 1)):
        path = {0: []}
        for node in range(1, tree.node_count):
            above = int(tree.parent[node])
            path[node] = [*path[above], int(tree.feature[above])]
        assert max(p.count(f) for p in path.values() for f in (0, 1)) <= most
    assert free.node_count > 1


def test_least_gain_ratio():
    X, y = with_names()
    assert tt.C45Classifier(min_gain_ratio=0.1564).fit(X, y).get_n_leaves() == 5
    assert tt.C45Classifier(min_gain_ratio=0.1565).fit(X, y).get_n_leaves() == 1


def test_limits_of_size_bind():
    rng = np.random.default_rng(3)
    X = rng.random((300, 4))
    y = (X[:, 0] + X[:, 1] + rng.random(300) > 1.5).astype(int)
    grown = {"pruning": None, "collapse": False, "mdl": False}
    assert tt.C45Classifier(max_depth=2, **grown).fit(X, y).get_depth() == 2
    assert tt.C45Classifier(min_samples_split=100, **grown).fit(X, y).tree_.n_node_samples[0] == 300
    inner = tt.C45Classifier(min_samples_split=100, **grown).fit(X, y).tree_
    assert inner.n_node_samples[~inner.is_leaf].min() >= 100
    leaves = tt.C45Classifier(min_samples_leaf=0.1, **grown).fit(X, y).tree_
    assert leaves.n_node_samples.min() >= 30
    share = tt.C45Classifier(min_weight_fraction_leaf=0.2, **grown).fit(X, y).tree_
    assert share.n_node_samples.min() >= 60
    decrease = tt.C45Classifier(min_impurity_decrease=0.05, **grown).fit(X, y).tree_
    assert decrease.impurity_decrease[~decrease.is_leaf].min() >= 0.05
    pure = tt.C45Classifier(min_impurity_split=0.7, **grown).fit(X, y).tree_
    assert pure.impurity[~pure.is_leaf].min() > 0.7


def test_features_drawn_at_random():
    rng = np.random.default_rng(4)
    X = rng.random((200, 6))
    y = (X.sum(axis=1) > 3).astype(int)
    trees = [tt.C45Classifier(max_features=2, random_state=s).fit(X, y).tree_ for s in (0, 0, 1)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


# Collapse and pruning


def test_collapse():
    """A split that leaves the same class on both sides makes no fewer errors, however much it gains."""
    flag = pd.DataFrame({"f": np.repeat([True, False], [20, 20])})
    y = np.concatenate([np.repeat([0, 1], [20, 0]), np.repeat([0, 1], [12, 8])])
    assert tt.C45Classifier(pruning=None).fit(flag, y).get_n_leaves() == 1
    assert tt.C45Classifier(pruning=None, collapse=False).fit(flag, y).get_n_leaves() == 2


def test_pruning_puts_a_branch_in_place_of_its_node():
    """A root that parts off a few noisy cases gives way to its larger branch, which then counts them too."""
    found = raised_tree()
    assert found is not None
    X, y, with_raising, without = found
    for tree in (with_raising.tree_, without.tree_):
        weights = tree.weighted_n_node_samples
        for node in np.flatnonzero(~tree.is_leaf):
            children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
            assert weights[children].sum() == pytest.approx(weights[node])
    grown = tt.C45Classifier(pruning=None).fit(X, y).tree_
    # What was raised is a test of the grown tree, further down than it stands now.
    assert with_raising.tree_.node_count < grown.node_count
    assert with_raising.tree_.weighted_n_node_samples[0] == len(y)


def raised_tree():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 8, size=(120, 4)).astype(float)
        y = np.where(rng.random(120) < 0.25, rng.integers(0, 2, 120), X[:, 0] > 3)
        with_raising, without = (tt.C45Classifier(raising=r).fit(X, y) for r in (True, False))
        if with_raising.tree_ != without.tree_ and with_raising.tree_.node_count > 1:
            return X, y, with_raising, without
    return None


def test_smaller_confidence_prunes_more():
    rng = np.random.default_rng(5)
    X = rng.random((500, 5))
    y = np.where(rng.random(500) < 0.2, rng.integers(0, 2, 500), X[:, 0] + X[:, 1] > 1)
    sizes = [tt.C45Classifier(confidence=c).fit(X, y).tree_.node_count for c in (0.001, 0.1, 0.25, 0.9)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


@pytest.mark.parametrize("limits", ["release8", "exact", "normal"])
def test_limits_of_the_errors(limits):
    X, y = load_breast_cancer(return_X_y=True)
    model = tt.C45Classifier(limits=limits).fit(X, y)
    from thetatree.tree.pessimistic import estimated_errors

    estimate = estimated_errors(model.tree_, 0.25, limits)[1][model.tree_.is_leaf].sum()
    assert model.training_.pruned.estimate == pytest.approx(estimate)
    assert model.training_.pruned.errors < estimate < model.training_.grown.estimate + 1


def test_cost_complexity_pruning():
    X, y = load_breast_cancer(return_X_y=True)
    path = tt.C45Classifier().cost_complexity_pruning_path(X, y)
    full = tt.C45Classifier(pruning=None).fit(X, y)
    assert full.tree_.node_count == 29
    assert path.impurities[0] == pytest.approx(
        (full.tree_.impurity * full.tree_.weighted_n_node_samples)[full.tree_.is_leaf].sum() / len(y)
    )
    small = tt.C45Classifier(pruning=None, ccp_alpha=float(path.ccp_alphas[-2])).fit(X, y)
    assert 1 < small.get_n_leaves() < full.get_n_leaves()
    assert small.training_.pruned.nodes == small.tree_.node_count
    assert small.training_.grown.nodes == 29


def test_pruned_as_other_learners_prune():
    X, y = load_breast_cancer(return_X_y=True)
    X[::7, 3] = np.nan
    options = {"random_state": 0, "min_impurity_decrease": 0.05}
    for pruning in ("validation", "min_impurity"):
        model = tt.C45Classifier(pruning=pruning, **options).fit(X, y)
        assert 1 < model.training_.pruned.nodes <= model.training_.grown.nodes
    chosen = tt.C45Classifier(pruning="cost_complexity", ccp_alpha="cv-1se", ccp_folds=5).fit(X, y)
    assert 1 < chosen.training_.pruned.nodes < chosen.training_.grown.nodes
    assert len(chosen.cp_table_) > 2
    given = tt.C45Classifier(pruning="validation").fit(X[::2], y[::2], X_val=X[1::2], y_val=y[1::2])
    assert given.score(X[1::2], y[1::2]) > 0.9


# Named by the brief of every tree: nothing to split by, and branches without rows


def test_all_features_constant():
    frame = pd.DataFrame({"n": [1.0] * 6, "c": ["a"] * 6, "f": [True] * 6})
    model = tt.C45Classifier().fit(frame, [0, 0, 1, 0, 1, 0])
    assert model.get_n_leaves() == 1
    assert model.predict_proba(frame)[0].tolist() == pytest.approx([4 / 6, 2 / 6])
    assert model.predict(frame).tolist() == [0] * 6
    assert model.feature_importances_.tolist() == [0, 0, 0]


def test_branch_without_rows_has_the_distribution_of_its_parent():
    """Above n = 0 nobody is "c": its branch is there all the same and predicts as its parent would."""
    frame = pd.DataFrame(
        {
            "n": [0.0] * 8 + [1.0] * 12,
            "noise": np.arange(20) % 2 == 0,
            "p": pd.Categorical(list("c" * 8 + "aaaaaaabbbbb")),
        }
    )
    y = [2] * 8 + [0] * 6 + [1] + [1] * 4 + [0]
    model = tt.C45Classifier(pruning=None).fit(frame, y)
    tree = model.tree_
    (empty,) = np.flatnonzero(tree.n_node_samples == 0)
    parent = tree.parent[empty]
    assert tree.features[tree.feature[parent]].name == "p"
    assert tree.weighted_n_node_samples[empty] == 0
    assert tree.values[empty].tolist() == tree.values[parent].tolist() == pytest.approx([7 / 12, 5 / 12, 0])
    asked = model.predict_proba(pd.DataFrame({"n": [1.0], "noise": [True], "p": ["c"]}))
    assert asked[0].tolist() == tree.values[parent].tolist()
    assert tree.prune_min_impurity(0.0) == tree


# Parts of rows


@pytest.fixture(scope="module")
def gappy():
    rng = np.random.default_rng(7)
    n = 400
    frame = pd.DataFrame(
        {
            "n": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)),
            "c": pd.Series(rng.choice(list("abc"), n)).where(rng.random(n) > 0.2),
            "f": pd.Series(rng.random(n) < 0.5).astype(object).where(rng.random(n) > 0.2, None),
        }
    )
    y = np.where(frame.n.fillna(0.5) > 0.6, "x", np.where(frame.c == "a", "y", "z"))
    return frame, np.where(rng.random(n) < 0.1, "x", y)


def test_parts_add_up(gappy):
    frame, y = gappy
    model = tt.C45Classifier(pruning=None).fit(frame, y)
    tree = model.tree_
    assert tree.fractional
    assert (tree.missing_branch[~tree.is_leaf] == EVERY_BRANCH).all()
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
        weight = tree.weighted_n_node_samples
        assert weight[children].sum() == pytest.approx(weight[node])
        by_class = tree.values * weight[:, np.newaxis]
        assert by_class[children].sum(axis=0) == pytest.approx(by_class[node])
    assert model.predict_proba(frame).sum(axis=1) == pytest.approx(1)
    # Asking the training rows gives back the weights that they were grown with.
    from thetatree.data.rows import read_rows

    parts = tree.part_rows(read_rows(frame))
    assert np.bincount(parts.leaf, parts.part, tree.node_count)[tree.is_leaf] == pytest.approx(
        tree.weighted_n_node_samples[tree.is_leaf]
    )


def test_apply_gives_the_leaf_with_the_greatest_part_and_the_path_all_of_them(gappy):
    frame, y = gappy
    tree = tt.C45Classifier(pruning=None).fit(frame, y).tree_
    path = tree.decision_path(frame).toarray()
    leaf = tree.apply(frame)
    assert tree.is_leaf[leaf].all()
    assert path[np.arange(len(leaf)), leaf].all()
    assert set(path.ravel().tolist()) == {0, 1}
    whole = frame.notna().all(axis=1).to_numpy()
    assert (path[whole][:, tree.is_leaf].sum(axis=1) == 1).all()
    assert (path[~whole][:, tree.is_leaf].sum(axis=1) > 1).any()
    nothing = pd.DataFrame({"n": [np.nan], "c": [None], "f": [None]}).astype({"c": object, "f": object})
    reached = tree.decision_path(nothing).toarray()[0].astype(bool)
    assert (reached == (tree.weighted_n_node_samples > 0)).all()
    heaviest = np.where(tree.is_leaf, tree.weighted_n_node_samples, 0).argmax()
    assert tree.apply(nothing)[0] == heaviest
    root = tree.values[0]
    assert tt.C45Classifier(pruning=None).fit(frame, y).predict_proba(nothing)[0] == pytest.approx(root)


def test_threads_do_not_matter(gappy):
    frame, y = gappy
    big = pd.concat([frame] * 40, ignore_index=True)
    answers = np.tile(y, 40)
    one, two = (tt.C45Classifier(n_jobs=jobs).fit(big, answers) for jobs in (1, 2))
    assert one.tree_ == two.tree_
    assert (one.predict_proba(big) == two.predict_proba(big)).all()


def test_sparse_rows_with_gaps():
    rng = np.random.default_rng(8)
    dense = rng.integers(0, 3, size=(300, 5)).astype(float)
    y = (dense[:, 0] > 0).astype(int) + (dense[:, 1] > 1)
    dense[rng.random(dense.shape) < 0.1] = np.nan
    from_dense, from_sparse = (tt.C45Classifier().fit(X, y) for X in (dense, sp.csr_array(dense)))
    assert from_dense.tree_ == from_sparse.tree_
    assert (from_dense.predict_proba(dense) == from_sparse.predict_proba(sp.csr_array(dense))).all()
    assert (from_dense.apply(dense) == from_sparse.apply(sp.csr_array(dense))).all()


def test_an_unseen_value_is_missing(gappy):
    frame, y = gappy
    model = tt.C45Classifier().fit(frame, y)
    asked = pd.DataFrame({"n": [0.2, 0.2], "c": ["new", None], "f": [True, True]}).astype({"c": object})
    shares = model.predict_proba(asked)
    assert shares[0].tolist() == shares[1].tolist()


def test_missing_values_can_be_refused(gappy):
    frame, y = gappy
    with pytest.raises(ValueError, match="column 'n' has missing values and missing='error'"):
        tt.C45Classifier(missing="error").fit(frame, y)
    whole = frame.fillna({"n": 0.5, "c": "a", "f": False})
    model = tt.C45Classifier(missing="error").fit(whole, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.predict(frame)


# Weights are cases


def test_weights_are_cases(gappy):
    frame, y = gappy
    times = np.random.default_rng(9).integers(0, 4, len(y))
    weighted = tt.C45Classifier().fit(frame, y, sample_weight=times)
    repeated = tt.C45Classifier().fit(frame.loc[np.repeat(frame.index, times)], np.repeat(y, times))
    a, b = weighted.tree_, repeated.tree_
    assert a.node_count == b.node_count
    assert a.weighted_n_node_samples == pytest.approx(b.weighted_n_node_samples)
    assert a.threshold == pytest.approx(b.threshold, nan_ok=True)
    assert weighted.training_.confusion == pytest.approx(repeated.training_.confusion)


def test_class_weight():
    X, y = load_breast_cancer(return_X_y=True)
    model = tt.C45Classifier(class_weight="balanced").fit(X, y)
    assert model.tree_.values[0].tolist() == pytest.approx([0.5, 0.5])
    by_hand = tt.C45Classifier(class_weight={0: 3.0}).fit(X, y)
    same = tt.C45Classifier().fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert by_hand.tree_ == same.tree_


# Files, printing, everything after


def test_saved_and_pickled(gappy, tmp_path):
    frame, y = gappy
    model = tt.C45Classifier(subsets=True).fit(frame, y)
    model.save(tmp_path / "model.json")
    for again in (
        tt.load(tmp_path / "model.json"),
        tt.C45Classifier.load(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert again.tree_ == model.tree_
        assert again.training_ == model.training_
        assert again.summary() == model.summary()
        assert (again.predict_proba(frame) == model.predict_proba(frame)).all()
    assert clone(model).get_params() == model.get_params()


def rewritten(path, change):
    """Change a saved model and give it a checksum that fits."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document["model"])
    canonical = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    document["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["tree"]["missing_branch"].__setitem__(0, -3), "a missing branch is not there"),
        (
            lambda m: m["tree"].__setitem__(
                "weighted_n_node_samples", [1.0] + [0.0] * (len(m["tree"]["kind"]) - 1)
            ),
            "among branches without weight",
        ),
        (lambda m: m["extras"]["training"].pop("cases"), "'cases'"),
        (lambda m: m["extras"]["training"].__setitem__("confusion", [[1.0]]), "figures of training"),
        (lambda m: m["extras"]["training"]["grown"].__setitem__("errors", -1.0), "figures of training"),
    ],
)
def test_files_that_cannot_be_are_refused(change, message, tmp_path):
    path = tmp_path / "model.json"
    tt.C45Classifier().fit(*with_a_gap()).save(path)
    rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        tt.load(path)


def test_printed(gappy):
    frame, y = gappy
    model = tt.C45Classifier().fit(frame, y)
    text = tt.export.to_text(model)
    assert text.count("\n") == model.tree_.node_count
    assert "or missing" not in text  # missing goes everywhere
    frame_of_nodes = model.tree_.to_frame()
    inner = frame_of_nodes[~model.tree_.is_leaf]
    assert (inner.missing == EVERY_BRANCH).all()
    assert len(model.tree_.rules()) == model.get_n_leaves()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_summary_frame():
    frame = tt.C45Classifier().fit(*load_breast_cancer(return_X_y=True)).summary_frame()
    assert frame.nodes.tolist() == [29, 25]
    assert frame.errors.tolist() == [4, 5]
    assert (frame.estimated_rate > frame.error_rate).all()


def test_verbose(capsys):
    tt.C45Classifier(verbose=1).fit(*with_numbers())
    assert capsys.readouterr().out == "C45Classifier: 14 rows x 4 columns, 5 leaves\n"


# Sketches


def people(n, rng):
    frame = pd.DataFrame(
        {
            "member": rng.random(n) < 0.4,
            "paid": rng.random(n) < 0.3,
            "plan": rng.choice(list("abcde"), n),
            "region": rng.choice(["n", "s", "w"], n),
        }
    )
    answer = np.where(frame.member & frame.plan.isin(["a", "d"]), "yes", rng.choice(["no", "perhaps"], n))
    return frame, np.where(rng.random(n) < 0.1, "yes", answer)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("options", [{}, {"subsets": True}, {"binary_categories": True, "criterion": "gain"}])
def test_sketches_that_hold_every_key_give_the_tree_of_the_rows(gaps, options):
    rng = np.random.default_rng(10)
    frame, y = people(2000, rng)
    if gaps:
        frame["plan"] = frame.plan.where(rng.random(2000) > 0.1)
        frame["member"] = frame.member.astype(object).where(rng.random(2000) > 0.1, None)
    sketches = tt.sketch(frame.assign(id=range(2000), y=y), key="id", target="y")
    from_rows = tt.C45Classifier(**options).fit(frame[sorted(frame)], y)
    from_sketches = tt.C45Classifier(**options).fit(sketches)
    mine, theirs = from_sketches.tree_.arrays(), from_rows.tree_.arrays()
    assert from_rows.tree_.node_count > 3
    for name, array in theirs.items():
        if array.dtype.kind == "f":
            np.testing.assert_allclose(mine[name], array, rtol=1e-9, atol=1e-12)
        else:
            assert (mine[name] == array).all(), name
    assert from_sketches.summary() == from_rows.summary()
    assert (from_sketches.tree_.estimates.standard_error == 0).all()
    np.testing.assert_allclose(
        from_sketches.predict_proba(frame), from_rows.predict_proba(frame[sorted(frame)])
    )


def test_sketches_that_hold_a_sample():
    rng = np.random.default_rng(11)
    frame, y = people(40_000, rng)
    sketches = tt.sketch(frame.assign(id=range(40_000), y=y), key="id", target="y", lg_k=10)
    model = tt.C45Classifier().fit(sketches)
    tree = model.tree_
    assert model.training_.cases < 10_000
    assert tree.estimates.held[0] < 10_000
    assert tree.estimates.count.sum(axis=1) == pytest.approx(tree.weighted_n_node_samples)
    sizes = np.array([(y == label).sum() for label in model.classes_])
    assert tree.estimates.count[0] == pytest.approx(sizes, rel=0.04)
    exact = tt.C45Classifier().fit(frame[sorted(frame)], y)
    assert model.score(frame, y) > exact.score(frame[sorted(frame)], y) - 0.02
    low, high = tree.estimates.interval()
    member = np.asarray(tree.decision_path(frame[sorted(frame)]).sum(axis=0)).ravel()
    inside = (low.sum(axis=1) <= member) & (member <= high.sum(axis=1))
    assert inside.mean() > 0.8


def test_sketched_numbers():
    rng = np.random.default_rng(12)
    age = rng.integers(18, 90, 3000)
    y = np.where((age > 40) == (rng.random(3000) < 0.9), "old", "young")
    edges = {"age": [20, 30, 40, 60]}
    sketches = tt.sketch(
        pd.DataFrame({"age": age, "id": range(3000), "y": y}), key="id", target="y", edges=edges
    )
    model = tt.C45Classifier().fit(sketches)
    assert [str(rule) for rule in model.tree_.rules()] == ["age ≤ 40", "age > 40"]
    assert model.score(pd.DataFrame({"age": age}), y) > 0.85


def test_sketches_refuse_what_is_of_rows():
    frame, y = people(200, np.random.default_rng(13))
    sketches = tt.sketch(frame.assign(id=range(200), y=y), key="id", target="y")
    with pytest.raises(ValueError, match="y does not go with a SketchSet"):
        tt.C45Classifier().fit(sketches, y)
    with pytest.raises(ValueError, match="missing='error' does not go with a SketchSet"):
        tt.C45Classifier(missing="error").fit(sketches)


# Odd input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "gini"}, "criterion must be one of 'gain_ratio', 'gain'; got 'gini'"),
        ({"missing": "learnt"}, "missing must be one of 'fractional', 'error'"),
        ({"pruning": "hard"}, "pruning must be one of 'none', 'cost_complexity'"),
        ({"ccp_alpha": 0.1}, "pruning='pessimistic' and ccp_alpha=0.1 are two ways of pruning"),
        ({"limits": "wilson"}, "limits must be one of 'release8', 'exact', 'normal'"),
        ({"confidence": 0}, "confidence must lie between 0 and 1"),
        ({"confidence": 1.5}, "confidence must be a number between 0 and 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1"),
        ({"min_gain_ratio": -1}, "min_gain_ratio must be a number of at least 0"),
        ({"subsets": True, "binary_categories": True}, "give subsets or binary_categories, not both"),
    ],
)
def test_refuses_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        tt.C45Classifier(**options).fit(*with_numbers())


def test_one_class():
    model = tt.C45Classifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert model.get_n_leaves() == 1
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_a_tree_5_000_levels_deep(tmp_path):
    """With labels that alternate the best cut sets one row apart, where that is cases enough."""
    n = 5_001
    x, y = np.arange(n, dtype=float)[:, None], np.arange(n) % 2
    model = tt.C45Classifier(mdl=False).fit(x, y, sample_weight=np.full(n, 100.0))
    assert model.get_depth() >= 4_990
    assert model.score(x, y) == 1.0
    model.save(tmp_path / "deep.json")
    assert tt.load(tmp_path / "deep.json").tree_ == model.tree_ == pickle.loads(pickle.dumps(model)).tree_
    assert len(model.tree_.rules()) == model.get_n_leaves()
    assert model.summary().count("\n") > 10_000
    nothing = np.full((1, 1), np.nan)
    assert model.predict_proba(nothing)[0] == pytest.approx(model.tree_.values[0])
    assert model.tree_.decision_path(nothing).sum() == model.tree_.node_count


def test_cut_at_a_node(gappy):
    frame, y = gappy
    tree = tt.C45Classifier(pruning=None).fit(frame, y).tree_
    cut = tree.prune(at=[int(tree.child[0])])
    assert cut.node_count < tree.node_count
    assert cut.fractional or cut.node_count == 1
    assert cut.apply(frame).max() < cut.node_count


def test_exported_undivided(gappy):
    frame, y = gappy
    model = tt.C45Classifier(subsets=True).fit(frame, y)
    tree = model.tree_.undivided()
    assert not tree.fractional
    whole = frame.notna().all(axis=1).to_numpy()
    names = {}
    exec(tt.export.to_python(tree), names)
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    leaves = tree.apply(frame)
    assert [names["apply"](row) for row in rows] == leaves.tolist()
    assert (leaves[whole] == model.apply(frame[whole])).all()
    nothing = pd.DataFrame({"n": [np.nan], "c": [None], "f": [None]}).astype({"c": object, "f": object})
    node = 0
    while not tree.is_leaf[node]:
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
        node = children[np.argmax(tree.weighted_n_node_samples[children])]
    assert tree.apply(nothing)[0] == node


def test_counted_on_sketches_where_nothing_is_missing():
    from thetatree.grow.count_tree import count_tree

    rng = np.random.default_rng(20)
    frame, y = people(1000, rng)
    model = tt.C45Classifier().fit(frame[sorted(frame)], y)
    whole = tt.sketch(frame.assign(id=range(1000), y=y), key="id", target="y")
    counts = count_tree(model.tree_, whole)
    assert counts.count.sum(axis=1) == pytest.approx(model.tree_.weighted_n_node_samples)
    frame["plan"] = frame.plan.where(rng.random(1000) > 0.1)
    gaps = tt.sketch(frame.assign(id=range(1000), y=y), key="id", target="y")
    with pytest.raises(ValueError, match=r"a key cannot be counted in parts; count tree.undivided\(\)"):
        count_tree(model.tree_, gaps)
    assert count_tree(model.tree_.undivided(), gaps).count[0].sum() == 1000
