"""The tree in Graphviz's language: `dot` draws it."""

from __future__ import annotations

from typing import Any

from thetatree.export.model import tree_of
from thetatree.export.text import summary
from thetatree.tree.rules import condition, split_text


def to_dot(
    model: Any, *, max_depth: int | None = None, decimals: int | None = None, max_labels: int | None = 10
) -> str:
    r"""Return the tree as a Graphviz digraph, its conditions on the edges.

    Parameters
    ----------
    model : estimator or Tree
        What to draw.
    max_depth : int, optional
        Nodes below this depth are left out; the boxes that they hang from end in "...".
    decimals : int, optional
        Decimals of thresholds and means; by default as many as they need.
    max_labels : int or None, default=10
        Of a set of more categories so many are named and the others counted; None names all.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> print(export.to_dot(CARTRegressor().fit([[1.0], [2.0]], [5.0, 9.0])))
    digraph tree {
      node [shape=box, style=rounded, fontname="sans-serif"];
      edge [fontname="sans-serif"];
      0 [label="x0 ≤ 1.5\n(n = 2): 7"];
      1 [label="(n = 1): 5"];
      0 -> 1 [label="x0 ≤ 1.5"];
      2 [label="(n = 1): 9"];
      0 -> 2 [label="x0 > 1.5"];
    }
    """
    tree = tree_of(model)
    lines = [
        "digraph tree {",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
    ]
    depth, parent = tree.depth.tolist(), tree.parent.tolist()
    for node in range(tree.node_count):
        if max_depth is not None and depth[node] > max_depth:
            continue
        texts = [] if tree.is_leaf[node] else [split_text(tree, node, max_labels)]
        texts.append(summary(tree, node, decimals))
        if max_depth is not None and depth[node] == max_depth and not tree.is_leaf[node]:
            texts[0] = "..."
        label = "\\n".join(_escaped(text) for text in texts)
        lines.append(f'  {node} [label="{label}"];')
        if node:
            above = parent[node]
            branch = tree.child[tree.child_start[above] : tree.child_start[above + 1]].tolist().index(node)
            test = _escaped(condition(tree, above, branch, decimals, max_labels))
            lines.append(f'  {above} -> {node} [label="{test}"];')
    return "\n".join([*lines, "}"])


def _escaped(text: str) -> str:
    """Escape what Graphviz reads in a label: quotes, backslashes, line ends, and HTML's entities."""
    text = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return " ".join(text.split("\n"))
