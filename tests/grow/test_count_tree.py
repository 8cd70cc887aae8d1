"""Trees counted on sketch sets: those that they were grown from, held-out folds, and folds of exact sets."""

import numpy as np
import pandas as pd
import pytest
from naive import count_tree as naive
from naive.sketch_tree import Table, random_hashes, random_table, sketch_set

import thetatree as tt
from thetatree.grow.count_tree import count_tree
from thetatree.sketch import sources as origins

FORMS = ("per_class", "one_vs_all", "class_free")


def problem(seed, k=None):
    """A table, its set in any form, and a tree grown from all keys or all but a fold."""
    rng = np.random.default_rng(seed)
    form = FORMS[seed % 3]
    n_classes = 2 if form == "one_vs_all" else int(rng.integers(2, 4))
    table = random_table(rng, int(rng.integers(100, 800)), n_classes)
    absent = [name for name, (kind, _) in table.columns.items() if kind == "flag" and rng.random() < 0.5]
    sketches = sketch_set(table, k or int(rng.choice([16, 64, 128, 4096])), form, absent)
    tree = tt.ThetaSketchDecisionTreeClassifier(max_depth=5, significance=None, min_held=0)
    return table, sketches, tree


def sources(sketches):
    return origins.sources_of(sketches.data, origins.tested_features(sketches.data))


def test_the_set_it_was_grown_from():
    """The counts, errors, θ and held keys that the grower kept, to the bit."""
    nodes = 0
    for seed in range(150):
        _, sketches, model = problem(seed)
        tree = model.fit(sketches).tree_
        found = count_tree(tree, sketches)
        for name in ("count", "standard_error", "theta", "held"):
            np.testing.assert_array_equal(getattr(found, name), getattr(tree.estimates, name), f"{seed}")
        nodes += tree.node_count
    assert nodes > 1500


def test_held_out_folds_against_the_oracle():
    """Counts by definition, also where a branch holds no key."""
    nodes = 0
    for seed in range(120):
        _, sketches, model = problem(seed + 1000)
        grown_on, held_out = sketches.folds(3)[seed % 3]
        tree = model.fit(grown_on).tree_
        assert_as_defined(tree, held_out, seed)
        nodes += tree.node_count
    assert nodes > 1000


def assert_as_defined(tree, sketches, seed):
    found, expected = count_tree(tree, sketches), naive.count_tree(tree, sources(sketches))
    for node, (counts, theta, held) in enumerate(expected):
        n, variance = np.array(counts).T
        np.testing.assert_allclose(found.count[node], n, rtol=1e-9, atol=1e-9, err_msg=f"{seed} {node}")
        np.testing.assert_allclose(found.standard_error[node] ** 2, variance, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(found.theta[node], theta, rtol=1e-12)
        assert found.held[node] == held


def test_exact_folds_are_the_rows():
    """At θ = 1 a held-out fold's counts are those of its rows, routed as raw columns."""
    for seed in range(60):
        table, sketches, model = problem(seed + 5000, k=4096)
        grown_on, held_out = sketches.folds(4)[1]
        tree = model.fit(grown_on).tree_
        total = np.concatenate(
            [held_out.sketch(label)[0] for label in held_out.classes]
            if held_out.form == "per_class"
            else [held_out.sketch()[0]]
        )
        rows = np.isin(table.hashes, total)
        leaves = model.apply(raw(table)[rows])
        label_of = {False: 0, True: 1} if held_out.form == "one_vs_all" else None
        y = table.y[rows] if label_of is None else (table.y[rows] == table.y.max()).astype(int)
        counts = count_tree(tree, held_out)
        for leaf in np.flatnonzero(tree.is_leaf):
            expected = np.bincount(y[leaves == leaf], minlength=len(tree.classes))
            np.testing.assert_array_equal(counts.count[leaf], expected, f"{seed}, leaf {leaf}")
        assert not counts.standard_error.any()


def raw(table):
    columns = {}
    for name, (kind, values) in table.columns.items():
        columns[name] = [None if v is None else sorted(v) for v in values] if kind == "tags" else values
    return pd.DataFrame(columns)


def test_counts_add_up_at_every_split():
    for seed in range(40):
        _, sketches, model = problem(seed + 9000)
        grown_on, held_out = sketches.folds(2)[0]
        tree = model.fit(grown_on).tree_
        counts = count_tree(tree, held_out)
        for node in np.flatnonzero(~tree.is_leaf):
            children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
            np.testing.assert_allclose(counts.count[children].sum(axis=0), counts.count[node], atol=1e-9)
        assert (counts.count >= 0).all()


def test_multiway_splits_of_a_tree_from_elsewhere():
    """A branch per category: each against the rest."""
    rng = np.random.default_rng(3)
    table = Table(random_hashes(rng, 900), rng.integers(0, 2, 900))
    table.columns["color"] = ("category", np.array(list("rgb"))[rng.integers(0, 3, 900)].astype(object))
    table.columns["vip"] = ("flag", rng.integers(0, 2, 900).astype(np.int8))
    sketches = sketch_set(table, 64)
    base = tt.ThetaSketchDecisionTreeClassifier(significance=None).fit(sketches).tree_
    place = [f.name for f in base.features].index("color")
    tree = tt.Tree.from_arrays(multiway_arrays(place), base.features, base.classes, "gini")
    assert_as_defined(tree, sketches, 0)
    assert count_tree(tree, sketches).count[1:].sum() == pytest.approx(900, rel=0.3)


def multiway_arrays(place):
    leaf = {"kind": 0, "feature": -2, "threshold": -2.0, "missing_branch": -1, "score": np.nan}
    root = {"kind": 4, "feature": place, "threshold": np.nan, "missing_branch": 2, "score": 0.1}
    arrays = {name: np.array([root[name], *[value] * 3]) for name, value in leaf.items()}
    return arrays | {
        "child_start": np.array([0, 3, 3, 3, 3]),
        "child": np.array([1, 2, 3]),
        "category_start": np.array([0, 3, 3, 3, 3]),
        "category": np.array([0, 1, 2]),
        "category_branch": np.array([2, 0, 1]),
        "impurity": np.full(4, 0.5),
        "impurity_decrease": np.zeros(4),
        "weighted_n_node_samples": np.array([900.0, 300, 300, 300]),
        "n_node_samples": np.array([900, 300, 300, 300]),
        "value": np.full(8, 0.5),
    }


def customers(n=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n).astype(float),
            "color": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)],
            "vip": rng.integers(0, 2, n) == 1,
            "y": rng.integers(0, 2, n),
        }
    )


