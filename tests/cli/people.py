"""A table made on the spot."""

import numpy as np
import pandas as pd


def make_table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": rng.integers(18, 80, n).astype(float),
            "plan": rng.choice(["basic", "plus", "pro"], n),
            "vip": rng.random(n) < 0.3,
        }
    )
    table["spend"] = np.round(10 + table.age / 2 + 20 * (table.plan == "pro") + rng.normal(0, 3, n), 2)
    table["left"] = np.where(rng.random(n) < 0.1 + 0.6 * table.vip, "yes", "no")
    table.loc[::50, "age"] = np.nan
    table.loc[::70, "plan"] = None
    return table
