"""Tables as people have them: other separators and encodings, dates, gaps; what is wrong is one line."""

import json

import pandas as pd
import pytest

import thetatree as tt

HARD = {
    "Größe, in cm": [150.5, 171.25, 180.0, 166.5] * 10,
    "名前": ['a "b"', "x;y", "mehr\nZeilen", ""] * 10,
    "left it?": ["no", "yes", "yes", "no"] * 10,
}


def hard(path, **options):
    pd.DataFrame(HARD).to_csv(path, index=False, **options)


@pytest.mark.parametrize(
    ("name", "format_name", "options"),
    [
        ("t.csv", None, {}),
        ("t.csv", None, {"encoding": "utf-8-sig", "lineterminator": "\r\n"}),
        ("t.csv", "csv2", {"sep": ";", "decimal": ",", "encoding": "utf-8-sig"}),
        ("t.csv", "ssv", {"sep": ";"}),
        ("t.txt", "tsv", {"sep": "\t"}),
    ],
)
def test_dialects_give_the_same_tree_and_predictions(folder, run, name, format_name, options):
    hard("plain.csv")
    hard(name, **options)
    chosen = [] if format_name is None else ["--format", format_name]
    for source, how, model in (("plain.csv", [], "a.json"), (name, chosen, "b.json")):
        done = run("fit", source, *how, "--target", "left it?", "-o", model)
        assert done.code == 0, done.err
    assert tt.load("a.json").tree_ == tt.load("b.json").tree_
    done = run("predict", "b.json", name, *chosen, "-o", "p.parquet")
    assert done.code == 0, done.err
    assert pd.read_parquet("p.parquet").prediction.tolist() == HARD["left it?"]
    if chosen:
        run("predict", "b.json", name, *chosen, "-o", "p.csv", "--output-format", *chosen[1:])
        again = run("predict", "b.json", "p.csv", *chosen, "--name", "again", "-o", "q.parquet")
        assert again.code == 0, again.err
        assert pd.read_parquet("q.parquet")["Größe, in cm"].tolist() == HARD["Größe, in cm"]


def test_the_format_reaches_every_command_that_reads_rows(folder, run):
    pd.read_csv("people.csv").to_csv("t.csv", index=False, sep=";", decimal=",")
    same = ["t.csv", "--format", "csv2"]
    assert run("fit", *same, "--target", "left", "--ignore", "id", "-o", "m.json").code == 0
    for arguments in (
        ["inspect", *same],
        ["sketch", *same, "--key", "id", "--target", "left", "-o", "s.parquet"],
        ["evaluate", "m.json", *same, "--target", "left"],
        ["report", "m.json", "--data", *same, "--target", "left", "-o", "r.html"],
        ["prune", "m.json", "--by", "validation", "--data", *same, "--target", "left", "-o", "n.json"],
    ):
        done = run(*arguments)
        assert done.code == 0, done.err


@pytest.mark.parametrize("command", ["fit", "inspect", "predict", "sketch"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a;b;c\n1,5;x;y\n", ["semicolons", "--format csv2"]),
        (b"a\tb\n1\tx\n", ["tabs", "--format tsv"]),
        ("a,b\n1,x\n".encode("utf-16"), ["UTF-16", "CSV UTF-8"]),
        ("größe,b\n1,x\n".encode("latin-1"), ["header", "not UTF-8"]),
        ("a,b\nKöln,x\nUlm,y\n".encode("latin-1"), ["UTF"]),
        (b"a,a,b\n1,2,x\n", ["several columns 'a'"]),
    ],
)
def test_what_other_programs_write_is_named(folder, run, command, content, words):
    run("fit", "people.csv", "--target", "left", "--ignore", "id", "-o", "m.json")
    (folder / "t.csv").write_bytes(content)
    done = run(
        *{
            "fit": ["fit", "t.csv", "--target", "b"],
            "inspect": ["inspect", "t.csv"],
            "predict": ["predict", "m.json", "t.csv"],
            "sketch": ["sketch", "t.csv", "--key", "a", "-o", "s.parquet"],
        }[command]
    )
    assert done.code == 1
    assert len(done.err.splitlines()) == 1, done.err
    for word in words:
        assert word in done.err


