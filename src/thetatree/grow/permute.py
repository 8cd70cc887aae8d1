"""Significance by permutation: whether a node's best split beats the best for targets dealt out by chance.

The target, with its weights, is dealt out anew among the node's rows; then every feature is searched again.
The share of deals whose best split scores as much is the split's p-value. It needs no correction for how many
splits are tried: each deal tries them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.coding import code_rows
from thetatree.data.rows import Rows, select
from thetatree.data.target import Target
from thetatree.grow.rules import GrowRules
from thetatree.tree.prune import cut_at
from thetatree.tree.tree import Tree

_TIE = 1e-12  # a score this near (relative) is as much


def cut_where_chance_does_as_well(
    tree: Tree, rows: Rows, target: Target, rules: GrowRules, *, level: float, n_permutations: int, seed: int
) -> Tree:
    """Cut a tree, from the root down, at the nodes whose split is not significant at this level.

    The p-values are kept in the tree. A test ends early once its p-value can no longer be below the level.
    """
    leaves = tree.apply_rows(rows, rules.n_threads)
    search = replace(rules, min_impurity_decrease=0.0, max_features=0, significance=0.0)
    p_value = np.full(tree.node_count, np.nan)
    cut: list[int] = []
    node = 0
    while node < tree.node_count:
        end = int(tree.subtree_end[node])
        if not tree.is_leaf[node]:
            own = (leaves >= node) & (leaves < end)
            rng = np.random.default_rng([seed, node])
            deals = _Deals(select(rows, own), _of(target, own), search, rng)
            p_value[node] = _chance(deals, float(tree.score[node]), level, n_permutations)
            if not p_value[node] < level:
                cut.append(node)
                node = end
                continue
        node += 1
    arrays = tree.arrays() | {"p_value": p_value}
    tested = Tree.from_arrays(arrays, tree.features, tree.classes, tree.criterion)
    return cut_at(tested, np.array(cut, dtype=np.int64))


class _Deals:
    """The rows of one node, whose target is dealt out again and again."""

    def __init__(self, rows: Rows, target: Target, rules: GrowRules, rng: np.random.Generator) -> None:
        self._columns = code_rows(rows, rules.n_threads)
        self._target, self._rules, self._rng = target, rules.for_kernel(), rng

    def reaches(self, score: float) -> bool:
        """Deal once, and say whether any feature's best split scores as much."""
        dealt = _of(self._target, self._rng.permutation(len(self._target.y)))
        found = _kernel.candidates(self._columns, dealt.y, dealt.weight, self._rules)
        return any(split["valid"] and split["score"] >= score for split in found)


def _chance(deals: _Deals, score: float, level: float, n_permutations: int) -> float:
    reached = score - _TIE * abs(score)
    as_good, done = 1, 1
    while done <= n_permutations and as_good < level * (n_permutations + 1):
        as_good += deals.reaches(reached)
        done += 1
    return as_good / done


def _of(target: Target, chosen: NDArray[np.bool_] | NDArray[np.int64] | Sequence[int]) -> Target:
    weight = None if target.weight is None else target.weight[chosen]
    return Target(np.ascontiguousarray(target.y[chosen]), target.classes, weight)
