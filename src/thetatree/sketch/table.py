"""The long table: one row for each sketch, ``class, feature, value, sketch[, absent][, n]``, in Arrow and
Parquet.

A total has no feature, a feature's known keys no value, and a row about all keys no class. A flag's absent
sketch is its value "0"; other absent sketches are marked in the column ``absent``. The schema's metadata say
what the rows can not: kinds, edges, key, target, hash, k, and a checksum for each sketch.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from thetatree.data.threads import n_threads
from thetatree.files import written_whole
from thetatree.sketch.assemble import Declared, assemble
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import HASH_FAMILY, Label, Origin, Row, SketchData
from thetatree.sketch.errors import SketchFormatError
from thetatree.sketch.kinds import ABSENT, Feature, check_kinds
from thetatree.sketch.wire import DEFAULT_SEED, arrow_bytes, read_cells, write_images

VERSION = 1
METADATA = b"thetatree"
REQUIRED = ("class", "feature", "value", "sketch")
_ROWS_AT_ONCE = 64  # for a thread


def to_arrow(data: SketchData, *, version: int = 3) -> pa.Table:
    """Give the long table."""
    images = write_images(data.column, data.origin.seed, version)
    rows = [_as_written(row, data) for row in data.rows()]
    columns: dict[str, Any] = {
        "class": pa.array(
            [None if row.label is None else _label_text(row.label) for row in rows], pa.string()
        ),
        "feature": pa.array([row.feature for row in rows], pa.string()),
        "value": pa.array([row.value for row in rows], pa.string()),
        "sketch": images,
    }
    if any(row.absent for row in rows):
        columns["absent"] = pa.array([row.absent for row in rows], pa.bool_())
    columns["n"] = pa.array([None if row.n < 0 else row.n for row in rows], pa.int64())
    table = pa.table(columns)
    return table.replace_schema_metadata({METADATA: json.dumps(_metadata(data, table), sort_keys=True)})


def write_parquet(data: SketchData, path: str | Path, *, version: int = 3) -> None:
    """Write the long table; the file appears whole or not at all."""
    table = to_arrow(data, version=version)
    with written_whole(Path(path)) as file:
        # Hashes are as good as random: compression would cost time and gain nothing.
        pq.write_table(table, file, compression="none", use_dictionary=["class", "feature", "value"])


def _as_written(row: Row, data: SketchData) -> Row:
    if not row.absent:
        return row
    flag = any(feature.name == row.feature and feature.kind == "flag" for feature in data.features)
    return row._replace(value=ABSENT, absent=False) if flag else row


def _label_text(label: Label) -> str:
    return label if isinstance(label, str) else json.dumps(label)


def _metadata(data: SketchData, table: pa.Table) -> dict[str, Any]:
    origin = data.origin
    return {
        "version": VERSION,
        "form": data.form,
        "key": origin.key,
        "target": origin.target,
        "lg_k": origin.lg_k,
        "seed": origin.seed,
        "hash_family": origin.hash_family,
        "key_type": origin.key_type,
        "classes": list(data.classes),
        "features": {feature.name: _described(feature) for feature in data.features},
        "edges": {feature.name: feature.edges for feature in data.features if feature.edges},
        "checksums": checksums(table),
    }


def checksums(table: pa.Table) -> str:
    """CRC-32 of each sketch with its names, in hexadecimal: moved rows are found as well as changed ones."""
    lists = [map(_as_json, table.column(name).to_pylist()) for name in REQUIRED[:3]]
    names = [f"[{', '.join(row)}]".encode() for row in zip(*lists, strict=True)]
    raw, offsets = arrow_bytes(table.column("sketch"))
    ends = offsets.tolist()

    def sums(first: int) -> list[int]:
        rows = range(first, min(first + _ROWS_AT_ONCE, len(names)))
        return [zlib.crc32(raw[ends[i] : ends[i + 1]].data, zlib.crc32(names[i])) for i in rows]

    with ThreadPoolExecutor(n_threads(None)) as pool:
        parts = pool.map(sums, range(0, len(names), _ROWS_AT_ONCE))
        return np.array([one for part in parts for one in part], ">u4").tobytes().hex()


def _as_json(text: str | None) -> str:
    return "null" if text is None else encode_basestring_ascii(text)


def read_parquet(path: Path) -> pa.Table:
    """Read a Parquet file, or a folder of them."""
    try:
        return pq.read_table(path, memory_map=True)
    except pa.ArrowInvalid as error:
        raise SketchFormatError(f"{path}: not a Parquet file ({str(error)[:200]}); write it again") from error


def is_long(names: list[str]) -> bool:
    """Whether a table's columns are those of the long table."""
    return set(REQUIRED) <= set(names)


def named_alike(table: pa.Table) -> pa.Table:
    """Write the names of the long table's columns in small letters: some warehouses write capitals."""
    known = {*REQUIRED, "absent", "n"}
    small = [str(name).strip().lower() for name in table.column_names]
    names = [
        low if low in known and small.count(low) == 1 else name
        for name, low in zip(table.column_names, small, strict=True)
    ]
    return table if names == table.column_names else table.rename_columns(names)


