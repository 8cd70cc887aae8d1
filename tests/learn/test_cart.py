"""CART by what it must do: known answers, properties of every tree, limits, gaps, big and odd inputs."""

import copy
import io
import math
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thetatree as tt
from thetatree import criteria

CLASSIFICATION = [
    "gini",
    "entropy",
    "log_loss",
    "gain_ratio",
    "chi_square",
    "theta",
    "delta",
    "weighted_delta",
]
REGRESSION = ["squared_error", "absolute_error", "poisson"]


def random_rows(seed, n=200, n_classes=3):
    """A frame with all kinds of columns, some gaps, a class and a number."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "whole": rng.integers(0, 5, n),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "flag": rng.random(n) < 0.4,
            "city": pd.Categorical(rng.choice(list("abcdefg"), n)),
        }
    )
    latent = frame["number"] + frame["flag"] + frame["city"].isin(["a", "c"]) + rng.normal(size=n)
    y = np.searchsorted(np.quantile(latent, np.linspace(0, 1, n_classes + 1)[1:-1]), latent)
    return frame, y, latent.to_numpy()


# ---- known answers


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_xor_is_learnt(criterion):
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    y = X[:, 0].astype(int) ^ X[:, 1].astype(int)
    for table in (X, X.astype(bool), X.astype(np.int8)):
        model = tt.CARTClassifier(criterion=criterion, max_depth=2).fit(table, y)
        assert model.get_depth() == 2
        assert model.get_n_leaves() == 4
        assert model.score(table, y) == 1.0


def test_xor_needs_a_gain_when_one_is_asked_for():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    assert tt.CARTClassifier(min_impurity_decrease=1e-9).fit(X, [0, 1, 1, 0]).get_n_leaves() == 1


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_offset_of_y_does_not_change_the_tree(criterion):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    # Quarters are exact at 1e9 too, so both problems are the same.
    y = np.round(4 * (X[:, 0] + (X[:, 1] > 0) + 0.3 * rng.normal(size=300))) / 4
    a = tt.CARTRegressor(criterion=criterion).fit(X, y).tree_
    b = tt.CARTRegressor(criterion=criterion).fit(X, y + 1e9).tree_
    for name in ("kind", "feature", "threshold", "child", "n_node_samples", "missing_branch"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.allclose(a.values + 1e9, b.values, rtol=1e-15, atol=0)
    assert np.allclose(a.impurity, b.impurity, rtol=1e-9, atol=1e-9)


def test_the_aid_example():
    x = np.array([1.2, 2.5, 3.8, 4.1, 5.0])
    y = np.array([10.0, 12, 20, 22, 21])
    cuts, between = [], []
    for i in range(1, 5):
        cuts.append((x[i - 1] + x[i]) / 2)
        between.append(criteria.score("squared_error", y, [y[:i], y[i:]]))
    assert np.allclose(between, [61.25, 120, 67.5, 20], rtol=1e-12)
    assert np.allclose(cuts, [1.85, 3.15, 3.95, 4.55], rtol=1e-12)
    frame = tt.candidates(x[:, None], y, "squared_error")
    assert frame.loc[0, "score"] == pytest.approx(120, rel=1e-12)
    assert frame.loc[0, "cut"] == pytest.approx(3.15, rel=1e-12)
    # Each cut alone, as the only one that binary columns allow.
    for cut, score in zip(cuts, between, strict=True):
        one = tt.candidates((x <= cut)[:, None], y, "squared_error")
        assert one.loc[0, "score"] == pytest.approx(score, rel=1e-12)
    tree = tt.CARTRegressor(max_depth=1).fit(x[:, None], y).tree_
    assert tree.score[0] == pytest.approx(120, rel=1e-12)
    assert tree.threshold[0] == pytest.approx(3.15, rel=1e-12)


def test_gini_and_entropy_of_the_example():
    labels = ["A", "A", "A", "B", "B", "C"]
    for criterion, value in (("gini", 0.6111), ("entropy", 1.45915)):
        tree = tt.CARTClassifier(criterion=criterion).fit(np.zeros((6, 1)), labels).tree_
        assert tree.node_count == 1
        assert tree.impurity[0] == pytest.approx(value, abs=5e-5)
        assert tree.values[0].tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


@pytest.mark.parametrize("low", [1.0, 0.1, -1.0, 1e300, 5e-324, -5e-324, -1.7976931348623155e308])
def test_neighbouring_floats_are_told_apart(low):
    high = np.nextafter(low, np.inf)
    with np.errstate(over="ignore"):
        assert np.float32(low) == np.float32(high)
    X = np.array([[low], [high]] * 4)
    model = tt.CARTClassifier().fit(X, [0, 1] * 4)
    assert low <= model.tree_.threshold[0] < high
    assert model.score(X, [0, 1] * 4) == 1.0


def test_thresholds_are_midpoints():
    tree = tt.CARTClassifier().fit([[1.0], [4.0]], [0, 1]).tree_
    assert tree.threshold[0] == 2.5
    tree = tt.CARTClassifier().fit([[-1.7e308], [1.6e308]], [0, 1]).tree_
    assert tree.threshold[0] == pytest.approx(-5e306)


def test_numbers_of_0_and_1_are_thresholds():
    tree = tt.CARTClassifier().fit(np.array([[0.0], [1.0]]), [0, 1]).tree_
    assert tree.threshold[0] == 0.5
    assert [str(rule) for rule in tree.rules()] == ["x0 ≤ 0.5", "x0 > 0.5"]


def test_flags_go_left_where_present():
    model = tt.CARTClassifier().fit(pd.DataFrame({"member": [True, False, True]}), ["m", "n", "m"])
    assert [(str(r), r.prediction) for r in model.tree_.rules()] == [("member", "m"), ("not member", "n")]


# ---- properties of every tree


def check_tree(model, X, y, weight=None, classify=True):
    tree = model.tree_
    weight = np.ones(len(y)) if weight is None else weight
    assert tree.max_depth == tree.depth.max() == model.get_depth()
    assert model.get_n_leaves() == tree.is_leaf.sum()
    assert tree.node_count == 2 * model.get_n_leaves() - 1
    if model.max_depth is not None:
        assert tree.max_depth <= model.max_depth
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.children_left[inner], tree.children_right[inner]
    assert (tree.n_node_samples[inner] == tree.n_node_samples[left] + tree.n_node_samples[right]).all()
    total = tree.weighted_n_node_samples
    assert np.allclose(total[inner], total[left] + total[right], rtol=1e-12)
    assert (tree.impurity_decrease[inner] >= 0).all()
    fall = total[inner] * tree.impurity[inner]
    fall -= total[left] * tree.impurity[left] + total[right] * tree.impurity[right]
    scale = max(1.0, float(tree.impurity.max()))
    assert np.allclose(tree.impurity_decrease[inner], fall / total[0], rtol=1e-7, atol=1e-9 * scale)
    assert (tree.impurity >= 0).all()
    if classify:
        assert np.allclose(tree.values.sum(axis=1), 1)
        if model.criterion in ("gini", "chi_square", "delta", "weighted_delta"):
            assert (tree.impurity < 1).all()
            assert (tree.impurity <= 1 - 1 / len(model.classes_) + 1e-12).all()
    path = model.decision_path(X)
    leaves = model.apply(X)
    assert tree.is_leaf[leaves].all()
    assert (np.asarray(path.sum(axis=0)).ravel() == tree.n_node_samples).all()
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        assert rows.sum() == tree.n_node_samples[leaf]
        if classify:
            codes = np.searchsorted(model.classes_, y[rows])
            counts = np.bincount(codes, weights=weight[rows], minlength=len(model.classes_))
            assert np.allclose(tree.values[leaf], counts / counts.sum())
            assert tree.impurity[leaf] == pytest.approx(criteria.impurity(model.criterion, counts), abs=1e-9)
        pure = len(np.unique(y[rows])) == 1
        at_limit = (
            (model.max_depth is not None and tree.depth[leaf] == model.max_depth)
            or rows.sum() < model.min_samples_split
            or rows.sum() < 2 * model.min_samples_leaf
        )
        yield leaf, pure, at_limit, np.flatnonzero(rows)


@pytest.mark.parametrize("criterion", CLASSIFICATION + REGRESSION)
@pytest.mark.parametrize("limits", [{}, {"max_depth": 3}, {"min_samples_leaf": 12}], ids=str)
def test_properties(criterion, limits):
    for seed in range(3):
        X, classes, numbers = random_rows(seed)
        classify = criterion in CLASSIFICATION
        y = classes if classify else np.exp(numbers) if criterion == "poisson" else numbers
        cls = tt.CARTClassifier if classify else tt.CARTRegressor
        weight = None if seed == 0 else np.random.default_rng(seed).integers(1, 5, len(y)).astype(float)
        model = cls(criterion=criterion, **limits).fit(X, y, sample_weight=weight)
        for _, pure, at_limit, rows in check_tree(model, X, y, weight, classify):
            assert len(rows) >= model.min_samples_leaf
            if model.min_samples_leaf == 1 and criterion != "poisson":
                assert pure or at_limit  # these rows all differ, so nothing else stops a tree


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_properties_on_any_data(data):
    n = data.draw(st.integers(1, 25))
    p = data.draw(st.integers(1, 3))
    number = st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(allow_nan=True, allow_infinity=False),
    )
    X = np.array(data.draw(st.lists(st.lists(number, min_size=p, max_size=p), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.25, 1.0, 3.0]), min_size=n, max_size=n)))
    model = tt.CARTClassifier(
        criterion=data.draw(st.sampled_from(CLASSIFICATION)),
        missing=data.draw(st.sampled_from(["learnt", "majority"])),
        max_depth=data.draw(st.sampled_from([None, 1, 3])),
        min_samples_leaf=data.draw(st.integers(1, 3)),
    ).fit(X, y, sample_weight=weight)
    for *_, rows in check_tree(model, X, y, weight):
        assert len(rows) >= min(n, model.min_samples_leaf)
    assert model.tree_ == clone(model).fit(X, y, sample_weight=weight).tree_
    assert pickle.loads(pickle.dumps(model.tree_)) == model.tree_


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False, width=64),
            st.floats(-1e6, 1e6, allow_subnormal=False),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from(["squared_error", "absolute_error"]),
)
def test_a_full_regression_tree_repeats_its_training_means(pairs, criterion):
    x, y = np.array(pairs).T
    model = tt.CARTRegressor(criterion=criterion).fit(x[:, None], y)
    predicted = model.predict(x[:, None])
    for value in np.unique(x):
        same = y[x == value]
        centre = same.mean() if criterion == "squared_error" else np.median(same)
        assert np.allclose(predicted[x == value], centre, rtol=1e-9, atol=1e-6)


def test_any_order_of_rows_gives_the_same_tree():
    X, y, numbers = random_rows(3, n=400)
    order = np.random.default_rng(0).permutation(400)
    a = tt.CARTClassifier().fit(X, y).tree_
    assert a == tt.CARTClassifier().fit(X.iloc[order], y[order]).tree_
    whole = np.round(4 * numbers)
    a = tt.CARTRegressor(criterion="absolute_error").fit(X, whole).tree_
    b = tt.CARTRegressor(criterion="absolute_error").fit(X.iloc[order], whole[order]).tree_
    assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
    assert np.array_equal(a.feature, b.feature)


@pytest.mark.parametrize("criterion", [*CLASSIFICATION, *REGRESSION])
def test_same_tree_with_any_threads(criterion):
    rng = np.random.default_rng(0)
    X, y, numbers = random_rows(5, n=12000)
    for j in range(10):
        X[f"extra{j}"] = rng.normal(size=12000)
    classify = criterion in CLASSIFICATION
    target = y if classify else np.exp(numbers / 4) if criterion == "poisson" else numbers
    cls = tt.CARTClassifier if classify else tt.CARTRegressor
    trees = [cls(criterion=criterion, max_depth=5, n_jobs=k).fit(X, target).tree_ for k in (1, 2, 2)]
    assert trees[0] == trees[1] == trees[2]
    leaves = [trees[0].apply(X, n_jobs=k) for k in (1, 2)]
    assert (leaves[0] == leaves[1]).all()


def test_duplicated_rows_are_whole_weights():
    X, y, numbers = random_rows(7, n=120)
    times = np.random.default_rng(1).integers(0, 4, 120)
    repeated = np.repeat(np.arange(120), times)
    for cls, target in ((tt.CARTClassifier, y), (tt.CARTRegressor, np.round(8 * numbers) / 8)):
        a = cls(max_depth=6).fit(X, target, sample_weight=times)
        b = cls(max_depth=6).fit(X.iloc[repeated], target[repeated])
        assert np.allclose(a.tree_.threshold, b.tree_.threshold, equal_nan=True)
        assert np.allclose(a.predict(X).astype(float), b.predict(X).astype(float))


# ---- weights


@pytest.mark.parametrize("criterion", ["gini", "theta", "squared_error", "absolute_error"])
def test_zero_weight_leaves_a_row_out(criterion):
    X, y, numbers = random_rows(11)
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(200) < 0.4, 0.0, rng.integers(1, 4, 200))
    keep = weight > 0
    cls, target = (tt.CARTRegressor, numbers) if "error" in criterion else (tt.CARTClassifier, y)
    a = cls(criterion=criterion, min_samples_leaf=0.02, min_weight_fraction_leaf=0.01)
    b = clone(a).fit(X[keep], target[keep], sample_weight=weight[keep])
    assert a.fit(X, target, sample_weight=weight).tree_ == b.tree_


def test_a_class_without_weight_stays_a_class():
    model = tt.CARTClassifier().fit([[1], [2], [3]], ["a", "b", "c"], sample_weight=[1, 0, 1])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba([[1], [3]]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_equal_weights_change_nothing_but_their_sum():
    X, y, _ = random_rows(12)
    a = tt.CARTClassifier().fit(X, y).tree_
    b = tt.CARTClassifier().fit(X, y, sample_weight=np.full(200, 2.0)).tree_
    assert np.array_equal(a.threshold, b.threshold, equal_nan=True)
    assert np.array_equal(a.values, b.values)
    assert np.array_equal(2 * a.weighted_n_node_samples, b.weighted_n_node_samples)
    assert tt.CARTClassifier().fit(X, y, sample_weight=np.ones(200)).tree_ == a
    assert tt.CARTClassifier().fit(X, y, sample_weight=1.0).tree_ == a


def test_class_weight_is_a_weight_of_rows():
    X, y, _ = random_rows(13)
    names = np.array(["low", "mid", "high"])[y]
    each = {"low": 1.0, "mid": 4.0, "high": 0.5}
    weight = np.array([each[name] for name in names])
    a = tt.CARTClassifier(class_weight=each).fit(X, names).tree_
    assert a == tt.CARTClassifier().fit(X, names, sample_weight=weight).tree_
    part = tt.CARTClassifier(class_weight={"mid": 4.0}).fit(X, names).tree_
    weight = np.where(names == "mid", 4.0, 1.0)
    assert part == tt.CARTClassifier().fit(X, names, sample_weight=weight).tree_
    balanced = tt.CARTClassifier(class_weight="balanced").fit(X, names)
    assert np.allclose(balanced.tree_.values[0], 1 / 3)


# ---- limits


def test_min_impurity_split_is_about_the_node():
    X, y, numbers = random_rows(17)
    for cls, target, limit in (
        (tt.CARTClassifier, y, 0.5),
        (tt.CARTRegressor, numbers, 0.8),
    ):
        tree = cls(min_impurity_split=limit).fit(X, target).tree_
        assert (tree.impurity[~tree.is_leaf] > limit).all()
        free = cls().fit(X, target).tree_
        assert free.node_count > tree.node_count > 1


def test_limits_bind_the_search():
    """The best split isolates two rows; under min_samples_leaf the best of the others is taken, not none."""
    x = np.arange(20.0)[:, None]
    y = np.array([1, 1] + [0] * 18)
    tree = tt.CARTClassifier(min_samples_leaf=5, max_depth=1).fit(x, y).tree_
    assert tree.node_count == 3
    assert tree.n_node_samples[1] == 5
    heavy = np.array([1.0] * 10 + [3.0] * 10)
    tree = tt.CARTClassifier(min_weight_fraction_leaf=0.25, max_depth=1).fit(x, y, heavy).tree_
    assert tree.weighted_n_node_samples[1:].min() == 10


def test_two_sides_of_just_the_least_weight_are_allowed():
    tree = tt.CARTClassifier(min_weight_fraction_leaf=0.5).fit([[0], [0], [1], [1]], [0, 0, 1, 1]).tree_
    assert tree.node_count == 3


def test_min_impurity_decrease_holds_everywhere():
    X, y, _ = random_rows(19)
    tree = tt.CARTClassifier(min_impurity_decrease=0.01).fit(X, y).tree_
    assert tree.node_count > 1
    assert (tree.impurity_decrease[~tree.is_leaf] >= 0.01 - 1e-12).all()


def test_best_first_takes_the_best_leaves():
    X, y, _ = random_rows(23, n=400)
    before = math.inf
    for leaves in range(2, 15):
        model = tt.CARTClassifier(max_leaf_nodes=leaves).fit(X, y)
        tree = model.tree_
        assert model.get_n_leaves() == leaves
        risk = (tree.impurity * tree.weighted_n_node_samples)[tree.is_leaf].sum()
        assert risk <= before + 1e-9
        before = risk
    full = tt.CARTClassifier().fit(X, y)
    enough = tt.CARTClassifier(max_leaf_nodes=10**6).fit(X, y)
    assert full.tree_ == enough.tree_


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("direction", "y"), [(-1, [3, 1, 0, 0]), (1, [0, 0, 1, 3])])
def test_a_value_may_be_just_at_its_bound(sign, direction, y):
    """The root's sides are worth 2 and 0, so 1 is the bound of either; a child's side is worth just that."""
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    model = tt.CARTRegressor(monotonic_cst=[sign * direction] * 2).fit(X, np.multiply(sign, y))
    assert model.tree_.feature[0] == 0
    assert model.predict(X).tolist() == np.multiply(sign, y).tolist()


def test_monotonic_predictions():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, (400, 1))
    y = np.sin(x[:, 0]) + 0.3 * rng.normal(size=400)
    grid = np.linspace(0, 10, 300)[:, None]
    for criterion in ("squared_error", "absolute_error"):
        for sign in (1, -1):
            model = tt.CARTRegressor(criterion=criterion, monotonic_cst=[sign]).fit(x, y)
            assert (np.diff(model.predict(grid)) * sign >= -1e-12).all()
            assert model.get_n_leaves() > 1
    frame = pd.DataFrame({"x": x[:, 0], "flag": rng.random(400) < 0.5})
    label = (y > 0.3).astype(int)
    model = tt.CARTClassifier(monotonic_cst={"flag": 1, "x": 1}, max_depth=6).fit(frame, label)
    for flag in (True, False):
        shares = model.predict_proba(pd.DataFrame({"x": grid[:, 0], "flag": flag}))[:, 1]
        assert (np.diff(shares) >= -1e-12).all()
    on = model.predict_proba(pd.DataFrame({"x": grid[:, 0], "flag": True}))[:, 1]
    off = model.predict_proba(pd.DataFrame({"x": grid[:, 0], "flag": False}))[:, 1]
    assert (on >= off - 1e-12).all()


# ---- chance


@pytest.mark.parametrize("arguments", [{"max_features": 2}, {"splitter": "random"}], ids=str)
def test_random_trees_repeat(arguments):
    X, y, _ = random_rows(29)
    trees = [tt.CARTClassifier(random_state=s, **arguments).fit(X, y).tree_ for s in (0, 0, 1)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]
    state = np.random.RandomState(3)
    a = tt.CARTClassifier(random_state=state, **arguments).fit(X, y).tree_
    b = tt.CARTClassifier(random_state=state, **arguments).fit(X, y).tree_
    assert a != b
    again = tt.CARTClassifier(random_state=np.random.RandomState(3), **arguments).fit(X, y).tree_
    assert a == again


def test_a_plain_tree_does_not_depend_on_the_seed():
    X, y, _ = random_rows(31)
    assert tt.CARTClassifier(random_state=1).fit(X, y).tree_ == tt.CARTClassifier().fit(X, y).tree_


def test_max_features_draws_widely_and_still_splits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    y = rng.integers(0, 2, 200)
    roots = [
        int(tt.CARTClassifier(max_features=1, max_depth=1, random_state=s).fit(X, y).tree_.feature[0])
        for s in range(300)
    ]
    assert np.bincount(roots, minlength=10).min() > 10
    X[:, :9] = 1.0  # only the last can split: more are looked at until one can
    model = tt.CARTClassifier(max_features=1, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    for asked, resolved in (("sqrt", 3), ("log2", 3), (0.25, 2), (4, 4), (None, 10), (1.0, 10), (99, 10)):
        assert tt.CARTClassifier(max_features=asked).fit(X, y).max_features_ == resolved


def test_random_splits_are_sensible():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 1))
    y = (x[:, 0] > 0).astype(int)
    thresholds = [
        float(tt.CARTClassifier(splitter="random", max_depth=1, random_state=s).fit(x, y).tree_.threshold[0])
        for s in range(300)
    ]
    assert min(thresholds) >= x.min()
    assert max(thresholds) < x.max()
    assert np.std(thresholds) > 0.5 * (x.max() - x.min()) / math.sqrt(12)
    X, classes, numbers = random_rows(2)
    for cls, target in ((tt.CARTClassifier, classes), (tt.CARTRegressor, numbers)):
        model = cls(splitter="random", random_state=0).fit(X, target)
        assert model.score(X, target) == pytest.approx(1.0)


# ---- missing values and categories


def test_random_subsets_have_two_sides_and_are_any_subset():
    colours = pd.DataFrame({"c": pd.Categorical(list("rgb") * 20)})
    y = [0, 1, 2] * 20
    found = set()
    for seed in range(40):
        model = tt.CARTClassifier(splitter="random", max_depth=1, random_state=seed)
        assert model.fit(colours[colours["c"] != "b"], [0, 1] * 20).tree_.node_count == 3
        leaves = model.fit(colours, y).apply(colours)[:3]
        found.add(tuple(leaves == leaves[0]))
    assert found == {(True, True, False), (True, False, True), (True, False, False)}


def test_missing_values_go_where_they_belong():
    X = np.array([[1.0], [2.0], [8.0], [9.0], [np.nan], [np.nan]])
    model = tt.CARTClassifier(max_depth=1).fit(X, ["a", "a", "b", "b", "a", "a"])
    assert model.predict([[np.nan], [1.5], [8.5]]).tolist() == ["a", "a", "b"]
    model = tt.CARTClassifier(max_depth=1).fit(X, ["a", "a", "b", "b", "b", "b"])
    assert model.predict([[np.nan], [1.5], [8.5]]).tolist() == ["b", "a", "b"]


def test_missing_may_be_a_branch_of_its_own():
    X = np.array([[1.0], [5.0], [9.0], [np.nan], [np.nan]])
    model = tt.CARTClassifier().fit(X, [0, 0, 0, 1, 1])
    assert [str(rule) for rule in model.tree_.rules()] == ["x0 is known", "x0 is missing"]
    assert model.tree_.threshold[0] == math.inf
    assert model.predict([[np.nan], [-1e300]]).tolist() == [1, 0]


@pytest.mark.parametrize("n_classes", [2, 11, 12, 40])
def test_missing_values_among_few_and_many_classes(n_classes):
    y = np.repeat(np.arange(n_classes), 6)
    x = np.where(y == n_classes - 1, np.nan, y.astype(float))
    model = tt.CARTClassifier().fit(x[:, None], y)
    assert model.predict(x[:, None]).tolist() == y.tolist()


def test_majority_joins_the_heavier_side():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [8.0], [np.nan]])
    y = ["a", "a", "a", "a", "b", "b"]
    model = tt.CARTClassifier(missing="majority", max_depth=1).fit(X, y)
    assert model.predict([[np.nan]]).tolist() == ["a"]
    assert model.tree_.missing_branch[0] == 0
    learnt = tt.CARTClassifier(missing="learnt", max_depth=1).fit(X, y)
    assert learnt.predict([[np.nan]]).tolist() == ["b"]


def test_unseen_missing_follows_the_heavier_branch():
    model = tt.CARTClassifier().fit([[1.0], [2.0], [9.0]], [0, 0, 1])
    assert model.predict([[np.nan]]).tolist() == [0]
    model = tt.CARTClassifier().fit([[1.0], [8.0], [9.0]], [0, 1, 1])
    assert model.predict([[np.nan]]).tolist() == [1]


def test_missing_error_refuses_at_fit_and_predict():
    X, y, _ = random_rows(1)
    with pytest.raises(ValueError, match=r"gappy"):
        tt.CARTClassifier(missing="error").fit(X, y)
    full = X.fillna({"gappy": 0.0})
    model = tt.CARTClassifier(missing="error").fit(full, y)
    with pytest.raises(ValueError, match=r"gappy"):
        model.predict(X)
    for column, value in (("city", None), ("number", np.nan)):
        broken = full.copy()
        broken.loc[3, column] = value
        with pytest.raises(ValueError, match=column):
            model.predict(broken)


@pytest.mark.parametrize("missing", ["learnt", "majority"])
def test_unseen_categories_go_where_missing_goes(missing):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice(list("abcd"), 200), "x": rng.normal(size=200)})
    frame.loc[rng.random(200) < 0.2, "c"] = None
    y = (frame["c"].isin(["a", "b"]) | frame["c"].isna()).to_numpy() ^ (frame["x"] > 0.5).to_numpy()
    model = tt.CARTClassifier(missing=missing).fit(frame, y)
    new = pd.DataFrame({"c": ["zebra"] * 50, "x": np.linspace(-2, 2, 50)})
    gone = new.assign(c=None)
    assert (model.apply(new) == model.apply(gone)).all()
    assert len(np.unique(model.apply(new))) > 1


def test_columns_without_information():
    X, y, _ = random_rows(37)
    poor = X.assign(nothing=np.nan, constant=7.0, never=False, word="same", none=pd.Categorical([None] * 200))
    model = tt.CARTClassifier().fit(poor, y)
    assert model.feature_importances_[-5:].tolist() == [0] * 5
    assert (model.predict(poor) == tt.CARTClassifier().fit(X, y).predict(X)).all()
    only = poor[["nothing", "constant", "never", "word", "none"]]
    model = tt.CARTClassifier().fit(only, y)
    assert model.get_n_leaves() == 1
    assert model.get_depth() == 0
    assert model.feature_importances_.tolist() == [0] * 5
    assert np.allclose(model.predict_proba(only), np.bincount(y) / 200)


def test_one_class_and_one_row():
    model = tt.CARTClassifier().fit([[1.0], [2.0]], ["only", "only"])
    assert model.get_n_leaves() == 1
    assert model.predict([[5.0]]).tolist() == ["only"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]
    assert model.predict_log_proba([[5.0]]).tolist() == [[0.0]]
    assert tt.CARTClassifier().fit([[1.0]], [3]).predict([[0.0]]).tolist() == [3]
    assert tt.CARTRegressor().fit([[1.0]], [3]).predict([[0.0]]).tolist() == [3.0]
    assert tt.CARTRegressor().fit([[1.0], [2.0]], [3, 3]).get_n_leaves() == 1


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [0, 1], [-5, 1000], [1.0, 2.0], [False, True], [np.uint8(3), np.uint8(200)]],
    ids=str,
)
def test_labels_of_any_type(labels):
    X, y, _ = random_rows(41, n_classes=2)
    named = np.array(labels)[y]
    model = tt.CARTClassifier(max_depth=3).fit(X, named)
    assert model.classes_.dtype == named.dtype
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).dtype == named.dtype
    plain = tt.CARTClassifier(max_depth=3).fit(X, y)
    assert (model.predict(X) == np.array(labels)[plain.predict(X)]).all()
    assert model.score(X, named) == plain.score(X, y)


def test_two_class_subsets_are_optimal():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, k = 60, 6
        codes = rng.integers(0, k, n)
        y = (rng.random(n) < rng.random(k)[codes]).astype(int)
        if len(np.unique(y)) < 2:
            continue
        frame = pd.DataFrame({"c": np.array(list("abcdef"))[codes]})
        for criterion in ("gini", "entropy"):
            best = tt.candidates(frame, y, criterion).loc[0, "score"]
            assert best == pytest.approx(best_partition(criterion, codes, y, 2), rel=1e-9)


def best_partition(criterion, codes, y, n_classes):
    levels = np.unique(codes)
    parent = np.bincount(y, minlength=n_classes)
    best = -math.inf
    for left, _ in criteria.partitions(len(levels)):
        mask = np.isin(codes, levels[list(left)])
        children = [np.bincount(y[m], minlength=n_classes) for m in (mask, ~mask)]
        best = max(best, criteria.score(criterion, parent, children))
    return best


@pytest.mark.parametrize("criterion", CLASSIFICATION)
def test_few_categories_and_many_classes_are_exhaustive(criterion):
    rng = np.random.default_rng(0)
    for _ in range(8):
        codes, y = rng.integers(0, 6, 70), rng.integers(0, 4, 70)
        frame = pd.DataFrame({"c": np.array(list("abcdef"))[codes]})
        best = tt.candidates(frame, y, criterion).loc[0, "score"]
        assert best == pytest.approx(best_partition(criterion, codes, y, 4), rel=1e-9)


def test_a_category_of_100_000_levels_with_three_classes():
    rng = np.random.default_rng(0)
    n, k = 200_000, 100_000
    codes = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    group = rng.integers(0, 3, k)
    y = np.where(rng.random(n) < 0.9, group[codes], rng.integers(0, 3, n))
    frame = pd.DataFrame({"id": pd.Categorical.from_codes(codes, [f"v{i:06d}" for i in range(k)])})
    model = tt.CARTClassifier(max_depth=2).fit(frame, y)
    assert model.tree_.node_count > 3
    assert len(model.tree_.features[0].labels) == k
    assert model.score(frame, y) > 0.85
    assert model.predict(pd.DataFrame({"id": ["v000000", "never seen", None]})).shape == (3,)


# ---- depth


@pytest.fixture(scope="module")
def deep():
    """A chain: each split sets one row apart, 10,000 times."""
    n = 10_001
    x = np.arange(n, dtype=float)[:, None]
    # delta is greatest where a side is pure, and with labels that alternate only a single row is.
    labels = np.arange(n) % 2
    model = tt.CARTClassifier(criterion="delta").fit(x, labels)
    return model, x, labels


def test_a_tree_10_000_levels_deep(deep, tmp_path):
    model, x, y = deep
    tree = model.tree_
    assert tree.max_depth >= 9_990
    assert model.score(x, y) == 1.0
    model.save(tmp_path / "deep.json")
    assert tt.load(tmp_path / "deep.json").tree_ == tree
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), joblib.load(buffer)):
        assert again.tree_ == tree
        assert (again.predict(x) == y).all()
    assert tree.prune(ccp_alpha=0.0).node_count <= tree.node_count
    assert tree.prune(ccp_alpha=1.0).node_count == 1
    assert tree.prune(at=[tree.node_count // 2]).node_count < tree.node_count
    path = model.cost_complexity_pruning_path(x[:2000], y[:2000])
    assert (np.diff(path.ccp_alphas) >= 0).all()
    assert tt.export.to_text(model).count("\n") < 50
    assert tt.export.to_text(model, max_depth=None).count("\n") == tree.node_count
    assert len(tree.to_frame()) == tree.node_count
    assert tree.subtree_end[0] == tree.node_count
    assert model.decision_path(x[:3]).sum() > 0
    assert tree.compute_feature_importances().tolist() == [1.0]


# ---- scikit-learn's interface


def test_importances_and_paths():
    X, y = load_iris(return_X_y=True)
    model = tt.CARTClassifier().fit(X, y)
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    tree = model.tree_
    by_hand = np.zeros(4)
    for i in np.flatnonzero(~tree.is_leaf):
        a, b = tree.children_left[i], tree.children_right[i]
        w = tree.weighted_n_node_samples
        by_hand[tree.feature[i]] += (
            w[i] * tree.impurity[i] - w[a] * tree.impurity[a] - w[b] * tree.impurity[b]
        ) / w[0]
    assert np.allclose(model.feature_importances_, by_hand / by_hand.sum())
    assert np.allclose(tree.compute_feature_importances(normalize=False), by_hand)
    leaves = model.apply(X)
    path = model.decision_path(X)
    assert path.shape == (150, tree.node_count)
    for row in range(0, 150, 10):
        nodes = path[row].indices
        assert nodes[0] == 0
        assert nodes[-1] == leaves[row]
        assert (tree.parent[nodes[1:]] == nodes[:-1]).all()


def test_pruning_path_is_monotone_and_reachable():
    X, y = load_breast_cancer(return_X_y=True)
    for cls, target in ((tt.CARTClassifier, y), (tt.CARTRegressor, X[:, 0] + y)):
        path = cls().cost_complexity_pruning_path(X, target)
        assert path.ccp_alphas[0] == 0
        assert (np.diff(path.ccp_alphas) >= -1e-15).all()
        assert (np.diff(path.impurities) >= -1e-12 * path.impurities.max()).all()
        full = cls().fit(X, target)
        before = full.get_n_leaves() + 1
        for alpha in path.ccp_alphas[:: max(1, len(path.ccp_alphas) // 8)]:
            pruned = cls(ccp_alpha=float(alpha)).fit(X, target)
            assert pruned.get_n_leaves() <= before
            before = pruned.get_n_leaves()
            assert pruned.tree_ == full.tree_.prune(ccp_alpha=float(alpha)) or alpha == 0
        assert cls(ccp_alpha=float(path.ccp_alphas[-1])).fit(X, target).get_n_leaves() == 1


def test_scikit_learn_tools():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), tt.CARTClassifier(max_depth=3))
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.9
    search = GridSearchCV(tt.CARTClassifier(), {"max_depth": [1, 3], "criterion": ["gini", "theta"]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["max_depth"] == 3
    frame, classes, _ = random_rows(0)
    assert cross_val_score(tt.CARTClassifier(max_depth=4), frame, classes, cv=3).mean() > 0.4
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(tt.CARTRegressor(max_depth=3), X, y, cv=5).mean() > 0.2
    model = tt.CARTRegressor(criterion="absolute_error", max_depth=3, min_samples_leaf=0.1)
    assert clone(model).get_params() == model.get_params()
    assert "absolute_error" in repr(model)


def test_verbose_prints(capsys):
    X, y, _ = random_rows(0)
    tt.CARTClassifier().fit(X, y)
    assert capsys.readouterr().out == ""
    tt.CARTClassifier(verbose=1, max_depth=1).fit(X, y)
    assert capsys.readouterr().out == "CARTClassifier: 200 rows x 5 columns, 2 leaves\n"


def test_fit_leaves_its_inputs_alone():
    X, y, numbers = random_rows(0)
    weight = np.random.default_rng(0).uniform(0.5, 2, 200)
    copies = X.copy(), y.copy(), weight.copy()
    tt.CARTClassifier().fit(X, y, sample_weight=weight).predict(X)
    pd.testing.assert_frame_equal(X, copies[0])
    assert (y == copies[1]).all()
    assert (weight == copies[2]).all()
    matrix = np.random.default_rng(0).normal(size=(200, 3))
    matrix.flags.writeable = False
    numbers.flags.writeable = False
    tt.CARTRegressor(criterion="absolute_error").fit(matrix, numbers).predict(matrix)


def test_refit_forgets():
    X, y, _ = random_rows(0)
    model = tt.CARTClassifier().fit(X, y)
    model.fit(X[["number"]].to_numpy(), y > 0)
    assert model.n_features_in_ == 1
    assert not hasattr(model, "feature_names_in_")
    assert model.classes_.tolist() == [False, True]


# ---- candidates


def test_candidates_show_every_feature():
    X, y, _ = random_rows(4)
    frame = tt.candidates(X, y)
    assert frame["feature"].tolist() == list(X.columns)
    tree = tt.CARTClassifier(max_depth=1).fit(X, y).tree_
    best = frame["score"].idxmax()
    assert tree.feature[0] == best
    assert tree.score[0] == pytest.approx(frame["score"].max())
    assert (frame["n_left"] + frame["n_right"] == 200).all()
    assert frame.loc[3, "split"] == "flag"
    assert frame.loc[4, "split"].startswith("city in {")
    assert math.isnan(frame.loc[3, "cut"])


def test_candidates_that_cannot_split():
    """The columns are there whatever the data, so that code that reads them works."""
    usual = list(tt.candidates([[1.0], [2.0]], [0, 1]).columns)
    assert "score" in usual
    frame = tt.candidates([[1.0, 5.0], [1.0, 6.0]], [0, 1])
    assert list(frame.columns) == usual
    assert math.isnan(frame.loc[0, "score"])
    assert list(tt.candidates([[1.0], [1.0]], [0, 1]).columns) == usual
    assert list(tt.candidates([[1.0], [2.0]], [0, 0]).columns) == usual


def test_candidates_take_limits_and_weights():
    x, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1]
    assert tt.candidates(x, y).loc[0, "n_left"] == 1
    assert tt.candidates(x, y, min_samples_leaf=2).loc[0, "n_left"] == 2
    weighted = tt.candidates(x, y, sample_weight=[5, 1, 1, 1])
    assert weighted.loc[0, "weight_left"] == 5
    with pytest.raises(ValueError, match=r"unknown criterion 'nope'.*gini.*poisson"):
        tt.candidates(x, y, "nope")
