"""Sketch sets from files and tables: which reader a source needs, and how parts and classes go together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from thetatree.sketch.assemble import Declared, assemble, check_declared
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.csv_forms import read_csv
from thetatree.sketch.data import Label, Origin, Row, SketchData
from thetatree.sketch.errors import SketchFormatError, SketchSetError
from thetatree.sketch.kinds import VERIFY, Kind, Kinds, check_kinds
from thetatree.sketch.merge import merge
from thetatree.sketch.named import from_sketches
from thetatree.sketch.table import from_arrow, read_parquet
from thetatree.sketch.wire import DEFAULT_SEED


@dataclass(frozen=True)
class _Options:
    target: str | None
    kinds: dict[str, Kind]
    names: Kinds
    lg_k: int | None
    seed: int

    @property
    def origin(self) -> Origin:
        return Origin(target=self.target, lg_k=self.lg_k, seed=self.seed)


def read(
    source: Any,
    *,
    target: str | None = None,
    kinds: Kinds | None = None,
    lg_k: int | None = None,
    seed: int = DEFAULT_SEED,
) -> SketchData:
    """Make the data of a set of any source; see `SketchSet.read`."""
    declared = check_kinds(kinds)
    options = _Options(target, declared, VERIFY if kinds == VERIFY else declared, lg_k, seed)
    if isinstance(source, Mapping):
        if source and all(isinstance(part, Mapping) for part in source.values()):
            return from_sketches(source, kinds=kinds, lg_k=lg_k, seed=seed)
        data = _read_classes(source, options)
    else:
        data = _read_parts(source, None, options)
        if target is not None and data.form == "class_free" and not data.classes:
            raise SketchSetError(
                f"target={target!r}, but no row is named like '{target}=yes', which would be a class; "
                "correct the target, or leave it out"
            )
    check_declared(data, declared)
    return data


def _read_classes(source: Mapping[Any, Any], options: _Options) -> SketchData:
    """One source for each class; the label None stands for all keys."""
    if not source:
        raise SketchSetError("there is no class in the dict; give a file for each")
    rows: list[Row] = []
    columns: list[SketchColumn] = []
    for label, part in source.items():
        data = _read_parts(part, label, options)
        rows.extend(row._replace(label=label) for row in data.rows())
        columns.append(data.column)
    return assemble(rows, SketchColumn.concatenate(columns), options.origin, Declared(options.kinds))


def _read_parts(source: Any, label: Label | None, options: _Options) -> SketchData:
    if not isinstance(source, (list, tuple)):
        return _read_one(source, label, options)
    if not source:
        raise SketchSetError("there is no part in the list; give at least one file")
    parts = [_read_one(part, label, options) for part in source]
    return parts[0] if len(parts) == 1 else merge(parts)


def _arrow_of(source: Any) -> pa.Table:
    """Give a data frame of any kind to Arrow."""
    try:
        return nw.from_native(source, eager_only=True).to_arrow()
    except (TypeError, pa.ArrowInvalid) as error:
        raise SketchFormatError(
            f"{type(source).__name__} is not a source of sketches; give a path, an Arrow table, a data "
            "frame, or a dict"
        ) from error


def _read_one(source: Any, label: Label | None, options: _Options) -> SketchData:
    if isinstance(source, pa.Table):
        return from_arrow(source, "table", kinds=options.kinds, lg_k=options.lg_k, seed=options.seed)
    if isinstance(source, (pa.RecordBatch, pa.RecordBatchReader)):
        batches = [source] if isinstance(source, pa.RecordBatch) else source
        return _read_one(pa.Table.from_batches(list(batches), source.schema), label, options)
    if not isinstance(source, (str, Path)):
        return _read_one(_arrow_of(source), label, options)
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if path.is_dir() or path.suffix.lower() in (".parquet", ".pq"):
        return from_arrow(
            read_parquet(path), str(path), kinds=options.kinds, lg_k=options.lg_k, seed=options.seed
        )
    rows, column = read_csv(path, target=options.target, kinds=options.names, seed=options.seed)
    try:
        return assemble(rows, column, options.origin, Declared(options.kinds))
    except SketchSetError as error:
        raise SketchSetError(f"{path}: {error}") from error
