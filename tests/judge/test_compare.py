"""What changed between sets and between trees: found where it did, and rarely where nothing did."""

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.judge.compare import compare, holm


def rows(seed, n=8000, vip=0.2, signal=True, gap=0.0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"id": rng.integers(0, 2**60, n), "vip": rng.random(n) < vip, "red": rng.random(n) < 0.4}
    )
    X["size"] = rng.choice(list("SML"), n)
    rate = 0.2 + 0.5 * X["vip"] if signal else 0.3
    X["buys"] = np.where(rng.random(n) < rate, "yes", "no")
    X["vip"] = X["vip"].astype("boolean").mask(rng.random(n) < gap)
    return X


def sketched(X, lg_k=10):
    return tt.sketch(X, "id", "buys", ["vip", "red", "size"], lg_k=lg_k)


def test_a_drift_is_found_and_comes_first():
    lines = compare(sketched(rows(1)), sketched(rows(2, vip=0.35)))
    assert lines.iloc[0]["feature"] == "vip"
    assert lines.iloc[0]["changed"]
    assert lines["z"].abs().is_monotonic_decreasing
    vip = lines[(lines["feature"] == "vip") & (lines["class"] == "yes")].iloc[0]
    assert vip["after"] > vip["before"]
    assert vip["held_before"] == 1024
    assert set(lines["feature"].dropna()) == {"vip", "red", "size"}
    assert (lines["feature"].isna()).sum() == 2  # the classes themselves


def test_days_alike_rarely_differ():
    changed = sum(
        compare(sketched(rows(2 * i, 3000), 8), sketched(rows(2 * i + 1, 3000), 8))["changed"].any()
        for i in range(40)
    )
    assert changed <= 6


@pytest.mark.parametrize("lg_k", [8, 14])
def test_z_is_of_the_size_it_says(lg_k):
    z = np.concatenate(
        [
            compare(sketched(rows(2 * i, 3000), lg_k), sketched(rows(2 * i + 1, 3000), lg_k))["z"]
            for i in range(40)
        ]
    )
    assert 0.85 < z.std() < 1.15


def test_values_and_classes_that_only_one_has():
    first, second = rows(1, 2000), rows(2, 2000)
    second.loc[second["size"] == "L", "size"] = "XL"
    second.loc[second.index[:300], "buys"] = "maybe"
    lines = compare(sketched(first), sketched(second)).set_index(["class", "feature", "value"])
    assert lines.loc[("yes", "size", "XL"), "before"] == 0
    assert lines.loc[("yes", "size", "XL"), "changed"].all()
    assert lines.loc[("no", "size", "L"), "after"].item() == 0


def test_forms_and_gaps():
    first, second = (rows(seed, gap=gap) for seed, gap in ((1, 0.3), (2, 0.0)))
    found = compare(sketched(first), sketched(second))
    assert not found[found["feature"] == "vip"]["changed"].any()  # shares are of those that are known
    free = [tt.sketch(X, "id", "buys", ["vip"], form="class_free") for X in (first, second)]
    assert set(compare(*free)["class"].dropna()) == {"no", "yes"}
    with pytest.raises(ValueError, match="differ in 'red'"):
        compare(sketched(first), sketched(second).select(["vip", "size"]))
    with pytest.raises(TypeError, match="can not be compared"):
        compare(sketched(first), 3)


def test_splits_of_trees():
    fitted = [tt.CARTClassifier(max_depth=1).fit(sketched(X)) for X in (rows(1), rows(2))]
    same = compare(*fitted)
    assert same["status"].tolist() == ["kept"]
    assert not same["sure"].any()
    assert (same[["p_before", "p_after"]].to_numpy() < 1e-6).all()
    none = tt.CARTClassifier(max_depth=1).fit(sketched(rows(3, signal=False)))
    lost = compare(fitted[0].tree_, none)
    assert lost.iloc[0]["status"] == "lost"
    assert lost.iloc[0]["sure"]
    gained = compare(none, fitted[0])
    assert (gained["status"] == "gained").all()
    assert compare(none, none).empty


def test_splits_that_moved_or_changed():
    X = rows(1)
    rng = np.random.default_rng(0)
    age = rng.integers(0, 100, len(X))
    grown = [
        tt.CARTRegressor(max_depth=1).fit(
            pd.DataFrame({"age": age, "red": X["red"]}), y + rng.normal(size=len(X))
        )
        for y in ((age > 30) * 5.0, (age > 60) * 5.0, X["red"] * 5.0)
    ]
    assert compare(grown[0], grown[1])["status"].tolist() == ["moved"]
    assert compare(grown[0], grown[2])["status"].tolist() == ["changed"]
    assert compare(grown[0], grown[2])["sure"].all()


def test_holm():
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.5])), [0.04, 0.09, 0.09, 0.5])
    assert holm(np.empty(0)).size == 0


def test_keys_in_both_sets_are_compared_with_themselves():
    """A part in a large set, overlapping windows, the same keys a day later: z is of the size it says."""
    z = {"part": [], "windows": [], "same keys": [], "some of them": []}
    for i in range(40):
        X = rows(i, 4000, signal=False)
        first, second = sketched(X[:3000], 8), sketched(X[3000:], 8)
        assert (compare(first, first)["z"] == 0).all()
        z["part"] += compare(first, first.merge(second))["z"].tolist()
        z["windows"] += compare(first, sketched(X[1500:], 8))["z"].tolist()
        z["some of them"] += compare(first, first.split(0.3, seed=i)[0])["z"].tolist()
        later = X.copy()
        drawn = np.random.default_rng(i).permutation(4000)[:400]
        later.loc[drawn, "vip"] = later["vip"].to_numpy()[np.roll(drawn, 1)]
        changed = compare(sketched(X, 8), sketched(later, 8))
        z["same keys"] += changed[changed["feature"] == "vip"]["z"].tolist()
        assert (changed[changed["feature"] != "vip"]["z"] == 0).all()
    for found in z.values():
        assert 0.8 < np.std(found) < 1.2


def test_few_changes_of_the_same_keys_are_seen():
    """Two shares of 2,000 keys that differ by 20 are alike by chance, unless they are of the same keys."""
    X = rows(1, 4000)
    later = X.copy()
    later.loc[X.index[~X["vip"]][:40], "vip"] = True
    found = compare(sketched(X, 12), sketched(later, 12))
    assert found[found["changed"]]["feature"].unique().tolist() == ["vip"]
    other = later.assign(id=later["id"] + 1)
    assert not compare(sketched(X, 12), sketched(other, 12)).query("feature == 'vip'")["changed"].any()
