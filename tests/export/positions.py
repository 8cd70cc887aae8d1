"""Tables as arrays of doubles, which is what the exports to C and Java take."""

import numpy as np
import pandas as pd


def has_categories(case):
    """Whether the tree tests a category."""
    return any(case.tree.features[j].kind == "category" for j in set(case.tree.feature.tolist()) - {-2})


def encoded(case, code):
    """The case's table; `code(column, label)` looks labels up, the label None being missing."""
    tested = set(case.tree.feature[~case.tree.is_leaf].tolist())
    out = np.full((len(case.table), case.tree.n_features), np.nan)
    for j, feature in enumerate(case.tree.features):
        if j not in tested:
            continue
        values = [None if pd.isna(v) else v for v in case.table[feature.name].tolist()]
        if feature.kind == "category":
            codes = {v: code(j, None if v is None else str(v)) for v in set(values)}
            out[:, j] = [codes[v] for v in values]
        else:
            out[:, j] = [np.nan if v is None else float(v) for v in values]
    return np.ascontiguousarray(out)
