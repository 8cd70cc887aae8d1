"""Which keys of a node sketches can tell: from the rows, and from every chain of set operations there is.

fact: what the rows say of one key and one feature: None is missing. A flag's is True or False, a category's
      its text ("" for none of those in the set), a multi-valued feature's a set of texts, a number's itself.
cell: what a key can be for something tested: a unit by its place, then "none of these", then missing.
atom: one class side and one cell of everything tested: the finest that is spoken of. A node, and what each
      sketch holds, is a set of atoms; an expression is right if it gives the node's atoms.
chain: one sketch that holds the node, then intersections and differences. Those at a θ of t or more can all
      be thrown in: more supersets of the node and more sketches apart from it never hurt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

EXACT = (1 << 63) - 1
ALL, NONE = -1, -1


@dataclass
class Rows:
    """The rows behind a set: a hash, a class and facts for each key.

    overlapping: (feature, value) whose absent sketches also hold keys that are present.
    """

    hashes: list[int]
    classes: list[Any]
    facts: dict[str, list[Any]]
    overlapping: set[tuple[str, str]] = field(default_factory=set)


@dataclass(frozen=True)
class Tested:
    """A feature, or one value of a multi-valued one."""

    feature: int
    kind: str
    values: tuple[int, ...]

    @property
    def n_cells(self):
        return len(self.values) + 2


def tested_of(data):
    """What a tree may test, in the order of features and values."""
    out = []
    for f, feature in enumerate(data.features):
        each = range(len(feature.values))
        if feature.kind == "multi":
            out += [Tested(f, "multi", (i,)) for i in each]
        else:
            out.append(Tested(f, feature.kind, tuple(each)))
    return out


def cell_of(feature, tested, fact):
    """The cell that a fact falls into."""
    none, missing = len(tested.values), len(tested.values) + 1
    if fact is None:
        return missing
    if tested.kind == "flag":
        return 0 if fact else none
    if tested.kind == "multi":
        return 0 if feature.values[tested.values[0]] in fact else none
    if tested.kind == "threshold":
        return next((i for i, edge in enumerate(feature.edges) if fact <= edge), none)
    return feature.values.index(fact) if fact in feature.values else none


def cells_of(rows, data, tested):
    """The cell of every key, for one thing tested."""
    feature = data.features[tested.feature]
    return [cell_of(feature, tested, fact) for fact in rows.facts[feature.name]]


def in_class(rows, data, klass):
    """Whether each key is of a class, by its place among the labels; one-vs-all's are the rest and it."""
    if data.form == "one_vs_all":
        return [(label == data.classes[0]) == (klass == 1) for label in rows.classes]
    return [label == data.classes[klass] for label in rows.classes]


def true_keys(rows, data, klass, allowed):
    """The hashes of a node's keys, by the rows. `allowed` has marks by cell, by place in `tested_of`."""
    tested = tested_of(data)
    keep = in_class(rows, data, klass)
    for place, marks in allowed.items():
        keep = [
            kept and bool(marks[cell])
            for kept, cell in zip(keep, cells_of(rows, data, tested[place]), strict=True)
        ]
    return {h for h, kept in zip(rows.hashes, keep, strict=True) if kept}


# Atoms are an array of booleans: two sides (the node's class, all others), then an axis for each thing
# tested, on which "present, yet also in absent" follows the cells.


@dataclass
class Held:
    """A sketch as the atoms it holds. `group` names what may be united: the values of one category."""

    theta: int
    atoms: np.ndarray
    group: tuple[int, int] | None = None
    overlapping: bool = False


