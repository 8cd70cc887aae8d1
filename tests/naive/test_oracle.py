"""The oracle judged by figures worked out by hand, by scikit-learn, and by its own contract."""

import math
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from . import criteria
from .candidates import by_key, every_partition, midpoint, principal_component
from .cart import Node, apply, grow, predict
from .problems import Problem, random_problem

SEEDS = range(300)

# Worked examples


def test_impurities_of_a_small_node() -> None:
    counts = [3.0, 2.0, 1.0]
    assert criteria.impurity("gini", counts) == pytest.approx(0.6111, abs=5e-5)
    assert criteria.impurity("entropy", counts) == pytest.approx(1.45915, abs=5e-6)
    assert criteria.impurity("theta", counts) == pytest.approx(0.5)


def test_sums_of_squares_at_each_cut() -> None:
    x, y = [1.2, 2.5, 3.8, 4.1, 5.0], [10.0, 12.0, 20.0, 22.0, 21.0]
    rows = [(value, 1.0) for value in y]
    scores = [criteria.score("squared_error", rows, rows[:i], rows[i:]) for i in range(1, 5)]
    assert scores == pytest.approx([61.25, 120, 67.5, 20])
    root = grow([x], ["number"], y, None, task="regression", criterion="squared_error", max_depth=1)[0]
    assert (root.threshold, root.score) == pytest.approx((3.15, 120))


def test_scores_of_classes() -> None:
    assert criteria.score("theta", [60, 40], [50, 10], [10, 30]) == pytest.approx(0.80)
    node, left, right = [40, 30, 30], [30, 10, 10], [10, 20, 20]
    assert criteria.score("delta", node, left, right) == pytest.approx(0.8)
    assert criteria.score("weighted_delta", node, left, right) == pytest.approx(0.4)
    table = stats.chi2_contingency([left, right], correction=False)
    assert criteria.score("chi_square", node, left, right) == pytest.approx(table.statistic)
    assert criteria.score("gain_ratio", [2, 2], [2, 0], [0, 2]) == pytest.approx(1.0)


def test_deviance_and_median() -> None:
    sample = [(0.0, 1.0), (1.0, 2.0), (4.0, 1.0)]
    expected = (2 * math.log(1 / 1.5) + 4 * math.log(4 / 1.5)) / 4
    assert criteria.impurity("poisson", sample) == pytest.approx(expected)
    assert criteria.median([(1.0, 1.0), (2.0, 1.0), (9.0, 2.0)]) == 5.5
    assert criteria.median([(1.0, 1.0), (2.0, 1.0), (9.0, 1.0)]) == 2.0
    far = [(1e6 + y, w) for y, w in sample]
    assert criteria.impurity("squared_error", far) == pytest.approx(1.5 * 1.5, rel=1e-12)


@pytest.mark.parametrize(("yes", "no"), [(0, 4), (4, 0), (3, 9), (40, 2), (1, 700), (300, 1)])
def test_binomial_p(yes: int, no: int) -> None:
    at_most = stats.binom.logcdf(yes, yes + no, 0.25)
    at_least = stats.binom.logsf(yes - 1, yes + no, 0.25)
    expected = max(0.0, -(math.log(2) + min(at_most, at_least)))
    assert criteria.minus_log_p([no, yes], [75, 25]) == pytest.approx(expected, rel=1e-9)


def test_binomial_p_below_the_smallest_float() -> None:
    # All of 20,000 rows at a rate of 1/4: p = 2 / 4^20000.
    assert criteria.minus_log_p([0, 20_000], [75, 25]) == pytest.approx(20_000 * math.log(4) - math.log(2))
    smaller = criteria.minus_log_p([400.5, 9_000.25], [75, 25])
    assert smaller < criteria.minus_log_p([400.5, 9_001.25], [75, 25]) < math.inf
    for a, b, x in [(3.0, 5.5, 0.2), (40.25, 3.0, 0.6), (0.5, 0.5, 0.9)]:
        both = criteria.log_betainc(a, b, x), criteria.log_betainc_series(a, b, x)
        assert both[0] == pytest.approx(both[1], rel=1e-12)


