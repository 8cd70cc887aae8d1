"""Pure noise: how often a tree splits at the root where nothing has to do with the target.

For each kind of data and each test: 500 problems, `significance=0.05`, and the share of them that split. Rows
are tested by G, chi-square or F with Bonferroni's correction, and by permutation; sketches by the gate.
Writes results/significance.md. Run it by `make noise`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import thetatree as tt

LEVEL, PROBLEMS = 0.05, 500


def table(rng, n):
    """Flags, numbers, categories and missing values."""
    return pd.DataFrame(
        {
            **{f"flag{j}": rng.random(n) < rng.choice([0.03, 0.2, 0.5]) for j in range(10)},
            "x": rng.normal(size=n),
            "k": rng.integers(0, 8, n).astype(float),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "city": rng.choice(list("abcdef"), n),
        }
    )


def of_rows(seed, criterion, test, classes=2):
    """Whether the root of one noise problem from rows is split."""
    rng = np.random.default_rng(seed)
    X = table(rng, 300)
    options = {
        "criterion": criterion,
        "significance": LEVEL,
        "significance_test": test,
        "n_permutations": 99,
        "max_depth": 1,
        "random_state": seed,
    }
    if criterion in ("squared_error", "absolute_error"):
        return tt.CARTRegressor(**options).fit(X, rng.normal(size=300)).get_n_leaves() > 1
    y = rng.choice(classes, 300, p=[0.7, 0.3] if classes == 2 else None)
    return tt.CARTClassifier(**options).fit(X, y).get_n_leaves() > 1


def of_sketches(seed, criterion, lg_k, classes=2):
    """The same from sketches of about twenty times as many keys as they hold."""
    rng = np.random.default_rng([seed, 1])
    n = 20 * 2**lg_k
    frame = table(rng, n).drop(columns=["x", "gappy"])
    frame.insert(0, "id", rng.integers(0, 1 << 60, n))
    frame["y"] = rng.choice(classes, n, p=[0.8, 0.2] if classes == 2 else None)
    sketches = tt.sketch(frame, key="id", target="y", lg_k=lg_k)
    model = tt.ThetaSketchDecisionTreeClassifier(criterion=criterion, significance=LEVEL, max_depth=1)
    return model.fit(sketches).get_n_leaves() > 1


CASES = [
    ("rows", "gini", "parametric", lambda seed: of_rows(seed, "gini", "parametric")),
    ("rows", "entropy", "parametric", lambda seed: of_rows(seed, "entropy", "parametric")),
    ("rows, 3 classes", "gini", "parametric", lambda seed: of_rows(seed, "gini", "parametric", 3)),
    ("rows", "squared_error", "parametric", lambda seed: of_rows(seed, "squared_error", "parametric")),
    ("rows", "gini", "permutation", lambda seed: of_rows(seed, "gini", "permutation")),
    ("rows", "absolute_error", "permutation", lambda seed: of_rows(seed, "absolute_error", "permutation")),
    ("sketches, lg_k 9", "gini", "gate", lambda seed: of_sketches(seed, "gini", 9)),
    ("sketches, lg_k 9", "entropy", "gate", lambda seed: of_sketches(seed, "entropy", 9)),
    ("sketches, lg_k 9, 3 classes", "gini", "gate", lambda seed: of_sketches(seed, "gini", 9, 3)),
]


def main(problems: int = PROBLEMS) -> None:
    """Run every case and write the table."""
    lines = [
        "# Pure noise at the 5% level",
        "",
        f"`make noise`: the share of {problems} problems without any signal that are split at the root.",
        "",
        "| data | criterion | test | split | share | seconds |",
        "|---|---|---|---:|---:|---:|",
    ]
    for data, criterion, test, splits in CASES:
        began = time.perf_counter()
        n = sum(bool(splits(seed)) for seed in range(problems))
        took = time.perf_counter() - began
        lines.append(f"| {data} | {criterion} | {test} | {n} | {n / problems:.1%} | {took:.0f} |")
        print(lines[-1], flush=True)
    if problems == PROBLEMS:
        path = Path(__file__).parent / "results" / "significance.md"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PROBLEMS)
