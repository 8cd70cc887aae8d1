"""One measurement in a process of its own: `measure.py LIBRARY CASE FOLDER THREADS` prints a line of JSON.

The rows are in memory before the clock starts, and a fit of 64 rows has gone before, so that imports and the
start of thread pools are nobody's cost. Peak memory is the highest resident size while the clock runs less
the resident size just before.
"""

from __future__ import annotations

import gc
import json
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cases import CASES, Case
from numpy.typing import NDArray
from peers import MAKERS, n_leaves

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_WARM_UP_ROWS = 64


def _resident(name: str) -> int | None:
    """Return VmRSS (now) or VmHWM (the highest) in bytes, where there is /proc."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def _highest_since_start() -> int:
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest * 1024


def _forget_highest() -> bool:
    """Let VmHWM start anew; False where the system does not do it."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _peak_of(work: Callable[[], Any]) -> tuple[Any, float, float, int | None]:
    """Return the work's result, its seconds, its CPU seconds, and the most bytes that it held."""
    gc.collect()
    reset = _forget_highest()
    before = _resident("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    highest = _resident("VmHWM") if reset else _highest_since_start()
    peak = None if before is None or highest is None else max(0, highest - before)
    return result, seconds, cpu, peak


def _load(case: Case, folder: Path, part: str) -> tuple[Any, NDArray[Any]]:
    y = np.load(folder / f"y_{part}.npy")
    if case.form == "sparse":
        import scipy.sparse as sp

        return sp.load_npz(folder / f"X_{part}.npz"), y
    X = np.load(folder / f"X_{part}.npy")
    if case.form != "categories":
        return X, y
    import pandas as pd

    labels = [f"level {i}" for i in range(100)]
    return pd.DataFrame({f"c{j}": pd.Categorical.from_codes(X[:, j], labels) for j in range(X.shape[1])}), y


def _few(X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    at = np.linspace(0, len(y) - 1, _WARM_UP_ROWS).astype(int)
    return (X.iloc[at] if hasattr(X, "iloc") else X[at]), y[at]


def _quality(case: Case, predicted: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the accuracy, or R² for regression."""
    if case.task == "classify":
        return float(np.mean(predicted == y))
    return float(1 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


def measure(library: str, case: Case, folder: Path, n_threads: int) -> dict[str, Any]:
    """Return seconds, peak bytes, quality on held-out rows, and leaves."""
    X, y = _load(case, folder, "fit")
    make = MAKERS[library]
    few = _few(X, y)
    make(case, n_threads).fit(*few).predict(few[0])
    weights = {"sample_weight": np.random.default_rng(5).random(len(y))} if case.weighted else {}
    model = make(case, n_threads)
    if case.measured == "fit":
        work: Callable[[], Any] = lambda: model.fit(X, y, **weights)  # noqa: E731
        rows = rows_y = None
    else:
        model.fit(X, y)
        del X, y
        rows, rows_y = _load(case, folder, "held_out")
        work = lambda: model.predict(rows)  # noqa: E731
    rounds = [_peak_of(work) for _ in range(case.inside + (case.inside > 1))]
    counted = rounds[1:] if case.inside > 1 else rounds
    if rows is None:
        rows, rows_y = _load(case, folder, "held_out")
    peaks = [peak for *_, peak in rounds if peak is not None]
    return {
        "seconds": statistics.median(seconds for _, seconds, _, _ in counted),
        "cpu": statistics.median(cpu for _, _, cpu, _ in counted),
        "peak": max(peaks) if peaks else None,
        "quality": _quality(case, np.asarray(model.predict(rows)), np.asarray(rows_y)),
        "leaves": n_leaves(model),
    }


def main() -> None:
    """Measure as the command line says."""
    library, name, folder, n_threads = sys.argv[1:5]
    warnings.filterwarnings("ignore", message="X does not have valid feature names")  # LightGBM's own check
    print(json.dumps(measure(library, CASES[name], Path(folder), int(n_threads))))


if __name__ == "__main__":
    main()
