"""Key samples from rows: one pass that keeps the rows of the least hashes, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thetatree.sketch.batches import Batch
from thetatree.sketch.coders import as_numbers
from thetatree.sketch.column import MAX_THETA, Hashes
from thetatree.sketch.data import Label, Origin
from thetatree.sketch.errors import BuildError
from thetatree.sketch.key_sample import HASH, KeySample, distinct, trimmed
from thetatree.sketch.plan import Plan


class KeySampler:
    """Takes batches, and keeps what may still be among the least.

    Parameters
    ----------
    plan
        Key, target, features and lg_k.
    numeric
        Whether the target is a number, and the sample is over all keys.
    """

    def __init__(self, plan: Plan, numeric: bool) -> None:
        if plan.target is None:
            raise BuildError("form='keys' needs a target column")
        self._plan = plan
        self._target = plan.target
        self._numeric = numeric
        self._hasher = plan.hasher()
        self._tables: list[pa.Table] = []
        self._size = 0
        self._most = 4 << plan.lg_k
        self._bound: dict[Label | None, int] = {None: MAX_THETA} if numeric else {}

    def add(self, batch: Batch) -> None:
        """Offer a batch."""
        hashes = self._hasher(batch[self._plan.key])
        kept = hashes > 0
        target = pa.array(batch[self._target])
        if self._numeric:
            kept &= np.isfinite(as_numbers(batch[self._target], self._target))
        elif target.null_count:
            raise BuildError(f"target column {self._target!r} has missing values; drop those rows first")
        if self._numeric and self._bound[None] < MAX_THETA:
            kept &= hashes <= np.uint64(self._bound[None])
        elif not self._numeric:
            kept &= self._below(hashes, target)
        columns = {name: _without_nan(pa.array(batch[name])) for name in self._plan.names}
        table = pa.table({HASH: hashes, self._target: target, **columns}).filter(pa.array(kept))
        self._tables.append(table)
        self._size += len(table)
        if self._size > self._most * max(1, len(self._bound)):
            self._prune()

    def _below(self, hashes: Hashes, target: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        coded = target.dictionary_encode()
        labels = coded.dictionary.to_pylist()
        for label in labels:
            self._bound.setdefault(label, MAX_THETA)
        bounds = np.array([self._bound[label] for label in labels], np.uint64)
        below: np.ndarray[Any, np.dtype[np.bool_]] = hashes <= bounds[np.asarray(coded.indices)]
        return below

    def _prune(self) -> None:
        whole = self._whole()
        sample = trimmed(whole, self._bound, self._plan.names, self._plan.kinds, self._origin())
        # The hash at θ itself is kept: whether it is cut off later decides θ.
        self._bound = dict(sample.theta)
        self._tables = [self._with_the_next(whole, sample)]
        self._size = len(self._tables[0])

    def _with_the_next(self, whole: pa.Table, sample: KeySample) -> pa.Table:
        at_bound = np.array([value for value in sample.theta.values() if value < MAX_THETA], np.uint64)
        hashes = np.asarray(whole.column(HASH).to_numpy(), np.uint64)
        edge = whole.filter(pa.array(np.isin(hashes, at_bound)))
        return distinct(pa.concat_tables([sample.table, edge.select(sample.table.column_names)]))

    def _whole(self) -> pa.Table:
        return pa.concat_tables(self._tables, promote_options="permissive")

    def _origin(self) -> Origin:
        plan = self._plan
        return Origin(plan.key, self._target, plan.lg_k, plan.seed, key_type=self._hasher.seen)

    def finish(self) -> KeySample:
        """Give the sample."""
        if not self._tables:
            raise BuildError("there are no rows: the data are empty")
        whole = self._whole()
        open_bounds: dict[Label | None, int] = dict.fromkeys(self._bound, MAX_THETA)
        return trimmed(whole, open_bounds, self._plan.names, self._plan.kinds, self._origin())


def _without_nan(array: pa.Array) -> pa.Array:
    """NaN is missing, as null is; and unlike NaN, null is the same as null."""
    if not pa.types.is_floating(array.type):
        return array
    return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)


def sample_keys(plan: Plan, batches: Iterator[Batch]) -> KeySample:
    """Sample a stream of batches: by class, or over all where the target is a float."""
    sampler: KeySampler | None = None
    for batch in batches:
        if sampler is None:
            column = pa.array(batch[str(plan.target)]) if plan.target is not None else pa.array([])
            sampler = KeySampler(plan, numeric=pa.types.is_floating(column.type))
        sampler.add(batch)
    if sampler is None:
        raise BuildError("there are no rows: the data are empty")
    return sampler.finish()
