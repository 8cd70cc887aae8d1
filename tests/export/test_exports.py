"""What all exports share: golden files, sizes, depth, names. THETATREE_WRITE_GOLDEN=1 rewrites the files."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import thetatree as tt
from thetatree.data.features import Feature
from thetatree.export.view import View
from thetatree.tree.tree import Tree

GOLDEN = Path(__file__).parents[1] / "golden"
EXPORTS = {
    "dot.dot": tt.export.to_dot,
    "json.json": lambda model: tt.export.to_json(model, indent=2),
    "python.txt": tt.export.to_python,
    "c.h": tt.export.to_c,
    "java.java": tt.export.to_java,
    **{
        f"sql_{dialect}.sql": lambda model, dialect=dialect: tt.export.to_sql(
            model,
            dialect=dialect,
            output=["prediction", "probability", "leaf"],
            label="ye's",
            table=("shop", "customers"),
        )
        for dialect in ("duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake")
    },
}


def customers():
    """Every kind of column, names and labels that need quoting, missing values learnt both ways."""
    rng = np.random.default_rng(5)
    n = 400
    frame = pd.DataFrame(
        {
            'age "years"': np.where(rng.random(n) < 0.2, np.nan, rng.integers(18, 80, n)),
            "select": rng.choice(["Århus", 'the "city"', "it's", "Oslo"], n),
            "x<y": pd.Series(rng.random(n) < 0.4),
            "code": pd.Categorical(rng.integers(0, 30, n)),
        }
    )
    frame.loc[rng.random(n) < 0.1, "select"] = None
    score = frame.iloc[:, 0].fillna(70) / 20 + frame["x<y"] * 2 + frame["select"].isin(["Oslo", "it's"])
    score += frame["code"].astype(int) % 3
    y = np.array(["no", "ye's", 'may"be'])[np.searchsorted(np.quantile(score, [0.4, 0.7]), score)]
    return tt.CARTClassifier(max_depth=4, min_samples_leaf=15).fit(frame, y)


@pytest.mark.parametrize("name", EXPORTS)
def test_golden(name):
    text = EXPORTS[name](customers()) + "\n"
    path = GOLDEN / f"to_{name}"
    if os.environ.get("THETATREE_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EXPORTS)
def test_an_estimator_or_its_tree(name):
    model = customers()
    assert EXPORTS[name](model) == EXPORTS[name](model.tree_)


def chain(n):
    """A tree of n tests, each a leaf and all the others: as deep as trees get."""
    rng = np.random.default_rng(0)
    nodes = 2 * n + 1
    inner = np.arange(nodes) % 2 == 0
    inner[-1] = False
    arrays = {
        "kind": inner,
        "feature": np.where(inner, rng.integers(0, 3, nodes), -2),
        "threshold": np.where(inner, rng.normal(-3, 1, nodes), -2),
        "missing_branch": np.where(inner, 1, -1),
        "child_start": np.cumsum([0, *np.where(inner, 2, 0)]),
        "child": np.arange(1, nodes),
        "category_start": np.zeros(nodes + 1),
        "category": [],
        "category_branch": [],
        "value": rng.normal(size=nodes),
        **{
            name: np.ones(nodes)
            for name in ("impurity", "score", "weighted_n_node_samples", "n_node_samples")
        },
        "impurity_decrease": np.zeros(nodes),
    }
    return Tree.from_arrays(
        arrays, tuple(Feature(f"x{j}", "number") for j in range(3)), None, "squared_error"
    )


def bushy(n):
    rng = np.random.default_rng(1)
    return tt.CARTRegressor().fit(rng.normal(size=(n, 3)), rng.normal(size=n)).tree_


@pytest.mark.parametrize("tree", [chain(4000), bushy(4000)], ids=["deep", "bushy"])
def test_large_trees_in_every_language(tree, tmp_path):
    """Blocks stay shallow and functions short, whatever the depth."""
    X = np.random.default_rng(2).normal(-3, 1, size=(40, 3))
    X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
    leaves = tree.apply(X).tolist()
    names = {}
    exec(tt.export.to_python(tree), names)
    assert [names["apply"]({"x0": a, "x1": b, "x2": c}) for a, b, c in X.tolist()] == leaves

    (tmp_path / "tree.h").write_text(tt.export.to_c(tree))
    (tmp_path / "a.c").write_text('#include "tree.h"\nint find(const double *x) { return tree_apply(x); }')
    subprocess.run(
        ["cc", "-std=c99", "-O0", "-shared", "-fPIC", "-o", "a.so", "a.c"], cwd=tmp_path, check=True
    )
    find = ctypes.CDLL(str(tmp_path / "a.so")).find
    assert [find((ctypes.c_double * 3)(*row)) for row in X] == leaves

    widest = max(
        len(line) - len(line.lstrip()) for line in tt.export.to_sql(tree, dialect="duckdb").split("\n")
    )
    assert widest <= 4 * np.log2(tree.node_count) + 2
    assert tt.export.to_json(tree).count('"depth"') == tree.node_count
    assert tt.export.to_dot(tree).count("->") == tree.node_count - 1


def test_parts_cover_the_tree_and_stay_small():
    for tree in (chain(500), bushy(500)):
        view = View(tree)
        roots = view.parts(50)
        seen = []
        for root in roots:
            steps = list(view.steps(root, frozenset(roots)))
            assert sum(step.what in ("open", "leaf") for step in steps) <= 60
            seen += [step.node for step in steps if step.what == "leaf"]
        assert sorted(seen) == view.leaves


@pytest.mark.parametrize("export", [tt.export.to_c, tt.export.to_java], ids=["C", "Java"])
def test_names_that_are_no_identifiers_are_refused(export):
    model = customers()
    for name in ("", "1a", "a-b", "a b", "é"):
        with pytest.raises(ValueError, match=r"name must be an identifier"):
            export(model, name=name)
    with pytest.raises(ValueError, match=r"identifier of Java; got 'class'"):
        tt.export.to_java(model, name="class")


@pytest.mark.parametrize("export", [tt.export.to_c, tt.export.to_java], ids=["C", "Java"])
def test_labels_of_one_text_are_refused(export):
    X = pd.DataFrame({"code": pd.Series(["1", 1, "2", 2] * 3, dtype=object)})
    with pytest.raises(ValueError, match=r"column 'code' has labels of one text, (1 and '1'|'1' and 1)"):
        export(tt.CARTClassifier().fit(X, [0, 1, 1, 0] * 3))


def test_rules_as_a_data_frame():
    model = customers()
    rules = pd.DataFrame(model.tree_.rules())
    assert rules.columns.tolist() == ["leaf", "conditions", "n", "weight", "prediction", "values"]
    assert rules.n.sum() == 400
