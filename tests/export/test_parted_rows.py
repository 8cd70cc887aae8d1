"""Trees that part a row with a missing value among all branches: exports give such rows no answer."""

import json

import numpy as np
import pytest
from export.engines import DuckDB, Sqlite
from export.test_c import compiled, run_all
from export.test_java import answers
from naive.models import NONE, Model, random_model, walk

import thetatree as tt
from thetatree.tree.tree import EVERY_BRANCH, Tree


def parting(seed):
    """A random tree by hand that parts rows at half of its nodes, and at the first."""
    case = random_model(seed, rows=150, kinds=("hand",))
    arrays = dict(case.tree.arrays())
    some = np.random.default_rng(seed).random(case.tree.node_count) < 0.5
    some[0] = True
    arrays["missing_branch"] = np.where(some & ~case.tree.is_leaf, EVERY_BRANCH, case.tree.missing_branch)
    tree = Tree.from_arrays(arrays, case.tree.features, case.tree.classes, case.tree.criterion)
    leaves = np.array([walk(tree, row) for row in case.table.to_dict("records")])
    return Model(case.name, tree, case.table, leaves, [], None)


CASES = [case for case in map(parting, range(12)) if case.tree.node_count > 1]


def said(case):
    """What each row should be told: class or value, None where nothing."""
    tree = case.tree
    words = tree.values[:, 0].tolist() if tree.classes is None else None
    words = words or [tree.classes[k] for k in tree.values.argmax(axis=1)]
    return [None if leaf == NONE else words[leaf] for leaf in case.leaves]


def test_there_are_rows_of_both_kinds():
    lost = np.concatenate([case.leaves == NONE for case in CASES])
    assert 0.1 < lost.mean() < 0.9


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_python_raises(case):
    names = {}
    exec(tt.export.to_python(case.tree), names)
    for row, leaf, word in zip(case.table.to_dict("records"), case.leaves, said(case), strict=True):
        if leaf == NONE:
            with pytest.raises(ValueError, match="is missing or new, which parts the row"):
                names["apply"](row)
        else:
            assert (names["apply"](row), names["predict"](row)) == (leaf, word)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_sql_says_null(dialect):
    engine = {"sqlite": Sqlite, "duckdb": DuckDB}[dialect]()
    for case in CASES:
        table = case.table.assign(row=np.arange(len(case.table)))
        outputs = ["leaf", "prediction"]
        query = tt.export.to_sql(case.tree, dialect=dialect, output=outputs, table="t", keep=["row"])
        found = sorted(engine.rows(table, query))
        assert [row[1] for row in found] == [None if leaf == NONE else leaf for leaf in case.leaves]
        assert [row[2] for row in found] == said(case)


def compare(case, leaf, predicted, shares):
    """What C and Java say: -1 and NaN where there is no answer."""
    lost = case.leaves == NONE
    assert np.array_equal(leaf, case.leaves)
    if case.tree.classes is None:
        assert np.isnan(predicted[lost]).all()
        assert np.array_equal(predicted[~lost], case.tree.values[case.leaves[~lost], 0])
        return
    assert (predicted[lost] == -1).all() and np.isnan(shares[lost]).all()
    assert np.array_equal(shares[~lost], case.tree.values[case.leaves[~lost]])
    assert np.array_equal(predicted[~lost], case.tree.values[case.leaves[~lost]].argmax(axis=1))


def test_c_says_minus_one(tmp_path):
    library = compiled(CASES, tmp_path)
    for i, case in enumerate(CASES):
        compare(case, *run_all(library, i, case))


def test_java_says_minus_one(tmp_path):
    for case, found in zip(CASES, answers(CASES, tmp_path), strict=True):
        compare(case, found[:, 0], found[:, 1], found[:, 2:])


def test_json_says_null():
    case = CASES[0]
    assert json.loads(tt.export.to_json(case.tree))["nodes"][0]["split"]["missing"] is None


@pytest.mark.parametrize("export", [tt.export.to_onnx, tt.export.to_sklearn], ids=["onnx", "sklearn"])
def test_onnx_and_scikit_learn_refuse_the_tree(export):
    tree = tt.CARTRegressor().fit([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], [1.0, 2.0, 3.0]).tree_
    arrays = dict(tree.arrays())
    arrays["missing_branch"] = np.where(tree.is_leaf, -1, EVERY_BRANCH)
    parting_tree = Tree.from_arrays(arrays, tree.features, None, "squared_error")
    with pytest.raises(ValueError, match=r"parts rows with a missing value among all branches.*to_sql"):
        export(parting_tree)
