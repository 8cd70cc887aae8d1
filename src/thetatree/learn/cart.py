"""CART: classification and regression trees with binary splits (Breiman, Friedman, Olshen and Stone 1984)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thetatree.data.features import Feature
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.rules import GrowRules
from thetatree.learn import params
from thetatree.learn.rows import (
    ATTRIBUTES,
    CATEGORICAL,
    END,
    LIMITS,
    PRUNING,
    RowClassifier,
    RowLearner,
    RowRegressor,
    paragraph,
)

_SHARED_PARAMETERS = f"""
    splitter : {{"best", "random"}}, default="best"
        "random" draws one cut per feature and takes the best of them.
{paragraph(LIMITS)}
    random_state : int, RandomState instance or None, default=None
        Seed of max_features and splitter="random". Without these, a tree does not depend on it.
    max_leaf_nodes : int, optional
        Grow best first to so many leaves.
    min_impurity_decrease : float, default=0.0
        What a split must gain, weighted by the node's share of the root. While it is 0, a split may gain
        nothing (XOR needs one that does not).
    min_impurity_split : float, default=0.0
        A node of at most this impurity is a leaf.
"""

_SHARED_PARAMETERS_END = f"""
{paragraph(PRUNING)}
    monotonic_cst : array-like or dict of int, optional
        1: the prediction must not fall with the feature; -1: it must not rise; 0: free. Two classes
        (probability of the second) or regression; flags and numbers only.
{paragraph(CATEGORICAL)}
    max_categories : int, default=10
        With three and more classes, up to so many categories (24 at most) are parted exhaustively; beyond,
        several orders are tried and the best is taken. Two classes and regression need one order at any
        number of categories: by class share or mean, which holds the optimum of every convex criterion.
{paragraph(END)}
"""


class _CART(RowLearner):
    """What the two CART estimators share."""

    def _rules(self, rows: Rows, features: list[Feature], target: Target) -> GrowRules:
        shared = super()._rules(rows, features, target)
        leaves = params.whole("max_leaf_nodes", self.max_leaf_nodes, 2, none=True)
        splitter = params.choice("splitter", self.splitter, ("best", "random"))
        if shared.criterion == "binomial" and target.n_classes > 2:
            raise ValueError(
                f"criterion='binomial' is for two classes and y has {target.n_classes}: use 'chi_square'"
            )
        if shared.criterion == "poisson" and (target.y.min() < 0 or target.y.sum() <= 0):
            raise ValueError(
                "criterion='poisson' needs y to be 0 or greater everywhere and above 0 somewhere"
            )
        return replace(
            shared,
            max_leaf_nodes=-1 if leaves is None else leaves,
            max_categories=params.whole("max_categories", self.max_categories, 2, most=24) or 2,
            random_splits=splitter == "random",
            seed=params.seed_of(self.random_state) if splitter == "random" else shared.seed,
            monotonic=params.monotonic_signs(self.monotonic_cst, features, target.n_classes),
        )


class CARTClassifier(_CART, RowClassifier):  # noqa: D101 - its docstring is put together
    __doc__ = f"""A classification tree with binary splits.

    Parameters
    ----------
    criterion : str, default="gini"
        gini, entropy (log_loss is the same), gain_ratio, chi_square, binomial (two classes), theta, delta or
        weighted_delta.
{paragraph(_SHARED_PARAMETERS)}
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, by label.
{paragraph(_SHARED_PARAMETERS_END)}

{paragraph(ATTRIBUTES)}
    classes_ : ndarray
        The class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> model.get_n_leaves()
    3
    >>> round(model.score(X, y), 2)
    0.96
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
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
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_categories: int = 10,
        missing: str = "learnt",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
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
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _refuse_for_sketches(self, given: dict[str, bool]) -> None:
        random, constrained = self.splitter != "best", self.monotonic_cst is not None
        super()._refuse_for_sketches(given | {"splitter='random'": random, "monotonic_cst": constrained})


class CARTRegressor(_CART, RowRegressor):  # noqa: D101 - its docstring is put together
    __doc__ = f"""A regression tree with binary splits.

    Parameters
    ----------
    criterion : {{"squared_error", "absolute_error", "poisson"}}, default="squared_error"
        absolute_error is about medians, and the leaf's value is the median.
{paragraph(_SHARED_PARAMETERS)}
{paragraph(_SHARED_PARAMETERS_END)}

{paragraph(ATTRIBUTES)}

    Examples
    --------
    >>> from thetatree import CARTRegressor
    >>> x = [[1.2], [2.5], [3.8], [4.1], [5.0]]
    >>> model = CARTRegressor(max_depth=1).fit(x, [10, 12, 20, 22, 21])
    >>> print(model.tree_.rules()[0])
    x0 ≤ 3.15
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
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
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        max_categories: int = 10,
        missing: str = "learnt",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
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
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose
