"""Sketching a large Parquet folder: DuckDB into our builder, beside a plain DuckDB scan and Spark.

`python benchmarks/engines.py [ROWS [SPARK_ROWS]]` writes the rows to a folder of its own below the system's
temporary one, measures each way in a process of its own, prints a table, and removes the rows.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FLAGS, NUMBERS, BINS, LG_K = 45, 5, 8, 12
PART = 1_000_000
NAMES = [f"flag{i}" for i in range(FLAGS)] + [f"number{i}" for i in range(NUMBERS)]


def write(folder: Path, rows: int) -> None:
    """Write the rows, a million to a file."""
    for part in range(-(-rows // PART)):
        rng = np.random.default_rng(part)
        n = min(PART, rows - part * PART)
        bits = np.unpackbits(rng.integers(0, 256, (FLAGS, n // 8 + 1), np.uint8), axis=1)[:, :n]
        columns: dict[str, Any] = {"id": np.arange(n) + part * PART}
        columns["y"] = pa.array(np.where(bits[0] & bits[1], "yes", "no")).dictionary_encode()
        columns |= {f"flag{i}": bits[i].astype(bool) for i in range(FLAGS)}
        columns |= {f"number{i}": rng.integers(0, 1000, n).astype(np.int32) for i in range(NUMBERS)}
        pq.write_table(pa.table(columns), folder / f"part{part:04}.parquet")


def builder(folder: Path) -> Any:
    import thetatree as tt

    return tt.sketch(str(folder / "*.parquet"), key="id", target="y", features=NAMES, lg_k=LG_K, bins=BINS)


def builder_arrow(folder: Path) -> Any:
    import thetatree as tt

    return tt.sketch(sorted(folder.glob("*.parquet")), "id", "y", NAMES, lg_k=LG_K, bins=BINS)


def scan(folder: Path) -> Any:
    import duckdb

    sums = ", ".join(f"sum({name}::INT)" for name in ["id % 7", *NAMES])
    return duckdb.sql(f"SELECT y, {sums} FROM '{folder}/*.parquet' GROUP BY y").fetchall()


def spark(folder: Path) -> Any:
    from pyspark.sql import SparkSession

    from thetatree.engine.spark import sketch

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = (
        session.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    return sketch(session.read.parquet(str(folder)), "id", "y", NAMES, lg_k=LG_K, bins=BINS)


WAYS = {"duckdb": builder, "arrow": builder_arrow, "scan": scan, "spark": spark}


def measured(way: str, folder: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def report(label: str, rows: int, found: dict[str, float]) -> None:
    rate = rows / found["seconds"]
    cells = rate * len(NAMES)
    print(
        f"| {label} | {rows:,} | {found['seconds']:.1f} s | {rate / 1e6:.2f} M | {cells / 1e6:.0f} M | "
        f"{found['peak'] / 1e6:,.0f} MB |",
        flush=True,
    )


def main() -> None:
    if sys.argv[1:2] == ["--way"]:
        start = time.perf_counter()
        WAYS[sys.argv[2]](Path(sys.argv[3]))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": seconds, "peak": peak}))
        return
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000
    fewer = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    folder = Path(tempfile.mkdtemp(prefix="thetatree-engines-"))
    try:
        write(folder, rows)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(
            f"{rows:,} rows x {len(NAMES)} features, {size / 1e9:.2f} GB of Parquet, {os.cpu_count()} cores\n"
        )
        print("| way | rows | time | rows/s | cells/s | peak memory |\n|---|---|---|---|---|---|", flush=True)
        report("DuckDB streams into `tt.sketch`", rows, measured("duckdb", folder))
        report("`tt.sketch` on the files (Arrow)", rows, measured("arrow", folder))
        report("DuckDB: sum of every column by class", rows, measured("scan", folder))
        for path in sorted(folder.iterdir())[-(-fewer // PART) :]:
            path.unlink()
        report(
            "Spark local, `engine.spark.sketch` (without the JVM's memory)", fewer, measured("spark", folder)
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
