"""Growing from sketches: against the oracle, against rows at θ = 1, conservation, and noise.

THETATREE_SKETCH_PROBLEMS sets how many problems the oracle judges.
"""

import os

import numpy as np
import pandas as pd
import pytest
from naive.sketch_tree import Grower, Table, conserve, judge, random_hashes, random_table, sketch_set

import thetatree as tt
from thetatree import CARTClassifier
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree
from thetatree.grow.from_sketches import SketchRules, grow_from_sketches
from thetatree.sketch import sources as origins
from thetatree.tree.tree import SplitKind

N_PROBLEMS = int(os.environ.get("THETATREE_SKETCH_PROBLEMS", "600"))
BATCH = 50
CRITERIA = ("gini", "entropy", "gain_ratio", "chi_square", "binomial", "theta", "delta", "weighted_delta")
FORMS = ("per_class", "one_vs_all", "class_free")


def some_absent(rng, table):
    return [name for name, (kind, _) in table.columns.items() if kind == "flag" and rng.random() < 0.5]


def size_by_name(rng):
    """One k for all sketches, or several."""
    sizes = rng.choice([16, 32, 64, 128, 1024], size=3).tolist()
    if rng.random() < 0.7:
        return sizes[0]
    return lambda name: sizes[sum(map(ord, str(name))) % 3]


def random_problem(seed):
    """A sketch set and rules; every limit is on in a quarter of the problems."""
    rng = np.random.default_rng(seed)
    form, criterion = str(rng.choice(FORMS)), str(rng.choice(CRITERIA))
    n_classes = 2 if criterion == "binomial" or form == "one_vs_all" else int(rng.integers(2, 4))
    n = int(rng.integers(30, 600))
    table = random_table(rng, n, n_classes)
    data = sketch_set(table, size_by_name(rng), form, some_absent(rng, table)).data
    sources = origins.sources_of(data, origins.tested_features(data))
    some = lambda drawn, off: drawn if rng.random() < 0.25 else off  # noqa: E731
    rules = {
        "criterion": criterion,
        "class_weight": some(rng.uniform(0.2, 3, n_classes).tolist(), [1.0] * n_classes),
        "max_depth": int(some(rng.integers(1, 4), 5)),
        "min_samples_split": float(some(rng.integers(2, 40), 2)),
        "min_samples_leaf": float(some(rng.integers(1, 20), 1)),
        "min_weight_leaf": float(some(rng.uniform(0, 0.1 * n), 0)),
        "min_impurity_decrease": float(some(rng.uniform(0, 0.05), 0)),
        "min_impurity_split": float(some(rng.uniform(0, 0.4), 0)),
        "max_categories": 10,
        "significance": float(rng.choice([0, 0.05, 0.9])),
        "min_held": float(rng.choice([0, 3, 10])),
    }
    return sources, rules | thaid_rules(seed)


def thaid_rules(seed):
    """THAID's rules, each on in a quarter of the problems."""
    rng = np.random.default_rng([seed, 73])
    drawn = {
        "positive_gain": True,
        "min_score": float(rng.uniform(0.05, 0.9)),
        "min_gain": float(rng.uniform(0.005, 0.2)),
    }
    return {name: rule for name, rule in drawn.items() if rng.random() < 0.25}


def grown(sources, rules):
    return grow_from_sketches(sources, SketchRules(**rules), tuple(sources.labels))


# Against the oracle


@pytest.mark.parametrize("first", range(0, N_PROBLEMS, BATCH))
def test_same_tree_as_oracle(first):
    """Counts, errors, held keys, candidates, limits, the gate and the choice, node by node."""
    nodes = 0
    for seed in range(first, min(first + BATCH, N_PROBLEMS)):
        sources, rules = random_problem(seed)
        tree = grown(sources, rules)
        found = judge(tree, sources, rules)
        assert found is None, f"seed {seed}, {sources.data.form}, {rules}: {found}"
        nodes += tree.node_count
    assert nodes > 2 * BATCH