def test_xor_is_learnt() -> None:
    flags = [[0, 0, 1, 1], [0, 1, 0, 1]]
    for kinds in (["flag", "flag"], ["number", "number"]):
        nodes = grow(flags, kinds, [0, 1, 1, 0], None, task="classification", criterion="gini", n_classes=2)
        assert [node.split == "leaf" for node in nodes] == [False, False, True, True, False, True, True]
        assert nodes[0].ties and not nodes[0].doubtful and nodes[0].feature == 0
        assert [max(row) for row in predict(nodes, flags, kinds)] == [1, 1, 1, 1]
        assert max(node.depth for node in nodes) == 2


def test_partitions_and_thresholds() -> None:
    for c in range(2, 9):
        lefts = every_partition(list(range(c)))
        assert len(lefts) == len({frozenset(left) for left in lefts}) == 2 ** (c - 1) - 1
    assert midpoint(1.6e308, 1.7e308) == pytest.approx(1.65e308)
    assert midpoint(1.0, math.nextafter(1.0, 2)) == 1.0
    assert midpoint(0.0, 5e-324) == 0.0


def test_missing_values_of_each_kind() -> None:
    y = [0, 0, 1, 1, 1]
    common: dict[str, Any] = {"task": "classification", "criterion": "gini", "n_classes": 2}
    columns: dict[str, Any] = {"number": [1.0, 1.0, 2.0, math.nan, math.nan], "flag": [1, 1, 0, -1, -1]}
    for kind, column in columns.items():
        root = grow([column], [kind], y, None, **common)[0]
        assert root.missing_left is False and root.score == pytest.approx(0.48)
        root = grow([column], [kind], y, None, missing="majority", **common)[0]
        assert root.missing_left is True
    for kind, column in {"number": [7.0] * 3 + [math.nan] * 2, "category": [2] * 3 + [-1] * 2}.items():
        root = grow([column], [kind], [0, 0, 0, 1, 1], None, **common)[0]
        assert (root.split, root.threshold, root.missing_left) == ("threshold", math.inf, False)
        assert len(grow([column], [kind], [0, 0, 0, 1, 1], None, missing="majority", **common)) == 1


def test_the_first_of_equal_candidates_is_chosen() -> None:
    y = [0, 1, 0, 1, 0, 1]
    common: dict[str, Any] = {"task": "classification", "n_classes": 2, "max_depth": 1}
    for criterion in criteria.CLASSIFICATION:
        flag = grow([[1, 1, 0, 0, -1, -1]], ["flag"], y, None, criterion=criterion, **common)[0]
        assert (flag.split, flag.missing_left, flag.doubtful) == ("presence", False, False)
        number = grow(
            [[3, 3, 3, 3, 2, 2], [3, 3, 2, 2, 1, 1]], ["number"] * 2, y, None, criterion=criterion, **common
        )
        # Balance breaks ties of theta, and all three cuts leave two rows on one side.
        assert (number[0].feature, number[0].threshold, number[0].ties) == (0, 2.5, True)
    # Three levels of equal shares: by code, and the side of the lowest code is the true one.
    codes = [[2, 2, 0, 0, 1, 1]]
    for k in (2, 3):
        common.update(n_classes=k, criterion="gini", max_categories=2)
        assert grow(codes, ["category"], y, None, **common)[0].left_categories == {0}


def test_even_sides_and_even_decreases() -> None:
    common: dict[str, Any] = {"task": "classification", "criterion": "gini", "n_classes": 2}
    root = grow([[1, 1, 0, 0, -1]], ["flag"], [0, 0, 1, 1, 1], None, missing="majority", **common)[0]
    assert root.missing_left
    assert grow([[1.0, 2.0]], ["number"], [0, 1], None, **common)[0].missing_left
    # Both halves of the first cut could be parted with the same gain: the budget goes to the left one.
    x = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 1, 1]]
    nodes = grow(
        x,
        ["number"] * 2,
        [0, 2, 4, 6, 100, 102, 104, 106],
        None,
        task="regression",
        criterion="squared_error",
        max_leaf_nodes=3,
    )
    assert [node.split for node in nodes] == ["threshold", "threshold", "leaf", "leaf", "leaf"]
    assert [node.doubtful for node in nodes] == [False, True, False, False, True]


