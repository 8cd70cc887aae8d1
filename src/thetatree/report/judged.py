"""What a report says of data that come with it: each node's share of them, and how well the tree does there.

Gains, ROC and calibration are those of `thetatree.judge`; here they are cut to what a page can draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree.judge.leaf_counts import LeafCounts, leaves_of_rows
from thetatree.judge.segments import Segments, counted_leaves, segments_of
from thetatree.report.payload import LEVEL, rounded
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.tree import Tree

_MOST_POINTS = 120
_MOST_CLASSES = 12  # that have charts of their own: the most frequent ones
_BINS = 20


def judged(model: Any, tree: Tree, data: Any) -> dict[str, Any]:
    """Return the figures of the data given: (X, y), or a sketch set."""
    X, y = _parts(data)
    counts = counted_leaves(model, X, y, None)
    rows = isinstance(data, SketchSet) is False
    what = f"{counts.n.sum():,.0f} {counts.unit} given"
    out: dict[str, Any] = {
        "what": what,
        "says": f"Judged on the {what} with the report. If the tree was grown on them, this flatters it.",
        "n": rounded(_over_nodes(tree, counts.n)),
    }
    if tree.classes is not None:
        return out | _of_classes(tree, counts)
    return out | (_of_numbers(model, tree, counts, X, np.asarray(y, dtype=np.float64)) if rows else {})


def _parts(data: Any) -> tuple[Any, Any]:
    if isinstance(data, SketchSet):
        return data, None
    if isinstance(data, (tuple, list)) and len(data) == 2:
        return data[0], data[1]
    raise TypeError(
        f"report: data must be a pair (X, y) or a SketchSet; got {type(data).__name__}: data=(X, y)"
    )


def _over_nodes(tree: Tree, of_leaves: NDArray[Any]) -> NDArray[np.float64]:
    """Add the leaves' figures up over the nodes above them."""
    out = np.zeros((tree.node_count, *of_leaves.shape[1:]))
    out[tree.is_leaf] = of_leaves
    parent = tree.parent.tolist()
    for node in range(tree.node_count - 1, 0, -1):
        out[parent[node]] += out[node]
    return out


def _of_classes(tree: Tree, counts: LeafCounts) -> dict[str, Any]:
    classes = tree.classes or ()
    total, predicted = float(counts.weight.sum()), counts.predicted.argmax(axis=1)
    right = float(counts.count[np.arange(len(predicted)), predicted].sum())
    frequent = np.argsort(-counts.count.sum(axis=0), kind="stable")[:_MOST_CLASSES]
    charts: list[dict[str, Any]] = []
    areas: list[float | int | None] = [None] * len(classes)
    for k in sorted(frequent.tolist()):
        if 0 < counts.count[:, k].sum() < total:
            found = segments_of(counts, classes[k], LEVEL)
            areas[k] = rounded([found.roc().auc])[0]
            charts += [{"focus": k} | chart for chart in _charts(found, str(classes[k]))]
    return {
        "counts": rounded(_over_nodes(tree, counts.count).ravel()),
        "figures": [["Accuracy", f"{right / total:.1%}"]] if total else [],
        "auc": areas,
        "charts": charts,
    }


def _charts(found: Segments, name: str) -> list[dict[str, Any]]:
    gains, roc, calibration = found.gains(), found.roc(), found.calibration()
    best = gains.frame.iloc[: max(1, int((gains.frame["cumulative_share"] <= 0.2).sum()))].iloc[-1]
    calibrated = calibration.frame
    share = calibrated["weight"] / calibrated["weight"].sum()
    points = calibrated[["predicted", "rate", "lower", "upper"]].assign(share=share).to_numpy()
    return [
        {
            "kind": "gains",
            "says": f"the best {best['cumulative_share']:.0%} hold {best['captured']:.0%} of “{name}”",
            "x": "Share taken, best segments first",
            "y": f"Share of “{name}” reached",
            "points": _line(gains.frame[["cumulative_share", "captured"]].to_numpy()),
        },
        {
            "kind": "roc",
            "says": f"area {roc.auc:.3f}",
            "points": _line(roc.frame[["fpr", "tpr"]].to_numpy()[1:]),
        },
        {
            "kind": "calibration",
            "says": f"expected error {calibration.error:.1%}",
            "x": "Predicted",
            "y": "Observed, with its 95% interval",
            "points": [rounded(point, 4) for point in points],
        },
    ]


