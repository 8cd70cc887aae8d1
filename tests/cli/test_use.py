"""predict and evaluate: the same figures as the library's, in every format, whole or not at all."""

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from people import make_table
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score, roc_auc_score

import thetatree as tt


@pytest.fixture
def fitted(folder, run):
    done = run("fit", "people.csv", "--target", "left", "--ignore", "id", "--ignore", "spend", "-o", "m.json")
    assert done.code == 0, done.err
    return tt.load("m.json")


def read(path):
    name = str(path)
    if name.endswith("parquet"):
        return pd.read_parquet(path)
    if name.endswith("arrow"):
        return pd.read_feather(path)
    if name.endswith("jsonl"):
        return pd.read_json(path, lines=True)
    return pd.read_csv(path, sep="\t" if name.endswith("tsv") else ",")


def features_of(table):
    return table[["age", "plan", "vip"]].astype({"plan": "string"})


@pytest.mark.parametrize("source", ["people.csv", "people.parquet"])
@pytest.mark.parametrize("output", ["p.csv", "p.tsv", "p.parquet", "p.arrow", "p.jsonl"])
def test_predict(folder, run, fitted, source, output):
    done = run("predict", "m.json", source, "-o", output, "--proba", "--leaf", "--rule")
    assert done.code == 0, done.err
    table, made = read(source), read(output)
    assert made.prediction.tolist() == fitted.predict(features_of(table)).tolist()
    shares = made[["probability_no", "probability_yes"]].to_numpy()
    np.testing.assert_allclose(shares, fitted.predict_proba(features_of(table)), rtol=1e-15)
    assert made.leaf.tolist() == fitted.apply(features_of(table)).tolist()
    rules = dict(zip(np.flatnonzero(fitted.tree_.is_leaf), map(str, fitted.tree_.rules()), strict=True))
    assert made.rule.tolist() == [rules[leaf] for leaf in made.leaf]
    assert made.id.tolist() == table.id.tolist()


def test_streams(fitted, folder):
    with Path("people.csv").open("rb") as rows:
        done = subprocess.run(
            [sys.executable, "-m", "thetatree", "predict", "m.json", "-", "--keep", "none"],
            stdin=rows,
            capture_output=True,
            check=True,
        )
    made = pd.read_csv(io.BytesIO(done.stdout))
    assert made.prediction.tolist() == fitted.predict(features_of(read("people.csv"))).tolist()
    assert done.stderr == b""


def test_a_reader_that_has_had_enough(fitted, folder):
    command = f"{sys.executable} -m thetatree predict m.json big.csv | head -1"
    pd.concat([make_table(5000)] * 20).to_csv("big.csv", index=False)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_types_are_those_of_training(folder, run):
    """A category that looks like a number, a number that starts whole, a flag of 0 and 1."""
    table = make_table()
    table["zip"] = [f"{i % 5:03d}" for i in range(len(table))]
    table.to_csv("t.csv", index=False)
    done = run("fit", "t.csv", "--target", "left", "--category", "zip", "--ignore", "id", "-o", "m.json")
    assert done.code == 0, done.err
    model = tt.load("m.json")
    table["vip"] = table.vip.astype(int)
    table["age"] = table.age.fillna(30).astype(int).astype(str)
    table.loc[len(table) - 1, "age"] = "30.5"
    table.to_csv("u.csv", index=False)
    assert run("predict", "m.json", "u.csv", "-o", "p.csv").code == 0
    run("predict", "m.json", "u.csv", "-o", "p.parquet")
    made = pd.read_parquet("p.parquet")
    assert made.zip.tolist() == table.zip.tolist()
    assert made.id.tolist() == table.id.tolist()
    X = table[[f.name for f in model.tree_.features]].astype({"age": float, "vip": bool})
    assert pd.read_csv("p.csv").prediction.tolist() == model.predict(X).tolist()


