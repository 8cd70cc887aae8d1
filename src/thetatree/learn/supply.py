"""What an estimator grows and judges trees from: rows, or a sketch set, through one door.

Pruning by held-out keys, cross-validation and honest leaves are then written once, whatever holds the
keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from thetatree.data.rows import Rows, select
from thetatree.data.target import Target
from thetatree.grow.count_tree import count_tree
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import Sources
from thetatree.tree.estimates import Estimates
from thetatree.tree.held_out import HeldOut, count_losses, row_losses
from thetatree.tree.refill import refilled_by_counts, refilled_by_rows
from thetatree.tree.tree import Tree


class Supply(Protocol):
    """Keys that trees can be grown from, judged by and filled with."""

    def grow(self) -> Tree:
        """Grow a tree from these keys, unpruned."""

    def losses(self, tree: Tree) -> HeldOut:
        """Judge a tree's nodes by these keys."""

    def refilled(self, tree: Tree) -> Tree:
        """Fill a tree's nodes with these keys."""

    def split(self, share: float, seed: int) -> tuple[Self, Self]:
        """Part the keys in two: (the others, a share of them)."""

    def folds(self, n: int, seed: int) -> Iterator[tuple[Self, Self]]:
        """Part the keys n ways: (all but one fold, that fold)."""


@dataclass(frozen=True)
class RowSupply:
    """Rows with their target; `grower` grows a tree from some of them."""

    rows: Rows
    target: Target
    grower: Callable[[Rows, Target], Tree]
    n_jobs: int | None = None

    def grow(self) -> Tree:
        """Grow a tree from these rows, unpruned."""
        return self.grower(self.rows, self.target)

    def losses(self, tree: Tree) -> HeldOut:
        """Judge a tree's nodes by these rows."""
        leaves = tree.apply_rows(self.rows, self.n_jobs)
        return row_losses(tree, leaves, self.target.y, self.target.weight)

    def refilled(self, tree: Tree) -> Tree:
        """Fill a tree's nodes with these rows."""
        leaves = tree.apply_rows(self.rows, self.n_jobs)
        return refilled_by_rows(tree, leaves, self.target.y, self.target.weight)

    def split(self, share: float, seed: int) -> tuple[RowSupply, RowSupply]:
        """Part the rows in two, each class by the same share."""
        place = self._places(seed)
        return self._apart(np.floor((place + 1) * share) > np.floor(place * share), f"a share of {share:g}")

    def folds(self, n: int, seed: int) -> Iterator[tuple[RowSupply, RowSupply]]:
        """Part the rows n ways, each class evenly."""
        place = self._places(seed)
        for fold in range(n):
            yield self._apart(place % n == fold, f"{n} folds")

    def _places(self, seed: int) -> NDArray[np.int64]:
        """The place of each row in an order of chance, one class after the other."""
        drawn = np.random.default_rng(seed).permutation(self.rows.n_rows)
        if self.target.classes is not None:
            drawn = drawn[np.argsort(self.target.y[drawn], kind="stable")]
        place = np.empty(len(drawn), dtype=np.int64)
        place[drawn] = np.arange(len(drawn))
        return place

    def _apart(self, chosen: NDArray[np.bool_], what: str) -> tuple[RowSupply, RowSupply]:
        if chosen.all() or not chosen.any():
            raise ValueError(f"{self.rows.n_rows} rows are too few for {what}: a part would be empty")
        return self._part(~chosen), self._part(chosen)

    def _part(self, keep: NDArray[np.bool_]) -> RowSupply:
        weight = self.target.weight
        part = Target(self.target.y[keep], self.target.classes, None if weight is None else weight[keep])
        return RowSupply(select(self.rows, keep), part, self.grower, self.n_jobs)


@dataclass(frozen=True)
class SketchSupply:
    """A sketch set.

    `labels` are the tree's labels of its classes, in the set's order; `sources_of` reads a set, `grower`
    grows from what it read, and `weigh` gives the weights of the classes.
    """

    sketches: SketchSet
    labels: tuple[Any, ...]
    sources_of: Callable[[SketchSet], Sources]
    grower: Callable[[Sources], Tree]
    weigh: Callable[[Sources], NDArray[np.float64]]
    use_absent: bool = True
    n_jobs: int | None = None

    def grow(self) -> Tree:
        """Grow a tree from these keys, unpruned."""
        return self.grower(self.sources_of(self.sketches))

    def losses(self, tree: Tree) -> HeldOut:
        """Judge a tree's nodes by these keys."""
        return count_losses(tree, self._counts(tree), self.weigh(self.sources_of(self.sketches)))

    def refilled(self, tree: Tree) -> Tree:
        """Fill a tree's nodes with these keys."""
        return refilled_by_counts(tree, self._counts(tree), self.weigh(self.sources_of(self.sketches)))

    def _counts(self, tree: Tree) -> Estimates:
        return count_tree(tree, self.sketches, self.labels, use_absent=self.use_absent, n_jobs=self.n_jobs)

    def split(self, share: float, seed: int) -> tuple[SketchSupply, SketchSupply]:
        """Part the keys in two by their hashes."""
        rest, part = self.sketches.split(share, seed=seed)
        return replace(self, sketches=rest), replace(self, sketches=part)

    def folds(self, n: int, seed: int) -> Iterator[tuple[SketchSupply, SketchSupply]]:
        """Part the keys n ways by their hashes."""
        for rest, part in self.sketches.folds(n, seed=seed):
            yield replace(self, sketches=rest), replace(self, sketches=part)
