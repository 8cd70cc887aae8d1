"""Tuple sketches of one regression problem: which keys have each value, and for each key its number.

A tuple set is a class-free sketch set whose keys carry y, the target summed over the key's rows. A key has
one y, whichever sketch it is held by.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from thetatree.files import written_whole
from thetatree.sketch import merge as _merge
from thetatree.sketch.column import MAX_THETA, Hashes, SketchColumn
from thetatree.sketch.data import SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import Kind, Kinds
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.table import METADATA, REQUIRED, checksums, from_arrow, read_parquet, to_arrow
from thetatree.sketch.tuple_wire import TupleImage, read_tuple, write_tuple
from thetatree.sketch.wire import DEFAULT_SEED, write_images

SAME = 1e-9  # sums of the same numbers in another order differ by less, relative to the largest


class TupleSet:
    """Sketches whose keys carry a number: what a regression tree grows from.

    Make one with `thetatree.sketch` (``form="sums"``), by Spark's ``tuple_sketch_agg_double``, or of a key
    sample. It never changes.

    Parameters
    ----------
    data
        A class-free set without classes.
    keys, y
        Every held hash, ascending, and its number.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetatree as tt
    >>> rows = pd.DataFrame({"id": range(6), "red": [True, False] * 3, "spent": [9.0, 1, 8, 2, 7, 3]})
    >>> made = tt.sketch(rows, key="id", target="spent", form="sums")
    >>> made
    TupleSet(features=1, sketches=2, held=9)
    >>> model = tt.CARTRegressor().fit(made)
    >>> model.predict(pd.DataFrame({"red": [True, False]})).tolist()
    [8.0, 2.0]
    """

    __slots__ = ("data", "keys", "y")

    def __init__(self, data: SketchData, keys: Hashes, y: npt.NDArray[np.float64]) -> None:
        if data.classes or data.form != "class_free":
            raise SketchSetError("sketches that carry numbers have no classes; leave the class column out")
        self.data = data
        self.keys = keys
        self.y = y

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        target: str | None = None,
        kinds: Kinds | None = None,
        lg_k: int | None = None,
        seed: int = DEFAULT_SEED,
    ) -> TupleSet:
        """Read the long table, as Parquet or Arrow, with a tuple sketch in each row; a list is merged.

        Parameters
        ----------
        source
            A path, an Arrow table, or a list of parts whose keys do not overlap.
        target
            What the numbers are.
        kinds, lg_k, seed
            As for `SketchSet.read`.
        """
        if isinstance(source, (list, tuple)):
            parts = [cls.read(one, target=target, kinds=kinds, lg_k=lg_k, seed=seed) for one in source]
            return parts[0].merge(*parts[1:])
        table = source if isinstance(source, pa.Table) else read_parquet(Path(source))
        seed = json.loads((table.schema.metadata or {}).get(METADATA, b"{}")).get("seed", seed)
        cells = table.column("sketch").to_pylist()
        names = list(zip(*(table.column(name).to_pylist() for name in REQUIRED[:3]), strict=True))
        images = [
            read_tuple(cell, lambda name=name: f"row {name}", seed)  # type: ignore[misc]
            for cell, name in zip(cells, names, strict=True)
        ]
        keys, y = one_number_each(images)
        plain = table.set_column(
            table.column_names.index("sketch"), "sketch", write_images(_column(images), seed, VERSION_3)
        )
        plain = _with_checksums(plain)
        data = from_arrow(plain, "tuple sketches", kinds=kinds, lg_k=lg_k, seed=seed)
        origin = replace(data.origin, target=data.origin.target or target)
        return cls(replace(data, origin=origin), keys, y)

    def to_arrow(self) -> pa.Table:
        """Give the long table, a tuple sketch in each row."""
        table = to_arrow(self.data)
        column = self.data.column
        images = [
            write_tuple(
                TupleImage(column[i], int(column.thetas[i]), self.of(column[i])), self.data.origin.seed
            )
            for i in range(len(column))
        ]
        at = table.column_names.index("sketch")
        return _with_checksums(table.set_column(at, "sketch", pa.array(images, pa.large_binary())))

    def write(self, path: str | Path) -> None:
        """Write the long table as Parquet; the file appears whole or not at all."""
        table = self.to_arrow()
        with written_whole(Path(path)) as file:
            pq.write_table(table, file, compression="none")

    def of(self, hashes: Hashes) -> npt.NDArray[np.float64]:
        """Give the numbers of some held keys."""
        found: npt.NDArray[np.float64] = self.y[np.searchsorted(self.keys, hashes)]
        return found

    def merge(self, *others: TupleSet) -> TupleSet:
        """Unite with sets of other keys: partitions by key, regions.

        A key in several sets must have the same number in each: what one set does not hold of a key can not
        be added, so days of the same keys have to be summed by key before they are sketched.
        """
        if not others:
            return self
        sets = (self, *others)
        images = [TupleImage(one.keys, MAX_THETA, one.y) for one in sets]
        keys, y = one_number_each(images)
        data = _merge.merge([one.data for one in sets])
        held = np.isin(keys, data.column.hashes)
        return TupleSet(data, keys[held], y[held])

    def sketch_set(self) -> SketchSet:
        """Give the sketches without the numbers."""
        return SketchSet(self.data)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features, sorted."""
        return tuple(feature.name for feature in self.data.features)

    @property
    def kinds(self) -> dict[str, Kind]:
        """What each feature is."""
        return {feature.name: feature.kind for feature in self.data.features}

    def __len__(self) -> int:
        return len(self.data.entries)

    def __eq__(self, other: object) -> bool:
        """Sets are equal if they hold the same keys with the same numbers."""
        if not isinstance(other, TupleSet):
            return NotImplemented
        same = self.sketch_set() == other.sketch_set() and np.array_equal(self.keys, other.keys)
        return same and bool(np.allclose(self.y, other.y, rtol=SAME, atol=0))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        held = len(self.data.column.hashes)
        return f"TupleSet(features={len(self.features)}, sketches={len(self)}, held={held})"


VERSION_3 = 3


def _column(images: list[TupleImage]) -> SketchColumn:
    offsets = np.cumsum([0, *(len(image.hashes) for image in images)], dtype=np.int64)
    hashes = np.concatenate([np.empty(0, np.uint64), *(image.hashes for image in images)])
    return SketchColumn(hashes, offsets, np.array([image.theta for image in images], np.uint64))


def _with_checksums(table: pa.Table) -> pa.Table:
    """Say the checksums of the sketches as they are now, where a table says any."""
    metadata = dict(table.schema.metadata or {})
    if METADATA not in metadata:
        return table
    said = json.loads(metadata[METADATA]) | {"checksums": checksums(table), "numbers": "double"}
    return table.replace_schema_metadata({METADATA: json.dumps(said, sort_keys=True)})


def one_number_each(images: list[TupleImage]) -> tuple[Hashes, npt.NDArray[np.float64]]:
    """Give every key that is held anywhere, with its number, which must be the same everywhere."""
    hashes = np.concatenate([np.empty(0, np.uint64), *(image.hashes for image in images)])
    y = np.concatenate([np.empty(0), *(image.y for image in images)])
    keys, first, back = np.unique(hashes, return_index=True, return_inverse=True)
    numbers = y[first]
    apart = np.abs(y - numbers[back]) > SAME * np.abs(y).max(initial=0)
    if apart.any():
        raise SketchSetError(
            f"{len(np.unique(back[apart]))} of {len(keys)} held keys have other numbers in other sketches; "
            "sum the target by key first: one row for each key"
        )
    return keys, numbers
