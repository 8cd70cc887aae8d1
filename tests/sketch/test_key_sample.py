"""Key samples: the rows of the least hashes, however they come, and what grows from them."""

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.sketch import KeySample, SketchError, SketchFormatError
from thetatree.sketch.keys import KeyHasher

FEATURES = ["vip", "age", "colour"]


def rows(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "id": np.arange(n) + seed * n,
            "vip": pd.array(rng.random(n) < 0.1, dtype="boolean"),
            "age": rng.normal(40, 10, n).round(1),
            "colour": rng.choice(["red", "blue", "青"], n),
        }
    )
    X.loc[rng.random(n) < 0.05, "vip"] = pd.NA
    X.loc[rng.random(n) < 0.05, "age"] = np.nan
    rate = 0.1 + 0.5 * X["vip"].fillna(False).astype(float) + 0.3 * (X["age"] > 50)
    X["buys"] = np.where(rng.random(n) < rate, "yes", "no")
    X["spent"] = 100 * rate + rng.normal(0, 5, n)
    return X


def sample(X, target="buys", lg_k=9, **options):
    return tt.sketch(X, key="id", target=target, features=FEATURES, form="keys", lg_k=lg_k, **options)


def test_the_least_keys_of_each_class():
    X = rows()
    made = sample(X)
    hashes = KeyHasher("id", 9001, None)(X["id"].to_numpy())
    for label, theta in made.theta.items():
        own = np.sort(hashes[X["buys"] == label])
        assert theta == own[512]
        held = np.sort(made.hashes()[made.table.column("buys").to_numpy(zero_copy_only=False) == label])
        np.testing.assert_array_equal(held, own[:512])
    assert made.classes == ("no", "yes")
    assert len(made) == 1024


def test_order_parts_and_repeats_do_not_show(tmp_path):
    X = rows()
    whole = sample(X)
    assert sample(X.sample(frac=1, random_state=1)) == whole
    parts = [sample(X[X["id"] % 3 == i]) for i in range(3)]
    assert parts[0].merge(*parts[1:]) == whole
    assert whole.merge(whole, parts[1]) == whole
    assert sample(pd.concat([X, X])) == whole
    assert sample(lambda: iter([X[:7000], X[7000:]])) == whole
    whole.write(tmp_path / "keys.parquet")
    assert KeySample.read(tmp_path / "keys.parquet") == whole
    assert sample(X, lg_k=16).theta == {"no": (1 << 63) - 1, "yes": (1 << 63) - 1}


def test_sketches_of_a_sample_are_those_of_the_rows_below_theta():
    X = rows()
    made = sample(X)
    inside = made.sketch_set(edges={"age": [35, 50]})
    whole = tt.sketch(X, "id", "buys", FEATURES, edges={"age": [35, 50]}, lg_k=20)
    assert inside.features == whole.features
    for label in ("no", "yes"):
        for feature, value in ((None, None), ("vip", "1"), ("vip", None), ("age", "<=35"), ("colour", "青")):
            held, theta = inside.sketch(label, feature, value)
            every, _ = whole.sketch(label, feature, value)
            np.testing.assert_array_equal(held, every[every < made.theta[label]])
            assert theta == pytest.approx(made.theta[label] / 2**63)


@pytest.mark.parametrize(
    "make",
    [tt.CARTClassifier, tt.C45Classifier, tt.THAIDClassifier, tt.ThetaSketchDecisionTreeClassifier],
    ids=lambda c: c.__name__,
)
def test_every_classifier_takes_it(make):
    X = rows()
    model = make(max_depth=3).fit(sample(X))
    assert model.get_n_leaves() >= 2
    assert model.score(X[FEATURES], X["buys"]) > 0.7
    by_set = make(max_depth=3).fit(sample(X).sketch_set())
    assert model.tree_ == by_set.tree_
    assert len(sample(X).sketch_set().folds(3)) == 3


@pytest.mark.parametrize("make", [tt.CARTRegressor, tt.AIDRegressor], ids=lambda c: c.__name__)
def test_every_regressor_takes_it(make):
    X = rows()
    made = sample(X, "spent", lg_k=11)
    assert made.theta.keys() == {None}
    model = make(max_depth=3).fit(made)
    assert model.score(X[FEATURES], X["spent"]) > 0.8
    exact = make(max_depth=3, missing="majority").fit(X[FEATURES], X["spent"])
    assert model.score(X[FEATURES], X["spent"]) > exact.score(X[FEATURES], X["spent"]) - 0.02


def test_refusals(tmp_path):
    X = rows(1000)
    made = sample(X)
    with pytest.raises(SketchError, match="is a class: a classifier"):
        made.tuple_set()
    with pytest.raises(SketchError, match="is a number: a regressor"):
        sample(X, "spent").sketch_set()
    with pytest.raises(SketchError, match="can not be merged"):
        made.merge(sample(X, lg_k=8))
    with pytest.raises(SketchError, match="needs a target"):
        tt.sketch(X, key="id", form="keys")
    with pytest.raises(SketchError, match="missing values"):
        sample(X.assign(buys=[None, *X["buys"][1:]]))
    with pytest.raises(SketchError, match="a key has several numbers"):
        sample(pd.concat([X, X.assign(spent=0.0)]), "spent").tuple_set()
    with pytest.raises(SketchError, match="no rows"):
        sample(X[:0])
    tt.sketch(X, "id", "buys", ["vip"]).write(tmp_path / "set.parquet")
    with pytest.raises(SketchFormatError, match="not a key sample"):
        KeySample.read(tmp_path / "set.parquet")
    assert made != 3
