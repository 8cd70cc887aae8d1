"""Progress on standard error, if a person looks on: a bar for whatever takes over a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[float], None]

_PATIENCE = 1.0  # seconds


@contextmanager
def progress(what: str, total: float | None = None, unit: str = "rows") -> Iterator[Advance]:
    """Show how far something is; call what is yielded with how much more is done.

    Parameters
    ----------
    what : str
        What is being done.
    total : float, optional
        How much there is to do; without it a clock is shown.
    unit : {"rows", "bytes"}
        What is counted.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
    if total:
        columns += [BarColumn(), TextColumn("{task.percentage:>3.0f}%")]
        columns += [TransferSpeedColumn() if unit == "bytes" else _rate_column(), TimeRemainingColumn()]
    else:
        columns.append(TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=total)
    starter = threading.Timer(_PATIENCE, bar.start)
    starter.daemon = True
    starter.start()
    try:
        yield lambda more: bar.advance(task, more)
    finally:
        starter.cancel()
        bar.stop()


def _rate_column() -> Any:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s")

    return RateColumn()