def _line(points: NDArray[Any]) -> list[list[Any]]:
    """Return a line from 0, 0; of very many points some, the last among them."""
    whole = np.vstack([[0.0, 0.0], points])
    if len(whole) > _MOST_POINTS:
        whole = whole[np.unique(np.linspace(0, len(whole) - 1, _MOST_POINTS).astype(np.int64))]
    return [rounded(point, 4) for point in whole]


def _of_numbers(model: Any, tree: Tree, counts: LeafCounts, X: Any, y: NDArray[np.float64]) -> dict[str, Any]:
    assert counts.mean is not None and counts.deviation is not None
    some, weight = counts.n > 0, counts.weight
    mean = np.where(some, counts.mean, 0.0)
    squares = np.where(some, counts.deviation, 0.0) ** 2 + (mean - counts.predicted[:, 0]) ** 2
    sizes, sums = _over_nodes(tree, weight), _over_nodes(tree, weight * mean)
    error, total = float((weight * squares).sum()), float(((y - y.mean()) ** 2).sum())
    figures = [["Root mean squared error", f"{np.sqrt(error / weight.sum()):.4g}"]]
    if total > 0:
        figures.insert(0, ["R²", f"{1 - error / total:.3f}"])
    edges = _edges(y)
    at = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, _BINS - 1)
    hist = np.zeros((tree.n_leaves, _BINS))
    place = np.searchsorted(np.flatnonzero(tree.is_leaf), leaves_of_rows(model, X))
    np.add.at(hist, (place, at), 1)
    return {
        "mean": rounded(np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)),
        "edges": rounded(edges),
        "hist": rounded(_over_nodes(tree, hist).ravel()),
        "figures": figures,
        "charts": _charts_of_numbers(segments_of(counts, None, LEVEL), float(y.min())),
    }


def _edges(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the borders of the histograms' bins; what is far out stands in the outer ones."""
    low, high = np.quantile(y, [0.005, 0.995])
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, _BINS + 1)


def _charts_of_numbers(found: Segments, least: float) -> list[dict[str, Any]]:
    frame = found.frame[found.frame["n"] > 0]
    bounds = frame[["lower", "upper"]].fillna({"lower": frame["mean"], "upper": frame["mean"]})
    points = np.column_stack([frame["score"], frame["mean"], bounds, frame["share"]])
    if len(points) > _MOST_POINTS:
        points = points[np.unique(np.linspace(0, len(points) - 1, _MOST_POINTS).astype(np.int64))]
    low, high = points[:, :4].min(), points[:, :4].max()
    if not low < high:
        low, high = low - 0.5, high + 0.5
    calibration = {
        "focus": None,
        "kind": "calibration",
        "says": "segment by segment",
        "x": "Predicted",
        "y": "Mean of those given, with its 95% interval",
        "domain": rounded([low, high]),
        "points": [rounded(point, 5) for point in points],
    }
    if least < 0 or not frame["mean"].max() > 0:
        return [calibration]  # shares of a sum that has negative parts say nothing
    gains = found.gains().frame
    best = gains.iloc[: max(1, int((gains["cumulative_share"] <= 0.2).sum()))].iloc[-1]
    return [
        {
            "focus": None,
            "kind": "gains",
            "says": f"the best {best['cumulative_share']:.0%} hold {best['captured']:.0%} of the sum",
            "x": "Share taken, best segments first",
            "y": "Share of the sum reached",
            "points": _line(gains[["cumulative_share", "captured"]].to_numpy()),
        },
        calibration,
    ]
