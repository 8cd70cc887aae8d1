"""Exported SQL in the engines themselves, against `predict` on random models."""

import math
import random
import shutil
import sqlite3
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from export.engines import DuckDB, Postgres, Spark, Sqlite, lacking, temporary_folder
from naive.models import random_model

import thetatree as tt

GOLDEN = Path(__file__).parents[1] / "golden"
ROW = "row; --"


@pytest.fixture(scope="module")
def engines():
    """Engines by dialect, started when they are first asked for."""
    running = {"sqlite": Sqlite(), "duckdb": DuckDB()}
    folders = []

    def engine(dialect):
        if dialect not in running:
            if dialect == "spark":
                pytest.importorskip("pyspark")
                if not shutil.which("java"):
                    lacking("java")
                running[dialect] = Spark()
            else:
                folders.append(temporary_folder())
                running[dialect] = Postgres(folders[-1])
        return running[dialect]

    yield engine
    for started in running.values():
        if hasattr(started, "close"):
            started.close()
    for folder in folders:
        shutil.rmtree(folder)


def check(engine, dialect, case):
    """Leaf, class and probability of every row, and the other class's probability, are the model's own."""
    classes = case.tree.classes
    table = case.table.assign(**{ROW: np.arange(len(case.table))})
    outputs = ["leaf", "prediction"] if classes is None else ["leaf", "prediction", "probability"]
    label = None if classes is None else classes[-1]
    query = tt.export.to_sql(case.model, dialect=dialect, output=outputs, label=label, table="t", keep=[ROW])
    found = sorted(engine.rows(table, query))
    assert [row[0] for row in found] == table[ROW].tolist()
    assert [row[1] for row in found] == case.leaves.tolist()
    assert [row[2] for row in found] == case.predictions
    if classes is not None:
        assert [row[3] for row in found] == case.shares[:, -1].tolist()


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_against_predict(engines, dialect):
    for seed in range(20):
        check(engines(dialect), dialect, random_model(seed))


def test_against_predict_in_spark(engines):
    for kind in ("hand", "classifier"):
        check(engines("spark"), "spark", random_model(0, rows=60, kinds=(kind,)))


def test_every_float64_is_read_back_the_same(engines):
    """A threshold and its neighbours, over the whole range of float64, told apart by every engine."""
    chance = random.Random(0)
    values = [struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0] for _ in range(20)]
    values += [chance.gauss(0, 10.0 ** chance.randint(-3, 6)) for _ in range(20)]
    values += [0.1, 2.45, 39.5, 5e-324, -5e-324, 1.7e308, 2.0**62, 2.0**63, 1e22, 0.0]
    values += [-17274.37204549946, 3.426524598215322e-303]  # which SQLite 3.40 reads an ulp off
    values = [v for v in values if math.isfinite(v)]
    trees = [
        tt.CARTRegressor()
        .fit([[v], [math.nextafter(v, math.inf)]], [v if abs(v) < 1e150 else 0.0, 1.0])
        .tree_
        for v in values
    ]
    for dialect in ("sqlite", "duckdb", "postgres"):
        for value, tree in zip(values, trees, strict=True):
            points = pd.DataFrame({"x0": [value, math.nextafter(value, math.inf)]})
            query = tt.export.to_sql(
                tree, dialect=dialect, output=["leaf", "prediction"], table="t", keep=["x0"]
            )
            leaves = tree.apply(points)
            found = engines(dialect).rows(points, query)
            assert found == list(zip(points.x0, leaves, tree.values[leaves, 0], strict=True))


def test_sqlite_reads_what_is_written():
    """Its own reader is off by an ulp for some numbers."""
    from thetatree.export.sql import _sqlite_number

    chance = random.Random(1)
    with sqlite3.connect(":memory:") as connection:
        for _ in range(3000):
            value = struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0]
            if math.isfinite(value):
                assert connection.execute(f"SELECT {_sqlite_number(value)}").fetchone() == (value,)
    connection.close()


def people():
    frame = pd.DataFrame({
        "age": [23, 61, 35, 48, 52, 29, 44, 67], "plan": ["basic", "plus"] * 4,
        "member": [True, False, True, True, False, False, True, False],
    })  # fmt: skip
    return frame, ["no", "yes", "no", "maybe", "yes", "no", "yes", "yes"]


