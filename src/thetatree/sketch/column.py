"""A column of theta sketches in three flat arrays, and the set algebra on it.

theta: the threshold θ as DataSketches stores it, an integer in (0, 2^63 - 1]; 2^63 - 1 is θ = 1, an exact
sketch. held: how many hashes a sketch holds, all of them below theta and ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from thetatree import _kernel
from thetatree.data.threads import n_threads

MAX_THETA = (1 << 63) - 1

Hashes = npt.NDArray[np.uint64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SketchColumn:
    """Sketch i holds ``hashes[offsets[i]:offsets[i + 1]]`` and has threshold ``thetas[i]``."""

    hashes: Hashes
    offsets: Indices
    thetas: Hashes

    def __post_init__(self) -> None:
        """Sketches are shared between sets, so nobody may write to them."""
        for array in self._arrays:
            array.setflags(write=False)

    @classmethod
    def empty(cls, n: int = 1) -> SketchColumn:
        """Give n exact sketches of the empty set."""
        return cls(np.empty(0, np.uint64), np.zeros(n + 1, np.int64), np.full(n, MAX_THETA, np.uint64))

    @classmethod
    def concatenate(cls, columns: Sequence[SketchColumn]) -> SketchColumn:
        """Give the sketches of all columns, one after the other."""
        starts = np.cumsum([0, *(len(column.hashes) for column in columns)])
        offsets = [
            column.offsets[1:] - column.offsets[0] + start
            for column, start in zip(columns, starts, strict=False)
        ]
        return cls(
            np.concatenate([column.hashes for column in columns]),
            np.concatenate([np.zeros(1, np.int64), *offsets]),
            np.concatenate([column.thetas for column in columns]),
        )

    @property
    def _arrays(self) -> tuple[Hashes, Indices, Hashes]:
        return self.hashes, self.offsets, self.thetas

    def __len__(self) -> int:
        return len(self.thetas)

    def __getitem__(self, i: int) -> Hashes:
        return self.hashes[self.offsets[i] : self.offsets[i + 1]]

    @cached_property
    def held(self) -> Indices:
        """Hashes held by each sketch."""
        return np.diff(self.offsets)

    @cached_property
    def theta(self) -> npt.NDArray[np.float64]:
        """Each threshold as a share of all hashes, in (0, 1]; exactly 1 only for an exact sketch."""
        share = self.thetas.astype(np.float64) / float(1 << 63)
        return np.where(self.exact, 1.0, np.minimum(share, np.nextafter(1.0, 0.0)))

    @cached_property
    def exact(self) -> npt.NDArray[np.bool_]:
        """Whether each sketch holds its whole set."""
        exact: npt.NDArray[np.bool_] = self.thetas == MAX_THETA
        return exact

    def same(self, other: SketchColumn) -> bool:
        """Whether both hold the same sketches in the same order."""
        return all(np.array_equal(a, b) for a, b in zip(self._arrays, other._arrays, strict=True))

    def take(self, indices: Sequence[int] | Indices) -> SketchColumn:
        """Give the sketches of these positions, in this order."""
        chosen = np.asarray(indices, np.int64)
        n = len(chosen)
        if 2 * n >= len(self) and np.array_equal(chosen, np.arange(n)):  # they can stay where they are
            offsets = self.offsets[: n + 1]
            return SketchColumn(self.hashes[: offsets[-1]], offsets, self.thetas[:n])
        return SketchColumn(*_kernel.take_sketches(*self._arrays, chosen))

    def with_empty(self) -> SketchColumn:
        """Give the same sketches and behind them that of the empty set; their hashes are shared."""
        return SketchColumn(
            self.hashes,
            np.append(self.offsets, self.offsets[-1]),
            np.append(self.thetas, np.uint64(MAX_THETA)),
        )

    def unite(self, groups: Sequence[Sequence[int]], k: Sequence[int]) -> SketchColumn:
        """Unite each group of sketches, keeping the k smallest hashes of each (k = 0: all that are known)."""
        sizes = np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)
        members = np.array([i for group in groups for i in group], np.int64)
        return self._unite(sizes, members, np.asarray(k, np.int64))

    def _unite(self, groups: Indices, members: Indices, k: Indices) -> SketchColumn:
        return SketchColumn(*_kernel.unite_sketches(*self._arrays, groups, members, k))

    def intersect(self, left: Sequence[int] | Indices, right: Sequence[int] | Indices) -> SketchColumn:
        """Intersect sketches left[i] and right[i], at the lesser theta of the two."""
        return self._combine(left, right, subtract=False)

    def subtract(self, left: Sequence[int] | Indices, right: Sequence[int] | Indices) -> SketchColumn:
        """Take sketch right[i] away from left[i], at the lesser theta of the two."""
        return self._combine(left, right, subtract=True)

    def _combine(
        self, left: Sequence[int] | Indices, right: Sequence[int] | Indices, *, subtract: bool
    ) -> SketchColumn:
        pairs = np.asarray(left, np.int64), np.asarray(right, np.int64)
        return SketchColumn(*_kernel.combine_sketches(*self._arrays, *pairs, subtract))

    def overlaps(
        self, left: Sequence[int] | Indices, right: Sequence[int] | Indices
    ) -> npt.NDArray[np.int64]:
        """Count, below the lesser theta of each pair: hashes in both, in the left one, in the right one."""
        pairs = np.asarray(left, np.int64), np.asarray(right, np.int64)
        counts: npt.NDArray[np.int64] = _kernel.sketch_overlaps(*self._arrays, *pairs, n_threads(None))
        return counts.reshape(-1, 3)

    def repeated(self, indices: Sequence[int] | Indices) -> int:
        """Count the hashes that more than one of these sketches hold: 0 for sets that exclude each other."""
        together = np.sort(np.concatenate([self[int(i)] for i in indices] or [np.empty(0, np.uint64)]))
        return int(np.count_nonzero(together[1:] == together[:-1]))

    def fold(self, n: int, fold: int, *, keep: bool, seed: int = 0) -> SketchColumn:
        """Keep the hashes that are (or are not) in one of n folds; folds say nothing about a hash's size."""
        return SketchColumn(*_kernel.take_fold(*self._arrays, n, fold, keep, seed))

    def share(self, share: float, *, keep: bool, seed: int = 0) -> SketchColumn:
        """Keep a share of the hashes, or the others."""
        return SketchColumn(*_kernel.take_share(*self._arrays, share, keep, seed))
