"""ThetaSketchDecisionTreeClassifier on sketch sets: kinds, forms, raw columns, missing values, files."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naive.sketch_tree import Table, image, random_hashes, sketch_set

import thetatree as tt
from thetatree import CARTClassifier
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree
from thetatree.tree.tree import SplitKind

GOLDEN = Path(__file__).parents[1] / "golden"


def people(n=4000, seed=1):
    """Every kind of column; the class depends on most of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "vip": rng.random(n) < 0.2,
            "age": rng.integers(18, 80, n).astype(float),
            "color": rng.choice(["red", "green", "blue", "grey"], n, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    has = rng.random((n, 3)) < [0.4, 0.3, 0.2]
    frame["tags"] = [[tag for tag, one in zip("abc", row, strict=True) if one] for row in has]
    score = 1.5 * frame.vip + (frame.age > 45) + (frame.color == "red") + 2.0 * has[:, 1] + rng.normal(size=n)
    frame["buys"] = np.where(score > 2, "yes", "no")
    return frame


PEOPLE = people()


def made(frame=PEOPLE, **kwargs):
    return tt.sketch(frame, key="id", target="buys", **kwargs)


def fitted(frame=PEOPLE, lg_k=13, bins=16, **parameters):
    return ThetaTree(**parameters).fit(made(frame, lg_k=lg_k, bins=bins))


def coded(frame, model):
    """The frame as CART reads it: tags as flags, numbers by the edges that the sketches know."""
    tags = {f"tags={t}": [t in own for own in frame.tags] for t in "abc"}
    columns = {**{name: frame[name] for name in ("age", "color", "vip")}, **tags}
    return pd.DataFrame({f.name: columns[f.name] for f in model.tree_.features})


# Raw columns


def test_raw_columns_reach_the_leaves_that_counted_them():
    model = fitted(max_depth=6)
    leaves = model.apply(PEOPLE)
    tree = model.tree_
    for leaf in np.flatnonzero(tree.is_leaf):
        assert (leaves == leaf).sum() == tree.n_node_samples[leaf]
        assert tree.values[leaf, 1] == pytest.approx((PEOPLE.buys[leaves == leaf] == "yes").mean())
    assert {int(kind) for kind in tree.kind} == {0, 1, 2, 3}


def test_other_columns_and_their_order_do_not_matter():
    model = fitted(max_depth=6)
    expected = model.predict_proba(PEOPLE)
    turned = PEOPLE[list(reversed(PEOPLE.columns))].assign(more="x")
    assert np.array_equal(model.predict_proba(turned), expected)
    assert np.array_equal(model.predict_proba(PEOPLE[["tags", "color", "vip", "age"]]), expected)


@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_every_library(library):
    model = fitted(max_depth=6)
    assert np.array_equal(model.predict(library(PEOPLE)), model.predict(PEOPLE))


def test_names_of_features():
    model = fitted()
    names = ["age", "color", "tags=a", "tags=b", "tags=c", "vip"]
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == 6
    assert model.feature_importances_.shape == (6,)
    assert model.classes_.tolist() == ["no", "yes"]


def test_tags_given_one_by_one():
    model = fitted(max_depth=6)
    flags = PEOPLE.drop(columns="tags").assign(
        **{f"tags={t}": [int(t in own) for own in PEOPLE.tags] for t in "abc"}
    )
    assert np.array_equal(model.predict(flags), model.predict(PEOPLE))


def test_matrix_of_columns_in_the_order_of_features():
    model = fitted(max_depth=6)
    matrix = coded(PEOPLE, model).to_numpy(dtype=object)
    assert np.array_equal(model.predict(matrix), model.predict(PEOPLE))
    with pytest.raises(ValueError, match=r"5 features.*expecting 6"):
        model.predict(matrix[:, :5])
    with pytest.raises(ValueError, match=r"7 features.*expecting 6"):
        model.predict(np.column_stack([matrix, matrix[:, 0]]))


def test_mapping_on_raw_columns():
    """A mapping may name numbers and categories as well: their column holds the raw value."""
    sketches = made(lg_k=13, bins=16)
    model = ThetaTree(max_depth=5).fit(sketches, {"color": 3, "vip": 0, "age": 1})
    X = np.empty((len(PEOPLE), 4), object)
    X[:, 0], X[:, 1], X[:, 3] = PEOPLE.vip, PEOPLE.age, PEOPLE.color
    by_name = ThetaTree(max_depth=5).fit(sketches.select(["color", "vip", "age"]))
    assert [f.name for f in model.tree_.features] == ["vip", "age", "color"]
    assert np.array_equal(model.predict(X), by_name.predict(PEOPLE))
    assert model.feature_importances_[2] == 0


def test_mapping_tells_tags_apart():
    """Two tags are two flags: no column of a matrix can be both."""
    sketches = made(lg_k=13).select(["tags"])
    try:
        model = ThetaTree().fit(sketches, {"tags": 0})
    except ValueError as error:
        assert "tags" in str(error)
    else:
        lists = np.empty((len(PEOPLE), 1), object)
        lists[:, 0] = list(PEOPLE.tags)
        assert np.array_equal(model.predict(lists), ThetaTree().fit(sketches).predict(PEOPLE))


def test_missing_column():
    with pytest.raises(ValueError, match="no column 'age'"):
        fitted().predict(PEOPLE.drop(columns="age"))
    with pytest.raises(ValueError, match="no column 'tags=a'"):
        fitted().predict(PEOPLE.drop(columns="tags"))


# Kinds


def test_binned_numbers_keep_their_edges():
    model = fitted(max_depth=4)
    tree = model.tree_
    cuts = tree.threshold[tree.kind == SplitKind.THRESHOLD]
    assert len(cuts) and set(cuts) <= set(made(lg_k=13, bins=16).edges["age"])
    at = float(cuts[0])
    rows = PEOPLE.iloc[[0, 0, 0]].assign(age=[at, np.nextafter(at, 100), at - 1])
    node = int(np.flatnonzero(tree.threshold == at)[0])
    model = ThetaTree(max_depth=1).fit(made(lg_k=13, edges={"age": [at]}).select(["age"]))
    left, right = model.tree_.children_left[0], model.tree_.children_right[0]
    assert model.apply(rows).tolist() == [left, right, left]
    assert node >= 0


def test_thresholds_that_were_nested_sets():
    """Cuts given as sketches, without any rows' numbers: "<=20" inside "<=30" inside "<=40"."""
    rng = np.random.default_rng(3)
    hashes, x = random_hashes(rng, 3000), rng.integers(0, 50, 3000)
    y = (x > 20) & (x <= 40)
    parts = {
        c: {
            "total": image(hashes[y == c], 256),
            **{("x", f"<={e}"): image(hashes[(y == c) & (x <= e)], 256) for e in (20, 30, 40)},
        }
        for c in (False, True)
    }
    model = ThetaTree().fit(tt.SketchSet.from_sketches(parts))
    assert model.score(pd.DataFrame({"x": x}), y) == 1
    assert model.classes_.tolist() == [False, True]
    assert sorted(model.tree_.threshold[~model.tree_.is_leaf]) == [20, 40]


def test_rare_categories_are_other():
    rng = np.random.default_rng(4)
    n = 2000
    color = np.where(rng.random(n) < 0.8, rng.choice(["x", "y"], n), rng.integers(0, 300, n).astype(str))
    frame = pd.DataFrame({"id": np.arange(n), "color": color})
    frame["buys"] = np.where(frame.color.isin(["x", "y"]), "no", "yes")
    model = ThetaTree().fit(made(frame, max_categories=2))
    assert model.tree_.features[0].labels == ("other", "x", "y")
    assert model.score(frame, frame.buys) == 1
    asked = pd.DataFrame({"color": ["never seen", "other", "x", "17", None]})
    assert model.predict(asked).tolist() == ["yes", "yes", "no", "yes", "no"]


def test_unseen_categories_follow_the_majority_where_there_is_no_other():
    model = ThetaTree(max_depth=1).fit(made(lg_k=13).select(["color"]))
    heavier = model.tree_.child[model.tree_.missing_branch[0]]
    assert model.apply(pd.DataFrame({"color": ["pink", None]})).tolist() == [heavier, heavier]
    assert model.tree_.n_node_samples[heavier] >= len(PEOPLE) / 2


@pytest.mark.parametrize("odd", ["d", "a"])
def test_keys_of_none_of_the_categories(odd):
    """Some keys have a value that no sketch is of; the counts have them, and so must predicting."""
    rng = np.random.default_rng(5)
    hashes = random_hashes(rng, 2000)
    color = np.array(list("abcd"), object)[rng.integers(0, 4, 2000)]
    y = (color == odd).astype(int)
    parts = {
        c: {
            "total": image(hashes[y == c], 10_000),
            **{("color", t): image(hashes[(y == c) & (color == t)], 10_000) for t in "abc"},
        }
        for c in (0, 1)
    }
    model = ThetaTree().fit(tt.SketchSet.from_sketches(parts, kinds={"color": "category"}))
    assert model.get_n_leaves() == 2
    assert model.tree_.values.max(axis=1)[1:].tolist() == [1, 1]
    assert model.score(pd.DataFrame({"color": color}), y) == 1


@pytest.mark.parametrize(
    "values",
    [[0, 1, 2], [0.0, 0.5, 1.0], [False, True, True], ["0", "1", "2"], [1.5, -3.0, 1e20]],
    ids=["ints", "floats", "bools", "texts", "odd floats"],
)
def test_categories_of_every_type(values):
    n = 900
    frame = pd.DataFrame({"id": np.arange(n), "c": np.array(values)[np.arange(n) % 3]})
    frame["buys"] = np.where(frame.c == values[1], "yes", "no")
    model = ThetaTree().fit(made(frame, features={"c": "category"}))
    assert model.score(frame, frame.buys) == 1
    assert model.score(frame.astype({"c": object}), frame.buys) == 1


@pytest.mark.parametrize(
    "tags",
    [["a", "b"], [1, 2], [1.0, 2.0], [1.5, 2.5], [True, False]],
    ids=["texts", "ints", "whole floats", "floats", "bools"],
)
def test_tags_of_every_type(tags):
    """A tag is the same in the builder and in predict, whatever its type."""
    n = 900
    lists = [[], tags[:1], tags[1:], tags]
    frame = pd.DataFrame({"id": np.arange(n), "t": [lists[i % 4] for i in range(n)]})
    frame["buys"] = np.where(np.arange(n) % 4 == 1, "yes", "no")
    model = ThetaTree().fit(made(frame, features={"t": "multi"}))
    assert model.get_n_leaves() == 3
    assert model.score(frame, frame.buys) == 1


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA], ids=["None", "nan", "NA"])
def test_missing_tags(nothing):
    model = ThetaTree(max_depth=1).fit(made(lg_k=13).select(["tags"]))
    heavier = model.tree_.child[model.tree_.missing_branch[0]]
    asked = pd.DataFrame({"tags": pd.Series([nothing, ["b"], []], dtype=object)})
    leaves = model.apply(asked)
    assert leaves[0] == heavier
    assert leaves[1] == model.tree_.children_left[0] and leaves[2] == model.tree_.children_right[0]


