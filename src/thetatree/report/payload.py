"""What a report's page is drawn from: the tree, its words and its figures as JSON values.

The page routes a typed-in case and draws nodes from these arrays; it knows nothing that is not here. Words
(the conditions) and bounds are made in Python, by the functions that every export uses, so that a page never
says something else than they do. Figures are cut to the digits that a page can show; thresholds keep every
bit.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree.data.features import Feature
from thetatree.sketch.kinds import OTHER
from thetatree.tree.rules import condition
from thetatree.tree.tree import SplitKind, Tree

LEVEL = 0.95


def payload(model: Any, tree: Tree, title: str | None, note: str | None) -> dict[str, Any]:
    """Return everything that a report without data shows."""
    regression = tree.classes is None
    return {
        "title": title or ("Regression tree" if regression else "Classification tree"),
        "note": note or "",
        "estimator": type(model).__name__,
        "criterion": tree.criterion,
        "classes": None if tree.classes is None else [str(label) for label in tree.classes],
        "features": [_feature(feature, hasattr(model, "columns_")) for feature in tree.features],
        "tree": _tree(tree),
        **_rules(tree),
        "estimates": _estimates(tree),
        "bounds": _bounds(tree),
        "grown": _grown(model, tree),
    }


def _feature(feature: Feature, from_sketches: bool) -> dict[str, Any]:
    labels = [str(label) for label in feature.labels]
    if len(set(labels)) < len(labels):  # the text "1" beside the number 1
        labels = [repr(label) for label in feature.labels]
    out: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if feature.kind == "category":
        out |= {"labels": labels, "unlisted": feature.unlisted}
        if from_sketches and OTHER in feature.labels:  # what the builder counted together
            out["other"] = feature.labels.index(OTHER)
    return out


def _tree(tree: Tree) -> dict[str, Any]:
    best = np.zeros(tree.node_count, dtype=np.int64) if tree.classes is None else tree.values.argmax(axis=1)
    out: dict[str, Any] = {
        "kind": tree.kind.tolist(),
        "feature": tree.feature.tolist(),
        "threshold": [_threshold(kind, t) for kind, t in zip(tree.kind, tree.threshold, strict=True)],
        "childStart": tree.child_start.tolist(),
        "child": tree.child.tolist(),
        "categoryStart": tree.category_start.tolist(),
        "category": tree.category.tolist(),
        "categoryBranch": tree.category_branch.tolist(),
        "missing": tree.missing_branch.tolist(),
        "condition": _conditions(tree),
        "n": tree.n_node_samples.tolist(),
        "weight": rounded(tree.weighted_n_node_samples, 17),  # cases are parted by them, to the last bit
        "weighted": not np.allclose(tree.weighted_n_node_samples, tree.n_node_samples, rtol=1e-6, atol=0.5),
        "impurity": rounded(tree.impurity),
        "score": rounded(tree.score),
        "decrease": rounded(tree.impurity_decrease),
        "value": rounded(tree.values.ravel(), 8 if tree.classes is None else 6),
        "best": best.tolist(),
        "importance": rounded(tree.compute_feature_importances()),
    }
    return out


def _threshold(kind: int, value: float) -> float | str | None:
    if kind != SplitKind.THRESHOLD:
        return None
    return float(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def _conditions(tree: Tree) -> list[str]:
    """Return the test that leads to each node, in the words of `Tree.rules`; nothing leads to the root."""
    out = [""] * tree.node_count
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        for branch, child in enumerate(tree.child[tree.child_start[node] : tree.child_start[node + 1]]):
            out[int(child)] = condition(tree, node, branch)
    return out


def _rules(tree: Tree) -> dict[str, Any]:
    """Return each leaf's conditions as places in a list of all: many leaves share them."""
    words: dict[str, int] = {}
    rules = [[words.setdefault(text, len(words)) for text in rule.conditions] for rule in tree.rules()]
    return {"words": list(words), "rules": rules}


def _estimates(tree: Tree) -> dict[str, Any] | None:
    """Return counts with their bounds, where the tree was grown from sketches."""
    if tree.estimates is None:
        return None
    lower, upper = tree.estimates.interval(LEVEL)
    return {
        "count": rounded(tree.estimates.count.ravel()),
        "low": rounded(lower.ravel()),
        "high": rounded(upper.ravel()),
        "error": rounded(1.96 * tree.estimates.node_error),
        "held": rounded(tree.estimates.held),
        "theta": rounded(tree.estimates.theta[0]),
    }


def _grown(model: Any, tree: Tree) -> dict[str, Any]:
    """Return how the tree was grown: parameters, what it was grown from, by which versions."""
    import sklearn

    import thetatree

    parameters = []
    if hasattr(model, "get_params"):
        default = type(model)().get_params(deep=False)
        for name, value in model.get_params(deep=False).items():
            parameters.append([name, _text(value), _text(value) != _text(default[name])])
    return {
        "parameters": parameters,
        "versions": [
            ["thetatree", thetatree.__version__],
            ["scikit-learn", sklearn.__version__],
            ["numpy", np.__version__],
            ["Python", platform.python_version()],
        ],
        "gaps": [f.name for f in tree.features if f.gaps],
    }


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else text[:199] + "…"


def rounded(values: NDArray[Any] | Sequence[float], digits: int = 6) -> list[float | int | None]:
    """Return numbers with so many significant digits; whole ones as whole numbers, what is no number as None.

    Examples
    --------
    >>> rounded([1.0, 0.123456789, float("nan")])
    [1, 0.123457, None]
    """
    out: list[float | int | None] = []
    for value in np.asarray(values, dtype=np.float64).tolist():
        if not math.isfinite(value):
            out.append(None)
        elif value == int(value) and abs(value) < 1e15:
            out.append(int(value))
        else:
            short = float(f"{value:.{digits}g}")
            out.append(int(short) if short == int(short) and abs(short) < 1e15 else short)
    return out


def _bounds(tree: Tree) -> dict[str, Any] | None:
    """Return 95% intervals of every node's class shares; None for regression."""
    if tree.classes is None:
        return None
    from thetatree.judge.counts import Counts

    nodes, n, known = np.arange(tree.node_count), tree.n_node_samples.astype(np.float64), tree.estimates
    if known is None:
        counts = Counts(tree.values, n, tree.values * tree.weighted_n_node_samples[:, np.newaxis], n)
    else:
        variance = known.standard_error**2
        counts = Counts(tree.values, n, known.count, known.held, variance, known.theta, "keys")
    sides = [counts.rate_interval(np.full(len(nodes), k), LEVEL) for k in range(len(tree.classes))]
    low, high = (np.stack(side, axis=1).ravel() for side in zip(*sides, strict=True))
    says = "95% intervals are not adjusted for the splits having been chosen."
    return {"low": rounded(low, 4), "high": rounded(high, 4), "says": says}