def test_the_oracle_tells_trees_apart():
    """A tree grown by other rules is found out."""
    changes = [
        {"criterion": "entropy"},
        {"min_samples_leaf": 25.0},
        {"significance": 1e-9},
        {"class_weight": [1.0, 2.0]},
        {"min_held": 30.0},
        {"max_depth": 2},
        {"min_score": 0.05},
        {"min_gain": 0.02},
        {"positive_gain": True, "criterion": "theta"},
    ]
    rules = {
        "criterion": "gini", "class_weight": [1.0, 1.0], "max_depth": 4, "min_samples_split": 2.0,
        "min_samples_leaf": 1.0, "min_weight_leaf": 0.0, "min_impurity_decrease": 0.0,
        "min_impurity_split": 0.0, "max_categories": 10, "significance": 0.9, "min_held": 3.0,
    }  # fmt: skip
    found = np.zeros(len(changes), int)
    for seed in range(25):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 500, 2)
        data = sketch_set(table, 64).data
        sources = origins.sources_of(data, origins.tested_features(data))
        for i, change in enumerate(changes):
            found[i] += judge(grown(sources, {**rules, **change}), sources, rules) is not None
    assert (found >= 3).all(), found


@pytest.mark.parametrize("seed", range(40))
def test_best_first_takes_the_greatest_gains(seed):
    """Grown to L leaves, it is the whole tree cut back to the splits that were the best on offer."""
    sources, rules = random_problem(seed)
    rules = {**rules, "max_depth": -1, "significance": 0.0, "min_held": 3.0}
    whole = grown(sources, rules)
    for leaves in (2, 3, 5):
        some = grow_from_sketches(sources, SketchRules(**rules, max_leaf_nodes=leaves), tuple(sources.labels))
        assert some.n_leaves == min(leaves, whole.n_leaves)
        offered, taken = [0], set()
        for _ in range(some.n_leaves - 1):
            best = max(offered, key=lambda node: (whole.impurity_decrease[node], -node))
            gain = whole.impurity_decrease[best]
            offered = [node for node in offered if node != best] + [
                int(c)
                for c in (whole.children_left[best], whole.children_right[best])
                if not whole.is_leaf[c]
            ]
            taken.add(gain)
            if not offered:
                break
        mine = np.sort(some.impurity_decrease[~some.is_leaf])
        assert len(mine) == 0 or mine.min() >= min(taken) - 1e-12


# Conservation


@pytest.mark.parametrize("first", range(10_000, 10_300, 50))
def test_counts_add_up_at_every_node(first):
    split = 0
    for seed in range(first, first + 50):
        sources, rules = random_problem(seed)
        tree = grown(sources, {**rules, "significance": 0.0, "min_held": 0.0})
        count, error = tree.estimates.count, tree.estimates.standard_error
        assert (count >= 0).all() and np.isfinite(count).all()
        assert (error >= 0).all() and np.isfinite(error).all()
        assert (tree.estimates.held >= 0).all()
        inner = np.flatnonzero(~tree.is_leaf)
        parts = count[tree.children_left[inner]] + count[tree.children_right[inner]]
        assert np.allclose(parts, count[inner], rtol=1e-9, atol=0)
        weights = tree.weighted_n_node_samples
        below = weights[tree.children_left[inner]] + weights[tree.children_right[inner]]
        assert np.allclose(below, weights[inner], rtol=1e-9)
        assert (tree.impurity_decrease >= 0).all()
        assert (tree.impurity >= 0).all() and np.isfinite(tree.values).all()
        split += len(inner)
    assert split > 100


def test_exact_counts_have_no_error_and_estimates_have():
    rng = np.random.default_rng(1)
    table = random_table(rng, 400, 2)
    for k, exact in ((1000, True), (32, False)):
        tree = ThetaTree(significance=None, min_held=1).fit(sketch_set(table, k)).tree_
        errors = tree.estimates.standard_error
        assert (errors == 0).all() if exact else (errors.sum(axis=1) > 0).all()
        if exact:
            assert np.array_equal(tree.estimates.count, np.round(tree.estimates.count))
            assert np.array_equal(tree.estimates.held, tree.n_node_samples)


