"""CART: classification and regression trees with binary splits (Breiman, Friedman, Olshen and Stone 1984)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch

from thetatree.data.features import Feature
from thetatree.data.rows import Rows, features_of
from thetatree.data.target import Target
from thetatree.data.threads import n_threads
from thetatree.grow.candidates import root_candidates
from thetatree.grow.from_rows import grow_from_rows
from thetatree.grow.rules import GrowRules
from thetatree.learn import params
from thetatree.learn.base import TreeEstimator, TreeRegressor, counted_rows
from thetatree.learn.sketched import SketchClassifier
from thetatree.sketch.sketch_set import SketchSet
from thetatree.split.criteria import check_criterion
from thetatree.tree.prune import cost_complexity_path
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

_SHARED_PARAMETERS = """
    splitter : {"best", "random"}, default="best"
        "random" draws one cut per feature and takes the best of them.
    max_depth : int, optional
        Depth of the deepest leaf; no limit by default.
    min_samples_split : int or float, default=2
        Rows (or their share) that a node needs to be split.
    min_samples_leaf : int or float, default=1
        Rows (or their share) that each side needs. Like every limit it binds the search itself.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that each side needs.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random at each node; more are looked at until one can split.
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

_SHARED_PARAMETERS_END = """
    ccp_alpha : float, default=0.0
        Minimal cost-complexity pruning: links whose effective alpha is at most this are cut.
    monotonic_cst : array-like or dict of int, optional
        1: the prediction must not fall with the feature; -1: it must not rise; 0: free. Two classes
        (probability of the second) or regression; flags and numbers only.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: by dtype (text, categorical, enum, object), or named, or none.
    max_categories : int, default=10
        With three and more classes, up to so many categories (24 at most) are parted exhaustively; beyond,
        several orders are tried and the best is taken. Two classes and regression need one order at any
        number of categories: by class share or mean, which holds the optimum of every convex criterion.
    missing : {"learnt", "majority", "error"}, default="learnt"
        "learnt": both directions are tried; "majority": missing values join the heavier side before it is
        scored; "error": they are refused.
    n_jobs : int, optional
        Threads; all cores by default, small problems use one. The tree never depends on it.
    verbose : int, default=0
        1 prints what was grown.
"""

_ATTRIBUTES = """
    Attributes
    ----------
    tree_ : Tree
        The tree itself.
    feature_importances_ : ndarray
        Mean decrease in impurity, in column order.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


class _CART(TreeEstimator):
    """What the two CART estimators share."""

    def _grow(self, rows: Rows, target: Target) -> Tree:
        rows, target = counted_rows(rows, target)
        features = features_of(rows)
        rules = self._rules(rows, features, target)
        tree = grow_from_rows(rows, features, target, rules, self.missing)
        if self.verbose:
            size = f"{rows.n_rows:,} rows x {rows.n_columns:,} columns"
            print(f"{type(self).__name__}: {size}, {tree.n_leaves:,} leaves")
        return tree

    def root_candidates(self, X: Any, y: Any, sample_weight: Any = None) -> pd.DataFrame:
        """Return every feature's best split at the root; see `thetatree.candidates`."""
        rows = self._read(X, reset=True, categorical=self.categorical_features)
        rows, target = counted_rows(rows, self._target(y, rows.n_rows, sample_weight))
        features = features_of(rows)
        rules = self._rules(rows, features, target)
        return root_candidates(rows, features, target, rules, self.missing)

    @property
    def max_features_(self) -> int:
        """How many features are looked at in each node."""
        return params.n_features_drawn(self.max_features, self.n_features_in_) or self.n_features_in_

    def _rules(self, rows: Rows, features: list[Feature], target: Target) -> GrowRules:
        n = rows.n_rows
        total = float(n) if target.weight is None else float(target.weight.sum())
        least = params.count_or_share("min_samples_leaf", self.min_samples_leaf, n, 1)
        depth = params.whole("max_depth", self.max_depth, 1, none=True)
        leaves = params.whole("max_leaf_nodes", self.max_leaf_nodes, 2, none=True)
        share = params.real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        splitter = params.choice("splitter", self.splitter, ("best", "random"))
        classify = target.classes is not None
        criterion = check_criterion(self.criterion, classify=classify)
        if criterion == "binomial" and target.n_classes > 2:
            raise ValueError(
                f"criterion='binomial' is for two classes and y has {target.n_classes}: use 'chi_square'"
            )
        if criterion == "poisson" and (target.y.min() < 0 or target.y.sum() <= 0):
            raise ValueError(
                "criterion='poisson' needs y to be 0 or greater everywhere and above 0 somewhere"
            )
        drawn = params.n_features_drawn(self.max_features, rows.n_columns)
        return GrowRules(
            criterion=criterion,
            n_classes=target.n_classes,
            max_depth=-1 if depth is None else depth,
            min_samples_split=params.count_or_share("min_samples_split", self.min_samples_split, n, 2),
            min_samples_leaf=least,
            min_weight_leaf=share * total,
            min_impurity_decrease=params.real("min_impurity_decrease", self.min_impurity_decrease, 0.0),
            min_impurity_split=params.real("min_impurity_split", self.min_impurity_split, 0.0),
            max_leaf_nodes=-1 if leaves is None else leaves,
            max_features=drawn if drawn < rows.n_columns else 0,
            max_categories=params.whole("max_categories", self.max_categories, 2, most=24) or 2,
            majority=params.choice("missing", self.missing, ("learnt", "majority", "error")) == "majority",
            random_splits=splitter == "random",
            seed=params.seed_of(self.random_state)
            if splitter == "random" or self.max_features is not None
            else 0,
            monotonic=params.monotonic_signs(self.monotonic_cst, features, target.n_classes),
            n_threads=n_threads(self.n_jobs),
        )

    def _pruned(self, tree: Tree) -> Tree:
        alpha = params.real("ccp_alpha", self.ccp_alpha, 0.0)
        return tree.prune(ccp_alpha=alpha) if alpha > 0 else tree


