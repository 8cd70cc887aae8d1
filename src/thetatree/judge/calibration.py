"""Calibration: whether 30% of those are of the target for whom the tree says 30%."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from thetatree.judge.counts import Counts
from thetatree.judge.ranking import ratio
from thetatree.judge.table import Table, percent, whole


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Table):
    """Predicted against observed rates; `brier` and `error` (expected calibration error) sum it up."""

    brier: float = field(default=np.nan, kw_only=True)
    error: float = field(default=np.nan, kw_only=True)

    def _draw(self, ax: Any) -> None:
        frame = self.frame
        around = [frame["rate"] - frame["lower"], frame["upper"] - frame["rate"]]
        ax.errorbar(frame["predicted"], frame["rate"], yerr=np.maximum(around, 0.0), marker="o", capsize=3)
        ax.plot([0, 1], [0, 1], color="grey", linestyle="--")
        ax.set(xlabel="predicted", ylabel="observed")


def calibration_of(counts: Counts, target: int, what: str, bins: int, level: float) -> Calibration:
    """Return predicted and observed rates in so many equal intervals of the prediction."""
    import pandas as pd

    score, weight, hits = counts.predicted[:, target], counts.weight, counts.count[:, target]
    place = np.minimum((score * bins).astype(np.int64), bins - 1)
    used, group = np.unique(place, return_inverse=True)
    steps = counts.gathered(group.astype(np.int64))
    lower, upper = steps.rate_interval(np.full(len(used), target), level)
    predicted = ratio(np.bincount(group, score * weight), steps.weight)
    rate = ratio(steps.count[:, target], steps.weight)
    frame = pd.DataFrame(
        {
            "from": used / bins,
            "to": (used + 1) / bins,
            "n": steps.n,
            "weight": steps.weight,
            "predicted": predicted,
            "rate": rate,
            "lower": lower,
            "upper": upper,
        }
    )
    frame = frame[steps.weight > 0].reset_index(drop=True)
    total = weight.sum()
    brier = float(ratio((hits * (1 - score) ** 2 + (weight - hits) * score**2).sum(), total))
    gap = np.abs(frame["predicted"] - frame["rate"])
    error = float(ratio((gap * frame["weight"]).sum(), total))
    bounds = zip(percent(frame["from"], 0), percent(frame["to"], 0), strict=True)
    cells = {
        "interval": [f"{a}–{b}" for a, b in bounds],
        "n": whole(frame["n"]),
        "predicted": percent(frame["predicted"]),
        "observed": percent(frame["rate"]),
        f"{level:.0%} interval": interval_texts(frame["lower"], frame["upper"]),
    }
    title = f"calibration: {what}, Brier score {brier:.4f}, expected calibration error {error:.4f}"
    return replace(Calibration(title, frame, cells), brier=brier, error=error)


def interval_texts(lower: Any, upper: Any) -> list[str]:
    """Write bounds of shares."""
    return [f"{a}–{b}" for a, b in zip(percent(lower), percent(upper), strict=True)]
