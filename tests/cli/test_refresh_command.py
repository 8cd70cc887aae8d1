"""refresh: the set and the model are what merge and fit would give, or nothing is touched."""

import json
from pathlib import Path

import pandas as pd
import pytest
from people import make_table

import thetatree as tt

OPTIONS = ["--key", "id", "--target", "left", "-f", "age", "-f", "plan", "-f", "vip"]


@pytest.fixture
def days(folder, run):
    """Three dated parts, the rows of a fourth day, and a model of the first."""
    table = make_table(2000)
    Path("parts").mkdir()
    for number in range(4):
        table[number * 500 : (number + 1) * 500].to_csv(f"{number}.csv", index=False)
    like = []
    for number in range(3):
        part = f"parts/2026-11-1{number}.parquet"
        assert run("sketch", f"{number}.csv", *OPTIONS, *like, "-o", part).code == 0
        like = ["--like", "parts/2026-11-10.parquet"]
    Path("set.parquet").write_bytes(Path("parts/2026-11-10.parquet").read_bytes())
    assert run("fit", "set.parquet", "--max-depth", 2, "-o", "m.json").code == 0
    return table


def read(*numbers):
    return tt.SketchSet.read([f"parts/2026-11-1{number}.parquet" for number in numbers])


def test_yesterday_and_todays_parts(days, run):
    done = run("refresh", "set.parquet", "parts/2026-11-11.parquet", "3.csv", "--model", "m.json")
    assert done.code == 0, done.err
    rows = tt.sketch(days[1500:], "id", "left", like=read(0))
    after = read(0, 1).merge(rows)
    assert tt.SketchSet.read("set.parquet") == after
    assert tt.load("m.json").tree_ == tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(after).tree_
    assert done.out.startswith("2 parts\n")
    assert "shares changed beyond noise" in done.out
    assert done.out.endswith("written to set.parquet and m.json\n")
    again = run("refresh", "set.parquet", "3.csv", "--model", "m.json")  # nobody is counted twice
    assert tt.SketchSet.read("set.parquet") == after
    assert "0 of 72 shares changed" in again.out


def test_a_window(days, run):
    done = run("refresh", "week.parquet", "--window", "parts", "--keep", 2, "--json")
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["parts"] == ["parts/2026-11-11.parquet", "parts/2026-11-12.parquet"]
    assert (said["older"], said["deleted"]) == (["parts/2026-11-10.parquet"], False)
    assert (said["keys"], said["drift"], said["splits"], said["model_output"]) == (None,) * 4
    assert tt.SketchSet.read("week.parquet") == read(1, 2)
    options = ["--days", 1, "--forget", "--model", "m.json", "--model-output", "n.json", "-o", "day.parquet"]
    done = run("refresh", "week.parquet", "--window", "parts", *options)
    assert done.code == 0, done.err
    assert [path.name for path in sorted(Path("parts").iterdir())] == ["2026-11-12.parquet"]
    assert "2 older parts deleted" in done.out
    assert tt.SketchSet.read("day.parquet") == read(2)
    assert tt.load("n.json").tree_ == tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(read(2)).tree_


def test_drift_is_printed(days, run):
    days[1000:].assign(vip=True).to_csv("odd.csv", index=False)
    done = run("refresh", "set.parquet", "odd.csv", "--most", 3, "--model", "m.json")
    assert done.code == 0, done.err
    assert "  vip " in done.out
    assert "splits: " in done.out
    assert len(done.out.splitlines()) < 20


def test_nothing_is_touched_when_it_fails(days, run):
    days[["id", "vip"]].to_csv("rows.csv", index=False)
    assert run("fit", "0.csv", "--target", "left", "-o", "rows.json").code == 0
    kept = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for message, arguments in (
        ("name what came", ["set.parquet"]),
        ("name what came", ["set.parquet", "3.csv", "--window", "parts"]),
        ("goes with --window", ["set.parquet", "3.csv", "--keep", 2]),
        ("goes with --window", ["set.parquet", "3.csv", "--forget"]),
        ("goes with --model", ["set.parquet", "3.csv", "--model-output", "n.json"]),
        ("none.parquet: no such file", ["none.parquet", "3.csv"]),
        ("none.csv: no such file", ["set.parquet", "none.csv"]),
        ("was grown from rows", ["set.parquet", "3.csv", "--model", "rows.json"]),
        ("column 'age' is not in the data", ["set.parquet", "rows.csv"]),
        ("not both", ["set.parquet", "--window", "parts", "--keep", 1, "--days", 1]),
        ("no folder", ["new.parquet", "--window", "parts", "-o", "nowhere/set.parquet", "--forget"]),
    ):
        done = run("refresh", *arguments)
        assert done.code in (1, 2), done.out
        assert message in done.err
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == kept


def test_rows_need_a_set_that_knows_its_key(days, run):
    made = read(0)
    pd.DataFrame(
        [
            {"class": row.label, "feature": row.feature, "value": row.value, "sketch": cell}
            for row, cell in zip(made.data.rows(), made.to_arrow().column("sketch").to_pylist(), strict=True)
        ]
    ).to_parquet("plain.parquet")
    done = run("refresh", "plain.parquet", "3.csv")
    assert done.code == 1
    assert "does not say which column the key is" in done.err


def test_defaults_from_a_file(days, run):
    Path("daily.toml").write_text('[refresh]\nwindow = "parts"\nkeep = 2\nmodel = "m.json"\n')
    done = run("--config", "daily.toml", "refresh", "week.parquet")
    assert done.code == 0, done.err
    assert tt.SketchSet.read("week.parquet") == read(1, 2)
