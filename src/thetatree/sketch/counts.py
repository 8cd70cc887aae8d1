"""How many keys a sketch stands for, and how sure that is."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from thetatree.sketch.data import SketchData
from thetatree.sketch.errors import SketchError

Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A count with its bounds."""

    estimate: Floats
    lower: Floats
    upper: Floats


def interval(held: npt.ArrayLike, theta: npt.ArrayLike, level: float = 0.95) -> Interval:
    """Estimate counts from the keys held below theta, by the score interval.

    A set of n keys has Binomial(n, θ) of them below θ. The bounds are the n at which the m held ones would be
    z standard deviations away; m keys are there for certain, so no bound is below m.
    """
    if not 0 < level < 1:
        raise SketchError(f"level={level} is not a probability between 0 and 1; try 0.95")
    m = np.asarray(held, np.float64)
    t = np.asarray(theta, np.float64)
    z = float(ndtri((1 + level) / 2))
    middle = m + z * z * (1 - t) / 2
    spread = z * np.sqrt(m * (1 - t) + (z * (1 - t) / 2) ** 2)
    lower = np.maximum(m, (middle - spread) / t)
    upper = np.maximum(m, (middle + spread) / t)
    estimate = m / t
    return Interval(estimate, np.minimum(lower, estimate), upper)


def counts(data: SketchData, level: float = 0.95) -> pd.DataFrame:
    """Give one line for each sketch: what it counts, estimate, bounds, θ and held keys."""
    estimated = interval(data.column.held, data.column.theta, level)
    n = data.entries.n
    known = n >= 0
    rows = data.rows()
    return pd.DataFrame(
        {
            "class": pd.Series([row.label for row in rows], dtype=object),
            "feature": pd.Series([row.feature for row in rows], dtype=object),
            "value": pd.Series([row.value for row in rows], dtype=object),
            "absent": [row.absent for row in rows],
            "estimate": np.where(known, n, estimated.estimate),
            "lower": np.where(known, n, estimated.lower),
            "upper": np.where(known, n, estimated.upper),
            "theta": data.column.theta,
            "held": data.column.held,
        }
    )


def estimate(data: SketchData, i: int) -> float:
    """Estimate the count of entry i."""
    n = int(data.entries.n[i])
    return float(n) if n >= 0 else float(data.column.held[i] / data.column.theta[i])


def lg_k_for(held: float, wanted: float, lg_k: int) -> int:
    """Give the lg_k at which an expected number of held keys reaches the wanted one."""
    return lg_k + max(0, math.ceil(math.log2(wanted / max(held, 1e-9))))
