"""Pruning against every subtree there is: cost complexity, validation, min_impurity; and honest refilling."""

import itertools
import time

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import thetatree as tt
from thetatree.tree.held_out import losses_on, row_losses, sums_below
from thetatree.tree.prune import cut_at
from thetatree.tree.refill import class_impurities, refilled_by_rows, weighted_median


def subtrees(tree):
    """Every pruned tree, as the tuple of its leaves (small trees only)."""

    def below(node):
        yield (node,)
        if not tree.is_leaf[node]:
            children = tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist()
            for parts in itertools.product(*map(below, children)):
                yield sum(parts, ())

    return list(below(0))


def random_tree(seed, *, regression=False, leaves=9):
    """A tree of up to so many leaves on noisy, weighted rows with missing values, and more such rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=200)
    weight = np.ones(200) if seed % 2 else rng.uniform(0.5, 2, 200)
    if regression:
        criterion = ("squared_error", "absolute_error")[seed % 2]
        model = tt.CARTRegressor(max_leaf_nodes=leaves, criterion=criterion)
    else:
        y = np.searchsorted([-1, 0.5], y)
        model = tt.CARTClassifier(max_leaf_nodes=leaves, criterion=("gini", "entropy", "theta")[seed % 3])
    tree = model.fit(X[:100], y[:100], sample_weight=weight[:100]).tree_
    return tree, X[100:], y[100:], weight[100:]


# ---- minimal cost complexity


@pytest.mark.parametrize("seed", range(200))
def test_cost_complexity_against_every_subtree(seed):
    """For any alpha: the least risk + alpha · leaves of all subtrees, and of those the smallest."""
    tree = random_tree(seed, regression=seed % 4 == 0, leaves=8)[0]
    risk = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    every = subtrees(tree)
    risks = np.array([risk[list(leaves)].sum() for leaves in every])
    sizes = np.array([len(leaves) for leaves in every])
    alphas, path_risks = tree.cost_complexity_path()
    assert path_risks[-1] == pytest.approx(risk[0])
    positive = alphas[alphas > 1e-12 * risk[0]]
    most = positive.max() if len(positive) else 0.1
    for alpha in np.concatenate([positive * 0.999, positive * 1.001, [0.0, most * 2]]):
        costs = risks + alpha * sizes
        smallest = sizes[costs <= costs.min() + 1e-11].min()
        pruned = tree.prune(ccp_alpha=float(alpha))
        mine = pruned.impurity * pruned.weighted_n_node_samples / tree.weighted_n_node_samples[0]
        assert mine[pruned.is_leaf].sum() + alpha * pruned.n_leaves == pytest.approx(costs.min(), abs=1e-11)
        assert pruned.n_leaves == smallest
    for alpha in positive:  # an alpha itself is cut too
        assert (
            tree.prune(ccp_alpha=float(alpha)).n_leaves < tree.prune(ccp_alpha=float(alpha * 0.999)).n_leaves
        )


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_paths_are_scikit_learns(name):
    """Both trees have the same splits; scikit-learn reads float32, so it is given what float32 holds."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = X.astype(np.float32).astype(np.float64)
    limits = {"min_samples_leaf": 5, "max_leaf_nodes": 40}
    if name == "diabetes":
        mine, theirs = tt.CARTRegressor(**limits), DecisionTreeRegressor(random_state=0, **limits)
    else:
        mine, theirs = tt.CARTClassifier(**limits), DecisionTreeClassifier(random_state=0, **limits)
    ours, expected = mine.cost_complexity_pruning_path(X, y), theirs.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(
        *same_steps(ours.ccp_alphas, expected.ccp_alphas), rtol=1e-9, atol=1e-12, err_msg=name
    )
    slack = 1e-12 * max(1.0, expected.ccp_alphas[-1])
    last = [np.searchsorted(p.ccp_alphas, expected.ccp_alphas + slack, "right") - 1 for p in (ours, expected)]
    np.testing.assert_allclose(ours.impurities[last[0]], expected.impurities[last[1]], rtol=1e-9)
    for alpha in np.unique(expected.ccp_alphas.round(11))[::6] + 10 * slack:
        theirs.set_params(ccp_alpha=alpha).fit(X, y)
        assert mine.set_params(ccp_alpha=alpha).fit(X, y).get_n_leaves() == theirs.get_n_leaves()


