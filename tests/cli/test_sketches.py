"""sketch, merge, inspect, and trees from sketches: the files are what the library writes."""

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

import thetatree as tt


@pytest.fixture
def sketched(folder, run):
    done = run(
        "sketch",
        "people.csv",
        "--key",
        "id",
        "--target",
        "left",
        "-f",
        "age",
        "-f",
        "plan",
        "-f",
        "vip",
        "-o",
        "s.parquet",
    )
    assert done.code == 0, done.err
    return tt.SketchSet.read("s.parquet")


def test_sketch_is_the_builder(folder, sketched):
    table = pd.read_parquet("people.parquet")
    assert sketched == tt.sketch(table, "id", "left", ["age", "plan", "vip"])
    assert sketched.kinds == {"age": "threshold", "plan": "category", "vip": "flag"}


def test_sketch_options(folder, run):
    done = run(
        "sketch", "people.parquet", "--key", "id", "-f", "age", "-f", "plan:multi", "--edges", "age=30,50",
        "--lg-k", 5, "--form", "class_free", "--key-type", "text", "--seed", 7, "--jobs", 1,
        "-o", "s.parquet", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert (said["lg_k"], said["seed"], said["form"]) == (5, 7, "class_free")
    made = tt.SketchSet.read("s.parquet", seed=7)
    assert made.edges == {"age": (30.0, 50.0)}
    assert made.kinds["plan"] == "multi"


def like(folder, run, output, *parts):
    options = ["--key", "id", "--target", "left", "--like", "s.parquet", "-o", output]
    done = run("sketch", *parts, *options)
    assert done.code == 0, done.err


def test_parts_merge_to_the_whole(folder, run, sketched):
    table = pd.read_parquet("people.parquet")
    table[:100].to_csv("a.csv", index=False)
    table[100:].to_csv("b.csv", index=False)
    for part in "ab":
        like(folder, run, f"{part}.parquet", f"{part}.csv")
    assert run("merge", "a.parquet", "b.parquet", "-o", "ab.parquet").code == 0
    assert tt.SketchSet.read("ab.parquet") == sketched
    like(folder, run, "c.parquet", "a.csv", "b.csv")
    assert tt.SketchSet.read("c.parquet") == sketched


def test_fit_sketches_and_predict_raw_columns(folder, run, sketched):
    done = run("fit", "s.parquet", "--max-depth", 3, "-o", "m.json")
    assert done.code == 0, done.err
    model = tt.load("m.json")
    assert model.tree_ == tt.ThetaSketchDecisionTreeClassifier(max_depth=3).fit(sketched).tree_
    assert run("predict", "m.json", "people.csv", "-o", "p.csv").code == 0
    table = pd.read_parquet("people.parquet")
    assert pd.read_csv("p.csv").prediction.tolist() == model.predict(table).tolist()
    assert run("evaluate", "m.json", "people.csv", "--target", "left").code == 0


@pytest.mark.parametrize(("algorithm", "name"), [("cart", "CARTClassifier"), ("thaid", "THAIDClassifier")])
def test_other_algorithms_from_sketches(folder, run, sketched, algorithm, name):
    done = run("fit", "s.parquet", "-a", algorithm, "--max-depth", 2, "--json")
    assert json.loads(done.out)["estimator"] == name
    assert "aid" in run("fit", "s.parquet", "-a", "aid").err


def test_one_file_per_class(folder, run, sketched):
    arrow = sketched.to_arrow().to_pandas()
    for label in ("no", "yes"):
        part = arrow[arrow["class"] == label]
        flags = part[part.feature.isna() | (part.feature == "vip")]
        names = flags.feature.fillna("total")
        text = [bytes(blob).hex() for blob in flags.sketch]
        pd.DataFrame({"feature": names, "sketch": text}).to_csv(f"{label}.csv", index=False)
    done = run("fit", "--class", "no=no.csv", "--class", "yes=yes.csv", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["classes"] == ["no", "yes"]
    assert json.loads(done.out)["depth"] == 1
    assert run("merge", "--class", "no=no.csv", "--class", "yes=yes.csv", "-o", "m.parquet").code == 0
    assert tt.SketchSet.read("m.parquet").classes == ("no", "yes")


def test_inspect(folder, run, sketched):
    assert run("inspect", "s.parquet").out.strip() == sketched.describe()
    assert json.loads(run("inspect", "s.parquet", "--json").out)["features"] == sketched.kinds
    counts = json.loads(run("inspect", "s.parquet", "--counts", "--json").out)["counts"]
    assert len(counts) == len(sketched)
    table = json.loads(run("inspect", "people.csv", "--json").out)
    assert table["rows"] == 400
    assert {row["column"]: row["missing"] for row in table["columns"]}["age"] == 8
    assert "a table of 400 rows" in run("inspect", "people.parquet").out
    run("fit", "people.csv", "--target", "left", "-o", "m.json")
    assert "CARTClassifier" in run("inspect", "m.json").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sketch", "people.csv", "--key", "no", "-o", "x.parquet"], ["'no'"]),
        (["sketch", "people.csv", "--key", "id", "--edges", "age", "-o", "x.parquet"], ["NAME=1,2,5"]),
        (["sketch", "people.csv", "--key", "id", "--edges", "age=a,b", "-o", "x.parquet"], ["NAME=1,2,5"]),
        (["sketch", "people.csv", "--key", "id"], ["--output"]),
        (["sketch", "none.csv", "--key", "id", "-o", "x.parquet"], ["none.csv"]),
        (["merge", "-o", "x.parquet"], ["at least one"]),
        (["merge", "--total", "s.parquet", "-o", "x.parquet"], ["--class"]),
        (["merge", "--class", "s.parquet", "-o", "x.parquet"], ["LABEL=FILE"]),
        (["merge", "s.parquet", "--class", "a=s.parquet", "-o", "x.parquet"], ["not both"]),
        (["fit", "s.parquet", "--target", "left"], ["--target"]),
        (["inspect", "none.parquet"], ["none.parquet"]),
    ],
)
def test_mistakes(folder, run, sketched, arguments, words):
    done = run(*arguments)
    assert done.code in (1, 2)
    assert len(done.err.splitlines()) == 1, done.err
    assert not (folder / "x.parquet").exists()
    for word in words:
        assert word in done.err


def test_a_folder_of_parts_as_a_cluster_writes_it(folder, run, sketched):
    (folder / "out").mkdir()
    table = sketched.to_arrow().replace_schema_metadata(None)
    half = len(table) // 2
    for i, part in enumerate((table[:half], table[half:])):
        pq.write_table(part, folder / "out" / f"part-{i:05d}.parquet")
    (folder / "out" / "_SUCCESS").touch()
    done = run("fit", "out", "--max-depth", 2, "-o", "m.json")
    assert done.code == 0, done.err
    assert tt.load("m.json").tree_.n_node_samples[0] == 400
    assert run("inspect", "out").code == 0
    assert run("evaluate", "m.json", "out").code == 0
    (folder / "rows").mkdir()
    done = run("fit", "rows", "--target", "left")
    assert done.code == 1
    assert "name its files" in done.err
