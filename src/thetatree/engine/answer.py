"""What a warehouse gave back, as a sketch set: a table of sketches, or of hashes where it has no sketches.

The answer says nothing of kinds: they are told here as they were told to `thetatree.engine.sql`, so that the
set is the one that `thetatree.sketch` makes of the same rows, hash by hash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import csv

from thetatree.engine.request import Asked, Lists, asked, separators
from thetatree.sketch.assemble import Declared, assemble
from thetatree.sketch.column import MAX_THETA, SketchColumn
from thetatree.sketch.data import Origin, Row
from thetatree.sketch.errors import SketchFormatError
from thetatree.sketch.key_sample import HASH, KeySample, trimmed
from thetatree.sketch.keys import KeyType
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.table import read_parquet, table_rows
from thetatree.sketch.tuple_set import TupleSet
from thetatree.sketch.tuple_wire import TupleImage, write_tuple
from thetatree.sketch.wire import DEFAULT_SEED

EMPTY = bytes.fromhex("01030300001ecc93")  # a compact sketch of no key

Reader = Callable[[pa.Table, str], tuple[list[Row], SketchColumn]]


def from_sketches(
    source: Any,
    key: str | None = None,
    target: str | None = None,
    features: Any = (),
    lg_k: int = 12,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    lists: Lists = (),
    key_type: KeyType = "int",
) -> SketchSet:
    """Read the answer to a query of `sql`.

    Parameters
    ----------
    source
        A Parquet or CSV path, an Arrow table, a data frame, or a list of these: the answers to several
        queries about the same keys, each for some of the features.
    key, target, features, lg_k, edges, values, not_null, lists, key_type
        What was asked for, as it was told to `sql`.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetatree as tt
    >>> from thetatree.engine import from_sketches
    >>> rows = pd.DataFrame({"id": range(6), "vip": [True, False] * 3, "buys": list("yynnyn")})
    >>> answer = tt.sketch(rows, key="id", target="buys").to_arrow().replace_schema_metadata(None)
    >>> from_sketches(answer, "id", "buys", ["vip"])
    SketchSet(per_class, classes=('n', 'y'), features=1, sketches=4, held=9)
    """
    told = _told(features, edges, values, not_null, key, target, lists=lists)
    return _make(source, _sketch_rows, told, Origin(key, target, lg_k, key_type=key_type))


def from_hashes(
    source: Any,
    key: str | None = None,
    target: str | None = None,
    features: Any = (),
    lg_k: int = 12,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    lists: Lists = (),
    key_type: KeyType = "int",
) -> SketchSet:
    """Make sketches of exported hashes, for warehouses that have no sketch function.

    Parameters
    ----------
    source
        As for `from_sketches`, with the columns ``class, feature, value`` and either ``hashes`` (for each
        sketch the 2^lg_k + 1 least hashes, as a list or as its JSON text) or ``hash`` (a line each); and
        ``n`` if keys were counted.
    key, target, features, lg_k, edges, values, not_null, lists, key_type
        What was asked for, as it was told to `sql`.

    Examples
    --------
    >>> import pandas as pd
    >>> from thetatree.engine import from_hashes
    >>> lines = pd.DataFrame(
    ...     {
    ...         "class": ["n", "n", "y", "y"],
    ...         "feature": [None, "vip", None, "vip"],
    ...         "value": [None, "1", None, "1"],
    ...         "hashes": [[5, 9, 30], [9], [7, 11], []],
    ...     }
    ... )
    >>> from_hashes(lines, "id", "buys", ["vip"]).counts()["estimate"].tolist()
    [3.0, 1.0, 2.0, 0.0]
    """
    told = _told(features, edges, values, not_null, key, target, lists=lists)
    return _make(source, _hash_rows, told, Origin(key, target, lg_k, key_type=key_type))


def _told(
    features: Any,
    edges: Mapping[str, Sequence[float]] | None,
    values: Mapping[str, Sequence[str]] | None,
    not_null: Sequence[str],
    *reserved: str | None,
    lists: Lists,
) -> tuple[Asked, ...]:
    by_table = isinstance(features, Mapping) and any(
        not isinstance(named, str) and named is not None for named in features.values()
    )
    tables = list(features.values()) if by_table else [features]
    given = edges or {}, values or {}, frozenset(not_null), separators(lists)
    return tuple(one for table in tables for one in asked(table, *given, reserved=reserved))


def _make(source: Any, read: Reader, told: Sequence[Asked], origin: Origin) -> SketchSet:
    rows: list[Row] = []
    columns: list[SketchColumn] = []
    for part, name in _tables(source):
        found, column = read(part, name)
        rows += found
        columns.append(column)
    rows, column = _once(rows, SketchColumn.concatenate(columns))
    k = 1 << (origin.lg_k or 0)
    column = column.unite([[i] for i in range(len(rows))], [k] * len(rows))
    kinds = {one.name: one.kind for one in told if any(row.feature == one.name for row in rows)}
    complete = frozenset(one.name for one in told if one.complete)
    return SketchSet(assemble(rows, column, origin, Declared(kinds, complete=complete)))


def _once(rows: list[Row], column: SketchColumn) -> tuple[list[Row], SketchColumn]:
    """Each query tells the totals again: they must be the same, and are kept once."""
    first: dict[Row, int] = {}
    kept: list[int] = []
    for i, row in enumerate(rows):
        at = first.setdefault(row._replace(n=-1), i)
        if at == i:
            kept.append(i)
        elif not np.array_equal(column[at], column[i]) or column.thetas[at] != column.thetas[i]:
            raise SketchFormatError(
                f"{row}: two answers give it differently; run all queries on the same rows, with one lg_k"
            )
    return [rows[i] for i in kept], column.take(kept)


def _tables(source: Any) -> list[tuple[pa.Table, str]]:
    if isinstance(source, (list, tuple)):
        return [one for part in source for one in _tables(part)]
    if isinstance(source, (str, Path)):
        path = Path(source)
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file")
        if path.suffix.lower() != ".csv":
            return [(read_parquet(path), str(path))]
        text = {name: pa.string() for name in ("class", "feature", "value", "sketch", "hashes")}
        options = csv.ConvertOptions(
            column_types=text, strings_can_be_null=True, null_values=["", "NULL", "\\N"]
        )
        return [
            (
                csv.read_csv(
                    path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=options
                ),
                str(path),
            )
        ]
    if isinstance(source, pa.Table):
        return [(source, "table")]
    try:
        return [(nw.from_native(source, eager_only=True).to_arrow(), "table")]
    except TypeError as error:
        raise SketchFormatError(
            f"{type(source).__name__} is no answer of a query; give a path, an Arrow table or a data frame"
        ) from error


def _sketch_rows(table: pa.Table, name: str) -> tuple[list[Row], SketchColumn]:
    columns = {column: _as_text(table, column) for column in table.column_names}
    if "sketch" in columns:  # some engines give null, not an empty sketch, where there is no key
        cells = columns["sketch"]
        empty = (
            EMPTY.hex() if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type) else EMPTY
        )
        columns["sketch"] = cells.fill_null(empty)
    return table_rows(pa.table(columns), name, DEFAULT_SEED)


def _as_text(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Class labels and values are text, whatever type the columns came in."""
    column = table.column(name)
    if name in ("class", "feature", "value") and not pa.types.is_string(column.type):
        return column.cast(pa.string())
    return column


