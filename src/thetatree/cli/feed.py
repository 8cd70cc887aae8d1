"""Rows for the sketch builder, batch by batch, with a progress bar for each pass over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thetatree.cli.tables import STANDARD, batches


def batch_source(paths: Sequence[str], columns: Sequence[str] | None) -> Any:
    """Return what the builder reads: a function that starts a pass, or one pass over standard input."""

    def run() -> Iterator[Any]:
        for path in paths:
            yield from batches(path, f"reading {path}", columns=columns)

    return run() if STANDARD in paths else run
