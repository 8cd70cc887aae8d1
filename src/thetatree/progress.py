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
def progress(
    what: str, total: float | None = None, unit: str = "rows", *, shown: bool | None = None
) -> Iterator[Advance]:
    """Show how far something is; call what is yielded with how much more is done.

    Parameters
    ----------
    what : str
        What is being done.
    total : float, optional
        How much there is to do; without it a clock is shown.
    unit : str, default="rows"
        What is counted: rows or bytes, of which the speed is shown, or what steps are called.
    shown : bool, optional
        True shows it wherever standard error leads, and at once; False never.

    Examples
    --------
    >>> with progress("cross-validating", 2, "folds") as advance:
    ...     advance(1)
    ...     advance(1)
    """
    if not (sys.stderr.isatty() if shown is None else shown):
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
    )

    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn("{task.description}")]
    if total:
        columns += [BarColumn(), TextColumn("{task.percentage:>3.0f}%")]
        columns += [_speed(unit), TimeRemainingColumn()]
    else:
        columns.append(TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True, force_terminal=shown), transient=True)
    task = bar.add_task(what, total=total)
    starter = threading.Timer(0.0 if shown else _PATIENCE, bar.start)
    starter.daemon = True
    starter.start()
    try:
        yield lambda more: bar.advance(task, more)
    finally:
        starter.cancel()
        bar.stop()


def _speed(unit: str) -> Any:
    from rich.progress import ProgressColumn, Task, TextColumn, TransferSpeedColumn
    from rich.text import Text

    if unit == "bytes":
        return TransferSpeedColumn()
    if unit != "rows":
        return TextColumn(f"{{task.completed:.0f}}/{{task.total:.0f}} {unit}")

    class RateColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} rows/s")

    return RateColumn()