def test_a_text_is_no_list_of_tags():
    """One tag written as plain text is that tag, or is refused; it is not its letters."""
    frame = PEOPLE.assign(tags=[["big"] if "b" in own else ["bit", "g"] for own in PEOPLE.tags])
    model = ThetaTree(max_depth=2).fit(made(frame, lg_k=13).select(["tags"]))
    try:
        leaf = model.apply(pd.DataFrame({"tags": ["big"]}))
    except (TypeError, ValueError) as error:
        assert "tags" in str(error)
    else:
        assert leaf == model.apply(pd.DataFrame({"tags": [["big"]]}))


# Missing values


def with_gaps(frame, seed=2):
    rng = np.random.default_rng(seed)
    out = frame.copy()
    out["vip"] = out.vip.astype("boolean").mask(rng.random(len(out)) < 0.3)
    out["age"] = out.age.mask(rng.random(len(out)) < 0.2)
    out["color"] = out.color.astype(object).mask(rng.random(len(out)) < 0.25, None)
    out["tags"] = [
        None if gone else own for gone, own in zip(rng.random(len(out)) < 0.1, out.tags, strict=True)
    ]
    return out


def test_missing_rows_reach_the_leaves_that_counted_them():
    frame = with_gaps(PEOPLE)
    model = fitted(frame, max_depth=6)
    leaves = model.apply(frame)
    tree = model.tree_
    for leaf in np.flatnonzero(tree.is_leaf):
        assert (leaves == leaf).sum() == tree.n_node_samples[leaf]
        assert tree.values[leaf, 1] == pytest.approx((frame.buys[leaves == leaf] == "yes").mean())
    assert all(feature.gaps for feature in tree.features)


