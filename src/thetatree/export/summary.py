"""The printouts that users of AID and THAID expect: what each split explains, group by group.

Words: a *group* is a node. Group 1 is everyone; the n-th split divides a group into groups 2n and 2n + 1. A
*final* group is a leaf. The *loss* of a group is its weight times its impurity: for AID its sum of squares
(TSS). Splits come by loss, the greatest first, which is the order in which AID divides groups.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree.export.aligned import aligned
from thetatree.tree.rules import condition, prediction
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

_MOST_CLASSES = 8  # whose shares are shown side by side
_RUNNERS_UP = 5


def division_order(tree: Tree) -> tuple[list[int], list[int]]:
    """Return the inner nodes in the order in which they are divided, and the group number of every node."""
    loss = (tree.weighted_n_node_samples * tree.impurity).tolist()
    leaf, left, right = tree.is_leaf.tolist(), tree.children_left.tolist(), tree.children_right.tolist()
    group = [0] * tree.node_count
    group[0] = 1
    order: list[int] = []
    waiting = [] if leaf[0] else [(-loss[0], 1, 0)]
    while waiting:
        _, _, node = heapq.heappop(waiting)
        order.append(node)
        for child, number in ((left[node], 2 * len(order)), (right[node], 2 * len(order) + 1)):
            group[child] = number
            if not leaf[child]:
                heapq.heappush(waiting, (-loss[child], number, child))
    return order, group


def _split_columns(tree: Tree, order: list[int], group: list[int]) -> dict[str, Any]:
    """Return what both frames begin with: which group is divided by what."""
    return {
        "split": np.arange(1, len(order) + 1),
        "group": [group[node] for node in order],
        "node": order,
        "predictor": [tree.features[tree.feature[node]].name for node in order],
        "n": tree.n_node_samples[order],
        "weight": tree.weighted_n_node_samples[order],
    }


def _side_columns(tree: Tree, order: list[int], group: list[int], branch: int) -> dict[str, Any]:
    name = ("left", "right")[branch]
    child = (tree.children_left, tree.children_right)[branch][order]
    return {
        name: [group[node] for node in child],
        f"{name}_test": [condition(tree, node, branch) for node in order],
        f"{name}_n": tree.n_node_samples[child],
        f"{name}_weight": tree.weighted_n_node_samples[child],
    }


# AID


def aid_frame(tree: Tree) -> pd.DataFrame:
    """Return one row per split: BSS, its shares, and both groups' sizes, means and standard deviations."""
    import pandas as pd

    order, group = division_order(tree)
    tss = tree.weighted_n_node_samples * tree.impurity
    mean, deviation = tree.values[:, 0], np.sqrt(tree.impurity)
    bss = tree.score[order]
    gained = bss / tss[0] if len(order) else np.zeros(0)
    columns = _split_columns(tree, order, group)
    columns |= {"mean": mean[order], "sd": deviation[order], "tss": tss[order], "bss": bss}
    columns |= {"improvement": bss / tss[order], "r2_gained": gained, "r2": np.cumsum(gained)}
    for branch, name in enumerate(("left", "right")):
        child = (tree.children_left, tree.children_right)[branch][order]
        columns |= _side_columns(tree, order, group, branch)
        columns |= {f"{name}_mean": mean[child], f"{name}_sd": deviation[child], f"{name}_tss": tss[child]}
    return pd.DataFrame(columns)


def trace_frame(tree: Tree) -> pd.DataFrame:
    """Return each predictor's best score at each split, one row per split, one column per predictor."""
    import pandas as pd

    if tree.trace is None:
        raise ValueError("this tree has no trace of its predictors: fit it with trace=True")
    order, group = division_order(tree)
    frame = pd.DataFrame(tree.trace[order], columns=[f.name for f in tree.features])
    frame.insert(0, "group", [group[node] for node in order], allow_duplicates=True)
    return frame


