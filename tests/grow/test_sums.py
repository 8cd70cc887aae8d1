"""Regression from tuple sketches: where θ = 1 it is the tree of the rows; below, its errors are honest."""

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree import _kernel
from thetatree.grow.from_sums import Part, conserved
from thetatree.sketch import sources

FEATURES = ["a", "b", "c", "t"]


def problem(n, seed, gaps=False):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "id": np.arange(n) + 10**9,
            "a": pd.array(rng.random(n) < 0.3, dtype="boolean"),
            "b": pd.array(rng.random(n) < 0.6, dtype="boolean"),
            "c": rng.choice(list("uvwxyz"), n),
            "t": rng.integers(0, 20, n).astype(float),
        }
    )
    effect = {"u": 3.0, "v": -1.0, "w": 0.5, "x": 2.0, "y": -2.5, "z": 0.0}
    X["y"] = 10 * X["a"].astype(float) + 5 * (X["t"] > 12) + X["c"].map(effect) + rng.normal(0, 1, n)
    X["y"] += 1e4  # far from 0
    if gaps:
        X.loc[rng.random(n) < 0.2, "a"] = pd.NA
        X.loc[rng.random(n) < 0.1, "t"] = np.nan
        X.loc[rng.random(n) < 0.1, "c"] = None
    return X


