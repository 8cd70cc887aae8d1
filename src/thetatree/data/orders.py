"""The order of categories that a table declares, for those who keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from thetatree.data.categories import is_missing
from thetatree.data.features import Label
from thetatree.data.rows import Column, Rows, is_frame


def in_declared_order(rows: Rows, X: Any, marked: Sequence[int]) -> Rows:
    """Return the rows with the labels of the marked columns in the order that their pandas type lists.

    An ordered type has kept its order already, and sorted labels stay as they are; this is for a pandas
    Categorical that is not marked as ordered: the search may treat it as free, so reading sorts it.
    """
    if not any(marked) or not is_frame(X):
        return rows
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if not frame.implementation.is_pandas_like():
        return rows
    columns = list(rows.columns)
    for j, (mark, series) in enumerate(zip(marked, frame.iter_columns(), strict=True)):
        if mark and series.dtype == nw.Categorical:
            listed = [label for label in series.to_native().cat.categories if not is_missing(label)]
            columns[j] = _reordered(columns[j], listed)
    return replace(rows, columns=columns)


def _reordered(column: Column, listed: Sequence[Label]) -> Column:
    place = {label: code for code, label in enumerate(column.labels)}
    order = [place[label] for label in listed if label in place]
    rank = np.full(len(order) + 1, -1, dtype=np.int32)  # the last stands for missing
    rank[order] = np.arange(len(order), dtype=np.int32)
    return replace(column, values=rank[column.values], labels=tuple(column.labels[i] for i in order))
