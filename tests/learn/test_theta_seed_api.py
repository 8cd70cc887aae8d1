"""ThetaSketchDecisionTreeClassifier as the seed documents it, on sketches of the datasketches package."""

import logging
import pickle

import datasketches as ds
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import thetatree as tt
from thetatree import CARTClassifier
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree

CRITERIA = tt.split.criteria.CLASSIFICATION
NAMES = ("a", "b", "c", "d", "e", "f")
MAPPING = {name: column for column, name in enumerate(NAMES)}


def sketched(keys, lg_k=12):
    sketch = ds.update_theta_sketch(lg_k)
    for key in np.asarray(keys).tolist():
        sketch.update(key)
    return sketch


def part(ids, flags, mask, *, lg_k=12, pairs=False, write=lambda sketch: sketch, names=NAMES):
    """One class's dict: its total, and per flag the present sketch or the pair."""
    out = {"total": write(sketched(ids[mask], lg_k))}
    for name, flag in zip(names, flags.T, strict=True):
        out[name] = write(sketched(ids[mask & (flag == 1)], lg_k))
        if pairs:
            out[name] = (out[name], write(sketched(ids[mask & (flag == 0)], lg_k)))
    return out


def seed_data(ids, flags, y, *, other="negative", **kwargs):
    rest = ~y if other == "negative" else np.ones(len(y), bool)
    return {"positive": part(ids, flags, y, **kwargs), other: part(ids, flags, rest, **kwargs)}


def customers(n=3000, seed=5):
    """Six flags, two of which interact; the last two say nothing."""
    rng = np.random.default_rng(seed)
    flags = (rng.random((n, 6)) < [0.5, 0.4, 0.2, 0.1, 0.5, 0.3]).astype(np.int8)
    a, b, c, d, _, _ = flags.T
    rate = 0.1 + 0.5 * (a & b) + 0.25 * c + 0.1 * (d & (1 - a))
    return np.arange(n), flags, rng.random(n) < rate


IDS, FLAGS, Y = customers()
EXACT = seed_data(IDS, FLAGS, Y)
COARSE = seed_data(IDS, FLAGS, Y, lg_k=9)  # small sets are still exact in it
ESTIMATED = seed_data(*customers(20_000, seed=7), lg_k=9)  # nothing is exact in it


def fitted(data=EXACT, mapping=MAPPING, **parameters):
    return ThetaTree(**parameters).fit(data, mapping)


def same_tree(a, b):
    return a.tree_ == b.tree_ and a.classes_.tolist() == b.classes_.tolist()


# The documented forms


@pytest.mark.parametrize("pairs", [False, True], ids=["present", "pairs"])
@pytest.mark.parametrize("other", ["negative", "total"])
def test_every_documented_form_gives_the_tree_of_the_rows(other, pairs):
    model = fitted(seed_data(IDS, FLAGS, Y, other=other, pairs=pairs), max_depth=4)
    rows = CARTClassifier(max_depth=4, missing="majority").fit(FLAGS.astype(bool), Y.astype(int))
    assert model.classes_.tolist() == [0, 1]
    assert np.array_equal(model.tree_.n_node_samples, rows.tree_.n_node_samples)
    assert np.array_equal(model.tree_.feature, rows.tree_.feature)
    assert np.allclose(model.predict_proba(FLAGS), rows.predict_proba(FLAGS.astype(bool)), atol=1e-12)
    assert not model.tree_.estimates.standard_error.any()


WRITERS = {
    "update": lambda sketch: sketch,
    "compact": lambda sketch: sketch.compact(),
    "unordered": lambda sketch: sketch.compact(ordered=False),
    "bytes": lambda sketch: sketch.compact().serialize(),
    "bytearray": lambda sketch: bytearray(sketch.compact().serialize()),
}


@pytest.mark.parametrize("lg_k", [9, 12])
@pytest.mark.parametrize("how", [name for name in WRITERS if name != "update"])
def test_objects_and_bytes_are_one(how, lg_k):
    plain = fitted(seed_data(IDS, FLAGS, Y, pairs=True, lg_k=lg_k))
    written = fitted(seed_data(IDS, FLAGS, Y, pairs=True, lg_k=lg_k, write=WRITERS[how]))
    assert same_tree(plain, written)


def test_order_of_the_dicts_does_not_matter():
    turned = {label: dict(reversed(list(named.items()))) for label, named in reversed(list(COARSE.items()))}
    assert same_tree(fitted(COARSE), fitted(turned, dict(reversed(list(MAPPING.items())))))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("pairs", [False, True], ids=["present", "pairs"])
def test_one_vs_all_is_two_class_where_nothing_is_estimated(criterion, pairs):
    forms = [
        fitted(seed_data(IDS, FLAGS, Y, other=other, pairs=pairs), criterion=criterion, max_depth=5)
        for other in ("negative", "total")
    ]
    assert same_tree(*forms)
    assert np.array_equal(forms[0].tree_.estimates.count, forms[1].tree_.estimates.count)