def test_missing_joins_the_heavier_side():
    frame = with_gaps(PEOPLE)
    tree = fitted(frame, max_depth=6).tree_
    inner = np.flatnonzero(~tree.is_leaf)
    for node in inner:
        lighter, heavier = sorted(
            (tree.children_left[node], tree.children_right[node]),
            key=lambda child: tree.n_node_samples[child],
        )
        missing = tree.child[tree.child_start[node] + tree.missing_branch[node]]
        # With its missing keys the heavier side stays the heavier one.
        assert tree.n_node_samples[missing] >= tree.n_node_samples[lighter]
        assert missing == heavier or tree.n_node_samples[heavier] == tree.n_node_samples[lighter]


def test_missing_is_not_absent():
    """A flag known for half of the keys: its absent side is the known ones without it."""
    rng = np.random.default_rng(6)
    n = 4000
    flag = (rng.random(n) < 0.5).astype(np.int8)
    known = rng.random(n) < 0.5
    table = Table(random_hashes(rng, n), (flag ^ (rng.random(n) < 0.05)).astype(int))
    table.columns["g"] = ("flag", np.where(known, flag, -1))
    for k in (10_000, 512):
        tree = ThetaTree(max_depth=1).fit(sketch_set(table, k)).tree_
        side = 1 - tree.missing_branch[0]
        child = tree.child[side]
        mask = known & (flag == (1 if side == 0 else 0))
        counts, errors = tree.estimates.count[child], tree.estimates.standard_error[child]
        truth = np.array([(mask & (table.y == c)).sum() for c in (0, 1)])
        assert np.all(np.abs(counts - truth) <= 4 * errors + 1e-9)
        assert (k == 512) == bool(errors.any())


