"""The tree as text: one line a node, indented by depth."""

from __future__ import annotations

from typing import Any

from thetatree.export.model import tree_of
from thetatree.tree.rules import condition, number_text, prediction
from thetatree.tree.tree import Tree


def to_text(
    model: Any, *, max_depth: int | None = 10, decimals: int | None = None, max_labels: int | None = 10
) -> str:
    """Return the tree as indented text.

    Where a tree was grown from sketches, sizes come with the half width of their 95% interval (1.96 standard
    errors, not adjusted for the splits having been chosen).

    Parameters
    ----------
    model : estimator or Tree
        What to print.
    max_depth : int or None, default=10
        Nodes below this depth are counted, not shown; None shows all.
    decimals : int, optional
        Decimals of thresholds and means; by default as many as they need.
    max_labels : int or None, default=10
        Of a set of more categories so many are named and the others counted; None names all, as the rules do.
    """
    tree = tree_of(model)
    what = "regression" if tree.classes is None else "classification"
    leaves = _counted(tree.n_leaves, "leaf", "leaves")
    rows = _counted(int(tree.n_node_samples[0]), "row", "rows")
    if tree.estimates is not None:
        rows = _counted(int(tree.n_node_samples[0]), "key", "keys")
    lines = [f"{what} tree by {tree.criterion}: {leaves}, depth {tree.max_depth}, {rows}"]
    # (node, what leads to it, indentation of the node, indentation of what is below it)
    open_nodes = [(0, "all", "", "")]
    while open_nodes:
        node, test, indent, below = open_nodes.pop()
        lines.append(f"{indent}{test} {summary(tree, node, decimals)}")
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist()
        if children and max_depth is not None and tree.depth[node] >= max_depth:
            lines.append(f"{below}└─ ... {int(tree.subtree_end[node]) - node - 1:,} nodes below")
            continue
        for branch in reversed(range(len(children))):
            last = branch == len(children) - 1
            text = condition(tree, node, branch, decimals, max_labels)
            open_nodes.append(
                (
                    children[branch],
                    text,
                    below + ("└─ " if last else "├─ "),
                    below + ("   " if last else "│  "),
                )
            )
    return "\n".join(lines)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def summary(tree: Tree, node: int, decimals: int | None) -> str:
    """Return what a node holds and says: its size and its mean or its greatest class."""
    n, weight = int(tree.n_node_samples[node]), float(tree.weighted_n_node_samples[node])
    if tree.estimates is not None:
        error = float(tree.estimates.margin[node])
        size = (
            f"n = {n:,} ± {error:,.0f}"
            if error >= 0.5
            else f"n = {n:,} ± {error:.1g}"
            if error
            else f"n = {n:,}"
        )
    else:
        size = f"n = {n:,}" if weight == n else f"n = {n:,}, weight {weight:,.6g}"
    if tree.classes is None:
        value = float(tree.values[node, 0])
        return f"({size}): {number_text(value, decimals) if decimals is not None else format(value, '.6g')}"
    share = float(tree.values[node].max())
    return f"({size}): {prediction(tree, node)} {share:.0%}"