def test_one_vs_all_is_near_two_class_below():
    ids, flags, y = customers(60_000, seed=6)
    forms = [
        fitted(seed_data(ids, flags, y, other=other, lg_k=12), max_depth=2) for other in ("negative", "total")
    ]
    assert all(model.tree_.estimates.standard_error.any() for model in forms)
    X = np.array([[i >> j & 1 for j in range(6)] for i in range(64)])
    shares = [model.predict_proba(X)[:, 1] for model in forms]
    assert np.abs(shares[0] - shares[1]).max() < 0.08
    for model in forms:
        counts, errors = model.tree_.estimates.count[0], model.tree_.estimates.standard_error[0]
        assert np.all(np.abs(counts - [(~y).sum(), y.sum()]) <= 4 * errors)


def test_a_sketch_set_stands_in_for_the_dict():
    by_set = ThetaTree().fit(tt.SketchSet.from_sketches(EXACT), MAPPING)
    by_dict = fitted()
    assert by_set.classes_.tolist() == ["negative", "positive"]
    assert np.array_equal(by_set.predict(FLAGS) == "positive", by_dict.predict(FLAGS) == 1)
    assert np.array_equal(by_set.predict_proba(FLAGS), by_dict.predict_proba(FLAGS))


# The mapping


def test_mapping_selects():
    few = fitted(mapping={"a": 0, "e": 4})
    alone = {label: {n: named[n] for n in ("total", "a", "e")} for label, named in EXACT.items()}
    assert same_tree(few, fitted(alone, {"a": 0, "e": 4}))
    assert [f.name for f in few.tree_.features] == ["a", "e"]
    assert not same_tree(few, fitted())


def test_mapping_says_which_column():
    turned = fitted(mapping={name: 9 - column for name, column in MAPPING.items()})
    X = np.full((len(FLAGS), 10), -1)
    X[:, 4:] = FLAGS[:, ::-1]
    assert np.array_equal(turned.predict(X), fitted().predict(FLAGS))
    assert turned.n_features_in_ == 10
    X[:, :4] = 7  # columns that no feature has are not looked at
    assert np.array_equal(turned.predict(X), fitted().predict(FLAGS))


def test_wider_matrices_are_fine():
    model = fitted(mapping={"a": 1, "b": 0}, max_depth=3)
    X = np.column_stack([FLAGS[:, 1], FLAGS[:, 0], FLAGS])
    assert np.array_equal(model.predict(X), model.predict(X[:, :2]))


def test_ties_go_to_the_lowest_column_not_name():
    """Two flags that are the same: the first column wins, whatever the names and their order in the dict."""
    ids = np.arange(400)
    y = ids < 150
    flag = (ids % 3 == 0) | (ids < 60)
    data = seed_data(ids, np.column_stack([flag, flag]).astype(int), y, names=("a", "z"))
    model = fitted(data, {"a": 1, "z": 0}, max_depth=1)
    assert model.tree_.features[model.tree_.feature[0]].name == "z"
    assert model.feature_importances_.tolist() == [1.0, 0.0]
    model = fitted(data, {"a": 0, "z": 1}, max_depth=1)
    assert model.tree_.features[model.tree_.feature[0]].name == "a"


# What it predicts


def test_predictions_are_0_and_1_and_column_1_is_positive():
    model = fitted()
    assert set(model.predict(FLAGS).tolist()) == {0, 1}
    assert model.predict(FLAGS).dtype.kind == "i"
    proba = model.predict_proba(FLAGS)
    assert proba.shape == (len(FLAGS), 2)
    assert np.allclose(proba.sum(axis=1), 1)
    leaves = model.apply(FLAGS)
    for leaf in np.unique(leaves):
        assert np.allclose(proba[leaves == leaf, 1], Y[leaves == leaf].mean())
    assert np.array_equal(model.predict(FLAGS), (proba[:, 1] > 0.5).astype(int))
    assert np.allclose(np.exp(model.predict_log_proba(FLAGS)), proba)
    assert model.score(FLAGS, Y.astype(int)) == np.mean(model.predict(FLAGS) == Y)


@pytest.mark.parametrize("rate", [0.3, 0.7])
def test_missing_goes_where_most_went(rate):
    """Trap 24: -1 and NaN follow the left (present) branch when it is at least as heavy."""
    rng = np.random.default_rng(3)
    ids = np.arange(1000)
    flag = rng.random(1000) < rate
    y = flag ^ (rng.random(1000) < 0.1)
    model = fitted(seed_data(ids, flag[:, None].astype(int), y, names="a"), {"a": 0})
    present, absent = model.predict_proba([[1], [0]])
    expected = present if rate > 0.5 else absent
    for missing in (-1, np.nan, -1.0, None):
        assert np.array_equal(model.predict_proba([[missing]])[0], expected), missing
    assert model.predict([[-1]])[0] == int(rate > 0.5)


def test_missing_goes_left_at_a_draw():
    ids = np.arange(200)
    flag = ids % 2 == 0
    model = fitted(seed_data(ids, flag[:, None].astype(int), flag, names="a"), {"a": 0})
    assert model.tree_.missing_branch[0] == 0
    assert model.predict([[-1], [np.nan]]).tolist() == [1, 1]


