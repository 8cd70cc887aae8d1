"""The same rows through every engine that runs here: the same hashes and the same tree."""

import os
import shutil

import chdb
import duckdb
import pytest
from engine.table import EDGES, FEATURES, KEY_TYPES, LG_K, by_builder, check_same, problem, rows, written

import thetatree as tt
from thetatree.engine import from_hashes, spark, sql


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_duckdb_streams_into_the_builder(key_type, tmp_path):
    path = written(key_type, tmp_path)
    expected = by_builder(key_type)
    options = {"key": "id", "target": "buys", "features": FEATURES, "edges": EDGES, "lg_k": LG_K}
    check_same(tt.sketch(str(path).replace(key_type, f"{key_type}*"), **options), expected)
    check_same(tt.sketch(path, sql="SELECT * FROM data WHERE id IS NOT NULL", **options), expected)


def answer(connection, text):
    """Run a recipe: what is to be created first, then the query."""
    *first, query = text.split(";\n")
    for statement in first:
        connection.execute(statement)
    return connection.sql(query).to_arrow_table()


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_duckdb_recipe(key_type, tmp_path):
    path = written(key_type, tmp_path)
    asked = problem(key_type)
    with duckdb.connect() as connection:
        found = answer(connection, sql("duckdb", f"'{path}'", **asked, hashes=True, counts=None))
        counted = answer(connection, sql("duckdb", f"'{path}'", **asked, hashes=True))
    check_same(from_hashes(found, **asked), by_builder(key_type))
    counts = from_hashes(counted, **asked).counts()
    totals = counts[counts["feature"].isna()]
    assert dict(zip(totals["class"], totals["estimate"], strict=True)) == distinct_keys(key_type)
    assert (totals["lower"] == totals["upper"]).all()


def distinct_keys(key_type):
    return rows(key_type).groupby("buys")["id"].nunique().to_dict()


@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_clickhouse_recipe(key_type, tmp_path):
    path = written(key_type, tmp_path)
    asked = problem(key_type)
    found = chdb.query(sql("clickhouse", f"file('{path}')", **asked, hashes=True, counts=None), "ArrowTable")
    check_same(from_hashes(found, **asked), by_builder(key_type))


def check_spark(session, tmp_path):
    """Everything of Spark in one test, so that one worker starts one session."""
    for key_type in KEY_TYPES:
        frame = session.read.parquet(str(written(key_type, tmp_path)))
        made = spark.sketch(frame, "id", "buys", FEATURES, edges=EDGES, lg_k=LG_K)
        check_same(made, by_builder(key_type))
    # Few rows: the sample for quantiles is all of them, as the builder's is. Text columns are categories.
    plain = spark.sketch(frame, "id", "buys", ["vip", "age", "colour"], lg_k=LG_K, bins=8)
    expected = tt.sketch(rows(key_type), "id", "buys", ["vip", "age", "colour"], lg_k=LG_K, bins=8)
    check_same(plain, expected)
    counted = spark.sketch(frame, "id", "buys", ["vip"], lg_k=LG_K, counts="distinct").counts()
    totals = counted[counted["feature"].isna()]
    assert dict(zip(totals["class"], totals["estimate"], strict=True)) == distinct_keys(key_type)
    return frame


def check_long_table(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(spark, "CHUNK", 3)
    table = spark.long_table(frame, "id", "buys", FEATURES, edges=EDGES, lg_k=LG_K)
    table.write.parquet(str(tmp_path / "long"))
    asked = problem("float")
    check_same(tt.engine.from_sketches(tmp_path / "long", **asked), by_builder("float"))


@pytest.mark.skipif(
    shutil.which("java") is None and not os.environ.get("CI"), reason="Spark needs Java, which is not here"
)
def test_spark(tmp_path, monkeypatch):
    from pyspark.sql import SparkSession

    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than so few rows
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    builder = SparkSession.builder.master("local[2]").appName("thetatree")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        check_long_table(check_spark(session, tmp_path), tmp_path, monkeypatch)
    finally:
        session.stop()


def test_sail(tmp_path, monkeypatch):
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer()
    server.start(background=True)
    port = server.listening_address[1]
    session = SparkSession.builder.remote(f"sc://localhost:{port}").create()
    try:
        check_long_table(check_spark(session, tmp_path), tmp_path, monkeypatch)
    finally:
        session.stop()
        server.stop()
