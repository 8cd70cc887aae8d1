"""Key samples: the rows of the keys with the least hashes, with all their columns.

A second summary, for where one table holds the whole row of a key. All sketches of a class then share one θ
and the same keys, so that a byte tells 8 to 10 times as much as in separate sketches; but values of single
rows leave the warehouse.

held key: a key whose hash is below its class's θ. A key may have several rows, as in `thetatree.sketch`; the
same row twice is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from thetatree.files import written_whole
from thetatree.sketch.column import MAX_THETA, Hashes, SketchColumn
from thetatree.sketch.data import Entries, Label, Origin, SketchData
from thetatree.sketch.errors import SketchFormatError, SketchSetError
from thetatree.sketch.kinds import Kind
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.tuple_set import TupleSet

HASH = "hash"  # the column of the keys' hashes
METADATA = b"thetatree-keys"
VERSION = 1
BINS = 64


@dataclass(frozen=True, eq=False)
class KeySample:
    """The rows of the keys of least hash.

    Make one with `thetatree.sketch` and ``form="keys"``, or read the answer to a query.

    Attributes
    ----------
    table : pyarrow.Table
        The rows: ``hash``, the target, and the features as they came; sorted.
    theta : dict
        The threshold below which every key is held, by class; for numbers as a target, under None.
    features : tuple of str
        The columns.
    kinds : dict
        Kinds that were declared.
    origin : Origin
        Key, target, lg_k and seed.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetatree as tt
    >>> rows = pd.DataFrame({"id": range(3000), "age": [i % 60 for i in range(3000)]})
    >>> rows["buys"] = ["yes" if i % 60 < 20 else "no" for i in range(3000)]
    >>> sample = tt.sketch(rows, key="id", target="buys", form="keys", lg_k=8)
    >>> sample
    KeySample(features=1, rows=512, θ: no 0.14, yes 0.23)
    >>> print(tt.CARTClassifier().fit(sample).tree_.rules()[0])
    age ≤ 19
    """

    table: pa.Table
    theta: dict[Label | None, int]
    features: tuple[str, ...]
    kinds: Mapping[str, Kind | None]
    origin: Origin

    @property
    def by_class(self) -> bool:
        """Whether the target is a class, each with a θ of its own."""
        return None not in self.theta

    @property
    def classes(self) -> tuple[Label, ...]:
        """The class labels, sorted."""
        return tuple(sorted(label for label in self.theta if label is not None))

    @classmethod
    def read(cls, path: str | Path) -> KeySample:
        """Read a sample that `write` wrote."""
        table = pq.read_table(path)
        raw = (table.schema.metadata or {}).get(METADATA)
        if raw is None:
            raise SketchFormatError(f"{path}: not a key sample; use SketchSet.read for sketches")
        said = json.loads(raw)
        if said["version"] != VERSION:
            raise SketchFormatError(f"{path}: version {said['version']} of key samples; update thetatree")
        theta = {label: int(value) for label, value in said["theta"]}
        table = table.replace_schema_metadata(None)
        return trimmed(table, theta, tuple(said["features"]), said["kinds"], Origin(**said["origin"]))

    def write(self, path: str | Path) -> None:
        """Write the sample as Parquet; the file appears whole or not at all."""
        origin = {name: getattr(self.origin, name) for name in ("key", "target", "lg_k", "seed", "key_type")}
        said = {
            "version": VERSION,
            "theta": [[label, str(value)] for label, value in self.theta.items()],
            "features": self.features,
            "kinds": dict(self.kinds),
            "origin": origin,
        }
        with written_whole(Path(path)) as file:
            pq.write_table(self.table.replace_schema_metadata({METADATA: json.dumps(said)}), file)

    def merge(self, *others: KeySample) -> KeySample:
        """Unite with samples of other rows; the same row in several is one."""
        for other in others:
            if (self.origin, self.features) != (other.origin, other.features):
                raise SketchSetError(
                    "samples of another key, target, lg_k, seed or other features can not be merged; "
                    "make all alike"
                )
        theta = dict(self.theta)
        for other in others:
            for label, value in other.theta.items():
                theta[label] = min(theta.get(label, MAX_THETA), value)
        tables = pa.concat_tables(
            [self.table, *(other.table for other in others)], promote_options="permissive"
        )
        return trimmed(tables, theta, self.features, self.kinds, self.origin)

    def sketch_set(self, bins: int = BINS, edges: Mapping[str, Sequence[float]] | None = None) -> SketchSet:
        """Give the sample as sketches, which all classifiers grow from: each class at its one θ."""
        if not self.by_class:
            raise SketchSetError(
                f"the target {self.origin.target!r} is a number: a regressor grows from this sample, and "
                "tuple_set() gives its sketches"
            )
        return SketchSet(self._sketched(bins, edges, str(self.origin.target)))

    def tuple_set(self, bins: int = BINS, edges: Mapping[str, Sequence[float]] | None = None) -> TupleSet:
        """Give the sample as sketches whose keys carry the target, which regressors grow from."""
        if self.by_class:
            raise SketchSetError(
                f"the target {self.origin.target!r} is a class: a classifier grows from this sample"
            )
        hashes = self.hashes()
        y = self.table.column(str(self.origin.target)).to_numpy().astype(np.float64)
        keys, first, back = np.unique(hashes, return_index=True, return_inverse=True)
        if not np.array_equal(y[first][back], y):
            raise SketchSetError(
                f"target {self.origin.target!r}: a key has several numbers; give each key one row first"
            )
        return TupleSet(self._sketched(bins, edges, None), keys, y[first])

    def hashes(self) -> Hashes:
        """Give the hash of each row."""
        return np.asarray(self.table.column(HASH).to_numpy(), np.uint64)

    def _sketched(
        self, bins: int, edges: Mapping[str, Sequence[float]] | None, target: str | None
    ) -> SketchData:
        from thetatree.sketch.build import sketch_hashes

        named = {name: self.kinds.get(name) for name in self.features}
        made = sketch_hashes(self.table, HASH, target=target, features=named, bins=bins, edges=edges)
        keys = made.entries.keys
        by_entry = [self.theta[None if target is None else made.classes[key.klass]] for key in keys]
        column = SketchColumn(made.column.hashes, made.column.offsets, np.array(by_entry, np.uint64))
        n = np.where(column.exact, column.held, -1)
        features = tuple(replace(feature, lg_k=self.origin.lg_k) for feature in made.features)
        origin = replace(self.origin, target=self.origin.target)
        return replace(made, features=features, entries=Entries(keys, n), column=column, origin=origin)

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeySample):
            return NotImplemented
        mine, theirs = ((one.theta, one.features, one.origin, one.table.to_pydict()) for one in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shares = [
            f"{'' if label is None else f'{label} '}{theta / (MAX_THETA + 1):.2g}"
            for label, theta in sorted(self.theta.items(), key=str)
        ]
        return f"KeySample(features={len(self.features)}, rows={len(self)}, θ: {', '.join(shares)})"


def trimmed(
    table: pa.Table,
    theta: dict[Label | None, int],
    features: tuple[str, ...],
    kinds: Mapping[str, Kind | None],
    origin: Origin,
) -> KeySample:
    """Keep of each class the 2^lg_k keys of least hash below its θ, and each row once."""
    k = 1 << (origin.lg_k or 0)
    hashes = np.asarray(table.column(HASH).to_numpy(), np.uint64)
    groups = _groups(table, theta, origin)
    kept = np.zeros(len(hashes), bool)
    found: dict[Label | None, int] = {}
    for label, rows in groups.items():
        bound = least_bound(hashes[rows], k, theta[label])
        found[label] = bound
        kept[rows] = True if bound == MAX_THETA else hashes[rows] < np.uint64(bound)
    names = [HASH, *([] if origin.target is None else [origin.target]), *features]
    sample = table.select(names).filter(pa.array(kept)).combine_chunks()
    return KeySample(distinct(sample), found, features, kinds, origin)


def _groups(
    table: pa.Table, theta: Mapping[Label | None, int], origin: Origin
) -> dict[Label | None, npt.NDArray[np.int64]]:
    if None in theta:
        return {None: np.arange(len(table))}
    labels = table.column(str(origin.target))
    return {label: np.flatnonzero(pc.equal(labels, label).to_numpy()) for label in theta}


def least_bound(hashes: Hashes, k: int, theta: int) -> int:
    """Give θ after trimming: the hash after the k least, if there are more than k below θ."""
    below = np.unique(hashes if theta == MAX_THETA else hashes[hashes < np.uint64(theta)])
    return int(below[k]) if len(below) > k else theta


def distinct(table: pa.Table) -> pa.Table:
    """Give each row once, in an order that does not depend on how rows came."""
    if not len(table):
        return table
    unique = table.group_by(table.column_names, use_threads=False).aggregate([])
    return unique.select(table.column_names).sort_by([(name, "ascending") for name in table.column_names])
