"""A tree drawn with matplotlib: cards from left to right, joined by ribbons as wide as their shares."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thetatree.report.colours import colour_of_class
from thetatree.tree.rules import condition, prediction
from thetatree.tree.tree import Tree

# In units of one line's height and one level's width.
_CARD_WIDTH, _CARD_HEIGHT, _BAND = 0.78, 0.78, 0.62
_MOST_LINES = 24
_INCHES = (2.5, 0.62)  # of a level, of a line


class _Shown(NamedTuple):
    """What is drawn: the nodes in preorder, where each stands, and which of them are folded."""

    nodes: list[int]
    level: NDArray[np.float64]
    line: NDArray[np.float64]
    folded: set[int]
    size: tuple[float, float]  # levels and lines


def shown(tree: Tree, max_depth: int | None) -> _Shown:
    """Lay out the nodes down to a depth; by default as many levels as can be read."""
    depth = tree.depth
    if max_depth is None:
        max_depth = 1
        while max_depth < tree.max_depth and _lines(tree, max_depth + 1) <= _MOST_LINES:
            max_depth += 1
    nodes = np.flatnonzero(depth <= max_depth).tolist()
    folded = {node for node in nodes if depth[node] == max_depth and not tree.is_leaf[node]}
    line = np.zeros(tree.node_count)
    ends = [node for node in nodes if tree.is_leaf[node] or node in folded]
    line[ends] = np.arange(len(ends))
    for node in reversed(nodes):
        if not tree.is_leaf[node] and node not in folded:
            line[node] = (line[tree.children_left[node]] + line[tree.children_right[node]]) / 2
    levels = float(depth[nodes].max()) + 1
    return _Shown(nodes, depth.astype(np.float64), line, folded, (levels, float(len(ends))))


def _lines(tree: Tree, max_depth: int) -> int:
    return int((tree.is_leaf & (tree.depth < max_depth)).sum() + (tree.depth == max_depth).sum())


def figure_size(size: tuple[float, float]) -> tuple[float, float]:
    """Return the inches that a tree of so many levels and lines takes."""
    return max(4.0, _INCHES[0] * size[0] + 0.4), max(1.6, _INCHES[1] * size[1] + 0.5)


def draw(tree: Tree, layout: _Shown, ax: Any) -> None:
    """Draw the layout into axes."""
    ax.set_xlim(-0.04, layout.size[0] - 1 + _CARD_WIDTH + (0.14 if layout.folded else 0.04))
    ax.set_ylim(layout.size[1] - 0.5, -0.5)
    ax.axis("off")
    weight = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    for node in layout.nodes:
        if not tree.is_leaf[node] and node not in layout.folded:
            _ribbons(tree, node, layout, weight, ax)
    for node in layout.nodes:
        _card(tree, node, layout, ax)


def _ribbons(tree: Tree, node: int, layout: _Shown, weight: NDArray[np.float64], ax: Any) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    edge = layout.line[node] - weight[node] * _BAND / 2
    for child in tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist():
        half = max(weight[child] * _BAND, 0.02) / 2
        x1, x2 = layout.level[node] + _CARD_WIDTH, layout.level[child]
        y1, y2 = edge + weight[child] * _BAND / 2, layout.line[child]
        edge += weight[child] * _BAND
        middle = (x1 + x2) / 2
        corners = [(x1, y1 - half), (middle, y1 - half), (middle, y2 - half), (x2, y2 - half)]
        corners += [(x2, y2 + half), (middle, y2 + half), (middle, y1 + half), (x1, y1 + half)]
        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
        ax.add_patch(PathPatch(Path(corners, codes), facecolor=_colour(tree, child), alpha=0.3, linewidth=0))


def _colour(tree: Tree, node: int) -> str:
    return colour_of_class(0 if tree.classes is None else int(np.argmax(tree.values[node])))


def _card(tree: Tree, node: int, layout: _Shown, ax: Any) -> None:
    from matplotlib.patches import Rectangle

    x, y = layout.level[node], layout.line[node]
    top = y - _CARD_HEIGHT / 2
    ax.add_patch(
        Rectangle((x, top), _CARD_WIDTH, _CARD_HEIGHT, facecolor="white", edgecolor="#b9bec4", linewidth=0.8)
    )
    ax.add_patch(Rectangle((x, top), 0.018, _CARD_HEIGHT, facecolor=_colour(tree, node), linewidth=0))
    left, width = x + 0.045, _CARD_WIDTH - 0.08
    ax.text(left, top + 0.2, _test(tree, node), fontsize=8, fontweight="bold", va="center")
    _strip(tree, node, (left, top + 0.37), width, ax)
    ax.text(left, top + 0.64, _says(tree, node), fontsize=7.5, va="center")
    size = f"{int(tree.n_node_samples[node]):,}"
    if tree.estimates is not None and tree.estimates.node_error[node] > 0:
        size += f" ± {1.96 * tree.estimates.node_error[node]:,.0f}"
    ax.text(left + width, top + 0.64, size, fontsize=7.5, va="center", ha="right", color="#57606a")
    if node in layout.folded:
        ax.text(x + _CARD_WIDTH + 0.02, y, "…", fontsize=11, va="center", color="#57606a")


def _strip(tree: Tree, node: int, place: tuple[float, float], width: float, ax: Any) -> None:
    """Draw a node's class shares side by side; or its mean among all of them."""
    from matplotlib.patches import Rectangle

    x, y = place
    if tree.classes is not None:
        for k, share in enumerate(tree.values[node].tolist()):
            ax.add_patch(Rectangle((x, y), width * share, 0.11, facecolor=colour_of_class(k), linewidth=0))
            x += width * share
        return
    values = tree.values[:, 0]
    low, high = float(values.min()), float(values.max())
    along = (float(values[node]) - low) / (high - low) if high > low else 0.5
    ax.plot([x, x + width], [y + 0.055] * 2, color="#b9bec4", linewidth=1, solid_capstyle="butt")
    ax.plot([x + width * along], [y + 0.055], marker="o", markersize=5, color=colour_of_class(0))


def _test(tree: Tree, node: int) -> str:
    above = int(tree.parent[node])
    if above < 0:
        return "all keys" if tree.estimates is not None else "all rows"
    children = tree.child[tree.child_start[above] : tree.child_start[above + 1]].tolist()
    text = condition(tree, above, children.index(node)).removesuffix(" or missing")
    threshold = float(tree.threshold[above])
    if text.endswith(repr(threshold)):  # six digits are enough to read
        text = text.removesuffix(repr(threshold)) + f"{threshold:.6g}"
    return _plain(text if len(text) <= 28 else f"{text[:17]}…{text[-10:]}")


def _says(tree: Tree, node: int) -> str:
    value = prediction(tree, node)
    if tree.classes is None:
        return f"{value:.4g}"
    name = str(value)
    return _plain(f"{name if len(name) <= 14 else name[:13] + '…'} {tree.values[node].max():.0%}")


def _plain(text: str) -> str:
    """Keep matplotlib from reading mathematics between dollar signs."""
    return text.replace("$", r"\$")