def test_orders_of_many_classes() -> None:
    shares = {0: [8.0, 1.0, 1.0], 1: [2.0, 4.0, 4.0], 2: [5.0, 2.5, 2.5], 3: [0.0, 5.0, 5.0]}
    component, is_unique = principal_component(shares, [15.0, 12.5, 12.5])
    assert is_unique and by_key(component) in ([3, 1, 2, 0], [0, 2, 1, 3])
    # Three pure levels of one weight span a plane evenly: no direction is the first.
    pure = {k: [float(k == j) for j in range(3)] for k in range(3)}
    assert not principal_component(pure, [1.0, 1.0, 1.0])[1]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes, y = rng.integers(0, 6, size=40), rng.integers(0, 4, size=40)
        common: dict[str, Any] = {
            "task": "classification",
            "criterion": "theta",
            "n_classes": 4,
            "max_depth": 1,
        }
        every, some = (
            grow([codes], ["category"], y, None, max_categories=most, **common)[0] for most in (6, 5)
        )
        assert every.score >= some.score > 0 and min(codes) in every.left_categories & some.left_categories


def test_theta_ties_are_broken() -> None:
    # Both flags leave the majority class the mode on either side; the second moves the shares more.
    flags = [[1, 0, 1, 0, 1, 0, 1, 1], [1, 1, 1, 1, 1, 0, 0, 0]]
    y = [0, 0, 0, 0, 0, 0, 1, 1]
    root = grow(flags, ["flag"] * 2, y, None, task="classification", criterion="theta", n_classes=2)[0]
    assert (root.feature, root.score) == (1, pytest.approx(7 / 8))
    flags[1] = [1, 1, 1, 1, 0, 0, 0, 0]
    root = grow(flags, ["flag"] * 2, y, None, task="classification", criterion="theta", n_classes=2)[0]
    assert (root.feature, root.score) == (1, pytest.approx(6 / 8))


def test_rows_without_weight_do_not_count() -> None:
    problem = random_problem(11, "entropy")
    (columns, kinds, y, _), settings = problem.arguments()
    weights = np.arange(len(y)) % 3
    kept = weights > 0
    whole = grow(columns, kinds, y, weights, **settings)
    assert whole == grow([c[kept] for c in columns], kinds, y[kept], weights[kept], **settings)


# Against scikit-learn


def _numeric_problem(seed: int, criterion: str) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Complete float32 columns, which scikit-learn sees as we do."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 50))
    wide = rng.random() < 0.5
    X = np.float32(rng.normal(size=(n, 3))) if wide else rng.integers(0, 7, size=(n, 3)).astype(np.float32)
    latent = X[:, 0] - X[:, 1] * (rng.random() < 0.5) + rng.normal(size=n)
    if criterion in criteria.CLASSIFICATION:
        y = np.unique(np.digitize(latent, [-1, 0.5, 2][: rng.integers(1, 4)]), return_inverse=True)[1]
    else:
        y = np.abs(np.round(latent, 6)) if rng.random() < 0.7 else np.abs(np.round(latent))
    weights = [None, rng.integers(1, 5, size=n).astype(float), rng.uniform(0.2, 3, size=n)][rng.integers(3)]
    if criterion == "poisson" and weights is not None:
        # It subtracts sums, so a side of zeros may seem to hold 1e-15 events, and the node becomes a leaf.
        y = y + 0.25
    limits = {
        "max_depth": int(rng.integers(1, 5)),
        "min_samples_split": int(rng.integers(2, 10)),
        "min_samples_leaf": int(rng.integers(1, 6)),
        "min_impurity_decrease": float(rng.uniform(0, 0.05)),
        "max_leaf_nodes": int(rng.integers(2, 8)),
        "min_weight_fraction_leaf": float(rng.uniform(0, 0.2)),
    }
    return X, y, weights, {name: limit for name, limit in limits.items() if rng.random() < 0.4}


