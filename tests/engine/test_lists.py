"""Lists in SQL: what each engine that runs here makes of them is what the builder makes."""

import io
import shutil

import chdb
import datasketches
import duckdb
import pandas as pd
import pytest
from engine.lists import ASKED, LG_K, by_builder, rows, written
from export.engines import Postgres, temporary_folder

import thetatree as tt
from thetatree.engine import from_hashes, from_sketches, sql
from thetatree.sketch import SketchError


def test_duckdb(tmp_path):
    text = sql("duckdb", f"'{written(rows(), tmp_path)}'", **ASKED, hashes=True, counts=None)
    *macros, query = text.split(";\n")
    with duckdb.connect() as connection:
        for macro in macros:
            connection.execute(macro)
        made = from_hashes(connection.sql(query).to_arrow_table(), **ASKED)
    expected = by_builder(rows())
    assert made == expected
    trees = [tt.CARTClassifier(max_depth=3).fit(one).tree_ for one in (made, expected)]
    assert trees[0] == trees[1]
    assert trees[0].n_leaves > 2


def test_clickhouse(tmp_path):
    """ClickHouse reads a null array as an empty one: an array is known for every key."""
    text = sql("clickhouse", f"file('{written(rows(), tmp_path)}')", **ASKED, hashes=True, counts=None)
    (tmp_path / "answer.parquet").write_bytes(chdb.query(text, "Parquet").bytes())
    made = from_hashes(tmp_path / "answer.parquet", **ASKED)
    expected = by_builder(rows())
    assert made.select(["labels", "some"]) == expected.select(["labels", "some"])
    full = rows()
    full["tags"] = [found or [] for found in full["tags"]]
    assert made == by_builder(full)


# The extension's aggregate is not to be had here: this one gives the keys that it would be given.
STAND_IN = """
CREATE FUNCTION add_key(bigint[], bigint, int) RETURNS bigint[] LANGUAGE sql AS
  'SELECT CASE WHEN $2 IS NULL THEN $1 ELSE $1 || $2 END';
CREATE FUNCTION all_keys(bigint[]) RETURNS bytea LANGUAGE sql AS
  'SELECT convert_to(array_to_string($1, '',''), ''UTF8'')';
CREATE AGGREGATE theta_sketch_build(bigint, int)
  (SFUNC = add_key, STYPE = bigint[], FINALFUNC = all_keys, INITCOND = '{}');
"""
ARRAYS = "(SELECT *, string_to_array(joined, '~', 'NULL') AS tags FROM t) AS listed"


def sketched(cell):
    made = datasketches.update_theta_sketch(LG_K)
    for key in bytes.fromhex(cell).decode().split(","):
        if key:
            made.update(int(key))
    return made.compact().serialize()


def test_postgres(tmp_path):
    frame = rows()
    frame["joined"] = [
        None if found is None else "~".join("NULL" if x is None else x for x in found)
        for found in frame["tags"]
    ]
    folder = temporary_folder()
    server = Postgres(folder)
    try:
        server.load(frame.drop(columns="tags"))
        server.prepare(STAND_IN)
        (tmp_path / "query.sql").write_text(sql("postgres", ARRAYS, **ASKED))
        found = server.psql(tmp_path / "query.sql")
    finally:
        server.close()
        shutil.rmtree(folder)
    answer = pd.read_csv(io.StringIO(found), dtype=str, keep_default_na=False)
    answer["sketch"] = [sketched(cell).hex() for cell in answer["sketch"]]
    answer.to_csv(tmp_path / "answer.csv", index=False)
    made = from_sketches(tmp_path / "answer.csv", **ASKED)
    assert made == by_builder(rows())
    assert (made.data.entries.n[[made.data.entries.total(klass) for klass in range(2)]] > 0).all()


def test_duplicates_are_counted_once(tmp_path):
    frame = pd.DataFrame({"id": [1, 2], "buys": ["y", "n"], "tags": [["a", "a"], ["b"]]})
    asked = {"key": "id", "target": "buys", "features": {"tags": "multi"}, "lists": ["tags"]}
    text = sql("duckdb", f"'{written(frame, tmp_path)}'", **asked, counts="rows", hashes=True)
    *macros, query = text.split(";\n")
    with duckdb.connect() as connection:
        for macro in macros:
            connection.execute(macro)
        counts = from_hashes(connection.sql(query).to_arrow_table(), **asked).counts()
    assert counts["estimate"].max() == 1


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("lists= names 'b'", {"lists": ["b"]}),
        ("feature 'a' is a category; lists are for a multi", {"features": {"a": "category"}, "lists": ["a"]}),
        ("a separator is text", {"lists": {"a": ""}}),
        ("a key sample is of rows with one value", {"lists": ["a"], "form": "keys"}),
    ],
)
def test_refusals(message, change):
    asked = {"dialect": "spark", "table": "t", "key": "id", "target": "y", "features": {"a": "multi"}}
    with pytest.raises(SketchError, match=message):
        sql(**(asked | change))