def same_steps(*paths):
    return [np.unique(path.round(11)) for path in paths]


# ---- validation pruning


@pytest.mark.parametrize("seed", range(120))
def test_validation_against_every_subtree(seed):
    """No subtree loses less on held-out rows; of those that lose as little, none is smaller."""
    tree, X, y, weight = random_tree(seed, regression=seed % 3 == 0)
    leaves = tree.apply(X)
    lost = naive_losses(tree, leaves, y, weight)
    np.testing.assert_allclose(losses_on(tree, X, y, weight).loss, lost, atol=1e-9)
    every = subtrees(tree)
    costs = np.array([lost[list(nodes)].sum() for nodes in every])
    best = min(len(nodes) for nodes, cost in zip(every, costs, strict=True) if cost <= costs.min() + 1e-9)
    pruned = tree.prune_validation(X, y, sample_weight=weight)
    again = naive_losses(pruned, pruned.apply(X), y, weight)
    assert again[pruned.is_leaf].sum() == pytest.approx(costs.min(), abs=1e-9)
    assert pruned.n_leaves == best


def naive_losses(tree, leaves, y, weight):
    """Each row's loss at every node on its way, one by one."""
    out = np.zeros(tree.node_count)
    for leaf, target, w in zip(leaves.tolist(), y.tolist(), weight.tolist(), strict=True):
        node = leaf
        while node >= 0:
            if tree.classes is not None:
                out[node] += w * (tree.classes[int(np.argmax(tree.values[node]))] != target)
            else:
                error = abs(tree.values[node, 0] - target)
                out[node] += w * (error if tree.criterion == "absolute_error" else error**2)
            node = int(tree.parent[node])
    return out


def test_validation_never_lowers_held_out_accuracy():
    for seed in range(60):
        tree, X, y, _ = random_tree(1000 + seed, leaves=60)
        pruned = tree.prune_validation(X, y)
        before, after = (
            np.mean(np.asarray(t.classes)[t.values[t.apply(X)].argmax(axis=1)] == y) for t in (tree, pruned)
        )
        assert after >= before
        assert pruned.n_leaves <= tree.n_leaves


