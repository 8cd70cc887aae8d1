"""Sketch sets from sketches in memory: a dict of classes, each a dict of named sketches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thetatree.sketch.assemble import Declared, assemble, check_declared
from thetatree.sketch.data import Label, Origin, Row, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import VERIFY, Kinds, check_kinds, split_name
from thetatree.sketch.wire import DEFAULT_SEED, read_cells

TOTAL = "total"


def from_sketches(
    sketches: Mapping[Any, Mapping[Any, Any]],
    *,
    kinds: Kinds | None = None,
    lg_k: int | None = None,
    seed: int = DEFAULT_SEED,
) -> SketchData:
    """Make the data of a set; see `SketchSet.from_sketches`."""
    declared = check_kinds(kinds)
    names: Kinds = VERIFY if kinds == VERIFY else declared
    rows: list[Row] = []
    cells: list[Any] = []
    for label, named in sketches.items():
        if not isinstance(named, Mapping):
            raise SketchSetError(
                f"class {label!r}: {type(named).__name__} where a dict of sketches is expected, such as "
                "{'total': s, 'red': (present, absent)}"
            )
        for name, given in named.items():
            for row, cell in _named_sketches(None if label in (TOTAL, None) else label, name, given, names):
                rows.append(row)
                cells.append(cell)
    column = read_cells(cells, lambda i: str(rows[i]), seed)
    data = assemble(rows, column, Origin(lg_k=lg_k, seed=seed), Declared(declared))
    check_declared(data, declared)
    return data


def _named_sketches(label: Label | None, name: Any, given: Any, kinds: Kinds) -> list[tuple[Row, Any]]:
    if name in (TOTAL, None):
        present = given[0] if isinstance(given, (tuple, list)) and given else given
        return [(Row(label, None, None), present)]
    row = _row(label, name, kinds)
    pair = tuple(given) if isinstance(given, (tuple, list)) else (given, None)
    if len(pair) != 2 or pair[0] is None:
        raise SketchSetError(
            f"{row}: {len(pair)} sketches; give the present one, or the pair (present, absent)"
        )
    found = [(row, pair[0])]
    if pair[1] is not None:
        found.append((row._replace(absent=True), pair[1]))
    return found


def _row(label: Label | None, name: Any, kinds: Kinds) -> Row:
    if isinstance(name, tuple) and len(name) == 2 and isinstance(name[0], str):
        return Row(label, name[0], None if name[1] is None else str(name[1]))
    if isinstance(name, str):
        return Row(label, *split_name(name, kinds))
    raise SketchSetError(
        f"class {label!r}: {name!r} does not name a sketch; use text or a pair (feature, value)"
    )
