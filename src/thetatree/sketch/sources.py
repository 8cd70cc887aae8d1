"""A sketch set as the resolver reads it: per class, which sketch tells what.

unit: one value of one feature, in the order of features and values; a feature whose values may hold together
(multi) is a row of flags here. An absent sketch takes part only where it is verified to be what the known
keys hold beside the present ones: after a merge of days it no longer is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thetatree import _kernel
from thetatree.sketch.data import ALL, SketchData

_WHAT = ("total", "present", "absent", "known")  # what a class has sketches of
_ONLY = (0,)
FLAG, CATEGORY, THRESHOLD = 0, 1, 2
CELL_KINDS = {"flag": FLAG, "multi": FLAG, "category": CATEGORY, "threshold": THRESHOLD}


class Tested(NamedTuple):
    """What a tree may test: a feature of the set, or one value of a multi-valued one."""

    name: str
    feature: int
    kind: int
    values: tuple[int, ...]


@dataclass(frozen=True)
class Sources:
    """The sketches by class, and the classes' exact sizes where they are known (else -1)."""

    data: SketchData
    tested: tuple[Tested, ...]
    classes: list[dict[str, Any]]
    labels: tuple[Any, ...]
    exact_n: list[float]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Cell kind and number of units of everything tested."""
        return [(one.kind, len(one.values)) for one in self.tested]

    @property
    def cells(self) -> list[tuple[int, int, bool]]:
        """Cell kind, number of units and completeness of everything tested."""
        features = self.data.features
        return [(one.kind, len(one.values), features[one.feature].complete) for one in self.tested]

    def resolve(self, klass: int, allowed: dict[int, list[int]]) -> tuple[npt.NDArray[np.uint64], float]:
        """Give the keys of a class that are in the allowed cells: held hashes below τ, and τ.

        `allowed` has a mark per cell, by place in `tested`: a cell per value, then "none of these" (absent,
        above all cuts), then missing.
        """
        column = self.data.column
        [(hashes, tau)] = _kernel.resolve_each(
            column.hashes,
            column.offsets,
            column.thetas,
            self.classes[klass],
            self.cells,
            [list(allowed.items())],
        )
        return hashes, tau / (1 << 63) if tau < (1 << 63) - 1 else 1.0

    def has_unlisted(self, place: int) -> bool:
        """Whether any known key is seen to have none of the values of a category."""
        feature = self.data.features[self.tested[place].feature]
        if feature.kind != "category" or feature.complete:
            return False
        return any(_has_others(self.data, c, self.tested[place].feature) for c in self.data.feature_classes())

    def class_sizes(self) -> npt.NDArray[np.float64]:
        """Give how many keys each class has, exactly or by its total."""
        return np.array(
            [
                exact if exact >= 0 else self._estimated_size(source)
                for exact, source in zip(self.exact_n, self.classes, strict=True)
            ]
        )

    def _estimated_size(self, source: dict[str, Any]) -> float:
        column = self.data.column.take([source["only"] if source["only"] >= 0 else source["total"]])
        if source["other_total"] >= 0:
            column = self.data.column.subtract([source["total"]], [source["other_total"]])
        return float(column.held[0] / column.theta[0])


def tested_features(data: SketchData) -> tuple[Tested, ...]:
    """List what a tree may test, in the order of features and values."""
    tested: list[Tested] = []
    for f, feature in enumerate(data.features):
        kind = CELL_KINDS[feature.kind]
        if feature.kind == "multi":
            tested += [Tested(feature.literal(v), f, kind, (i,)) for i, v in enumerate(feature.values)]
        else:
            places = _ONLY if len(feature.values) == 1 else tuple(range(len(feature.values)))
            tested.append(Tested(feature.name, f, kind, places))
    return tuple(tested)


def sources_of(data: SketchData, tested: tuple[Tested, ...], *, use_absent: bool = True) -> Sources:
    """Find each class's sketches, whatever form the set has."""
    n = data.entries.n
    if data.form == "per_class":
        classes = [_own(data, tested, c, use_absent) for c in range(len(data.classes))]
        exact = [float(n[data.entries.total(c)]) for c in range(len(data.classes))]
        return Sources(data, tested, classes, data.classes, exact)
    whole = _own(data, tested, ALL, use_absent)
    if data.form == "class_free":
        totals = [data.entries.total(c) for c in range(len(data.classes))]
        return Sources(
            data, tested, [{**whole, "only": t} for t in totals], data.classes, [float(n[t]) for t in totals]
        )
    own = _own(data, tested, 0, use_absent)
    rest = {**whole, **{f"other_{what}": own[what] for what in _WHAT}}
    own |= {f"whole_{what}": whole[what] for what in _WHAT}
    n_all, n_own = float(n[data.entries.total(ALL)]), float(n[data.entries.total(0)])
    exact = [n_all - n_own if min(n_all, n_own) >= 0 else -1.0, n_own]
    return Sources(data, tested, [rest, own], ("rest", data.classes[0]), exact)