@pytest.mark.parametrize("seed", range(300))
def test_conserve_of_the_oracle(seed):
    """The oracle's own rule: it adds up, is never negative, and never surer of a part than it can be."""
    rng = np.random.default_rng(seed)
    n, p, a = rng.uniform(0, 100, 3) * (rng.random(3) < 0.9)
    v, vp, va = rng.uniform(0, 50, 3) * (rng.random(3) < 0.8)
    vp, va = vp * (p > 0), va * (a > 0)
    parts = conserve((n, v), (p, vp), (a, va))
    if parts is None:
        assert n > 0 and p + a == 0
        return
    (left, left_v), (right, right_v) = parts
    assert left + right == pytest.approx(n, rel=1e-12)
    assert min(left, right) >= -1e-12 and min(left_v, right_v) >= 0
    if v + vp + va == 0 and n > 0:
        assert left == pytest.approx(n * p / (p + a))


def test_a_class_that_is_gone_is_gone():
    """What rounding leaves of a class is nothing: it neither keeps a pure node open nor bars a split.

    All of class 2 has flag a; among the others b is the class. Where the keys without a keep 1e-12 of a key
    of class 2, no test of theirs can be counted, and half of everybody ends in a leaf that is 54% right.
    """
    for seed in range(25, 40):
        rng = np.random.default_rng(seed)
        n = 20_000
        a, b = ((rng.random(n) < rate).astype(np.int8) for rate in (0.3, 0.5))
        table = Table(random_hashes(rng, n), np.where(a & (rng.random(n) < 0.95), 2, b))
        table.columns = {"a": ("flag", a), "b": ("flag", b)}
        tree = ThetaTree().fit(sketch_set(table, 256, absent=("a",))).tree_
        text = f"seed {seed}: {tree.estimates.count.tolist()}"
        assert tree.impurity[tree.is_leaf].max() < 0.2, text
        tiny = (tree.estimates.count != 0) & (tree.estimates.count < 1e-6)
        assert not tiny.any(), text


@pytest.mark.parametrize("seed", [94, 375, 654, 712, 724])
def test_same_tree_as_oracle_where_rounding_left_something(seed):
    sources, rules = random_problem(seed)
    free = {"significance": 0.0, "min_held": 0.0, "max_depth": 8, "min_samples_leaf": 1.0}
    rules = {**rules, **free, "min_impurity_decrease": 0.0}
    assert judge(grown(sources, rules), sources, rules) is None


def test_errors_are_honest_for_fixed_splits():
    """Over 150 re-hashes of one table, the root's children are off by about their standard errors."""
    rng = np.random.default_rng(2)
    n = 6000
    flag = (rng.random(n) < 0.3).astype(np.int8)
    y = (rng.random(n) < 0.2 + 0.5 * flag).astype(int)
    z, absent = [], ["g"]
    for _ in range(150):
        order = rng.permutation(n)
        table = Table(random_hashes(rng, n), y[order], {"g": ("flag", flag[order])})
        tree = ThetaTree(max_depth=1, significance=None).fit(sketch_set(table, 256, absent=absent)).tree_
        for child, value in ((1, 1), (2, 0)):
            truth = np.array([((flag == value) & (y == c)).sum() for c in (0, 1)])
            z.append((tree.estimates.count[child] - truth) / tree.estimates.standard_error[child])
    z = np.concatenate(z)
    assert abs(z.mean()) < 0.15
    assert 0.8 < np.sqrt(np.mean(z**2)) < 1.2
    assert 0.92 < np.mean(np.abs(z) < 1.96) < 0.98


# At θ = 1 it is the tree of the rows


