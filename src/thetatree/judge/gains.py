"""Gains and lift: what is reached if the best leaves are taken first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.judge.proportions import Floats
from thetatree.judge.ranking import Ranking, ratio
from thetatree.judge.table import Table, figures, fixed, percent, whole

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Gains(Table):
    """Cumulative gains; drawn against what a random choice would reach."""

    def _draw(self, ax: Any) -> None:
        share = np.concatenate([[0.0], self.frame["cumulative_share"]])
        ax.plot(share, np.concatenate([[0.0], self.frame["captured"]]), marker="o")
        ax.plot([0, 1], [0, 1], color="grey", linestyle="--")
        ax.set(xlabel="share taken", ylabel="share of the target reached")


@dataclass(frozen=True, eq=False, repr=False)
class Lift(Table):
    """Lift of each step and of all up to it; drawn as bars and a line."""

    def _draw(self, ax: Any) -> None:
        upto = self.frame["cumulative_share"].to_numpy()
        share = np.diff(upto, prepend=0.0)
        ax.bar(
            upto - share,
            self.frame["lift"].fillna(0.0),
            width=share,
            align="edge",
            alpha=0.4,
            edgecolor="grey",
        )
        ax.plot(upto, self.frame["cumulative_lift"], marker="o")
        ax.axhline(1.0, color="grey", linestyle="--")
        ax.set(xlabel="share taken", ylabel="lift")


def gains_frame(ranking: Ranking, bins: int | None) -> pd.DataFrame:
    """Return one line per step, or per equal part of the weight: size, rate and what is reached so far."""
    import pandas as pd

    upto = {name: np.cumsum(getattr(ranking, name)) for name in ("n", "weight", "hits")}
    total, reached = upto["weight"][-1], upto["hits"][-1]
    score = ranking.score
    if bins is not None:
        # A leaf on the border of two parts is shared out in proportion: its cases are alike to the tree.
        at = np.arange(1, bins + 1) / bins * total
        known = np.concatenate([[0.0], upto["weight"]])
        upto = {name: np.interp(at, known, np.concatenate([[0.0], values])) for name, values in upto.items()}
        score = score[np.minimum(np.searchsorted(known[1:], at * (1 - 1e-12)), len(score) - 1)]
    step = {name: np.diff(values, prepend=0.0) for name, values in upto.items()}
    average = float(ratio(reached, total))
    rate, so_far = ratio(step["hits"], step["weight"]), ratio(upto["hits"], upto["weight"])
    return pd.DataFrame(
        {
            "step": np.arange(1, len(score) + 1),
            "score": score,
            "n": step["n"],
            "weight": step["weight"],
            "hits": step["hits"],
            "rate": rate,
            "lift": _relative(rate, average),
            "cumulative_n": upto["n"],
            "cumulative_share": ratio(upto["weight"], total),
            "captured": ratio(upto["hits"], reached),
            "cumulative_rate": so_far,
            "cumulative_lift": _relative(so_far, average),
            "cumulative_index": 100 * _relative(so_far, average),
        }
    )


def _relative(rate: Floats, average: float) -> Floats:
    """Return rates as multiples of the average; NaN where that is no measure."""
    return ratio(rate, average) if average > 0 else np.full(len(rate), np.nan)


def gains_of(ranking: Ranking, what: str, rates: bool, bins: int | None) -> Gains:
    """Return the gains table."""
    frame = gains_frame(ranking, bins)
    wrote = percent if rates else figures
    cells = {
        "step": whole(frame["step"]),
        "score": wrote(frame["score"]),
        "n": whole(frame["n"]),
        "share so far": percent(frame["cumulative_share"]),
        "reached": percent(frame["captured"]),
        "rate so far" if rates else "mean so far": wrote(frame["cumulative_rate"]),
        "lift": fixed(frame["cumulative_lift"]),
        "index": whole(frame["cumulative_index"]),
    }
    return Gains(f"gains: {what}", frame, cells)


def lift_of(ranking: Ranking, what: str, rates: bool, bins: int | None) -> Lift:
    """Return the lift table."""
    frame = gains_frame(ranking, bins)
    wrote = percent if rates else figures
    cells = {
        "step": whole(frame["step"]),
        "n": whole(frame["n"]),
        "share so far": percent(frame["cumulative_share"]),
        "rate" if rates else "mean": wrote(frame["rate"]),
        "lift": fixed(frame["lift"]),
        "lift so far": fixed(frame["cumulative_lift"]),
    }
    return Lift(f"lift: {what}", frame, cells)