def test_gaps_are_told_in_the_text():
    text = tt.export.to_text(fitted(with_gaps(PEOPLE), max_depth=2))
    assert " or missing" in text
    assert " or missing" not in tt.export.to_text(fitted(max_depth=2))


# More classes, and the class-free form


def three_classes(n=6000, seed=8):
    frame = people(n, seed)
    frame["buys"] = np.select([frame.vip, frame.age > 50], ["gold", "silver"], "bronze")
    flip = np.random.default_rng(seed).random(n) < 0.1
    frame.loc[flip, "buys"] = "bronze"
    return frame


@pytest.mark.parametrize("criterion", [c for c in tt.split.criteria.CLASSIFICATION if c != "binomial"])
@pytest.mark.parametrize("lg_k", [10, 13])
def test_three_classes(criterion, lg_k):
    frame = three_classes()
    model = fitted(frame, lg_k=lg_k, criterion=criterion, max_depth=4)
    assert model.classes_.tolist() == ["bronze", "gold", "silver"]
    proba = model.predict_proba(frame)
    assert proba.shape == (len(frame), 3) and np.allclose(proba.sum(axis=1), 1)
    assert model.score(frame, frame.buys) > 0.88


def test_binomial_is_for_two_classes():
    with pytest.raises(ValueError, match=r"binomial.*3.*chi_square"):
        fitted(three_classes(), criterion="binomial")


