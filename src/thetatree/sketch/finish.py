"""From grown sketches to a set: cuts are nested, rare categories put together, conflicts found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thetatree.sketch.assemble import Declared, assemble
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import Label, Origin, Row, SketchData
from thetatree.sketch.errors import BuildError
from thetatree.sketch.kinds import OTHER, Kind
from thetatree.sketch.plan import Plan
from thetatree.sketch.sketchers import FeatureSketcher, Samples

# One column of sketches for each class, value by value.
ByClass = list[SketchColumn]


def finish(
    plan: Plan,
    sketchers: Sequence[FeatureSketcher],
    totals: Samples,
    class_totals: Samples,
    labels: Sequence[Label],
    *,
    key_type: str | None,
) -> SketchData:
    """Make the set."""
    owners: list[Label | None] = [None] if plan.class_free else [*labels]
    if not owners:
        raise BuildError("there are no rows: the data are empty; give like=another_set for an empty part")
    rows: list[Row] = []
    columns: list[SketchColumn] = []
    by_owner = [row[0] for row in totals.finish(len(owners), 1)]
    _add_totals(rows, columns, owners, by_owner)
    own = by_owner
    if plan.class_free and plan.target is not None:
        own = [row[0] for row in class_totals.finish(len(labels), 1)]
        _add_totals(rows, columns, [*labels], own)
    _refuse_class_conflicts(plan, own)
    kinds: dict[str, Kind] = {}
    for one in sketchers:
        values, by_class, kinds[one.name] = _values_of(plan, one, len(owners))
        for owner, sketches in zip(owners, by_class, strict=True):
            rows.extend(Row(owner, one.name, value) for value in values)
            columns.append(sketches)
        known = one.known(len(owners), 1 << plan.lg_k)
        # Missing keys may lie above θ, so known keys are kept apart even where they look like the total.
        if values and known is not None:
            rows.extend(Row(owner, one.name, None) for owner in owners)
            columns.extend(known)
    origin = Origin(plan.key, plan.target, plan.lg_k, plan.seed, key_type=key_type)
    complete = frozenset(name for name, kind in kinds.items() if kind == "category")
    return assemble(rows, SketchColumn.concatenate(columns), origin, Declared(kinds, complete=complete))


def _add_totals(
    rows: list[Row], columns: list[SketchColumn], labels: Sequence[Label | None], totals: ByClass
) -> None:
    rows.extend(Row(label, None, None) for label in labels)
    columns.extend(totals)


def _refuse_class_conflicts(plan: Plan, totals: ByClass) -> None:
    if plan.target is None or len(totals) < 2:
        return
    together = SketchColumn.concatenate(totals)
    repeated = together.repeated(range(len(together)))
    if repeated:
        raise BuildError(
            f"target {plan.target!r}: {repeated} of {len(together.hashes)} held keys have rows of several "
            "classes; give each "
            f"key one class first (GROUP BY {plan.key})"
        )


def _values_of(plan: Plan, one: FeatureSketcher, n_classes: int) -> tuple[list[str], ByClass, Kind]:
    values = list(one.coder.values)
    by_class = [_joined(row) for row in one.present.finish(n_classes, len(values))]
    kind = one.coder.kind
    if kind in ("category", "threshold"):
        kind = _single_valued(plan, one.name, kind, by_class)
    k = 1 << plan.lg_k
    if kind == "threshold":
        nested = [list(range(last + 1)) for last in range(len(values))]
        return values, [_unite(column, nested, k) for column in by_class], kind
    if kind == "flag":
        return values, by_class, kind
    values, groups = _capped(plan, one.name, values, by_class)
    return values, [_unite(column, groups, k) for column in by_class], kind


def _joined(sketches: list[SketchColumn]) -> SketchColumn:
    return SketchColumn.concatenate(sketches) if sketches else SketchColumn.empty(0)


def _unite(column: SketchColumn, groups: Sequence[Sequence[int]], k: int) -> SketchColumn:
    return column.unite(groups, [k] * len(groups))


def _single_valued(plan: Plan, name: str, kind: Kind, by_class: ByClass) -> Kind:
    """Codes of a category or number exclude each other, unless a key's rows differ."""
    repeated = sum(column.repeated(range(len(column))) for column in by_class)
    if not repeated:
        return kind
    if plan.conflicts == "error":
        what = "values" if kind == "category" else "bins"
        raise BuildError(
            f"feature {name!r}: {repeated} held keys have rows with several {what}; give each key one, "
            "declare the feature "
            "'multi' in features=, or allow it with conflicts='any'"
        )
    return "multi" if kind == "category" else kind


def _capped(plan: Plan, name: str, values: list[str], by_class: ByClass) -> tuple[list[str], list[list[int]]]:
    """Sort values, and put the rarest beyond the cap into "other"; a set to be like has its caps already."""
    kept = set(values)
    if name not in plan.values and len(values) > plan.max_categories:
        sizes = np.sum([column.held / column.theta for column in by_class], axis=0)
        ranked = sorted(range(len(values)), key=lambda i: (-sizes[i], values[i]))
        kept = {values[i] for i in ranked[: plan.max_categories]}
    names = sorted(kept | ({OTHER} if len(kept) < len(values) else set()))
    at = {value: i for i, value in enumerate(names)}
    groups: list[list[int]] = [[] for _ in names]
    for i, value in enumerate(values):
        groups[at[value if value in kept else OTHER]].append(i)
    return names, groups
