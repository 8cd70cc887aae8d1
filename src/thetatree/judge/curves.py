"""ROC, precision and recall, and what each threshold does: all exact, as a tree has a score per leaf."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.judge.proportions import Floats
from thetatree.judge.ranking import Ranking, ratio
from thetatree.judge.table import Table, fixed, percent, whole

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Roc(Table):
    """The ROC curve; `auc` is the area below it."""

    auc: float = field(default=np.nan, kw_only=True)

    def _draw(self, ax: Any) -> None:
        ax.plot(self.frame["fpr"], self.frame["tpr"], marker="o")
        ax.plot([0, 1], [0, 1], color="grey", linestyle="--")
        ax.set(xlabel="false positive rate", ylabel="true positive rate")


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecall(Table):
    """Precision against recall; `average_precision` is Σ (Rₙ − Rₙ₋₁) Pₙ."""

    average_precision: float = field(default=np.nan, kw_only=True)

    def _draw(self, ax: Any) -> None:
        ax.step(self.frame["recall"], self.frame["precision"], where="pre", marker="o")
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.05))


_GREATER_IS_BETTER = ("precision", "recall", "specificity", "f1", "accuracy", "balanced_accuracy")


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(Table):
    """What happens if all leaves of at least a score are taken for the target."""

    def best(self, by: str = "f1") -> pd.Series[Any]:
        """Return the line that is best by a figure; of equals the one with the highest threshold.

        Parameters
        ----------
        by : str, default="f1"
            precision, recall, specificity, f1, accuracy, balanced_accuracy, or cost, of which less is better.
        """
        known = [name for name in (*_GREATER_IS_BETTER, "cost") if name in self.frame]
        if by not in known:
            raise ValueError(f"best: by must be one of {', '.join(known)}; got {by!r}")
        values = self.frame[by].fillna(np.inf if by == "cost" else -np.inf)
        return self.frame.iloc[int(values.argmin() if by == "cost" else values.argmax())]

    def _draw(self, ax: Any) -> None:
        for name in ("precision", "recall", "f1"):
            ax.plot(self.frame["threshold"], self.frame[name], marker="o", label=name)
        ax.legend()
        ax.set(xlabel="threshold")


def _upto(values: Floats) -> Floats:
    """Add up from the top, from nothing taken to all taken."""
    return np.concatenate([[0.0], np.cumsum(values)])


def area(ranking: Ranking) -> float:
    """Return the area below the ROC curve; NaN where there is no target, or nothing else."""
    hits, others = ranking.hits.sum(), ranking.others.sum()
    if hits <= 0 or others <= 0:
        return float("nan")
    reached, width = _upto(ranking.hits) / hits, ranking.others / others
    return float((width * (reached[1:] + reached[:-1])).sum() / 2)


def roc_of(ranking: Ranking, what: str) -> Roc:
    """Return the ROC curve, from the strictest threshold to the loosest."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "threshold": np.concatenate([[np.inf], ranking.score]),
            "fpr": ratio(_upto(ranking.others), ranking.others.sum()),
            "tpr": ratio(_upto(ranking.hits), ranking.hits.sum()),
        }
    )
    auc = area(ranking)
    cells = {
        "threshold": ["none", *percent(ranking.score)],
        "false positive rate": percent(frame["fpr"]),
        "true positive rate": percent(frame["tpr"]),
    }
    return Roc(f"ROC: {what}, area {auc:.4f}", frame, cells, auc=auc)


def precision_recall_of(ranking: Ranking, what: str) -> PrecisionRecall:
    """Return precision and recall, from the strictest threshold to the loosest."""
    import pandas as pd

    hits, taken = np.cumsum(ranking.hits), np.cumsum(ranking.weight)
    precision, recall = ratio(hits, taken), ratio(hits, ranking.hits.sum())
    average = float(np.nansum(np.diff(recall, prepend=0.0) * precision))
    frame = pd.DataFrame({"threshold": ranking.score, "precision": precision, "recall": recall})
    cells = {name: percent(frame[name]) for name in ("threshold", "precision", "recall")}
    title = f"precision and recall: {what}, average precision {average:.4f}"
    return PrecisionRecall(title, frame, cells, average_precision=average)


def thresholds_of(ranking: Ranking, what: str, weights: tuple[float, float] | None) -> Thresholds:
    """Return what each threshold does; with weights also what its errors cost."""
    import pandas as pd

    hits, false = np.cumsum(ranking.hits), np.cumsum(ranking.others)
    missed, right = ranking.hits.sum() - hits, ranking.others.sum() - false
    total = ranking.weight.sum()
    recall, specificity = ratio(hits, ranking.hits.sum()), ratio(right, ranking.others.sum())
    columns = {
        "threshold": ranking.score,
        "taken": ratio(hits + false, total),
        "true_positive": hits,
        "false_positive": false,
        "false_negative": missed,
        "true_negative": right,
        "precision": ratio(hits, hits + false),
        "recall": recall,
        "specificity": specificity,
        "f1": ratio(2 * hits, 2 * hits + false + missed),
        "accuracy": ratio(hits + right, total),
        "balanced_accuracy": (recall + specificity) / 2,
    }
    notes: tuple[str, ...] = ()
    if weights is not None:
        columns["cost"] = weights[0] * missed + weights[1] * false
        at = weights[1] / (weights[0] + weights[1])
        notes = (f"with weights {weights[0]:g} to {weights[1]:g}, calibrated scores pay from {at:.1%} on",)
    frame = pd.DataFrame(columns)
    cells = {"threshold": percent(ranking.score), "taken": percent(columns["taken"])}
    for heading, name in (
        ("hits", "true_positive"),
        ("false alarms", "false_positive"),
        ("missed", "false_negative"),
    ):
        cells[heading] = whole(columns[name])
    for name in ("precision", "recall", "specificity", "accuracy"):
        cells[name] = percent(columns[name])
    cells["f1"] = fixed(columns["f1"], 3)
    if weights is not None:
        cells["cost"] = whole(columns["cost"])
    return Thresholds(f"thresholds: {what}", frame, cells, notes)