def test_a_tree_from_rows_is_counted_on_sketches_of_the_same_columns():
    frame = customers()
    frame["y"] = (frame["vip"] ^ (frame["color"] == "red")).astype(int)
    model = tt.CARTClassifier().fit(frame[["color", "vip"]], frame["y"])
    counts = count_tree(model.tree_, tt.sketch(frame[["id", "color", "vip", "y"]], key="id", target="y"))
    np.testing.assert_allclose(
        counts.count, model.tree_.values * model.tree_.weighted_n_node_samples[:, None], atol=1e-9
    )


def test_a_flag_that_rows_gave_as_a_number():
    frame = customers()
    frame["y"] = frame["vip"]
    model = tt.CARTClassifier(max_depth=1).fit(frame[["vip"]].astype(float), frame["y"])
    counts = count_tree(model.tree_, tt.sketch(frame[["id", "vip", "y"]], key="id", target="y"))
    ones = float(frame["vip"].sum())
    assert counts.count[1:].tolist() == [[400 - ones, 0.0], [0.0, ones]]


def test_threads_change_nothing():
    _, sketches, model = problem(4)
    tree = model.fit(sketches).tree_
    one, many = count_tree(tree, sketches, n_jobs=1), count_tree(tree, sketches, n_jobs=4)
    np.testing.assert_array_equal(one.count, many.count)


def test_labels_of_the_tree_for_classes_of_the_set():
    frame = customers()
    frame["y"] = np.where(frame["vip"], "yes", "no")
    sketches = tt.sketch(frame[["id", "vip", "y"]], key="id", target="y")
    rows = tt.CARTClassifier().fit(frame[["vip"]], frame["vip"].astype(int))  # classes 0 and 1
    by_order = count_tree(rows.tree_, sketches).count
    by_name = count_tree(rows.tree_, sketches, labels=[0, 1]).count
    swapped = count_tree(rows.tree_, sketches, labels=[1, 0]).count
    np.testing.assert_array_equal(by_order, by_name)
    np.testing.assert_array_equal(by_name[:, ::-1], swapped)


def wrong_inputs():
    frame = customers()
    frame["y"] = frame["vip"].astype(int)
    sketches = tt.sketch(frame[["id", "color", "vip", "y"]], key="id", target="y")
    grow = lambda columns, y: tt.CARTClassifier(max_depth=1).fit(frame[columns], y).tree_  # noqa: E731
    vip, age = frame["vip"], frame["age"]
    aged = tt.sketch(frame[["id", "age", "y"]], key="id", target="y", edges={"age": [30, 40]})
    purple = customers()
    purple["color"] = np.where(vip, "purple", "red")
    by_purple = tt.CARTClassifier(max_depth=1).fit(purple[["color"]], ~vip).tree_
    some = tt.SketchSet.from_sketches(
        {c: {"total": sketches_of(sketches, c), ("color", "red"): sketches_of(sketches, c)} for c in (0, 1)},
        kinds={"color": "category"},
    )
    return {
        "no sketch": (grow(["age"], vip), sketches, None, "'age', of which the set has no sketch"),
        "cut": (grow(["age"], age > 35), aged, None, r"cuts 'age' at .* its cuts are \[30.0, 40.0\]"),
        "classes": (grow(["vip"], frame["color"]), sketches, None, "the tree's classes are"),
        "labels": (grow(["vip"], vip), sketches, ["a", "b"], "give labels to match"),
        "kind": (
            tt.CARTClassifier().fit(frame[["vip"]].rename(columns={"vip": "color"}), vip.astype(int)).tree_,
            sketches,
            None,
            "tests 'color' as a flag; in the set it is a category",
        ),
        "category": (by_purple, some, [False, True], "'purple', of which the set has no sketch"),
        "numbers": (
            tt.CARTRegressor(max_depth=1).fit(frame[["age"]], age).tree_,
            sketches,
            None,
            "a regression tree cannot be counted",
        ),
    }


def sketches_of(sketches, label):
    from naive.sketch import Sketch, image

    return image(Sketch([int(h) for h in sketches.sketch(label)[0]]))


@pytest.mark.parametrize("case", list(wrong_inputs()))
def test_what_a_set_cannot_decide_is_named(case):
    tree, sketches, labels, message = wrong_inputs()[case]
    with pytest.raises(ValueError, match=message):
        count_tree(tree, sketches, labels)