def sums(X, lg_k):
    return tt.sketch(X, key="id", target="y", form="sums", lg_k=lg_k)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "model",
    [
        tt.CARTRegressor(max_depth=5, missing="majority"),
        tt.CARTRegressor(max_leaf_nodes=9, min_samples_leaf=30, missing="majority"),
        tt.CARTRegressor(min_impurity_decrease=0.05, min_samples_split=100, missing="majority"),
        tt.AIDRegressor(p1=0.02, p2=0.008, missing="majority"),
        tt.AIDRegressor(min_improvement=0.1, max_groups=6, missing="majority"),
    ],
    ids=["depth", "best first", "decrease", "aid 1963", "aid groups"],
)
def test_exact_sketches_give_the_tree_of_the_rows(model, seed, gaps):
    X = problem(1500, seed, gaps)
    from_rows = tt.CARTRegressor if isinstance(model, tt.CARTRegressor) else tt.AIDRegressor
    by_rows = from_rows(**model.get_params()).fit(X[FEATURES], X["y"])
    by_sums = from_rows(**model.get_params()).fit(sums(X, 12))
    assert by_sums.get_n_leaves() == by_rows.get_n_leaves() > 3
    np.testing.assert_allclose(by_sums.predict(X[FEATURES]), by_rows.predict(X[FEATURES]), rtol=1e-12)
    tree, other = by_sums.tree_, by_rows.tree_
    np.testing.assert_array_equal(tree.n_node_samples, other.n_node_samples)
    np.testing.assert_allclose(tree.impurity, other.impurity, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(tree.impurity_decrease, other.impurity_decrease, rtol=1e-6, atol=1e-9)
    assert (tree.estimates.standard_error == 0).all()
    if isinstance(model, tt.AIDRegressor) and not gaps:
        assert by_sums.summary().splitlines()[0] == by_rows.summary().splitlines()[0]


def test_sampled_sketches_come_close_and_say_how_close():
    X = problem(40_000, 7)
    model = tt.CARTRegressor(max_depth=4).fit(sums(X, 11))
    tree, leaves = model.tree_, model.tree_.apply(X[FEATURES])
    truth = np.bincount(leaves, minlength=tree.node_count)[tree.is_leaf]
    off = (tree.weighted_n_node_samples[tree.is_leaf] - truth) / tree.estimates.standard_error[
        tree.is_leaf, 0
    ]
    assert np.abs(off).max() < 4
    means = np.array([X["y"][leaves == node].mean() for node in np.flatnonzero(tree.is_leaf)])
    assert np.abs(tree.values[tree.is_leaf, 0] - means).max() < 0.5
    exact = tt.CARTRegressor(max_depth=4).fit(X[FEATURES], X["y"])
    loss = ((model.predict(X[FEATURES]) - X["y"]) ** 2).mean()
    assert loss < 1.15 * ((exact.predict(X[FEATURES]) - X["y"]) ** 2).mean()
    for node in np.flatnonzero(~tree.is_leaf):
        children = [tree.children_left[node], tree.children_right[node]]
        n, mean = tree.weighted_n_node_samples, tree.values[:, 0]
        assert n[children].sum() == pytest.approx(n[node])
        assert (n[children] * mean[children]).sum() == pytest.approx(n[node] * mean[node])


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_over_the_keys_that_the_resolution_rule_finds(seed):
    """Against `resolve`, which has a naive oracle of its own."""
    made = sums(problem(6000, seed, gaps=seed % 2 == 1), 8)
    data, column = made.data, made.data.column
    tested = sources.tested_features(data)
    source = sources.source_of_all(data, tested)
    cells = [(one.kind, len(one.values), data.features[one.feature].complete) for one in tested]
    index = _kernel.Sums(column.hashes, column.offsets, column.thetas, source, cells, made.keys, made.y)
    rng = np.random.default_rng(seed)

    def drawn(f):
        allowed = rng.integers(0, 2, len(tested[f].values) + 2)
        allowed[rng.integers(len(allowed) - 1)] = 1
        return allowed.tolist()

    for _ in range(60):
        chosen = rng.permutation(len(tested))[: rng.integers(0, 4)].tolist()
        node = [(f, drawn(f)) for f in chosen]
        tests = []  # within what the node allows
        for f in range(len(tested)):
            inside = [a & b for a, b in zip(drawn(f), dict(node).get(f, [1] * 99), strict=False)]
            if any(inside):
                tests.append((f, inside))
        found = np.asarray(index.among(node, tests, 2)).reshape(-1, 4)
        asked = [node, *([*(one for one in node if one[0] != test[0]), test] for test in tests)]
        for line, constraints in zip(found, asked, strict=True):
            [(hashes, tau)] = _kernel.resolve_each(
                column.hashes, column.offsets, column.thetas, source, cells, [constraints]
            )
            share = tau / (1 << 63) if tau < (1 << 63) - 1 else 1.0
            y = made.of(hashes)
            np.testing.assert_allclose(line, [len(y), share, y.sum(), (y**2).sum()], rtol=1e-9)


def test_noise_is_not_split():
    rng = np.random.default_rng(2)
    split = 0
    for _ in range(40):
        X = pd.DataFrame(rng.random((20_000, 10)) < 0.3, columns=[f"f{i}" for i in range(10)])
        X = X.assign(id=rng.integers(0, 2**60, len(X)), y=rng.normal(size=len(X)))
        split += tt.CARTRegressor(max_depth=1).fit(sums(X, 9)).get_n_leaves() > 1
    assert split <= 6  # 5% of 40, and chance


def test_sides_add_up():
    node = Part(100.0, 9.0, 5.0, 0.04, 4.0, 50, 0.5)
    left = Part(60.0, 30.0, 8.0, 0.1, 4.0, 30, 0.5)
    right = Part(50.0, 20.0, 2.0, 0.2, 4.0, 25, 0.5)
    a, b = conserved(node, left, right)
    assert (a.n, a.n + b.n) == (60.0 - 10 * 30 / 50, 100.0)
    assert a.n * a.mean + b.n * b.mean == pytest.approx(500.0)
    a, b = conserved(node._replace(n_error=99.0, mean_error=9.0), left, right)
    assert a.n == pytest.approx(100 * 60 / 110)
    assert a.mean - b.mean == pytest.approx(6.0)
    nothing = Part(0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.5)
    assert conserved(node, nothing, nothing) == (nothing, nothing)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "absolute_error"}, "criterion does not go with tuple sketches"),
        ({"splitter": "random"}, "splitter does not"),
        ({"max_features": 2}, "max_features does not"),
        ({"monotonic_cst": {"a": 1}}, "monotonic_cst does not"),
        ({"pruning": "validation"}, "pruning does not"),
        ({"ccp_alpha": "cv"}, "ccp_alpha='cv' does not"),
        ({"missing": "error"}, "missing='error' does not"),
    ],
)
def test_what_is_about_rows_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        tt.CARTRegressor(**change).fit(sums(problem(200, 0), 8))


def test_y_is_in_the_sketches():
    made = sums(problem(200, 0), 8)
    with pytest.raises(ValueError, match="y does not go with"):
        tt.CARTRegressor().fit(made, [1, 2])
    with pytest.raises(ValueError, match="X_val does not go with"):
        tt.AIDRegressor().fit(made, X_val=[[1]], y_val=[1])


def test_pruned_saved_and_refitted(tmp_path):
    X = problem(1500, 1)
    grown = tt.CARTRegressor(max_depth=6).fit(sums(X, 12))
    pruned = tt.CARTRegressor(max_depth=6, ccp_alpha=0.5).fit(sums(X, 12))
    assert 1 < pruned.get_n_leaves() < grown.get_n_leaves()
    pruned.save(tmp_path / "model.json")
    again = tt.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(X[FEATURES]), pruned.predict(X[FEATURES]))
    by_place = again.predict(X[FEATURES].astype({"a": float, "b": float}).to_numpy(dtype=object))
    np.testing.assert_array_equal(by_place, pruned.predict(X[FEATURES]))
    assert pruned.fit(X[FEATURES], X["y"]).tree_.estimates is None