def test_every_table_of_flags_is_read():
    model = fitted()
    expected = model.predict(FLAGS)
    frame = pd.DataFrame(FLAGS, columns=NAMES)
    tables = [
        FLAGS.astype(bool),
        FLAGS.astype(float),
        np.asfortranarray(FLAGS.astype(np.int64)),
        FLAGS.astype(object),
        FLAGS.tolist(),
        sp.csr_matrix(FLAGS.astype(float)),
        sp.csc_matrix(FLAGS.astype(float)),
        frame,
        frame.astype(bool),
        frame.astype("boolean"),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
    ]
    for table in tables:
        assert np.array_equal(model.predict(table), expected), type(table)


def test_importances_are_by_column():
    """Trap 26: by column of X, not in the order of names or of the dict."""
    mapping = {"f": 0, "e": 1, "d": 3, "c": 4, "b": 6, "a": 7}
    model = fitted(mapping=mapping, max_depth=4)
    importances = model.feature_importances_
    assert importances.shape == (8,)
    assert importances.sum() == pytest.approx(1)
    assert importances[[2, 5]].tolist() == [0, 0]
    plain = fitted(max_depth=4).feature_importances_
    for name, column in mapping.items():
        assert importances[column] == pytest.approx(plain[MAPPING[name]])
    assert set(np.argsort(importances)[-3:]) == {4, 6, 7}
    tree = model.tree_
    by_hand = np.zeros(8)
    for node in np.flatnonzero(~tree.is_leaf):
        by_hand[mapping[tree.features[tree.feature[node]].name]] += tree.impurity_decrease[node]
    assert np.allclose(importances, by_hand / by_hand.sum())


def test_depth_leaves_apply_and_path():
    model = fitted(max_depth=3)
    assert model.get_depth() == 3
    assert model.get_n_leaves() == model.tree_.n_leaves
    path = model.decision_path(FLAGS[:50])
    assert path.shape == (50, model.tree_.node_count)
    assert all(path[i, leaf] for i, leaf in enumerate(model.apply(FLAGS[:50])))


# Every parameter has an effect


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criterion(criterion):
    """The root's split is the one that the definition of the criterion likes best."""
    model = fitted(criterion=criterion)
    assert model.tree_.criterion in (criterion, "entropy")
    counts = np.array([(~Y).sum(), Y.sum()])
    scores = []
    for flag in FLAGS.T == 1:
        sides = [[(m & ~Y).sum(), (m & Y).sum()] for m in (flag, ~flag)]
        scores.append(tt.criteria.score(criterion, counts, sides))
    assert model.tree_.score[0] == pytest.approx(max(scores))
    assert scores[model.tree_.feature[0]] == pytest.approx(max(scores))
    assert model.tree_.impurity[0] == pytest.approx(tt.criteria.impurity(criterion, counts))


def test_criteria_differ():
    trees = {name: fitted(criterion=name, max_depth=4).tree_ for name in CRITERIA}
    parts = {tuple(tree.feature.tolist()) for tree in trees.values()}
    assert len(parts) >= 3
    assert trees["entropy"].feature.tolist() == trees["log_loss"].feature.tolist()


@pytest.mark.parametrize("criterion", ["binomial", "chi_square"])
@pytest.mark.parametrize("data", [EXACT, COARSE], ids=["exact", "estimated"])
def test_binomial_and_chi_square_really_split(criterion, data):
    model = fitted(data, criterion=criterion)
    assert model.get_depth() >= 2
    assert model.get_n_leaves() >= 4
    assert {"a", "b"} <= {model.tree_.features[f].name for f in model.tree_.feature if f >= 0}
    assert model.score(FLAGS, Y.astype(int)) > max(Y.mean(), 1 - Y.mean()) + 0.02


def test_max_depth():
    assert [fitted(max_depth=d).get_depth() for d in (1, 2, 3)] == [1, 2, 3]
    assert fitted(max_depth=None).get_depth() > 3


def test_min_samples_split():
    for least, as_count in ((400, 400), (0.2, 600)):
        tree = fitted(min_samples_split=least).tree_
        assert tree.n_node_samples[~tree.is_leaf].min() >= as_count
        assert tree.node_count < fitted().tree_.node_count


def test_min_samples_leaf():
    for least, as_count in ((200, 200), (0.1, 300)):
        tree = fitted(min_samples_leaf=least).tree_
        assert tree.n_node_samples.min() >= as_count
        assert 1 < tree.node_count < fitted().tree_.node_count
    coarse = fitted(COARSE, significance=None, min_held=0, min_samples_leaf=150).tree_
    assert coarse.estimates.count.sum(axis=1).min() >= 150


def test_min_samples_leaf_binds_the_search():
    """Trap 17: where the best split is not allowed, the best allowed one is taken."""
    assert fitted(max_depth=1).tree_.feature[0] != fitted(max_depth=1, min_samples_leaf=1400).tree_.feature[0]
    tree = fitted(max_depth=1, min_samples_leaf=1400).tree_
    assert tree.node_count == 3 and tree.n_node_samples.min() >= 1400