def _hash_rows(table: pa.Table, name: str) -> tuple[list[Row], SketchColumn]:
    needed = {"class", "feature", "value"}
    lists = next((column for column in ("hashes", "hash") if column in table.column_names), None)
    if lists is None or not needed <= set(table.column_names):
        raise SketchFormatError(
            f"{name}: columns {table.column_names}; hashes come as class, feature, value and hashes (or hash)"
        )
    found: dict[Row, list[int]] = {}
    counts: dict[Row, int] = {}
    names = (_as_text(table, column).to_pylist() for column in ("class", "feature", "value"))
    n = table.column("n").to_pylist() if "n" in table.column_names else [None] * len(table)
    for label, feature, value, cell, count in zip(*names, table.column(lists).to_pylist(), n, strict=True):
        row = Row(label, feature, value)
        found.setdefault(row, []).extend(_hashes(cell, f"{name}, {row}"))
        counts[row] = -1 if count is None else int(count)
    rows = [row._replace(n=counts[row]) for row in found]
    arrays = [np.unique(np.array(hashes, np.uint64)) for hashes in found.values()]
    offsets = np.cumsum([0, *map(len, arrays)], dtype=np.int64)
    whole = np.concatenate([np.empty(0, np.uint64), *arrays])
    return rows, SketchColumn(whole, offsets, np.full(len(arrays), MAX_THETA, np.uint64))


