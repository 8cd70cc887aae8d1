"""The same rows through every engine that runs here: the same hashes and the same tree."""

import os
import shutil

import chdb
import duckdb
import pytest
from engine.lists import check_lists_of_spark
from engine.table import EDGES, FEATURES, KEY_TYPES, LG_K, by_builder, check_same, problem, rows, written

import thetatree as tt
from thetatree.engine import from_hashes, from_rows, from_sums, spark, sql


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


SAMPLED = {"key": "id", "features": FEATURES, "lg_k": LG_K}


def check_sample(found, key_type, target, form):
    """Whole rows: what is grown from them is what the builder's sample gives."""
    made = from_rows(found, target=target, form=form, key_type=key_type, **SAMPLED)
    expected = tt.sketch(rows(key_type), target=target, form="keys", **SAMPLED)
    if form == "numbers":
        assert made.tuple_set(edges=EDGES) == expected.tuple_set(edges=EDGES)
    else:
        check_same(made.sketch_set(edges=EDGES), expected.sketch_set(edges=EDGES))


@pytest.mark.parametrize(("target", "form"), [("buys", "keys"), ("spent", "numbers")])
@pytest.mark.parametrize("key_type", KEY_TYPES)
def test_key_samples_in_plain_sql(key_type, target, form, tmp_path):
    path = written(key_type, tmp_path)
    asked = {**SAMPLED, "key_type": key_type, "target": target, "form": form, "hashes": True}
    with duckdb.connect() as connection:
        found = answer(connection, sql("duckdb", f"'{path}'", **asked))
    check_sample(found, key_type, target, form)
    found = chdb.query(sql("clickhouse", f"file('{path}')", **asked), "ArrowTable")
    check_sample(found, key_type, target, form)


def check_keys_and_sums(session, frame, key_type, sums):
    """Key samples by Spark; numbers carried by its tuple sketches."""
    frame.createOrReplaceTempView("sampled")
    for target, form in (("buys", "keys"), ("spent", "numbers")):
        text = sql("spark", "sampled", **SAMPLED, target=target, key_type=key_type, form=form)
        check_sample(session.sql(text).toArrow(), key_type, target, form)
    if sums:
        frame.dropDuplicates(["id"]).createOrReplaceTempView("once")
        asked = problem(key_type) | {"target": "spent"}
        found = from_sums(session.sql(sql("spark", "once", **asked, form="sums")).toArrow(), **asked)
        once = rows(key_type).drop_duplicates("id")
        assert found == tt.sketch(once, "id", "spent", FEATURES, edges=EDGES, lg_k=LG_K, form="sums")


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


def check_reads_ours(session, key_type, tmp_path):
    """Images that we wrote, of both versions: the engine counts and unites them as we do, to the byte."""
    whole = by_builder(key_type)
    table = rows(key_type)
    options = {"key": "id", "target": "buys", "features": FEATURES, "edges": EDGES, "lg_k": LG_K}
    halves = [tt.sketch(table[first::2], **options) for first in (0, 1)]
    for version in (3, 4):
        folder = tmp_path / f"ours-{version}"
        folder.mkdir()
        for number, half in enumerate(halves):
            half.write(folder / f"{number}.parquet", version=version)
        whole.write(tmp_path / f"whole-{version}.parquet", version=version)
        session.read.parquet(str(folder)).createOrReplaceTempView("halves")
        united = session.sql(
            f"SELECT class, feature, value, theta_union_agg(sketch, {LG_K}) AS sketch FROM halves "
            "GROUP BY class, feature, value"
        )
        check_same(tt.engine.from_sketches(united.toArrow(), **problem(key_type)), whole)
        session.read.parquet(str(tmp_path / f"whole-{version}.parquet")).createOrReplaceTempView("ours")
        counted = session.sql(
            "SELECT class, feature, value, theta_sketch_estimate(sketch) AS theirs FROM ours"
        )
        both = (
            counted.toArrow().to_pandas().merge(whole.counts(), on=["class", "feature", "value"], how="outer")
        )
        assert len(both) == len(whole)
        assert ((both["theirs"] - both["estimate"]).abs() <= 0.5).all()  # they give whole numbers


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
        frame = check_spark(session, tmp_path)
        check_lists_of_spark(session, tmp_path)
        check_keys_and_sums(session, frame, "float", sums=True)
        check_long_table(frame, tmp_path, monkeypatch)
        check_reads_ours(session, "text", tmp_path)
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
        frame = check_spark(session, tmp_path)
        check_lists_of_spark(session, tmp_path)
        check_keys_and_sums(session, frame, "float", sums=False)  # Sail has no tuple sketches
        check_long_table(frame, tmp_path, monkeypatch)
        check_reads_ours(session, "text", tmp_path)
    finally:
        session.stop()
        server.stop()
        for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_LOCAL_REMOTE"):
            os.environ.pop(name, None)