def as_frame(table, *, flags_of_tags):
    """The table as a data frame; CART reads tags as flags of their own."""
    out = {}
    for name, (kind, values) in sorted(table.columns.items()):
        if kind == "flag":
            out[name] = pd.array([None if v < 0 else bool(v) for v in values], dtype="boolean")
        elif kind != "tags":
            out[name] = values
        elif not flags_of_tags:
            out[name] = pd.Series(list(values), dtype=object)
        else:
            for tag in sorted({tag for own in values if own is not None for tag in own}):
                known = [None if own is None else tag in own for own in values]
                out[f"{name}={tag}"] = pd.array(known, dtype="boolean")
    return pd.DataFrame(out)


def first_difference(ours, rows, frame, leaves):
    """Where the tree from sketches is not the tree from rows, or None. `leaves`: of each row in both."""
    walk = [(0, 0)]
    while walk:
        i, j = walk.pop()
        for name in ("n_node_samples", "weighted_n_node_samples", "impurity", "values", "kind"):
            a, b = getattr(ours, name)[i], getattr(rows, name)[j]
            if not np.allclose(a, b, rtol=1e-9, atol=1e-12):
                return f"nodes {i} and {j}: {name} {a} and {b}"
        if ours.is_leaf[i]:
            continue
        for name in ("feature", "missing_branch", "score", "impurity_decrease"):
            a, b = getattr(ours, name)[i], getattr(rows, name)[j]
            if not np.isclose(a, b, rtol=1e-9, atol=1e-12):
                return f"nodes {i} and {j}: {name} {a} and {b}"
        if ours.kind[i] == SplitKind.THRESHOLD:
            column = frame.iloc[:, int(ours.feature[i])].to_numpy(float)
            inside = (leaves[1] >= j) & (leaves[1] < rows.subtree_end[j])
            edge = np.nanmax(column[inside & (column <= rows.threshold[j])])
            if ours.threshold[i] != edge:
                return f"nodes {i} and {j}: cut {ours.threshold[i]} and {rows.threshold[j]}"
        walk += [
            (ours.children_left[i], rows.children_left[j]),
            (ours.children_right[i], rows.children_right[j]),
        ]
    together = set(zip(leaves[0].tolist(), leaves[1].tolist(), strict=True))
    if len(together) != ours.n_leaves or ours.node_count != rows.node_count:
        return "rows end in other leaves"
    return None


@pytest.mark.parametrize("first", range(0, 240, 20))
def test_exact_sketches_give_the_tree_of_the_rows(first):
    nodes = 0
    for seed in range(first, first + 20):
        rng = np.random.default_rng(50_000 + seed)
        criterion = CRITERIA[seed % len(CRITERIA)]
        n_classes = 2 if criterion == "binomial" else int(rng.integers(2, 5))
        table = random_table(rng, int(rng.integers(10, 300)), n_classes)
        some = lambda drawn, off: drawn if rng.random() < 0.25 else off  # noqa: E731, B023
        # Weights that sums of hold exactly, so that equals are equal in both.
        weights = {label: float(rng.choice([0.5, 1, 2, 3])) for label in range(n_classes)}
        limits = {
            "criterion": criterion,
            "max_depth": some(int(rng.integers(1, 4)), None),
            "min_samples_split": some(int(rng.integers(2, 40)), 2),
            "min_samples_leaf": some(int(rng.integers(1, 20)), 1),
            "min_weight_fraction_leaf": some(float(rng.uniform(0, 0.1)), 0.0),
            "min_impurity_decrease": some(float(rng.uniform(0, 0.05)), 0.0),
            "min_impurity_split": some(float(rng.uniform(0, 0.4)), 0.0),
            "max_leaf_nodes": some(int(rng.integers(2, 9)), None),
            "class_weight": some(weights, None),
            "max_categories": int(rng.integers(2, 7)),
        }
        form = str(rng.choice(["per_class", "class_free"]))
        model = ThetaTree(**limits).fit(sketch_set(table, 4096, form, some_absent(rng, table)))
        flags, raw = (as_frame(table, flags_of_tags=as_flags) for as_flags in (True, False))
        rows = CARTClassifier(missing="majority", **limits).fit(flags, table.y)
        leaves = model.apply(raw), rows.apply(flags)
        found = first_difference(model.tree_, rows.tree_, flags, leaves)
        assert found is None, f"seed {seed}, {form}, {limits}: {found}"
        assert np.array_equal(model.classes_, rows.classes_)
        nodes += model.tree_.node_count
    assert nodes > 60


