"""Sketches, measured: `python benchmarks/sketches.py [--quick] [--cases fit build memory] [--repeat 5]`.

fit: a tree from a sketch set in memory, beside a plain loop over the datasketches package's set operations;
fit-10k: of ten thousand flags. read: a set's file. build: sketches from rows in memory, beside a plain loop
over that package's sketches. parquet: sketches from a file, beside a scan that does nothing with the rows.
memory: the builder's peak while batches stream by, more and more of them. Each measurement runs in a fresh
process and they take turns; the table goes to the terminal and to benchmarks/results/sketches.md.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from measure import _peak_of
from numpy.typing import NDArray
from report import _duration, machine

import thetatree as tt

HERE = Path(__file__).resolve().parent
SET, ROWS = "set.parquet", "rows.parquet"
LG_K, DEPTH, PEER_DEPTH = 12, 8, 3
FIT_KEYS, FIT_FLAGS = 1_000_000, 200
WIDE_KEYS, WIDE_FLAGS = 60_000, 10_000
BUILD_FLAGS, PEER_ROWS = 100, 20_000
PARQUET_ROWS = 4_000_000
BATCH, BATCH_FLAGS = 1 << 18, 20
AT_ONCE = 1 << 26  # cells that are made at once
QUICK = 0.02  # share of the rows in a quick run

TARGET_FIT, TARGET_WIDE = 0.005, 1.0
TARGET_READ = 1e9
TARGET_BUILD = 1e9
TARGET_SCANS = 2.0

Flags = NDArray[np.bool_]


class Law(NamedTuple):
    """How keys come by their flags and their class: through a few tastes that nobody sees."""

    prevalence: NDArray[np.float64]
    tastes: NDArray[np.float64]  # taste x flag


def law_of(n_flags: int) -> Law:
    """Prevalences from 1/2 down to 1/200 and eight tastes."""
    rng = np.random.default_rng(7)
    prevalence = np.geomspace(0.5, 0.005, n_flags)
    return Law(prevalence, rng.normal(scale=1.2, size=(8, n_flags)) * (rng.random((8, n_flags)) < 0.3))


def made_rows(law: Law, first: int, n: int) -> tuple[Flags, NDArray[np.int64]]:
    """Give the flags of n keys, and their class: 1 for three in ten."""
    rng = np.random.default_rng([first, 11])
    taste = rng.normal(size=(n, len(law.tastes)))
    logit = np.log(law.prevalence / (1 - law.prevalence)) + taste @ law.tastes
    flags = rng.random((n, len(law.prevalence)), dtype=np.float32) < 1 / (1 + np.exp(-logit))
    return flags, (taste[:, :3].sum(1) + rng.normal(size=n) > 1.05).astype(np.int64)


def made_batches(n: int, n_flags: int) -> Iterator[pa.RecordBatch]:
    """Give the same rows a batch at a time."""
    law, step = law_of(n_flags), min(BATCH // 4, AT_ONCE // n_flags)
    for first in range(0, n, step):
        flags, y = made_rows(law, first, min(step, n - first))
        columns = {f"f{j:03d}": pa.array(flags[:, j]) for j in range(n_flags)}
        yield pa.RecordBatch.from_pydict({"key": first + np.arange(len(y)), "y": y, **columns})


# What is measured, each called in a process of its own.


def fit_ours(folder: Path, size: int, *, depth: int, significance: float | None) -> dict[str, Any]:
    """Grow from a set in memory; the median of eleven in the process, after one that does not count."""
    made = tt.SketchSet.read(folder / SET)
    seconds = []
    for _ in range(12):
        model = tt.ThetaSketchDecisionTreeClassifier(max_depth=depth, significance=significance)
        start = time.perf_counter()
        model.fit(made)
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds[1:]), "inner": model.tree_.node_count - model.tree_.n_leaves}


def read_ours(folder: Path, size: int) -> dict[str, Any]:
    """Read the set's file; the median of five in the process, after one that does not count."""
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        tt.SketchSet.read(folder / SET)
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds[1:]), "bytes": (folder / SET).stat().st_size}


