"""Rows handed to the kernel: coded for growing, or adapted to a fitted tree's features for routing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.categories import code_values, match_codes
from thetatree.data.features import Feature
from thetatree.data.rows import Column, Rows

MOST_BINS = 255


def code_rows(rows: Rows, n_threads: int, most_bins: int = 0) -> _kernel.Columns:
    """Code every column. An infinite value is refused by its column's name.

    Numbers of more than `most_bins` values are coded by bins; with 0 every value has a code of its own.
    """
    columns = _kernel.Columns(rows.n_rows, n_threads, most_bins)
    if rows.sparse is not None:
        sparse = rows.sparse
        columns.add_sparse(
            rows.n_columns, sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data
        )
    elif rows.matrix is not None:
        columns.add_numbers([rows.matrix])
    else:
        _code_columns(rows.columns, columns)
    infinite = columns.first_infinite()
    if infinite >= 0:
        raise ValueError(_infinite(rows.names[infinite]))
    return columns


def _infinite(name: str) -> str:
    return f"Input X contains infinity: column {name!r}; replace infinite values by a number or by NaN"


def _code_columns(columns: list[Column], out: _kernel.Columns) -> None:
    """Neighbours of one kind go together, so that flags are packed in one pass."""
    at = 0
    while at < len(columns):
        kind = columns[at].kind
        if kind == "category":
            out.add_category(np.ascontiguousarray(columns[at].values), len(columns[at].labels))
            at += 1
            continue
        end = at
        while end < len(columns) and columns[end].kind == kind:
            end += 1
        arrays = [c.values for c in columns[at:end]]
        (out.add_flags if kind == "flag" else out.add_numbers)(arrays)
        at = end


def routing_arrays(rows: Rows, features: tuple[Feature, ...], n_threads: int) -> list[NDArray[Any]]:
    """Columns in the form that routing reads, matched to the features by position.

    Infinite values are refused, but in a matrix that is passed on as it is.
    """
    if rows.matrix is not None and all(f.kind == "number" for f in features):
        return [rows.matrix]
    columns = rows.columns
    if rows.matrix is not None and not columns:
        columns = [Column(name, "number", rows.matrix[:, j]) for j, name in enumerate(rows.names)]
    return [_adapt(column, feature, n_threads) for column, feature in zip(columns, features, strict=True)]


def _adapt(column: Column, feature: Feature, n_threads: int) -> NDArray[Any]:
    if feature.kind == "category":
        column = as_category(column)
        # The code after the last is on no split's list: it goes right, where growing put what is unlisted.
        unseen = len(feature.labels) if feature.unlisted else -1
        return match_codes(column.values, column.labels, feature.labels, unseen)
    if column.kind == "category" and not column.labels:  # nothing is known of it
        column = Column(column.name, "number", np.full(len(column.values), np.nan))
    if column.kind == "category":
        raise ValueError(
            f"column {column.name!r} holds text, but the tree was fitted on {feature.kind}s there: "
            f"a value must be a number (argument must be a string or a number)"
        )
    if feature.kind == "flag":
        return column.values if column.kind == "flag" else _as_flags(column)
    if column.kind == "flag":
        missing = column.values.view(np.int8) < 0
        return np.where(missing, np.nan, column.values.astype(np.float64)) if missing.any() else column.values
    refuse_infinite(column.values, [column.name], n_threads)
    return column.values


def as_category(column: Column) -> Column:
    """Return the column as a category: numbers and flags are labels of their own."""
    if column.kind == "category":
        return column
    values = column.values
    if column.kind == "flag":
        values = np.array([None if f < 0 else bool(f) for f in values.view(np.int8)], dtype=object)
    coded = code_values(values, column.name)
    return Column(column.name, "category", coded.codes, coded.labels)


def _as_flags(column: Column) -> NDArray[np.int8]:
    """Numbers given for a flag: 1 is present, 0 absent, NaN and -1 missing."""
    values = column.values
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    missing |= values == -1
    strange = ~(missing | (values == 0) | (values == 1))
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"column {column.name!r} is a flag (true or false), but row {row} holds {values[row]}: "
            f"give true/false, 0/1, or NaN where it is missing"
        )
    return np.where(missing, -1, values == 1).astype(np.int8)


def refuse_infinite(values: NDArray[Any], names: list[str], n_threads: int) -> None:
    """Raise if any value is infinite, naming the column."""
    if values.dtype.kind != "f":
        return
    if values.flags.c_contiguous or values.flags.f_contiguous:
        if not _kernel.any_infinite(values.reshape(-1, order="A"), n_threads):
            return
    elif not np.isinf(values).any():
        return
    column = int(np.argmax(np.isinf(values).any(axis=0))) if values.ndim == 2 else 0
    raise ValueError(_infinite(names[column]))


def refuse_infinite_entries(rows: Rows) -> None:
    """Raise if a sparse matrix holds an infinite value, naming the column."""
    if rows.sparse is not None and rows.sparse.dtype.kind == "f":
        bad = np.isinf(rows.sparse.data)
        if bad.any():
            raise ValueError(_infinite(rows.names[int(rows.sparse.indices[bad].min())]))
