"""Significance of splits: p-values by definition, the stopping rule, permutations, and pure noise."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import thetatree as tt
from thetatree.tree.tree import SplitKind


def noise(seed, n=300, classes=2):
    """Columns of every kind that have nothing to do with the target."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "k": rng.integers(0, 6, n),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
            "flag": rng.random(n) < 0.3,
            "city": rng.choice(["Oslo", "Bergen", "Tromsø", "Bodø"], n),
        }
    )
    return X, rng.integers(0, classes, n)


def signal(seed, n=400):
    X, _ = noise(seed, n)
    rng = np.random.default_rng([seed, 1])
    return X, ((X["x"] > 0.3) ^ (rng.random(n) < 0.2)).astype(int).to_numpy()


def tables(tree, leaves, y, node):
    """Class counts of a node's children, from the rows themselves."""
    children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
    return [y[(leaves >= c) & (leaves < tree.subtree_end[c])] for c in children]


def n_tried(X, name, n_rows):
    """The features, times the splits of one: cuts between its levels, at most one less than rows.

    Of a category every way to part it; twice and one more with missing values.
    """
    levels = min(X[name].nunique(), n_rows)
    cuts = 2 ** (levels - 1) - 1 if name == "city" else levels - 1
    return X.shape[1] * (2 * cuts + 1 if X[name].isna().any() else cuts)


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "gain_ratio", "chi_square", "theta", "squared_error"]
)
@pytest.mark.parametrize("classes", [2, 3])
def test_p_values_by_definition(criterion, classes):
    """G, chi-square or F of scipy, times the candidates of all columns."""
    for seed in range(4):
        X, y = signal(seed)
        if classes == 3:
            y = y + (np.random.default_rng(seed).random(len(y)) < 0.3)
        regress = criterion == "squared_error"
        made = tt.CARTRegressor if regress else tt.CARTClassifier
        model = made(criterion=criterion, max_depth=4).fit(X, y.astype(float) if regress else y)
        tree, leaves = model.tree_, model.apply(X)
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            parts = tables(tree, leaves, y, node)
            if regress:
                spread = np.concatenate([part - part.mean() for part in parts])
                chance = 0.0 if np.allclose(spread, 0) else stats.f_oneway(*parts).pvalue
                chance = 1.0 if len(spread) == len(parts) else chance  # nothing is left to judge by
            else:
                table = np.array([np.bincount(part, minlength=classes) for part in parts])
                table = table[:, table.sum(axis=0) > 0]
                kind = "log-likelihood" if criterion in ("entropy", "gain_ratio") else "pearson"
                chance = stats.chi2_contingency(table, correction=False, lambda_=kind).pvalue
            n = sum(map(len, parts))
            tried = n_tried(X, tree.features[tree.feature[node]].name, n)
            assert tree.p_value[node] == pytest.approx(min(1.0, chance * tried), rel=1e-6, abs=1e-300)
        assert np.isnan(tree.p_value[tree.is_leaf]).all()


@pytest.mark.parametrize(
    "learner", [tt.CARTClassifier, tt.CARTRegressor, tt.THAIDClassifier, tt.AIDRegressor]
)
def test_only_significant_splits_are_made(learner):
    for seed in range(6):
        X, y = signal(seed)
        whole = learner().fit(X, y).tree_
        tree = learner(significance=0.05).fit(X, y).tree_
        inner = ~tree.is_leaf
        assert inner.any() and (tree.p_value[inner] < 0.05).all()
        first_bad = [node for node in np.flatnonzero(~whole.is_leaf) if not whole.p_value[node] < 0.05]
        if learner is not tt.AIDRegressor:  # it grows the largest group first, to no limit: the same then too
            assert tree == whole.prune(at=first_bad)


def test_best_first_growth_spends_its_leaves_on_significant_splits():
    X, y = signal(3, 2000)
    model = tt.CARTClassifier(max_leaf_nodes=4, significance=0.01).fit(X, y)
    assert (model.tree_.p_value[~model.tree_.is_leaf] < 0.01).all()


def test_weights_are_scaled_to_the_number_of_rows():
    X, y = signal(1)
    even = tt.CARTClassifier(max_depth=2).fit(X, y)
    heavy = tt.CARTClassifier(max_depth=2).fit(X, y, sample_weight=np.full(len(y), 7.0))
    np.testing.assert_allclose(even.tree_.p_value, heavy.tree_.p_value, rtol=1e-9)


