"""Quantile edges for numbers, found in one pass over rows.

The sample is the rows of the keys with the least hashes: bounded, and the same however the rows are ordered
or split.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thetatree.sketch.batches import Values
from thetatree.sketch.coders import as_numbers
from thetatree.sketch.column import Hashes

SAMPLE = 1 << 16

Floats = npt.NDArray[np.float64]


class EdgeSample:
    """The rows of the SAMPLE least keys, for some numeric columns."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._hashes: list[Hashes] = []
        self._rows: list[Floats] = []
        self._size = 0
        self._bound = np.uint64((1 << 64) - 1)

    def add(self, hashes: Hashes, columns: Sequence[Values]) -> None:
        """Offer a batch."""
        chosen = np.flatnonzero((hashes < self._bound) & (hashes > 0))
        self._hashes.append(hashes[chosen])
        named = zip(self.names, columns, strict=True)
        self._rows.append(np.column_stack([as_numbers(column.take(chosen), name) for name, column in named]))
        self._size += len(chosen)
        if self._size > 4 * SAMPLE:
            self._prune()

    def _prune(self) -> None:
        hashes = np.concatenate(self._hashes)
        rows = np.concatenate(self._rows)
        distinct = np.unique(hashes)
        if len(distinct) > SAMPLE:
            self._bound = distinct[SAMPLE]
            kept = hashes < self._bound
            hashes, rows = hashes[kept], rows[kept]
        self._hashes, self._rows, self._size = [hashes], [rows], len(hashes)

    def edges(self, bins: int) -> dict[str, Floats]:
        """Give each column's cuts: at most bins - 1 values of the data, below the largest."""
        if not self._rows:
            return {name: np.empty(0) for name in self.names}
        self._prune()
        return {name: quantile_edges(self._rows[0][:, i], bins) for i, name in enumerate(self.names)}


def quantile_edges(values: Floats, bins: int) -> Floats:
    """Cut values into bins of about equal size, at values that occur; where few are distinct, between all of
    them.
    """
    finite = np.sort(values[np.isfinite(values)])
    distinct = np.unique(finite)
    if len(distinct) <= bins:
        return distinct[:-1]
    ranks = np.ceil(np.arange(1, bins) * len(finite) / bins).astype(np.int64) - 1
    cuts: Floats = np.unique(finite[ranks])
    below: Floats = cuts[cuts < distinct[-1]]
    return below
