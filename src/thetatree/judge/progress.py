"""How far a long calculation is: a line on a terminal, and nothing where there is none."""

from __future__ import annotations

import sys
import time
from typing import IO, Any, Self

_WIDTH = 30
_PATIENCE = 1.0  # seconds without a word


class Progress:
    """A bar on stderr, shown once a second has passed, and only on a terminal.

    Parameters
    ----------
    total : int
        How many steps there are.
    label : str
        What is being done.
    shown : bool, optional
        True shows it wherever stderr leads, and at once; False never.
    stream : file, optional
        stderr by default.

    Examples
    --------
    >>> with Progress(3, "fits") as progress:
    ...     for _ in range(3):
    ...         progress.step()
    """

    def __init__(
        self, total: int, label: str, *, shown: bool | None = None, stream: IO[str] | None = None
    ) -> None:
        self.total = total
        self.label = label
        self.stream = sys.stderr if stream is None else stream
        self.allowed = self.stream.isatty() if shown is None else shown
        self.patience = _PATIENCE if shown is None else 0.0
        self.done = 0
        self.began = self.drawn = time.monotonic()
        self.width = 0

    def __enter__(self) -> Self:
        return self

    def step(self) -> None:
        """Count one step."""
        self.done += 1
        now = time.monotonic()
        late = now - self.began >= self.patience and (now - self.drawn >= 0.1 or self.done == self.total)
        if self.allowed and (late or not self.patience):
            self._draw(now)

    def _draw(self, now: float) -> None:
        self.drawn = now
        filled = _WIDTH * self.done // max(1, self.total)
        passed = now - self.began
        left = passed / self.done * (self.total - self.done)
        bar = "#" * filled + "." * (_WIDTH - filled)
        line = f"[{bar}] {self.done}/{self.total} {self.label}, {left:.0f} s left"
        self.stream.write("\r" + line.ljust(self.width))
        self.stream.flush()
        self.width = len(line)

    def __exit__(self, *exception: Any) -> None:
        if self.width:  # leave the line as it was
            self.stream.write("\r" + " " * self.width + "\r")
            self.stream.flush()