def test_class_weights_of_three():
    frame = three_classes()
    model = fitted(frame, class_weight={"gold": 10, "silver": 0.5}, max_depth=3)
    n = frame.buys.value_counts()[["bronze", "gold", "silver"]].to_numpy() * [1, 10, 0.5]
    assert np.allclose(model.tree_.values[0], n / n.sum())
    with pytest.raises(ValueError, match="'iron'"):
        fitted(frame, class_weight={"iron": 1})


@pytest.mark.parametrize("lg_k", [11, 13])
def test_class_free(lg_k):
    sketches = tt.sketch(PEOPLE, key="id", target="buys", lg_k=lg_k, bins=16, form="class_free")
    model = ThetaTree(max_depth=4).fit(sketches)
    assert model.classes_.tolist() == ["no", "yes"]
    if lg_k == 13:
        assert model.tree_ == fitted(max_depth=4).tree_
    else:
        assert model.get_n_leaves() > 2
        assert model.score(PEOPLE, PEOPLE.buys) > fitted(max_depth=4).score(PEOPLE, PEOPLE.buys) - 0.06


def test_one_vs_all_set_has_the_class_and_the_rest():
    rng = np.random.default_rng(7)
    n = 2000
    flag = (rng.random(n) < 0.4).astype(np.int8)
    table = Table(random_hashes(rng, n), np.where(flag ^ (rng.random(n) < 0.1), 1, 0))
    table.columns["g"] = ("flag", flag)
    model = ThetaTree().fit(sketch_set(table, 10_000, "one_vs_all"))
    assert model.classes_.tolist() == ["rest", 1]  # a label stays what it was, whatever stands beside it
    assert set(model.predict(pd.DataFrame({"g": [1, 0]})).tolist()) == {"rest", 1}
    assert model.tree_.estimates.count[0].tolist() == [(table.y == 0).sum(), (table.y == 1).sum()]


# How good it is


def test_within_a_few_points_of_the_exact_tree():
    """100k keys, 40 flags, lg_k 12; judged on rows that neither saw."""
    rng = np.random.default_rng(9)
    n = 100_000

    def draw(size):
        flags = rng.random((size, 40)) < np.linspace(0.02, 0.6, 40)
        weights = np.zeros(40)
        weights[[3, 8, 15, 20, 26, 31, 36]] = [2, -1.5, 1.5, -1, 1.2, -1.2, 1]
        z = flags @ weights + 1.5 * (flags[:, 36] & flags[:, 20]) - 1.2
        return flags, (rng.random(size) < 1 / (1 + np.exp(-z))).astype(int)

    flags, y = draw(n)
    test_flags, test_y = draw(20_000)
    table = Table(random_hashes(rng, n), y)
    table.columns = {f"f{j:02}": ("flag", flags[:, j].astype(np.int8)) for j in range(40)}
    limits = {"max_depth": 6, "min_samples_leaf": 100}
    model = ThetaTree(**limits).fit(sketch_set(table, 4096), {f"f{j:02}": j for j in range(40)})
    exact = CARTClassifier(**limits).fit(flags, y)
    ours, best = (m.score(test_flags, test_y) for m in (model, exact))
    assert best > max(test_y.mean(), 1 - test_y.mean()) + 0.05
    assert ours > best - 0.02
    gap = np.abs(model.predict_proba(test_flags)[:, 1] - exact.predict_proba(test_flags)[:, 1])
    assert gap.mean() < 0.06


# Text, tables, files


def golden_model():
    frame = with_gaps(people(40_000, 11))
    return fitted(frame, lg_k=10, bins=8, max_depth=3)


