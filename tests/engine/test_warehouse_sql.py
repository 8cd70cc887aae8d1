"""The SQL of every dialect: golden (THETATREE_WRITE_GOLDEN=1 rewrites), and parsed by sqlglot in it."""

import os
from pathlib import Path

import pytest
import sqlglot

import thetatree as tt
from thetatree.engine import sql
from thetatree.engine.dialects import DIALECTS
from thetatree.sketch import SketchError

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = ["spark", "bigquery", "duckdb", "postgres", "clickhouse"]
ONE = {
    "key": "id",
    "target": "churned",
    "features": {
        "vip": None,
        "age": None,
        "colour": "category",
        "size": None,
        "tag": "multi",
        'odd "`\\name': "flag",
    },
    "edges": {"age": [30, 40.5]},
    "values": {"size": ["S", "it's \\", "other"]},
    "not_null": ["vip"],
}
SEVERAL = {
    "table": ["crm.customers", "web.visits"],
    "key": "id",
    "target": "churned",
    "features": {"crm.customers": ["vip"], "web.visits": {"page": "multi", "night": "flag"}},
}


def check(text, name, dialect):
    for statement in sqlglot.parse(text, read=DIALECTS[dialect].parser):
        assert statement is not None
    path = GOLDEN / f"sql_{name}.sql"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("dialect", NAMES)
def test_one_table(dialect):
    check(sql(dialect, "crm.customers", **ONE), f"{dialect}_one", dialect)


@pytest.mark.parametrize("dialect", NAMES)
def test_several_tables(dialect):
    check(sql(dialect, **SEVERAL, counts=None), f"{dialect}_several", dialect)


@pytest.mark.parametrize("dialect", NAMES)
def test_key_samples(dialect):
    asked = {name: ONE[name] for name in ("key", "target", "features")} | {"lg_k": 12}
    check(sql(dialect, "crm.customers", **asked, form="keys"), f"{dialect}_keys", dialect)
    assert "PARTITION BY" not in sql(dialect, "crm.customers", **asked, form="numbers")


LISTS = {
    "features": {"tags": "multi", "codes": "multi", "few": "multi"},
    "lists": {"tags": None, "codes": "|", "few": ", "},
    "values": {"few": ["S", "it's \\", "other"]},
}


@pytest.mark.parametrize("dialect", NAMES)
def test_lists(dialect):
    check(sql(dialect, "crm.customers", "id", "churned", **LISTS), f"{dialect}_lists", dialect)


def test_sums():
    check(sql("spark", "crm.customers", **ONE, form="sums"), "spark_sums", "spark")


@pytest.mark.parametrize("key_type", ["int", "text", "float"])
@pytest.mark.parametrize("dialect", ["duckdb", "clickhouse"])
def test_hashes(dialect, key_type):
    text = sql(dialect, "crm.customers", **ONE, key_type=key_type, hashes=True, lg_k=10)
    check(text, f"{dialect}_hashes_{key_type}", dialect)


@pytest.mark.parametrize("dialect", ["duckdb", "clickhouse"])
def test_hashes_of_lists(dialect):
    text = sql(dialect, "crm.customers", "id", "churned", **LISTS, hashes=True)
    check(text, f"{dialect}_hashes_lists", dialect)


@pytest.mark.parametrize("dialect", ["duckdb", "clickhouse"])
def test_hashes_of_several_tables(dialect):
    check(sql(dialect, **SEVERAL, hashes=True), f"{dialect}_hashes_several", dialect)


@pytest.mark.parametrize("dialect", NAMES)
@pytest.mark.parametrize("key_type", ["text", "float"])
def test_key_types_parse(dialect, key_type):
    if (dialect, key_type) == ("bigquery", "float"):
        return
    text = sql(dialect, "t", "id", "y", ["a"], key_type=key_type, counts="rows")
    assert sqlglot.parse(text, read=dialect)


def test_databricks_is_spark():
    assert sql("databricks", "t", "id", "y", ["a"]) == sql("spark", "t", "id", "y", ["a"])
    assert tt.engine.sql is sql


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("dialect 'oracle' is none of", {"dialect": "oracle"}),
        ("lg_k=3 is outside", {"lg_k": 3}),
        ("key_type='uuid' is none of", {"key_type": "uuid"}),
        ("counts='some' is none of", {"counts": "some"}),
        ("feature 'age' is a threshold: give its edges", {"features": {"age": "threshold"}}),
        ("give its edges, finite and ascending", {"features": ["a"], "edges": {"a": [2, 1]}}),
        ("edges= names 'b', which is not a feature", {"edges": {"b": [1]}}),
        ("values= names 'b'", {"values": {"b": ["x"]}}),
        ("not_null= names 'b'", {"not_null": ["b"]}),
        ("'id' is the key or the target", {"features": ["id"]}),
        ("feature 'a' is a flag; values are for", {"features": {"a": "flag"}, "values": {"a": ["x"]}}),
        ("feature 'a' is a flag; edges are for", {"features": {"a": "flag"}, "edges": {"a": [1]}}),
        ("its values are empty", {"values": {"a": [""]}}),
        ("kind 'colour' is none of", {"features": {"a": "colour"}}),
        ("bigquery has no theta sketch of float", {"dialect": "bigquery", "key_type": "float"}),
        ("uniqThetaState is always of lg_k 12", {"dialect": "clickhouse", "lg_k": 10}),
        ("hashes=True is for duckdb and clickhouse", {"hashes": True}),
        ("form='rows' is none of", {"form": "rows"}),
        ("is of one table", {"table": ["t", "u"], "features": {"t": [], "u": []}, "form": "keys"}),
        ("bigquery has no tuple sketch", {"dialect": "bigquery", "form": "sums"}),
        ("leave hashes=True out", {"dialect": "duckdb", "form": "sums", "hashes": True}),
        ("there is no table", {"table": []}),
        ("features is a dict from each table", {"table": ["t", "u"]}),
        ("feature 'a' is asked for twice", {"table": ["t", "u"], "features": {"t": ["a"], "u": ["a"]}}),
    ],
)
def test_refusals(message, change):
    asked = {"dialect": "spark", "table": "t", "key": "id", "target": "y", "features": ["a"]}
    with pytest.raises(SketchError, match=message):
        sql(**(asked | change))
