"""Sketching a large Parquet folder: Arrow and DuckDB into our builder, beside a plain DuckDB scan and Spark.

`python benchmarks/engines.py write FOLDER ROWS` makes the rows, `python benchmarks/engines.py FOLDER
[WAY[=FILES] ...]` measures each way (all of them by default) in a process of its own, Spark's also on the
first so many files, prints a table and writes benchmarks/results/engines.md. Memory is the process's peak, of
Spark with its JVM.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FLAGS, NUMBERS, BINS, LG_K = 45, 5, 8, 12
PART = 1_000_000
NAMES = [f"flag{i}" for i in range(FLAGS)] + [f"number{i}" for i in range(NUMBERS)]


def write(folder: Path, rows: int) -> None:
    """Write the rows, a million to a file; files that are there already stay."""
    folder.mkdir(exist_ok=True)
    for part in range(-(-rows // PART)):
        path = folder / f"part{part:04}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(part)
        n = min(PART, rows - part * PART)
        bits = np.unpackbits(rng.integers(0, 256, (FLAGS, n // 8 + 1), np.uint8), axis=1)[:, :n]
        columns: dict[str, Any] = {"id": np.arange(n) + part * PART}
        columns["y"] = pa.array(np.where(bits[0] & bits[1], "yes", "no")).dictionary_encode()
        columns |= {f"flag{i}": bits[i].astype(bool) for i in range(FLAGS)}
        columns |= {f"number{i}": rng.integers(0, 1000, n).astype(np.int32) for i in range(NUMBERS)}
        pq.write_table(pa.table(columns), path)


def builder(folder: Path) -> Any:
    import thetatree as tt

    query = "SELECT * FROM data"
    return tt.sketch(str(folder / "*.parquet"), "id", "y", NAMES, lg_k=LG_K, bins=BINS, sql=query)


def builder_arrow(folder: Path) -> Any:
    import thetatree as tt

    return tt.sketch(str(folder / "*.parquet"), "id", "y", NAMES, lg_k=LG_K, bins=BINS)


def scan(folder: Path) -> Any:
    import duckdb

    sums = ", ".join(f"sum({name}::INT)" for name in ["id % 7", *NAMES])
    return duckdb.sql(f"SELECT y, {sums} FROM '{folder}/*.parquet' GROUP BY y").fetchall()


def spark(folder: Path, files: int) -> int:
    """Sketch by Spark; give the peak memory of its JVM."""
    from pyspark.sql import SparkSession

    from thetatree.engine.spark import sketch

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = (
        session.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    paths = [str(path) for path in sorted(folder.glob("*.parquet"))[:files]]
    sketch(session.read.parquet(*paths), "id", "y", NAMES, lg_k=LG_K, bins=BINS)
    java = Path(f"/proc/{session.sparkContext._gateway.proc.pid}/status").read_text(encoding="utf-8")
    return 1024 * int(java.partition("VmHWM:")[2].split()[0])


WAYS = {"scan": scan, "arrow": builder_arrow, "duckdb": builder}
LABELS = {
    "scan": "DuckDB: sum of every column by class",
    "arrow": "`tt.sketch` of the files",
    "duckdb": "`tt.sketch` with `sql=`: DuckDB streams into the builder",
    "spark": "Spark local, `engine.spark.sketch`",
}
RESULTS = Path(__file__).parent / "results" / "engines.md"


def measured(way: str, folder: Path, files: int = 0) -> dict[str, float]:
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, str(folder), str(files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def line(way: str, rows: int, found: dict[str, float]) -> str:
    """Write a measurement as a line of the table."""
    rate = rows / found["seconds"]
    return (
        f"| {LABELS[way]} | {rows:,} | {found['seconds']:.1f} s | {rate / 1e6:.2f} M | "
        f"{rate * len(NAMES) / 1e6:.0f} M | {found['peak'] / 1e6:,.0f} MB |"
    )


def run(way: str, folder: Path, files: int) -> None:
    """Time one way in this process."""
    start = time.perf_counter()
    java = 0
    if way == "spark":
        java = spark(folder, files)
    else:
        WAYS[way](folder)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + java
    print(json.dumps({"seconds": seconds, "peak": peak}))


def main() -> None:
    if sys.argv[1] == "--way":
        run(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        return
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
        return
    folder = Path(sys.argv[1])
    files = sorted(folder.glob("*.parquet"))
    rows = [pq.ParquetFile(path).metadata.num_rows for path in files]
    size = sum(path.stat().st_size for path in files)
    versions = ", ".join(f"{name} {version(name)}" for name in ("thetatree", "duckdb", "pyarrow", "pyspark"))
    said = [
        f"{sum(rows):,} rows × {len(NAMES)} features ({FLAGS} flags, {NUMBERS} numbers cut at {BINS} "
        f"quantiles), two classes, lg_k {LG_K}; {size / 1e9:.2f} GB of Parquet in {len(files)} files; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; "
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {versions}.\n",
        "| way | rows | time | rows/s | cells/s | peak memory |\n|---|--:|--:|--:|--:|--:|",
    ]
    print(*said, sep="\n", flush=True)
    for given in sys.argv[2:] or LABELS:
        way, _, first = given.partition("=")
        some = int(first or len(files))
        said.append(line(way, sum(rows[:some]), measured(way, folder, some)))
        print(said[-1], flush=True)
    RESULTS.write_text("# Sketching files, side by side\n\n" + "\n".join(said) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