def test_golden():
    text = tt.export.to_text(golden_model()) + "\n"
    path = GOLDEN / "to_text_sketch_tree.txt"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_text_shows_errors_where_there_are_any():
    model = golden_model()
    lines = tt.export.to_text(model).splitlines()
    assert "keys" in lines[0]
    errors = model.tree_.estimates.node_error
    for node, line in enumerate(lines[1:]):
        assert f"± {1.96 * errors[node]:,.0f})" in line
        assert f"n = {model.tree_.n_node_samples[node]:,} ±" in line
    exact = tt.export.to_text(fitted())
    assert "±" not in exact


def test_only_exact_counts_have_no_error():
    """The totals are exact, and every key of one class that is seen goes left: others need not."""
    n = 60_000
    keys = np.arange(n)
    rows = pd.DataFrame(
        {"id": keys, "f": (keys % 3 == 0) | (keys % 40 == 1), "y": (keys % 3 == 0).astype(int)}
    )
    table = tt.sketch(rows, "id", "y", lg_k=9).to_arrow().replace_schema_metadata(None)
    counts = [40_000 if row["class"] == "0" else 20_000 for row in table.to_pylist()]
    totals = [
        n if feature is None else None
        for n, feature in zip(counts, table["feature"].to_pylist(), strict=True)
    ]
    made_of = tt.SketchSet.read(
        table.set_column(table.column_names.index("n"), "n", pa.array(totals, pa.int64()))
    )
    tree = ThetaTree().fit(made_of).tree_
    one = 1  # the class
    left = int(tree.children_left[0])
    assert tree.estimates.count[left, one] == 20_000
    assert tree.estimates.standard_error[left, one] == 0
    lower, upper = tree.estimates.interval()
    assert lower[left, one] < 20_000 <= upper[left, one]
    assert (lower[0] == upper[0]).all()
    assert tree.estimates.margin[0] == 0
    assert (tree.estimates.margin[1:] > 0).all()
    text = tt.export.to_text(tree).splitlines()
    assert "±" not in text[1]
    assert all("±" in line for line in text[2:])


def test_rules_and_frame():
    model = golden_model()
    rules = model.tree_.rules()
    assert len(rules) == model.get_n_leaves()
    assert all(rule.conditions and rule.prediction in ("no", "yes") for rule in rules)
    frame = model.tree_.to_frame()
    assert len(frame) == model.tree_.node_count
    assert {"n", "share_no", "share_yes", "split"} <= set(frame.columns)
    assert frame.n.tolist() == model.tree_.n_node_samples.tolist()
    assert np.allclose(frame.share_no + frame.share_yes, 1)
    leaves = frame[frame.feature.isna()]
    assert leaves.n.sum() == pytest.approx(frame.n[0], abs=len(leaves))


def test_save_load_and_pickle(tmp_path):
    model = golden_model()
    path = tmp_path / "model.json"
    model.save(path)
    asked = with_gaps(people(500, 12))
    for copy in (tt.load(path), pickle.loads(pickle.dumps(model))):
        assert copy.tree_ == model.tree_
        assert np.array_equal(copy.predict_proba(asked), model.predict_proba(asked))
        assert copy.feature_names_in_.tolist() == model.feature_names_in_.tolist()
        assert copy.tree_.features == model.tree_.features
        assert tt.export.to_text(copy) == tt.export.to_text(model)


def test_pruned_trees_keep_their_errors():
    tree = golden_model().tree_
    pruned = tree.prune(ccp_alpha=0.01)
    assert 1 <= pruned.n_leaves < tree.n_leaves
    assert np.array_equal(pruned.estimates.count[0], tree.estimates.count[0])
    assert len(pruned.estimates.held) == pruned.node_count
    assert "±" in tt.export.to_text(pruned)


def test_merged_parts_give_the_tree_of_the_whole():
    whole = made(lg_k=10, edges={"age": [30, 45, 60]})
    parts = [made(PEOPLE.iloc[i::3], lg_k=10, edges={"age": [30, 45, 60]}) for i in range(3)]
    merged = parts[2].merge(parts[0], parts[1])
    # Merging forgets which sets are exact by count alone; the sketches are the same.
    assert ThetaTree().fit(merged).tree_ == ThetaTree().fit(whole).tree_


