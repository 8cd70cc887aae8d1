"""CSV as people have it: commas, tabs or semicolons between, decimal points or commas, UTF-8.

A dialect is chosen by name and never guessed: a wrong guess would read numbers as text in silence. What a
file looks like is looked at only to say which dialect it seems to be.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

Types = Mapping[str, pa.DataType]


class Dialect(NamedTuple):
    """What stands between cells, and in numbers before the decimals."""

    delimiter: str
    decimal: str
    says: str


DIALECTS = {
    "csv": Dialect(",", ".", "a CSV file"),
    "tsv": Dialect("\t", ".", "a TSV file"),
    "csv2": Dialect(";", ",", "a CSV file with semicolons and decimal commas"),
    "ssv": Dialect(";", ".", "a CSV file with semicolons"),
}
_BLOCK = 1 << 22
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def options(kind: str, types: Types | None) -> dict[str, Any]:
    """Return Arrow's options for a dialect; `types` go before what a column looks like."""
    dialect = DIALECTS[kind]
    return {
        "convert_options": pa_csv.ConvertOptions(
            strings_can_be_null=True, column_types=dict(types or {}), decimal_point=dialect.decimal
        ),
        "parse_options": pa_csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
    }


def read(file: Any, kind: str, types: Types | None, path: str) -> pa.Table:
    """Read a whole file."""
    return _readable(pa_csv.read_csv(file, **options(kind, types)), path)


def batches(file: Any, kind: str, types: Types | None, path: str) -> Iterator[pa.RecordBatch]:
    """Read a file part by part; one without rows is one part without rows."""
    block = pa_csv.ReadOptions(block_size=_BLOCK)
    with pa_csv.open_csv(file, read_options=block, **options(kind, types)) as reader:
        empty = True
        for batch in reader:
            empty = False
            yield _readable(batch, path)
        if empty:
            yield pa.RecordBatch.from_pylist([], reader.schema)


def names(file: Any, kind: str) -> list[str]:
    """Return the names of the columns."""
    with pa_csv.open_csv(file, **options(kind, None)) as reader:
        return list(reader.schema.names)


def check_beginning(data: bytes, kind: str, path: str) -> None:
    """Refuse, with the remedy, what another program wrote in another encoding or dialect."""
    if data.startswith(_UTF16) or b"\0" in data:
        raise ValueError(f"{path} is not written in UTF-8 (in UTF-16, it seems): save it as CSV UTF-8")
    first = data.split(b"\n", 1)[0]
    try:
        header = _QUOTED.sub("", first.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: the header, byte {error.start}, is {_NOT_UTF8}") from None
    count = Counter(header)
    if kind in ("csv", "tsv") and count[";"] > count[DIALECTS[kind].delimiter]:
        raise ValueError(
            f"{path} has semicolons between its columns: add --format csv2, or --format ssv where numbers "
            "have decimal points"
        )
    if kind != "tsv" and count["\t"] > count[DIALECTS[kind].delimiter]:
        raise ValueError(f"{path} has tabs between its columns: add --format tsv")


def check_names(names: Sequence[str], path: str) -> None:
    """Refuse columns that can not be told apart."""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(f"{path} has several columns {twice[0]!r}: give each a name of its own")


_NOT_UTF8 = "not UTF-8: save the file as CSV UTF-8"


def _readable(table: Any, path: str) -> Any:
    """Refuse text that Arrow could only take as bytes."""
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise ValueError(f"{path}: column {field.name!r} holds text that is {_NOT_UTF8}")
    return table


def settled(looked_through: Callable[[], Iterator[pa.RecordBatch]], names: Sequence[str]) -> Types:
    """Say of columns read as text what all of their rows can be read as.

    Whole numbers if each is written as it would be read back (007 is text), else numbers, else text.
    """
    levels = (pa.int64(), pa.float64(), pa.string())
    found = dict.fromkeys(names, 0)
    if not found:
        return {}
    for batch in looked_through():
        for name in found:
            while not _reads_as(batch.column(name), levels[found[name]]):
                found[name] += 1
    return {name: levels[level] for name, level in found.items()}


def _reads_as(text: pa.Array, kind: pa.DataType) -> bool:
    try:
        values = text.cast(kind)
    except pa.ArrowInvalid:
        return False
    return kind != pa.int64() or bool(values.cast(pa.string()).equals(text))


def written(batch: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    """Return the batch with decimal commas, where the dialect has them."""
    if DIALECTS[kind].decimal == ".":
        return batch
    columns = [
        pc.replace_substring(column.cast(pa.string()), ".", DIALECTS[kind].decimal)
        if pa.types.is_floating(column.type)
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