def aid_text(tree: Tree) -> str:
    """Return AID's printout."""
    order, group = division_order(tree)
    tss = tree.weighted_n_node_samples * tree.impurity
    explained = float(tree.score[order].sum() / tss[0]) if order else 0.0
    lines = [
        f"AID: {_counted(tree.n_leaves, 'final group')} after {_counted(len(order), 'split')}, "
        f"R² = {_share(explained)} of the total sum of squares {tss[0]:.6g}"
    ]
    so_far, cells = 0.0, _aid_cells(tree, tss)
    for number, node in enumerate(order, 1):
        bss = float(tree.score[node])
        so_far += bss / tss[0]
        name = tree.features[tree.feature[node]].name
        lines += ["", f"Split {number}: group {group[node]} by {name}"]
        lines.append(
            f"  BSS {bss:.6g}, {bss / tss[node]:.1%} of the group's TSS; "
            f"R² gained {_share(bss / tss[0])}, so far {_share(so_far)}"
        )
        lines += _group_table(tree, node, group, cells)
        lines += _runners_up(tree, node)
    lines += ["", "Final groups"]
    lines += _final_table(tree, group, cells)
    return "\n".join(lines)


class _Cells:
    """The figures of a group in a printed table: their headings, and the text of each node."""

    def __init__(self, headings: Sequence[str], columns: Sequence[Sequence[str]]) -> None:
        self.headings = list(headings)
        self.columns = columns

    def of(self, node: int) -> list[str]:
        return [column[node] for column in self.columns]


def _sizes(tree: Tree) -> tuple[list[str], list[list[str]]]:
    headings, columns = ["n"], [[f"{n:,}" for n in tree.n_node_samples]]
    if not np.array_equal(tree.n_node_samples, tree.weighted_n_node_samples):
        headings.append("weight")
        columns.append([f"{w:,.6g}" for w in tree.weighted_n_node_samples])
    return headings, columns


def _aid_cells(tree: Tree, tss: NDArray[np.float64]) -> _Cells:
    headings, columns = _sizes(tree)
    for heading, values in (("mean", tree.values[:, 0]), ("sd", np.sqrt(tree.impurity)), ("TSS", tss)):
        headings.append(heading)
        columns.append([f"{value:.6g}" for value in values])
    return _Cells(headings, columns)


def _runners_up(tree: Tree, node: int) -> list[str]:
    """Return what the best predictors of a group could have explained, the one that was taken marked."""
    if tree.trace is None:
        return []
    scores = tree.trace[node]
    found = np.flatnonzero(~np.isnan(scores))
    best = found[np.argsort(-scores[found], kind="stable")]
    shown = best[: _RUNNERS_UP + 1].tolist()
    if tree.feature[node] not in shown:
        shown.append(int(tree.feature[node]))
    marks = [" (taken)" if j == tree.feature[node] else "" for j in shown]
    told = [f"{tree.features[j].name} {scores[j]:.6g}{mark}" for j, mark in zip(shown, marks, strict=True)]
    more = len(best) - len(shown)
    rest = f"; {more:,} more" if more > 0 else ""
    none = tree.n_features - len(found)
    without = f"; {_counted(none, 'predictor')} without a split" if none else ""
    return [f"  best BSS by predictor: {', '.join(told)}{rest}{without}"]


# THAID


def _class_counts(tree: Tree) -> NDArray[np.float64]:
    return np.asarray(tree.values * tree.weighted_n_node_samples[:, np.newaxis])


def _statistics(tree: Tree, order: list[int]) -> dict[str, NDArray[np.float64]]:
    """Return θ, λ, δ and weighted δ of each split, from the class shares of its two sides."""
    counts, weight, shares = _class_counts(tree), tree.weighted_n_node_samples, tree.values
    left, right = tree.children_left[order], tree.children_right[order]
    undivided = shares[order].max(axis=1)
    theta = (counts[left].max(axis=1) + counts[right].max(axis=1)) / weight[order]
    away = [
        weight[side] * np.abs(shares[side] - shares[order]).sum(axis=1) / weight[order]
        for side in (left, right)
    ]
    # Rounding must not make a λ of what has nothing left to explain.
    left_over = np.where(undivided < 1, 1 - undivided, np.nan)
    return {
        "theta_undivided": undivided,
        "theta": theta,
        "lambda": (theta - undivided) / left_over,
        "delta": np.abs(shares[left] - shares[right]).sum(axis=1),
        "weighted_delta": away[0] + away[1],
    }


