"""Where the time of a fit goes: `python benchmarks/hotspots.py [--cases numeric ...]`.

Linux perf looks at the thetatree that is installed; one that was built with
`--config-settings=cmake.build-type=RelWithDebInfo` shows the kernel's functions by name. Beside each case
stands the time that reading the rows once would take with all threads, at the speed that a plain sum reaches
here: nothing that looks at all rows can be faster. The table goes to benchmarks/results/hotspots.md.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES, Case, make_data
from measure import _load
from report import machine

HERE = Path(__file__).resolve().parent
_DEFAULT = ("numeric", "binary-float32", "binary-bool", "regression", "categories", "sparse", "predict")
_THREADS = 2
_LINES = 10


def _bandwidth() -> float:
    """Bytes a second that all threads together add up."""
    parts = [np.ones(25_000_000, dtype=np.float32) for _ in range(_THREADS)]

    def read() -> float:
        begin = time.perf_counter()
        workers = [threading.Thread(target=lambda part=part: np.dot(part, part)) for part in parts]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return sum(part.nbytes for part in parts) / (time.perf_counter() - begin)

    return max(read() for _ in range(5))


def _n_bytes(X: Any) -> int:
    if hasattr(X, "indptr"):
        return int(X.indptr.nbytes + X.indices.nbytes + X.data.nbytes)
    if hasattr(X, "memory_usage"):
        return int(X.memory_usage(index=False).sum())
    return int(X.nbytes)


def _run(name: str, folder: Path, seconds: float) -> tuple[float, int]:
    """Do the case's work again and again under perf; return seconds a round and the bytes of its rows."""
    import thetatree as tt

    case: Case = CASES[name]
    X, y = _load(case, folder, "fit")
    cls = tt.CARTClassifier if case.task == "classify" else tt.CARTRegressor
    model = cls(max_depth=case.depth, n_jobs=_THREADS).fit(X, y)
    if case.measured == "predict":
        X, y = _load(case, folder, "held_out")
    work = (lambda: model.predict(X)) if case.measured == "predict" else (lambda: model.fit(X, y))
    work()
    perf = subprocess.Popen(
        ["perf", "record", "-q", "-F", "2000", "-o", str(folder / "perf.data"), "-p", str(os.getpid())]
    )
    time.sleep(0.7)
    rounds, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        work()
        rounds += 1
    took = (time.perf_counter() - begin) / rounds
    perf.send_signal(signal.SIGINT)
    perf.wait()
    return took, _n_bytes(X)


def _report(folder: Path) -> list[tuple[str, str]]:
    """Share and name of what takes longest."""
    command = ["perf", "report", "-i", str(folder / "perf.data"), "--stdio", "--sort", "sym"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split("]", 1) for line in text.splitlines() if re.match(r" +[0-9]", line)]
    return [(share.split()[0], _short(name)) for share, name in lines[:_LINES]]


def _short(name: str) -> str:
    """Return a C++ name without what templates add to it."""
    named = re.findall(r"thetatree::(?:\(anonymous namespace\)::)?(\w+(?:::~?\w+)?)", name)
    inner = [one for one in named if not one.startswith("parallel_")]
    return inner[0] if inner else name.strip()[:60]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(_DEFAULT), metavar="CASE")
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="of work that perf looks at, for each case"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results" / "hotspots.md")
    arguments = parser.parse_args()
    speed = _bandwidth()
    lines = ["# Where the time goes", "", *(f"- {line}" for line in machine(_THREADS)), ""]
    lines += [
        f"Made by `python benchmarks/hotspots.py`. A sum reads {speed / 1e9:.0f} GB/s by all threads;",
        '"reading" is how long the rows take at that speed.',
        "",
    ]
    for name in arguments.cases:
        with tempfile.TemporaryDirectory(prefix="thetatree-hotspots-") as folder:
            make_data(CASES[name], 1.0, Path(folder))
            took, n_bytes = _run(name, Path(folder), arguments.seconds)
            found = _report(Path(folder))
        reading = n_bytes / speed
        print(f"{name}: {took * 1e3:.1f} ms, reading {reading * 1e3:.1f} ms", file=sys.stderr, flush=True)
        lines += [
            f"## {CASES[name].title}",
            "",
            f"{took * 1e3:.1f} ms, of which reading {n_bytes / 1e6:,.0f} MB once is {reading * 1e3:.1f} ms: "
            f"{took / reading:.1f} times.",
            "",
            "| share of CPU time | function |",
            "|--:|---|",
            *(f"| {share} | `{function}` |" for share, function in found),
            "",
        ]
    arguments.out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(arguments.out)


if __name__ == "__main__":
    main()