def test_columns_of_other_types_compare_as_float64(engines):
    """Whole numbers, decimals and float32 are compared as predict compares them."""
    model = tt.CARTClassifier().fit([[16777217.0], [16777218.0], [0.1]], ["a", "b", "c"])
    table = pd.DataFrame({"x0": pd.Series([16777217, 16777218, 0])})
    for dialect in ("sqlite", "duckdb", "postgres"):
        query = tt.export.to_sql(model, dialect=dialect, table="t", keep=["x0"])
        assert [row[1] for row in sorted(engines(dialect).rows(table, query))] == ["c", "a", "b"]
    small = DuckDB()
    query = tt.export.to_sql(tt.CARTRegressor().fit([[0.1], [0.2]], [1, 2]), dialect="duckdb")
    for kind in ("DECIMAL(10, 3)", "FLOAT", "DOUBLE"):
        query_one = f'SELECT {query} FROM (SELECT CAST(0.15 AS {kind}) AS "x0") AS t'
        value = np.float32(0.15) if kind == "FLOAT" else 0.15
        expected = 1.0 if float(value) <= 0.15000000000000002 else 2.0
        assert small.rows(table, query_one) == [(expected,)]


def test_a_schema_and_kept_columns():
    X, y = people()
    model = tt.CARTClassifier().fit(X, y)
    query = tt.export.to_sql(model, dialect="postgres", table=("my schema", 'the "t"'), keep=["age"])
    assert query.startswith('SELECT\n  "age",\n  CASE') and query.endswith('FROM "my schema"."the ""t"""')
    assert tt.export.to_sql(model, dialect="spark", table="a.b", output="leaf").endswith("FROM `a.b`")


def test_refusals():
    X, y = people()
    model = tt.CARTClassifier().fit(X, y)
    to_sql = tt.export.to_sql
    with pytest.raises(ValueError, match=r"dialect must be one of.*got 'dbase'"):
        to_sql(model, dialect="dbase")
    with pytest.raises(ValueError, match=r"output must be among"):
        to_sql(model, dialect="duckdb", output="margin")
    with pytest.raises(ValueError, match=r"need a query: give a table"):
        to_sql(model, dialect="duckdb", output=["leaf", "prediction"])
    with pytest.raises(ValueError, match=r"3 classes: say whose probability"):
        to_sql(model, dialect="duckdb", output="probability")
    with pytest.raises(ValueError, match=r"label must be one of the classes.*got 'perhaps'"):
        to_sql(model, dialect="duckdb", output="probability", label="perhaps")
    numbers = tt.CARTRegressor().fit([[1], [2]], [0, 1])
    with pytest.raises(ValueError, match=r"no probabilities"):
        to_sql(numbers, dialect="duckdb", output="probability")
    mixed = pd.DataFrame({"code": pd.Series(["a", 1, "b", 2] * 3, dtype=object)})
    with pytest.raises(
        ValueError, match=r"column 'code' has texts and numbers among its labels \('a' and 1\)"
    ):
        to_sql(tt.CARTClassifier().fit(mixed, [0, 1, 1, 0] * 3), dialect="duckdb")
    zero = pd.DataFrame({"na\0me": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"no character zero"):
        to_sql(tt.CARTClassifier().fit(zero, [0, 1]), dialect="duckdb")


def test_categories_that_are_numbers_and_flags(engines):
    X = pd.DataFrame(
        {"c": pd.Categorical([1.5, 2.5, 3.5, 1.5] * 5), "b": pd.Categorical([True, False, True, True] * 5)}
    )
    y = [1.0, 2.0, 3.0, 1.0] * 5
    model = tt.CARTRegressor().fit(X, y)
    flags = tt.CARTRegressor().fit(X[["b"]], y)
    table = pd.DataFrame({"c": [1.5, 2.5, 3.5, 9.0], "b": pd.Series([True, False, True, None], dtype=object)})
    for dialect in ("sqlite", "duckdb", "postgres"):
        for one, columns in ((model, ["c", "b"]), (flags, ["b"])):
            query = tt.export.to_sql(one, dialect=dialect, output="leaf", table="t", keep=[])
            expected = one.apply(table[columns].astype({"b": "category"})).tolist()
            assert sorted(engines(dialect).rows(table, query)) == sorted((leaf,) for leaf in expected)