def thaid_frame(tree: Tree) -> pd.DataFrame:
    """Return one row per split: θ, λ, δ, weighted δ, and both groups' sizes, modes and class shares."""
    import pandas as pd

    assert tree.classes is not None
    order, group = division_order(tree)
    columns = _split_columns(tree, order, group) | _statistics(tree, order)
    for branch, name in enumerate(("left", "right")):
        child = (tree.children_left, tree.children_right)[branch][order]
        columns |= _side_columns(tree, order, group, branch)
        columns[f"{name}_mode"] = [prediction(tree, int(node)) for node in child]
        for k, label in enumerate(tree.classes):
            columns[f"{name}_share_{label}"] = tree.values[child, k]
    return pd.DataFrame(columns)


def thaid_text(tree: Tree) -> str:
    """Return THAID's printout."""
    order, group = division_order(tree)
    counts, leaf = _class_counts(tree), tree.is_leaf
    undivided = float(tree.values[0].max())
    theta = float(counts[leaf].max(axis=1).sum() / tree.weighted_n_node_samples[0])
    lines = [
        f"THAID by {tree.criterion}: {_counted(tree.n_leaves, 'final group')} after "
        f"{_counted(len(order), 'split')}, θ = {_share(theta)} ({_share(undivided)} undivided)"
        + (f", λ = {_share((theta - undivided) / (1 - undivided))}" if undivided < 1 else "")
    ]
    figures = {name: column.tolist() for name, column in _statistics(tree, order).items()}
    cells = _thaid_cells(tree)
    for number, node in enumerate(order, 1):
        of_split = {name: column[number - 1] for name, column in figures.items()}
        lines += ["", f"Split {number}: group {group[node]} by {tree.features[tree.feature[node]].name}"]
        lines += [
            "  θ {theta:.4g} ({theta_undivided:.4g} undivided), λ {lambda:.4g}, δ {delta:.4g}, "
            "weighted δ {weighted_delta:.4g}".format(**of_split)
        ]
        lines += _group_table(tree, node, group, cells)
    lines += ["", "Final groups"]
    lines += _final_table(tree, group, cells)
    return "\n".join(lines)


def _thaid_cells(tree: Tree) -> _Cells:
    assert tree.classes is not None
    headings, columns = _sizes(tree)
    headings += ["mode", "share"]
    columns += [[str(prediction(tree, node)) for node in range(tree.node_count)]]
    columns += [[f"{share:.1%}" for share in tree.values.max(axis=1)]]
    if len(tree.classes) <= _MOST_CLASSES:
        headings += [str(label) for label in tree.classes]
        columns += [[f"{share:.1%}" for share in column] for column in tree.values.T]
    return _Cells(headings, columns)


# Tables


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _share(value: float) -> str:
    return f"{value:.4g}"


def _group_table(tree: Tree, node: int, group: list[int], cells: _Cells) -> list[str]:
    """Return a group and the two that it is divided into."""
    rows = [["group", *cells.headings, "test"], [str(group[node]), *cells.of(node), ""]]
    for branch, child in enumerate((tree.children_left[node], tree.children_right[node])):
        rows.append([str(group[child]), *cells.of(child), condition(tree, node, branch)])
    return aligned(rows)


def _final_table(tree: Tree, group: list[int], cells: _Cells) -> list[str]:
    leaves = sorted(np.flatnonzero(tree.is_leaf).tolist(), key=lambda node: group[node])
    rows = [["group", "of", *cells.headings, "test"]]
    for node in leaves:
        above = int(tree.parent[node])
        if above < 0:
            rows.append([str(group[node]), "", *cells.of(node), "all"])
            continue
        branch = int(node == tree.children_right[above])
        rows.append([str(group[node]), str(group[above]), *cells.of(node), condition(tree, above, branch)])
    return aligned(rows)
