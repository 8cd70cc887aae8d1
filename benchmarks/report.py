"""The figures as a table: to read in the terminal and as Markdown."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cases import Case
from peers import OURS, REFERENCE

_PACKAGES = ("thetatree", "numpy", "scikit-learn", "lightgbm")

HEADER = (
    "case",
    "library",
    "time",
    "lowest to highest",
    "ours is as fast ×",
    "target",
    "reached",
    "peak memory above input",
    "held out",
    "leaves",
)


@dataclass
class Figures:
    """All measurements of one library in one case; `note` says why there are none."""

    library: str
    runs: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""

    @property
    def seconds(self) -> float | None:
        """Median time."""
        return statistics.median(run["seconds"] for run in self.runs) if self.runs else None


@dataclass
class Outcome:
    """One case and what each library did in it."""

    case: Case
    figures: list[Figures]


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.1 else f"{seconds * 1e3:.3g} ms"


def _memory(runs: list[dict[str, Any]]) -> str:
    peaks = [run["peak"] for run in runs if run["peak"] is not None]
    return f"{statistics.median(peaks) / 2**20:,.0f} MiB" if peaks else "–"


def _quality(case: Case, runs: list[dict[str, Any]]) -> str:
    what = "accuracy" if case.task == "classify" else "R²"
    return f"{what} {statistics.median(run['quality'] for run in runs):.4f}"


def rows_of(outcome: Outcome) -> list[tuple[str, ...]]:
    """Return the table's rows for one case."""
    ours = next((f.seconds for f in outcome.figures if f.library == OURS), None)
    case = outcome.case
    rows = []
    for figures in outcome.figures:
        first = (case.title, figures.library)
        if not figures.runs or figures.seconds is None:
            rows.append((*first, figures.note, *[""] * (len(HEADER) - 3)))
            continue
        seconds = [run["seconds"] for run in figures.runs]
        ratio = figures.seconds / ours if ours and figures.library != OURS else None
        judged = ratio is not None and figures.library == REFERENCE and case.at_least is not None
        rows.append(
            (
                *first,
                _duration(figures.seconds) + (f" ({figures.note})" if figures.note else ""),
                f"{_duration(min(seconds))} to {_duration(max(seconds))}",
                "" if ratio is None else f"{ratio:.2f}",
                case.target if judged else "",
                ("yes" if (ratio or 0) >= (case.at_least or 0) else "no") if judged else "",
                _memory(figures.runs),
                _quality(case, figures.runs),
                f"{statistics.median(run['leaves'] for run in figures.runs):,.0f}",
            )
        )
    return rows


def as_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows under their header, in columns."""
    table = [HEADER, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"


def machine(n_threads: int) -> list[str]:
    """Return what the figures depend on."""
    load = f", load {os.getloadavg()[0]:.2f} at the end" if hasattr(os, "getloadavg") else ""
    return [
        f"date: {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M} UTC",
        f"machine: {_processor()}, {os.cpu_count()} cores, {n_threads} threads used{load}",
        f"system: {platform.platform()}, Python {platform.python_version()}",
        "versions: " + ", ".join(_version(package) for package in _PACKAGES),
    ]


_HOW = """\
Each figure is the median of {repeat} measurements, each in a fresh process, the libraries taking turns. The
rows are numpy arrays in memory before the clock starts; a fit of 64 rows goes before, so that imports are not
counted. Fitting includes everything from those arrays to the fitted tree: checks, conversion, LightGBM's
`Dataset`. Work of milliseconds is repeated in the process and its median taken: 50 times for iris, 10 times
for the small case, 5 times for predict.

Peak memory is the highest resident size during the work less that just before. scikit-learn grows a tree on
one thread and is exact; LightGBM puts numbers into 255 bins and grows one tree (one per class, where there
are more than two) at learning rate 1. "Ours is as fast ×" is the library's time divided by ours; targets are
relative to scikit-learn.
"""


def as_markdown(outcomes: Sequence[Outcome], repeat: int, n_threads: int, scale: float) -> str:
    """Return the whole result."""
    lines = ["# Trees from rows, side by side", ""]
    if scale != 1:
        lines += [f"**A quick run: the large cases have {scale:g} of their rows. Not for quoting.**", ""]
    lines += [f"- {line}" for line in machine(n_threads)]
    lines += ["", "Made by `python benchmarks/rows.py`.", "", _HOW.format(repeat=repeat)]
    lines.append("| " + " | ".join(HEADER) + " |")
    lines.append("|" + "---|" * len(HEADER))
    for outcome in outcomes:
        lines += ["| " + " | ".join(row) + " |" for row in rows_of(outcome)]
    return "\n".join(lines) + "\n"