def test_spreadsheets_are_named(folder, run):
    (folder / "book.xlsx").write_bytes(b"PK")
    assert "CSV" in run("fit", "book.xlsx", "--target", "b").err
    run("fit", "people.csv", "--target", "left", "-o", "m.json")
    assert "CSV" in run("predict", "m.json", "people.csv", "-o", "p.xlsx").err
    assert "--output-format" in run("predict", "m.json", "people.csv", "-o", "p.out").err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_dates_are_named_all_at_once_with_the_remedy(folder, run, ending):
    table = pd.read_csv("people.csv").assign(begun="2024-01-02", ended="2024-03-04")
    if ending == "csv":
        table.to_csv("t.csv", index=False)
    else:
        table.assign(begun=pd.Timestamp("2024-01-02"), ended=pd.Timestamp("2024-03-04")).to_parquet(
            "t.parquet"
        )
    for arguments in (
        ["fit", f"t.{ending}", "--target", "left"],
        ["sketch", f"t.{ending}", "--key", "id", "--target", "left", "-o", "s.parquet"],
    ):
        done = run(*arguments)
        assert done.code == 1
        assert "--ignore 'begun' --ignore 'ended'" in done.err
        done = run(*arguments, "--ignore", "begun", "--ignore", "ended")
        assert done.code == 0, done.err


def test_columns_that_are_not_what_they_seem_are_noted(folder, run):
    table = pd.read_csv("people.csv")
    table["amount"] = [f"{value:,.2f}" for value in table.spend * 100]
    table["score"] = ["?" if i % 9 == 0 else str(i % 50) for i in table.index]
    table.drop(columns="spend").to_csv("t.csv", index=False)
    done = run("fit", "t.csv", "--target", "left", "--max-depth", 2)
    assert done.code == 0
    lines = done.err.splitlines()
    assert any("'id' has another value in every row" in line for line in lines)
    assert any("'amount' is read as categories" in line for line in lines)
    assert any("'score' is read as categories" in line and "'?'" in line for line in lines)
    assert not any("plan" in line for line in lines)


def test_no_rows_are_predicted_as_no_rows(folder, run):
    run("fit", "people.csv", "--target", "left", "--ignore", "id", "-o", "m.json")
    header = (folder / "people.csv").read_text().splitlines()[0]
    (folder / "none.csv").write_text(f"{header}\n")
    pd.read_parquet("people.parquet").head(0).to_parquet("none.parquet")
    for source in ("none.csv", "none.parquet"):
        done = run("predict", "m.json", source, "-o", "p.csv", "--proba", "--leaf", "--rule")
        assert done.code == 0, done.err
        names = [*header.split(","), "prediction", "probability_no", "probability_yes", "leaf", "rule"]
        assert list(pd.read_csv("p.csv").columns) == names
        done = run("predict", "m.json", source, "-o", "p.parquet")
        assert pd.read_parquet("p.parquet").prediction.dtype == pd.read_parquet("people.parquet").left.dtype
    assert "header but no row" in run("fit", "none.csv", "--target", "left").err
    assert "no rows" in run("sketch", "none.csv", "--key", "id", "-o", "s.parquet").err


