"""How things show themselves in a notebook: plain HTML without script, which folds by itself and takes on the
notebook's own colours.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from thetatree.report.colours import N_CLASSES, colour_of_class
from thetatree.report.payload import LEVEL
from thetatree.sketch.counts import estimate, interval
from thetatree.sketch.data import ALL, SketchData
from thetatree.sketch.describe import describe
from thetatree.sketch.kinds import Feature
from thetatree.tree.rules import condition, prediction
from thetatree.tree.tree import Tree

_MOST_LABELS = 10  # of a set of categories, in a line
_MOST_OPEN = 24  # rows that are open at first
_MOST_NODES = 500
_MOST_FEATURES = 40

_TREE_STYLE = """
.tt-tree{font:13px/1.45 system-ui,sans-serif;max-width:880px}
.tt-tree details>div{margin-left:9px;padding-left:13px;border-left:1px solid rgba(128,128,128,.4)}
.tt-tree summary,.tt-tree .tt-leaf{display:flex;flex-wrap:wrap;gap:2px 12px;
align-items:center;padding:3px 0;list-style:none}
.tt-tree summary{cursor:pointer}.tt-tree summary::-webkit-details-marker{display:none}
.tt-tree summary::before{content:"▸";width:10px;opacity:.6}.tt-tree details[open]>summary::before{content:"▾"}
.tt-tree .tt-leaf::before{content:"";width:10px}
.tt-tree .tt-test{font-weight:600;flex:1 1 12em;overflow-wrap:anywhere}
.tt-tree .tt-bar{display:flex;flex:none;width:110px;height:9px;border-radius:3px;overflow:hidden;
background:rgba(128,128,128,.2)}.tt-tree .tt-bar i{display:block;height:100%}
.tt-tree .tt-says{width:170px;flex:none;overflow-wrap:anywhere}
.tt-tree .tt-n{width:130px;flex:none;text-align:right;opacity:.75;font-variant-numeric:tabular-nums}
.tt-tree .tt-key{opacity:.8;margin-right:14px}
.tt-tree .tt-key i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:5px}
@media(max-width:640px){.tt-tree .tt-test{flex-basis:calc(100% - 40px)}
.tt-tree .tt-bar{width:60px;margin-left:22px}.tt-tree .tt-says{flex:1;width:auto}.tt-tree .tt-n{width:auto}}
""".replace("\n", "")

_SKETCHES_STYLE = """
.tt-sketches{font:13px/1.45 system-ui,sans-serif;max-width:880px}
.tt-sketches table{border-collapse:collapse;margin:6px 0 14px}
.tt-sketches th,.tt-sketches td{padding:3px 14px 3px 0;border-bottom:1px solid rgba(128,128,128,.3);
font-variant-numeric:tabular-nums}
""".replace("\n", "")


def tree_html(tree: Tree) -> str:
    """Return the tree as nested lines that fold, the first levels open."""
    level = _open_level(tree)
    unit = "keys" if tree.estimates is not None else "rows"
    what = "regression" if tree.classes is None else "classification"
    leaves = f"{tree.n_leaves:,} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    head = f"{what} tree by {tree.criterion}: {leaves}, depth {tree.max_depth}"
    parts = [f'<div class="tt-tree"><style>{_TREE_STYLE}</style><p>{escape(head)}</p>{_key(tree)}']
    left_to_write = _MOST_NODES
    stack: list[tuple[int, str] | str] = [(0, f"all {unit}")]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node, test = item
        line = _line(tree, node, test)
        left_to_write -= 1
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]].tolist()
        if not children:
            parts.append(f'<div class="tt-leaf">{line}</div>')
            continue
        parts.append(f"<details{' open' if tree.depth[node] < level else ''}><summary>{line}</summary><div>")
        if left_to_write < len(children):
            below = int(tree.subtree_end[node]) - node - 1
            parts.append(f'<div class="tt-leaf">… {below:,} nodes below</div></div></details>')
            continue
        stack.append("</div></details>")
        stack += [
            (child, condition(tree, node, i, most=_MOST_LABELS))
            for i, child in reversed(list(enumerate(children)))
        ]
    return "".join(parts) + "</div>"


def _open_level(tree: Tree) -> int:
    """Return how many levels can be open so that no more lines show than one takes in."""
    shown = np.cumsum(np.bincount(tree.depth))
    return max(1, int((shown <= _MOST_OPEN).sum()) - 1)


def _line(tree: Tree, node: int, test: str) -> str:
    n = f"{int(tree.n_node_samples[node]):,}"
    if tree.estimates is not None and tree.estimates.node_error[node] > 0:
        n += f" ± {1.96 * tree.estimates.node_error[node]:,.0f}"
    return (
        f'<span class="tt-test">{escape(test)}</span><span class="tt-bar">{_bar(tree, node)}</span>'
        f'<span class="tt-says">{escape(_says(tree, node))}</span><span class="tt-n">{n}</span>'
    )


def _says(tree: Tree, node: int) -> str:
    value = prediction(tree, node)
    if tree.classes is None:
        return f"{value:.4g}"
    return f"{value} {tree.values[node].max():.0%}"


def _bar(tree: Tree, node: int) -> str:
    if tree.classes is not None:
        shares = tree.values[node].tolist()
        return "".join(
            f'<i style="width:{100 * share:.3g}%;background:{colour_of_class(k)}"></i>'
            for k, share in enumerate(shares)
            if share > 0.002
        )
    values = tree.values[:, 0]
    low, high = float(values.min()), float(values.max())
    share = (float(values[node]) - low) / (high - low) if high > low else 0.5
    return f'<i style="width:{max(2.0, 100 * share):.3g}%;background:{colour_of_class(0)}"></i>'


def _key(tree: Tree) -> str:
    if tree.classes is None:
        return ""
    names = [
        f'<span class="tt-key"><i style="background:{colour_of_class(k)}"></i>{escape(str(label))}</span>'
        for k, label in enumerate(tree.classes[:N_CLASSES])
    ]
    more = len(tree.classes) - len(names)
    return f"<p>{''.join(names)}{f'and {more:,} more' if more > 0 else ''}</p>"


def sketches_html(data: SketchData) -> str:
    """Return what a sketch set holds: its classes, its features, and what it can not resolve."""
    about = data.origin
    words = [
        f"{data.form.replace('_', '-')}: {len(data.entries):,} sketches",
        f"{len(data.column.hashes):,} held keys ({8 * len(data.column.hashes) / 1e6:.1f} MB)",
        f"key {about.key or 'not named'}",
        f"target {about.target or 'not named'}",
        f"lg_k {'not declared' if about.lg_k is None else about.lg_k}",
    ]
    classes = [] if data.form == "per_class" else [_class_cells(data, ALL)]
    classes += [_class_cells(data, klass) for klass in range(len(data.classes))]
    features = [
        [feature.name, feature.kind, f"{len(feature.values):,}", _some(feature)]
        for feature in data.features[:_MOST_FEATURES]
    ]
    more = len(data.features) - len(features)
    warnings = [line[2:] for line in describe(data).splitlines() if line.startswith("! ")]
    notes = [f"and {more:,} features more"] * (more > 0) + warnings
    return (
        f'<div class="tt-sketches"><style>{_SKETCHES_STYLE}</style>'
        + f"<p><b>Sketch set</b>, {escape('; '.join(words))}</p>"
        + _table(["class", f"keys, {LEVEL:.0%} interval", "held", "θ"], classes, numeric=(1, 2, 3))
        + _table(["feature", "kind", "values", ""], features, numeric=(2,))
        + "".join(f"<p>{escape(note)}</p>" for note in notes)
        + "</div>"
    )


def _class_cells(data: SketchData, klass: int) -> list[str]:
    i = data.entries.total(klass)
    name = "all keys" if klass == ALL else str(data.classes[klass])
    held, theta = int(data.column.held[i]), float(data.column.theta[i])
    count = f"{estimate(data, i):,.0f}"
    if data.entries.n[i] < 0 and theta < 1:
        bounds = interval(held, theta, LEVEL)
        count += f" ({float(bounds.lower):,.0f} to {float(bounds.upper):,.0f})"
    return [name, count, f"{held:,}", f"{theta:.3g}"]


def _some(feature: Feature) -> str:
    if feature.kind == "flag":
        return ""
    return ", ".join(feature.values[:6]) + (", …" if len(feature.values) > 6 else "")


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], numeric: tuple[int, ...]) -> str:
    def row(cells: Iterable[str], tag: str) -> str:
        return "".join(
            f'<{tag} style="text-align:{"right" if i in numeric else "left"}">{escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    return f"<table><thead><tr>{row(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