class CARTClassifier(SketchClassifier, _CART):  # noqa: D101 - its docstring is put together
    __doc__ = f"""A classification tree with binary splits.

    Parameters
    ----------
    criterion : str, default="gini"
        gini, entropy (log_loss is the same), gain_ratio, chi_square, binomial (two classes), theta, delta or
        weighted_delta.
{_SHARED_PARAMETERS.strip(chr(10))}
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, by label.
{_SHARED_PARAMETERS_END.strip(chr(10))}

{_ATTRIBUTES.strip(chr(10))}
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
        ccp_alpha: float = 0.0,
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
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            numpy, pandas, polars, pyarrow or scipy sparse. Boolean columns are flags, numeric ones numbers,
            text and categorical ones categories. Or a `SketchSet`, which knows the classes; then splits of
            estimated counts must gain more than noise, as in `ThetaSketchDecisionTreeClassifier`, and missing
            values join the heavier side.
        y : array-like
            One label per row.
        sample_weight : array-like, optional
            One weight per row; 0 leaves the row out.
        """
        if isinstance(X, SketchSet):
            self._refuse_for_sketches(y, sample_weight)
            return self._fit_sketches(X)
        self._forget_sketches()
        tree, target = self._grown(X, y, sample_weight)
        self.tree_ = self._pruned(tree)
        self.classes_ = np.asarray(target.classes)
        self.n_classes_ = len(self.classes_)
        self.n_outputs_ = 1
        return self

    def _refuse_for_sketches(self, y: Any, sample_weight: Any) -> None:
        refused = {
            "y": y is not None,
            "sample_weight": sample_weight is not None,
            "splitter='random'": self.splitter != "best",
            "monotonic_cst": self.monotonic_cst is not None,
            "missing='error'": self.missing == "error",
        }
        for what, given in refused.items():
            if given:
                raise ValueError(f"{what} does not go with a SketchSet: leave it out, or fit on rows")

    def _finished(self, tree: Tree) -> Tree:
        return self._pruned(tree)

    def _grown(self, X: Any, y: Any, sample_weight: Any) -> tuple[Tree, Target]:
        rows = self._read(X, reset=True, categorical=self.categorical_features)
        target = self._target(y, rows.n_rows, sample_weight)
        return self._grow(rows, target), target

    def cost_complexity_pruning_path(self, X: Any, y: Any = None, sample_weight: Any = None) -> Bunch:
        """Return the alphas at which pruning cuts a link, and the leaves' total impurity after each."""
        if isinstance(X, SketchSet):
            tree = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight).tree_
        else:
            tree = self._grown(X, y, sample_weight)[0]
        alphas, impurities = cost_complexity_path(tree)
        return Bunch(ccp_alphas=alphas, impurities=impurities)


class CARTRegressor(TreeRegressor, _CART):  # noqa: D101 - its docstring is put together
    __doc__ = f"""A regression tree with binary splits.

    Parameters
    ----------
    criterion : {{"squared_error", "absolute_error", "poisson"}}, default="squared_error"
        absolute_error is about medians, and the leaf's value is the median.
{_SHARED_PARAMETERS.strip(chr(10))}
{_SHARED_PARAMETERS_END.strip(chr(10))}

{_ATTRIBUTES.strip(chr(10))}

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
        ccp_alpha: float = 0.0,
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
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.max_categories = max_categories
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            numpy, pandas, polars, pyarrow or scipy sparse. Boolean columns are flags, numeric ones numbers,
            text and categorical ones categories.
        y : array-like
            One number per row.
        sample_weight : array-like, optional
            One weight per row; 0 leaves the row out.
        """
        self.tree_ = self._pruned(self._grown(X, y, sample_weight))
        self.n_outputs_ = 1
        return self

    def _grown(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        rows = self._read(X, reset=True, categorical=self.categorical_features)
        return self._grow(rows, self._target(y, rows.n_rows, sample_weight))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the alphas at which pruning cuts a link, and the leaves' total impurity after each."""
        alphas, impurities = cost_complexity_path(self._grown(X, y, sample_weight))
        return Bunch(ccp_alphas=alphas, impurities=impurities)