def test_validation_of_ten_thousand_leaves_is_one_pass():
    """Most of the time goes into routing the rows; copying trees would take hours."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80_000, 4))
    y = (X[:, 0] + 2 * rng.normal(size=80_000) > 0).astype(int)
    tree = tt.CARTClassifier().fit(X[:40_000], y[:40_000]).tree_
    assert tree.n_leaves > 10_000
    began = time.process_time()
    pruned = tree.prune_validation(X[40_000:], y[40_000:])
    assert time.process_time() - began < 20  # a fraction of a second; the limit is for loaded machines
    assert pruned.n_leaves < tree.n_leaves


def test_zero_gain_structure_survives_where_it_pays():
    """XOR: the first split gains nothing by itself, in training and on held-out rows."""
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 20)
    y = X[:, 0] ^ X[:, 1]
    tree = tt.CARTClassifier().fit(X, y).tree_
    for pruned in (
        tree.prune_validation(X, y),
        tree.prune(ccp_alpha=0.0),
        tree.prune(ccp_alpha=0.1),
        tree.prune_min_impurity(0.4),
        tree.prune_pessimistic(),
    ):
        assert pruned == tree
    assert tree.prune_validation(X, 1 - y).n_leaves == 1
    for method in ("cost_complexity", "validation", "pessimistic", "min_impurity"):
        model = tt.CARTClassifier(pruning=method).fit(X, y)
        assert (model.get_n_leaves(), model.score(X, y)) == (4, 1.0)


def test_a_class_that_the_tree_never_saw_is_an_error_everywhere():
    tree, X, y, _ = random_tree(3)
    strange = losses_on(tree, X, np.full(len(X), 99))
    assert strange.loss[0] == strange.weight == len(X)
    assert tree.prune_validation(X, np.full(len(X), 99)).n_leaves == 1
    mixed = np.where(np.arange(len(X)) < 10, 99, y)
    expected = losses_on(tree, X[10:], y[10:]).loss + sums_below(
        tree, np.bincount(tree.apply(X[:10]), minlength=tree.node_count)
    )
    np.testing.assert_allclose(losses_on(tree, X, mixed).loss, expected)


def test_held_out_rows_that_do_not_fit_are_refused():
    tree, X, y, _ = random_tree(1)
    for call, message in (
        (lambda: tree.prune_validation(X, y[:-1]), "inconsistent numbers of samples"),
        (lambda: tree.prune_validation(X), "requires y to be passed"),
        (lambda: tree.prune_validation(X[:, :2], y), "2 features"),
        (lambda: tree.prune_validation(X, y, sample_weight=-np.ones(len(y))), "Negative values"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# ---- min_impurity and pessimistic


@pytest.mark.parametrize("seed", range(40))
def test_min_impurity_pair_by_pair(seed):
    """Collapsing a pair of leaves at a time until none is left comes to the same tree."""
    tree = random_tree(seed, regression=seed % 2 == 0, leaves=25)[0]
    least = float(np.random.default_rng(seed).choice([0.0, 0.02, 0.1, 0.3]) * tree.impurity[0])
    expected = tree
    while True:
        for node in np.flatnonzero(~expected.is_leaf)[::-1].tolist():
            children = expected.child[expected.child_start[node] : expected.child_start[node + 1]]
            share = expected.weighted_n_node_samples[children] / expected.weighted_n_node_samples[node]
            decrease = expected.impurity[node] - (share * expected.impurity[children]).sum()
            if expected.is_leaf[children].all() and decrease + 2e-16 < least:
                expected = expected.prune(at=[node])
                break
        else:
            break
    assert tree.prune_min_impurity(least) == expected


def test_min_impurity_and_pessimistic_refuse():
    tree = random_tree(0, regression=True)[0]
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="min_impurity_decrease must be 0 or greater"):
            tree.prune_min_impurity(wrong)
    with pytest.raises(ValueError, match="regression tree has none"):
        tree.prune_pessimistic()


@pytest.mark.parametrize("seed", range(20))
def test_shares_add_up_after_any_pruning(seed):
    tree, X, y, _ = random_tree(seed, leaves=30)
    for pruned in (
        tree.prune(ccp_alpha=0.01),
        tree.prune_validation(X, y),
        tree.prune_min_impurity(0.1),
        tree.prune_pessimistic(),
        cut_at(tree, np.array([0])),
    ):
        shares = pruned.values[pruned.apply(X)]
        assert np.isfinite(shares).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        for rule in pruned.rules():
            assert rule.n == tree.n_node_samples[tree.apply(X)].max() or rule.n > 0


# ---- honest leaves: the same splits filled by other rows


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "theta", "squared_error", "absolute_error", "poisson"]
)
def test_refilled_with_its_own_rows_a_tree_is_the_same(criterion):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    weight = rng.integers(1, 4, 300).astype(float)
    y = np.searchsorted([-1, 0.5], X[:, 0] + rng.normal(size=300))
    made = tt.CARTClassifier if criterion in ("gini", "entropy", "theta") else tt.CARTRegressor
    model = made(criterion=criterion, max_leaf_nodes=20).fit(X, y, sample_weight=weight)
    tree = model.tree_
    again = refilled_by_rows(tree, tree.apply(X), y, weight)
    for name in ("values", "impurity", "impurity_decrease", "weighted_n_node_samples", "n_node_samples"):
        np.testing.assert_allclose(getattr(again, name), getattr(tree, name), atol=1e-9, err_msg=name)
    assert again.prune(at=[0]).values == pytest.approx(tree.prune(at=[0]).values)


def test_refilled_nodes_hold_what_other_rows_say():
    for seed in range(20):
        tree, X, y, weight = random_tree(seed, regression=seed % 3 == 0, leaves=40)
        X, y, weight = X[:30], y[:30], weight[:30]  # so few that leaves stay empty
        filled = refilled_by_rows(tree, tree.apply(X), y, weight)
        path = tree.decision_path(X).toarray().astype(bool)
        empty = 0
        for node in range(tree.node_count):
            rows = path[:, node]
            assert filled.n_node_samples[node] == rows.sum()
            if not rows.any():
                empty += 1
                np.testing.assert_array_equal(filled.values[node], filled.values[filled.parent[node]])
            elif tree.classes is not None:
                shares = [weight[rows & (y == k)].sum() / weight[rows].sum() for k in tree.classes]
                np.testing.assert_allclose(filled.values[node], shares, atol=1e-12)
            elif tree.criterion == "squared_error":
                assert filled.values[node, 0] == pytest.approx(np.average(y[rows], weights=weight[rows]))
        assert empty > 0
        assert np.array_equal(filled.threshold, tree.threshold, equal_nan=True)
        if tree.classes is not None:
            np.testing.assert_allclose(filled.values.sum(axis=1), 1.0)


def test_impurities_and_medians_by_definition():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (50, 3)) + np.eye(3, dtype=int)[rng.integers(0, 3, 50)]
    for criterion in ("gini", "entropy", "theta", "gain_ratio", "chi_square"):
        mine = class_impurities(criterion, counts / counts.sum(axis=1, keepdims=True))
        np.testing.assert_allclose(mine, [tt.criteria.impurity(criterion, row) for row in counts], atol=1e-12)
    for _ in range(50):
        y, w = rng.integers(0, 6, 9).astype(float), rng.integers(1, 4, 9)
        assert weighted_median(y, w.astype(float)) == np.median(np.repeat(y, w))


def test_the_path_of_a_leaf_that_is_not_pure():
    alphas, risks = tt.CARTClassifier().fit([[0], [0]], [0, 1]).tree_.cost_complexity_path()
    assert (alphas.tolist(), risks.tolist()) == ([0.0], [0.5])


def test_losses_of_counted_keys_have_the_weight_of_all_keys():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": np.arange(500), "f": rng.random(500) < 0.4, "g": rng.random(500) < 0.5})
    frame["y"] = (frame["f"] ^ (rng.random(500) < 0.2)).astype(int)
    tree = tt.CARTClassifier(max_depth=2).fit(frame[["f", "g"]], frame["y"]).tree_
    counted = losses_on(tree, tt.sketch(frame, key="id", target="y"))
    by_rows = losses_on(tree, frame[["f", "g"]], frame["y"])
    assert counted.weight == by_rows.weight == 500
    np.testing.assert_allclose(counted.loss, by_rows.loss)


def test_losses_of_squares_are_for_the_spread():
    tree, X, y, weight = random_tree(3, regression=True)
    held = row_losses(tree, tree.apply(X), y, weight)
    error = np.abs(tree.values[0, 0] - y) ** (1 if tree.criterion == "absolute_error" else 2)
    assert held.loss[0] == pytest.approx((weight * error).sum())
    assert held.squares[0] == pytest.approx((weight * error**2).sum())
    assert not held.doubt.any()


def test_pruning_keeps_frames_and_names():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4] * 5, "b": list("xyxy") * 5})
    tree = tt.CARTClassifier().fit(frame, [0, 1, 0, 1] * 5).tree_
    assert tree.prune_validation(frame, [0, 1, 0, 1] * 5).apply(frame).max() > 0
