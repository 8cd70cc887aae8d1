"""Whether present and absent counts add up to what is known: where they do not, trees still conserve counts,
but somebody should know.
"""

from __future__ import annotations

import math

from thetatree.sketch.counts import estimate
from thetatree.sketch.data import SketchData

_MOST_ERRORS = 4.0  # a difference of more standard errors is no accident


def inconsistencies(data: SketchData) -> list[str]:
    """Name every feature whose present and absent sketches do not add up to its known keys."""
    found = []
    for i in data.entries.absent:
        key = data.entries.keys[i]
        present = data.entries.find(key.klass, key.feature, key.value)
        if present is None:
            continue
        whole = data.entries.known(key.klass, key.feature)
        parts = estimate(data, present) + estimate(data, i)
        expected = estimate(data, whole)
        error = math.sqrt(sum(_variance(data, j) for j in (present, i, whole)))
        if abs(parts - expected) > max(_MOST_ERRORS * error, 1e-9 * expected):
            found.append(
                f"counts are inconsistent: {data.row(present)}: present {estimate(data, present):,.0f} + "
                f"absent {estimate(data, i):,.0f} = {parts:,.0f}, but the known keys are {expected:,.0f}"
            )
    return found


def _variance(data: SketchData, i: int) -> float:
    if data.entries.n[i] >= 0:
        return 0.0
    theta = float(data.column.theta[i])
    return float(data.column.held[i]) / theta * (1 - theta) / theta
