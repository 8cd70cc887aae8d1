"""What is worth saying of a table before a tree is grown from it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

_FIGURES = re.compile(r"\s*[-+−]?[\d., '’]*\d[\d., '’]*\s*[%€$£]?\s*")
_MOST_LOOKED_AT = 1000
_LEAST_ROWS = 20  # below that, that all values differ says nothing


def refuse_dates(schema: pa.Schema) -> None:
    """Refuse columns of dates and times, all at once, with what can be done."""
    dates = [repr(field.name) for field in schema if pa.types.is_temporal(field.type)]
    if dates:
        what = f"column {dates[0]} holds" if len(dates) == 1 else f"columns {', '.join(dates)} hold"
        options = " ".join(f"--ignore {name}" for name in dates)
        raise ValueError(
            f"{what} dates or times, which no split tests: make numbers of them first (days since some day, "
            f"say), or leave them out: {options}"
        )


def remarks(X: pa.Table) -> Iterator[str]:
    """Say which columns may not be what they seem: keys, and numbers that are written in other ways."""
    for name, column in zip(X.column_names, X.columns, strict=True):
        kind = column.type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not (text or pa.types.is_integer(kind)):
            continue
        distinct = column.unique().drop_null()
        if len(distinct) == X.num_rows >= _LEAST_ROWS:
            yield f"{name!r} has another value in every row; a key is left out by --ignore {name!r}"
        elif text:
            seen = distinct.slice(0, _MOST_LOOKED_AT).to_pylist()
            odd = [value for value in seen if not _FIGURES.fullmatch(value)]
            if seen and len(odd) * 2 < len(seen):
                example = odd[0] if odd else seen[0]
                yield f"{name!r} is read as categories, not as numbers, since it holds {example!r}"