def test_merged_days_whose_absent_is_no_complement():
    """Absent on Monday, present on Tuesday: present wins, and the absent sketch tells nothing more."""
    rng = np.random.default_rng(13)
    n = 3000
    hashes, y = random_hashes(rng, n), rng.integers(0, 2, n)
    monday, tuesday = (rng.random(n) < 0.2 + 0.3 * y for _ in range(2))
    ever = monday | tuesday

    def day(flag, absent):
        return tt.SketchSet.from_sketches(
            {
                c: {
                    "total": image(hashes[y == c], 512),
                    "g": (image(hashes[(y == c) & flag], 512), image(hashes[(y == c) & absent], 512)),
                }
                for c in (0, 1)
            },
            lg_k=9,
        )

    merged = day(monday, ~monday).merge(day(tuesday, ~tuesday))
    tree = ThetaTree(max_depth=1, significance=None).fit(merged).tree_
    present = tree.children_left[0]
    counts, errors = tree.estimates.count[present], tree.estimates.standard_error[present]
    truth = np.array([(ever & (y == c)).sum() for c in (0, 1)])
    assert np.all(np.abs(counts - truth) <= 4 * errors + 1e-9)


def test_the_set_is_left_as_it_was():
    sketches = made(lg_k=10)
    before = sketches.to_arrow()
    ThetaTree().fit(sketches)
    assert sketches.to_arrow().equals(before)


def test_exact_totals_of_the_long_table_are_taken():
    """A total's n makes the root exact, and with it the sum over each level."""
    table = made(lg_k=8).to_arrow().to_pydict()
    truth = PEOPLE.buys.value_counts()
    pairs = zip(table["class"], table["feature"], strict=True)
    table["n"] = [int(truth[label]) if feature is None else None for label, feature in pairs]
    kinds = {"age": "threshold", "color": "category", "tags": "multi", "vip": "flag"}
    tree = ThetaTree(max_depth=2).fit(tt.SketchSet.read(pa.table(table), kinds=kinds)).tree_
    assert tree.estimates.count[0].tolist() == [truth["no"], truth["yes"]]
    assert tree.estimates.standard_error[0].tolist() == [0, 0]
    assert (tree.estimates.standard_error[1:] > 0).any(axis=1).all()
    assert np.allclose(tree.estimates.count[tree.is_leaf].sum(axis=0), tree.estimates.count[0], rtol=1e-9)


def test_a_class_without_weight_is_not_split_for():
    """As from rows: where one class has all the weight, nothing is left to tell apart."""
    model = fitted(class_weight={"yes": 0})
    rows = CARTClassifier(class_weight={"yes": 0}).fit(PEOPLE[["vip", "age"]], PEOPLE.buys)
    assert rows.get_n_leaves() == 1
    assert model.get_n_leaves() == 1
    assert model.predict_proba(PEOPLE[:2]).tolist() == [[1, 0], [1, 0]]


def test_tags_that_are_no_lists_are_named():
    with pytest.raises((TypeError, ValueError), match="tags"):
        fitted().predict(PEOPLE.assign(tags=1))


@pytest.mark.parametrize("as_list", [list, tuple, set, frozenset, np.array])
def test_any_list_of_tags(as_list):
    model = fitted(max_depth=6)
    asked = PEOPLE.assign(tags=[as_list(own) for own in PEOPLE.tags])
    assert np.array_equal(model.predict(asked), model.predict(PEOPLE))


def test_a_tree_of_each_fold():
    for rest, fold in made(lg_k=13).folds(3):
        parts = [ThetaTree(max_depth=2).fit(one).tree_.estimates.count[0] for one in (rest, fold)]
        assert np.array_equal(parts[0] + parts[1], [(PEOPLE.buys == c).sum() for c in ("no", "yes")])