def test_min_weight_fraction_leaf():
    weights = {0: 1.0, 1: 5.0}
    tree = fitted(min_weight_fraction_leaf=0.1, class_weight=weights).tree_
    least = 0.1 * tree.weighted_n_node_samples[0]
    assert tree.weighted_n_node_samples.min() >= least
    free = fitted(class_weight=weights).tree_
    assert free.weighted_n_node_samples.min() < least


def test_max_features_and_random_state():
    roots = {int(fitted(max_features=1, random_state=seed).tree_.feature[0]) for seed in range(20)}
    assert len(roots) > 2
    assert same_tree(
        fitted(max_features=2, random_state=3, max_depth=4),
        fitted(max_features=2, random_state=3, max_depth=4),
    )
    trees = [fitted(max_features=2, random_state=seed, max_depth=4) for seed in range(6)]
    assert not all(same_tree(trees[0], tree) for tree in trees)
    assert same_tree(fitted(max_features=6, random_state=1), fitted())
    assert same_tree(fitted(random_state=1), fitted(random_state=2))
    for rule in ("sqrt", "log2", 0.34):  # all are two of six
        assert same_tree(fitted(max_features=rule, random_state=3), fitted(max_features=2, random_state=3))


def test_max_features_looks_on_until_one_splits():
    ids = np.arange(300)
    flags = np.column_stack([np.zeros(300), np.zeros(300), np.zeros(300), ids < 100]).astype(int)
    data = seed_data(ids, flags, ids < 120, names="abcd")
    for seed in range(8):
        model = fitted(data, dict(zip("abcd", range(4), strict=True)), max_features=1, random_state=seed)
        assert model.tree_.feature[0] == 3


def test_max_leaf_nodes():
    for leaves in (2, 3, 5, 8):
        assert fitted(max_leaf_nodes=leaves).get_n_leaves() == leaves
    whole = fitted(max_depth=5).tree_
    best = fitted(max_leaf_nodes=4).tree_
    # Best first: what was split gained at least as much as what was left.
    taken = np.sort(best.impurity_decrease[~best.is_leaf])
    assert taken[0] >= np.sort(whole.impurity_decrease[~whole.is_leaf])[-3] - 1e-12


def test_min_impurity_decrease():
    tree = fitted(min_impurity_decrease=0.005).tree_
    assert 1 < tree.node_count < fitted().tree_.node_count
    assert tree.impurity_decrease[~tree.is_leaf].min() >= 0.005


def test_min_impurity_split():
    """Trap 9: it tests the node's impurity."""
    tree = fitted(min_impurity_split=0.3).tree_
    assert 1 < tree.node_count < fitted().tree_.node_count
    assert tree.impurity[~tree.is_leaf].min() > 0.3


def test_class_weight():
    plain, heavy, balanced = (fitted(class_weight=w, max_depth=3) for w in (None, {1: 4}, "balanced"))
    assert heavy.predict(FLAGS).sum() > plain.predict(FLAGS).sum()
    n = np.array([(~Y).sum(), Y.sum()])
    assert np.allclose(heavy.tree_.values[0], n * [1, 4] / (n * [1, 4]).sum())
    assert np.allclose(balanced.tree_.values[0], [0.5, 0.5])
    assert balanced.tree_.weighted_n_node_samples[0] == pytest.approx(len(Y))
    assert np.array_equal(balanced.tree_.n_node_samples[:1], [len(Y)])
    rows = CARTClassifier(class_weight={1: 4}, max_depth=3).fit(FLAGS.astype(bool), Y.astype(int))
    assert np.allclose(heavy.predict_proba(FLAGS), rows.predict_proba(FLAGS.astype(bool)))


def test_priors():
    """A leaf's shares are Bayes' rule with the given priors."""
    model = fitted(priors={0: 0.2, 1: 0.8}, max_depth=3)
    assert np.allclose(model.tree_.values[0], [0.2, 0.8])
    leaves = model.apply(FLAGS)
    for leaf in np.unique(leaves):
        likelihood = [np.mean(leaves[~Y] == leaf), np.mean(leaves[Y] == leaf)]
        joint = np.array([0.2, 0.8]) * likelihood
        assert np.allclose(model.tree_.values[leaf], joint / joint.sum())
    assert same_tree(
        fitted(priors={0: 0.5, 1: 0.5}, max_depth=3), fitted(class_weight="balanced", max_depth=3)
    )
    assert same_tree(fitted(priors={0: 2, 1: 8}, max_depth=3), model)


def test_priors_from_estimates():
    model = fitted(COARSE, priors={0: 0.9, 1: 0.1})
    assert np.allclose(model.tree_.values[0], [0.9, 0.1])


