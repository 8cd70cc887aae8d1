"""Tuple sketches from rows: one pass for the sketches, and one that sums the target of the keys they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from thetatree.sketch.batches import Batch, Source
from thetatree.sketch.coders import as_numbers
from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyHasher, KeyType
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.tuple_set import TupleSet


class TargetRows:
    """The rows of a source that have a target."""

    def __init__(self, source: Source, target: str, columns: list[str]) -> None:
        self._source = source
        self.target = target
        self._columns = columns

    def __call__(self) -> Iterator[pa.Table]:
        """Run through them."""
        for batch in self._source.batches([*self._columns, self.target]):
            numbers = as_numbers(batch[self.target], self.target)
            kept = pa.array(np.isfinite(numbers))
            yield pa.table({name: pa.array(batch[name]) for name in self._columns}).filter(kept)

    def batches(self) -> Iterator[Batch]:
        """Run through keys and targets."""
        yield from self._source.batches([self._columns[0], self.target])


def with_sums(made: SketchSet, rows: TargetRows, key_type: KeyType | None) -> TupleSet:
    """Sum the target of every held key."""
    key, target = str(made.origin.key), rows.target
    data = replace(made.data, origin=replace(made.origin, target=target))
    keys = np.unique(data.column.hashes)
    sums = np.zeros(len(keys))
    hasher = KeyHasher(key, data.origin.seed, key_type)
    for batch in rows.batches():
        hashes = hasher(batch[key])
        numbers = as_numbers(batch[target], target)
        if np.isinf(numbers).any():
            raise BuildError(f"target {target!r} holds an infinite number; correct it, or leave the row out")
        at = np.minimum(np.searchsorted(keys, hashes), max(len(keys) - 1, 0))
        held = np.isfinite(numbers) & (keys[at] == hashes) if len(keys) else np.zeros(len(hashes), bool)
        np.add.at(sums, at[held], numbers[held])
    return TupleSet(data, keys, sums)


def target_of_sums(target: Any) -> str:
    """Require a target."""
    if target is None:
        raise BuildError("form='sums' needs a target column of numbers")
    return str(target)
