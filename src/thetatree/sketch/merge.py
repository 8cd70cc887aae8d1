"""Uniting sketch sets: partitions, days, owners.

The union of two trimmed sketches, trimmed, is the trimmed sketch of the union: so merging in any order and
grouping gives the bytes of one pass over all rows. k is the least that the parts declare, entry by entry
where features differ.

A feature that only some parts have keeps those parts' totals as its known keys: the others say nothing about
it. Where one key is present in one part and absent in another, it stays in both unions, and whoever reads
them lets present win.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from thetatree.sketch.assemble import sorted_labels
from thetatree.sketch.check import check
from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import ALL, NONE, Entries, EntryKey, Form, Label, Origin, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.kinds import Feature

# Where an entry's sketches are found: (part, position in the part).
Places = dict[EntryKey, list[tuple[int, int]]]


def merge(parts: Sequence[SketchData]) -> SketchData:
    """Unite sets of the same key, hash and form."""
    origin = _common_origin(parts)
    form = _common_form(parts)
    classes = sorted_labels({label for part in parts for label in part.classes})
    features = _common_features(parts)
    places = _places(parts, classes, features)
    data = SketchData(
        form, classes, features, Entries((), np.empty(0, np.int64)), SketchColumn.empty(0), origin
    )
    keys = sorted(places)
    column = _unite(parts, [places[key] for key in keys], [_k_of(key, data) for key in keys])
    n = np.where(column.exact, column.held, -1)
    merged = replace(data, entries=Entries(tuple(keys), n), column=column)
    check(merged)
    return merged


def _unite(parts: Sequence[SketchData], places: list[list[tuple[int, int]]], k: list[int]) -> SketchColumn:
    starts = np.cumsum([0, *(len(part.column) for part in parts)])
    together = SketchColumn.concatenate([part.column for part in parts])
    return together.unite([[int(starts[part]) + i for part, i in group] for group in places], k)


def _k_of(key: EntryKey, data: SketchData) -> int:
    plain = key.value == NONE
    lg_k = data.origin.lg_k if plain else data.features[key.feature].lg_k
    return 0 if lg_k is None else 1 << lg_k


def _places(parts: Sequence[SketchData], classes: tuple[Label, ...], features: tuple[Feature, ...]) -> Places:
    """Where the sketches of each entry of the merged set are; a part without a class has no key of it."""
    klass_at = {label: i for i, label in enumerate(classes)}
    feature_at = {feature.name: i for i, feature in enumerate(features)}
    value_at = [{value: i for i, value in enumerate(feature.values)} for feature in features]
    places: Places = defaultdict(list)
    for p, part in enumerate(parts):
        klass = [*(klass_at[label] for label in part.classes), ALL]
        for i, key in enumerate(part.entries.keys):
            feature, value = NONE, NONE
            if key.feature != NONE:
                described = part.features[key.feature]
                feature = feature_at[described.name]
                value = NONE if key.value == NONE else value_at[feature][described.values[key.value]]
            places[EntryKey(klass[key.klass], feature, value, key.absent)].append((p, i))
    _fill_known(places, parts, klass_at, features)
    _fill_empty(places, parts, classes, features)
    return places


def _fill_known(
    places: Places, parts: Sequence[SketchData], klass_at: dict[Label, int], features: tuple[Feature, ...]
) -> None:
    """A feature that not every part has, or whose known keys some part keeps apart, gets known sketches."""
    for f, feature in enumerate(features):
        owners = {p: _index(part, feature.name) for p, part in enumerate(parts)}
        having = {p: i for p, i in owners.items() if i is not None}
        apart = any(
            key.feature == i and key.value == NONE for p, i in having.items() for key in parts[p].entries.keys
        )
        if len(having) == len(parts) and not apart:
            continue
        for p, i in having.items():
            part = parts[p]
            for klass in part.feature_classes():
                target = EntryKey(ALL if klass == ALL else klass_at[part.classes[klass]], f, NONE)
                place = (p, part.entries.known(klass, i))
                if place not in places[target]:
                    places[target].append(place)


def _fill_empty(
    places: Places, parts: Sequence[SketchData], classes: tuple[Label, ...], features: tuple[Feature, ...]
) -> None:
    form = parts[0].form
    own = list(range(len(classes)))
    for klass in {"class_free": [ALL], "one_vs_all": [ALL, *own], "per_class": own}[form]:
        for f, feature in enumerate(features):
            for value in range(len(feature.values)):
                places.setdefault(EntryKey(klass, f, value), [])  # the empty set
    apart = {key.feature for key in places if key.feature != NONE and key.value == NONE}
    for klass in [ALL, *own] if form != "per_class" else own:
        places.setdefault(EntryKey(klass, NONE, NONE), [])
        for f in apart if form != "class_free" or klass == ALL else ():
            places.setdefault(EntryKey(klass, f, NONE), [])


def _index(part: SketchData, name: str) -> int | None:
    return next((i for i, feature in enumerate(part.features) if feature.name == name), None)


def _common_form(parts: Sequence[SketchData]) -> Form:
    forms = sorted({part.form for part in parts})
    if len(forms) > 1:
        raise SketchSetError(
            f"sets of the forms {' and '.join(forms)} cannot be merged; make them in one form"
        )
    return forms[0]


def _common_origin(parts: Sequence[SketchData]) -> Origin:
    for name in ("hash_family", "seed", "key", "target", "key_type"):
        found = {getattr(part.origin, name) for part in parts} - {None}
        if len(found) > 1:
            shown = " and ".join(sorted(map(repr, found)))
            raise SketchSetError(
                f"sets whose {name} is {shown} cannot be merged; sketch them with the same {name}"
            )
    declared = [part.origin.lg_k for part in parts if part.origin.lg_k is not None]
    merged = parts[0].origin
    for part in parts[1:]:
        for name in ("key", "target", "key_type"):
            merged = replace(merged, **{name: getattr(merged, name) or getattr(part.origin, name)})
    return replace(merged, lg_k=min(declared, default=None))


def _common_features(parts: Sequence[SketchData]) -> tuple[Feature, ...]:
    by_name: dict[str, list[Feature]] = defaultdict(list)
    for part in parts:
        for feature in part.features:
            by_name[feature.name].append(feature)
    absent = Counter(name for part in parts for name in _with_absent(part))
    return tuple(_common_feature(by_name[name], absent[name] > 1) for name in sorted(by_name))


def _with_absent(part: SketchData) -> set[str]:
    return {part.features[key.feature].name for key in part.entries.keys if key.absent}


def _common_feature(found: list[Feature], several_absent: bool) -> Feature:
    first = found[0]
    for other in found[1:]:
        if other.kind != first.kind:
            raise SketchSetError(
                f"feature {first.name!r} is a {first.kind} in one set and a {other.kind} in another; "
                "declare one kind"
            )
        if other.edges != first.edges:
            raise SketchSetError(
                f"feature {first.name!r} has other edges in another set ({_shown(first)} against "
                f"{_shown(other)}); "
                "sketch the parts with like=, or with the same edges="
            )
    values = sorted({value for feature in found for value in feature.values})
    declared = [feature.lg_k for feature in found if feature.lg_k is not None]
    common = replace(
        first,
        lg_k=min(declared, default=None),
        complete=all(feature.complete for feature in found),
        complement=all(feature.complement for feature in found) and not several_absent,
    )
    return common.with_values(values)


def _shown(feature: Feature) -> str:
    edges = [f"{edge:g}" for edge in feature.edges[:4]]
    return ", ".join(edges) + (f", … {len(feature.edges)} in all" if len(feature.edges) > 4 else "")