def test_columns_of_one_value_do_not_count():
    X, y = signal(1)
    model = tt.CARTClassifier(max_depth=3).fit(X, y)
    constant = X.assign(one=pd.Categorical(["a"] * len(X)), same=7.5)
    wider = tt.CARTClassifier(max_depth=3).fit(constant, y)
    np.testing.assert_array_equal(wider.tree_.p_value, model.tree_.p_value)


def test_permutations():
    X, y = signal(2, 200)
    model = tt.CARTClassifier(
        significance=0.05, significance_test="permutation", n_permutations=99, max_depth=3
    )
    tree = model.fit(X, y).tree_
    assert tree.p_value[0] == pytest.approx(0.01)  # no deal of 99 is as good
    assert tree == model.fit(X, y).tree_
    assert (tree.p_value[~tree.is_leaf] < 0.05).all()
    X, y = noise(0, 200)
    assert model.fit(X, y).get_n_leaves() == 1
    other = tt.CARTRegressor(
        significance=0.05, significance_test="permutation", n_permutations=49, max_depth=2
    )
    assert other.fit(X, X["x"]).get_n_leaves() > 1


def test_permutations_find_what_bonferroni_does_not():
    """With many cuts that say almost the same, the correction for all of them asks too much."""
    rng = np.random.default_rng(0)
    found = {"parametric": 0, "permutation": 0}
    for _ in range(20):
        X = rng.normal(size=(150, 6))
        y = (X[:, 0] + 2.2 * rng.normal(size=150) > 0).astype(int)
        for test in found:
            model = tt.CARTClassifier(
                significance=0.05, significance_test=test, n_permutations=99, max_depth=1
            ).fit(X, y)
            found[test] += model.get_n_leaves() > 1
    assert found["permutation"] > found["parametric"]


