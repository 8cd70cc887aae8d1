"""C4.5 on mixed tables: `python benchmarks/c45.py [--repeat 5] [--threads 2] [--out FILE]`.

100,000 rows of 10 numbers, 5 categories of 3 to 30 levels and 5 flags; a noisy answer that interactions make,
so that the unpruned trees are large. Each time goes from the data frame to the pruned tree with its training
figures; predicting asks all rows. There is no other C4.5 here to stand beside: scikit-learn's tree by entropy
gets the same data as numbers, without gaps, and makes no multiway split and no pruning.
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
from sklearn.tree import DecisionTreeClassifier

import thetatree as tt

HERE = Path(__file__).resolve().parent
LEVELS = (3, 5, 8, 12, 30)
MOST_SECONDS = 2.0
HEADER = (
    "classes",
    "missing",
    "pruning",
    "fit",
    "predict",
    "nodes grown",
    "nodes",
    "scikit-learn fit",
    "its nodes",
)


def make_mixed(n: int, n_classes: int, gaps: float) -> tuple[pd.DataFrame, NDArray[Any], NDArray[Any]]:
    """Return the table, the same as numbers without gaps, and the answer."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n, 10))
    numbers[:, 3] = np.round(numbers[:, 3], 1)
    codes = np.column_stack([rng.integers(0, levels, n) for levels in LEVELS])
    flags = rng.random((n, 5)) < 0.3
    latent = numbers[:, 0] + 0.7 * (numbers[:, 1] > 0.3) * numbers[:, 2] + flags[:, 0]
    latent += np.isin(codes[:, 1], (1, 3)) * numbers[:, 4] + rng.normal(size=n)
    y = np.digitize(latent, np.quantile(latent, np.arange(1, n_classes) / n_classes))
    frame = pd.DataFrame(np.where(rng.random(numbers.shape) < gaps, np.nan, numbers)).add_prefix("n")
    for j, column in enumerate(codes.T):
        frame[f"c{j}"] = pd.Series(pd.Categorical(column)).mask(rng.random(n) < gaps)
    for j, column in enumerate(flags.T):
        frame[f"f{j}"] = pd.Series(column, dtype="boolean").mask(rng.random(n) < gaps) if gaps else column
    return frame, np.column_stack([numbers, codes, flags]), y


def _median(work: Callable[[], Any], repeat: int) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def measure(repeat: int, n_threads: int) -> tuple[list[tuple[str, ...]], float]:
    """Return a row per case, and the longest fit."""
    rows, longest = [], 0.0
    for n_classes in (2, 4):
        for gaps in (0.0, 0.05):
            table, coded, y = make_mixed(100_000, n_classes, gaps)
            peer = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2)
            its = _median(lambda: peer.fit(coded, y), 1)  # noqa: B023 - called at once
            for pruning in ("pessimistic", None):
                model = tt.C45Classifier(pruning=pruning, n_jobs=n_threads)
                fit = _median(lambda: model.fit(table, y), repeat)  # noqa: B023 - called at once
                asked = _median(lambda: model.predict_proba(table), repeat)  # noqa: B023 - called at once
                longest = max(longest, fit)
                sizes = (model.training_.grown.nodes, model.training_.pruned.nodes)
                rows.append(
                    (
                        str(n_classes),
                        f"{gaps:.0%}",
                        str(pruning),
                        f"{fit:.2f} s",
                        f"{asked:.2f} s",
                        *(f"{size:,}" for size in sizes),
                        f"{its:.2f} s",
                        f"{peer.tree_.node_count:,}",
                    )
                )
    return rows, longest


def main() -> int:
    """Measure, print and write; 1 if any fit took longer than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="rounds; default 5")
    parser.add_argument("--threads", type=int, default=2, help="threads; scikit-learn uses one")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "c45.md")
    arguments = parser.parse_args()
    rows, longest = measure(arguments.repeat, arguments.threads)
    lines = ["# C4.5 on mixed tables", "", *(f"- {line}" for line in machine(arguments.threads)), ""]
    lines += [__doc__.partition("\n\n")[2], "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[2:]))
    return int(longest > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
