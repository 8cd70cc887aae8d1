"""Rows through DuckDB: files, patterns, relations, connections, queries."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.engine.answer import from_hashes
from thetatree.engine.warehouse import sql
from thetatree.sketch import BuildError


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    n = 5000
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "buys": rng.choice(["stays", "goes"], n),
            "age": rng.integers(18, 80, n),
            "vip": rng.random(n) < 0.2,
        }
    )


OPTIONS = {"key": "id", "target": "buys", "lg_k": 8, "bins": 4}


def test_every_way_in(rows, tmp_path):
    expected = tt.sketch(rows, **OPTIONS)
    rows[:2000].to_parquet(tmp_path / "a.parquet")
    rows[2000:].to_parquet(tmp_path / "b.parquet")
    rows.to_csv(tmp_path / "all.csv", index=False)
    pattern = str(tmp_path / "*.parquet")
    assert tt.sketch(pattern, **OPTIONS) == expected
    assert tt.sketch(str(tmp_path / "a*.csv"), **OPTIONS) == expected
    assert tt.sketch(pattern, sql="SELECT id, buys, age, vip FROM data", **OPTIONS) == expected
    assert tt.sketch(rows, sql="SELECT * FROM data", **OPTIONS) == expected
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM '{pattern}'")
        assert tt.sketch(connection, sql="SELECT * FROM people", **OPTIONS) == expected
        assert tt.sketch(connection.table("people"), **OPTIONS) == expected
        relation = connection.table("people").filter("age < 40")
        young = tt.sketch(rows[rows["age"] < 40], **OPTIONS)
        assert tt.sketch(relation, **OPTIONS) == young
        assert tt.sketch(connection.table("people"), sql="FROM data WHERE age < 40", **OPTIONS) == young


def test_folders_that_are_columns(rows, tmp_path):
    """Parquet files of a pattern are read by Arrow, unless their folders' names are a column."""
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        rows[rows["id"] % 2 == day - 1].to_parquet(tmp_path / f"day={day}" / "part.parquet")
    made = tt.sketch(str(tmp_path / "*" / "*.parquet"), **OPTIONS)
    assert made.edges["day"] == (1.0,)
    assert made.select(["age", "vip"]) == tt.sketch(rows, **OPTIONS)


def test_derived_columns_and_progress(rows):
    done = []
    query = "SELECT id, buys, age >= 65 AS senior, age // 10 AS decade FROM data"
    made = tt.sketch(rows, sql=query, progress=done.append, **OPTIONS)
    assert made.kinds == {"decade": "threshold", "senior": "flag"}
    assert done[-1] == len(rows)
    again = rows.assign(senior=rows["age"] >= 65, decade=rows["age"] // 10)[
        ["id", "buys", "senior", "decade"]
    ]
    assert made == tt.sketch(again, **OPTIONS)


def test_refusals(rows):
    with duckdb.connect() as connection:
        with pytest.raises(BuildError, match="a DuckDB connection needs a query"):
            tt.sketch(connection, **OPTIONS)
        with pytest.raises(BuildError, match=r"sql=.*nothing"):
            tt.sketch(connection, sql="SELECT * FROM nothing", **OPTIONS)
    with pytest.raises(BuildError, match="can not ask a list"):
        tt.sketch([1, 2], sql="SELECT * FROM data", **OPTIONS)


def test_several_tables_are_not_joined(rows):
    """Owners with keys of their own: class-free, and each feature known for its owner's keys."""
    web = pd.DataFrame({"id": np.arange(3000, 7000), "night": np.arange(4000) % 5 == 0})
    web["page"] = np.where(np.arange(4000) % 3 == 0, "home", "shop")
    features = {"people": ["vip"], "web": {"night": "flag", "page": "category"}}
    text = sql("duckdb", ["people", "web"], "id", "buys", features, 10, hashes=True)
    with duckdb.connect() as connection:
        connection.register("people", rows)
        connection.register("web", web)
        *macros, query = text.split(";\n")
        for macro in macros:
            connection.execute(macro)
        answer = connection.sql(query).to_arrow_table()
    made = from_hashes(answer, "id", "buys", features, 10)
    assert (made.form, made.classes) == ("class_free", ("goes", "stays"))
    counts = made.counts().set_index(["class", "feature", "value"])["estimate"]
    assert counts.loc[(None, None, None)].item() == 7000
    assert counts.loc[(None, "night", None)].item() == 4000
    parts = [tt.sketch(rows, "id", "buys", ["vip"], lg_k=10, form="class_free")]
    parts.append(tt.sketch(web, "id", None, ["night", "page"], lg_k=10))
    merged = parts[0].merge(parts[1])
    for feature, value in ((None, None), ("vip", "1"), ("night", "1"), ("page", "shop"), ("page", None)):
        (got, theta), (expected, its) = (one.sketch(None, feature, value) for one in (made, merged))
        np.testing.assert_array_equal(got, expected)
        assert theta == its