def _both(seed: int, criterion: str, **extra: Any) -> tuple[list[Node], list[list[float]], Any, Any]:
    """Our nodes and predictions, scikit-learn's tree and predictions."""
    X, y, weights, limits = _numeric_problem(seed, criterion)
    is_classification = criterion in criteria.CLASSIFICATION
    rng = np.random.default_rng(seed)
    if extra.pop("with_missing", False):
        X[rng.random(X.shape) < 0.2] = np.nan
    if extra.pop("with_monotonic", False):
        extra["monotonic_cst"] = [int(sign) for sign in rng.choice([-1, 0, 1], size=3)]
        y = np.unique(y > 0, return_inverse=True)[1] if is_classification else y
    model = (DecisionTreeClassifier if is_classification else DecisionTreeRegressor)(
        criterion=criterion, random_state=seed, **limits, **extra
    )
    model.fit(X, y, weights)
    ours = {"monotonic" if name == "monotonic_cst" else name: value for name, value in extra.items()}
    ours.update(limits)
    total = len(y) if weights is None else math.fsum(weights)
    ours["min_weight_leaf"] = ours.pop("min_weight_fraction_leaf", 0) * total
    nodes = grow(
        list(X.T),
        ["number"] * 3,
        y,
        weights,
        task="classification" if is_classification else "regression",
        criterion=criterion,
        n_classes=len(set(y)) if is_classification else 0,
        **ours,
    )
    theirs = model.predict_proba(X) if is_classification else model.predict(X)[:, None]
    return nodes, predict(nodes, list(X.T), ["number"] * 3), model.tree_, theirs


def _compare(seeds: range, criterion: str, **extra: Any) -> int:
    """Number of problems compared: those without a tie."""
    compared = 0
    for seed in seeds:
        nodes, ours, tree, theirs = _both(seed, criterion, **extra)
        # Rounding makes it split pure nodes of weighted rows now and then: purity is a positive figure there.
        splits_pure = bool(np.any((tree.children_left >= 0) & (tree.impurity < 1e-12)))
        if splits_pure or any(node.ties for node in nodes):
            continue
        compared += 1
        assert len(nodes) == tree.node_count, seed
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7, err_msg=f"seed {seed}")
        # Best first, scikit-learn numbers nodes as they are made.
        mine = sorted((node.n, node.weight, node.impurity) for node in nodes)
        other = sorted(zip(tree.n_node_samples, tree.weighted_n_node_samples, tree.impurity, strict=True))
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6, err_msg=f"seed {seed}")
    return compared


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"])
def test_against_sklearn(criterion: str) -> None:
    assert _compare(range(60), criterion) >= 25


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_missing_against_sklearn(criterion: str) -> None:
    assert _compare(range(100, 140), criterion, with_missing=True) >= 15


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_monotonic_against_sklearn(criterion: str) -> None:
    assert _compare(range(200, 240), criterion, with_monotonic=True) >= 15


# By the contract, over random problems


@cache
def _grown(seed: int) -> tuple[Problem, list[Node]]:
    problem = random_problem(seed)
    arguments, settings = problem.arguments()
    return problem, grow(*arguments, **settings)


