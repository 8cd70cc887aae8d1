"""How an estimator prunes what it grew, and whether its leaves are honest: read from its parameters, and
done.

The keys that a tree is grown from are parted in this order: those that validation is judged by, then those
that fill honest leaves; the rest chooses the splits. Each parting has a seed of its own, so that all are
independent of one another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thetatree.learn import params
from thetatree.learn.supply import Supply
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.cp_table import CHOICES, choose, cp_table
from thetatree.tree.held_out import HeldOut
from thetatree.tree.pessimistic import pessimistic_below
from thetatree.tree.prune import cut_at, min_impurity_below, validation_below, weakest_below
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("none", "cost_complexity", "validation", "reduced_error", "pessimistic", "min_impurity")
VALIDATION_FRACTION, FOLDS = 0.25, 10
_VALIDATION, _HONEST, _FOLDS = 1, 2, 3  # seeds of the partings, beside that of folds made by hand


@dataclass(frozen=True)
class PruningPlan:
    """The parameters of an estimator that say how it prunes, checked.

    `alpha` is a number or one of the rules that choose it by cross-validation; `honest` is the share of the
    keys that fills the leaves, 0 for none.
    """

    method: str
    alpha: float | str
    share: float
    folds: int
    least: float
    honest: float
    seed: int

    def seed_for(self, parting: int) -> int:
        """Give the seed of one parting of the keys."""
        return 4 * self.seed + parting


def check_held_out(X_val: Any, y_val: Any) -> bool:
    """Return whether held-out data was passed to fit; half of it is refused."""
    if X_val is None and y_val is not None:
        raise ValueError("y_val was given without X_val: give the held-out rows that it belongs to")
    if X_val is not None and y_val is None and not isinstance(X_val, SketchSet):
        raise ValueError("X_val was given without y_val: give one label or number per held-out row")
    return X_val is not None


def pruning_plan(estimator: Any, *, given: bool) -> PruningPlan:
    """Read and check the parameters; `given` says that held-out data was passed to fit."""
    named = getattr(estimator, "pruning", None)
    method = "none" if named is None else params.choice("pruning", named, METHODS)
    method = "validation" if method == "reduced_error" else method
    alpha = _alpha(getattr(estimator, "ccp_alpha", 0.0))
    if method in ("validation", "pessimistic", "min_impurity") and alpha != 0:
        raise ValueError(
            f"pruning={named!r} and ccp_alpha={alpha!r} are two ways of pruning: leave ccp_alpha at 0.0, or "
            f"use pruning='cost_complexity'"
        )
    if given and method != "validation":
        raise ValueError(f"X_val and y_val are for pruning='validation'; pruning is {named!r}")
    if method == "none" and alpha != 0:
        method = "cost_complexity"
    if method == "pessimistic" and getattr(estimator, "prunes_as_it_grows", False):
        method = "none"  # with the cases at hand, which allows more than what is done here
    honest = getattr(estimator, "honest", None)
    state = getattr(estimator, "random_state", None)
    share = getattr(estimator, "validation_fraction", VALIDATION_FRACTION)
    return PruningPlan(
        method=method,
        alpha=alpha,
        share=params.open_share("validation_fraction", share),
        folds=params.whole("ccp_folds", getattr(estimator, "ccp_folds", FOLDS), 2) or FOLDS,
        least=params.real("min_impurity_decrease", getattr(estimator, "min_impurity_decrease", 0.0), 0.0),
        honest=0.0 if honest is None else params.open_share("honest", honest),
        seed=0 if state is None else params.seed_of(state) % (1 << 60),
    )


def _alpha(value: Any) -> float | str:
    if not isinstance(value, str):
        return params.real("ccp_alpha", value, 0.0)
    if value not in CHOICES:
        raise ValueError(f"ccp_alpha must be a number of at least 0, 'cv' or 'cv-1se'; got {value!r}")
    return value


def grown(supply: Supply, plan: PruningPlan) -> Tree:
    """Grow a tree, and fill its nodes with keys of their own if it is to be honest."""
    if not plan.honest:
        return supply.grow()
    rest, part = supply.split(plan.honest, plan.seed_for(_HONEST))
    return part.refilled(rest.grow())


def grown_and_pruned(
    supply: Supply, plan: PruningPlan, judge: Callable[[Tree], HeldOut] | None
) -> tuple[Tree, pd.DataFrame | None]:
    """Grow a tree and prune it as planned; the table of alphas where cross-validation chose.

    `judge` knows the held-out keys that were given; without it validation keeps some of the supply's aside.
    """
    if plan.method == "validation" and judge is None:
        supply, part = supply.split(plan.share, plan.seed_for(_VALIDATION))
        judge = part.losses
    tree = grown(supply, plan)
    if plan.method == "cost_complexity":
        return _by_alpha(tree, supply, plan)
    if plan.method == "pessimistic":
        tree = cut_at(tree, pessimistic_below(tree))
    elif plan.method == "min_impurity":
        tree = cut_at(tree, min_impurity_below(tree, plan.least))
    elif judge is not None:
        tree = cut_at(tree, validation_below(tree, judge(tree)))
    return tree, None


def _by_alpha(tree: Tree, supply: Supply, plan: PruningPlan) -> tuple[Tree, pd.DataFrame | None]:
    if not isinstance(plan.alpha, str):
        return cut_at(tree, weakest_below(tree, plan.alpha)), None
    folds = supply.folds(plan.folds, plan.seed_for(_FOLDS))
    table = cp_table(
        tree, supply.losses(tree), ((own := grown(rest, plan), part.losses(own)) for rest, part in folds)
    )
    alpha = float(table["alpha"].iloc[choose(table, plan.alpha)])
    return cut_at(tree, weakest_below(tree, alpha)), table
