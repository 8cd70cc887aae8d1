"""Tables from and to files: CSV, TSV, Parquet, Arrow and JSON lines, whole or batch by batch.

"-" is standard input or output (CSV unless a format is named). A file is written beside its final name and
renamed when it is whole.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from thetatree.files import written_whole
from thetatree.progress import Advance, progress

STANDARD = "-"
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
_BY_SUFFIX = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_BLOCK = 1 << 22
_ROWS = 1 << 17

Types = Mapping[str, pa.DataType]


def format_of(path: str, declared: str | None = None) -> str:
    """Return the format of a file: as declared, or by its ending."""
    if declared is not None:
        if declared not in FORMATS:
            raise ValueError(f"there is no format {declared!r}; known are {', '.join(FORMATS)}")
        return declared
    if path == STANDARD:
        return "csv"
    suffixes = [s.lower() for s in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _BY_SUFFIX:
        raise ValueError(f"{path}: its ending does not tell the format; add --format {'|'.join(FORMATS)}")
    return _BY_SUFFIX[suffixes[-1]]


class _Counted(io.RawIOBase):
    """A file that says how much of it has been read."""

    def __init__(self, path: Path, advance: Advance) -> None:
        self._file, self._advance = path.open("rb", buffering=0), advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer) or 0
        self._advance(n)
        return n

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_bytes(path: str, advance: Advance) -> Any:
    """Open a file or standard input, uncompressed."""
    if path == STANDARD:
        return sys.stdin.buffer
    known = Path(path)
    raw = io.BufferedReader(_Counted(known, advance), _BLOCK)
    kind = _COMPRESSED.get(known.suffix.lower())
    return raw if kind is None else pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), kind)


def _check(path: str) -> None:
    if path == STANDARD:
        return
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: no such file")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path} is a folder; name its files")
    if Path(path).stat().st_size == 0:
        raise ValueError(f"{path} is empty: there is not even a header")


def _csv_options(kind: str, types: Types | None) -> dict[str, Any]:
    convert = pa_csv.ConvertOptions(strings_can_be_null=True, column_types=dict(types or {}))
    parse = pa_csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",", newlines_in_values=True)
    return {"convert_options": convert, "parse_options": parse}


def read_table(path: str, *, declared: str | None = None, types: Types | None = None) -> pa.Table:
    """Read a whole table; `types` go before what a CSV file looks like."""
    kind = format_of(path, declared)
    _check(path)
    try:
        if kind == "parquet":
            source = io.BytesIO(sys.stdin.buffer.read()) if path == STANDARD else path
            return pq.ParquetFile(source).read()
        size = None if path == STANDARD else Path(path).stat().st_size
        with progress(f"reading {path}", size, "bytes") as advance:
            file = _open_bytes(path, advance)
            if kind == "arrow":
                return _open_arrow(file).read_all()
            if kind == "jsonl":
                return pa_json.read_json(file)
            return pa_csv.read_csv(file, **_csv_options(kind, types))
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not {_NAMES[kind]}: {str(error)[:200]}") from None


_NAMES = {"csv": "a CSV file", "tsv": "a TSV file", "parquet": "a Parquet file", "arrow": "an Arrow file"}
_NAMES["jsonl"] = "a file of JSON lines"


def _open_arrow(file: Any) -> Any:
    data = file.read()
    try:
        return pa.ipc.open_file(pa.BufferReader(data))
    except pa.ArrowInvalid:
        return pa.ipc.open_stream(pa.BufferReader(data))


def header(path: str, declared: str | None = None) -> list[str]:
    """Return the column names of a file."""
    kind = format_of(path, declared)
    _check(path)
    if kind == "parquet":
        return list(pq.read_schema(path).names)
    if kind in ("csv", "tsv"):
        try:
            return _csv_names(_open_bytes(path, _unseen), kind)
        except pa.ArrowInvalid as error:
            raise ValueError(f"{path} is not {_NAMES[kind]}: {str(error)[:200]}") from None
    return list(read_table(path, declared=declared).schema.names)


def batches(
    path: str,
    what: str,
    *,
    declared: str | None = None,
    types: Types | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Run through a table, with a progress bar.

    Of a CSV file, `types` settles what columns hold, and those it does not name are text; without it each is
    what the file's beginning looks like. `columns` leaves the others unread where the format can.
    """
    kind = format_of(path, declared)
    _check(path)
    try:
        if kind == "parquet" and path != STANDARD:
            file = pq.ParquetFile(path)
            known = None if columns is None else [c for c in columns if c in file.schema_arrow.names]
            with progress(what, file.metadata.num_rows) as advance:
                for batch in file.iter_batches(batch_size=_ROWS, columns=known):
                    yield batch
                    advance(batch.num_rows)
        elif kind in ("csv", "tsv"):
            yield from _csv_batches(path, what, kind, types)
        else:
            table = read_table(path, declared=declared)
            with progress(what, table.num_rows) as advance:
                for batch in table.to_batches(max_chunksize=_ROWS):
                    yield batch
                    advance(batch.num_rows)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {str(error)[:200]}") from None


