"""From named sketches, in any order and from any source, to the data of a sketch set.

A source gives rows (what each sketch is called) and a column (the sketches). Here names become entries: forms
are told apart, kinds settled, missing value rows filled with empty sketches, and everything is checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from thetatree.sketch.check import check, restrict_absent, verified_kind
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import ALL, NONE, Entries, EntryKey, Form, Label, Origin, Row, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import ABSENT, PRESENT, Feature, Kind


@dataclass(frozen=True)
class Declared:
    """What a source says about its features; what it leaves out is verified from the hashes."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    lg_k: Mapping[str, int | None] = field(default_factory=dict)
    complete: frozenset[str] = frozenset()
    merged: frozenset[str] = frozenset()  # their absent sketches are of several parts


def assemble(
    rows: Sequence[Row], column: SketchColumn, origin: Origin, declared: Declared | None = None
) -> SketchData:
    """Make a checked set of named sketches."""
    declared = declared or Declared()
    _check_rows(rows)
    form, classes = _form_of(rows)
    rows, kinds = _settle_flags(rows, declared.kinds)
    features = _features(rows, column, kinds, declared, origin.lg_k)
    column = column.with_empty()
    sources = _sources(rows, classes, features)
    data = SketchData(form, classes, features, Entries((), np.empty(0, np.int64)), column, origin)
    keys = sorted(_complete(data, sources, len(rows)))
    chosen = [sources[key] for key in keys]
    n = np.array([rows[i].n if i < len(rows) else -1 for i in chosen], np.int64)
    data = replace(data, entries=Entries(tuple(keys), n), column=column.take(chosen))
    data = _with_counts(replace(data, column=restrict_absent(data)), data.column)
    check(data)
    return data


def check_declared(data: SketchData, kinds: Mapping[str, Kind]) -> None:
    """Every feature whose kind is declared must be in the set."""
    unknown = sorted(set(kinds) - {feature.name for feature in data.features})
    if unknown:
        raise SketchSetError(f"kinds= declares {unknown[0]!r}, of which there is no sketch; correct the name")


def _with_counts(data: SketchData, before: SketchColumn) -> SketchData:
    """An exact sketch counts itself; a sketch that was cut down has lost its count."""
    n = np.where(
        data.column.exact, np.where(data.entries.n < 0, data.column.held, data.entries.n), data.entries.n
    )
    n = np.where((data.column.held != before.held) | (data.column.thetas != before.thetas), -1, n)
    return replace(data, entries=Entries(data.entries.keys, n))


def _check_rows(rows: Sequence[Row]) -> None:
    if not rows:
        raise SketchSetError("there is no sketch; give at least a total for each class")
    for row in rows:
        if row.feature is None and (row.value is not None or row.absent):
            raise SketchSetError(
                f"{row}: a row without a feature is a total and has no value; name its feature"
            )
        if row.value == "" or row.feature == "":
            raise SketchSetError(f"{row}: an empty name; leave it out (null) for totals, or name it")
    names = Counter(row[:4] for row in rows)
    if len(names) < len(rows):
        twice = [Row(*name) for name, count in names.items() if count > 1]
        raise SketchSetError(
            f"{twice[0]}: {len(twice)} sketches are given twice; keep one row for each, or merge the parts"
        )


def sorted_labels(labels: set[Label]) -> tuple[Label, ...]:
    """Sort class labels; they must be of one type, and tell apart as text too."""
    types = {type(label) for label in labels}
    if len(types) > 1:
        names = ", ".join(sorted(map(repr, labels)))
        raise SketchSetError(f"class labels of several types: {names}; write all as text, or all as numbers")
    return tuple(sorted(labels))


def _form_of(rows: Sequence[Row]) -> tuple[Form, tuple[Label, ...]]:
    classes = sorted_labels({row.label for row in rows if row.label is not None})
    labelled_features = any(row.label is not None and row.feature is not None for row in rows)
    totals = {row.label for row in rows if row.feature is None}
    form: Form = "per_class"
    if any(row.label is None for row in rows):
        form = "one_vs_all" if labelled_features else "class_free"
    if form == "one_vs_all" and len(classes) > 1:
        raise SketchSetError(
            f"sketches of {len(classes)} classes and of all keys; give either every class, or one class and "
            "all keys"
        )
    needed: list[Label | None] = [*classes] if form == "per_class" else [None, *classes]
    for label in needed:
        if label not in totals:
            whose = "all keys" if label is None else f"class {label!r}"
            raise SketchSetError(f"the total of {whose} is missing; add its row ('total', or feature NULL)")
    return form, classes