def test_problems_depend_on_the_seed_alone_and_cover_everything() -> None:
    first, again = random_problem(5), random_problem(5)
    assert repr(first) == repr(again) != repr(random_problem(6))
    seen: Counter[Any] = Counter()
    for seed in SEEDS:
        problem = random_problem(seed)
        settings = problem.settings
        limits = ("max_depth", "max_leaf_nodes", "monotonic")
        seen.update((name, settings[name] is None) for name in limits)
        numbers = ("min_samples_leaf", "min_weight_leaf", "min_impurity_decrease", "min_impurity_split")
        seen.update((name, settings[name] > 1e-3) for name in numbers)
        seen.update(
            (name, settings[name]) for name in ("criterion", "missing", "max_categories", "n_classes")
        )
        seen.update(problem.kinds)
        assert 5 <= len(problem.y) <= 60 and 1 <= len(problem.columns) <= 5
    assert {seen["criterion", name] > 5 for name in (*criteria.CLASSIFICATION, *criteria.REGRESSION)} == {
        True
    }
    assert {seen["n_classes", k] > 0 for k in range(6)} == {True}
    assert {seen["max_categories", c] > 0 for c in range(2, 9)} == {True}
    assert min(seen.values()) > 1 and min(seen[kind] for kind in ("flag", "number", "category")) > 100


def test_trees_keep_the_contract() -> None:
    seen: Counter[Any] = Counter()
    for seed in SEEDS:
        problem, nodes = _grown(seed)
        _check_shape(nodes, problem)
        _check_limits(nodes, problem)
        _check_rows(nodes, problem)
        seen.update((problem.settings["criterion"], node.split) for node in nodes)
        seen.update([("doubtful", node.doubtful) for node in nodes if node.split != "leaf"])
    for criterion in (*criteria.CLASSIFICATION, *criteria.REGRESSION):
        assert min(seen[criterion, split] for split in ("threshold", "presence", "subset")) > 0
    # A flag that is up nearly always would hide every bug.
    assert seen["doubtful", True] < 0.1 * seen["doubtful", False]


def _check_shape(nodes: list[Node], problem: Problem) -> None:
    for i, node in enumerate(nodes):
        if node.split == "leaf":
            assert (node.left, node.right, node.feature, node.impurity_decrease) == (-1, -1, -1, 0)
            continue
        left, right = nodes[node.left], nodes[node.right]
        assert node.left == i + 1 and node.right > node.left
        assert node.n == left.n + right.n and node.weight == pytest.approx(left.weight + right.weight)
        assert left.depth == right.depth == node.depth + 1
        assert node.impurity_decrease >= 0


def _check_limits(nodes: list[Node], problem: Problem) -> None:
    settings = problem.settings
    leaves = sum(node.split == "leaf" for node in nodes)
    assert leaves <= (settings["max_leaf_nodes"] or math.inf)
    for node in nodes:
        assert node.depth <= (math.inf if settings["max_depth"] is None else settings["max_depth"])
        if node.split == "leaf":
            continue
        assert node.n >= settings["min_samples_split"]
        assert node.impurity > settings["min_impurity_split"]
        assert node.impurity_decrease >= settings["min_impurity_decrease"] * (1 - 1e-9)
        for child in (nodes[node.left], nodes[node.right]):
            assert child.n >= settings["min_samples_leaf"] and child.weight >= settings["min_weight_leaf"]
            assert settings["criterion"] != "poisson" or child.value[0] > 0
        if settings["monotonic"] is not None and node.threshold != math.inf:
            sign = settings["monotonic"][node.feature] * (-1 if node.split == "presence" else 1)
            assert sign * (nodes[node.right].value[-1] - nodes[node.left].value[-1]) >= 0


def _check_rows(nodes: list[Node], problem: Problem) -> None:
    leaves = apply(nodes, problem.columns, problem.kinds)
    counts = Counter(leaves)
    assert all(counts[i] == node.n for i, node in enumerate(nodes) if node.split == "leaf")
    assert predict(nodes, problem.columns, problem.kinds) == [nodes[leaf].value for leaf in leaves]


def test_no_cut_of_the_root_beats_the_chosen_one() -> None:
    """The plainest search again, for the plainest case: every cut of complete numbers and flags."""
    for seed in SEEDS:
        problem, nodes = _grown(seed)
        settings = problem.settings
        is_plain = settings["monotonic"] is None and settings["min_impurity_decrease"] == 0
        if not is_plain or nodes[0].split == "leaf" or "category" in problem.kinds:
            continue
        # Leaves of one row are allowed here, so only scores within the limits may be compared.
        best = max(_root_scores(problem))
        assert nodes[0].score == pytest.approx(best, rel=1e-9, abs=1e-12), seed


