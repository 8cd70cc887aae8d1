"""Plots of fitted trees: ``thetatree.plot``. They need matplotlib (the extra ``plot``) and return its axes.

Examples
--------
>>> import matplotlib
>>> matplotlib.use("agg")
>>> from sklearn.datasets import load_iris
>>> from thetatree import CARTClassifier, plot
>>> iris = load_iris(as_frame=True)
>>> model = CARTClassifier(max_depth=3).fit(iris.data, iris.target_names[iris.target])
>>> plot.importance(model).get_xlabel()
'share of the decrease in impurity'
>>> matplotlib.pyplot.close("all")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.export.model import tree_of
from thetatree.judge.segments import counted_leaves, segments_of
from thetatree.judge.table import new_axes
from thetatree.report.colours import colour_of_class
from thetatree.tree.prune import cost_complexity_path

if TYPE_CHECKING:
    import pandas as pd

    from thetatree.judge.segments import Segments

__all__ = ["calibration", "cp", "gains", "importance", "pruning_path", "tree"]

_LEVEL = 0.95
_MOST_CLASSES = 8
_MOST_STEPS = 120  # of a pruning path: as many as an eye tells apart
_MOST_BARS = 30  # lines of a cp table that have an error bar each; of more there is a band
_GREY = "#8a9097"


def tree(model: Any, *, max_depth: int | None = None, ax: Any = None) -> Any:
    """Draw the tree: cards from left to right, ribbons as wide as their share of all rows.

    Parameters
    ----------
    model : estimator or Tree
        What to draw.
    max_depth : int, optional
        Nodes below this depth are left out; by default as many levels are drawn as can be read.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure of the size that the tree takes.

    Returns
    -------
    matplotlib axes
    """
    from thetatree.report.drawing import draw, figure_size, shown

    grown = tree_of(model)
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or greater, or None; got {max_depth!r}")
    layout = shown(grown, max_depth)
    axes = new_axes(figure_size(layout.size)) if ax is None else ax
    draw(grown, layout, axes)
    if grown.classes is not None:
        _name_classes(grown.classes, axes)
    return axes


def _name_classes(classes: tuple[Any, ...], ax: Any) -> None:
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=colour_of_class(k), label=_plain(label))
        for k, label in enumerate(classes[:_MOST_CLASSES])
    ]
    ax.legend(handles=patches, loc="lower left", frameon=False, fontsize=8, handlelength=1, borderpad=0)


def importance(model: Any, *, top: int = 20, ax: Any = None) -> Any:
    """Draw the importances, the greatest first.

    Parameters
    ----------
    model : estimator or Tree
        A fitted tree.
    top : int, default=20
        So many features at most; those without importance are left out.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    """
    grown = tree_of(model)
    shares = grown.compute_feature_importances()
    best = [j for j in np.argsort(-shares, kind="stable")[:top] if shares[j] > 0]
    axes = new_axes((6.4, max(1.8, 0.32 * len(best) + 1))) if ax is None else ax
    places = np.arange(len(best))
    bars = axes.barh(places, shares[best], color=colour_of_class(0), height=0.66)
    axes.bar_label(bars, labels=[f"{shares[j]:.1%}" for j in best], padding=3, fontsize=8)
    axes.set_yticks(places, [_plain(grown.features[j].name) for j in best])
    axes.set_ylim(len(best) - 0.4, -0.6)
    axes.margins(x=0.12)
    _plainly(axes)
    axes.set(xlabel="share of the decrease in impurity", title="importance")
    return axes


def cp(model: Any, *, ax: Any = None) -> Any:
    """Draw the cp table: cross-validated error by size, and the line of one standard error.

    Parameters
    ----------
    model : estimator or DataFrame
        An estimator fitted with ``ccp_alpha="cv"`` or ``"cv-1se"``, or its `cp_table_`.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    """
    table = _cp_table(model)
    error, spread = table["xerror"].to_numpy(), table["xstd"].to_numpy()
    leaves, places = table["nsplit"].to_numpy() + 1, np.arange(len(table))
    best = int(np.argmin(error))
    line = float(error[best] + spread[best])
    axes = new_axes((7.6, 4.4)) if ax is None else ax
    blue, orange = colour_of_class(0), colour_of_class(1)
    if len(table) <= _MOST_BARS:
        axes.errorbar(places, error, yerr=spread, marker="o", capsize=3, color=blue)
    else:
        axes.plot(places, error, color=blue)
        axes.fill_between(places, error - spread, error + spread, color=blue, alpha=0.2, linewidth=0)
    axes.axhline(line, color=_GREY, linestyle="--", linewidth=1, label="least + 1 standard error")
    for at, rule in ((best, "cv"), (int(np.flatnonzero(error <= line)[0]), "cv-1se")):
        size = 10 if rule == "cv" else 14
        chosen = f"{rule}: {leaves[at]:,} {'leaf' if leaves[at] == 1 else 'leaves'}"
        axes.plot(
            at,
            error[at],
            marker="o",
            markersize=size,
            fillstyle="none",
            color=orange,
            linestyle="",
            label=chosen,
        )
    ticks = np.unique(np.linspace(0, len(table) - 1, 8).astype(np.int64))
    axes.set_xticks(ticks, [f"{table['CP'].iloc[i]:.1g}" for i in ticks])
    above = axes.secondary_xaxis("top")
    above.set_xticks(ticks, [f"{leaves[i]:,}" for i in ticks])
    above.set_xlabel("leaves")
    _plainly(axes)
    axes.set(xlabel="complexity parameter", ylabel="cross-validated error, in units of the root's")
    axes.legend(frameon=False)
    return axes


def _cp_table(model: Any) -> pd.DataFrame:
    if hasattr(model, "columns"):
        table = model
    elif hasattr(model, "cp_table_"):
        table = model.cp_table_
    else:
        raise ValueError(
            f"cp: this {type(model).__name__} has no table of complexity parameters: "
            "fit it with ccp_alpha='cv' or 'cv-1se', or give its cp_table_"
        )
    lacking = [name for name in ("CP", "nsplit", "xerror", "xstd") if name not in table.columns]
    if lacking:
        raise ValueError(f"cp: the table lacks the column {lacking[0]!r}; it has {list(table.columns)}")
    result: pd.DataFrame = table
    return result


def gains(
    model: Any,
    data: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: Any = None,
    ax: Any = None,
) -> Any:
    """Draw what share of the target is reached if the best leaves are taken first.

    Parameters
    ----------
    model : estimator or Tree
        A fitted tree.
    data, y, sample_weight
        Rows, or a sketch set, as in `thetatree.judge.segments`; by default what the tree was grown on.
    target : label, optional
        The class that is looked for. With two classes the second; with more, a line for each.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    """
    axes = new_axes((5.6, 4.8)) if ax is None else ax
    axes.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1)
    for found, named in _by_class(model, data, y, sample_weight, target):
        frame = found.gains().frame
        share = np.concatenate([[0.0], frame["cumulative_share"]])
        reached = np.concatenate([[0.0], frame["captured"]])
        axes.plot(share, reached, marker=".", **named)
    _finished(axes, "share taken, best leaves first", "share of the target reached", f"gains, {_on(data)}")
    return axes


def calibration(
    model: Any,
    data: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: Any = None,
    bins: int = 10,
    ax: Any = None,
) -> Any:
    """Draw observed rates against predicted ones, with their 95% intervals; of numbers the leaves' means.

    Parameters
    ----------
    model : estimator or Tree
        A fitted tree.
    data, y, sample_weight
        Rows, or a sketch set, as in `thetatree.judge.segments`; by default what the tree was grown on.
    target : label, optional
        The class that is looked for. With two classes the second; with more, a line for each.
    bins : int, default=10
        Equal intervals of the predicted share.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    """
    axes = new_axes((5.6, 4.8)) if ax is None else ax
    ends: list[float] = []
    for found, named in _by_class(model, data, y, sample_weight, target):
        numbers = found.counts.mean is not None
        frame = found.frame[found.frame["n"] > 0] if numbers else found.calibration(bins).frame
        x, value = (frame["score"], frame["mean"]) if numbers else (frame["predicted"], frame["rate"])
        around = np.maximum(np.nan_to_num([value - frame["lower"], frame["upper"] - value]), 0.0)
        line = "none" if numbers else "-"
        axes.errorbar(x, value, yerr=around, marker="o", capsize=3, linestyle=line, **named)
        ends += [float(x.min()), float(x.max())] if numbers else [0.0, 1.0]
    axes.plot([min(ends), max(ends)], [min(ends), max(ends)], color=_GREY, linestyle="--", linewidth=1)
    _finished(axes, "predicted", "observed", f"calibration, {_on(data)}")
    return axes


def pruning_path(model: Any, *, ax: Any = None) -> Any:
    """Draw what minimal cost-complexity pruning would leave at each alpha: leaves, and their total impurity.

    Parameters
    ----------
    model : estimator or Tree
        A fitted tree; of one that was pruned, the path from there on.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default. The impurity has an axis of its own to the right.
    """
    grown = tree_of(model)
    alphas, impurities = cost_complexity_path(grown)
    steps = np.unique(np.linspace(0, len(alphas) - 1, min(len(alphas), _MOST_STEPS)).astype(np.int64))
    leaves = [
        grown.prune(ccp_alpha=max(0.0, float(alphas[i]))).n_leaves if i else grown.n_leaves for i in steps
    ]
    axes = new_axes((7.2, 4.4)) if ax is None else ax
    axes.step(alphas[steps], leaves, where="post", color=colour_of_class(0))
    right = axes.twinx()
    right.step(alphas[steps], impurities[steps], where="post", color=colour_of_class(1))
    positive = alphas[alphas > 0]
    if len(positive) and positive.max() > 100 * positive.min():
        axes.set_xscale("symlog", linthresh=float(positive.min()))
    axes.set_ylim(bottom=0)
    axes.set(xlabel="alpha", title="pruning path")
    axes.set_ylabel("leaves", color=colour_of_class(0))
    right.set_ylabel("total impurity of the leaves", color=colour_of_class(1))
    for side in (axes, right):
        side.spines["top"].set_visible(False)
    return axes


def _by_class(
    model: Any, data: Any, y: Any, sample_weight: Any, target: Any
) -> Iterator[tuple[Segments, dict[str, Any]]]:
    """Judge by the target; without one, by each class where there are more than two: a line for each."""
    counts = counted_leaves(model, data, y, sample_weight)
    classes = counts.tree.classes
    targets = [target]
    if classes is not None and target is None and len(classes) > 2:
        seen = [k for k in range(len(classes)) if counts.count[:, k].sum() > 0]
        targets = [classes[k] for k in seen[:_MOST_CLASSES]]
    for k, one in enumerate(targets):
        found = segments_of(counts, one, _LEVEL)
        name = "mean" if classes is None else str(found.target)
        yield found, {"color": colour_of_class(k), "label": _plain(name)}


def _on(data: Any) -> str:
    return "on what it was grown from" if data is None else "on the data given"


def _finished(ax: Any, x: str, y: str, title: str) -> None:
    _plainly(ax)
    ax.set(xlabel=x, ylabel=y, title=title)
    ax.legend(frameon=False)


def _plainly(ax: Any) -> None:
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _plain(text: Any) -> str:
    """Keep matplotlib from reading mathematics between dollar signs, and from hiding what begins with _."""
    shown = str(text).replace("$", r"\$")
    return f"\u200b{shown}" if shown.startswith("_") else shown