def test_rows_without_a_truth_are_not_judged(folder, run):
    run("fit", "people.csv", "--target", "left", "--ignore", "id", "-o", "m.json")
    run("fit", "people.csv", "--target", "spend", "--ignore", "id", "--max-depth", 2, "-o", "n.json")
    table = pd.read_csv("people.csv")
    table.loc[:9, ["left", "spend"]] = None
    table.to_csv("gaps.csv", index=False)
    for model, target in (("m.json", "left"), ("n.json", "spend")):
        done = run("evaluate", model, "gaps.csv", "--target", target, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["rows"] == len(table) - 10
        assert "10 rows have no" in done.err
    table.assign(left=None).to_csv("gaps.csv", index=False)
    assert "no row has a 'left'" in run("evaluate", "m.json", "gaps.csv", "--target", "left").err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "people.csv", "--target", "Left"], "did you mean 'left'?"),
        (["fit", "people.csv", "--target", "left", "--ignore", "vips"], "did you mean 'vip'?"),
        (["evaluate", "m.json", "people.csv", "--target", "LEFT"], "did you mean 'left'?"),
        (["predict", "m.json", "people.csv", "--keep", "plans"], "did you mean 'plan'?"),
        (["sketch", "people.csv", "--key", "id", "--ignore", "plam", "-o", "s.parquet"], "mean 'plan'?"),
        (["sketch", "people.csv", "--key", "id", "--target", "left", "-o", "s.csv"], ".parquet"),
        (["export", "m.json", "--to", "sklearn"], "to_sklearn"),
        (["export", "m.json", "--to", "sql", "--column", "probabilty"], "did you mean 'probability'?"),
        (["prune", "m.json", "--by", "cv", "-o", "n.json"], "--ccp-alpha cv"),
        (["demo", "--customers", "0"], "100"),
        (["fit", "people.csv", "--target", "left", "-o", "."], "is a folder"),
        (["predict", "m.json", "people.csv", "-o", ".", "--output-format", "csv"], "is a folder"),
    ],
)
def test_mistakes_come_with_what_was_meant(folder, run, arguments, words):
    run("fit", "people.csv", "--target", "left", "-o", "m.json")
    done = run(*arguments)
    assert done.code in (1, 2)
    assert len(done.err.splitlines()) == 1, done.err
    assert words in done.err


def test_a_model_by_any_name(folder, run):
    for name in ("a", "b.model"):
        run("fit", "people.csv", "--target", "left", "--ignore", "id", "-o", name)
        assert "CARTClassifier" in run("inspect", name).out
    done = run("compare", "a", "b.model")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].split()[-1] == "path"
    assert (folder / "a").read_bytes() == (folder / "b.model").read_bytes()


def test_one_value_for_what_may_be_repeated(folder, run):
    (folder / "c.toml").write_text('[fit]\ntarget = "left"\nignore = "id"\n')
    made = json.loads(run("--config", "c.toml", "fit", "people.csv", "--json").out)
    assert "id" not in made["features"]


def test_many_categories_are_counted_in_text_and_whole_in_rules(folder, run):
    table = pd.DataFrame({"place": [f"town {i:03d}" for i in range(60)] * 2, "y": ["a"] * 60 + ["b"] * 60})
    table.loc[:29, "y"] = "b"
    table.loc[60:89, "y"] = "b"
    table.to_csv("t.csv", index=False)
    assert run("fit", "t.csv", "--target", "y", "--max-depth", 1, "-o", "m.json").code == 0
    shown = run("show", "m.json").out
    assert "'town 009', … 20 more}" in shown or "'town 039', … 20 more}" in shown
    assert "more}" not in run("show", "m.json", "--as", "rules").out
    dot = run("export", "m.json", "--to", "dot").out
    assert "… 20 more" in dot


def test_sql_says_what_it_takes_for_flags(folder, run):
    done = run("sql", "duckdb", "t", "--key", "id", "-f", "vip", "-f", "age", "--edges", "age=30", "--hashes")
    assert done.code == 0
    assert "'vip'" in done.err
    assert "'age'" not in done.err
    assert run("sql", "duckdb", "t", "--key", "id", "-f", "vip:flag", "--hashes").err == ""


def test_without_a_command_the_help_is_shown(run):
    done = run()
    assert done.code == 0
    assert done.out == run("--help").out
    assert "..." not in done.out.split("Commands:")[1]
