"""The Tree by itself: arrays, rules, frame, pruning, equality, routing."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import thetatree as tt
from thetatree.tree.tree import SplitKind


def grown(seed=0, n=120, **parameters):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "gappy": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 9, n)),
            "flag": rng.random(n) < 0.5,
            "city": rng.choice(["Oslo", "Bergen", "Tromsø"], n),
        }
    )
    y = ((X["x"] > 0) ^ X["flag"] | (X["city"] == "Oslo")).to_numpy().astype(int) + (rng.random(n) < 0.2)
    return tt.CARTClassifier(**parameters).fit(X, np.array(["no", "yes", "both"])[y]), X


ARRAYS = [
    "kind",
    "feature",
    "threshold",
    "child_start",
    "child",
    "category_start",
    "category",
    "category_branch",
    "missing_branch",
    "impurity",
    "score",
    "impurity_decrease",
    "weighted_n_node_samples",
    "n_node_samples",
    "values",
    "value",
    "children_left",
    "children_right",
    "is_leaf",
    "parent",
    "depth",
    "subtree_end",
]


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name):
    tree = grown()[0].tree_
    array = getattr(tree, name)
    with pytest.raises(ValueError, match=r"read-only"):
        array[0] = 1
    again = pickle.loads(pickle.dumps(tree))
    with pytest.raises(ValueError, match=r"read-only"):
        getattr(again, name)[0] = 1


def test_fields_cannot_be_replaced():
    tree = grown()[0].tree_
    with pytest.raises(AttributeError):
        tree.kind = tree.kind
    with pytest.raises(AttributeError):
        tree.features = ()


def test_scikit_learns_names():
    model, _ = grown()
    tree = model.tree_
    n = tree.node_count
    assert tree.capacity == n
    assert tree.n_features == 4
    assert tree.n_outputs == 1
    assert tree.n_classes.tolist() == [3]
    assert tree.max_n_classes == 3
    assert tree.value.shape == (n, 1, 3)
    assert tree.n_leaves == tree.is_leaf.sum()
    assert tree.max_depth == model.get_depth()
    leaf = tree.is_leaf
    assert (tree.children_left[leaf] == -1).all()
    assert (tree.children_right[leaf] == -1).all()
    assert (tree.feature[leaf] == -2).all()
    assert (tree.threshold[leaf] == -2).all()
    assert np.isnan(tree.score[leaf]).all()
    assert (tree.missing_branch[leaf] == -1).all()


def test_shape():
    tree = grown()[0].tree_
    assert tree.parent[0] == -1
    for node in range(tree.node_count):
        below = {node}
        for child in range(node + 1, tree.node_count):
            if tree.parent[child] in below:
                below.add(child)
        assert below == set(range(node, tree.subtree_end[node]))
        if not tree.is_leaf[node]:
            assert tree.children_left[node] == node + 1
            assert tree.children_right[node] == tree.subtree_end[node + 1]
            assert tree.depth[node + 1] == tree.depth[node] + 1


def test_equality_and_hash():
    a, b, c = grown()[0].tree_, grown()[0].tree_, grown(1)[0].tree_
    assert a == b
    assert hash(a) == hash(b)
    assert a != c
    assert a != "a tree"
    assert a != grown(max_depth=2)[0].tree_
    assert len({a, b, c}) == 2
    assert a != grown(criterion="entropy")[0].tree_
    for again in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert again == a
        assert hash(again) == hash(a)
    renamed = tt.Tree.from_arrays(a.arrays(), (*a.features[:3], a.features[0]), a.classes, a.criterion)
    assert renamed != a
    assert tt.Tree.from_arrays(a.arrays(), a.features, a.classes, a.criterion) == a


def test_from_arrays_leaves_the_caller_its_arrays():
    a = grown()[0].tree_
    mine = {name: array.copy() for name, array in a.arrays().items()}
    tree = tt.Tree.from_arrays(mine, a.features, a.classes, a.criterion)
    mine["threshold"][0] = 1e9
    assert tree == a


def holds(condition, row):
    """Whether a row (a dict) meets a condition in words."""
    missing = condition.endswith(" or missing")
    condition = condition.removesuffix(" or missing")
    if " < " in condition:
        low, condition = condition.split(" < ")
        name, also = condition.split(" ")[0], " or missing" * missing
        return holds(f"{name} > {low}{also}", row) and holds(condition + also, row)
    name = condition.removeprefix("not ").split(" ")[0]
    value = row[name]
    if value is None or value != value:
        return missing or condition.endswith("is missing")
    if " not in " in condition:
        return repr(value) not in condition.split("{")[1]
    if " in " in condition:
        return repr(value) in condition.split("{")[1]
    if " ≤ " in condition:
        return value <= float(condition.split(" ≤ ")[1])
    if " > " in condition:
        return value > float(condition.split(" > ")[1])
    if " is " in condition:
        return condition.endswith("known")
    return bool(value) != condition.startswith("not ")


@pytest.mark.parametrize("seed", range(5))
def test_rules_say_where_rows_go(seed):
    """The words alone lead each row to the leaf that it is in."""
    model, X = grown(seed, criterion=["gini", "entropy", "theta", "delta", "chi_square"][seed])
    rules = model.tree_.rules()
    assert [r.leaf for r in rules] == np.flatnonzero(model.tree_.is_leaf).tolist()
    assert sum(r.n for r in rules) == len(X)
    leaves = model.apply(X)
    for row, leaf in zip(X.to_dict("records"), leaves, strict=True):
        meets = [r.leaf for r in rules if all(holds(c, row) for c in r.conditions)]
        assert meets == [leaf]
    predicted = {r.leaf: r.prediction for r in rules}
    assert [predicted[leaf] for leaf in leaves] == model.predict(X).tolist()
    assert {r.weight for r in rules} == {float(r.n) for r in rules}


def test_rules_say_each_feature_once():
    """Intervals and sets are what is left after all tests; missing is named only where it can still be."""
    x = np.array([1.0, 2, 3, 4, 5, 6, np.nan, np.nan])
    X = pd.DataFrame({"x": x, "c": list("abcdabcd")})
    y = [0, 1, 0, 1, 0, 1, 1, 1]
    model = tt.CARTClassifier(categorical_features=["c"]).fit(X, y)
    for rule in model.tree_.rules():
        names = [c.split(" ")[2] if " < " in c else c.split(" ")[0] for c in rule.conditions]
        assert len(names) == len(set(names))
    numbers = tt.CARTClassifier().fit(X[["x"]], y).tree_.rules()
    assert [str(r) for r in numbers] == [
        "x ≤ 1.5",
        "1.5 < x ≤ 2.5",
        "2.5 < x ≤ 3.5",
        "3.5 < x ≤ 4.5",
        "4.5 < x ≤ 5.5",
        "x > 5.5 or missing",
    ]
    letters = tt.CARTClassifier().fit(X[["c"]], [0, 1, 2, 3, 0, 1, 2, 3]).tree_.rules()
    assert [str(r) for r in letters] == ["c in {'a'}", "c in {'b'}", "c in {'c'}", "c not in {'a', 'b', 'c'}"]


def test_rules_of_one_leaf():
    (rule,) = tt.CARTRegressor().fit([[1.0]], [2.5]).tree_.rules()
    assert str(rule) == "always"
    assert (rule.n, rule.prediction, rule.values) == (1, 2.5, (2.5,))


def test_frame():
    model, _ = grown(max_depth=3)
    tree = model.tree_
    frame = tree.to_frame()
    assert len(frame) == tree.node_count
    assert list(frame.columns) == [
        *[
            "node",
            "parent",
            "depth",
            "split",
            "feature",
            "threshold",
            "left",
            "right",
            "missing",
            "n",
            "weight",
            "impurity",
            "score",
        ],
        *["impurity_decrease", "p_value", "prediction", "share_both", "share_no", "share_yes"],
    ]
    inner = frame[~tree.is_leaf]
    assert inner["feature"].isin(["x", "gappy", "flag", "city"]).all()
    assert (inner["split"] != "").all()
    assert (frame[tree.is_leaf]["split"] == "").all()
    numbers = inner["feature"].isin(["x", "gappy"])
    assert inner["threshold"].notna().equals(numbers)
    assert np.allclose(frame[["share_both", "share_no", "share_yes"]].sum(axis=1), 1)
    regression = tt.CARTRegressor().fit([[1.0], [2.0]], [1, 2]).tree_.to_frame()
    assert regression["prediction"].tolist() == [1.5, 1.0, 2.0]


# ---- routing


def test_routing():
    model, X = grown()
    tree = model.tree_
    leaves = tree.apply(X)
    assert leaves.dtype == np.int64
    assert (leaves == model.apply(X)).all()
    assert (leaves == tree.apply(X, n_jobs=1)).all()
    assert (leaves == tree.apply(pl.from_pandas(X))).all()
    path = tree.decision_path(X)
    assert sp.issparse(path)
    assert path.shape == (len(X), tree.node_count)
    assert path.dtype == np.int64
    assert set(path.data.tolist()) == {1}
    dense = path.toarray().astype(bool)
    assert dense[:, 0].all()
    for row, leaf in enumerate(leaves):
        nodes = np.flatnonzero(dense[row])
        assert nodes[-1] == leaf
        assert len(nodes) == tree.depth[leaf] + 1
        assert (tree.parent[nodes[1:]] == nodes[:-1]).all()
    assert (dense.sum(axis=0) == tree.n_node_samples).all()


def test_many_rows_on_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 4))
    model = tt.CARTClassifier(max_depth=6).fit(X[:2000], X[:2000, 0] > X[:2000, 1])
    expected = model.tree_.apply(X, n_jobs=1)
    frame = pd.DataFrame(X)
    for table in (X, np.asfortranarray(X), frame, X.astype(object), sp.csr_array(X)):
        assert (model.tree_.apply(table, n_jobs=2) == expected).all()


# ---- pruning


def test_prune_at():
    model, X = grown()
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        smaller = tree.prune(at=[int(node)])
        assert smaller.node_count == tree.node_count - (tree.subtree_end[node] - node - 1)
        assert smaller.is_leaf[node]
        assert smaller.n_leaves == smaller.is_leaf.sum()
        assert (smaller.values[: node + 1] == tree.values[: node + 1]).all()
        before, after = tree.apply(X), smaller.apply(X)
        inside = (before >= node) & (before < tree.subtree_end[node])
        assert (after[inside] == node).all()
        assert np.array_equal(smaller.values[after[~inside]], tree.values[before[~inside]])
        assert np.isnan(smaller.score[node])
        assert smaller.impurity_decrease[node] == 0
        assert smaller.missing_branch[node] == -1
    assert tree.prune(at=[0]).node_count == 1
    assert tree.prune(at=[]) == tree
    assert tree.prune(at=np.flatnonzero(tree.is_leaf)) == tree
    inner = np.flatnonzero(~tree.is_leaf)
    both = tree.prune(at=inner[-2:])
    assert both == tree.prune(at=inner[-2:][::-1])
    assert tree.prune(at=[0, *inner]) == tree.prune(at=[0])
    assert tree.prune(at=[inner[1]]).prune(at=[0]) == tree.prune(at=[0])


def test_prune_refuses():
    tree = grown()[0].tree_
    for call, message in (
        ({}, "either ccp_alpha or at"),
        ({"ccp_alpha": 0.1, "at": [0]}, "either ccp_alpha or at"),
        ({"ccp_alpha": -1}, "0 or greater; got -1"),
        ({"ccp_alpha": float("nan")}, "0 or greater; got nan"),
        ({"at": [tree.node_count]}, f"no node {tree.node_count}.*0 to {tree.node_count - 1}"),
        ({"at": [-1]}, "no node -1"),
        ({"at": [-1, 0]}, "no node -1"),
        ({"at": [0.5]}, "whole|0.5"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            tree.prune(**call)


def subtrees(tree):
    """Every pruned tree, as the tuple of its leaves (small trees only)."""

    def below(node):
        yield (node,)
        if not tree.is_leaf[node]:
            left, right = int(tree.children_left[node]), int(tree.children_right[node])
            for a, b in itertools.product(below(left), below(right)):
                yield a + b

    return list(below(0))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("regression", [False, True])
def test_cost_complexity_against_every_subtree(seed, regression):
    """For any alpha: the least risk + alpha · leaves of all subtrees, and of those the smallest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    weight = rng.uniform(0.5, 2, 60)
    if regression:
        model = tt.CARTRegressor(max_leaf_nodes=9).fit(X, y, sample_weight=weight)
    else:
        model = tt.CARTClassifier(max_leaf_nodes=9).fit(
            X, np.searchsorted([-1, 0.5], y), sample_weight=weight
        )
    tree = model.tree_
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    every = subtrees(tree)
    path = model.cost_complexity_pruning_path(X, y if regression else np.searchsorted([-1, 0.5], y), weight)
    assert len(path.ccp_alphas) == len(path.impurities)
    assert path.impurities[0] == pytest.approx(risk[tree.is_leaf].sum())
    assert path.impurities[-1] == pytest.approx(risk[0])
    alphas = path.ccp_alphas[path.ccp_alphas > 0]
    between = np.concatenate([alphas * 0.999, alphas * 1.001, [0.0, alphas.max() * 2]])
    for alpha in between:
        best = min((risk[list(leaves)].sum() + alpha * len(leaves), len(leaves)) for leaves in every)
        pruned = tree.prune(ccp_alpha=float(alpha))
        mine = pruned.impurity * pruned.weighted_n_node_samples / tree.weighted_n_node_samples[0]
        cost = mine[pruned.is_leaf].sum() + alpha * pruned.n_leaves
        assert cost == pytest.approx(best[0], rel=1e-9, abs=1e-12)
        step = np.searchsorted(path.ccp_alphas, alpha, side="right") - 1
        assert path.impurities[step] == pytest.approx(mine[pruned.is_leaf].sum(), abs=1e-12)
    for alpha in alphas:  # an alpha itself is cut too: of equally good subtrees the smallest
        assert (
            tree.prune(ccp_alpha=float(alpha)).n_leaves < tree.prune(ccp_alpha=float(alpha * 0.999)).n_leaves
        )


