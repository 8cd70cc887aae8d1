"""prune, report and export: what the library makes of a model, from a shell."""

import json
import sqlite3

import pandas as pd
import pytest

import thetatree as tt


@pytest.fixture
def fitted(folder, run):
    options = ["--target", "left", "--ignore", "id", "--ignore", "spend", "-o", "m.json"]
    assert run("fit", "people.csv", *options).code == 0
    return tt.load("m.json")


def test_prune_by_cost(folder, run, fitted):
    done = run("prune", "m.json", "--by", "cost-complexity", "--alpha", 0.002, "-o", "p.json")
    assert done.code == 0, done.err
    assert tt.load("p.json").tree_ == fitted.tree_.prune(ccp_alpha=0.002)
    assert f"{fitted.tree_.n_leaves} leaves became" in done.out


def test_prune_by_held_out_rows_and_sketches(folder, run, fitted):
    table = pd.read_parquet("people.parquet")
    done = run(
        "prune",
        "m.json",
        "--by",
        "validation",
        "--data",
        "people.parquet",
        "--target",
        "left",
        "-o",
        "p.json",
    )
    assert done.code == 0, done.err
    X = table[["age", "plan", "vip"]]
    assert tt.load("p.json").tree_ == fitted.tree_.prune_validation(X, table.left)
    options = ["--key", "id", "--target", "left", "-f", "age", "-f", "plan", "-f", "vip", "-o", "s.parquet"]
    assert run("sketch", "people.csv", *options).code == 0
    assert run("fit", "s.parquet", "-o", "k.json").code == 0
    done = run("prune", "k.json", "--by", "validation", "--data", "s.parquet", "-o", "q.json", "--json")
    assert done.code == 0, done.err
    wanted = tt.load("k.json").tree_.prune_validation(tt.SketchSet.read("s.parquet"))
    assert json.loads(done.out)["leaves"] == wanted.n_leaves


def test_prune_in_other_ways(folder, run, fitted):
    assert run("prune", "m.json", "--by", "pessimistic", "--confidence", 0.1, "-o", "p.json").code == 0
    assert tt.load("p.json").tree_ == fitted.tree_.prune_pessimistic(0.1)
    assert run("prune", "m.json", "--by", "min-impurity", "--decrease", 0.05, "-o", "p.json").code == 0
    assert tt.load("p.json").tree_ == fitted.tree_.prune_min_impurity(0.05)


def test_report(folder, run, fitted):
    done = run(
        "report",
        "m.json",
        "-o",
        "r.html",
        "--data",
        "people.csv",
        "--target",
        "left",
        "--title",
        "Leavers & co",
    )
    assert done.code == 0, done.err
    assert "Leavers &amp; co" in (folder / "r.html").read_text(encoding="utf-8")
    table = pd.read_csv("people.csv")
    X = table[["age", "plan", "vip"]].astype({"plan": "string"})
    fitted.report("s.html", (X, table.left.to_numpy()), title="Leavers & co")
    assert (folder / "r.html").read_bytes() == (folder / "s.html").read_bytes()
    assert json.loads(run("report", "m.json", "-o", "t.html", "--json").out)["output"] == "t.html"


@pytest.mark.parametrize(
    ("to", "made"),
    [
        ("text", lambda m: tt.export.to_text(m, max_depth=None)),
        ("rules", lambda m: "\n".join(map(str, m.tree_.rules()))),
        ("json", tt.export.to_json),
        ("dot", tt.export.to_dot),
        ("python", tt.export.to_python),
        ("c", lambda m: tt.export.to_c(m, name="leave")),
        ("java", lambda m: tt.export.to_java(m, name="leave")),
    ],
)
def test_export(folder, run, fitted, to, made):
    options = ["--name", "leave"] if to in ("c", "java") else []
    done = run("export", "m.json", "--to", to, *options)
    assert done.code == 0, done.err
    assert done.out == made(fitted) + "\n"
    assert run("export", "m.json", "--to", to, *options, "-o", "out").code == 0
    assert (folder / "out").read_text(encoding="utf-8") == done.out