def _settle_flags(rows: Sequence[Row], kinds: Mapping[str, Kind]) -> tuple[list[Row], dict[str, Kind]]:
    """A flag's value "0" is its absent sketch. Undeclared features whose only values are "0" and "1" are
    flags.
    """
    values: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.feature is not None and row.value is not None:
            values[row.feature].add(row.value)
    settled = dict(kinds)
    for name, found in values.items():
        if name not in settled and found <= {PRESENT, ABSENT}:
            settled[name] = "flag"
        if settled.get(name) == "flag" and not found <= {PRESENT, ABSENT}:
            odd = min(found - {PRESENT, ABSENT})
            raise SketchSetError(
                f"feature {name!r} is a flag but has the value {odd!r}; flags have '1', and '0' for absent"
            )
    moved = [
        row._replace(value=PRESENT, absent=True)
        if row.value == ABSENT and settled.get(str(row.feature)) == "flag"
        else row
        for row in rows
    ]
    _check_rows(moved)
    return moved, settled


def _features(
    rows: Sequence[Row], column: SketchColumn, kinds: Mapping[str, Kind], declared: Declared, lg_k: int | None
) -> tuple[Feature, ...]:
    values: dict[str, set[str]] = defaultdict(set)
    positions: dict[str, dict[Label | None, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for i, row in enumerate(rows):
        if row.feature is None:
            continue
        values[row.feature].update([] if row.value is None else [row.value])
        if row.value is not None and not row.absent and row.feature not in kinds:
            positions[row.feature][row.label][row.value] = i
    features = []
    for name in sorted(values):
        kind = kinds[name] if name in kinds else _verify(name, values[name], positions[name], column)
        feature = Feature(
            name,
            kind,
            tuple(sorted(values[name])),
            lg_k=declared.lg_k.get(name, lg_k),
            complete=name in declared.complete,
            complement=name not in declared.merged,
        )
        features.append(feature.with_values(feature.values) if kind == "threshold" else feature)
    return tuple(features)


def _verify(
    name: str,
    values: set[str],
    positions: Mapping[Label | None, Mapping[str, int]],
    column: SketchColumn,
) -> Kind:
    ordered = Feature(name, "category", tuple(sorted(values)))
    try:
        ordered = replace(ordered, kind="threshold").with_values(ordered.values)
    except ValueError:
        ordered = replace(ordered, kind="category")
    by_class = [[found[value] for value in ordered.values if value in found] for found in positions.values()]
    return verified_kind(list(ordered.values), by_class, column)


def _sources(
    rows: Sequence[Row], classes: tuple[Label, ...], features: tuple[Feature, ...]
) -> dict[EntryKey, int]:
    klass = {label: i for i, label in enumerate(classes)}
    place = {feature.name: i for i, feature in enumerate(features)}
    value_place = [{value: i for i, value in enumerate(feature.values)} for feature in features]
    sources = {}
    for i, row in enumerate(rows):
        which = ALL if row.label is None else klass[row.label]
        feature = NONE if row.feature is None else place[row.feature]
        value = NONE if row.value is None else value_place[feature][row.value]
        sources[EntryKey(which, feature, value, row.absent)] = i
    return sources


def _complete(data: SketchData, sources: dict[EntryKey, int], empty: int) -> dict[EntryKey, int]:
    """Fill in what a GROUP BY did not return: a value without a row has no keys in that class."""
    owners = data.feature_classes()
    n_present = sum(value != NONE and not absent for _, _, value, absent in sources)
    n_known = sum(feature != NONE and value == NONE for _, feature, value, _ in sources)
    n_values = sum(len(described.values) for described in data.features)
    if n_present == n_values * len(owners) and n_known == 0:
        return sources
    for feature, described in enumerate(data.features):
        owners = [klass for klass in data.feature_classes() if EntryKey(klass, feature, NONE) in sources]
        for klass in data.feature_classes():
            given = [EntryKey(klass, feature, value) in sources for value in range(len(described.values))]
            if owners and klass not in owners:
                total = sources[EntryKey(klass, NONE, NONE)]
                sources[EntryKey(klass, feature, NONE)] = total if any(given) else empty
            for value in range(len(described.values)):
                sources.setdefault(EntryKey(klass, feature, value), empty)
    return sources
