"""Growing from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thetatree import _kernel
from thetatree.data.coding import MOST_BINS, code_rows
from thetatree.data.features import Feature
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.rules import GrowRules
from thetatree.tree.tree import Tree


def grow_from_rows(
    rows: Rows, features: Sequence[Feature], target: Target, rules: GrowRules, missing: str
) -> Tree:
    """Grow a tree. `missing="error"` refuses a table with gaps, naming the column."""
    columns = code_rows(rows, rules.n_threads, MOST_BINS)
    if missing == "error":
        refuse_missing(columns, rows)
    arrays = _kernel.grow(columns, target.y, target.weight, rules.for_kernel())
    classes = None if target.classes is None else tuple(target.classes.tolist())
    known = tuple(replace(f, gaps=columns.has_missing(j)) for j, f in enumerate(features))
    return Tree.from_arrays(arrays, known, classes, rules.criterion)


def refuse_missing(columns: _kernel.Columns, rows: Rows) -> None:
    """Raise if any value is missing."""
    if not columns.any_missing():
        return
    name = next(name for j, name in enumerate(rows.names) if columns.has_missing(j))
    raise ValueError(
        f"Input X contains NaN: column {name!r} has missing values and missing='error'; "
        f"fill them, or use missing='learnt' or 'majority'"
    )