def test_max_categories():
    """Beyond it, several orders are tried: here the exhaustive search finds more."""
    rng = np.random.default_rng(4)
    best = []
    for _ in range(40):
        n = 400
        codes, y = rng.integers(0, 7, n), rng.integers(0, 3, n)
        shares = rng.dirichlet([0.5] * 3, 7)
        y = np.array([rng.choice(3, p=shares[c]) for c in codes])
        data = pd.DataFrame({"id": np.arange(n), "c": codes, "y": y})
        made = tt.sketch(data, "id", "y", {"c": "category"})
        scores = [
            ThetaTree(criterion="theta", max_categories=most, max_depth=1).fit(made).tree_.score[0]
            for most in (2, 10)
        ]
        assert scores[1] >= scores[0] - 1e-12
        best.append(scores[1] > scores[0] + 1e-9)
    assert any(best)


def test_significance():
    sizes = [fitted(ESTIMATED, significance=level).get_n_leaves() for level in (1e-12, 0.05, None)]
    assert sizes[0] < sizes[1] < sizes[2]
    exact = [fitted(significance=level) for level in (1e-12, 0.05, None)]
    assert same_tree(exact[0], exact[1]) and same_tree(exact[1], exact[2])


def test_min_held():
    for least in (0, 10, 60):
        model = fitted(ESTIMATED, significance=None, min_held=least)
        held = model.tree_.estimates.held
        assert held[1:].min() >= least
    few = fitted(ESTIMATED, significance=None, min_held=60).get_n_leaves()
    assert 1 < few < fitted(ESTIMATED, significance=None, min_held=0).get_n_leaves()
    assert same_tree(fitted(min_held=500), fitted(min_held=0))  # exact counts need none


def test_use_absent():
    """Absent sketches raise θ; without them it is as if they had not been given."""
    ids, flags, y = customers(20_000, seed=8)
    pairs = seed_data(ids, flags, y, lg_k=9, pairs=True)
    present = seed_data(ids, flags, y, lg_k=9)
    off = fitted(pairs, use_absent=False, max_depth=2)
    assert same_tree(off, fitted(present, max_depth=2))
    assert np.array_equal(
        off.tree_.estimates.standard_error, fitted(present, max_depth=2).tree_.estimates.standard_error
    )
    frequent = seed_data(ids, 1 - flags[:, 3:4], y, lg_k=9, pairs=True, names="d")
    on, off = (fitted(frequent, {"d": 0}, significance=None, use_absent=use) for use in (True, False))
    rare = int(on.tree_.children_right[0])
    assert on.tree_.estimates.held[rare] > 2 * off.tree_.estimates.held[rare]
    assert on.tree_.estimates.node_error[rare] < off.tree_.estimates.node_error[rare]


def test_pruning_and_validation_fraction():
    """Held-out flags with labels, or a share of the hashes; see test_pruning.py for each way."""
    whole = fitted(ESTIMATED, significance=None, min_held=0)
    held = fitted(ESTIMATED, significance=None, min_held=0, pruning="validation", validation_fraction=0.4)
    assert held.get_n_leaves() < whole.get_n_leaves()
    assert held.tree_.estimates.held[0] == pytest.approx(0.6 * whole.tree_.estimates.held[0], rel=0.1)
    model = ThetaTree(significance=None, min_held=0, pruning="reduced_error")
    model.fit(ESTIMATED, MAPPING, X_val=FLAGS, y_val=Y.astype(int))
    accuracy = [np.mean(one.predict(FLAGS) == Y) for one in (whole, model)]
    assert accuracy[1] >= accuracy[0]


