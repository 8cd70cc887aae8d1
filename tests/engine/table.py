"""One table that has it all, for every engine: unicode, gaps, a class and a flag with hardly any key."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import thetatree as tt

FEATURES = {"vip": "flag", "gap": "flag", "age": "threshold", "colour": "category", "never": "flag"}
EDGES = {"age": [30, 35.5, 40, 45, 50]}
KEY_TYPES = ("int", "text", "float")
LG_K = 8
ROWS = int(os.environ.get("THETATREE_ENGINE_ROWS", "3000"))


def rows(key_type, n=ROWS):
    """Rows with keys of a type; some keys have two rows, and both say the same."""
    rng = np.random.default_rng(5)
    ids = rng.integers(-(2**60), 2**60, n)
    keys = {
        "int": ids,
        "text": np.array([f"ключ-{i}" if i % 3 else f"{'k' * (i % 40)}{i}" for i in ids]),
        "float": np.where(np.arange(n) == 1, -0.0, ids / 7.0),
    }[key_type]
    vip = pd.array(rng.random(n) < 0.1, dtype="boolean")
    gap = pd.array(rng.random(n) < 0.3, dtype="boolean")
    gap[rng.random(n) < 0.1] = pd.NA
    age = rng.normal(40, 10, n).round(1)
    age[rng.random(n) < 0.05] = np.nan
    colour = rng.choice(["rot", "grün", "青", "it's"], n).astype(object)
    colour[rng.random(n) < 0.02] = None
    rate = 0.2 + 0.4 * np.asarray(vip, float) + 0.2 * (age > 45)
    buys = np.where(rng.random(n) < rate, "ja", "nein").astype(object)
    buys[0] = "selten"  # a class that has no key of most values
    never = np.zeros(n, bool)
    frame = pd.DataFrame(
        {"id": keys, "buys": buys, "vip": vip, "gap": gap, "age": age, "colour": colour, "never": never}
    )
    frame["spent"] = np.round(100 * rate + rng.normal(0, 9, n), 2)
    return pd.concat([frame, frame[:100]], ignore_index=True)


def problem(key_type):
    """What is asked of each engine."""
    return {
        "key": "id",
        "target": "buys",
        "features": FEATURES,
        "lg_k": LG_K,
        "edges": EDGES,
        "key_type": key_type,
    }


def written(key_type, folder):
    """Write the rows as Parquet, as others would: nulls for gaps."""
    path = folder / f"{key_type}.parquet"
    pq.write_table(pa.Table.from_pandas(rows(key_type), preserve_index=False), path)
    return path


def by_builder(key_type):
    """What the Python builder makes of the rows."""
    return tt.sketch(rows(key_type), key="id", target="buys", features=FEATURES, edges=EDGES, lg_k=LG_K)


def check_same(got, expected):
    """The same hashes, and the same tree of them."""
    assert got == expected
    trees = [tt.ThetaSketchDecisionTreeClassifier(max_depth=4).fit(one) for one in (got, expected)]
    assert tt.export.to_text(trees[0]) == tt.export.to_text(trees[1])
    assert trees[0].get_n_leaves() > 2
