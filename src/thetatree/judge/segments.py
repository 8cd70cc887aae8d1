"""Segments: the leaves of a tree as a table of who they are, how many, and how far from the average."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from thetatree.judge.calibration import Calibration, calibration_of, interval_texts
from thetatree.judge.curves import (
    PrecisionRecall,
    Roc,
    Thresholds,
    precision_recall_of,
    roc_of,
    thresholds_of,
)
from thetatree.judge.gains import Gains, Lift, gains_of, lift_of
from thetatree.judge.leaf_counts import (
    LeafCounts,
    counts_of_rows,
    counts_of_sketches,
    judged_tree,
    own_counts,
)
from thetatree.judge.proportions import normal_quantile
from thetatree.judge.ranking import Ranking, ranked, ratio
from thetatree.judge.table import Table, counted, figures, fixed, percent, whole
from thetatree.learn.params import real
from thetatree.learn.params import whole as whole_number
from thetatree.sketch.counts import interval
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.rules import prediction, rules_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Table):
    """The leaf table, and every other table and curve that follows from the same counts.

    Attributes
    ----------
    frame : DataFrame
        One line per leaf, the highest score first. For classes: leaf, rule, n (with n_lower and n_upper where
        it is an estimate), weight, share (of all weight), prediction, score (what the tree says of the
        target), rate, lower, upper, lift, index (100 is average) and rate_LABEL for each class. For numbers:
        mean, deviation, error, lower, upper in place of the rates.
    counts : LeafCounts
        What it was made from.
    target : object
        The class that rate, lift and index are about; None: each leaf's predicted class.
    level : float
        The level of the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from thetatree import CARTClassifier, judge
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = judge.segments(CARTClassifier(max_depth=2).fit(X[:400], y[:400]), X[400:], y[400:])
    >>> print(found.gains())
    gains: 1, 169 rows
      step  score    n  share so far  reached  rate so far  lift  index
         1  96.8%  109         64.5%    83.1%        99.1%  1.29    129
         2  69.2%    6         68.0%    86.9%        98.3%  1.28    128
         3   4.3%   49         97.0%    96.2%        76.2%  0.99     99
         4   0.0%    5        100.0%   100.0%        76.9%  1.00    100
    >>> float(found.lift(bins=4).frame["cumulative_lift"][0].round(2))
    1.29
    >>> round(found.roc().auc, 3), round(found.precision_recall().average_precision, 3)
    (0.901, 0.961)
    >>> float(found.thresholds((1, 4)).best("cost")["threshold"].round(3))
    0.692
    >>> round(found.calibration().error, 3)
    0.108
    """

    counts: LeafCounts = field(kw_only=True)
    target: Any = field(kw_only=True)
    level: float = field(kw_only=True)

    def gains(self, bins: int | None = None) -> Gains:
        """Return what is reached if the highest scores are taken first.

        Parameters
        ----------
        bins : int, optional
            So many equal parts (10 for deciles), leaves on a border shared out; by default a step per score.
        """
        return gains_of(self._ranking(), self._what(), self._classes, _parts(bins))

    def lift(self, bins: int | None = None) -> Lift:
        """Return how many times the average each step has, and all steps up to it.

        Parameters
        ----------
        bins : int, optional
            As for `gains`.
        """
        return lift_of(self._ranking(), self._what(), self._classes, _parts(bins))

    def roc(self) -> Roc:
        """Return the ROC curve with its area, `auc`."""
        self._need_classes("roc")
        return roc_of(self._ranking(), self._what())

    def precision_recall(self) -> PrecisionRecall:
        """Return precision against recall, with `average_precision`."""
        self._need_classes("precision_recall")
        return precision_recall_of(self._ranking(), self._what())

    def thresholds(self, weights: tuple[float, float] | None = None) -> Thresholds:
        """Return hits, false alarms and rates at each threshold.

        Parameters
        ----------
        weights : pair of float, optional
            What a missed target and a false alarm cost; adds the column cost.
        """
        self._need_classes("thresholds")
        if weights is not None:
            weights = checked_weights("thresholds", weights)
        return thresholds_of(self._ranking(), self._what(), weights)

    def calibration(self, bins: int = 10) -> Calibration:
        """Return predicted against observed rates, with `brier` and `error`.

        Parameters
        ----------
        bins : int, default=10
            Equal intervals of the prediction.
        """
        self._need_classes("calibration")
        k = self._target_code()
        assert k is not None
        return calibration_of(self.counts, k, self._what(), _parts(bins) or 10, self.level)

    @property
    def _classes(self) -> bool:
        return self.counts.mean is None

    def _need_classes(self, what: str) -> None:
        if not self._classes:
            raise ValueError(f"{what} is for classes, and this tree predicts numbers: see gains and lift")

    def _target_code(self) -> int | None:
        if not self._classes:
            return None
        assert self.counts.tree.classes is not None
        classes = list(self.counts.tree.classes)
        if self.target is None:
            raise ValueError(
                f"which class is to be found? Give it: segments(model, ..., target={classes[0]!r}); "
                f"the classes are {classes}"
            )
        return classes.index(self.target)

    def _ranking(self) -> Ranking:
        return ranked(self.counts, self._target_code(), self.level)

    def _what(self) -> str:
        name = "mean" if not self._classes else str(self.target)
        return f"{name}, {counted(float(self.counts.n.sum()), self.counts.unit)}"

    def _draw(self, ax: Any) -> None:
        value = "rate" if self._classes else "mean"
        frame, places = self.frame, np.arange(len(self.frame))[::-1]
        around = np.nan_to_num([frame[value] - frame["lower"], frame["upper"] - frame[value]])
        ax.barh(places, frame[value], xerr=np.maximum(around, 0.0), capsize=3, alpha=0.7)
        ax.set_yticks(places, frame["rule"])
        overall = float(ratio((frame[value] * frame["share"]).sum(), frame["share"].sum()))
        if not self._classes or self.target is not None:
            ax.axvline(overall, color="grey", linestyle="--")
        ax.set(xlabel=value)


def segments(
    model: Any,
    data: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: Any = None,
    level: float = 0.95,
) -> Segments:
    """Return the leaves of a tree as segments: rule, size, rate or mean, lift, index and interval.

    Parameters
    ----------
    model : estimator or Tree
        A fitted tree; also a pipeline or a search that ends in one.
    data : table or SketchSet, optional
        Rows to count, or sketches: a held-out fold, another day. By default the counts that the tree was
        grown on, which flatter it. Counts from sketches are estimates with errors.
    y : array-like, optional
        The target of the rows.
    sample_weight : array-like, optional
        Weights of the rows. Intervals then rest on (Σw)²/Σw² cases.
    target : label, optional
        The class that is looked for. With two classes the second; with more, none: then each leaf's rate is
        that of the class it predicts.
    level : float, default=0.95
        Level of the intervals: Wilson's for rates, Student's for means. They are not adjusted for the splits
        having been chosen on the same rows.

    Returns
    -------
    Segments
        A table that prints, has `.frame` and `.plot()`, and gives `gains()`, `lift()`, `roc()`,
        `precision_recall()`, `thresholds()` and `calibration()`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import CARTClassifier
    >>> iris = load_iris(as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> found = segments(model, target="virginica")
    >>> print(found)
    segments by virginica: 3 leaves, 150 rows, 33.3% overall
      leaf   n  share   rate  95% interval  lift  index  rule
         4  46  30.7%  97.8%   88.7%–99.6%  2.93    293  petal length (cm) > 2.45 and petal width (cm) > 1.75
         3  54  36.0%   9.3%    4.0%–19.9%  0.28     28  petal length (cm) > 2.45 and petal width (cm) ≤ 1.75
         1  50  33.3%   0.0%     0.0%–7.1%  0.00      0  petal length (cm) ≤ 2.45
    >>> round(found.roc().auc, 3)
    0.97
    """
    normal_quantile("segments", level)
    return segments_of(counted_leaves(model, data, y, sample_weight), target, level)


def counted_leaves(model: Any, data: Any, y: Any, sample_weight: Any) -> LeafCounts:
    """Count in a model's leaves: rows, or a sketch set, or without data what it was grown on."""
    if data is not None and not isinstance(data, SketchSet):
        return counts_of_rows(model, data, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError("segments: y and sample_weight come with rows: segments(model, X, y)")
    return own_counts(judged_tree(model)) if data is None else counts_of_sketches(model, data)


def segments_of(counts: LeafCounts, target: Any, level: float) -> Segments:
    """Put the table together."""
    tree = counts.tree
    if tree.classes is None:
        if target is not None:
            raise ValueError(f"segments: target={target!r} is a class, and this tree predicts numbers")
        return _of_numbers(counts, level)
    classes = list(tree.classes)
    if target is None and len(classes) == 2:
        target = classes[1]
    if target is not None and target not in classes:
        raise ValueError(f"segments: target={target!r} is not a class of the tree; the classes are {classes}")
    return _of_classes(counts, target, level)


def _of_classes(counts: LeafCounts, target: Any, level: float) -> Segments:
    import pandas as pd

    tree = counts.tree
    assert tree.classes is not None
    predicted = np.argmax(counts.predicted, axis=1)
    code = predicted if target is None else np.full(len(counts.leaf), tree.classes.index(target))
    leaves = np.arange(len(counts.leaf))
    weight = counts.weight
    rate = ratio(counts.count[leaves, code], weight)
    overall = ratio(counts.count.sum(axis=0), weight.sum())
    lower, upper = counts.rate_interval(code, level)
    lift = ratio(rate, overall[code])
    columns = _who(counts, level)
    columns |= {
        "prediction": [prediction(tree, int(node)) for node in counts.leaf],
        "score": counts.predicted[leaves, code],
        "rate": rate,
        "lower": lower,
        "upper": upper,
        "lift": lift,
        "index": 100 * lift,
    }
    for k, label in enumerate(tree.classes):
        columns[f"rate_{label}"] = ratio(counts.count[:, k], weight)
    frame = pd.DataFrame(columns)
    if target is not None:
        frame = _highest_first(frame)
    cells = _sizes(counts, frame, level)
    if target is None:
        cells["class"] = [str(label) for label in frame["prediction"]]
    cells |= {
        "rate": percent(frame["rate"]),
        f"{level:.0%} interval": interval_texts(frame["lower"], frame["upper"]),
        "lift": fixed(frame["lift"]),
        "index": whole(frame["index"]),
        "rule": frame["rule"].tolist(),
    }
    whose = "the class of each leaf" if target is None else str(target)
    title = f"segments by {whose}: {_size(counts)}"
    if target is not None:
        title += f", {overall[tree.classes.index(target)]:.1%} overall"
    return Segments(title, frame, cells, counts=counts, target=target, level=level)


def _of_numbers(counts: LeafCounts, level: float) -> Segments:
    import pandas as pd

    assert counts.mean is not None
    error, lower, upper = counts.mean_interval(level)
    weight = counts.weight
    average = float(ratio(np.nansum(counts.mean * weight), weight.sum()))
    # A multiple of the average says something only of amounts.
    lift = ratio(counts.mean, average) if average > 0 else np.full(len(weight), np.nan)
    columns = _who(counts, level)
    columns |= {
        "score": counts.predicted[:, 0],
        "mean": counts.mean,
        "deviation": counts.deviation,
        "error": error,
        "lower": lower,
        "upper": upper,
        "lift": lift,
        "index": 100 * lift,
    }
    frame = _highest_first(pd.DataFrame(columns))
    bounds = zip(figures(frame["lower"]), figures(frame["upper"]), strict=True)
    cells = _sizes(counts, frame, level) | {
        "mean": figures(frame["mean"]),
        "error": figures(frame["error"], 3),
        f"{level:.0%} interval": [f"{a} to {b}" for a, b in bounds],
        "lift": fixed(frame["lift"]),
        "index": whole(frame["index"]),
        "rule": frame["rule"].tolist(),
    }
    title = f"segments by mean: {_size(counts)}, {average:,.4g} overall"
    return Segments(title, frame, cells, counts=counts, target=None, level=level)


def _who(counts: LeafCounts, level: float) -> dict[str, Any]:
    """Return what each line begins with: the leaf, its rule and its size."""
    rules = {rule.leaf: str(rule) for rule in rules_of(counts.tree)}
    columns: dict[str, Any] = {"leaf": counts.leaf, "rule": [rules[int(leaf)] for leaf in counts.leaf]}
    if counts.variance is None:
        columns["n"] = counts.n.astype(np.int64)
    else:
        variance = counts.variance.sum(axis=1)
        assert counts.theta is not None
        theta = np.where(counts.n > 0, ratio(counts.n, counts.n + variance), counts.theta.min(axis=1))
        bounds = interval(counts.n * theta, theta, level)
        columns |= {"n": counts.n, "n_lower": bounds.lower, "n_upper": bounds.upper}
    weight = counts.weight
    return columns | {"weight": weight, "share": ratio(weight, weight.sum())}


def _highest_first(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("score", ascending=False, kind="stable", ignore_index=True)


def _sizes(counts: LeafCounts, frame: pd.DataFrame, level: float) -> dict[str, list[str]]:
    cells = {"leaf": [str(leaf) for leaf in frame["leaf"]], "n": whole(frame["n"])}
    if counts.variance is not None:
        order = np.searchsorted(counts.leaf, frame["leaf"])
        width = float(ndtri((1 + level) / 2)) * np.sqrt(counts.variance.sum(axis=1))[order]
        cells["n"] = [f"{n} ± {w}" if w != "0" else n for n, w in zip(cells["n"], whole(width), strict=True)]
    elif not np.array_equal(frame["n"], frame["weight"]):
        cells["weight"] = figures(frame["weight"], 6)
    return cells | {"share": percent(frame["share"])}


def _size(counts: LeafCounts) -> str:
    leaves = len(counts.leaf)
    return f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}, {counted(float(counts.n.sum()), counts.unit)}"


def _parts(bins: Any) -> int | None:
    return whole_number("bins", bins, 1, none=True)


def checked_weights(caller: str, weights: Any) -> tuple[float, float]:
    """Return a pair of costs, checked: of a missed target and of a false alarm."""
    pair = np.asarray(weights, dtype=object)
    if pair.shape != (2,):
        raise ValueError(f"{caller}: weights must be two numbers, as in (3, 1); got {weights!r}")
    missed, false = (real(f"{caller}: weights", value, 0.0) for value in pair)
    if missed + false <= 0 or not np.isfinite(missed + false):
        raise ValueError(f"{caller}: weights must be finite and not both 0; got {weights!r}")
    return missed, false