def _csv_batches(path: str, what: str, kind: str, types: Types | None) -> Iterator[pa.RecordBatch]:
    size = None if path == STANDARD else Path(path).stat().st_size
    with progress(what, size, "bytes") as advance:
        data = _open_bytes(path, advance)
        if path == STANDARD:
            data = io.BytesIO(data.read())
        if types is not None:
            names = _csv_names(
                io.BytesIO(data.getvalue()) if path == STANDARD else _open_bytes(path, _unseen), kind
            )
            types = {name: types.get(name, pa.string()) for name in names}
        block = pa_csv.ReadOptions(block_size=_BLOCK)
        yield from pa_csv.open_csv(data, read_options=block, **_csv_options(kind, types))


def settled_types(path: str, declared: str | None, types: Types) -> Types:
    """Say for every column of a CSV file what all of its rows can be read as; `types` are settled already.

    Whole numbers if each is written as it would be read back (007 is text), else numbers, else text.
    """
    if path == STANDARD or format_of(path, declared) not in ("csv", "tsv"):
        return types
    levels = (pa.int64(), pa.float64(), pa.string())
    found = dict.fromkeys([name for name in header(path, declared) if name not in types], 0)
    for batch in batches(path, f"looking through {path}", declared=declared, types={}):
        for name in found:
            while not _reads_as(batch.column(name), levels[found[name]]):
                found[name] += 1
    return {**types, **{name: levels[level] for name, level in found.items()}}


def _reads_as(text: pa.Array, kind: pa.DataType) -> bool:
    try:
        values = text.cast(kind)
    except pa.ArrowInvalid:
        return False
    return kind != pa.int64() or bool(values.cast(pa.string()).equals(text))


def _unseen(_: float) -> None:
    """Advance no bar."""


def _csv_names(data: Any, kind: str) -> list[str]:
    with pa_csv.open_csv(data, **_csv_options(kind, None)) as reader:
        return list(reader.schema.names)


class Writer(Protocol):
    """Takes a table batch by batch."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write one batch."""


class _JsonLines:
    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            line = json.dumps(row, ensure_ascii=False, default=str)
            self._file.write(line.encode() + b"\n")


class _Arrow:
    """Any of Arrow's own writers, opened when the first batch tells the columns."""

    def __init__(self, file: Any, kind: str, close: ExitStack) -> None:
        self._file, self._kind, self._close = file, kind, close
        self._writer: Any = None

    def write(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            self._writer = self._close.enter_context(self._opened(batch.schema))
        self._writer.write_batch(batch)

    def _opened(self, schema: pa.Schema) -> Any:
        if self._kind == "parquet":
            return pq.ParquetWriter(self._file, schema)
        if self._kind == "arrow":
            return pa.ipc.new_file(self._file, schema)
        delimiter = "\t" if self._kind == "tsv" else ","
        options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        return pa_csv.CSVWriter(self._file, schema, write_options=options)


@contextmanager
def writing(path: str, declared: str | None = None) -> Iterator[Writer]:
    """Write a table batch by batch; under its final name the file is whole or not there."""
    kind = format_of(path, declared)
    with ExitStack() as close:
        file = sys.stdout.buffer if path == STANDARD else close.enter_context(written_whole(Path(path)))
        yield _JsonLines(file) if kind == "jsonl" else _Arrow(file, kind, close)


def without(table: pa.Table, names: Sequence[str], why: str) -> pa.Table:
    """Drop columns, which must be there."""
    for name in names:
        if name not in table.column_names:
            raise ValueError(f"{why} {name!r} is not in the table; there are {_some(table.column_names)}")
    return table.drop_columns(list(names)) if names else table


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
