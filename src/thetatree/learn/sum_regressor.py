"""Regressors that sketches whose keys carry a number can grow as well as rows."""

from __future__ import annotations

from typing import Self

from thetatree.data.threads import n_threads
from thetatree.grow.from_sums import SumRules, grow_from_sums
from thetatree.learn import params
from thetatree.learn.base import TreeRegressor
from thetatree.learn.found_columns import FindsColumns
from thetatree.learn.sketched import MIN_HELD, SIGNIFICANCE
from thetatree.sketch.tuple_set import TupleSet

# What is about rows: for each parameter, its value that asks for nothing.
_ONLY_ROWS = {
    "criterion": "squared_error",
    "splitter": "best",
    "max_features": None,
    "monotonic": None,
    "monotonic_cst": None,
    "ranks": None,
    "force": None,
    "pruning": None,
    "honest": None,
}


class SumRegressor(FindsColumns, TreeRegressor):
    """A regressor that grows from tuple sketches."""

    def _fit_sums(self, sketches: TupleSet, given: dict[str, bool]) -> Self:
        given = given | {name: self._option(name, idle) != idle for name, idle in _ONLY_ROWS.items()}
        given |= {"missing='error'": self._option("missing", None) == "error"}
        alpha = self._option("ccp_alpha", 0.0)
        given |= {f"ccp_alpha={alpha!r}": isinstance(alpha, str)}
        for what, is_given in given.items():
            if is_given:
                raise ValueError(f"{what} does not go with tuple sketches: leave it out, or fit on rows")
        tree = grow_from_sums(sketches, self._sum_rules(sketches))
        self.tree_ = tree.prune(ccp_alpha=alpha) if alpha > 0 else tree
        self.n_outputs_ = 1
        self._remember_columns(None)
        if self._option("verbose", 0):
            held = len(sketches.data.column.hashes)
            print(
                f"{type(self).__name__}: {len(sketches)} sketches, {held:,} held keys, {tree.n_leaves} leaves"
            )
        return self

    def _sum_rules(self, sketches: TupleSet) -> SumRules:
        option, data = self._option, sketches.data
        total = data.entries.total(-1)
        exact = int(data.entries.n[total])
        n = exact if exact >= 0 else round(float(data.column.held[total] / data.column.theta[total]))
        depth = params.whole("max_depth", option("max_depth", None), 1, none=True)
        leaves = params.whole("max_leaf_nodes", option("max_leaf_nodes", None), 2, none=True)
        groups = params.whole("max_groups", option("max_groups", None), 2, none=True)
        most = leaves if groups is None else groups
        share = params.real("min_weight_fraction_leaf", option("min_weight_fraction_leaf", 0.0), 0.0, 0.5)
        is_aid = hasattr(self, "min_improvement")
        return SumRules(
            max_depth=-1 if depth is None else depth,
            min_samples_split=params.count_or_share(
                "min_samples_split", option("min_samples_split", 2), n, 2
            ),
            min_samples_leaf=params.count_or_share("min_samples_leaf", option("min_samples_leaf", 1), n, 1),
            min_weight_leaf=share * n,
            min_impurity_decrease=params.real(
                "min_impurity_decrease", option("min_impurity_decrease", 0.0), 0.0
            ),
            min_impurity_split=params.real("min_impurity_split", option("min_impurity_split", 0.0), 0.0),
            max_leaf_nodes=-1 if most is None else most,
            positive_gain=is_aid,
            largest_first=is_aid,
            min_improvement=params.real("min_improvement", option("min_improvement", 0.0), 0.0, 1.0),
            p1=params.real("p1", option("p1", 0.0), 0.0, 1.0),
            p2=params.real("p2", option("p2", 0.0), 0.0, 1.0),
            significance=SIGNIFICANCE,
            min_held=MIN_HELD,
            trace=is_aid and bool(option("trace", True)),
            n_threads=n_threads(option("n_jobs", None)),
        )