def _hashes(cell: Any, where: str) -> list[int]:
    if isinstance(cell, str):
        try:
            cell = json.loads(cell or "[]")
        except ValueError as error:
            raise SketchFormatError(f"{where}: hashes are {cell[:40]!r}; write them as [1, 2, 3]") from error
    hashes: list[Any] = [] if cell is None else [cell] if np.isscalar(cell) else list(cell)
    bad = next((h for h in hashes if isinstance(h, float) or not 0 < int(h) < MAX_THETA), None)
    if bad is not None:
        raise SketchFormatError(f"{where}: {bad!r} is not a hash; hashes are whole numbers of 1 to 63 bits")
    return [int(h) for h in hashes]


def from_rows(
    source: Any,
    key: str | None = None,
    target: str = "target",
    features: Any = (),
    lg_k: int = 12,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    key_type: KeyType = "int",
    form: str = "keys",
) -> KeySample:
    """Read the answer to a query of `sql` for a key sample.

    Parameters
    ----------
    source
        As for `from_sketches`: a line for each row, with ``hash``, the target and the features.
    key, target, features, lg_k, edges, values, not_null, key_type, form
        What was asked for, as it was told to `sql`.

    Examples
    --------
    >>> import pandas as pd
    >>> from thetatree.engine import from_rows
    >>> lines = pd.DataFrame({"hash": ["0c", "ff", "1a"], "buys": list("nyn"), "vip": [1, 0, None]})
    >>> from_rows(lines, "id", "buys", ["vip"])
    KeySample(features=1, rows=3, θ: n 1, y 1)
    """
    given = edges or {}, values or {}, frozenset(not_null)
    told = asked(features, *given, reserved=(key, target), cuts=False)
    names = [one.name for one in told]
    tables = [
        pa.table(
            {
                HASH: _row_hashes(table, name),
                target: table.column(target) if form == "numbers" else table.column(target).cast(pa.string()),
                **{one: table.column(one) for one in names},
            }
        )
        for table, name in _tables(source)
    ]
    whole = pa.concat_tables(tables, promote_options="permissive")
    labels = [None] if form == "numbers" else whole.column(target).unique().to_pylist()
    kinds = {one.name: one.kind for one in told}
    origin = Origin(key, target, lg_k, key_type=key_type)
    return trimmed(whole, dict.fromkeys(labels, MAX_THETA), tuple(names), kinds, origin)


def _row_hashes(table: pa.Table, name: str) -> pa.Array:
    if HASH not in table.column_names:
        raise SketchFormatError(f"{name}: columns {table.column_names}; a key sample has a column 'hash'")
    cells = table.column(HASH).to_pylist()
    numbers = [int(cell, 16) if isinstance(cell, str) else int(cell) for cell in cells]
    return pa.array([_hashes(number, name)[0] for number in numbers], pa.uint64())


def from_sums(
    source: Any,
    key: str | None = None,
    target: str | None = None,
    features: Any = (),
    lg_k: int = 12,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    lists: Lists = (),
    key_type: KeyType = "int",
) -> TupleSet:
    """Read the answer to a query of `sql` for tuple sketches, as Parquet or Arrow.

    Parameters
    ----------
    source
        As for `from_sketches`, with a tuple sketch in each line.
    key, target, features, lg_k, edges, values, not_null, lists, key_type
        What was asked for, as it was told to `sql`.
    """
    told = _told(features, edges, values, not_null, key, target, lists=lists)
    tables = [table for table, _ in _tables(source)]
    table = tables[0].drop(["n"]) if "n" in tables[0].column_names else tables[0]
    empty = write_tuple(TupleImage(np.empty(0, np.uint64), MAX_THETA, np.empty(0)), DEFAULT_SEED)
    at = table.column_names.index("sketch")
    table = table.set_column(at, "sketch", table.column("sketch").fill_null(empty))
    found = {name for name in table.column("feature").to_pylist() if name is not None}
    kinds = {one.name: one.kind for one in told if one.name in found}
    made = TupleSet.read(table, target=target, kinds=kinds, lg_k=lg_k)
    complete = {one.name for one in told if one.complete}
    described = tuple(replace(one, complete=one.name in complete) for one in made.data.features)
    origin = replace(made.data.origin, key=key, key_type=key_type)
    return TupleSet(replace(made.data, features=described, origin=origin), made.keys, made.y)
