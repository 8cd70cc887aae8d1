"""How time and memory grow with the work: `python benchmarks/growth.py [--repeat 3] [--sweeps rows ...]`.

Each sweep changes one thing: rows, columns, depth, or the size of the sketches. Every point is measured in a
fresh process, with one thread and with two; the table and the plot go to benchmarks/results/growth.md and
growth.svg. The exponent between two points says how the time goes with the work: 1 is linear.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cases import _flags, _numbers
from measure import _peak_of
from report import machine

RESULTS = Path(__file__).resolve().parent / "results"
_THREADS = (1, 2)
_UNLIMITED = 64  # stands for no limit on the axis of depths


@dataclass(frozen=True)
class Sweep:
    """What is changed, over which values, and what is fitted at one of them."""

    title: str
    axis: str
    values: tuple[int, ...]
    work: Callable[[int, int], Callable[[], Any]]


def _rows(n_rows: int, n_columns: int, depth: int | None, n_threads: int) -> Callable[[], Any]:
    import thetatree as tt

    X, y = _numbers(n_columns)(np.random.default_rng(11), n_rows)
    return _after_a_small_fit(tt.CARTClassifier(max_depth=depth, n_jobs=n_threads), X, y)


def _flag_rows(n_rows: int, n_threads: int) -> Callable[[], Any]:
    import thetatree as tt

    X, y = _flags(np.random.default_rng(11), n_rows)
    return _after_a_small_fit(tt.CARTClassifier(max_depth=8, n_jobs=n_threads), X, y)


def _after_a_small_fit(model: Any, X: Any, y: Any) -> Callable[[], Any]:
    """Imports are nobody's cost."""
    model.fit(X[:64], y[:64])
    return lambda: model.fit(X, y)


def _sketches(lg_k: int, n_threads: int) -> Callable[[], Any]:
    from scale import checked, draw

    import thetatree as tt

    made = checked(*draw(200, 2, lg_k, 1_000_000), lg_k)
    return lambda: tt.ThetaSketchDecisionTreeClassifier(max_depth=6).fit(made)


SWEEPS = {
    "rows": Sweep(
        "rows × 30 numbers, depth 8",
        "rows",
        (10_000, 100_000, 1_000_000, 10_000_000),
        lambda n, threads: _rows(n, 30, 8, threads),
    ),
    "flags": Sweep(
        "rows × 200 flags (bool), depth 8", "rows", (10_000, 100_000, 1_000_000, 10_000_000), _flag_rows
    ),
    "columns": Sweep(
        "100,000 rows × columns of numbers, depth 8",
        "columns",
        (10, 30, 100, 300, 1_000),
        lambda n, threads: _rows(100_000, n, 8, threads),
    ),
    "depth": Sweep(
        f"1M × 30 numbers, by depth ({_UNLIMITED}: no limit)",
        "depth",
        (1, 2, 4, 8, 16, 32, _UNLIMITED),
        lambda n, threads: _rows(1_000_000, 30, None if n == _UNLIMITED else n, threads),
    ),
    "k": Sweep(
        "theta sketches, 200 flags × 2 classes, by k",
        "k",
        tuple(1 << lg_k for lg_k in range(8, 17)),
        lambda k, threads: _sketches(k.bit_length() - 1, threads),
    ),
}


def _point(name: str, value: int, n_threads: int) -> dict[str, float]:
    """Measure one point in this process."""
    work = SWEEPS[name].work(value, n_threads)
    rounds = [_peak_of(work) for _ in range(3)]
    return {
        "seconds": min(seconds for _, seconds, _, _ in rounds),
        "peak": max(peak or 0 for *_, peak in rounds),
    }


