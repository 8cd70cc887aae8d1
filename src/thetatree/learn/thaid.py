"""THAID: AID for nominal variables (Messenger and Mandell 1972, Morgan and Messenger 1973)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from thetatree.data.features import Feature
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.from_sketches import SketchRules
from thetatree.grow.rules import GrowRules
from thetatree.learn import params
from thetatree.learn.rows import ATTRIBUTES, CATEGORICAL, END, LIMITS, PRUNING, RowClassifier, paragraph
from thetatree.sketch.sources import Sources

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("theta", "delta", "weighted_delta")


class THAIDClassifier(RowClassifier):  # noqa: D101 - its docstring is put together
    __doc__ = f"""Theta automatic interaction detection: groups that differ most in their class shares.

    A split always needs a gain: under theta more rows of the modal classes, under delta any difference.

    Parameters
    ----------
    criterion : {{"theta", "delta", "weighted_delta"}}, default="theta"
        theta: the share of rows in the modal class of their side; ties go to the greater weighted_delta,
        then to the more even sides. delta: the L1 distance of the two sides' class shares, best used with
        `min_samples_leaf`. weighted_delta: each side's distance from the group, weighted by its size.
    min_score : float, default=0.0
        A level: a group whose best split scores less is not divided. Under theta this stops where no split
        is good enough, and says nothing of what the group is like undivided.
    min_gain : float, default=0.0
        What a split must score above the undivided group: above its modal share for theta, above 0 for the
        deltas.
{paragraph(LIMITS)}
    random_state : int, RandomState instance or None, default=None
        Seed of max_features. Without it, a tree does not depend on it.
    max_leaf_nodes : int, optional
        Grow best first, by the decrease of impurity, to so many leaves.
    min_impurity_decrease : float, default=0.0
        What a split must gain in impurity, weighted by the node's share of the root. Impurity is
        1 − max p for theta, gini for the deltas.
    min_impurity_split : float, default=0.0
        A node of at most this impurity is a leaf.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, by label.
{paragraph(PRUNING)}
{paragraph(CATEGORICAL)}
    max_categories : int, default=10
        With three and more classes, up to so many categories (24 at most) are parted exhaustively, each of
        the 2^(n−1) − 1 ways once; beyond, orders by each class's share and by the first principal component
        of the shares are cut, and the best cut is taken. Two classes need one order at any number of
        categories: the optimum of all three criteria is among its cuts.
{paragraph(END)}

{paragraph(ATTRIBUTES)}
    classes_ : ndarray
        The class labels.

    Examples
    --------
    >>> import numpy as np
    >>> from thetatree import THAIDClassifier
    >>> side = np.repeat(["left", "right"], [60, 40]).reshape(-1, 1).astype(object)
    >>> y = np.repeat(["A", "B", "A", "B"], [50, 10, 10, 30])
    >>> model = THAIDClassifier().fit(side, y)
    >>> model.summary_frame()[["theta_undivided", "theta", "lambda"]].round(3).values.tolist()
    [[0.6, 0.8, 0.5]]
    """

    def __init__(
        self,
        *,
        criterion: str = "theta",
        min_score: float = 0.0,
        min_gain: float = 0.0,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_impurity_split: float = 0.0,
        class_weight: Any = None,
        significance: float | str | None = "auto",
        significance_test: str = "parametric",
        n_permutations: int = 999,
        ccp_alpha: float | str = 0.0,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        ccp_folds: int = 10,
        honest: float | None = None,
        categorical_features: Any = "from_dtype",
        max_categories: int = 10,
        missing: str = "learnt",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.min_score = min_score
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.class_weight = class_weight
        self.significance = significance
        self.significance_test = significance_test
        self.n_permutations = n_permutations
        self.ccp_alpha = ccp_alpha
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.ccp_folds = ccp_folds
        self.honest = honest
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _worth(self) -> dict[str, Any]:
        """Return when a split is worth making, of rows or of sketches."""
        params.choice("criterion", self.criterion, CRITERIA)
        return {
            "positive_gain": True,
            "min_score": params.real("min_score", self.min_score, 0.0, 2.0),
            "min_gain": params.real("min_gain", self.min_gain, 0.0, 2.0),
        }

    def _sketch_rules(self, sources: Sources, labels: tuple[Any, ...]) -> SketchRules:
        return replace(super()._sketch_rules(sources, labels), **self._worth())

    def _rules(self, rows: Rows, features: list[Feature], target: Target) -> GrowRules:
        leaves = params.whole("max_leaf_nodes", self.max_leaf_nodes, 2, none=True)
        return replace(
            super()._rules(rows, features, target),
            **self._worth(),
            max_leaf_nodes=-1 if leaves is None else leaves,
            max_categories=params.whole("max_categories", self.max_categories, 2, most=24) or 2,
        )

    def summary(self) -> str:
        """Return the splits in words and figures, the group with the most left to explain first.

        Each shows θ, λ = (θ − p_mode) / (1 − p_mode), δ and weighted δ, and both groups with their sizes and
        class shares.
        """
        from thetatree.export.summary import thaid_text

        check_is_fitted(self)
        return thaid_text(self.tree_)

    def summary_frame(self) -> pd.DataFrame:
        """Return the splits as a data frame, one row each, in the order of `summary`."""
        from thetatree.export.summary import thaid_frame

        check_is_fitted(self)
        return thaid_frame(self.tree_)
