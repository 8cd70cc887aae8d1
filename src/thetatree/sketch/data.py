"""What a sketch set consists of, as plain immutable data; everything else in this folder makes it or reads
it.

entry: one sketch and what it is the sketch of. An entry belongs to a class or to all keys (class -1); it is a
total (feature -1), the keys known to have a value for a feature (value -1), or the keys for which one value
is present or absent.

form: ``per_class`` has every entry per class. ``one_vs_all`` has them for one class and for all keys.
``class_free`` has features for all keys, and of each class just the total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from thetatree.sketch.column import SketchColumn
from thetatree.sketch.kinds import Feature
from thetatree.sketch.wire import DEFAULT_SEED

Label = str | int | float | bool
Form = Literal["per_class", "one_vs_all", "class_free"]

ALL = -1  # the class of entries about all keys
NONE = -1  # no feature: a total; no value: a feature's known keys
HASH_FAMILY = "datasketches-murmur3"


class Row(NamedTuple):
    """One sketch as a source names it, before it is an entry."""

    label: Label | None
    feature: str | None
    value: str | None
    absent: bool = False
    n: int = -1

    def __str__(self) -> str:
        """Name the sketch for error messages."""
        what = "total" if self.feature is None else f"feature {self.feature!r}"
        if self.feature is not None:
            what += ", known keys" if self.value is None else f", value {self.value!r}"
        what += ", absent" if self.absent else ""
        return what if self.label is None else f"class {self.label!r}, {what}"


class EntryKey(NamedTuple):
    """What an entry is about, as positions in the set's classes, features and values."""

    klass: int
    feature: int
    value: int
    absent: bool = False


@dataclass(frozen=True)
class Origin:
    """Where a set's hashes come from: sets can be merged only if these agree."""

    key: str | None = None
    target: str | None = None
    lg_k: int | None = None
    seed: int = DEFAULT_SEED
    hash_family: str = HASH_FAMILY
    key_type: str | None = None  # int, float or text: one id hashes differently as each


@dataclass(frozen=True, eq=False)
class Entries:
    """The table beside the column: entry i is about keys[i]; n[i] is its exact count where known, else -1."""

    keys: tuple[EntryKey, ...]
    n: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        """Freeze the counts."""
        self.n.setflags(write=False)

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def index(self) -> dict[EntryKey, int]:
        """Where each entry is."""
        return {key: i for i, key in enumerate(self.keys)}

    def find(self, klass: int, feature: int = NONE, value: int = NONE, *, absent: bool = False) -> int | None:
        """Give the position of an entry, or None."""
        return self.index.get(EntryKey(klass, feature, value, absent))

    def total(self, klass: int) -> int:
        """Give the position of a class's total."""
        return self._plain[klass, NONE]

    def apart(self, klass: int, feature: int) -> int | None:
        """Give the position of a feature's known keys where they are kept apart from the total."""
        return self._plain.get((klass, feature))

    def known(self, klass: int, feature: int) -> int:
        """Give the position of the keys known to have a value for a feature: the total, unless kept apart."""
        found = self._plain.get((klass, feature))
        return self._plain[klass, NONE] if found is None else found

    def values(self, klass: int, feature: int) -> list[int]:
        """Give the positions of the present sketches of a feature, in the order of its values."""
        return self._by_feature.get((klass, feature), [])

    @cached_property
    def absent(self) -> list[int]:
        """Where the absent sketches are."""
        return [i for i, key in enumerate(self.keys) if key[3]]

    @cached_property
    def _plain(self) -> dict[tuple[int, int], int]:
        return {(key[0], key[1]): i for i, key in enumerate(self.keys) if key[2] == NONE}

    @cached_property
    def _by_feature(self) -> dict[tuple[int, int], list[int]]:
        positions: dict[tuple[int, int], list[int]] = {}
        for i, (klass, feature, value, absent) in enumerate(self.keys):
            if value != NONE and not absent:
                positions.setdefault((klass, feature), []).append(i)
        return positions


@dataclass(frozen=True, eq=False)
class SketchData:
    """Everything in a sketch set. Entries are sorted by class, feature, value, present before absent.

    Attributes
    ----------
    form
        per_class, one_vs_all or class_free.
    classes
        The labels, sorted; for one_vs_all the one class that has sketches of its own.
    features
        Sorted by name.
    entries, column
        What each sketch is about, and the sketches, position by position.
    origin
        Key, target, hash family and seed.
    """

    form: Form
    classes: tuple[Label, ...]
    features: tuple[Feature, ...]
    entries: Entries
    column: SketchColumn
    origin: Origin = field(default_factory=Origin)

    def row(self, i: int) -> Row:
        """Name entry i in words."""
        key = self.entries.keys[i]
        label = None if key.klass == ALL else self.classes[key.klass]
        if key.feature == NONE:
            return Row(label, None, None, n=int(self.entries.n[i]))
        feature = self.features[key.feature]
        value = None if key.value == NONE else feature.values[key.value]
        return Row(label, feature.name, value, key.absent, int(self.entries.n[i]))

    def rows(self) -> list[Row]:
        """Name all entries."""
        return [self.row(i) for i in range(len(self.entries))]

    def feature_classes(self) -> Sequence[int]:
        """Give the classes whose entries tell about features."""
        if self.form == "class_free":
            return [ALL]
        own = list(range(len(self.classes)))
        return [ALL, *own] if self.form == "one_vs_all" else own

    def groups(self) -> Iterator[tuple[int, int]]:
        """Run over (class, feature) wherever there are entries."""
        for klass in self.feature_classes():
            for feature in range(len(self.features)):
                yield klass, feature
