"""The tree as JSON to read: one flat list of nodes, each with its split in words and in parts.

It is for people and for programs that draw or study a tree. The model file is another document: only that one
can be loaded again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from thetatree.export.view import Test, View
from thetatree.tree.rules import condition, prediction
from thetatree.tree.tree import EVERY_BRANCH, SplitKind, Tree

FORMAT = "thetatree-nodes"
VERSION = 1


def to_json(model: Any, *, indent: int | None = None) -> str:
    """Return the tree as a JSON document that lists its nodes; the format is described in docs/exports.md.

    Nodes are in preorder and refer to each other by number, so that a deep tree is no deep document.

    Parameters
    ----------
    model : estimator or Tree
        What to write.
    indent : int, optional
        Spaces to indent by; by default everything is on one line.

    Examples
    --------
    >>> import json
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> nodes = json.loads(export.to_json(model))["nodes"]
    >>> nodes[0]["split"]["branches"][0]["condition"], nodes[2]["prediction"]
    ('x0 ≤ 3', 9.0)
    """
    view = View(model)
    tree = view.tree
    document = {
        "format": FORMAT,
        "version": VERSION,
        "task": "regression" if tree.classes is None else "classification",
        "criterion": tree.criterion,
        "classes": None if tree.classes is None else _plain(tree.classes),
        "features": [{"name": f.name, "kind": f.kind, "labels": _plain(f.labels)} for f in tree.features],
        "nodes": [_node(view, node) for node in range(tree.node_count)],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)


def _node(view: View, node: int) -> dict[str, Any]:
    tree = view.tree
    out: dict[str, Any] = {
        "node": node,
        "parent": None if node == 0 else int(tree.parent[node]),
        "depth": int(tree.depth[node]),
        "n": int(tree.n_node_samples[node]),
        "weight": float(tree.weighted_n_node_samples[node]),
        "impurity": float(tree.impurity[node]),
        "prediction": prediction(tree, node),
    }
    if tree.classes is not None:
        out["shares"] = tree.values[node].tolist()
    if tree.estimates is not None:
        out["counts"] = tree.estimates.count[node].tolist()
        out["standard_errors"] = tree.estimates.standard_error[node].tolist()
    if not tree.is_leaf[node]:
        out["split"] = _split(view, node)
    return out


def _split(view: View, node: int) -> dict[str, Any]:
    tree = view.tree
    kind = SplitKind(int(tree.kind[node]))
    feature = int(tree.feature[node])
    split: dict[str, Any] = {
        "feature": feature,
        "name": view.feature(feature).name,
        "kind": kind.name.lower(),
        "score": _finite(float(tree.score[node])),
        "impurity_decrease": float(tree.impurity_decrease[node]),
    }
    if kind is SplitKind.THRESHOLD:
        threshold = float(tree.threshold[node])
        split |= {"kind": "known"} if math.isinf(threshold) else {"threshold": threshold}
    children = view.children(node)
    missing = int(tree.missing_branch[node])
    split["missing"] = None if missing == EVERY_BRANCH else children[missing]
    split["branches"] = [_branch(view, tree, node, branch, child) for branch, child in enumerate(children)]
    return split


def _branch(view: View, tree: Tree, node: int, branch: int, child: int) -> dict[str, Any]:
    out: dict[str, Any] = {"node": child, "condition": condition(tree, node, branch)}
    if tree.kind[node] in (SplitKind.SUBSET, SplitKind.MULTIWAY):
        test: Test = view.test(node, branch)
        taken, _ = view.branches_of_labels(node)
        labels = view.feature(test.feature).labels
        out["labels"] = _plain([labels[code] for code in range(len(labels)) if taken[code] == branch])
    return out


def _plain(labels: Iterable[Any]) -> list[Any]:
    """Return labels as JSON has them: an infinite number becomes text."""
    return [str(label) if isinstance(label, float) and math.isinf(label) else label for label in labels]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
