"""fit and show: what is grown is what the library grows, and mistakes are named."""

import json

import pandas as pd
import pytest

import thetatree as tt


def test_fit_is_the_estimator(folder, run):
    done = run("fit", "people.csv", "--target", "left", "--ignore", "id", "--max-depth", 3, "-o", "m.json")
    assert done.code == 0, done.err
    table = pd.read_csv("people.csv")
    X = table.drop(columns=["id", "left"])
    X["plan"] = X.plan.astype("string")
    assert tt.load("m.json").tree_ == tt.CARTClassifier(max_depth=3).fit(X, table.left).tree_
    assert "saved to m.json" in done.out
    assert done.err == ""


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (["--target", "left"], "CARTClassifier"),
        (["--target", "left", "-a", "thaid"], "THAIDClassifier"),
        (["--target", "spend"], "CARTRegressor"),
        (["--target", "spend", "-a", "aid"], "AIDRegressor"),
        (["--target", "id", "--task", "regression"], "CARTRegressor"),
        (["--target", "children", "--task", "classification"], "CARTClassifier"),
    ],
)
def test_the_algorithm(folder, run, options, name):
    table = pd.read_csv("people.csv")
    table["children"] = table.id % 3
    table.to_csv("people.csv", index=False)
    done = run("fit", "people.csv", *options, "--max-depth", "2", "-o", "m.json", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["estimator"] == name
    assert type(tt.load("m.json")).__name__ == name


def test_every_format_gives_the_same_tree(folder, run):
    table = pd.read_parquet("people.parquet")
    table.to_csv("people.tsv", index=False, sep="\t")
    table.to_csv("people.csv.gz", index=False)
    table.to_feather("people.arrow")
    table.to_json("people.jsonl", orient="records", lines=True)
    trees = []
    for name in (
        "people.parquet",
        "people.csv",
        "people.tsv",
        "people.csv.gz",
        "people.arrow",
        "people.jsonl",
    ):
        done = run("fit", name, "--target", "left", "--ignore", "id", "-o", "m.json")
        assert done.code == 0, (name, done.err)
        trees.append(tt.load("m.json").tree_)
    assert all(tree == trees[0] for tree in trees)


def test_parts_are_one_table(folder, run):
    table = pd.read_parquet("people.parquet")
    table[:150].to_csv("a.csv", index=False)
    table[150:].to_csv("b.csv", index=False)
    run("fit", "people.csv", "--target", "left", "-o", "whole.json")
    assert run("fit", "a.csv", "b.csv", "--target", "left", "-o", "parts.json").code == 0
    assert tt.load("whole.json").tree_ == tt.load("parts.json").tree_


def test_options_reach_the_estimator(folder, run):
    options = ["--criterion", "entropy", "--min-samples-leaf", 20, "--min-samples-split", 0.2]
    options += ["--ccp-alpha", 0.001, "--class-weight", "no=1,yes=3", "--missing", "majority", "--jobs", 1]
    options += [
        "--set",
        "max_categories=4",
        "--set",
        "splitter=best",
        "--max-leaf-nodes",
        6,
        "--random-state",
        3,
    ]
    done = run("fit", "people.csv", "--target", "left", *options, "--json")
    assert done.code == 0, done.err
    made = json.loads(done.out)["parameters"]
    wanted = {
        "criterion": "entropy",
        "min_samples_leaf": 20,
        "min_samples_split": 0.2,
        "ccp_alpha": 0.001,
        "class_weight": {"no": 1.0, "yes": 3.0},
        "missing": "majority",
        "n_jobs": 1,
        "max_categories": 4,
        "splitter": "best",
        "max_leaf_nodes": 6,
        "random_state": 3,
    }
    assert {name: made[name] for name in wanted} == wanted


def test_a_weight_column_and_a_category_of_numbers(folder, run):
    table = pd.read_parquet("people.parquet")
    table["w"] = table.vip * 2.0 + 1
    table["zip"] = [f"{i % 5:03d}" for i in range(len(table))]
    table.to_csv("w.csv", index=False)
    done = run(
        "fit",
        "w.csv",
        "--target",
        "left",
        "--weight",
        "w",
        "--category",
        "zip",
        "--ignore",
        "id",
        "-o",
        "m.json",
    )
    assert done.code == 0, done.err
    kinds = {feature.name: (feature.kind, feature.labels) for feature in tt.load("m.json").tree_.features}
    assert kinds["zip"] == ("category", ("000", "001", "002", "003", "004"))
    assert "w" not in kinds
    assert tt.load("m.json").tree_.weighted_n_node_samples[0] == table.w.sum()


def test_rows_without_a_target_are_left_out(folder, run):
    table = pd.read_parquet("people.parquet")
    table.loc[:9, "left"] = None
    table.to_csv("gaps.csv", index=False)
    done = run("fit", "gaps.csv", "--target", "left", "--json")
    assert "10 rows have no 'left'" in done.err
    assert json.loads(done.out)["n"] == len(table) - 10


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["fit", "people.csv", "--target", "lef"], 1, ["'lef'", "'left'"]),
        (["fit", "people.csv"], 2, ["--target COLUMN"]),
        (["fit"], 2, ["name a table"]),
        (["fit", "people.csv", "--target", "id"], 2, ["whole numbers", "--task"]),
        (
            ["fit", "people.csv", "--target", "left", "-a", "aid", "--task", "classification"],
            2,
            ["cart or thaid"],
        ),
        (["fit", "people.csv", "--target", "left", "--task", "sorting"], 2, ["neither"]),
        (["fit", "people.csv", "--target", "left", "--set", "nonsense=1"], 1, ["nonsense", "max_depth"]),
        (["fit", "people.csv", "--target", "left", "--set", "nonsense"], 2, ["NAME=VALUE"]),
        (["fit", "people.csv", "--target", "left", "--class-weight", "maybe=1"], 2, ["maybe", "yes, no"]),
        (["fit", "people.csv", "--target", "left", "--class-weight", "no=x"], 2, ["'x'"]),
        (["fit", "people.csv", "--target", "left", "--ignore", "nix"], 1, ["'nix'"]),
        (["fit", "people.csv", "--target", "left", "--criterion", "ginny"], 1, ["ginny", "gini"]),
        (["fit", "people.csv", "--target", "left", "-o", "no/such/m.json"], 1, ["no/such"]),
        (["fit", "none.csv", "--target", "left"], 1, ["none.csv"]),
        (["fit", "people.xyz", "--target", "left"], 1, ["--format"]),
        (["fti", "people.csv"], 2, ["fit"]),
        (["fit", "people.csv", "--max-dept", "3"], 2, ["--max-depth"]),
        (["show", "people.csv"], 1, ["not a thetatree model"]),
        (["show", "none.json"], 1, ["none.json"]),
    ],
)
def test_mistakes_are_one_line(folder, run, arguments, code, words):
    (folder / "people.xyz").write_text("a,b\n")
    done = run(*arguments)
    assert done.code == code
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize("content", ["", "left,age\n"])
def test_empty_tables(folder, run, content):
    (folder / "empty.csv").write_text(content)
    done = run("fit", "empty.csv", "--target", "left")
    assert done.code == 1
    assert "empty.csv" in done.err


