"""Do the sketches of a set fit together? Each refusal says how many keys contradict it.

A hash held by two sketches is in both sets, whatever their thresholds: exclusive sets share no held hash. A
hash of a smaller set must be held by the larger one if it is below both thresholds.
"""

from __future__ import annotations

import numpy as np

from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import ALL, NONE, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import Kind, is_cut


def check(data: SketchData) -> None:
    """Refuse sets that contradict themselves."""
    _check_counts(data)
    _check_classes(data)
    _check_inside(data)
    for klass, feature in data.groups():
        if data.features[feature].kind in ("category", "threshold"):
            _check_kind(data, klass, feature)


def _check_counts(data: SketchData) -> None:
    n, held = data.entries.n, data.column.held
    wrong = np.flatnonzero((n >= 0) & ((n < held) | (data.column.exact & (n != held))))
    if len(wrong):
        i = int(wrong[0])
        raise SketchSetError(
            f"{data.row(i)}: n = {n[i]}, but the sketch holds {held[i]} keys"
            f"{' and is exact' if data.column.exact[i] else ''}; count distinct keys, or leave n out"
        )


def _check_classes(data: SketchData) -> None:
    """Classes exclude each other."""
    totals = [data.entries.total(klass) for klass in range(len(data.classes))]
    repeated = data.column.repeated(totals)
    if repeated:
        raise SketchSetError(
            f"the classes overlap: {repeated} of {int(data.column.held[totals].sum())} held keys are in "
            "more than one "
            f"of {', '.join(map(repr, data.classes))}; give each key one class before sketching"
        )


def _check_inside(data: SketchData) -> None:
    """Values lie inside the known keys, those inside the total, and each class inside all keys."""
    entries = data.entries
    inner, outer = [], []
    for i, (klass, feature, value, absent) in enumerate(entries.keys):
        if value != NONE:
            inner.append(i)
            outer.append(entries.known(klass, feature))
        elif feature != NONE:
            inner.append(i)
            outer.append(entries.total(klass))
        if klass != ALL and data.form != "per_class":
            whole = entries.find(ALL, feature, value, absent=absent)
            if whole is not None and (feature == NONE or value != NONE):
                inner.append(i)
                outer.append(whole)
    counts = data.column.overlaps(inner, outer)
    wrong = np.flatnonzero(counts[:, 0] != counts[:, 1])
    if len(wrong):
        i, j = inner[wrong[0]], outer[wrong[0]]
        both, here, there = counts[wrong[0]]
        raise SketchSetError(
            f"{data.row(i)}: {here - both} of its {here} keys are not among the {there} of {data.row(j)} "
            "(below both thresholds); "
            + ("its ids were probably hashed as another type (text, not integer?)" if both == 0 else
               "make both from the same rows")
        )  # fmt: skip


def _check_kind(data: SketchData, klass: int, index: int) -> None:
    """Categories exclude each other, cuts lie inside the next ones."""
    feature = data.features[index]
    positions = data.entries.values(klass, index)
    where = f"class {data.classes[klass]!r}, " if klass != ALL else ""
    if feature.kind == "category":
        repeated = data.column.repeated(positions)
        if repeated:
            raise SketchSetError(
                f"{where}feature {feature.name!r} is declared a category, but {repeated} held keys have "
                "several of its "
                "values; declare it multi, or keep one value for each key"
            )
    elif feature.kind == "threshold":
        broken = first_not_nested(data.column, positions)
        if broken is not None:
            lower, upper = feature.values[broken], feature.values[broken + 1]
            raise SketchSetError(
                f"{where}feature {feature.name!r}: keys under {lower!r} are missing under {upper!r}; "
                "thresholds must be "
                "nested: make each from all rows below its cut"
            )


def first_not_nested(column: SketchColumn, positions: list[int]) -> int | None:
    """Give the first of these sketches that does not lie inside the next one."""
    if len(positions) < 2:
        return None
    counts = column.overlaps(positions[:-1], positions[1:])
    wrong = np.flatnonzero(counts[:, 0] != counts[:, 1])
    return int(wrong[0]) if len(wrong) else None


def verified_kind(values: list[str], by_class: list[list[int]], column: SketchColumn) -> Kind:
    """Tell from the hashes what values are to each other: by_class has their sketches' positions class by
    class.
    """
    if all(map(is_cut, values)) and all(
        first_not_nested(column, positions) is None for positions in by_class
    ):
        return "threshold"
    return "multi" if any(column.repeated(positions) for positions in by_class) else "category"


def restrict_absent(data: SketchData) -> SketchColumn:
    """Cut absent sketches that also hold other classes' keys down to their own class.

    Some tools write "all rows without the feature" into each class's file. Their foreign keys must then be
    those of the other classes; anything else is refused.
    """
    entries, column = data.entries, data.column
    absent = [i for i in entries.absent if entries.keys[i].klass != ALL]
    totals = [entries.total(entries.keys[i].klass) for i in absent]
    if not absent:
        return column
    counts = column.overlaps(absent, totals)
    foreign = [k for k in range(len(absent)) if counts[k, 0] != counts[k, 1]]
    if not foreign:
        return column
    for k in foreign:
        _check_foreign(data, absent[k], totals[k])
    cut = column.intersect([absent[k] for k in foreign], [totals[k] for k in foreign])
    order = np.arange(len(column), dtype=np.int64)
    order[[absent[k] for k in foreign]] = len(column) + np.arange(len(foreign))
    return SketchColumn.concatenate([column, cut]).take(order)


def _check_foreign(data: SketchData, absent: int, total: int) -> None:
    """Every foreign key of an absent sketch must be another class's, wherever that can be told."""
    column = data.column
    klass = data.entries.keys[absent].klass
    others = [data.entries.total(other) for other in range(len(data.classes)) if other != klass]
    if data.form == "one_vs_all":
        others = [data.entries.total(ALL)]
    trio = column.unite([[absent], [total], others], [0, 0, 0])
    foreign = trio.subtract([0], [1])
    pair = SketchColumn.concatenate([foreign, trio])
    both, here, _ = pair.overlaps([0], [3])[0]
    if both != here:
        raise SketchSetError(
            f"{data.row(absent)}: {here - both} of its keys are in no class (of {here} that are not in its "
            "own); make absent sketches from the rows of the class"
        )