def source_of_all(data: SketchData, tested: tuple[Tested, ...]) -> dict[str, Any]:
    """Find the sketches of all keys in a class-free set."""
    return _own(data, tested, ALL, use_absent=True)


def _own(data: SketchData, tested: tuple[Tested, ...], klass: int, use_absent: bool) -> dict[str, Any]:
    entries = data.entries
    present: list[int] = []
    absent: list[int] = []
    known: list[int] = []
    no_absent = not use_absent or not entries.absent
    for one in tested:
        values = entries.values(klass, one.feature)
        present += values if len(one.values) == len(values) else [values[v] for v in one.values]
        apart = entries.apart(klass, one.feature)
        known.append(-1 if apart is None else apart)
        if no_absent:
            absent += [-1] * len(one.values)
            continue
        usable = one.kind == 0 and data.features[one.feature].complement
        for v in one.values:
            found = entries.find(klass, one.feature, v, absent=True) if usable else None
            absent.append(-1 if found is None else found)
    source = {
        "total": entries.total(klass),
        "present": present,
        "absent": absent,
        "known": known,
        "only": -1,
    }
    nothing = {"total": -1, "present": [-1] * len(present), "absent": [-1] * len(present)}
    nothing["known"] = [-1] * len(tested)
    source |= {f"{side}_{what}": nothing[what] for side in ("other", "whole") for what in _WHAT}
    _drop_unverified(data, source, tested, klass)
    return source


def _drop_unverified(
    data: SketchData, source: dict[str, Any], tested: tuple[Tested, ...], klass: int
) -> None:
    units = [unit for unit, entry in enumerate(source["absent"]) if entry >= 0]
    if not units:
        return
    feature_of = [one.feature for one in tested for _ in one.values]
    column = data.column
    a = [source["absent"][u] for u in units]
    p = [source["present"][u] for u in units]
    k = [data.entries.known(klass, feature_of[u]) for u in units]
    shared = column.overlaps(a, p)[:, 0]
    inside = column.overlaps(a, k)
    for i, unit in enumerate(units):
        theta = min(int(column.thetas[j]) for j in (a[i], p[i], k[i]))
        below = [_held_below(data, j, theta) for j in (a[i], p[i], k[i])]
        complement = shared[i] == 0 and inside[i, 0] == inside[i, 1] and below[0] + below[1] == below[2]
        if not complement:
            source["absent"][unit] = -1


def _has_others(data: SketchData, klass: int, feature: int) -> bool:
    """Whether keys are known for a feature beside those of its values, which share none and are known."""
    entries = [data.entries.known(klass, feature), *data.entries.values(klass, feature)]
    theta = min(int(data.column.thetas[i]) for i in entries)
    known, *values = (_held_below(data, i, theta) for i in entries)
    return known > sum(values)


def _held_below(data: SketchData, entry: int, theta: int) -> int:
    column = data.column
    hashes = column.hashes[column.offsets[entry] : column.offsets[entry + 1]]
    return int(np.searchsorted(hashes, np.uint64(theta))) if theta < (1 << 63) - 1 else len(hashes)
