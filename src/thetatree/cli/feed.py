"""Rows for the sketch builder, batch by batch, with a progress bar for each pass over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thetatree.cli.names import meant
from thetatree.cli.notes import refuse_dates
from thetatree.cli.tables import STANDARD, batches


def batch_source(
    paths: Sequence[str],
    columns: Sequence[str] | None,
    *,
    without: Sequence[str] = (),
    declared: str | None = None,
) -> Any:
    """Return what the builder reads: a function that starts a pass, or one pass over standard input.

    `columns` are those that are asked for; where none are, all but `without` are sketched.
    """

    def run() -> Iterator[Any]:
        for path in paths:
            for batch in batches(path, f"reading {path}", declared=declared, columns=columns):
                part = batch.drop_columns(_there(list(without), batch.schema.names, path))
                if columns is None:
                    refuse_dates(part.schema)
                yield part

    return run() if STANDARD in paths else run


def _there(asked: list[str], known: list[str], path: str) -> list[str]:
    """Return the columns to leave out, which must be there."""
    for name in asked:
        if name not in known:
            raise ValueError(f"{path} has no column {name!r} to ignore{meant(name, known)}")
    return asked