def test_ccp_alpha_and_ccp_folds():
    whole = fitted(significance=None)
    alphas, _ = whole.tree_.cost_complexity_path()
    for alpha in alphas[:: len(alphas) // 4]:
        assert fitted(significance=None, ccp_alpha=float(alpha)).tree_ == whole.tree_.prune(ccp_alpha=alpha)
    model = fitted(significance=None, ccp_alpha="cv-1se", ccp_folds=4)
    assert model.get_n_leaves() < whole.get_n_leaves()
    assert model.cp_table_["xerror"].iloc[0] == pytest.approx(1.0, abs=0.02)


def test_honest():
    honest, own = fitted(honest=0.5, significance=None), fitted(significance=None)
    assert honest.tree_.n_node_samples[0] == pytest.approx(own.tree_.n_node_samples[0] / 2, rel=0.1)
    assert honest.get_params()["honest"] == 0.5


def test_n_jobs():
    expected = fitted(n_jobs=1).predict(FLAGS)
    assert np.array_equal(fitted(n_jobs=2).predict(FLAGS), expected)
    with pytest.raises(ValueError, match="n_jobs"):
        fitted(n_jobs=0).predict(FLAGS)


def test_verbose(capsys):
    model = fitted(verbose=1)
    said = capsys.readouterr().out
    assert "ThetaSketchDecisionTreeClassifier" in said and f"{model.get_n_leaves()} leaves" in said
    assert "14 sketches" in said
    fitted()
    assert capsys.readouterr().out == ""


def test_every_parameter_is_tested_here():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    for name in ThetaTree().get_params():
        assert any(name in test for test in tested), name


# What the seed's algorithm must be able to do


@pytest.mark.parametrize("pairs", [False, True], ids=["present", "pairs"])
def test_xor_is_learnt(pairs):
    """Trap 1: its first split gains nothing."""
    ids = np.arange(400)
    flags = np.column_stack([ids % 2, ids // 2 % 2])
    y = flags[:, 0] != flags[:, 1]
    model = fitted(seed_data(ids, flags, y, pairs=pairs, names="ab"), {"a": 0, "b": 1})
    assert model.get_depth() == 2 and model.get_n_leaves() == 4
    assert model.score(flags, y.astype(int)) == 1
    assert model.predict_proba([[0, 0], [1, 0], [0, 1], [1, 1]])[:, 1].tolist() == [0, 1, 1, 0]


def test_nested_thresholds_as_flags():
    """Trap 22: flags named like cuts are flags; both may be tested on the way to a leaf."""
    rng = np.random.default_rng(2)
    ids, x = np.arange(2000), rng.integers(0, 10, 2000)
    flags = np.column_stack([x >= 3, x >= 6]).astype(int)
    y = (x >= 3) & (x < 6)
    names = ("x>=3", "x>=6")
    for lg_k in (8, 12):
        model = fitted(
            seed_data(ids, flags, y, names=names, lg_k=lg_k), dict(zip(names, (0, 1), strict=True))
        )
        assert model.score(flags, y.astype(int)) == 1
        assert model.get_n_leaves() == 3


def test_tags_as_flags_may_hold_together():
    """Trap 22: "tag=a" and "tag=b" do not exclude each other for having one name before the sign."""
    ids = np.arange(800)
    flags = np.column_stack([ids % 2, ids // 2 % 2])
    y = (flags == 1).all(axis=1)
    data = seed_data(ids, flags, y, names=("tag=a", "tag=b"))
    model = fitted(data, {"tag=a": 0, "tag=b": 1})
    assert model.score(flags, y.astype(int)) == 1
    tree = model.tree_
    assert tree.n_node_samples[model.apply([[1, 1]])[0]] == 200


def test_one_class_is_one_leaf():
    ids = np.arange(100)
    data = seed_data(ids, FLAGS[:100], np.ones(100, bool))
    model = fitted(data)
    assert model.get_n_leaves() == 1
    assert model.predict(FLAGS[:3]).tolist() == [1, 1, 1]
    assert not model.feature_importances_.any()


def test_a_flag_that_nobody_or_everybody_has_is_no_split():
    ids = np.arange(300)
    flags = np.column_stack([np.zeros(300), np.ones(300)]).astype(int)
    model = fitted(seed_data(ids, flags, ids < 100, names="ab"), {"a": 0, "b": 1})
    assert model.get_n_leaves() == 1
    assert np.allclose(model.predict_proba([[0, 1]]), [[2 / 3, 1 / 3]])


# Traps 20 and 21


def test_lost_keys_never_look_like_purity():
    """Trap 20: a rare class held whole, a frequent one at a low θ, and a flag that says nothing.

    Chained through the totals, the frequent class loses keys in the children and the split seems to gain.
    """
    rng = np.random.default_rng(20)
    ids = np.arange(100_000)
    y = ids < 300
    noise = (rng.random((len(ids), 8)) < 0.02).astype(int)
    names = [f"n{j}" for j in range(8)]
    data = seed_data(ids, noise, y, names=names, lg_k=9)
    mapping = dict(zip(names, range(8), strict=True))
    free = fitted(data, mapping, significance=None, min_held=0, max_depth=1).tree_
    counts = np.array([(~y).sum(), y.sum()])
    true = max(
        tt.criteria.score("gini", counts, [[(m & ~y).sum(), (m & y).sum()] for m in (f == 1, f == 0)])
        for f in noise.T
    )
    assert true < 1e-4
    assert free.impurity_decrease[0] < 1e-3
    assert np.allclose(free.estimates.count[1] + free.estimates.count[2], free.estimates.count[0], rtol=1e-9)
    assert fitted(data, mapping).get_n_leaves() == 1


@pytest.mark.parametrize("other", ["negative", "total"])
@pytest.mark.parametrize("lg_k", [9, 12])
def test_absent_sketches_of_all_rows_are_cut_to_their_class(lg_k, other):
    """Trap 21: "all rows minus the present ones" in each class's dict."""
    data = seed_data(IDS, FLAGS, Y, lg_k=lg_k, pairs=True, other=other)
    sloppy = {label: dict(named) for label, named in data.items()}
    for column, name in enumerate(NAMES):
        for label, mask in (("positive", Y), (other, ~Y if other == "negative" else np.ones(len(Y), bool))):
            present = data[label][name][0]
            outside = IDS[~(mask & (FLAGS[:, column] == 1))]
            sloppy[label][name] = (present, sketched(outside, lg_k))
    good, bad = fitted(data, max_depth=3), fitted(sloppy, max_depth=3)
    if lg_k == 12:
        assert same_tree(good, bad)
    truth = [(~Y).sum(), Y.sum()]
    for model in (good, bad):
        counts, errors = model.tree_.estimates.count[0], model.tree_.estimates.standard_error[0]
        assert np.all(np.abs(counts - truth) <= 4 * errors + 1e-9)
        assert model.score(FLAGS, Y.astype(int)) > 0.7


# Counts that do not add up


def _messages(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "thetatree"]


def test_inconsistent_counts_are_logged_with_figures(caplog):
    data = seed_data(IDS, FLAGS, Y, pairs=True)
    lost = Y & (FLAGS[:, 1] == 0)
    lost[np.flatnonzero(lost)[:100]] = False
    data["positive"]["b"] = (data["positive"]["b"][0], sketched(IDS[lost]))
    with caplog.at_level(logging.WARNING, logger="thetatree"):
        model = fitted(data)
    (said,) = _messages(caplog)
    assert caplog.records[0].levelno == logging.WARNING
    n_present, n_absent, n = (Y & (FLAGS[:, 1] == 1)).sum(), lost.sum(), Y.sum()
    for figure in (n_present, n_absent, n_present + n_absent, n):
        assert f"{figure:,}" in said
    assert "'b'" in said and "'positive'" in said
    # Counts are conserved all the same, and nothing is lost.
    assert np.array_equal(model.tree_.estimates.count[0], [(~Y).sum(), Y.sum()])
    assert same_tree(model, fitted())


@pytest.mark.parametrize("lg_k", [6, 9, 12])
@pytest.mark.parametrize("other", ["negative", "total"])
def test_consistent_counts_are_not_logged(caplog, lg_k, other):
    with caplog.at_level(logging.WARNING, logger="thetatree"):
        fitted(seed_data(IDS, FLAGS, Y, pairs=True, lg_k=lg_k, other=other))
    assert _messages(caplog) == []


def test_features_left_out_are_not_warned_of(caplog):
    data = seed_data(IDS, FLAGS, Y, pairs=True)
    data["positive"]["b"] = (data["positive"]["b"][0], sketched([]))
    with caplog.at_level(logging.WARNING, logger="thetatree"):
        fitted(data, {"a": 0, "c": 1})
    assert _messages(caplog) == []


# Keeping it


def test_clone_and_parameters():
    model = fitted(max_depth=3, criterion="entropy", significance=None, priors={0: 0.5, 1: 0.5})
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "tree_")
    assert same_tree(again.fit(EXACT, MAPPING), model)
    assert same_tree(
        clone(model).set_params(max_depth=2).fit(EXACT, MAPPING),
        fitted(max_depth=2, criterion="entropy", significance=None, priors={0: 0.5, 1: 0.5}),
    )


@pytest.mark.parametrize("data", [EXACT, COARSE], ids=["exact", "estimated"])
def test_save_load_and_pickle(data, tmp_path):
    model = fitted(data, {"a": 5, "b": 0, "c": 2}, class_weight={1: 2}, max_depth=4)
    path = tmp_path / "model.json"
    model.save(path)
    X = np.random.default_rng(0).integers(-1, 2, (200, 6))
    for copy in (tt.load(path), ThetaTree.load(path), pickle.loads(pickle.dumps(model))):
        assert type(copy) is ThetaTree
        assert copy.get_params() == model.get_params()
        assert same_tree(copy, model)
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(copy.predict(X), model.predict(X))
        assert np.array_equal(copy.feature_importances_, model.feature_importances_)
        assert copy.n_features_in_ == model.n_features_in_ == 6
        for name in ("count", "standard_error", "held"):
            assert np.array_equal(getattr(copy.tree_.estimates, name), getattr(model.tree_.estimates, name))
        assert tt.export.to_text(copy) == tt.export.to_text(model)
    again = tmp_path / "again.json"
    tt.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()


def test_fit_again_forgets_the_first():
    model = fitted(mapping={"a": 9})
    model.fit(EXACT, MAPPING)
    assert model.n_features_in_ == 6
    assert same_tree(model, fitted())
    model.fit(tt.SketchSet.from_sketches(EXACT))
    assert model.feature_names_in_.tolist() == list(NAMES)
    model.fit(EXACT, {"a": 0})
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict([[1]]), model.predict(np.array([[1.0]])))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = fitted(max_depth=2)
    before = model.tree_
    with pytest.raises(ValueError, match="criterion"):
        model.set_params(criterion="no").fit(COARSE, {"a": 3})
    assert model.tree_ is before and model.n_features_in_ == 6


# Bad input


def refused(match, data=EXACT, mapping=MAPPING, error=ValueError, **parameters):
    with pytest.raises(error, match=match) as caught:
        fitted(data, mapping, **parameters)
    return str(caught.value)


def test_names_without_a_sketch():
    said = refused("feature_mapping names 'zip'", mapping={"a": 0, "zip": 1})
    assert "'f'" in said


def test_two_names_on_one_column():
    said = refused("column 3", mapping={"a": 3, "b": 0, "c": 3})
    assert "'a'" in said and "'c'" in said and "'b'" not in said


@pytest.mark.parametrize("column", [-1, 1.5, "0", None, True])
def test_columns_that_are_none(column):
    refused("feature_mapping", mapping={"a": column})


@pytest.mark.parametrize("mapping", [["a", "b"], "ab", 3, [("a", 0)]])
def test_mapping_that_is_no_dict(mapping):
    with pytest.raises((TypeError, ValueError), match="feature_mapping"):
        fitted(mapping=mapping)


def test_too_narrow():
    model = fitted(mapping={"a": 0, "b": 4})
    for X in (np.zeros((2, 4)), pd.DataFrame(np.zeros((2, 4))), sp.csr_matrix((2, 4))):
        with pytest.raises(ValueError, match=r"4 features.*expecting 5 features"):
            model.predict(X)


@pytest.mark.parametrize("value", [2, 0.5, -2, 100, np.inf])
def test_what_is_no_flag(value):
    X = np.zeros((3, 6))
    X[1, 0] = value
    with pytest.raises(ValueError, match=r"'a'|infinity"):
        fitted().predict(X)


def test_text_for_a_flag():
    with pytest.raises(ValueError, match="'a'"):
        fitted().predict(np.full((2, 6), "1", dtype=object))


@pytest.mark.parametrize("name", ["class_weight", "priors"])
def test_unknown_classes(name):
    for label in (2, "positive", -1):
        said = refused(f"{name} names {label!r}", **{name: {0: 1, 1: 1, label: 1}})
        assert "[0, 1]" in said


def test_priors_must_be_complete_and_sensible():
    refused("priors lacks class 1", priors={0: 0.5})
    refused("priors", priors=[0.5, 0.5])
    refused(r"priors\[1\]", priors={0: 1, 1: -1})
    refused("priors", priors={0: 0, 1: 0})
    refused("priors", priors={0: 1, 1: float("inf")})
    refused("priors", priors={0: 1, 1: float("nan")})


def test_class_weights_must_be_sensible():
    refused(r"class_weight\[1\]", class_weight={1: -1})
    refused("class_weight", class_weight="heavy")
    refused("class_weight", class_weight={1: float("inf")})
    refused("class_weight", class_weight={1: float("nan")})
    refused("class_weight", class_weight=[1, 2])


def test_class_weight_and_priors():
    refused("class_weight or priors", class_weight="balanced", priors={0: 0.5, 1: 0.5})


@pytest.mark.parametrize("criterion", ["squared_error", "Gini", None, 3])
def test_unknown_criterion(criterion):
    said = refused("criterion", criterion=criterion)
    assert "gini" in said and "chi_square" in said


@pytest.mark.parametrize("data", [None, 5, [1, 2], "file.csv"])
def test_sketch_data_that_is_no_dict(data):
    refused("sketch_data", data, error=(TypeError, ValueError))


def test_a_set_without_a_class():
    rows = pd.DataFrame({"id": range(9), "f": [True] * 9})
    with pytest.raises(ValueError, match="the sketch set has no class: merge it"):
        ThetaTree().fit(tt.sketch(rows, "id"))


def test_sketch_data_of_other_classes():
    positive, negative = EXACT["positive"], EXACT["negative"]
    for data in (
        {},
        {"positive": positive},
        {"negative": negative},
        {"positive": positive, "rest": negative},
        {"positive": positive, "negative": negative, "total": negative},
    ):
        refused("'positive'.*'negative'.*'total'", data)


def test_sketch_data_with_holes():
    positive, negative = EXACT["positive"], EXACT["negative"]
    without = {name: sketch for name, sketch in positive.items() if name != "total"}
    refused("total of class 'positive'", {"positive": without, "negative": negative})
    refused("'positive'", {"positive": 5, "negative": negative})
    refused("'a'", {"positive": {**positive, "a": 5}, "negative": negative})
    refused("'a'", {"positive": {**positive, "a": b"rubbish"}, "negative": negative})
    refused("overlap", {"positive": positive, "negative": positive})
    ids = np.array([f"k{i}" for i in range(3000)])
    as_text = {**positive, "a": sketched(ids[Y & (FLAGS[:, 0] == 1)])}
    refused("hashed as another type", {"positive": as_text, "negative": negative})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_depth", 0),
        ("max_depth", 1.5),
        ("min_samples_split", 1),
        ("min_samples_split", 1.5),
        ("min_samples_leaf", 0),
        ("min_weight_fraction_leaf", 0.6),
        ("max_features", 0),
        ("max_features", "half"),
        ("max_leaf_nodes", 1),
        ("min_impurity_decrease", -0.1),
        ("min_impurity_decrease", float("nan")),
        ("min_impurity_split", -0.1),
        ("max_categories", 1),
        ("max_categories", 25),
        ("significance", -0.1),
        ("significance", 1.5),
        ("significance", "strict"),
        ("min_held", -1),
        ("min_held", 2.5),
    ],
)
def test_parameters_out_of_range(name, value):
    assert repr(value) in refused(name, **{name: value})


def test_a_significance_of_zero_is_not_none():
    """At level 0 nothing is significant: that must not be the same as no gate at all."""
    try:
        strict = fitted(COARSE, significance=0).get_n_leaves()
    except ValueError as error:
        assert "significance" in str(error)
    else:
        assert strict == 1


def test_not_fitted():
    for call in (lambda m: m.predict([[1]]), lambda m: m.feature_importances_, lambda m: m.get_depth()):
        with pytest.raises(Exception, match="not fitted"):
            call(ThetaTree())
