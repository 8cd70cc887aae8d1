"""Growing sketches of one feature: for every class, its values and the keys it is known for.

Each feature has samplers of its own, so features can be fed at the same time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thetatree import _kernel
from thetatree.sketch.batches import Values
from thetatree.sketch.coders import (
    Coder,
    Codes,
    FlagCoder,
    ThresholdCoder,
    as_numbers,
    is_packed,
    known_numbers,
)
from thetatree.sketch.column import Hashes, SketchColumn


class Keys(NamedTuple):
    """The keys of a batch: hashes (0: no key), how small each is in steps, and each row's class."""

    hashes: Hashes
    levels: npt.NDArray[np.uint8]
    classes: Codes
    n_classes: int

    @classmethod
    def of(cls, hashes: Hashes, classes: Codes, n_classes: int) -> Keys:
        """Prepare a batch."""
        return cls(hashes, _kernel.levels_of(hashes), classes, n_classes)

    def take(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Keys:
        """Give some of the rows, or some several times."""
        return Keys(self.hashes[rows], self.levels[rows], self.classes[rows], self.n_classes)


class Samples:
    """A table of growing sketches, classes by codes, that widens as classes and codes turn up."""

    def __init__(self, k: int) -> None:
        self._samplers = _kernel.Samplers(0, k)
        self._ids: npt.NDArray[np.int64] = np.empty((0, 0), np.int64)

    def _widen(self, n_classes: int, n_codes: int) -> None:
        rows, columns = max(n_classes, self._ids.shape[0]), max(n_codes, self._ids.shape[1])
        if (rows, columns) == self._ids.shape:
            return
        ids = np.full((rows, columns), -1, np.int64)
        ids[: self._ids.shape[0], : self._ids.shape[1]] = self._ids
        new = ids == -1
        ids[new] = len(self._samplers) + np.arange(int(new.sum()))
        self._samplers.grow(rows * columns)
        self._ids = ids

    def wanted(self, keys: Keys, n_codes: int) -> npt.NDArray[np.int64] | None:
        """Give the rows whose hash some sketch can still want, whatever their code; None: all."""
        self._widen(keys.n_classes, n_codes)
        least = self._samplers.least_level(self._ids.ravel())
        return np.flatnonzero(keys.levels >= least) if least > 0 else None

    def add(self, keys: Keys, codes: Codes, n_codes: int) -> None:
        """Offer keys to the sketches of their codes."""
        if n_codes == 0:
            return
        self._widen(keys.n_classes, n_codes)
        self._samplers.add_codes(keys.hashes, keys.classes, codes, self._ids.ravel(), self._ids.shape[1])

    def add_flags(self, keys: Keys, flags: npt.NDArray[np.uint8], low: int, high: int) -> None:
        """Offer the keys whose flag is from low to high."""
        self._widen(keys.n_classes, 1)
        self._samplers.add_flags(keys.hashes, keys.levels, keys.classes, flags, self._ids.ravel(), low, high)

    def add_bits(self, keys: Keys, bits: npt.NDArray[np.uint8], offset: int) -> None:
        """Offer the keys whose bit is set, the first at an offset, as Arrow keeps booleans."""
        self._widen(keys.n_classes, 1)
        self._samplers.add_bits(keys.hashes, keys.levels, keys.classes, bits, offset, self._ids.ravel())

    def finish(self, n_classes: int, n_codes: int) -> list[list[SketchColumn]]:
        """Give the sketches so far, by class and code."""
        self._widen(n_classes, n_codes)
        column = SketchColumn(*self._samplers.finish())
        return [[column.take([i]) for i in row[:n_codes]] for row in self._ids[:n_classes]]


class FeatureSketcher:
    """Sketches one feature of a stream of batches.

    Parameters
    ----------
    name
        The column.
    coder
        Turns it into codes.
    k
        How many hashes a sketch may hold.
    """

    def __init__(self, name: str, coder: Coder, k: int) -> None:
        self.name = name
        self.coder = coder
        self.present = Samples(k)
        self._known = Samples(k)
        self._known_before: list[list[SketchColumn]] | None = None

    def add(self, column: Values, keys: Keys, totals: Samples) -> None:
        """Add a batch; totals are those of the batches before it."""
        if isinstance(self.coder, FlagCoder) and is_packed(column):
            bits = np.frombuffer(column.buffers()[1], np.uint8) if len(column) else np.empty(0, np.uint8)
            self.present.add_bits(keys, bits, column.offset)
            self._add_known(None, keys, totals)
            return
        if isinstance(self.coder, FlagCoder):
            flags = self.coder.flags(column)
            self.present.add_flags(keys, flags, 1, 1)
            self._add_known(None if flags.max(initial=0) <= 1 else flags <= 1, keys, totals)
            return
        if isinstance(self.coder, ThresholdCoder):
            self._add_numbers(self.coder, column, keys, totals)
            return
        codes, known, rows = self.coder.code(column)
        self.present.add(keys if rows is None else keys.take(rows), codes, len(self.coder.values))
        self._add_known(known, keys, totals)

    def _add_numbers(self, coder: ThresholdCoder, column: Values, keys: Keys, totals: Samples) -> None:
        """Find the bins of those rows only that can still matter: after some batches they are few."""
        rows = self.present.wanted(keys, len(coder.values)) if coder.values else None
        some, their = (column, keys) if rows is None else (column.take(rows), keys.take(rows))
        self.present.add(their, coder.codes(as_numbers(some, self.name)), len(coder.values))
        self._add_known(known_numbers(column, self.name), keys, totals)

    def _add_known(self, known: npt.NDArray[np.bool_] | None, keys: Keys, totals: Samples) -> None:
        """Until the first missing value, all keys are known: then their sketch is the total as it was."""
        if known is None and self._known_before is None:
            return
        if self._known_before is None:
            self._known_before = totals.finish(keys.n_classes, 1)
        flags = np.ones(len(keys.hashes), np.uint8) if known is None else known.view(np.uint8)
        self._known.add_flags(keys, flags, 1, 1)

    def known(self, n_classes: int, k: int) -> list[SketchColumn] | None:
        """Give each class's known keys, or None if no value was ever missing."""
        if self._known_before is None:
            return None
        after = self._known.finish(n_classes, 1)
        empty = [[SketchColumn.empty()]] * (n_classes - len(self._known_before))
        pairs = zip([*self._known_before, *empty], after, strict=True)
        return [SketchColumn.concatenate([a[0], b[0]]).unite([[0, 1]], [k]) for a, b in pairs]
