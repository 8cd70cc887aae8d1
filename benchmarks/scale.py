"""Growing from very many sketches: `python benchmarks/scale.py [FEATURES [CLASSES [LG_K [KEYS]]]]`.

The sketches are made as such, without rows: a class is so many uniform hashes, a flag's share of them is
drawn from a wide range, and the sketch is the least of those that have it. 1 in 100 flags differs between
classes.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

import thetatree as tt
from thetatree.sketch.assemble import Declared, assemble
from thetatree.sketch.column import MAX_THETA, SketchColumn
from thetatree.sketch.data import Origin, Row


def sketches(n_features: int, n_classes: int, lg_k: int, n_keys: int) -> tt.SketchSet:
    """Draw the sketches."""
    rng = np.random.default_rng(0)
    k = 1 << lg_k
    share = np.exp(rng.uniform(np.log(1e-4), np.log(0.3), n_features))
    effect = np.where(
        rng.random((n_features, n_classes)) < 0.01, rng.uniform(1, 3, (n_features, n_classes)), 1.0
    )
    rows, parts, thetas = [], [], []
    for c in range(n_classes):
        hashes = np.sort(rng.integers(1, MAX_THETA, n_keys, dtype=np.uint64))
        rows.append(Row(f"class {c}", None, None, n=n_keys))
        parts.append(hashes[:k])
        thetas.append(int(hashes[k]))
        for f in range(n_features):
            rate = min(0.9, share[f] * effect[f, c])
            size = min(k + 1, int(n_keys * rate + 6 * np.sqrt(n_keys * rate)) + 10)
            at = np.cumsum(rng.geometric(rate, size)) - 1
            held = hashes[at[at < n_keys]]
            rows.append(Row(f"class {c}", f"flag{f:05}", "1"))
            full = len(held) > k
            parts.append(held[:k])
            thetas.append(int(held[k]) if full else MAX_THETA)
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    column = SketchColumn(np.concatenate(parts), offsets, np.array(thetas, np.uint64))
    kinds = dict.fromkeys({row.feature for row in rows if row.feature is not None}, "flag")
    return tt.SketchSet(assemble(rows, column, Origin("id", "class", lg_k), Declared(kinds)))


def main() -> None:
    given = [int(text) for text in sys.argv[1:]]
    n_features, n_classes, lg_k, n_keys = (given + [10_000, 5, 14, 1_000_000][len(given) :])[:4]
    start = time.perf_counter()
    made = sketches(n_features, n_classes, lg_k, n_keys)
    drawn = time.perf_counter() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = time.perf_counter()
    model = tt.ThetaSketchDecisionTreeClassifier(max_depth=6).fit(made)
    fitted = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    held = len(made.data.column.hashes)
    print(
        f"{n_features:,} flags x {n_classes} classes, lg_k {lg_k}: {len(made):,} sketches, "
        f"{held / 1e6:,.0f} M held keys ({held * 8 / 1e9:.2f} GB); drawn and checked in {drawn:.1f} s "
        f"(peak {before:.1f} GB); grown to {model.get_n_leaves()} leaves, depth {model.get_depth()}, in "
        f"{fitted:.1f} s; peak {peak:.1f} GB"
    )


if __name__ == "__main__":
    main()