@pytest.mark.parametrize("test", ["parametric", "permutation"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error"])
def test_noise_is_seldom_split(test, criterion):
    """A short form of `make noise`: at the 5% level few of these pure noise problems split at the root."""
    made = tt.CARTRegressor if "error" in criterion else tt.CARTClassifier
    model = made(
        criterion=criterion, significance=0.05, significance_test=test, n_permutations=39, max_depth=1
    )
    problems = 40
    split = sum(model.fit(*noise(seed, 150)).get_n_leaves() > 1 for seed in range(problems))
    assert split <= 6  # more than that has a chance of 1.4% at 5%


# ---- sketches


def coarse(seed, n=6000, lg_k=9, signal=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"f{j}": rng.random(n) < 0.3 for j in range(6)})
    frame["color"] = rng.choice(list("rgb"), n)
    frame["y"] = (rng.random(n) < 0.4 + signal * frame["f1"]).astype(int)
    frame.insert(0, "id", rng.permutation(n) + seed * n)
    return tt.sketch(frame, key="id", target="y", lg_k=lg_k)


def test_sketch_trees_keep_the_gates_p_values():
    sketches = coarse(1, signal=0.3)
    gated = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(sketches).tree_
    inner = ~gated.is_leaf
    assert inner.any() and (gated.p_value[inner] < 0.05).all()
    free = (
        tt.ThetaSketchDecisionTreeClassifier(max_depth=3, significance=None, min_held=0).fit(sketches).tree_
    )
    assert free.p_value[0] == gated.p_value[0]
    assert (free.p_value[~free.is_leaf] > 0.05).any()
    noisy = tt.ThetaSketchDecisionTreeClassifier(significance=None, max_depth=1).fit(coarse(2)).tree_
    assert noisy.p_value[0] > 0.05


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_noise_is_gated_where_a_class_is_missing_from_the_node(seed):
    rng = np.random.default_rng(seed)
    n = 20000
    frame = pd.DataFrame({"id": np.arange(n), "flag": rng.random(n) < 0.4})
    frame = frame.assign(**{f"noise{i}": rng.random(n) < 0.5 for i in range(3)})
    frame["y"] = np.where(frame["flag"] & (rng.random(n) < 0.5), 2, rng.integers(0, 2, n))
    sketches = tt.sketch(frame, key="id", target="y", lg_k=9)
    tree = tt.ThetaSketchDecisionTreeClassifier().fit(sketches).tree_
    assert {tree.features[f].name for f in tree.feature[~tree.is_leaf]} == {"flag"}


def test_exact_sketches_have_the_p_values_of_rows():
    """At θ = 1 the gate's law for gini with two classes is the chi-square test; candidates count alike."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"id": np.arange(800), **{f"f{j}": rng.random(800) < 0.4 for j in range(5)}})
    frame["y"] = (rng.random(800) < 0.3 + 0.15 * frame["f2"]).astype(int)
    rows = tt.CARTClassifier(max_depth=1).fit(frame[[f"f{j}" for j in range(5)]], frame["y"]).tree_
    sketches = tt.ThetaSketchDecisionTreeClassifier(max_depth=1).fit(tt.sketch(frame, key="id", target="y"))
    assert sketches.tree_.p_value[0] == pytest.approx(rows.p_value[0], rel=0.1)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_gates_law_of_three_classes_by_its_definition(criterion):
    """Σ w_c (x_c − Σ π_d x_d)² with x_c of variance U_c, as the χ² of the same first three cumulants."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [6000, 900, 300])
    frame = pd.DataFrame(
        {"id": np.arange(7200), **{f"f{j}": rng.random(7200) < 0.4 + 0.1 * (y == j) for j in range(3)}}
    )
    model = tt.ThetaSketchDecisionTreeClassifier(criterion=criterion, max_depth=1, significance=None)
    tree = model.fit(tt.sketch(frame.assign(y=y), key="id", target="y", lg_k=9)).tree_
    found = tree.estimates
    n, theta = found.count[0], found.theta
    share, p = n / n.sum(), found.count[1].sum() / n.sum()
    variance = ((1 - p) / theta[1] + p / theta[2]) / n
    assert len(set(variance * n)) == 3
    w = share**2 if criterion == "gini" else share / 2
    apart = (np.eye(3) - share) * np.sqrt(variance)
    form = apart.T @ np.diag(w) @ apart
    k1, k2, k3 = (np.trace(np.linalg.matrix_power(form, power)) for power in (1, 2, 3))
    freedom = k2**3 / k3**2
    gain = tree.score[0] * (1 if criterion == "gini" else np.log(2))
    x = freedom + (gain - k1) / np.sqrt(k2) * np.sqrt(freedom)
    assert tree.p_value[0] == pytest.approx(3 * stats.chi2.sf(x, freedom), rel=1e-9)
    assert 0 < tree.p_value[0] < 1


def test_what_auto_means():
    X, y = noise(5)
    assert tt.CARTClassifier().fit(X, y).get_n_leaves() > 20
    assert tt.CARTClassifier(significance=None, max_depth=4).fit(coarse(3)).get_n_leaves() > 4
    assert tt.CARTClassifier(max_depth=4).fit(coarse(3)).get_n_leaves() <= 2


# ---- trees, files, wrong input


def test_p_values_are_kept_pruned_and_saved(tmp_path):
    X, y = signal(7)
    model = tt.CARTClassifier(max_depth=4).fit(X, y)
    tree = model.tree_
    smaller = tree.prune(ccp_alpha=0.01)
    assert np.isnan(smaller.p_value[smaller.is_leaf]).all()
    assert set(smaller.p_value[~smaller.is_leaf]) <= set(tree.p_value[~tree.is_leaf])
    model.save(tmp_path / "model.json")
    assert tt.load(tmp_path / "model.json").tree_ == tree
    frame = tree.to_frame()
    np.testing.assert_array_equal(frame["p_value"], tree.p_value)
    without = {name: array for name, array in tree.arrays().items() if name != "p_value"}
    old = tt.Tree.from_arrays(without, tree.features, tree.classes, tree.criterion)
    assert np.isnan(old.p_value).all() and "p_value" not in old.arrays()
    assert {int(k) for k in tree.kind} <= {kind.value for kind in SplitKind}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"significance": 0.0}, "significance must be above 0, where nothing is significant"),
        ({"significance": 1.5}, "significance must be a number between 0 and 1"),
        ({"significance": "yes"}, "significance must be a number between 0 and 1"),
        ({"significance": 0.05, "significance_test": "t"}, "significance_test must be one of 'parametric'"),
        (
            {"significance": 0.05, "significance_test": "permutation", "n_permutations": 0},
            "n_permutations must be a whole number of at least 1",
        ),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, y = noise(1, 50)
    for learner in (tt.CARTClassifier, tt.CARTRegressor, tt.AIDRegressor, tt.THAIDClassifier):
        with pytest.raises(ValueError, match=message):
            learner(**parameters).fit(X, y)
