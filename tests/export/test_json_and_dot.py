"""The readable JSON document and Graphviz's drawing hold what the tree says."""

import json
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from export.engines import lacking
from naive.models import random_model

import thetatree as tt


def follow(document, row):
    """Walk a row down the document alone."""
    nodes, features = document["nodes"], document["features"]
    node = nodes[0]
    while "split" in node:
        split = node["split"]
        feature, value = features[split["feature"]], row[split["name"]]
        known = value is not None and value == value
        if feature["kind"] == "category" and known:
            known = value in feature["labels"]
        go = split["missing"]
        if known and split["kind"] == "known":
            go = split["branches"][0]["node"]
        elif known and split["kind"] == "threshold":
            go = split["branches"][int(not value <= split["threshold"])]["node"]
        elif known and split["kind"] == "presence":
            go = split["branches"][int(not value)]["node"]
        elif known:
            go = next(branch["node"] for branch in split["branches"] if value in branch["labels"])
        node = nodes[go]
    return node


@pytest.mark.parametrize("seed", range(30))
def test_a_row_finds_its_leaf_in_the_document(seed):
    case = random_model(seed, rows=100, kinds=("classifier", "regressor", "aid", "thaid"))
    document = json.loads(tt.export.to_json(case.model))
    assert document["format"] == "thetatree-nodes"
    for row, leaf, said in zip(case.table.to_dict("records"), case.leaves, case.predictions, strict=True):
        node = follow(document, row)
        assert (node["node"], node["prediction"]) == (leaf, said)


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_tree_is_valid_json(seed):
    case = random_model(seed, rows=5, kinds=("sketch", "hand"))
    document = json.loads(tt.export.to_json(case.model, indent=2))
    assert len(document["nodes"]) == case.tree.node_count
    for node in document["nodes"][1:]:
        above = document["nodes"][node["parent"]]
        assert [b["node"] for b in above["split"]["branches"]].count(node["node"]) == 1
    if case.tree.estimates is not None:
        assert np.allclose([n["counts"] for n in document["nodes"]], case.tree.estimates.count)


@pytest.mark.parametrize("seed", range(8))
def test_graphviz_draws_it(seed):
    if not shutil.which("dot"):
        lacking("graphviz")
    case = random_model(seed, rows=5)
    text = tt.export.to_dot(case.model)
    done = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    kinds = [line.split()[0] for line in done.stdout.splitlines() if re.match(r"(node|edge) ", line)]
    assert kinds.count("node") == case.tree.node_count
    assert kinds.count("edge") == case.tree.node_count - 1


def test_names_are_drawn_as_they_are():
    if not shutil.which("dot"):
        lacking("graphviz")
    name = 'a "b" <c> &lt; \\N d'
    model = tt.CARTRegressor().fit(pd.DataFrame({name: [1.0, 2.0]}), [1, 2])
    done = subprocess.run(
        ["dot", "-Tsvg"], input=tt.export.to_dot(model), capture_output=True, text=True, check=True
    )
    shown = re.findall(r"<text[^>]*>(.*?)</text>", done.stdout)
    import html

    assert html.unescape(shown[0]).replace("\xa0", " ") == f"{name} ≤ 1.5"


def test_dot_is_cut_at_a_depth():
    rng = np.random.default_rng(0)
    tree = tt.CARTClassifier().fit(rng.normal(size=(200, 3)), rng.integers(0, 2, 200)).tree_
    text = tt.export.to_dot(tree, max_depth=2)
    assert text.count("->") == (tree.depth <= 2).sum() - 1
    assert text.count('"...') == ((tree.depth == 2) & ~tree.is_leaf).sum()
