"""Regression from tuple sketches and key samples beside the rows: `python benchmarks/sums.py`.

Each row is one lg_k: R² of trees of depth 1 to 5 on the 40,000 rows themselves, mean of 5 hashings, and the
mean error of the leaves' sizes in standard errors.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import thetatree as tt

FEATURES = ["a", "b", "c", "t"]
ROWS, HASHINGS, DEPTHS = 40_000, 5, (1, 2, 3, 4, 5)
SIZES = (9, 11, 13, 16)


def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.random(ROWS) < 0.3, "b": rng.random(ROWS) < 0.6, "t": rng.integers(0, 20, ROWS)}
    )
    X["c"] = rng.choice(list("uvwxyz"), ROWS)
    effect = X["c"].map({"u": 3.0, "v": -1.0, "w": 0.5, "x": 2.0, "y": -2.5, "z": 0.0})
    X["y"] = 4.0 * X["a"] + 3 * (X["t"] > 12) * X["b"] + effect + rng.normal(0, 2, ROWS)
    return X


def main() -> None:
    X = rows()
    print("| grown from | lg_k | " + " | ".join(f"depth {depth}" for depth in DEPTHS) + " | error of sizes |")
    print("|---|--:|" + "--:|" * (len(DEPTHS) + 1))
    for form, name in (("sums", "tuple sketches"), ("keys", "a key sample")):
        for lg_k in SIZES:
            scores, errors = [], []
            for hashing in range(HASHINGS):
                data = X.assign(id=np.arange(ROWS) + hashing * ROWS)
                made = tt.sketch(data, "id", "y", FEATURES, form=form, lg_k=lg_k)
                models = [tt.CARTRegressor(max_depth=depth).fit(made) for depth in DEPTHS]
                scores.append([model.score(X[FEATURES], X["y"]) for model in models])
                tree = models[2].tree_
                truth = np.bincount(tree.apply(X[FEATURES]), minlength=tree.node_count)
                sure = tree.estimates.standard_error[:, 0]
                off = np.abs(tree.weighted_n_node_samples - truth)[tree.is_leaf & (sure > 0)]
                errors.append(np.mean(off / sure[tree.is_leaf & (sure > 0)]) if len(off) else 0.0)
            means = " | ".join(f"{score:.4f}" for score in np.mean(scores, axis=0))
            print(f"| {name} | {lg_k} | {means} | {np.mean(errors):.2f} s.e. |", flush=True)
    exact = [tt.CARTRegressor(max_depth=depth).fit(X[FEATURES], X["y"]) for depth in DEPTHS]
    print("| the rows | | " + " | ".join(f"{m.score(X[FEATURES], X['y']):.4f}" for m in exact) + " | 0 |")


if __name__ == "__main__":
    main()