def fit_peer(folder: Path, size: int, *, depth: int) -> dict[str, Any]:
    """Grow by the package's own set operations: at each node, for each class and flag, an intersection and a
    difference, chained through the node's sketch.
    """
    import datasketches as ds

    table = tt.SketchSet.read(folder / SET).to_arrow().to_pylist()
    read = ds.compact_theta_sketch.deserialize
    totals = [read(row["sketch"]) for row in table if row["feature"] is None]
    flags = [[read(r["sketch"]) for r in table if r["class"] == c and r["feature"]] for c in ("0", "1")]
    pairs = list(zip(*flags, strict=True))
    nodes, inner, by_level = [totals], 0, []
    for _ in range(depth):
        start = time.perf_counter()
        found = [_peer_split(node, pairs) for node in nodes]
        by_level.append(time.perf_counter() - start)
        inner += len(nodes)
        nodes = [child for children in found for child in children]
    return {"seconds": sum(by_level), "inner": inner, "by_level": by_level}


def _peer_split(node: list[Any], pairs: list[Any]) -> list[list[Any]]:
    import datasketches as ds

    best, children = -1.0, [node, node]
    for pair in pairs:
        left, right = [], []
        for whole, present in zip(node, pair, strict=True):
            both = ds.theta_intersection()
            both.update(whole)
            both.update(present)
            left.append(both.get_result())
            right.append(ds.theta_a_not_b().compute(whole, present))
        purity = 0.0
        for side in (left, right):
            counts = [sketch.get_estimate() for sketch in side]
            if sum(counts):
                purity += sum(count * count for count in counts) / sum(counts)
        if purity > best:
            best, children = purity, [left, right]
    return children


def build_ours(folder: Path, size: int) -> dict[str, Any]:
    """Sketch rows that are in memory as booleans."""
    flags, y = np.empty((BUILD_FLAGS, size), np.bool_), np.empty(size, np.int64)
    part, classes = made_rows(law_of(BUILD_FLAGS), 0, min(size, 4 * BATCH))
    for first in range(0, size, len(part)):  # the same flags again, for other keys
        n = min(len(part), size - first)
        flags[:, first : first + n], y[first : first + n] = part[:n].T, classes[:n]
    frame = pd.DataFrame({"key": np.arange(size), "y": y}, copy=False)
    frame = pd.concat(
        [frame, pd.DataFrame(flags.T, columns=[f"f{j}" for j in range(BUILD_FLAGS)], copy=False)],
        axis=1,
    )
    tt.sketch(frame.iloc[:1000], key="key", target="y", lg_k=LG_K, n_jobs=2)
    del part, classes, y, flags
    gc.collect()
    work = partial(tt.sketch, frame, key="key", target="y", lg_k=LG_K, n_jobs=2)
    _, seconds, _, peak = _peak_of(work)
    return {"seconds": seconds, "peak": peak, "cells": size * BUILD_FLAGS}


def build_peer(folder: Path, size: int) -> dict[str, Any]:
    """Update a sketch of the package with each key that has the flag."""
    import datasketches as ds

    flags, y = made_rows(law_of(BUILD_FLAGS), 0, size)
    start = time.perf_counter()
    for label in (0, 1):
        for column in flags.T:
            sketch = ds.update_theta_sketch(LG_K)
            for key in np.flatnonzero(column & (y == label)).tolist():
                sketch.update(key)
            sketch.compact()
    return {"seconds": time.perf_counter() - start, "cells": size * BUILD_FLAGS}


def parquet_ours(folder: Path, size: int) -> dict[str, Any]:
    """Sketch the rows of a file."""
    path = folder / ROWS
    start = time.perf_counter()
    tt.sketch(path, key="key", target="y", lg_k=LG_K, n_jobs=2)
    return {"seconds": time.perf_counter() - start, "cells": size * BUILD_FLAGS}


def parquet_scan(folder: Path, size: int, *, whole: bool) -> dict[str, Any]:
    """Read the file's columns and do nothing with them: as a table, or batch by batch."""
    start = time.perf_counter()
    if whole:
        pq.read_table(folder / ROWS)
    else:
        for _ in pq.ParquetFile(folder / ROWS).iter_batches(BATCH):
            pass
    return {"seconds": time.perf_counter() - start, "cells": size * BUILD_FLAGS}