def test_debug_shows_where(folder, run):
    done = run("--debug", "fit", "none.csv", "--target", "left")
    assert done.code == 1
    assert "Traceback" in done.err


def test_show(folder, run):
    run("fit", "people.csv", "--target", "left", "--ignore", "id", "--max-depth", 2, "-o", "m.json")
    model = tt.load("m.json")
    assert run("show", "m.json").out.strip() == tt.export.to_text(model)
    rules = [str(rule) for rule in model.tree_.rules()]
    assert run("show", "m.json", "--as", "rules").out.splitlines() == rules
    assert json.loads(run("show", "m.json", "--as", "rules", "--json").out) == {"rules": rules}
    assert (
        len(json.loads(run("show", "m.json", "--as", "nodes", "--json").out)["nodes"])
        == model.tree_.node_count
    )
    shares = json.loads(run("show", "m.json", "--as", "importance", "--json").out)["importance"]
    assert sum(shares.values()) == pytest.approx(1)
    assert max(shares, key=shares.get) in run("show", "m.json", "--as", "importance").out.splitlines()[0]
    assert "no summary" in run("show", "m.json", "--as", "summary").err
    assert run("show", "m.json", "--as", "picture").code == 2


def test_summary(folder, run):
    run("fit", "people.csv", "--target", "spend", "-a", "aid", "--max-depth", 2, "-o", "m.json")
    assert run("show", "m.json", "--as", "summary").out.strip() == str(tt.load("m.json").summary()).strip()


def test_config(folder, run):
    (folder / "c.toml").write_text(
        '[fit]\ntarget = "left"\nmax-depth = 1\nignore = ["id"]\nset = {max_categories = 3}\n'
    )
    made = json.loads(run("--config", "c.toml", "fit", "people.csv", "--json").out)
    assert made["depth"] == 1
    assert made["parameters"]["max_categories"] == 3
    assert "id" not in made["features"]
    assert (
        json.loads(run("--config", "c.toml", "fit", "people.csv", "--json", "--max-depth", 2).out)["depth"]
        == 2
    )


def test_config_in_yaml(folder, run):
    (folder / "c.yaml").write_text("fit:\n  target: left\n  max_depth: 1\n")
    assert json.loads(run("--config", "c.yaml", "fit", "people.csv", "--json").out)["depth"] == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit]\ntarge = 1", ["targe", "'target'"]),
        ("[ftt]\na = 1", ["ftt", "'fit'"]),
        ("fit = 3", ["table"]),
        ("[fit", ["not TOML"]),
    ],
)
def test_config_mistakes(folder, run, text, words):
    (folder / "c.toml").write_text(text)
    done = run("--config", "c.toml", "fit", "people.csv")
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    for word in words:
        assert word in done.err


@pytest.mark.filterwarnings("default")
def test_a_warning_is_a_note(folder, run):
    done = run("fit", "people.csv", "--target", "id", "--task", "classification", "--max-depth", 1)
    assert done.code == 0
    assert done.err.startswith("thetatree: note: The number of unique classes")
