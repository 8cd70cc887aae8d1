"""Growing from very many sketches: `python benchmarks/scale.py [FEATURES [CLASSES [LG_K [KEYS]]]]`.

The sketches are made as such, without rows: a class is so many uniform hashes, a flag's share of them is
drawn from a wide range, and the sketch is the least of those that have it. 1 in 100 flags differs between
classes. Drawing, checking (what reading a file ends with) and growing are timed apart, each with its peak of
memory.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import thetatree as tt
from thetatree.sketch.assemble import Declared, assemble
from thetatree.sketch.column import MAX_THETA, SketchColumn
from thetatree.sketch.data import Origin, Row


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print how long something took, and the highest resident memory meanwhile (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    start = time.perf_counter()
    yield
    seconds = time.perf_counter() - start
    peak = int(Path("/proc/self/status").read_text(encoding="ascii").partition("VmHWM:")[2].split()[0])
    print(f"{what}: {seconds:.1f} s, peak {peak / 1e6:.2f} GB", flush=True)


def draw(n_features: int, n_classes: int, lg_k: int, n_keys: int) -> tuple[list[Row], SketchColumn]:
    """Draw the sketches."""
    rng = np.random.default_rng(0)
    k = 1 << lg_k
    share = np.exp(rng.uniform(np.log(1e-4), np.log(0.3), n_features))
    effect = np.where(
        rng.random((n_features, n_classes)) < 0.01, rng.uniform(1, 3, (n_features, n_classes)), 1.0
    )
    rows, sizes, thetas = [], [0], []
    together = np.empty(n_classes * (n_features + 1) * k, np.uint64)  # what is not written takes no memory

    def add(row: Row, held: NDArray[np.uint64]) -> None:
        rows.append(row)
        sizes.append(sizes[-1] + min(k, len(held)))
        together[sizes[-2] : sizes[-1]] = held[:k]
        thetas.append(int(held[k]) if len(held) > k else MAX_THETA)

    for c in range(n_classes):
        hashes = np.sort(rng.integers(1, MAX_THETA, n_keys, dtype=np.uint64))
        add(Row(f"class {c}", None, None, n=n_keys), hashes)
        for f in range(n_features):
            rate = min(0.9, share[f] * effect[f, c])
            size = min(k + 1, int(n_keys * rate + 6 * np.sqrt(n_keys * rate)) + 10)
            at = np.cumsum(rng.geometric(rate, size)) - 1
            add(Row(f"class {c}", f"flag{f:05}", "1"), hashes[at[at < n_keys][: k + 1]])
    column = SketchColumn(together[: sizes[-1]], np.array(sizes, np.int64), np.array(thetas, np.uint64))
    return rows, column


def checked(rows: list[Row], column: SketchColumn, lg_k: int) -> tt.SketchSet:
    """Make a set of drawn sketches."""
    kinds = dict.fromkeys({row.feature for row in rows if row.feature is not None}, "flag")
    return tt.SketchSet(assemble(rows, column, Origin("id", "class", lg_k), Declared(kinds)))


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    n_features, n_classes, lg_k, n_keys = (given + [10_000, 5, 14, 1_000_000][len(given) :])[:4]
    with measured("drawn"):
        rows, column = draw(n_features, n_classes, lg_k, n_keys)
    held = len(column.hashes)
    print(
        f"{n_features:,} flags x {n_classes} classes, lg_k {lg_k}: {len(rows):,} sketches, "
        f"{held / 1e6:,.0f} M held keys ({held * 8 / 1e9:.2f} GB)"
    )
    with measured("checked"):
        made = checked(rows, column, lg_k)
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=6)
    with measured("grown"):
        model.fit(made)
    print(f"{model.get_n_leaves()} leaves, depth {model.get_depth()}; root: {model.tree_.rules()[0]}")


if __name__ == "__main__":
    main()
