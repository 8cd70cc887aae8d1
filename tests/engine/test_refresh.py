"""Models grown again from newer sketches, windows of days, and what is said of the changes."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.engine import refresh, window
from thetatree.sketch import SketchError


def day(number, vip=0.3, n=3000):
    """The rows of a day; every key comes back on the next day."""
    rng = np.random.default_rng(number)
    rows = pd.DataFrame({"id": number * n // 2 + np.arange(n), "vip": rng.random(n) < vip})
    rows["age"] = rng.integers(18, 80, n)
    rows["tags"] = [["a", "b"][: 1 + (i % 3 == 0)] for i in range(n)]
    rows["buys"] = np.where(rng.random(n) < 0.1 + 0.6 * rows["vip"], "yes", "no")
    rows.loc[: n // 2, "buys"] = ["ny"[i % 7 == 0] for i in rows["id"][: n // 2 + 1]]
    return rows.replace({"buys": {"n": "no", "y": "yes"}})


def sketched(rows, like=None):
    edges = None if like is not None else {"age": [30, 50]}
    return tt.sketch(rows, "id", "buys", edges=edges, like=like, lg_k=10, conflicts="any")


def test_the_model_is_what_fit_would_make():
    yesterday = sketched(day(0))
    today = yesterday.merge(sketched(day(4), like=yesterday))
    model = tt.CARTClassifier(max_depth=3, criterion="entropy", class_weight="balanced").fit(yesterday)
    before = model.tree_
    made = refresh(today, model, yesterday)
    assert (
        made.model.tree_
        == tt.CARTClassifier(max_depth=3, criterion="entropy", class_weight="balanced").fit(today).tree_
    )
    assert made.model.get_params() == model.get_params()
    assert model.tree_ is before
    pd.testing.assert_frame_equal(made.drift, tt.judge.compare(yesterday, today))
    pd.testing.assert_frame_equal(made.splits, tt.judge.compare(model, made.model))


def test_columns_stay_where_they_were():
    yesterday = sketched(day(0))
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(yesterday, {"vip": 4, "tags": 1})
    made = refresh(yesterday.merge(sketched(day(4), like=yesterday)), model)
    assert made.model.columns_ == model.columns_
    assert made.drift is None
    assert made.keys is None


def test_keys_that_came_and_went():
    first, second = sketched(day(0)), sketched(day(5))
    keys = refresh(second, before=first).keys.set_index("class")
    for label in ("no", "yes"):
        sizes = [int((rows["buys"] == label).sum()) for rows in (day(0), day(5))]
        assert keys.loc[label, ["before", "after"]].tolist() == pytest.approx(sizes, rel=0.1)
        assert keys.loc[label, ["gone", "new"]].tolist() == pytest.approx(sizes, rel=0.1)
    free = [tt.sketch(rows, "id", None, ["vip"], lg_k=13) for rows in (day(0), day(5))]
    assert refresh(free[0].merge(free[1]), before=free[0]).keys.values.tolist() == [
        [None, 3000, 6000, 3000, 0]
    ]


def test_drift_is_told_and_its_absence_too():
    first = sketched(day(0))
    same = refresh(first.merge(sketched(day(6), like=first)), before=first)
    drifted = refresh(first.merge(sketched(day(6, vip=0.5), like=first)), before=first)
    assert not same.drift["changed"].any()
    assert set(drifted.drift[drifted.drift["changed"]]["feature"].dropna()) == {"vip"}


def test_features_gained_and_lost():
    first, second = sketched(day(0)), sketched(day(5))
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(
        first.select(["vip", "age"]), {"vip": 0, "age": 1}
    )
    made = refresh(second.select(["vip", "tags"]), before=first.select(["vip", "age"]))
    assert made.features == {"gained": ["tags"], "lost": ["age"]}
    assert set(made.drift["feature"].dropna()) == {"vip"}
    with pytest.raises(SketchError, match="with feature 'age', of which the new sketches have none"):
        refresh(second.select(["vip", "tags"]), model)


def test_refusals():
    first = sketched(day(0))
    rows = day(0)
    with pytest.raises(SketchError, match="was grown from rows"):
        refresh(first, tt.CARTClassifier(max_depth=1).fit(rows[["vip"]], rows["buys"]))
    sums = tt.sketch(rows, "id", "age", ["vip"], form="sums")
    with pytest.raises(SketchError, match="predicts a number"):
        refresh(first, tt.CARTRegressor(max_depth=1).fit(sums))
    other = tt.sketch(rows.assign(buys=rows["vip"].astype(str)), "id", "buys", ["vip"])
    with pytest.raises(SketchError, match="of two problems"):
        refresh(first, tt.CARTClassifier(max_depth=1).fit(other))
    with pytest.raises(SketchError, match="of the form class_free"):
        refresh(first, before=tt.sketch(rows, "id", None, ["vip"]))


@pytest.fixture
def folder(tmp_path):
    names = [
        "visits_20261114.parquet",
        "2026-11-16-b.csv",
        "2026-11-16-a.pq",
        "day=2026-11-19/part-0.parquet",
    ]
    for name in [*names, ".2026-11-18.parquet.1a2b", "_tmp/2026-11-18.parquet", "notes.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def names(paths, folder):
    return [path.relative_to(folder).as_posix() for path in paths]


def test_windows(folder):
    whole = window(folder)
    assert names(whole.parts, folder) == [
        "visits_20261114.parquet",
        "2026-11-16-a.pq",
        "2026-11-16-b.csv",
        "day=2026-11-19/part-0.parquet",
    ]
    assert whole.older == []
    two = window(str(folder), keep=2)
    assert names(two.parts, folder) == names(whole.parts[1:], folder)
    assert names(two.older, folder) == ["visits_20261114.parquet"]
    assert (two.first, two.last) == (date(2026, 11, 16), date(2026, 11, 19))
    assert window(folder, keep=9).parts == whole.parts
    assert window(folder, days=3).parts == whole.parts[3:]
    assert window(folder, days=4).parts == whole.parts[1:]
    assert window(folder, days=1).first == date(2026, 11, 19)


def test_windows_that_can_not_be(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    for message, path, options in (
        ("keep=0: a window has at least one day", folder, {"keep": 0}),
        ("not both", folder, {"keep": 1, "days": 1}),
        ("is no folder", folder / "none", {}),
        ("has no part", tmp_path / "empty", {}),
    ):
        with pytest.raises(SketchError, match=message):
            window(path, **options)
    (folder / "monday.parquet").touch()
    with pytest.raises(SketchError, match=r"monday\.parquet: its name has no date"):
        window(folder)
    (folder / "monday.parquet").rename(folder / "2026-13-19.parquet")
    with pytest.raises(SketchError, match="its name has no date"):
        window(folder)


def test_a_window_is_one_pass_over_its_days(tmp_path):
    """What is forgotten leaves no trace: the set is that of the rows of the days in the window."""
    first = sketched(day(0))
    for number in range(4):
        sketched(day(3 * number), like=first).write(tmp_path / f"2026-11-1{number}.parquet")
    found = window(tmp_path, keep=2)
    made = tt.SketchSet.read(found.parts)
    assert made == sketched(pd.concat([day(6), day(9)]), like=first)