def test_pruning_keeps_categories_and_kinds():
    model, X = grown()
    tree = model.tree_
    assert {int(k) for k in tree.kind} == {0, 1, 2, 3}
    for alpha in np.linspace(0, 0.05, 11):
        smaller = tree.prune(ccp_alpha=alpha)
        assert (smaller.category_start[-1], smaller.child_start[-1]) == (
            len(smaller.category),
            len(smaller.child),
        )
        assert set(smaller.kind[~smaller.is_leaf]) <= {k.value for k in SplitKind}
        again = smaller.apply(X)
        assert smaller.is_leaf[again].all()
        assert (
            np.bincount(again, minlength=smaller.node_count)[smaller.is_leaf]
            == smaller.n_node_samples[smaller.is_leaf]
        ).all()


def test_pruning_path_of_one_leaf():
    path = tt.CARTRegressor().cost_complexity_pruning_path([[1.0]], [2.0])
    assert path.ccp_alphas.tolist() == [0.0]
    assert path.impurities.tolist() == [0.0]
    assert tt.CARTRegressor().fit([[1.0]], [2.0]).tree_.prune(ccp_alpha=5).node_count == 1


# ---- multiway splits, which no learner makes yet but every tree may hold


@pytest.fixture
def multiway():
    from thetatree.data.features import Feature

    arrays = {
        "kind": [4, 0, 0, 0],
        "feature": [0, -2, -2, -2],
        "threshold": [np.nan, -2.0, -2.0, -2.0],
        "child_start": [0, 3, 3, 3, 3],
        "child": [1, 2, 3],
        "category_start": [0, 4, 4, 4, 4],
        "category": [0, 1, 2, 3],
        "category_branch": [0, 1, 2, 0],
        "missing_branch": [1, -1, -1, -1],
        "impurity": [1.0, 0, 0, 0],
        "score": [1.0, np.nan, np.nan, np.nan],
        "impurity_decrease": [1.0, 0, 0, 0],
        "weighted_n_node_samples": [4.0, 2, 1, 1],
        "n_node_samples": [4, 2, 1, 1],
        "value": [2.0, 1, 2, 3],
    }
    feature = Feature("c", "category", ("a", "b", "d", "e"), gaps=True)
    return tt.Tree.from_arrays({k: np.array(v) for k, v in arrays.items()}, (feature,), None, "squared_error")


def test_multiway(multiway):
    frame = pd.DataFrame({"c": ["a", "b", "d", "e", None, "new"]})
    assert multiway.apply(frame).tolist() == [1, 2, 3, 1, 2, 2]
    assert [str(rule) for rule in multiway.rules()] == ["c in {'a', 'e'}", "c = 'b' or missing", "c = 'd'"]
    assert multiway.children_left.tolist() == [1, -1, -1, -1]
    assert multiway.children_right.tolist() == [3, -1, -1, -1]
    assert multiway.prune(at=[0]).node_count == 1
    assert multiway.prune(ccp_alpha=0.49) == multiway
    assert multiway.prune(ccp_alpha=0.5).node_count == 1  # (1 - 0) / (3 - 1)
    assert len(multiway.to_frame()) == 4
    assert tt.export.to_text(multiway).count("\n") == 4
    assert multiway.max_depth == 1