def _root_scores(problem: Problem) -> list[float]:
    w = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    everything = _group(problem, w, np.ones(len(w), dtype=bool))
    scores = []
    for left in _root_sides(problem, w):
        sides = (left, ~left)
        small = min(side.sum() for side in sides) < problem.settings["min_samples_leaf"]
        if small or min(w[side].sum() for side in sides) < problem.settings["min_weight_leaf"]:
            continue
        if problem.settings["criterion"] == "poisson" and min(problem.y[side].sum() for side in sides) == 0:
            continue
        groups = [_group(problem, w, side) for side in sides]
        scores.append(criteria.score(problem.settings["criterion"], everything, groups[0], groups[1]))
    return scores


def _root_sides(problem: Problem, w: Any) -> list[Any]:
    """Masks of the rows that go left."""
    sides = []
    for column, kind in zip(problem.columns, problem.kinds, strict=True):
        is_known = ~np.isnan(column) if kind == "number" else column >= 0
        for low in np.unique(column[is_known])[:-1]:
            low_side = is_known & (column <= low)
            if problem.settings["missing"] == "learnt":
                sides += [low_side, low_side | ~is_known]
                continue
            # A flag that is present goes left, which matters when both sides weigh the same.
            left = low_side if kind == "number" else is_known & ~low_side
            right = is_known & ~left
            sides.append(left | ~is_known if w[left].sum() >= w[right].sum() else left)
        if problem.settings["missing"] == "learnt" and not is_known.all() and is_known.any():
            sides.append(is_known)
    return sides


def _group(problem: Problem, w: Any, mask: Any) -> criteria.Group:
    if problem.settings["task"] == "regression":
        return list(zip(problem.y[mask].tolist(), w[mask].tolist(), strict=True))
    return [float(w[mask & (problem.y == k)].sum()) for k in range(problem.settings["n_classes"])]


def test_a_large_budget_of_leaves_changes_nothing() -> None:
    for seed in range(60):
        problem = random_problem(seed)
        arguments, settings = problem.arguments()
        free, roomy = (grow(*arguments, **{**settings, "max_leaf_nodes": most}) for most in (None, 10_000))
        # Only flags may differ: they are passed on where there is a budget.
        bare = [[(n.split, n.feature, n.left, n.right, n.n, n.impurity) for n in t] for t in (free, roomy)]
        assert bare[0] == bare[1]


def test_ordering_categories_is_optimal_where_it_should_be() -> None:
    """For two classes under gini and for squared error no subset beats the best prefix."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 6, size=40)
        for criterion, y in (("gini", rng.integers(0, 2, size=40)), ("squared_error", rng.normal(size=40))):
            task = "classification" if criterion == "gini" else "regression"
            root = grow(
                [codes], ["category"], y, None, task=task, criterion=criterion, n_classes=2, max_depth=1
            )[0]
            settings = {"task": task, "criterion": criterion, "n_classes": 2}
            problem = Problem(0, [codes], ["category"], y, None, settings)
            masks = [np.isin(codes, left) for left in every_partition(sorted(set(codes.tolist())))]
            w = np.ones(40)
            scores = [
                criteria.score(
                    criterion, _group(problem, w, w > 0), _group(problem, w, m), _group(problem, w, ~m)
                )
                for m in masks
            ]
            assert root.score == pytest.approx(max(scores))


def test_predictions_follow_a_monotonic_constraint() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(2, 25)), rng.normal(size=25)
        for sign in (-1, 1):
            kinds = ["number", "number"]
            nodes = grow(
                X, kinds, y, None, task="regression", criterion="absolute_error", monotonic=[sign, 0]
            )
            for other in X[1][:5]:
                line = np.sort(X[0])
                values = [v[0] for v in predict(nodes, [line, np.full(25, other)], kinds)]
                assert all(sign * (b - a) >= 0 for a, b in pairwise(values))
