"""Sketches in CSV files, in the forms that warehouses and other tools write.

``feature,sketch``; ``identifier,sketch_feature_present,sketch_feature_absent``;
``feature,sketch_type,sketch_data``; and the long table itself. The total is the row named "total" or not
named at all. Cells may be of any size.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import Label, Row
from thetatree.sketch.errors import SketchFormatError
from thetatree.sketch.kinds import Kinds, split_name
from thetatree.sketch.table import is_long, table_rows
from thetatree.sketch.wire import read_cells

TOTAL_NAMES = ("", "total", "<total>")
FORMS = (
    ("feature", "sketch"),
    ("identifier", "sketch_feature_present", "sketch_feature_absent"),
    ("feature", "sketch_type", "sketch_data"),
)
LARGEST_BLOCK = (1 << 31) - 1


def read_csv(path: Path, *, target: str | None, kinds: Kinds, seed: int) -> tuple[list[Row], SketchColumn]:
    """Read one file's rows and sketches; its form is told by its header."""
    table = _read_text(path)
    names = table.column_names
    if is_long(names):
        return table_rows(_blank_to_null(table), str(path), seed)
    form = next((form for form in FORMS if set(form) <= set(names)), None)
    if form is None:
        known = "; ".join(",".join(form) for form in FORMS)
        raise SketchFormatError(
            f"{path}: header {','.join(names)[:200]!r}; expected one of: {known}; class,feature,value,sketch"
        )
    rows, sketches = {2: _pairs, 3: _triples}[len(form)](table, form, path)
    named = [_place(row, target, kinds) for row in rows]
    return named, read_cells(sketches, lambda i: f"{path}, {named[i]}", seed)


def _read_text(path: Path) -> pa.Table:
    size = path.stat().st_size
    if size == 0:
        raise SketchFormatError(f"{path}: the file is empty; export it again")
    try:
        # A block must hold a whole row, and a row may be as long as the file: of a compressed one, longer.
        # One thread counts rows for errors.
        block = size + 1 if path.suffix.lower() in (".csv", ".tsv", ".txt") else 8 * size + (1 << 16)
        read = csv.ReadOptions(block_size=min(block, LARGEST_BLOCK), use_threads=False)
        parse = csv.ParseOptions(delimiter=_delimiter(path), newlines_in_values=True)
        header = csv.open_csv(path, read, parse).schema.names
        types = dict.fromkeys(header, pa.large_string())
        convert = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        table = csv.read_csv(path, read, parse, convert)
    except pa.ArrowInvalid as error:
        raise SketchFormatError(
            f"{path}: {str(error)[:200]}; every row needs as many cells as the header, and UTF-8 text"
        ) from error
    names = [name.strip().lower() for name in table.column_names]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise SketchFormatError(f"{path}: the header names column {repeated[0]!r} twice; name each once")
    return table.rename_columns(names)


def _delimiter(path: Path) -> str:
    """Tell from the header what parts the cells: of comma, tab, semicolon and bar the one it has most of."""
    with pa.input_stream(path) as file:  # opens compressed files, too
        header = bytes(file.read(4096)).splitlines()[:1] or [b""]
    return max(",\t;|", key=lambda one: header[0].count(one.encode()))


def _blank_to_null(table: pa.Table) -> pa.Table:
    """In text a missing name and an empty one look the same: it is missing."""
    for i, name in enumerate(table.column_names):
        if name != "sketch":
            column = table.column(i)
            table = table.set_column(
                i, name, pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
            )
    return table


def _row(name: str, *, absent: bool = False) -> Row:
    name = name.strip()
    return Row(None, None if name.lower() in TOTAL_NAMES else name, None, absent)


def _pairs(table: pa.Table, form: tuple[str, ...], path: Path) -> tuple[list[Row], pa.ChunkedArray]:
    return [_row(name) for name in table.column(form[0]).to_pylist()], table.column(form[1])


def _triples(table: pa.Table, form: tuple[str, ...], path: Path) -> tuple[list[Row], pa.ChunkedArray]:
    names = table.column(form[0]).to_pylist()
    if form[1] == "sketch_type":
        types = table.column(form[1]).to_pylist()
        return [
            _typed(name, kind, i, path) for i, (name, kind) in enumerate(zip(names, types, strict=True))
        ], table.column(form[2])
    present, absent = table.column(form[1]), table.column(form[2])
    # A total's second cell repeats the first, or is blank; so may a feature's be.
    given = [
        i for i, (name, size) in enumerate(zip(names, pc.binary_length(absent).to_pylist(), strict=True))
        if size and _row(name).feature is not None
    ]  # fmt: skip
    rows = [_row(name) for name in names] + [_row(names[i], absent=True) for i in given]
    chosen = absent.take(pa.array(given, pa.int64()))
    return rows, pa.chunked_array([*present.chunks, *chosen.chunks], pa.large_string())


def _typed(name: str, kind: str, i: int, path: Path) -> Row:
    plain = kind.strip().lower().removeprefix("sketch_").removeprefix("feature_")
    if plain not in ("total", "present", "absent"):
        raise SketchFormatError(f"{path}, row {i}: sketch_type {kind!r}; expected present, absent or total")
    return Row(None, None, None) if plain == "total" else _row(name, absent=plain == "absent")


def _place(row: Row, target: str | None, kinds: Kinds) -> Row:
    """Say which class or which feature's value a name stands for."""
    if row.feature is None:
        return row
    if target is not None and row.feature.startswith(f"{target}="):
        label: Label = row.feature[len(target) + 1 :]
        return Row(label, None, None)
    feature, value = split_name(row.feature, kinds)
    return row._replace(feature=feature, value=value)
