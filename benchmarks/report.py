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
from peers import EXACT, OURS

_PACKAGES = (
    "thetatree",
    "numpy",
    "scikit-learn",
    "scikit-learn-intelex",
    "lightgbm",
    "xgboost",
    "catboost",
    "ydf",
    "snapml",
    "lleaves",
    "treelite",
)

HEADER = (
    "case",
    "library",
    "time",
    "lowest to highest",
    "CPU time",
    "ours is as fast ×",
    "peak memory above input",
    "held out",
    "leaves",
)
TARGET_HEADER = ("case", "against", "its time", "ours", "to reach ×", "figure ×", "reached", "by CPU time ×")


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

    @property
    def cpu(self) -> float:
        """Median CPU time, of all threads together."""
        return statistics.median(run["cpu"] for run in self.runs)


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
        rows.append(
            (
                *first,
                _duration(figures.seconds) + (f" ({figures.note})" if figures.note else ""),
                f"{_duration(min(seconds))} to {_duration(max(seconds))}",
                _duration(statistics.median(run["cpu"] for run in figures.runs)),
                "" if ratio is None else f"{ratio:.2f}",
                _memory(figures.runs),
                _quality(case, figures.runs),
                "–" if figures.runs[0]["leaves"] is None else f"{figures.runs[0]['leaves']:,.0f}",
            )
        )
    return rows


def _against(who: str, figures: Figures) -> bool:
    """Whether a library is one of those that a target names."""
    if figures.library == OURS or figures.seconds is None:
        return False
    exact = figures.library in EXACT
    return {"fastest": True, "fastest exact": exact, "fastest histogram": not exact}.get(
        who, figures.library == who
    )


def targets_of(outcome: Outcome) -> list[tuple[str, ...]]:
    """Return a row for each target of the case."""
    ours = next((f.seconds for f in outcome.figures if f.library == OURS), None)
    rows = []
    for who, at_least in outcome.case.at_least.items():
        peers = [f for f in outcome.figures if _against(who, f)]
        if ours is None or not peers:
            continue
        best = min(peers, key=lambda f: f.seconds or 0.0)
        ratio = (best.seconds or 0.0) / ours
        name = who if who == best.library else f"{who}: {best.library}"
        times = (_duration(best.seconds or 0.0), _duration(ours))
        reached = "yes" if ratio >= at_least else "no"
        by_cpu = best.cpu / next(f.cpu for f in outcome.figures if f.library == OURS)
        rows.append(
            (outcome.case.title, name, *times, f"{at_least:g}", f"{ratio:.2f}", reached, f"{by_cpu:.2f}")
        )
    return rows


def as_text(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows under their header, in columns."""
    table = [header, *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
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
Each figure is the median of {repeat} measurements, each in a fresh process, the libraries taking
turns; what takes longer than ten seconds is measured once. The rows are in memory before the clock
starts; a fit of 64 rows goes before, so that imports are not counted. Fitting includes everything
from those rows to the fitted tree: checks, conversion, LightGBM's `Dataset`. Work of milliseconds
is repeated in the process and its median taken.

Peak memory is the highest resident size during the work less that just before. thetatree, scikit-
learn and YDF look at every cut between two values; the others put numbers into some 255 bins.
scikit-learn grows a tree on one thread. Boosters grow one tree (one per class, where there are more
than two) at learning rate 1. "Ours is as fast ×" is the library's time divided by ours. CPU time is
that of all threads together: on a machine that does other work as well, it says more than the
clock.
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
    lines += [
        "",
        "## Targets",
        "",
        "| " + " | ".join(TARGET_HEADER) + " |",
        "|" + "---|" * len(TARGET_HEADER),
    ]
    for outcome in outcomes:
        lines += ["| " + " | ".join(row) + " |" for row in targets_of(outcome)]
    return "\n".join(lines) + "\n"