def test_sql_runs(folder, run, fitted):
    table = pd.read_parquet("people.parquet")
    query = run(
        "export",
        "m.json",
        "--to",
        "sql",
        "--dialect",
        "sqlite",
        "--table",
        "people",
        "--column",
        "prediction",
    ).out
    with sqlite3.connect(":memory:") as database:
        table.to_sql("people", database, index=False)
        made = pd.read_sql_query(query, database)
    assert made.prediction.tolist() == fitted.predict(table[["age", "plan", "vip"]]).tolist()
    assert run("export", "m.json", "--to", "sql").out.startswith("CASE")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["prune", "m.json", "--by", "guess", "-o", "p.json"], ["cost-complexity"]),
        (["prune", "m.json", "--by", "cost-complexity", "-o", "p.json"], ["--alpha"]),
        (["prune", "m.json", "--by", "validation", "--data", "people.csv", "-o", "p.json"], ["--target"]),
        (["prune", "m.json", "--by", "validation", "-o", "p.json"], ["--data"]),
        (["report", "m.json", "-o", "no/r.html"], ["no"]),
        (["report", "m.json", "-o", "r.html", "--data", "people.csv", "--target", "nix"], ["'nix'"]),
        (["export", "m.json", "--to", "cobol"], ["sql"]),
        (["export", "m.json", "--to", "sql", "--dialect", "dbase"], ["duckdb"]),
    ],
)
def test_mistakes(folder, run, fitted, arguments, words):
    done = run(*arguments)
    assert done.code in (1, 2)
    assert len(done.err.splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


def test_onnx(folder, run, fitted):
    done = run("export", "m.json", "--to", "onnx", "-o", "m.onnx")
    assert done.code == 0, done.err
    assert (folder / "m.onnx").read_bytes() == tt.export.to_onnx(fitted).SerializeToString()
    assert "--output" in run("export", "m.json", "--to", "onnx").err


def test_compare(folder, run, fitted):
    done = run("compare", "m.json", "m.json", "--json")
    assert done.code == 0, done.err
    lines = json.loads(done.out)["changes"]
    assert {line["status"] for line in lines} == {"kept"}
    options = ["--key", "id", "--target", "left", "-f", "vip"]
    run("sketch", "people.csv", *options, "-o", "a.parquet")
    pd.read_csv("people.csv").assign(vip=True).to_csv("all.csv", index=False)
    run("sketch", "all.csv", *options, "-o", "b.parquet")
    done = run("compare", "a.parquet", "b.parquet")
    assert done.code == 0, done.err
    assert "vip" in done.out
    assert "can not be compared" in run("compare", "a.parquet", "m.json").err


def test_sql_is_the_engines(folder, run):
    options = [
        "--key",
        "id",
        "--target",
        "left",
        "-f",
        "vip:flag",
        "-f",
        "age:threshold",
        "--edges",
        "age=30,50",
    ]
    done = run("sql", "duckdb", "people", *options, "--hashes")
    assert done.code == 0, done.err
    features = {"vip": "flag", "age": "threshold"}
    wanted = tt.engine.sql("duckdb", "people", "id", "left", features, edges={"age": [30, 50]}, hashes=True)
    assert done.out == wanted + "\n"
    assert run("sql", "bigquery", "people", *options, "-o", "q.sql").code == 0
    assert "theta_sketch_agg" in (folder / "q.sql").read_text(encoding="utf-8")
    assert "duckdb" in run("sql", "dbase", "people", *options).err


def test_sketches_of_a_query(folder, run):
    query = 'SELECT id, age < 30 AS young, "left" FROM data WHERE plan IS NOT NULL'
    done = run("sketch", "people.csv", "--sql", query, "--key", "id", "--target", "left", "-o", "s.parquet")
    assert done.code == 0, done.err
    made = tt.SketchSet.read("s.parquet")
    assert made.features == ("young",)
    rows = pd.read_csv("people.csv").dropna(subset="plan")
    assert made.counts().query("feature.isna()", engine="python").estimate.sum() == len(rows)
