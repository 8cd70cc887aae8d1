"""AID: automatic interaction detection, a regression tree of survey research (Morgan and Sonquist 1963)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from thetatree.data.features import Feature
from thetatree.data.orders import in_declared_order
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.rules import GrowRules
from thetatree.learn import params
from thetatree.learn.rows import ATTRIBUTES, CATEGORICAL, END, LIMITS, PRUNING, RowRegressor, paragraph
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

_UNRANKED = 1  # the tier of predictors that `ranks` does not name


class AIDRegressor(RowRegressor):  # noqa: D101 - its docstring is put together
    __doc__ = f"""Automatic interaction detection: groups that differ most in their means.

    A split explains its between sum of squares, BSS = Σ N_c (ȳ_c − ȳ)². It always needs a gain above zero.

    Parameters
    ----------
    min_improvement : float, default=0.0
        What a split has to explain, as a share of the sum of squares (TSS) of the group that it divides.
    p1 : float, default=0.0
        A group is a candidate for division only if its TSS is at least this share of the original TSS.
    p2 : float, default=0.0
        What a split has to explain, as a share of the original TSS: the rule of 1963. `p1=0.02` with
        `p2=0.008` keeps the number of groups small.
    max_groups : int, optional
        Stop at so many final groups. The group with the greatest TSS is divided first.
    monotonic : sequence of names or positions, optional
        Categorical predictors whose order is kept: they are cut between neighbours only, in the order that
        their type lists (pandas Categorical, polars Enum), else in that of the sorted labels. The others are
        free: they are ordered by their mean. Numbers and flags are always monotonic.
    ranks : dict, optional
        Tier of a predictor, by name or position; those that are not named are in tier 1. A predictor is
        considered only where none of a lower tier yields an admissible split.
    force : str or int, optional
        The predictor of the first split. It need not satisfy `min_improvement` and `p2`, everything else
        holds.
    trace : bool, default=True
        Keep what each predictor could have explained at every group, for `summary` and `trace_frame`.
{paragraph(LIMITS)}
    random_state : int, RandomState instance or None, default=None
        Seed of max_features. Without it, a tree does not depend on it.
    min_impurity_decrease : float, default=0.0
        What a split must explain, as a part of the mean squared error of all rows: BSS / N.
    min_impurity_split : float, default=0.0
        A group of at most this variance is not divided.
{paragraph(PRUNING)}
{paragraph(CATEGORICAL)}
{paragraph(END)}

{paragraph(ATTRIBUTES)}

    Examples
    --------
    >>> from thetatree import AIDRegressor
    >>> x = [[1.2], [2.5], [3.8], [4.1], [5.0]]
    >>> model = AIDRegressor(p1=0.02, p2=0.008).fit(x, [10, 12, 20, 22, 21])
    >>> print(model.tree_.rules()[0])
    x0 ≤ 3.15
    >>> model.summary_frame()[["bss", "tss", "r2"]].round(3).values.tolist()
    [[120.0, 124.0, 0.968]]
    """

    criterion = "squared_error"

    def __init__(
        self,
        *,
        min_improvement: float = 0.0,
        p1: float = 0.0,
        p2: float = 0.0,
        max_groups: int | None = None,
        monotonic: Any = None,
        ranks: Any = None,
        force: Any = None,
        trace: bool = True,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        min_impurity_decrease: float = 0.0,
        min_impurity_split: float = 0.0,
        significance: float | None = None,
        significance_test: str = "parametric",
        n_permutations: int = 999,
        ccp_alpha: float | str = 0.0,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        ccp_folds: int = 10,
        honest: float | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "learnt",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.min_improvement = min_improvement
        self.p1 = p1
        self.p2 = p2
        self.max_groups = max_groups
        self.monotonic = monotonic
        self.ranks = ranks
        self.force = force
        self.trace = trace
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.significance = significance
        self.significance_test = significance_test
        self.n_permutations = n_permutations
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.ccp_folds = ccp_folds
        self.honest = honest
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read(self, X: Any, *, reset: bool, categorical: Any = "from_dtype") -> Rows:
        rows = super()._read(X, reset=reset, categorical=categorical)
        if not reset:
            return rows
        return in_declared_order(rows, X, params.columns_marked("monotonic", self.monotonic, rows.names))

    def _rules(self, rows: Rows, features: list[Feature], target: Target) -> GrowRules:
        names = rows.names
        groups = params.whole("max_groups", self.max_groups, 2, none=True)
        return replace(
            super()._rules(rows, features, target),
            positive_gain=True,
            min_improvement=params.real("min_improvement", self.min_improvement, 0.0, 1.0),
            p1=params.real("p1", self.p1, 0.0, 1.0),
            p2=params.real("p2", self.p2, 0.0, 1.0),
            max_leaf_nodes=-1 if groups is None else groups,
            largest_first=True,
            ordered=params.columns_marked("monotonic", self.monotonic, names),
            tier=params.tiers("ranks", self.ranks, names, _UNRANKED),
            force=-1 if self.force is None else params.column_of("force", self.force, names),
            trace=bool(self.trace),
        )

    def _grow(self, rows: Rows, target: Target) -> Tree:
        tree = super()._grow(rows, target)
        if self.force is not None and tree.node_count == 1 and tree.impurity[0] > 0:
            raise ValueError(
                f"force={self.force!r} cannot make the first split: no cut of it has a gain and leaves both "
                f"sides as large as the limits ask; choose another predictor, or none"
            )
        return tree

    def summary(self) -> str:
        """Return the classic printout.

        Splits come in the order in which groups are divided, the group of the greatest TSS first. Each shows
        its BSS, the share of all variation that is explained by it and so far (R²), both groups with their
        sizes, means and standard deviations (of the group, divisor N), and what the other predictors could
        have explained.
        """
        from thetatree.export.summary import aid_text

        check_is_fitted(self)
        return aid_text(self.tree_)

    def summary_frame(self) -> pd.DataFrame:
        """Return the splits as a data frame, one row each, in the order of `summary`."""
        from thetatree.export.summary import aid_frame

        check_is_fitted(self)
        return aid_frame(self.tree_)

    def trace_frame(self) -> pd.DataFrame:
        """Return each predictor's greatest BSS at each split, in the order of `summary`; NaN where none."""
        from thetatree.export.summary import trace_frame

        check_is_fitted(self)
        return trace_frame(self.tree_)
