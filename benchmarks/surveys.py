"""AID and THAID beside scikit-learn: `python benchmarks/surveys.py [--repeat 9] [--threads 1] [--out FILE]`.

20,000 rows of 10 numbers and 3 categories of 5, 8 and 10 levels, depth 10. scikit-learn gets the same data
with categories coded as numbers, which it cuts in the order of their codes; ours part them in every way that
counts. The two take turns in one process; each time goes from the table to the fitted tree.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from report import machine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import thetatree as tt

HERE = Path(__file__).resolve().parent
LEVELS = (5, 8, 10)
HEADER = (
    "learner",
    "classes",
    "missing",
    "ours",
    "scikit-learn",
    "ours is as fast ×",
    "leaves",
    "its leaves",
)


def make_survey(n: int = 20_000, gaps: float = 0.0) -> tuple[pd.DataFrame, NDArray[Any], NDArray[Any]]:
    """Return the table, the same as numbers, and a numeric answer that interactions make."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n, 10))
    codes = [rng.integers(0, levels, n) for levels in LEVELS]
    answer = numbers[:, 0] - numbers[:, 1] * numbers[:, 2] + rng.normal(size=n)
    answer += sum(rng.normal(size=levels)[c] for levels, c in zip(LEVELS, codes, strict=True))
    numbers[rng.random(numbers.shape) < gaps] = np.nan
    table = pd.DataFrame(numbers, columns=[f"x{j}" for j in range(10)])
    for j, c in enumerate(codes):
        table[f"c{j}"] = pd.Categorical(np.array([f"level {i:02}" for i in range(max(LEVELS))])[c])
    return table, np.column_stack([numbers, *codes]), answer


def _take_turns(fits: list[Callable[[], Any]], repeat: int) -> list[tuple[float, Any]]:
    """Return each one's median time and last model."""
    times: list[list[float]] = [[] for _ in fits]
    models = [fit() for fit in fits]  # one round that does not count
    for _ in range(repeat):
        for i, fit in enumerate(fits):
            start = time.perf_counter()
            models[i] = fit()
            times[i].append(time.perf_counter() - start)
    return [(statistics.median(t), model) for t, model in zip(times, models, strict=True)]


def _row(ours: Any, peer: Any, n_classes: int, gaps: float, repeat: int) -> tuple[str, ...]:
    table, coded, y = make_survey(gaps=gaps)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    (a, mine), (b, its) = _take_turns([lambda: ours.fit(table, y), lambda: peer.fit(coded, y)], repeat)
    name = getattr(ours, "criterion", "") if n_classes else ""
    return (
        f"{type(ours).__name__} {name}".strip(),
        str(n_classes or "–"),
        f"{gaps:.0%}",
        f"{a * 1e3:.0f} ms",
        f"{b * 1e3:.0f} ms",
        f"{b / a:.2f}",
        str(mine.get_n_leaves()),
        str(its.get_n_leaves()),
    )


def measure(repeat: int, n_threads: int) -> list[tuple[str, ...]]:
    """Return a row per case."""
    rows = []
    for gaps in (0.0, 0.1):
        aid = tt.AIDRegressor(max_depth=10, n_jobs=n_threads)
        rows.append(_row(aid, DecisionTreeRegressor(max_depth=10), 0, gaps, repeat))
        for n_classes in (2, 3, 5):
            for criterion in ("theta", "delta", "weighted_delta"):
                least = 20 if criterion == "delta" else 1  # raw delta would stop at tiny tails
                ours = tt.THAIDClassifier(
                    criterion=criterion, max_depth=10, min_samples_leaf=least, n_jobs=n_threads
                )
                peer = DecisionTreeClassifier(max_depth=10, min_samples_leaf=least)
                rows.append(_row(ours, peer, n_classes, gaps, repeat))
    return rows


def main() -> int:
    """Measure, print and write; 1 if scikit-learn was faster anywhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9, help="rounds; default 9")
    parser.add_argument("--threads", type=int, default=1, help="threads for ours; scikit-learn uses one")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "surveys.md")
    arguments = parser.parse_args()
    rows = measure(arguments.repeat, arguments.threads)
    lines = ["# AID and THAID, side by side", "", *(f"- {line}" for line in machine(arguments.threads)), ""]
    lines += [__doc__.partition("\n\n")[2], "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[2:]))
    return int(any(float(row[5]) < 1 for row in rows))


if __name__ == "__main__":
    sys.exit(main())