@pytest.mark.parametrize("form", FORMS)
def test_one_tree_whatever_the_form(form):
    """Where nothing is estimated, all forms and absent sketches tell the same."""
    for seed in range(15):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 200, 2)
        flags = [name for name, (kind, _) in table.columns.items() if kind == "flag"]
        plain = ThetaTree().fit(sketch_set(table, 4096)).tree_
        for absent in ((), flags):
            other = ThetaTree().fit(sketch_set(table, 4096, form, absent)).tree_
            assert np.array_equal(plain.estimates.count, other.estimates.count)
            assert np.array_equal(plain.feature, other.feature)
            assert np.array_equal(plain.threshold, other.threshold, equal_nan=True)
            assert np.array_equal(plain.category, other.category)


def test_random_features_are_drawn_alike_for_every_form():
    table = random_table(np.random.default_rng(4), 300, 2)
    settings = {"max_features": 1, "random_state": 5}
    trees = [ThetaTree(**settings).fit(sketch_set(table, 4096, form)).tree_ for form in FORMS]
    assert all(np.array_equal(tree.feature, trees[0].feature) for tree in trees)


# Noise


def noise_table(seed, *, n=20_000, n_flags=20, share=0.3, n_classes=2):
    rng = np.random.default_rng(seed)
    shares = [1 - share] + [share / (n_classes - 1)] * (n_classes - 1)
    table = Table(random_hashes(rng, n), rng.choice(n_classes, n, p=shares))
    for j in range(n_flags):
        prevalence = rng.choice([0.02, 0.1, 0.3, 0.5, 0.8])
        table.columns[f"f{j:02}"] = ("flag", (rng.random(n) < prevalence).astype(np.int8))
    return table