def table_rows(
    table: pa.Table, name: str, seed: int, labels: Mapping[str, Label] | None = None
) -> tuple[list[Row], SketchColumn]:
    """Read a long table's rows and sketches; `labels` are the classes by the texts that stand for them."""
    labels = labels or {}
    table = named_alike(table)
    if not is_long(table.column_names):
        missing = [column for column in REQUIRED if column not in table.column_names]
        raise SketchFormatError(
            f"{name}: column {missing[0]!r} is missing among {table.column_names}; the long table is "
            f"{', '.join(REQUIRED)}[, n]"
        )
    sketches = table.column("sketch")
    if sketches.null_count:
        at = int(np.flatnonzero(sketches.is_null().to_numpy())[0])
        raise SketchFormatError(
            f"{name}, row {at}: no sketch; leave rows without keys out, or write an empty sketch"
        )
    lists = [table.column(column).to_pylist() for column in REQUIRED[:3]]
    n = table.column("n").to_pylist() if "n" in table.column_names else [None] * len(table)
    absent = table.column("absent").to_pylist() if "absent" in table.column_names else [False] * len(table)
    rows = [
        Row(labels.get(label, label), _text(feature), _text(value), bool(gone), _count(count, name, i))
        for i, (label, feature, value, gone, count) in enumerate(zip(*lists, absent, n, strict=True))
    ]
    return rows, read_cells(sketches, lambda i: f"{name}, row {i} ({rows[i]})", seed)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(int(value)) if isinstance(value, bool) else str(value)


def _count(count: Any, name: str, i: int) -> int:
    if count is None or count == "":
        return -1
    try:
        number = int(count) if isinstance(count, int) or str(count).isdecimal() else int(float(count))
        whole = number == float(count)
    except (TypeError, ValueError, OverflowError):
        number, whole = -1, False
    if number < 0 or not whole:
        raise SketchFormatError(
            f"{name}, row {i}: n = {count!r} is not a count; give whole numbers from 0, or null"
        )
    return number


def from_arrow(
    table: pa.Table, name: str, *, kinds: Any = None, lg_k: int | None = None, seed: int = DEFAULT_SEED
) -> SketchData:
    """Make the data of a set of a long table; what its metadata say goes before what the caller declares."""
    metadata = _read_metadata(table, name)
    if metadata is None:
        rows, column = table_rows(table, name, seed)
        return assemble(rows, column, Origin(lg_k=lg_k, seed=seed), Declared(check_kinds(kinds)))
    said = {field: metadata[field] for field in ("key", "target", "lg_k", "seed", "hash_family")}
    origin = Origin(**said, key_type=metadata.get("key_type"))
    if origin.hash_family != HASH_FAMILY:
        raise SketchFormatError(f"{name}: hash family {origin.hash_family!r}; only {HASH_FAMILY!r} is known")
    if "checksums" in metadata:
        _check_sums(table, metadata["checksums"], name)
    labels: dict[str, Label] = {_label_text(label): label for label in metadata["classes"]}
    rows, column = table_rows(table, name, origin.seed, labels)
    features = metadata["features"]
    declared = Declared(
        check_kinds({feature: known["kind"] for feature, known in features.items()}),
        {feature: known["lg_k"] for feature, known in features.items()},
        frozenset(feature for feature, known in features.items() if known.get("complete") is True),
        frozenset(feature for feature, known in features.items() if known.get("complement") is False),
    )
    return assemble(rows, column, origin, declared)


def _described(feature: Feature) -> dict[str, Any]:
    described: dict[str, Any] = {"kind": feature.kind, "lg_k": feature.lg_k}
    if feature.complete:
        described["complete"] = True
    if not feature.complement:
        described["complement"] = False
    return described


def _read_metadata(table: pa.Table, name: str) -> dict[str, Any] | None:
    raw = (table.schema.metadata or {}).get(METADATA)
    if raw is None:
        return None
    try:
        metadata: dict[str, Any] = json.loads(raw)
        version = metadata["version"]
        needed = {"key", "target", "lg_k", "seed", "hash_family", "classes", "features"}
        missing = sorted(needed - set(metadata)) if version == VERSION else []
    except (ValueError, TypeError, KeyError) as error:
        raise SketchFormatError(
            f"{name}: its metadata are damaged ({error!r}); write the file again"
        ) from error
    if version != VERSION:
        raise SketchFormatError(
            f"{name}: version {version!r} of the long table; this thetatree reads {VERSION}: update it"
        )
    if missing:
        raise SketchFormatError(f"{name}: its metadata lack {', '.join(missing)}; write the file again")
    return metadata


def _check_sums(table: pa.Table, expected: str, name: str) -> None:
    if not is_long(table.column_names):
        return  # table_rows says which column is missing
    found = checksums(table)
    if len(found) != len(expected):
        raise SketchFormatError(
            f"{name}: {len(found) // 8} sketches where {len(expected) // 8} were written; copy the file again"
        )
    for i in range(len(table)):
        if found[8 * i : 8 * i + 8] != expected[8 * i : 8 * i + 8]:
            raise SketchFormatError(
                f"{name}, row {i}: checksum {found[8 * i : 8 * i + 8]} where {expected[8 * i : 8 * i + 8]} "
                "was written; "
                "the file is damaged, copy it again"
            )
