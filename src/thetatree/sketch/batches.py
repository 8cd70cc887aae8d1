"""Rows from anywhere, some hundred thousand at a time: data frames, Arrow, Parquet and CSV paths, iterators
of these.

batch: the columns that are needed, each a numpy array (numbers without a mask) or an Arrow array.
once: a source that can be run through only one time, such as a generator.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from thetatree.sketch.errors import BuildError

ROWS = 1 << 18

Values: TypeAlias = Any  # a numpy or an Arrow array; pyarrow has no types
Batch = dict[str, Values]


class Source:
    """Rows to sketch; `batches` starts from the first row each time, unless the source is for once.

    Parameters
    ----------
    data
        A data frame, an Arrow table, reader or batch, a Parquet or CSV path, a sequence of any of these, an
        iterator of them, or a function that gives a new iterator for each pass.
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._first: Any = None
        self._used = False

    @property
    def once(self) -> bool:
        """Whether there can be only one pass."""
        return isinstance(self._data, (Iterator, pa.RecordBatchReader))

    def columns(self) -> list[str]:
        """Give the names of the columns."""
        for piece in self._pieces():
            names = _names(piece)
            if self.once:
                self._first = piece
            return names
        raise BuildError("there are no rows to sketch: the data are empty")

    def batches(self, columns: Sequence[str]) -> Generator[Batch, None, None]:
        """Run through the rows."""
        for piece in self._pieces():
            _require(_names(piece), columns)
            yield from _batches(piece, columns)

    def _pieces(self) -> Iterator[Any]:
        if not self.once:
            yield from _pieces(self._data)
            return
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        elif self._used:
            raise BuildError(
                "the iterator was run through already; give a list, a path, or a function that makes a new "
                "one"
            )
        self._used = True
        for piece in self._data:
            yield from _pieces(piece)


def source_of(data: Any, sql: str | None = None) -> Source:
    """Give rows as a source; queries, patterns of files and DuckDB's own objects go through DuckDB.

    Parquet files are read by Arrow, whatever names them: 100 M rows of 50 features in half of DuckDB's time.
    """
    from thetatree.engine.duckdb import passes, wants_duckdb

    if sql is None and isinstance(data, str) and (files := _parquet_files(data)):
        return Source(files)
    return Source(passes(data, sql) if wants_duckdb(data, sql) else data)


def _parquet_files(pattern: str) -> list[str]:
    """Give the files of a pattern, if all are Parquet; a folder day=1 is a column, which DuckDB reads."""
    if "*" not in pattern:
        return []
    root = Path(pattern).anchor
    found = Path(root).glob(str(Path(pattern).relative_to(root)))
    files = sorted(str(path) for path in found if not path.name.startswith("."))
    plain = all(path.endswith((".parquet", ".pq")) and "=" not in path for path in files)
    return files if plain else []


def told(batches: Iterator[Batch], key: str, progress: Callable[[int], object] | None) -> Iterator[Batch]:
    """Pass batches on, saying after each how many rows there were."""
    done = 0
    for batch in batches:
        yield batch
        done += len(batch[key])
        if progress is not None:
            progress(done)


def _pieces(data: Any) -> Iterator[Any]:
    """Take sequences, iterators and functions apart, down to frames and files."""
    if isinstance(data, (str, Path)):
        path = Path(data)
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file")
        yield from sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    elif isinstance(data, Callable) and not hasattr(data, "columns"):  # type: ignore[arg-type]
        yield from _pieces(data())
    elif isinstance(data, (list, tuple, Iterator, pa.RecordBatchReader)):
        for piece in data:
            yield from _pieces(piece)
    else:
        yield data


def _frame(piece: Any) -> nw.DataFrame[Any]:
    if isinstance(piece, pa.RecordBatch):
        piece = pa.Table.from_batches([piece])
    try:
        return nw.from_native(piece, eager_only=True)
    except TypeError as error:
        raise BuildError(
            f"{type(piece).__name__} has no rows to sketch; give a data frame, an Arrow table, a Parquet or "
            "CSV path, or "
            "an iterator of these (collect a lazy frame first)"
        ) from error


def _names(piece: Any) -> list[str]:
    if isinstance(piece, Path):
        schema = _open_csv(piece).schema if _is_csv(piece) else pq.ParquetFile(piece).schema_arrow
        return list(schema.names)
    return _frame(piece).columns


def _require(names: Iterable[str], columns: Sequence[str]) -> None:
    missing = sorted(set(columns) - set(names))
    if missing:
        shown = ", ".join(map(repr, list(names)[:8]))
        raise BuildError(f"column {missing[0]!r} is not in the data; there are {shown}")


def _batches(piece: Any, columns: Sequence[str]) -> Iterator[Batch]:
    if isinstance(piece, Path):
        yield from _file_batches(piece, columns)
        return
    frame = _frame(piece)
    slices = {name: _slices_of(frame[name]) for name in columns}
    for start in range(0, len(frame), ROWS):
        yield {name: take(start, min(start + ROWS, len(frame))) for name, take in slices.items()}


def _slices_of(series: nw.Series[Any]) -> Callable[[int, int], Values]:
    """Give a function that gives some of a column's values; see `values_of`."""
    native = series.to_native()
    if series.implementation.is_pandas():
        if isinstance(native.dtype, np.dtype) and native.dtype.kind in "biuf":
            numbers = native.to_numpy()
            return lambda start, stop: np.ascontiguousarray(numbers[start:stop])
    elif series.implementation.is_pyarrow():
        return lambda start, stop: _whole(native.slice(start, stop - start))
    return lambda start, stop: _whole(series[start:stop].to_arrow())


def values_of(series: nw.Series[Any]) -> Values:
    """Give a column's values: numbers of pandas' numpy kind are shared as they are; the rest goes through
    Arrow, which knows about missing.
    """
    if series.implementation.is_pandas():
        native = series.to_native()
        if isinstance(native.dtype, np.dtype) and native.dtype.kind in "biuf":
            return np.ascontiguousarray(native.to_numpy())
    return _whole(series.to_arrow())


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return plain_text(array) if pa.types.is_string_view(array.type) else array


def plain_text(array: pa.Array) -> pa.Array:
    """Give dictionary-coded and view-typed text as plain text, other arrays as they are."""
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def _is_csv(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv", ".txt")


def _open_csv(path: Path, columns: Sequence[str] | None = None) -> csv.CSVStreamingReader:
    parse = csv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    convert = csv.ConvertOptions(include_columns=list(columns) if columns else None, strings_can_be_null=True)
    try:
        return csv.open_csv(path, csv.ReadOptions(block_size=1 << 24), parse, convert)
    except pa.ArrowInvalid as error:
        raise BuildError(f"{path}: {str(error)[:200]}; check the file's rows") from error


def read_ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read the next batch while somebody works on this one."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, batches, None)
            yield batch


def _file_batches(path: Path, columns: Sequence[str]) -> Iterator[Batch]:
    batches: Iterable[pa.RecordBatch]
    if _is_csv(path):
        batches = _open_csv(path, columns)
    else:
        batches = pq.ParquetFile(path).iter_batches(batch_size=ROWS, columns=list(columns))
    try:
        for batch in read_ahead(iter(batches)):
            yield {name: _whole(batch.column(name)) for name in columns}
    except pa.ArrowInvalid as error:
        raise BuildError(
            f"{path}: {str(error)[:200]}; a column's type must hold for the whole file"
        ) from error
