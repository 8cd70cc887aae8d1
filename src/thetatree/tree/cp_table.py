"""The table of complexity parameters: the pruning path with cross-validated errors (Breiman et al. 1984,
11.5).

Each fold grows a tree of its own from the other folds. The subtree that stands for one that is best from
alpha α_k to α_{k+1} is what each fold's tree is pruned to at the geometric mean of the two, and the fold
itself judges it. Columns and order are those of rpart's `cptable`: the root alone comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.tree.held_out import Floats, HeldOut
from thetatree.tree.prune import NO_GAIN, node_risks

if TYPE_CHECKING:
    import pandas as pd

    from thetatree.tree.tree import Tree

CHOICES = ("cv", "cv-1se")
_SAME = 1e-10  # alphas nearer to each other than this share of the greatest differ by rounding


class _Path(NamedTuple):
    """The cuts of minimal cost-complexity pruning in their order, and which leaves stand between two of them.

    Node t is a leaf of the subtrees after `first[t]` cuts and before `last[t]`, so long as first < last.
    """

    alphas: Floats
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def _path(tree: Tree) -> _Path:
    risk = node_risks(tree)
    _, nodes, alphas, _ = _kernel.weakest_links(tree.child_start, tree.child, risk, np.inf)
    alphas = np.where(alphas > NO_GAIN * risk[0], alphas, 0.0)
    never = len(nodes) + 1
    first = np.where(tree.is_leaf, 0, never)
    first[nodes] = np.arange(1, never)
    last = [never] * tree.node_count
    parent, cut = tree.parent.tolist(), first.tolist()
    for node in range(1, tree.node_count):  # a parent comes first
        last[node] = min(last[parent[node]], cut[parent[node]])
    return _Path(np.maximum.accumulate(alphas), first, np.array(last))


def _by_alpha(path: _Path, of_nodes: Floats, alphas: Floats) -> Floats:
    """Add up a figure over the leaves of the subtree at each alpha."""
    stands = path.first < path.last
    change = np.zeros(len(path.alphas) + 3)
    np.add.at(change, path.first[stands], of_nodes[stands])
    np.subtract.at(change, path.last[stands], of_nodes[stands])
    return np.asarray(np.cumsum(change)[np.searchsorted(path.alphas, alphas, side="right")])


def cp_table(tree: Tree, training: HeldOut, folds: Iterable[tuple[Tree, HeldOut]]) -> pd.DataFrame:
    """Return the table, one line for each subtree of the pruning path, the root alone first.

    Parameters
    ----------
    tree : Tree
        The tree to prune.
    training : HeldOut
        The losses of its nodes on the keys that it was grown from.
    folds : iterable of (Tree, HeldOut)
        For each fold the tree that was grown without it, and that tree's losses on the fold.

    Returns
    -------
    DataFrame
        CP: alpha, in units of the root's impurity. nsplit: leaves less one. rel error, xerror, xstd: training
        error, cross-validated error and its standard error, in units of the root's training error. alpha: as
        `Tree.prune` takes it. choice: what "cv" and "cv-1se" take.
    """
    import pandas as pd

    whole = _path(tree)
    alphas = _distinct(whole.alphas)
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    loss, squares, doubt, weight = np.zeros(len(alphas)), np.zeros(len(alphas)), np.zeros(len(alphas)), 0.0
    for grown, held_out in folds:
        path = _path(grown)
        loss += _by_alpha(path, held_out.loss, between)
        squares += _by_alpha(path, held_out.squares, between)
        doubt += _by_alpha(path, held_out.doubt, between)
        weight += held_out.weight
    root = training.loss[0] / training.weight
    unit = root if root > 0 else 1.0
    spread = np.maximum(squares - loss**2 / weight, 0.0) + doubt
    table = pd.DataFrame(
        {
            "CP": alphas / (tree.impurity[0] if tree.impurity[0] > 0 else 1.0),
            "nsplit": np.rint(_by_alpha(whole, np.ones(tree.node_count), alphas)).astype(np.int64) - 1,
            "rel error": _by_alpha(whole, training.loss, alphas) / training.weight / unit,
            "xerror": loss / weight / unit,
            "xstd": np.sqrt(spread) / weight / unit,
            "alpha": alphas,
        }
    )[::-1].reset_index(drop=True)
    chosen = {name: choose(table, name) for name in CHOICES}
    marks = [", ".join(name for name in CHOICES if chosen[name] == line) for line in range(len(table))]
    return table.assign(choice=marks)


def choose(table: pd.DataFrame, rule: str) -> int:
    """Return the chosen line: of the least xerror ("cv"), or of the smallest tree within one xstd of it."""
    errors = table["xerror"].to_numpy()
    best = int(np.argmin(errors))
    if rule == "cv":
        return best
    return int(np.flatnonzero(errors <= errors[best] + float(table["xstd"].iloc[best]))[0])


def _distinct(alphas: Floats) -> Floats:
    """Give 0 and each alpha once, of those that differ by rounding the greatest."""
    with_zero = np.concatenate([[0.0], alphas])
    apart = np.append(np.diff(with_zero) > _SAME * with_zero[-1], True)
    return np.asarray(with_zero[apart])