def test_noise_alone_is_hardly_ever_split():
    """200 sets of 20 flags that say nothing, at k = 256, 512 and 1024: at most 9% split at the root."""
    criteria = ("gini", "entropy", "chi_square", "binomial", "theta", "delta")
    split = {(criterion, gate): 0 for criterion in criteria for gate in (True, False)}
    for seed in range(200):
        table = noise_table(seed, share=(0.5, 0.3, 0.1)[seed // 3 % 3])
        sketches = sketch_set(table, (256, 512, 1024)[seed % 3])
        for criterion in criteria:
            split[criterion, True] += (
                ThetaTree(criterion=criterion, max_depth=1).fit(sketches).get_n_leaves() > 1
            )
        for criterion in ("gini", "theta"):
            free = ThetaTree(criterion=criterion, max_depth=1, significance=None).fit(sketches)
            split[criterion, False] += free.get_n_leaves() > 1
    for criterion in criteria:
        assert split[criterion, True] <= 18, split
    assert split["gini", False] >= 196 and split["theta", False] >= 196


@pytest.mark.parametrize(
    ("form", "k", "share", "n_classes", "absent"),
    [
        ("one_vs_all", 512, 0.2, 2, False),
        ("one_vs_all", 512, 0.02, 2, False),
        ("class_free", 1024, 0.3, 2, False),
        ("per_class", 512, 0.5, 2, True),
        ("per_class", 1024, 0.04, 2, False),
        ("per_class", 512, 0.6, 3, False),
        ("per_class", 512, 0.8, 5, False),
    ],
)
def test_noise_in_every_form(form, k, share, n_classes, absent):
    split = free = 0
    for seed in range(60):
        table = noise_table(1000 + seed, share=share, n_classes=n_classes)
        sketches = sketch_set(table, k, form, tuple(table.columns) if absent else ())
        split += ThetaTree(max_depth=1).fit(sketches).get_n_leaves() > 1
        free += ThetaTree(max_depth=1, significance=None).fit(sketches).get_n_leaves() > 1
    assert split <= 8, split  # 60 sets at 5%: more than 8 in one case of 500
    assert free >= 58


def test_noise_below_a_true_split():
    """The children of a true split are noise: few of them are split."""
    split = nodes = 0
    for seed in range(60):
        rng = np.random.default_rng(2000 + seed)
        table = noise_table(2000 + seed)
        table.columns["a"] = ("flag", (rng.random(len(table)) < 0.2 + 0.5 * table.y).astype(np.int8))
        tree = ThetaTree(max_depth=2).fit(sketch_set(table, 512)).tree_
        assert tree.features[tree.feature[0]].name == "a"
        children = [tree.children_left[0], tree.children_right[0]]
        split += int((~tree.is_leaf[children]).sum())
        nodes += 2
    assert split <= 0.11 * nodes, (split, nodes)


def test_signal_passes_the_gate():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = noise_table(3000 + seed)
        table.columns["a"] = ("flag", (rng.random(len(table)) < 0.2 + 0.25 * table.y).astype(np.int8))
        tree = ThetaTree(max_depth=1).fit(sketch_set(table, 512)).tree_
        found += tree.feature[0] >= 0 and tree.features[tree.feature[0]].name == "a"
    assert found >= 19


def test_gate_is_off_where_all_is_exact():
    """A gain of nothing (XOR) or of chance is taken at θ = 1, as from rows."""
    rng = np.random.default_rng(0)
    n = 2000
    a, b = rng.integers(0, 2, (2, n)).astype(np.int8)
    table = Table(random_hashes(rng, n), (a ^ b).astype(int), {"a": ("flag", a), "b": ("flag", b)})
    tree = ThetaTree(significance=1e-9, min_held=10_000).fit(sketch_set(table, 4096)).tree_
    assert tree.n_leaves == 4 and tree.max_depth == 2
    assert tree.impurity[tree.is_leaf].tolist() == [0] * 4
    assert ThetaTree(significance=1e-9).fit(sketch_set(table, 256)).get_n_leaves() == 1
    coarse = ThetaTree(significance=None, max_depth=2).fit(sketch_set(table, 256)).tree_
    assert coarse.n_leaves == 4 and (coarse.impurity[coarse.is_leaf] == 0).all()


# What a tree of estimates is like


def test_every_kind_is_tested_and_known_by_its_kind():
    rng = np.random.default_rng(3)
    kinds = {}
    for _ in range(20):
        table = random_table(rng, 300, 2)
        tree = ThetaTree().fit(sketch_set(table, 4096)).tree_
        for node in np.flatnonzero(~tree.is_leaf):
            feature = tree.features[tree.feature[node]]
            kinds.setdefault(feature.kind, set()).add(int(tree.kind[node]))
    assert kinds == {"flag": {2}, "number": {1}, "category": {3}}


def test_deep_trees_end():
    """Every node of a chain of 40 nested cuts is told apart, and both sides stay decided."""
    rng = np.random.default_rng(6)
    n = 4000
    x = rng.integers(0, 40, n).astype(float)
    table = Table(random_hashes(rng, n), (x % 2).astype(int), {"x": ("number", x)})
    tree = ThetaTree().fit(sketch_set(table, 8192)).tree_
    assert tree.n_leaves == 40 and (tree.impurity[tree.is_leaf] == 0).all()
    coarse = ThetaTree(significance=None, min_held=1).fit(sketch_set(table, 64)).tree_
    assert np.isfinite(coarse.estimates.standard_error).all()
    assert coarse.estimates.count[coarse.is_leaf].sum() == pytest.approx(coarse.estimates.count[0].sum())


def test_same_set_same_tree():
    for seed in range(10):
        sources, rules = random_problem(seed)
        again, _ = random_problem(seed)
        assert grown(sources, rules) == grown(again, rules)


def test_threads_do_not_show():
    """With keys enough for several threads: nodes are taken in any order, and the tree is the same."""
    rng = np.random.default_rng(21)
    n = 60_000
    flags = rng.random((n, 70)) < np.geomspace(0.5, 0.01, 70)
    y = (rng.random(n) < 0.2 + 0.3 * flags[:, 0] + 0.2 * flags[:, 3] * flags[:, 5]).astype(int)
    rows = pd.DataFrame(flags, columns=[f"f{i:02d}" for i in range(70)]).assign(id=np.arange(n), y=y)
    made = tt.sketch(rows, "id", "y", lg_k=11)
    for limits in ({"max_depth": 8}, {"max_leaf_nodes": 40}, {"max_features": 9, "random_state": 3}):
        trees = [
            ThetaTree(significance=None, n_jobs=n_jobs, **limits).fit(made).tree_ for n_jobs in (1, 2, 5)
        ]
        assert trees[0].n_leaves > 20
        for other in trees[1:]:
            for name, array in trees[0].arrays().items():
                assert np.array_equal(array, other.arrays()[name], equal_nan=True), name


def test_the_oracle_counts_the_root_by_the_rows():
    """With everything exact, the oracle's candidates are those of `thetatree.candidates`."""
    rng = np.random.default_rng(8)
    table = random_table(rng, 300, 2, kinds=("flag",), gaps=False)
    data = sketch_set(table, 4096).data
    sources = origins.sources_of(data, origins.tested_features(data))
    rules = random_problem(0)[1] | {"criterion": "gini", "class_weight": [1.0, 1.0], "min_samples_leaf": 1.0}
    grower = Grower(sources, rules | {"min_weight_leaf": 0.0, "min_impurity_decrease": 0.0})
    frame = tt.candidates(as_frame(table, flags_of_tags=True).astype(bool), table.y)
    for one in grower.candidates(grower.root):
        assert one.ranking[0] == pytest.approx(frame.score[one.place])
        sizes = [sum(n for n, _ in side) for side in one.sides]
        assert sizes == [frame.n_left[one.place], frame.n_right[one.place]]


def test_more_flags_than_a_table_of_rows_was_made_for():
    """The more words a key's row has, the fewer keys are gathered at a time; the tree is that of the rows."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((400, 1300)) < 0.3, columns=[f"f{j}" for j in range(1300)])
    y = (frame["f7"] ^ (rng.random(400) < 0.1)).astype(int)
    sketches = tt.sketch(frame.assign(id=np.arange(400), y=y), key="id", target="y")
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3, significance=None).fit(sketches)
    rows = tt.CARTClassifier(max_depth=3).fit(frame, y).tree_
    named, by_rows = ([t.features[f].name for f in t.feature[~t.is_leaf]] for t in (model.tree_, rows))
    assert named == by_rows
    assert model.tree_.n_node_samples.tolist() == rows.n_node_samples.tolist()


def test_many_rare_features_are_known_beyond_what_the_totals_hold():
    """Too few keys to a row for a table of rows: sketches are walked along, a stretch of hashes at a time."""
    rng = np.random.default_rng(8)
    n = 20_000
    frame = pd.DataFrame(rng.random((n, 320)) < 0.012, columns=[f"f{j}" for j in range(320)])
    frame["f1"] |= frame["f0"] & (rng.random(n) < 0.5)
    y = (frame["f0"] & ~frame["f1"]) | (rng.random(n) < 0.3)
    sketches = tt.sketch(frame.assign(id=np.arange(n), y=y), key="id", target="y", lg_k=9)
    tree = ThetaTree(max_depth=2, significance=None, min_held=0).fit(sketches).tree_
    left = tree.child[0]
    assert tree.features[tree.feature[0]].name == "f0"
    assert tree.features[tree.feature[left]].name == "f1"
    both, alone = tree.child[tree.child_start[left] : tree.child_start[left] + 2]
    sizes = tree.weighted_n_node_samples
    assert sizes[both] == pytest.approx((frame["f0"] & frame["f1"]).sum(), rel=0.01)
    assert sizes[alone] == pytest.approx((frame["f0"] & ~frame["f1"]).sum(), rel=0.01)