def stream_ours(folder: Path, size: int) -> dict[str, Any]:
    """Sketch batches that come and go: only the sketches may stay."""
    flags, y = made_rows(law_of(BATCH_FLAGS), 0, BATCH)
    columns = {f"f{j}": pa.array(flags[:, j]) for j in range(BATCH_FLAGS)}

    def batches(n: int) -> Iterator[pa.RecordBatch]:
        for first in range(0, n, BATCH):
            rows = min(BATCH, n - first)
            batch = pa.RecordBatch.from_pydict({"key": np.arange(first, first + BATCH), "y": y, **columns})
            yield batch.slice(0, rows)

    tt.sketch(batches(BATCH), key="key", target="y", lg_k=LG_K, n_jobs=2)
    work = partial(tt.sketch, batches(size), key="key", target="y", lg_k=LG_K, n_jobs=2)
    _, seconds, _, peak = _peak_of(work)
    return {"seconds": seconds, "peak": peak, "cells": size * BATCH_FLAGS}


@dataclass
class Job:
    """One line of the result."""

    name: str
    title: str
    work: Callable[[Path, int], dict[str, Any]]
    rows: int = 0
    scaled: bool = True
    runs: list[dict[str, Any]] = field(default_factory=list)

    def median(self, what: str) -> float:
        """Give the median of a figure over the runs."""
        return float(statistics.median(run[what] for run in self.runs))


CASES = ("fit", "fit-10k", "read", "build", "build-10M", "parquet", "memory", "memory-100M")
OPT_IN = ("fit-10k", "build-10M", "memory-100M")
_LOOP = "loop over the package's update"


def jobs_of(case: str) -> list[Job]:
    """Say what a case consists of."""
    if case == "fit":
        return [
            Job("gate", f"depth {DEPTH}", partial(fit_ours, depth=DEPTH, significance=0.05)),
            Job("open", f"depth {DEPTH}, no gate", partial(fit_ours, depth=DEPTH, significance=None)),
            Job(
                "few", f"depth {PEER_DEPTH}, no gate", partial(fit_ours, depth=PEER_DEPTH, significance=None)
            ),
            Job("peer", f"depth {PEER_DEPTH}, package's operations", partial(fit_peer, depth=PEER_DEPTH)),
        ]
    if case == "fit-10k":
        return [
            Job(
                "gate",
                f"{WIDE_FLAGS:,} flags, depth {DEPTH}",
                partial(fit_ours, depth=DEPTH, significance=0.05),
            ),
            Job(
                "open",
                f"{WIDE_FLAGS:,} flags, depth {DEPTH}, no gate",
                partial(fit_ours, depth=DEPTH, significance=None),
            ),
            Job("read", "reading the set's file", read_ours),
        ]
    if case == "read":
        return [Job("ours", f"{FIT_FLAGS} flags, 2 classes", read_ours)]
    if case == "parquet":
        size = f"{PARQUET_ROWS / 1e6:g}M × {BUILD_FLAGS} flags"
        return [
            Job("ours", f"{size}, sketched", parquet_ours, PARQUET_ROWS),
            Job("table", "read as a table", partial(parquet_scan, whole=True), PARQUET_ROWS),
            Job("batches", "read in batches", partial(parquet_scan, whole=False), PARQUET_ROWS),
        ]
    if case.startswith("build"):
        rows = 10_000_000 if case.endswith("10M") else 1_000_000
        peer = Job("peer", _LOOP, build_peer, PEER_ROWS, scaled=False)
        return [Job("ours", f"{rows / 1e6:g}M × {BUILD_FLAGS} flags", build_ours, rows), peer]
    sizes = [100_000_000] if case.endswith("100M") else [1_000_000, 4_000_000, 16_000_000]
    return [Job(str(n), f"{n / 1e6:g}M × {BATCH_FLAGS} flags in batches", stream_ours, n) for n in sizes]


