"""Tables from and to files: CSV, Parquet, Arrow and JSON lines, whole or batch by batch.

"-" is standard input or output (CSV unless a format is named). A file is written beside its final name and
renamed when it is whole.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from thetatree.cli import csv_files
from thetatree.cli.csv_files import DIALECTS, Types
from thetatree.cli.names import meant
from thetatree.files import written_whole
from thetatree.progress import Advance, progress

STANDARD = "-"
FORMATS = (*DIALECTS, "parquet", "arrow", "jsonl")
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
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_BLOCK = 1 << 22
_ROWS = 1 << 17
_BEGINNING = 1 << 16


def format_of(path: str, declared: str | None = None, option: str = "--format") -> str:
    """Return the format of a file: as declared, by the option named, or by its ending."""
    if declared is not None:
        if declared not in FORMATS:
            raise ValueError(f"there is no format {declared!r}; known are {', '.join(FORMATS)}")
        return declared
    if path == STANDARD:
        return "csv"
    suffixes = [s.lower() for s in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if suffixes and suffixes[-1] in _SPREADSHEETS:
        raise ValueError(f"{path}: spreadsheets are neither read nor written: use CSV UTF-8, or Parquet")
    if not suffixes or suffixes[-1] not in _BY_SUFFIX:
        raise ValueError(f"{path}: its ending does not tell the format; add {option} {'|'.join(FORMATS)}")
    return _BY_SUFFIX[suffixes[-1]]


def is_model_file(path: str) -> bool:
    """Whether a file holds a model: by its ending, or where that says nothing by its first character."""
    known = Path(path)
    if known.suffix.lower() in (".json", *_BY_SUFFIX, *_COMPRESSED) or not known.is_file():
        return known.suffix.lower() == ".json"
    with known.open("rb") as file:
        return file.read(1) == b"{"


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
            return csv_files.read(_begun(path, kind, file), kind, types, path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not {_NAMES[kind]}: {str(error)[:200]}") from None


_NAMES = {kind: dialect.says for kind, dialect in DIALECTS.items()}
_NAMES |= {"parquet": "a Parquet file", "arrow": "an Arrow file", "jsonl": "a file of JSON lines"}


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
    if kind in DIALECTS:
        try:
            if path != STANDARD:
                _check_beginning(path, kind)
            return csv_files.names(_open_bytes(path, _unseen), kind)
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
    what the file's beginning looks like. `columns` leaves the others unread where the format can. A table
    without rows is one batch without rows.
    """
    kind = format_of(path, declared)
    _check(path)
    try:
        if kind == "parquet" and path != STANDARD:
            yield from _parquet_batches(path, what, columns)
        elif kind in DIALECTS:
            yield from _csv_batches(path, what, kind, types)
        else:
            table = read_table(path, declared=declared)
            with progress(what, table.num_rows) as advance:
                yield from _counted(table.to_batches(max_chunksize=_ROWS), table.schema, advance)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path}: {str(error)[:200]}") from None


def _parquet_batches(path: str, what: str, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    known = None if columns is None else [column for column in columns if column in schema.names]
    if known is not None:
        schema = pa.schema([schema.field(name) for name in known])
    with progress(what, file.metadata.num_rows) as advance:
        yield from _counted(file.iter_batches(batch_size=_ROWS, columns=known), schema, advance)


def _counted(
    parts: Iterable[pa.RecordBatch], schema: pa.Schema, advance: Advance
) -> Iterator[pa.RecordBatch]:
    empty = True
    for batch in parts:
        empty = False
        yield batch
        advance(batch.num_rows)
    if empty:
        yield pa.RecordBatch.from_pylist([], schema)


def _csv_batches(path: str, what: str, kind: str, types: Types | None) -> Iterator[pa.RecordBatch]:
    size = None if path == STANDARD else Path(path).stat().st_size
    with progress(what, size, "bytes") as advance:
        data = _begun(path, kind, _open_bytes(path, advance))
        if types is not None:
            again = io.BytesIO(data.getvalue()) if path == STANDARD else _open_bytes(path, _unseen)
            types = {name: types.get(name, pa.string()) for name in csv_files.names(again, kind)}
        yield from csv_files.batches(data, kind, types, path)


def _begun(path: str, kind: str, file: Any) -> Any:
    """Look at the beginning of a CSV file, for what is wrong with it, and return the file from there."""
    if path == STANDARD:
        file = io.BytesIO(file.read())
        csv_files.check_beginning(file.getvalue(), kind, "standard input")
        return file
    _check_beginning(path, kind)
    csv_files.check_names(csv_files.names(_open_bytes(path, _unseen), kind), path)
    return file


def _check_beginning(path: str, kind: str) -> None:
    with closing(_open_bytes(path, _unseen)) as file:
        csv_files.check_beginning(file.read(_BEGINNING), kind, path)


def settled_types(path: str, declared: str | None, types: Types) -> Types:
    """Say for every column of a CSV file what all of its rows can be read as; `types` are settled already."""
    if path == STANDARD or format_of(path, declared) not in DIALECTS:
        return types
    names = [name for name in header(path, declared) if name not in types]
    what = f"looking through {path}"
    return {
        **types,
        **csv_files.settled(lambda: batches(path, what, declared=declared, types={}), names),
    }


def _unseen(_: float) -> None:
    """Advance no bar."""


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
        if self._kind in DIALECTS:
            batch = csv_files.written(batch, self._kind)
        if self._writer is None:
            self._writer = self._close.enter_context(self._opened(batch.schema))
        self._writer.write_batch(batch)

    def _opened(self, schema: pa.Schema) -> Any:
        if self._kind == "parquet":
            return pq.ParquetWriter(self._file, schema)
        if self._kind == "arrow":
            return pa.ipc.new_file(self._file, schema)
        options = pa_csv.WriteOptions(delimiter=DIALECTS[self._kind].delimiter, quoting_style="needed")
        return pa_csv.CSVWriter(self._file, schema, write_options=options)


@contextmanager
def writing(path: str, kind: str) -> Iterator[Writer]:
    """Write a table batch by batch in a format; under its final name the file is whole or not there."""
    with ExitStack() as close:
        file = sys.stdout.buffer if path == STANDARD else close.enter_context(written_whole(Path(path)))
        yield _JsonLines(file) if kind == "jsonl" else _Arrow(file, kind, close)


def without(table: pa.Table, names: Sequence[str], why: str) -> pa.Table:
    """Drop columns, which must be there."""
    for name in names:
        if name not in table.column_names:
            known = table.column_names
            raise ValueError(
                f"{why} {name!r} is not in the table{meant(name, known)}; there are {_some(known)}"
            )
    return table.drop_columns(list(names)) if names else table


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
