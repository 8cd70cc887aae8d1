"""C4.5's printout: the tree with cases and errors, its size before and after pruning, the confusion."""

from __future__ import annotations

from thetatree.export.aligned import aligned
from thetatree.tree.rules import condition, prediction
from thetatree.tree.training import Training
from thetatree.tree.tree import Tree

_MOST_CLASSES = 20  # of a confusion matrix that is printed


def c45_text(tree: Tree, training: Training) -> str:
    """Return the printout."""
    assert tree.classes is not None
    title = f"C4.5 by {'gain ratio' if tree.criterion == 'gain_ratio' else 'gain'}"
    lines = [f"{title}: {training.cases:,.6g} cases of {len(tree.classes)} classes", ""]
    lines += [*_tree_lines(tree), ""]
    rows = [["", "nodes", "leaves", "errors", "", "reckoned with", "", ""]]
    for name, size in (("before pruning", training.grown), ("after pruning", training.pruned)):
        rates = [f"({errors / training.cases:.1%})" for errors in (size.errors, size.estimate)]
        errors, estimate = f"{size.errors:.6g}", f"{size.estimate:.1f}"
        rows.append([name, f"{size.nodes:,}", f"{size.leaves:,}", errors, rates[0], estimate, rates[1], ""])
    lines += aligned(rows)
    if len(tree.classes) <= _MOST_CLASSES:
        labels = [str(label) for label in tree.classes]
        rows = [[*labels, "<- predicted"]]
        for label, row in zip(labels, training.confusion.tolist(), strict=True):
            rows.append([*(f"{weight:.6g}" if weight else "." for weight in row), label])
        lines += ["", *aligned(rows)]
    return "\n".join(lines)


def _tree_lines(tree: Tree) -> list[str]:
    """One line a test, leaves with their class, cases and errors, as in (16.0/1.0)."""
    if tree.is_leaf[0]:
        return [_leaf_text(tree, 0)]
    lines = []
    for node in range(1, tree.node_count):
        above = int(tree.parent[node])
        children = tree.child[tree.child_start[above] : tree.child_start[above + 1]].tolist()
        text = "|   " * (int(tree.depth[node]) - 1) + condition(tree, above, children.index(node))
        lines.append(f"{text}: {_leaf_text(tree, node)}" if tree.is_leaf[node] else f"{text}:")
    return lines


def _leaf_text(tree: Tree, node: int) -> str:
    weight = float(tree.weighted_n_node_samples[node])
    errors = weight * (1 - float(tree.values[node].max()))
    wrong = f"/{errors:.1f}" if errors > 0.05 else ""
    return f"{prediction(tree, node)} ({weight:.1f}{wrong})"