def _measured(case: str, number: int, folder: Path, rows: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", case, str(number), str(folder), str(rows)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def run_case(case: str, repeat: int, scale: float) -> list[Job]:
    """Measure the jobs of a case, taking turns."""
    jobs = jobs_of(case)
    with tempfile.TemporaryDirectory(prefix="thetatree-bench-") as folder:
        _prepare(case, Path(folder), scale)
        for turn in range(repeat):
            for number, job in enumerate(jobs):
                rows = int(job.rows * scale) if job.scaled else job.rows
                job.runs.append(_measured(case, number, Path(folder), rows))
                said = f"  {case}, round {turn + 1}: {job.title} {job.runs[-1]['seconds']:.4g} s"
                print(said, file=sys.stderr, flush=True)
    return jobs


def _prepare(case: str, folder: Path, scale: float) -> None:
    """Make the files that a case reads."""
    keys, flags = (WIDE_KEYS, WIDE_FLAGS) if case == "fit-10k" else (FIT_KEYS, FIT_FLAGS)
    if case in ("fit", "fit-10k", "read"):
        n = int(keys * max(scale, 0.1))
        made = tt.sketch(made_batches(n, flags), key="key", target="y", lg_k=LG_K)
        made.write(folder / SET)
    if case == "parquet":
        batches = made_batches(int(PARQUET_ROWS * scale), BUILD_FLAGS)
        first = next(batches)
        with pq.ParquetWriter(folder / ROWS, first.schema) as file:
            for batch in chain([first], batches):
                file.write_batch(batch)


HEADER = ("case", "what", "time", "lowest to highest", "rate", "peak memory", "remark")


def rows_of(case: str, jobs: list[Job]) -> list[tuple[str, ...]]:
    """Give the lines of one case."""
    remarks = _fit_remarks(jobs) if case == "fit" else ["" for _ in jobs]
    if case == "fit-10k":
        for i in (0, 1):
            remarks[i] = f"{jobs[i].median('inner'):.0f} splits"
        remarks[0] += f"; target {TARGET_WIDE:g} s: {_reached(jobs[0].median('seconds') <= TARGET_WIDE)}"
    if case in ("read", "fit-10k"):
        size = jobs[-1].median("bytes")
        rate = size / jobs[-1].median("seconds")
        shown = f"{size / 1e6:,.0f} MB at {rate / 1e9:.2f} GB/s"
        remarks[-1] = f"{shown}; target {TARGET_READ / 1e9:g} GB/s: {_reached(rate >= TARGET_READ)}"
    if case == "parquet":
        scans = jobs[0].median("seconds") / min(job.median("seconds") for job in jobs[1:])
        remarks[0] = (
            f"{scans:.2f} × the faster scan; target {TARGET_SCANS:g} ×: {_reached(scans <= TARGET_SCANS)}"
        )
    if case.startswith("build"):
        rate = jobs[0].median("cells") / jobs[0].median("seconds")
        peer = jobs[1].median("cells") / jobs[1].median("seconds")
        target = f"target {TARGET_BUILD / 1e6:,.0f} M cells/s: {_reached(rate >= TARGET_BUILD)}"
        remarks[0] = f"{target}; {rate / peer:,.0f} × the loop"
        remarks[1] = f"{PEER_ROWS:,} rows"
    lines = []
    for job, remark in zip(jobs, remarks, strict=True):
        seconds = [run["seconds"] for run in job.runs]
        cells = job.median("cells") / job.median("seconds") / 1e6 if "cells" in job.runs[0] else None
        peak = job.median("peak") / 2**20 if job.runs[0].get("peak") is not None else None
        lines.append(
            (
                case,
                job.title,
                _duration(job.median("seconds")),
                f"{_duration(min(seconds))} to {_duration(max(seconds))}",
                "" if cells is None else f"{cells:,.3g} M cells/s",
                "" if peak is None else f"{peak:,.1f} MiB",
                remark,
            )
        )
    return lines


def _reached(holds: bool) -> str:
    return "reached" if holds else "not reached"


def _fit_remarks(jobs: list[Job]) -> list[str]:
    gate, no_gate, few, peer = jobs
    levels = np.median([run["by_level"] for run in peer.runs], axis=0)
    per_node = levels[-1] / 2 ** (PEER_DEPTH - 1)
    remarks = []
    for job in (gate, no_gate):
        more = max(0.0, job.median("inner") - peer.median("inner"))
        loop = peer.median("seconds") + more * per_node
        inner = f"{job.median('inner'):.0f} splits; the loop would take about {loop:.2f} s for as many"
        remarks.append(f"{inner}, {loop / job.median('seconds'):,.0f} ×")
    reached = _reached(gate.median("seconds") <= TARGET_FIT)
    remarks[0] += f"; target {TARGET_FIT * 1e3:.0f} ms: {reached}"
    ratio = peer.median("seconds") / few.median("seconds")
    shown = ", ".join(f"{level * 1e3:.0f}" for level in levels)
    return [
        *remarks,
        f"{few.median('inner'):.0f} splits",
        f"by level {shown} ms; {ratio:,.0f} × ours of this depth",
    ]


HOW = f"""\
Each figure is the median of {{repeat}} measurements, each in a fresh process, taking turns.

*fit*: {FIT_KEYS / 1e6:g}M keys, {FIT_FLAGS} flags with prevalences from 1/2 to 1/200 that hang together
through eight hidden tastes, 2 classes (three in ten), lg_k {LG_K}, present sketches only, criterion gini. The
set is in memory; a fit includes everything from there to the fitted estimator, and in each process the median
of eleven counts. The loop holds the same sketches as the package's own objects and makes, per node, class and
flag, one `theta_intersection` and one `theta_a_not_b`. It stops at depth {PEER_DEPTH}; what as many splits as
ours would take is extrapolated at the rate of its last level. *fit-10k*: {WIDE_KEYS:,} keys and
{WIDE_FLAGS:,} flags of the same kind.

*read*: `SketchSet.read` of the file that `write` made, in the page cache: checksums, the sketches' own rules
and how they fit together are checked.

*build*: booleans in memory, integer keys, a class column; 2 threads. Beyond a million rows flags come again,
with other keys. The loop updates one sketch per class and flag with every key that has it, on {PEER_ROWS:,}
rows; compare rates. *parquet*: such columns in a file in the page cache, with pyarrow's own compression;
beside it, pyarrow reading all of them.

*memory*: batches of {BATCH:,} rows that are made, sketched and forgotten (the time includes making them);
the highest resident size during the work less that just before, when one batch had been sketched already.
Flat means that memory does not depend on the number of rows.
"""


def _table(lines: list[tuple[str, ...]]) -> str:
    table = [HEADER, *lines]
    widths = [max(len(row[i]) for row in table) for i in range(len(HEADER))]
    text = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join(text)


def _markdown(lines: list[tuple[str, ...]], about: list[str], repeat: int) -> str:
    text = ["# Sketches, measured", "", *(f"- {line}" for line in about), ""]
    text += ["Made by `python benchmarks/sketches.py`.", "", HOW.format(repeat=repeat)]
    text += ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join([*text, *("| " + " | ".join(line) + " |" for line in lines)]) + "\n"


def _arguments() -> argparse.Namespace:
    usual = [case for case in CASES if case not in OPT_IN]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:g} of the rows, two rounds")
    parser.add_argument("--cases", nargs="+", choices=[*CASES, "all"], default=usual, metavar="CASE")
    parser.add_argument("--repeat", type=int, help="rounds; 5 by default, 2 with --quick")
    parser.add_argument("--out", type=Path, help="the Markdown file; default benchmarks/results/sketches.md")
    return parser.parse_args()


def main() -> None:
    """Measure, print and write."""
    if sys.argv[1:2] == ["--one"]:
        case, number, folder, rows = sys.argv[2:6]
        print(json.dumps(jobs_of(case)[int(number)].work(Path(folder), int(rows))))
        return
    arguments = _arguments()
    scale = QUICK if arguments.quick else 1.0
    repeat = arguments.repeat or (2 if arguments.quick else 5)
    names = CASES if "all" in arguments.cases else tuple(dict.fromkeys(arguments.cases))
    lines = [line for case in names for line in rows_of(case, run_case(case, repeat, scale))]
    about = [*machine(2), f"peer: datasketches {importlib.metadata.version('datasketches')}"]
    if scale != 1:
        about.append(f"**A quick run: {scale:g} of the rows. Not for quoting.**")
    print("\n".join(about) + "\n\n" + _table(lines))
    out = arguments.out or HERE / "results" / ("sketches-quick.md" if arguments.quick else "sketches.md")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(_markdown(lines, about, repeat), encoding="utf-8")
    print(f"\n{out}")


if __name__ == "__main__":
    main()