def test_keep_and_name(folder, run, fitted):
    run("predict", "m.json", "people.csv", "-o", "p.csv", "--keep", "id,left", "--name", "guess")
    assert list(pd.read_csv("p.csv").columns) == ["id", "left", "guess"]
    assert "'nix'" in run("predict", "m.json", "people.csv", "-o", "p.csv", "--keep", "nix").err
    done = run("predict", "m.json", "people.csv", "-o", "p.csv", "--name", "left")
    assert done.code == 1
    assert "--name" in done.err


def test_a_failure_half_way_leaves_nothing(folder, run, fitted):
    (folder / "p.csv").write_text("old")
    good = make_table(300_000)
    good["age"] = good.age.astype(str)
    good.loc[len(good) - 1, "age"] = "old enough"
    good.to_csv("bad.csv", index=False)
    done = run("predict", "m.json", "bad.csv", "-o", "p.csv")
    assert done.code == 1
    assert "old enough" in done.err
    assert (folder / "p.csv").read_text() == "old"
    assert not list(folder.glob(".*"))


def test_an_interrupt_leaves_nothing(folder, fitted):
    pd.concat([make_table(100_000)] * 10).to_csv("big.csv", index=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "thetatree", "predict", "m.json", "big.csv", "-o", "p.csv", "--rule"],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(folder.glob(".p.csv*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted" in err
    assert not list(folder.glob("*p.csv*"))


def test_a_lacking_column(folder, run, fitted):
    pd.read_csv("people.csv").drop(columns="vip").to_csv("less.csv", index=False)
    done = run("predict", "m.json", "less.csv", "-o", "p.csv")
    assert done.code == 1
    assert "'vip'" in done.err


def test_a_model_without_names(folder, run):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    model = tt.CARTClassifier().fit(X, y)
    model.save("n.json")
    pd.DataFrame(X).to_parquet("two.parquet")
    assert run("predict", "n.json", "two.parquet", "-o", "p.parquet").code == 0
    assert pd.read_parquet("p.parquet").prediction.tolist() == model.predict(X).tolist()
    assert "2 columns" in run("predict", "n.json", "people.parquet").err


def test_evaluate(folder, run, fitted):
    table = read("people.csv")
    figures = json.loads(run("evaluate", "m.json", "people.csv", "--target", "left", "--json").out)
    X = features_of(table)
    shares = fitted.predict_proba(X)
    assert figures["accuracy"] == accuracy_score(table.left, fitted.predict(X))
    assert figures["log loss"] == pytest.approx(log_loss(table.left, shares))
    assert figures["AUC"] == pytest.approx(roc_auc_score(table.left, shares[:, 1]))
    assert np.sum(figures["confusion"]) == len(table)
    shown = run("evaluate", "m.json", "people.csv", "--target", "left").out
    assert "accuracy" in shown
    assert "rows by truth" in shown
    assert "'nix'" in run("evaluate", "m.json", "people.csv", "--target", "nix").err
    assert "no class" in run("evaluate", "m.json", "people.csv", "--target", "plan").err


def test_evaluate_numbers_by_weight(folder, run):
    run(
        "fit",
        "people.csv",
        "--target",
        "spend",
        "--ignore",
        "id",
        "--ignore",
        "left",
        "--max-depth",
        3,
        "-o",
        "m.json",
    )
    table = read("people.csv")
    table["w"] = 1.0 + table.vip
    pq.write_table(pa.Table.from_pandas(table), "w.parquet")
    figures = json.loads(
        run("evaluate", "m.json", "w.parquet", "--target", "spend", "--weight", "w", "--json").out
    )
    predicted = tt.load("m.json").predict(features_of(table))
    assert figures["R²"] == pytest.approx(r2_score(table.spend, predicted, sample_weight=table.w))
    error = mean_squared_error(table.spend, predicted, sample_weight=table.w)
    assert figures["root mean square"] == pytest.approx(error**0.5)


@pytest.mark.parametrize("option", ["--proba"])
def test_numbers_have_no_probabilities(folder, run, option):
    run("fit", "people.csv", "--target", "spend", "--max-depth", 2, "-o", "m.json")
    done = run("predict", "m.json", "people.csv", option)
    assert done.code == 1
    assert "no probabilities" in done.err
