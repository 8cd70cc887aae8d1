"""How a tree did on its own cases: sizes and errors before pruning and after, and the confusion.

Errors are those of the predictions, so a case that a missing value sends to several leaves is right or wrong
as a whole.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.tree.pessimistic import estimated_errors
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Size:
    """A tree's size, its errors on the training cases, and the errors to be reckoned with at its leaves."""

    nodes: int
    leaves: int
    depth: int
    errors: float
    estimate: float


@dataclass(frozen=True)
class Training:
    """A tree on its training cases.

    Attributes
    ----------
    cases : float
        Their weight.
    grown, pruned : Size
        The tree before pruning and after.
    confusion : ndarray of shape (n_classes, n_classes)
        Weight of the cases by their class (row) and the class that the pruned tree predicts (column).
    """

    cases: float
    grown: Size
    pruned: Size
    confusion: NDArray[np.float64]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Training) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.cases, self.grown, self.pruned))

    def frame(self) -> pd.DataFrame:
        """Return sizes and errors as a data frame of two rows."""
        import pandas as pd

        out = pd.DataFrame(
            [asdict(self.grown), asdict(self.pruned)], index=["before pruning", "after pruning"]
        )
        out["error_rate"] = out.errors / self.cases
        out["estimated_rate"] = out.estimate / self.cases
        return out

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            "cases": self.cases,
            "grown": asdict(self.grown),
            "pruned": asdict(self.pruned),
            "confusion": self.confusion.tolist(),
        }

    @classmethod
    def from_dict(cls, figures: dict[str, Any], n_classes: int) -> Training:
        """Take back what `to_dict` gave; anything else is refused."""
        confusion = np.array(figures["confusion"], dtype=np.float64)
        cases = float(figures["cases"])
        grown, pruned = (_size_from(figures[name]) for name in ("grown", "pruned"))
        numbers = [cases, *confusion.ravel()]
        numbers += [grown.errors, grown.estimate, pruned.errors, pruned.estimate]
        if confusion.shape != (n_classes, n_classes) or not all(math.isfinite(x) and x >= 0 for x in numbers):
            raise ValueError("the figures of training are none")
        return cls(cases, grown, pruned, confusion)


def _size_from(figures: dict[str, Any]) -> Size:
    nodes, leaves, depth = (int(figures[name]) for name in ("nodes", "leaves", "depth"))
    return Size(nodes, leaves, depth, float(figures["errors"]), float(figures["estimate"]))


def training_of(
    grown: Tree,
    pruned: Tree,
    rows: Rows,
    target: Target,
    *,
    confidence: float,
    limits: str,
    n_jobs: int | None,
) -> Training:
    """Judge a tree, as it was grown and as it is, by the cases it was grown from."""
    confusions = [_confusion(pruned, rows, target, n_jobs)]
    confusions.append(confusions[0] if grown == pruned else _confusion(grown, rows, target, n_jobs))
    of_pruned, of_grown = (
        _size(tree, confusion, confidence, limits)
        for tree, confusion in zip((pruned, grown), confusions, strict=True)
    )
    return Training(float(confusions[0].sum()), of_grown, of_pruned, confusions[0])


def _confusion(tree: Tree, rows: Rows, target: Target, n_jobs: int | None) -> NDArray[np.float64]:
    n = tree.max_n_classes
    predicted = np.argmax(tree.values_of_rows(rows, n_jobs), axis=1)
    cells = np.bincount(target.y.astype(np.int64) * n + predicted, target.weight, n * n)
    return cells.astype(np.float64).reshape(n, n)


def _size(tree: Tree, confusion: NDArray[np.float64], confidence: float, limits: str) -> Size:
    estimate = estimated_errors(tree, confidence, limits)[1][tree.is_leaf].sum()
    errors = float(confusion.sum() - np.trace(confusion))
    return Size(tree.node_count, tree.n_leaves, tree.max_depth, errors, float(estimate))
