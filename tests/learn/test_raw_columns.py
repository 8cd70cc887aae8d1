"""Columns given to a sketch tree: written as the builder writes them, read where the tree needs them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from naive.sketch_tree import image, random_hashes

import thetatree as tt
from thetatree import ThetaSketchDecisionTreeClassifier as ThetaTree

LISTS = [[], ["a"], ["b"], ["a", "b"]]


def tagged(n=800):
    """ "a" without "b" buys."""
    which = np.arange(n) % 4
    frame = pd.DataFrame({"id": np.arange(n), "tag": [LISTS[i] for i in which]})
    return frame.assign(buys=np.where(which == 1, "yes", "no"))


def tag_tree(mapping=None):
    made = tt.sketch(tagged(), key="id", target="buys", features={"tag": "multi"})
    return ThetaTree().fit(made, mapping)


def objects(items):
    column = np.empty(len(items), object)
    column[:] = items
    return column


# Categories


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool, "Float64", "category", object])
def test_builder_and_predict_write_categories_alike(dtype):
    """Every value is told from the others, whole floats, great ones and short ones included."""
    values = [1e20, 0.1, -3.0, 1e-7, 2.0] if "loat" in str(dtype) else [1, 0, 7, -3, 10**12]
    values = [True, False] if dtype is bool else values
    n = 150 * len(values)
    frame = pd.DataFrame({"id": np.arange(n), "c": pd.Series(values * 150).astype(dtype)})
    frame["buys"] = [f"y{i % len(values)}" for i in range(n)]
    made = tt.sketch(frame, key="id", target="buys", features={"c": "category"})
    model = ThetaTree().fit(made)
    assert model.get_n_leaves() == len(values)
    assert model.score(frame, frame.buys) == 1
    assert model.score(frame[["c"]].to_numpy(), frame.buys) == 1
    assert np.array_equal(model.predict(pl.from_pandas(frame)), frame.buys)


def test_a_category_beside_values_of_other_types():
    frame = pd.DataFrame({"id": np.arange(300), "c": np.array(["r", "g", "b"])[np.arange(300) % 3]})
    frame["buys"] = np.where(frame.c == "r", "yes", "no")
    model = ThetaTree().fit(tt.sketch(frame, key="id", target="buys"))
    asked = pd.DataFrame({"c": objects(["r"] * 200 + [1, 2.5, True, None, np.nan, ""])})
    assert model.predict(asked).tolist() == ["yes"] * 200 + ["no"] * 6
    with pytest.raises(ValueError, match="'c'"):
        model.predict(pd.DataFrame({"c": objects(["r", ["g"]])}))


FORMS = ["per_class", "one_vs_all", "class_free"]


def odd_colors(form, k, share=0.3, seed=5):
    """Colors a, b and c have sketches, d has none; d is a class of its own but for some noise."""
    rng = np.random.default_rng(seed)
    n = 6000
    hashes = random_hashes(rng, n)
    color = rng.choice(list("abcd"), n, p=[(1 - share) * s for s in (0.5, 0.3, 0.2)] + [share])
    y = ((color == "d") ^ (rng.random(n) < 0.1)).astype(int)

    def part(mask):
        values = {("color", t): image(hashes[mask & (color == t)], k) for t in "abc"}
        return {"total": image(hashes[mask], k), **values}

    whole = np.ones(n, bool)
    parts = {
        "per_class": lambda: {c: part(y == c) for c in (0, 1)},
        "one_vs_all": lambda: {1: part(y == 1), None: part(whole)},
        "class_free": lambda: {
            None: part(whole),
            **{c: {"total": image(hashes[y == c], k)} for c in (0, 1)},
        },
    }[form]()
    made = tt.SketchSet.from_sketches(parts, kinds={"color": "category"})
    return ThetaTree().fit(made), pd.DataFrame({"color": color}), y


@pytest.mark.parametrize("k", [10_000, 512])
@pytest.mark.parametrize("form", FORMS)
def test_what_is_counted_as_none_of_the_categories_is_predicted_so(form, k, tmp_path):
    model, X, y = odd_colors(form, k)
    tree = model.tree_
    assert tree.features[0].unlisted
    assert np.mean(model.predict(X) == model.classes_[y]) == pytest.approx(0.9, abs=0.02)
    leaves = model.apply(X)
    if k == 10_000:
        for leaf in np.flatnonzero(tree.is_leaf):
            assert (leaves == leaf).sum() == tree.n_node_samples[leaf]
    assert np.array_equal(tree.apply(X), leaves)
    model.save(tmp_path / "model.json")
    again = tt.load(tmp_path / "model.json")
    assert again.tree_ == tree and again.tree_.features == tree.features
    assert np.array_equal(again.apply(X), leaves)


@pytest.mark.parametrize("k", [10_000, 512])
@pytest.mark.parametrize("form", FORMS)
def test_where_every_key_has_a_category_an_unseen_one_is_missing(form, k):
    model, X, _ = odd_colors(form, k, share=0.0)
    assert not model.tree_.features[0].unlisted
    rest = X.assign(color="d").iloc[:1]
    assert np.array_equal(model.apply(rest), model.apply(rest.assign(color=None)))


# Tags


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (objects(LISTS), "no yes no no"),
        (objects(["a", "b", ["a"], ""]), "yes no yes no"),
        (objects(["a", "b"]), "yes no"),
        (pd.Categorical(["a", "b"]), "yes no"),
        (objects([("b", "a"), {"a"}, frozenset("b"), np.array(["a"])]), "no yes no yes"),
        (objects([np.array([]), np.array([np.nan]), [None, "a"], ["a", 1], ["A", "b "]]), "no no yes yes no"),
        (objects([None, np.nan, pd.NA]), "no no no"),
        (np.array([np.nan, np.nan]), "no no"),
    ],
    ids=lambda given: None if isinstance(given, str) else "",
)
def test_tags_given_as(given, expected):
    assert tag_tree().predict(pd.DataFrame({"tag": given})).tolist() == expected.split()


def test_tags_of_polars():
    model = tag_tree()
    lists = pl.DataFrame({"tag": [["a"], None, [], ["b", "a"]]})
    sets = pl.DataFrame({"tag": pl.Series([{"a"}, {"b"}], dtype=pl.Object)})
    assert model.predict(lists).tolist() == ["yes", "no", "no", "no"]
    assert model.predict(sets).tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    "given", [[1, 2], [["a"], 5], [{"a": 1}], [[["a"]]], [["a", {"b": 1}]], [True, False], [0.0, np.nan]]
)
def test_what_is_no_tag_is_refused_by_name(given):
    with pytest.raises((TypeError, ValueError), match="'tag'"):
        tag_tree().predict(pd.DataFrame({"tag": pd.Series(objects(given)).infer_objects()}))


def test_a_mapping_to_a_column_of_lists(tmp_path):
    """All tags of a feature are read from its one column, before and after saving."""
    model = tag_tree({"tag": 1})
    X = np.empty((5, 3), object)
    X[:, 1] = [["a"], [], ["a", "b"], None, "a"]
    X[:, 2] = [object()] * 5  # not looked at
    expected = ["yes", "no", "no", "no", "yes"]
    model.save(tmp_path / "model.json")
    for one in (model, tt.load(tmp_path / "model.json")):
        assert one.n_features_in_ == 2
        assert one.predict(X).tolist() == expected
        assert one.predict(pd.DataFrame(X, columns=["x", "y", "z"])).tolist() == expected
        assert one.feature_importances_.tolist() == [0, 1]
        with pytest.raises((TypeError, ValueError), match="'tag'"):
            one.predict(np.ones((2, 2)))


def test_a_tag_may_have_the_sign_in_it():
    """ "x=1" in "tag" is not "1" in "tag=x", even where there is a column of that name."""
    n = 400
    frame = pd.DataFrame({"id": np.arange(n), "tag": [["x=1"] if i % 2 else ["y"] for i in range(n)]})
    frame["buys"] = np.where(np.arange(n) % 2, "yes", "no")
    model = ThetaTree().fit(tt.sketch(frame, key="id", target="buys"))
    assert model.score(frame.assign(**{"tag=x": [["1"]] * n, "t": 0}), frame.buys) == 1


# The rest


def test_labels_of_two_types_stay_what_they_were(tmp_path):
    model, X, _ = odd_colors("one_vs_all", 10_000)
    model.save(tmp_path / "model.json")
    for one in (model, tt.load(tmp_path / "model.json")):
        assert one.classes_.tolist() == ["rest", 1]
        assert set(one.predict(X).tolist()) == {"rest", 1}
        assert one.tree_.classes == ("rest", 1)


def test_a_table_without_rows_is_refused():
    for mapping in (None, {"tag": 0}):
        with pytest.raises(ValueError, match="0 sample"):
            tag_tree(mapping).predict(pd.DataFrame({"tag": []}))
