"""Figures of a tree on a sketch set: exact ones equal the rows', the others are as far off as they say."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import thetatree as tt
from thetatree import judge

NAMES = ["keys", "accuracy", "balanced accuracy", "log loss", "Brier score", "AUC"]


def people(n=20_000, classes=("no", "yes"), seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n),
            "member": rng.random(n) < 0.3,
            "plan": rng.choice(["a", "b", "c"], n),
        }
    )
    rate = 0.1 + 0.4 * table.member + 0.2 * (table.age > 50)
    code = (rng.random(n) < rate).astype(int) + (rng.random(n) < 0.3) * (len(classes) - 2)
    return table.assign(y=np.array(classes)[code])


def figures_of_rows(model, table):
    X, y = table[["age", "member", "plan"]], table.y
    predicted, shares = model.predict(X), model.predict_proba(X)
    classes = list(model.classes_)
    truth = np.array([[label == k for k in classes] for label in y], dtype=float)
    two = len(classes) == 2
    areas = [metrics.roc_auc_score(truth[:, k], shares[:, k]) for k in range(len(classes))]
    return {
        "keys": len(y),
        "accuracy": metrics.accuracy_score(y, predicted),
        "balanced accuracy": metrics.balanced_accuracy_score(y, predicted),
        "log loss": metrics.log_loss(y, shares, labels=classes),
        "Brier score": ((shares - truth) ** 2).sum(axis=1).mean() / (2 if two else 1),
        "AUC": areas[1] if two else np.mean(areas),
    }


@pytest.mark.parametrize("classes", [("no", "yes"), ("high", "low", "mid")])
def test_where_nothing_is_left_out_the_figures_are_the_rows(classes):
    table, later = people(3_000, classes), people(2_000, classes, seed=1)
    made = tt.sketch(table, "id", "y", lg_k=16)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=4).fit(made)
    found = judge.evaluate(model, tt.sketch(later, "id", "y", lg_k=16, edges=made.edges))
    frame = found.frame.set_index("figure")
    assert frame.index.tolist() == NAMES
    for name, value in figures_of_rows(model, later).items():
        assert frame.loc[name, "value"] == pytest.approx(value, rel=1e-12)
    assert (found.frame.standard_error == 0).all()
    assert (found.frame[["lower", "upper"]].to_numpy() == found.frame[["value"]].to_numpy()).all()
    predicted = model.predict(later[["age", "member", "plan"]])
    assert found.confusion.to_numpy() == pytest.approx(
        metrics.confusion_matrix(later.y, predicted, labels=model.classes_)
    )


@pytest.mark.parametrize(("form", "lg_k"), [("per_class", 8), ("per_class", 11), ("class_free", 10)])
@pytest.mark.parametrize("classes", [("no", "yes"), ("high", "low", "mid")])
def test_errors_are_as_great_as_they_say(form, lg_k, classes):
    """The same rows under other hashes: what the figures vary by is what they say they vary by."""
    table = people(classes=classes)
    whole = tt.sketch(table, "id", "y", lg_k=15)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=3, significance=None).fit(whole)
    true = pd.Series(figures_of_rows(model, table))[NAMES].to_numpy()
    z = []
    for again in range(40):
        hashed = table.assign(id=table.id + again * 1_000_000)
        made = tt.sketch(hashed, "id", "y", lg_k=lg_k, form=form, edges=whole.edges)
        frame = judge.evaluate(model, made).frame
        z.append((frame.value.to_numpy() - true) / frame.standard_error.to_numpy())
    z = np.array(z)
    assert ((z.std(axis=0) > 0.7) & (z.std(axis=0) < 1.35)).all(), dict(
        zip(NAMES, z.std(axis=0), strict=True)
    )
    assert (np.abs(z.mean(axis=0)) < 0.5).all()


def test_a_decision_is_judged_as_it_decides():
    table = people(4_000)
    made = tt.sketch(table, "id", "y", lg_k=16)
    plain = tt.ThetaSketchDecisionTreeClassifier(max_depth=3)
    mail = judge.DecisionStrategy(plain, "cost", weights=(3, 1)).fit(made)
    found = judge.evaluate(mail, made)
    predicted = mail.predict(table[["age", "member", "plan"]])
    assert found.frame.value[1] == pytest.approx(metrics.accuracy_score(table.y, predicted))


def test_what_can_not_be_judged_is_named():
    table = people(500)
    made = tt.sketch(table, "id", "y")
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(made)
    with pytest.raises(ValueError, match="of which the set has no sketch"):
        judge.evaluate(model, made.select(["plan"]))
    with pytest.raises(ValueError, match="level"):
        judge.evaluate(model, made, level=2)
    with pytest.raises(ValueError, match="regression"):
        judge.evaluate(tt.CARTRegressor().fit(table[["age"]], table.id), made)


def test_the_command(tmp_path, monkeypatch, capsys):
    from thetatree.cli.app import main

    monkeypatch.chdir(tmp_path)
    table = people(5_000)
    made = tt.sketch(table, "id", "y", lg_k=9)
    made.write("set.parquet")
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(made)
    model.save("m.json")
    assert main(["evaluate", "m.json", "set.parquet"]) == 0
    said = capsys.readouterr().out
    assert str(judge.evaluate(model, made)) in said
    assert "keys by truth" in said
    assert main(["evaluate", "m.json", "set.parquet", "--json", "--level", "0.9"]) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert figures[1] == judge.evaluate(model, made, level=0.9).frame.iloc[1].to_dict()
    assert main(["evaluate", "m.json", "set.parquet", "--target", "y"]) == 2
    assert "does not go with sketches" in capsys.readouterr().err
    table.to_csv("rows.csv", index=False)
    assert main(["evaluate", "m.json", "rows.csv"]) == 2
    assert "--target" in capsys.readouterr().err


def test_it_draws():
    pytest.importorskip("matplotlib").use("Agg")
    made = tt.sketch(people(2_000), "id", "y", lg_k=9)
    axes = judge.evaluate(tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(made), made).plot()
    assert [label.get_text() for label in axes.get_xticklabels()] == NAMES[1:]
