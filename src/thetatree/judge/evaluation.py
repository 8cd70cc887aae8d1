"""What a tree is worth on a sketch set, with the errors of the estimated figures.

A figure is a smooth function of the counts of the leaves, so its error follows from theirs to first order:
its *slope* in a leaf's class is how much it changes for one key more there. Counts add up at every split, so
what one branch has too much the others lack: each split errs by itself, and what a branch errs is shared out
below it as its keys are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree.judge.counts import share_of
from thetatree.judge.leaf_counts import LeafCounts, estimated_leaves, estimates_of_sketches
from thetatree.judge.proportions import Floats, normal_quantile
from thetatree.judge.ranking import ratio
from thetatree.judge.table import Table, fixed, whole
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.estimates import Estimates
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

_LEAST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Table):
    """Figures of a tree on a sketch set.

    Attributes
    ----------
    frame : DataFrame
        One line per figure: figure, value, standard_error, lower, upper. Keys, accuracy, balanced accuracy,
        log loss, Brier score and AUC.
    confusion : DataFrame
        Estimated keys by truth (down) and prediction (across).
    """

    confusion: pd.DataFrame = field(kw_only=True)

    def _draw(self, ax: Any) -> None:
        shown = self.frame[self.frame["figure"] != "keys"]
        around = [shown["value"] - shown["lower"], shown["upper"] - shown["value"]]
        ax.errorbar(range(len(shown)), shown["value"], yerr=np.nan_to_num(around), fmt="s", capsize=5)
        ax.set_xticks(range(len(shown)), shown["figure"])


def evaluate(model: Any, sketches: SketchSet, *, level: float = 0.95) -> Evaluation:
    """Judge a tree on a sketch set: held-out keys, another day, another owner.

    Parameters
    ----------
    model : estimator or Tree
        A fitted classification tree, from sketches or from rows, whose tests the set can decide.
    sketches : SketchSet
        The keys to judge on, with their classes. On the set that the tree was grown from the figures flatter.
    level : float, default=0.95
        Level of the bounds, which say how far the estimate may be from the figure of all sketched keys; where
        no hash was left out they have no width. They are normal ones to first order: with few held keys in
        the leaves take them as rough.

    Returns
    -------
    Evaluation
        A table that prints; `.frame`, `.confusion`, `.plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from thetatree import ThetaSketchDecisionTreeClassifier, sketch
    >>> ids = np.arange(40_000)
    >>> table = pd.DataFrame({"id": ids, "vip": ids % 4 == 0, "buys": np.where(ids % 20 < 5, "y", "n")})
    >>> grown_on, held_out = sketch(table, "id", "buys", lg_k=9).folds(2)[0]
    >>> found = evaluate(ThetaSketchDecisionTreeClassifier(max_depth=1).fit(grown_on), held_out)
    >>> found.frame["figure"].tolist()
    ['keys', 'accuracy', 'balanced accuracy', 'log loss', 'Brier score', 'AUC']
    >>> bounds = found.frame.set_index("figure").loc["accuracy", ["lower", "upper"]]
    >>> bool(bounds["lower"] < 0.75 < bounds["upper"])
    True
    >>> evaluate(found, table)
    Traceback (most recent call last):
        ...
    TypeError: evaluate: judges on a SketchSet; got DataFrame: for rows see segments, or sklearn.metrics
    """
    if not isinstance(sketches, SketchSet):
        raise TypeError(
            f"evaluate: judges on a SketchSet; got {type(sketches).__name__}: "
            "for rows see segments, or sklearn.metrics"
        )
    z = normal_quantile("evaluate", level)
    tree, known = estimates_of_sketches(model, sketches)
    leaves = estimated_leaves(tree, known)
    given = _given(model, leaves)
    lines = []
    for name, value, slopes, most in _figures(leaves, given):
        error = float(np.sqrt(_variance(tree, known, slopes)))
        lower, upper = max(value - z * error, 0.0), min(value + z * error, most)
        lines.append((name, value, error, lower, upper))
    return _table(lines, _confusion(leaves, given), level)


def _given(model: Any, leaves: LeafCounts) -> NDArray[np.int64]:
    """Return the class that each leaf is given, -1 where it is given none."""
    decided = getattr(model, "leaf_classes_", None)
    likeliest = leaves.predicted.argmax(axis=1) if decided is None else decided[leaves.leaf]
    return np.asarray(likeliest, dtype=np.int64)


def _figures(leaves: LeafCounts, given: NDArray[np.int64]) -> list[tuple[str, float, Floats, float]]:
    """Return each figure: name, value, slopes (leaf × class) and the most that it can be."""
    p, count = leaves.predicted, leaves.count
    classes = np.arange(count.shape[1])
    right = (given[:, np.newaxis] == classes).astype(np.float64)
    loss = -np.log(np.clip(p, _LEAST, 1 - _LEAST))
    off = ((p**2).sum(axis=1, keepdims=True) - 2 * p + 1) / (2 if len(classes) == 2 else 1)
    total = float(count.sum())
    sizes = count.sum(axis=0)
    recall = ratio((right * count).sum(axis=0), sizes)
    known = sizes > 0
    by_class = np.where(known, share_of(right - np.nan_to_num(recall), np.tile(sizes, (len(p), 1))), 0.0)
    balanced = float(recall[known].mean()) if known.any() else float("nan")
    auc, slopes_of_auc = _auc(leaves)
    return [
        ("keys", total, np.ones_like(count), np.inf),
        ("accuracy", *_mean(right, count), 1.0),
        ("balanced accuracy", balanced, by_class / max(int(known.sum()), 1), 1.0),
        ("log loss", *_mean(loss, count), np.inf),
        ("Brier score", *_mean(off, count), np.inf),
        ("AUC", auc, slopes_of_auc, 1.0),
    ]


def _mean(values: Floats, count: Floats) -> tuple[float, Floats]:
    """Return the mean over all keys and its slopes."""
    total = float(count.sum())
    mean = float(ratio((values * count).sum(), total))
    return mean, (values - mean) / total if total else np.zeros_like(count)


def _auc(leaves: LeafCounts) -> tuple[float, Floats]:
    """Return the area below the ROC curve, of more than two classes the mean of each against the others."""
    n_classes = leaves.count.shape[1]
    found = [_area(leaves, k) for k in ([1] if n_classes == 2 else range(n_classes))]
    found = [one for one in found if not np.isnan(one[0])]
    if not found:
        return float("nan"), np.zeros_like(leaves.count)
    return float(np.mean([one[0] for one in found])), np.mean([one[1] for one in found], axis=0)


def _area(leaves: LeafCounts, target: int) -> tuple[float, Floats]:
    hits, others = leaves.count[:, target], np.delete(leaves.count, target, axis=1).sum(axis=1)
    n_hits, n_others = hits.sum(), others.sum()
    if not (n_hits > 0 and n_others > 0):
        return float("nan"), np.zeros_like(leaves.count)
    _, step = np.unique(leaves.predicted[:, target], return_inverse=True)  # from the lowest score on

    def below(weight: Floats) -> Floats:
        """Weight of the leaves with a lower score, and half of that with the same."""
        steps = np.bincount(step, weight)
        return np.asarray((np.cumsum(steps) - steps / 2)[step])

    beaten = below(others) / n_others
    beating = 1 - below(hits) / n_hits
    area = float((hits * beaten).sum() / n_hits)
    slopes = np.repeat(((beating - area) / n_others)[:, np.newaxis], leaves.count.shape[1], axis=1)
    slopes[:, target] = (beaten - area) / n_hits
    return area, slopes


def _variance(tree: Tree, known: Estimates, slopes: Floats) -> float:
    """Return the variance of a figure with these slopes in the leaves."""
    slope = np.zeros_like(known.count)
    slope[tree.is_leaf] = slopes
    variance = known.standard_error**2
    found = 0.0
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():  # children before their parents
        children = tree.child[tree.child_start[node] : tree.child_start[node + 1]]
        share = share_of(known.count[children], np.tile(known.count[node], (len(children), 1)))
        own = np.maximum(variance[children] - share**2 * variance[node], 0.0)
        # Errors that add up to nothing: independent ones, so much greater, less what they have in common.
        own *= len(children) / (len(children) - 1)
        spread = (own * slope[children]).sum(axis=0)
        found += float(
            ((own * slope[children] ** 2).sum(axis=0) - share_of(spread**2, own.sum(axis=0))).sum()
        )
        slope[node] = (share * slope[children]).sum(axis=0)
    return max(found + float((variance[0] * slope[0] ** 2).sum()), 0.0)


def _confusion(leaves: LeafCounts, given: NDArray[np.int64]) -> pd.DataFrame:
    import pandas as pd

    labels = list(leaves.tree.classes or ())
    columns = [leaves.count[given == k].sum(axis=0) for k in range(len(labels))]
    return pd.DataFrame(np.column_stack(columns), index=labels, columns=labels)


def _table(
    lines: list[tuple[str, float, float, float, float]], confusion: pd.DataFrame, level: float
) -> Evaluation:
    import pandas as pd

    frame = pd.DataFrame(lines, columns=["figure", "value", "standard_error", "lower", "upper"])
    value, error, lower, upper = (
        [*whole(frame[name][:1]), *fixed(frame[name][1:], 4)]
        for name in ("value", "standard_error", "lower", "upper")
    )
    cells = {
        "figure": frame["figure"].tolist(),
        "value": value,
        "error": error,
        f"{level:.0%} interval": [f"{a} to {b}" for a, b in zip(lower, upper, strict=True)],
    }
    keys, accuracy = frame["value"].iloc[:2]
    return Evaluation(f"{keys:,.0f} keys: accuracy {accuracy:.4f}", frame, cells, confusion=confusion)