def _in_a_process(name: str, value: int, n_threads: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--point", name, str(value), str(n_threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def _measure(name: str, repeat: int) -> list[dict[str, Any]]:
    sweep = SWEEPS[name]
    threads = (1,) if name == "k" else _THREADS  # a tree from sketches is grown on one thread
    points: list[dict[str, Any]] = []
    for value in sweep.values:
        point: dict[str, Any] = {"value": value}
        for n_threads in threads:
            runs = [_in_a_process(name, value, n_threads) for _ in range(repeat)]
            point[f"seconds {n_threads}"] = statistics.median(run["seconds"] for run in runs)
            point["peak"] = max(run["peak"] for run in runs)
        points.append(point)
        print(f"  {name} {value}: {point}", file=sys.stderr, flush=True)
    return points


def _exponent(points: list[dict[str, Any]], i: int, key: str) -> str:
    if i == 0:
        return ""
    a, b = points[i - 1], points[i]
    return f"{math.log(b[key] / a[key]) / math.log(b['value'] / a['value']):.2f}"


def _table(name: str, points: list[dict[str, Any]]) -> list[str]:
    sweep = SWEEPS[name]
    both = "seconds 2" in points[0]
    lines = [
        f"## {sweep.title}",
        "",
        f"| {sweep.axis} | one thread | exponent |"
        + (" two threads | × |" if both else "")
        + " peak memory above input |",
        "|---|---|---|" + ("---|---|" if both else "") + "---|",
    ]
    for i, point in enumerate(points):
        alone = point["seconds 1"]
        line = f"| {point['value']:,} | {alone * 1e3:,.1f} ms | {_exponent(points, i, 'seconds 1')} |"
        if both:
            line += f" {point['seconds 2'] * 1e3:,.1f} ms | {alone / point['seconds 2']:.2f} |"
        lines.append(f"{line} {point['peak'] / 2**20:,.0f} MiB |")
    return [*lines, ""]


def _plot(measured: dict[str, list[dict[str, Any]]], file: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "growth"
    figure, axes = plt.subplots(2, len(measured), figsize=(3.6 * len(measured), 6), squeeze=False)
    for j, (name, points) in enumerate(measured.items()):
        x = [point["value"] for point in points]
        for n_threads in _THREADS:
            key = f"seconds {n_threads}"
            if key in points[0]:
                axes[0, j].plot(
                    x, [p[key] for p in points], marker="o", label=f"{n_threads} thread{'s'[: n_threads - 1]}"
                )
        first = points[0]
        axes[0, j].plot(
            x, [first["seconds 1"] * v / x[0] for v in x], ls=":", color="grey", label="linear from the first"
        )
        axes[1, j].plot(x, [max(p["peak"], 2**16) / 2**20 for p in points], marker="o", color="tab:green")
        axes[0, j].set_title(SWEEPS[name].title, fontsize=8)
        for i, label in enumerate(("seconds", "MiB above input")):
            axes[i, j].set(xscale="log", yscale="log", xlabel=SWEEPS[name].axis)
            if j == 0:
                axes[i, j].set_ylabel(label)
    axes[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sweeps", nargs="+", choices=list(SWEEPS), default=list(SWEEPS), metavar="SWEEP")
    parser.add_argument(
        "--repeat", type=int, default=1, help="processes a point; each takes the best of three fits"
    )
    parser.add_argument("--point", nargs=3, metavar=("SWEEP", "VALUE", "THREADS"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS / "growth.md")
    arguments = parser.parse_args()
    if arguments.point:
        name, value, n_threads = arguments.point
        print(json.dumps(_point(name, int(value), int(n_threads))))
        return
    measured = {name: _measure(name, arguments.repeat) for name in arguments.sweeps}
    lines = [
        "# How time and memory grow",
        "",
        *(f"- {line}" for line in machine(2)),
        "",
        "![the same as curves](growth.svg)",
        "",
    ]
    for name, points in measured.items():
        lines += _table(name, points)
    arguments.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    _plot(measured, arguments.out.with_suffix(".svg"))
    print(arguments.out)


if __name__ == "__main__":
    main()
