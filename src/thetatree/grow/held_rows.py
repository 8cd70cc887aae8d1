"""A sketch set as rows: the keys of which its sketches know everything.

Below the least θ of a class's sketches every key of the class is held, with all its values: a random sample
of the class, since hashes are random. Where classes have samples of unlike shares their keys are weighed, and
the weights add up to as many cases as the sample is worth (Kish 1965), so that what is reckoned with for want
of cases is honest. Where every θ is 1 these are the rows.

A number has the least cut that it does not lie above for its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.features import Feature
from thetatree.data.rows import Column, Rows
from thetatree.grow.from_sketches import tree_features
from thetatree.sketch.sources import CATEGORY, FLAG, Sources, Tested
from thetatree.tree.estimates import Estimates
from thetatree.tree.tree import Tree

_WHOLE = (1 << 63) - 1  # θ = 1 as it is stored


@dataclass(frozen=True)
class HeldRows:
    """Rows of held keys, and by class what a key weighs and what the keys stand for."""

    rows: Rows
    features: list[Feature]
    codes: NDArray[np.int32]  # of each key's class
    labels: tuple[Any, ...]
    worth: NDArray[np.float64]
    theta: NDArray[np.float64]
    held: NDArray[np.float64]
    size: NDArray[np.float64]

    def weight(self, class_weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return what each key weighs; None where that is 1."""
        by_class = self.worth * class_weight
        return None if (by_class == 1).all() else by_class[self.codes]

    def estimated(self, tree: Tree, class_weight: NDArray[np.float64]) -> Tree:
        """Return the tree with counts of all keys in place of the weights of held ones."""
        per_key = np.maximum(self.worth * class_weight, 1e-300)
        held = tree.values * tree.weighted_n_node_samples[:, np.newaxis] / per_key
        count = held * (self.size / self.held)
        error = np.sqrt(count * (1 - self.theta) / self.theta)
        weighted = (count * class_weight).sum(axis=1)
        stands_for = count.sum(axis=1) / np.maximum(held.sum(axis=1), 1e-300)
        return replace(
            tree,
            weighted_n_node_samples=_frozen(weighted),
            n_node_samples=_frozen(np.rint(tree.n_node_samples * stands_for).astype(np.int64)),
            estimates=Estimates(
                count=_frozen(count),
                standard_error=_frozen(error),
                theta=_frozen(np.broadcast_to(self.theta, count.shape).copy()),
                held=_frozen(held.sum(axis=1)),
            ),
        )


def held_rows(sources: Sources) -> HeldRows:
    """Read the keys of which everything is known."""
    parts = [_class_rows(sources, c) for c in range(len(sources.labels))]
    held = np.array([codes.shape[1] for codes, _ in parts], dtype=np.float64)
    for label, n in zip(sources.labels, held, strict=True):
        if n == 0:
            raise ValueError(f"the sketches hold no key of class {label!r} of which all features are known")
    codes = np.concatenate([codes for codes, _ in parts], axis=1)
    features = [replace(f, unlisted=False) for f in tree_features(sources)]
    columns = [
        Column(f.name, f.kind, _values(sources, one, cells), f.labels)
        for f, one, cells in zip(features, sources.tested, codes, strict=True)
    ]
    size = sources.class_sizes()
    return HeldRows(
        rows=Rows(int(held.sum()), [f.name for f in features], columns),
        features=features,
        codes=np.repeat(np.arange(len(held), dtype=np.int32), held.astype(np.int64)),
        labels=sources.labels,
        worth=_worth(size / held, held),
        theta=np.array([tau for _, tau in parts]),
        held=held,
        size=size,
    )


def _worth(stands_for: NDArray[np.float64], held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale weights so that they add up to the number of equal cases that would tell as much."""
    if np.ptp(stands_for) <= 1e-12 * stands_for.max():
        return np.ones(len(held))
    return np.asarray(stands_for * (stands_for @ held) / (stands_for**2 @ held))


def _class_rows(sources: Sources, klass: int) -> tuple[NDArray[np.int32], float]:
    """Return the cell of each key in each feature, features by keys, and the θ below which all are known."""
    asked: list[list[tuple[int, list[int]]]] = [[]]
    for place, one in enumerate(sources.tested):
        n_cells = len(one.values) + 2  # none of the values, and missing
        asked += [[(place, [int(c == cell) for c in range(n_cells)])] for cell in range(n_cells - 1)]
    column = sources.data.column
    found = _kernel.resolve_each(
        column.hashes, column.offsets, column.thetas, sources.classes[klass], sources.cells, asked
    )
    tau = min(limit for _, limit in found)
    below = (keys if tau >= _WHOLE else keys[keys < tau] for keys, _ in found)
    return _codes(sources, next(below), below), 1.0 if tau >= _WHOLE else tau / (1 << 63)


def _codes(
    sources: Sources, keys: NDArray[np.uint64], cells: Iterator[NDArray[np.uint64]]
) -> NDArray[np.int32]:
    keys = np.sort(keys)
    codes = np.full((len(sources.tested), len(keys)), -1, dtype=np.int32)
    for place, one in enumerate(sources.tested):
        for cell in range(len(one.values) + 1):
            codes[place, np.searchsorted(keys, next(cells))] = cell
    return codes


def _values(sources: Sources, one: Tested, cells: NDArray[np.int32]) -> NDArray[Any]:
    """Return what a column holds: a flag, a category's code, or the cut that a number is placed at."""
    if one.kind == FLAG:
        flags = np.array([1, 0, -1], dtype=np.int8)
        values = flags[cells]
        return values if (cells < 0).any() else values.view(np.uint8)
    if one.kind == CATEGORY:
        return np.where(cells == len(one.values), -1, cells).astype(np.int32)
    edges = np.array(sources.data.features[one.feature].edges)
    finite = edges[np.isfinite(edges)]
    beyond = np.nextafter(finite[-1], np.inf) if len(finite) else 0.0  # above all cuts but an infinite one
    places = np.array([*np.where(np.isfinite(edges), edges, beyond), beyond, np.nan])
    return np.asarray(places[cells])


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