class Atoms:
    """The atoms of a node's tests, and the sketches as sets of them."""

    def __init__(self, rows, data, klass, allowed, *, beside=None):
        self.rows, self.data, self.klass = rows, data, klass
        every = tested_of(data)
        places = [*allowed] + ([] if beside is None else [beside])
        self.tested = [every[place] for place in places]
        self.shape = (2, *(one.n_cells + 1 for one in self.tested))
        self.possible = np.ones(self.shape, bool)
        for axis in range(len(places)):
            self._strike_impossible(axis)
        within = {axis: [*allowed[p], allowed[p][0]] for axis, p in enumerate(places) if p in allowed}
        self.node = self._box(0, within) & self.possible
        self.sketches = list(self._sketches())

    def _box(self, side, within):
        """Atoms of a side (None: both) within these cells of some axes."""
        box = np.zeros(self.shape, bool)
        box[slice(None) if side is None else side] = True
        for axis, cells in within.items():
            shape = [1] * len(self.shape)
            shape[axis + 1] = -1
            box &= np.array(cells, bool).reshape(shape)
        return box

    def _strike_impossible(self, axis):
        one = self.tested[axis]
        none, missing, both = len(one.values), len(one.values) + 1, len(one.values) + 2

        def only(*cells):
            return [cell in cells for cell in range(both + 1)]

        if not any(key.feature == one.feature and key.value == NONE for key in self.data.entries.keys):
            self.possible &= ~self._box(None, {axis: only(missing)})
        if not self._overlapping(one):
            self.possible &= ~self._box(None, {axis: only(both)})
        # Hashes can not show that every known key has one of the values: only the builder can say so.
        if one.kind == "category" and self.data.features[one.feature].complete:
            self.possible &= ~self._box(None, {axis: only(none)})
        for before in range(axis):  # values of one feature are missing together
            other = self.tested[before]
            if other.feature == one.feature:
                here, there = self._box(None, {axis: only(missing)}), self._missing(before)
                self.possible &= here == there

    def _missing(self, axis):
        n = self.tested[axis].n_cells
        return self._box(None, {axis: [cell == n - 1 for cell in range(n + 1)]})

    def _overlapping(self, one):
        """Whether absent sketches may hold present keys: they do, or nobody vouches that they do not."""
        feature = self.data.features[one.feature]
        return (
            not feature.complement or (feature.name, feature.values[one.values[0]]) in self.rows.overlapping
        )

    def _sketches(self):
        """Every sketch that tells of this class and these tests."""
        data = self.data
        sides = {"per_class": {self.klass: 0}, "class_free": {ALL: None, self.klass: 0}}
        sides["one_vs_all"] = {ALL: None, 0: 0 if self.klass == 1 else 1}
        for entry, key in enumerate(data.entries.keys):
            if key.klass not in sides[data.form]:
                continue
            side, theta = sides[data.form][key.klass], int(data.column.thetas[entry])
            if key.feature == NONE:
                yield Held(theta, self._box(side, {}) & self.possible)
            for axis, one in enumerate(self.tested):
                if one.feature == key.feature and (key.value == NONE or key.value in one.values):
                    atoms = self._box(side, {axis: _cells_held(one, key)}) & self.possible
                    single = one.kind == "category" and key.value != NONE
                    group = (key.klass, axis) if single else None
                    yield Held(theta, atoms, group, key.absent and self._overlapping(one))


def _cells_held(one, key):
    """Which cells of something tested an entry holds; the last is "present, yet also in absent"."""
    none, missing, both = len(one.values), len(one.values) + 1, len(one.values) + 2
    if key.value == NONE:
        held = {*range(both + 1)} - {missing}
    elif key.absent:
        held = {none, both}
    elif one.kind == "threshold":
        held = {*range(key.value + 1)}
    elif one.kind == "category":
        held = {key.value}
    else:
        held = {0, both}
    return [cell in held for cell in range(both + 1)]


def _unions_of_categories(sketches):
    """What several values of one category hold together, at the least θ of them."""
    out = []
    for group in {held.group for held in sketches} - {None}:
        values = [held for held in sketches if held.group == group]
        for which in range(1, 1 << len(values)):
            chosen = [held for i, held in enumerate(values) if which >> i & 1]
            atoms = np.any([held.atoms for held in chosen], axis=0)
            out.append(Held(min(held.theta for held in chosen), atoms))
    return out


def best_chain(rows, data, klass, allowed):
    """The greatest θ of any chain of intersections and differences that gives the node; 0 if none does."""
    atoms = Atoms(rows, data, klass, allowed)
    if not atoms.node.any():
        return 0  # no key can be there, and any expression that cancels itself would do
    sketches = [held for held in atoms.sketches if not held.overlapping]
    sketches += _unions_of_categories(sketches)
    return _greatest(sketches, lambda available: _chains_to(atoms.node, available))


def _chains_to(node, available):
    around = [held for held in available if not (node & ~held).any()]
    apart = [held for held in available if not (node & held).any()]
    if not around:
        return False
    reached = np.all(around, axis=0)
    for held in apart:
        reached = reached & ~held
    return bool((reached == node).all())


def best_possible(rows, data, klass, allowed):
    """The greatest θ at which the sketches determine the node at all, unions of any of them included.

    A key that is held by some of them is known by which ones hold it; so the node must be told apart by that.
    One feature that the node does not test may help too: what all its values together hold.
    """
    others = [p for p in range(len(tested_of(data))) if p not in allowed]
    return max(_possible(Atoms(rows, data, klass, allowed, beside=p)) for p in [None, *others])


def _possible(atoms):
    if not atoms.node.any():
        return EXACT
    return _greatest(atoms.sketches, lambda available: _determines(atoms, available))


def _determines(atoms, available):
    signature = np.zeros(atoms.shape, np.uint64)
    for i, held in enumerate(available):
        signature |= held.astype(np.uint64) << np.uint64(i)
    inside = {*signature[atoms.node].tolist()}
    outside = {*signature[atoms.possible & ~atoms.node].tolist()}
    return 0 not in inside and not inside & outside


def _greatest(sketches, works):
    """The greatest t at which the sketches of a θ of t or more do: the more there are, the better."""
    thetas = sorted({held.theta for held in sketches} | {EXACT}, reverse=True)
    low, high = 0, len(thetas)
    while low < high:
        middle = (low + high) // 2
        if works([held.atoms for held in sketches if held.theta >= thetas[middle]]):
            high = middle
        else:
            low = middle + 1
    return thetas[low] if low < len(thetas) else 0
