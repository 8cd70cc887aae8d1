"""Growing from rows: what the estimators of binary trees share, whatever their criterion and rules."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
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
from thetatree.grow.permute import cut_where_chance_does_as_well
from thetatree.grow.rules import GrowRules
from thetatree.learn import params
from thetatree.learn.base import TreeEstimator, counted_rows, whole_or_not_at_all
from thetatree.learn.pruning import check_held_out, grown, grown_and_pruned, pruning_plan
from thetatree.learn.sketched import SketchClassifier
from thetatree.learn.sum_regressor import SumRegressor
from thetatree.learn.supply import RowSupply
from thetatree.sketch.key_sample import KeySample
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.tuple_set import TupleSet
from thetatree.split.criteria import check_criterion
from thetatree.tree.held_out import HeldOut
from thetatree.tree.prune import cost_complexity_path
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

LIMITS = """
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
"""

CATEGORICAL = """
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: by dtype (text, categorical, enum, object), or named, or none.
"""

PRUNING = """
    significance : float, "auto" or None, optional
        Level that the p-value of a node's best split must be below; else the node stays a leaf. None: no
        test. "auto", which classifiers start with: 0.05 from sketches, none for rows.
    significance_test : {"parametric", "permutation"}, default="parametric"
        What a split of rows is tested by. "parametric": G for entropy and gain_ratio, chi-square for the
        other criteria of classes, F for numbers, corrected for all that is tried (Bonferroni).
        "permutation": the best split for targets dealt out by chance.
    n_permutations : int, default=999
        Deals of significance_test="permutation"; with max_features every one looks at all features.
    ccp_alpha : float, "cv" or "cv-1se", default=0.0
        Minimal cost-complexity pruning: links whose effective alpha is at most this are cut. "cv" takes the
        alpha of the least cross-validated error, "cv-1se" the greatest one within a standard error of it;
        `cp_table_` has the table.
    pruning : {"cost_complexity", "validation", "reduced_error", "pessimistic", "min_impurity"}, optional
        "cost_complexity": by `ccp_alpha`; at 0.0 links that gain nothing are cut. "validation", also called
        "reduced_error": the smallest subtree of the fewest errors on held-out data. "pessimistic": C4.5's, by
        upper limits of the training errors. "min_impurity": pairs of leaves whose split lowers the impurity
        of its own node by less than `min_impurity_decrease` are collapsed.
    validation_fraction : float, default=0.25
        Share of the training data that pruning="validation" keeps aside, unless fit is given X_val and y_val.
    ccp_folds : int, default=10
        Folds of ccp_alpha="cv" and "cv-1se".
    honest : float, optional
        Share of the training data that fills the nodes with values and counts; the rest chooses the splits.
        Leaves are then not flattered by the choice.
"""

END = """
    missing : {"learnt", "majority", "error"}, default="learnt"
        "learnt": both directions are tried; "majority": missing values join the heavier side before it is
        scored; "error": they are refused.
    n_jobs : int, optional
        Threads; all cores by default, small problems use one. The tree never depends on it.
    verbose : int, default=0
        1 prints what was grown.
"""

ATTRIBUTES = """
    Attributes
    ----------
    tree_ : Tree
        The tree itself.
    feature_importances_ : ndarray
        Mean decrease in impurity, in column order.
    n_features_in_, feature_names_in_
        As in scikit-learn.
"""


def paragraph(text: str) -> str:
    """Return a piece of a docstring as it is put into another."""
    return text.strip("\n")


class RowLearner(TreeEstimator):
    """Grows a tree of binary splits from rows by the rules that its parameters stand for."""

    def _grow(self, rows: Rows, target: Target) -> Tree:
        rows, target = counted_rows(rows, target)
        features = features_of(rows)
        rules = self._rules(rows, features, target)
        level = self._row_level()
        if level == 0 or self._tests_parametrically():
            return grow_from_rows(rows, features, target, replace(rules, significance=level), self.missing)
        n = params.whole("n_permutations", self.n_permutations, 1) or 1
        seed = 0 if self.random_state is None else params.seed_of(self.random_state)
        tree = grow_from_rows(rows, features, target, rules, self.missing)
        return cut_where_chance_does_as_well(
            tree, rows, target, rules, level=level, n_permutations=n, seed=seed
        )

    def _row_level(self) -> float:
        """The level that splits of rows must pass; 0 for none, which is what "auto" means here."""
        return 0.0 if self.significance == "auto" else params.level("significance", self.significance)

    def _tests_parametrically(self) -> bool:
        tests = ("parametric", "permutation")
        return params.choice("significance_test", self.significance_test, tests) == "parametric"

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
        """Return the shared rules; learners add their own."""
        n = rows.n_rows
        total = float(n) if target.weight is None else float(target.weight.sum())
        least = params.count_or_share("min_samples_leaf", self.min_samples_leaf, n, 1)
        depth = params.whole("max_depth", self.max_depth, 1, none=True)
        share = params.real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        drawn = params.n_features_drawn(self.max_features, rows.n_columns)
        return GrowRules(
            criterion=check_criterion(self.criterion, classify=target.classes is not None),
            n_classes=target.n_classes,
            max_depth=-1 if depth is None else depth,
            min_samples_split=params.count_or_share("min_samples_split", self.min_samples_split, n, 2),
            min_samples_leaf=least,
            min_weight_leaf=share * total,
            min_impurity_decrease=params.real("min_impurity_decrease", self.min_impurity_decrease, 0.0),
            min_impurity_split=params.real("min_impurity_split", self.min_impurity_split, 0.0),
            max_features=drawn if drawn < rows.n_columns else 0,
            majority=params.choice("missing", self.missing, ("learnt", "majority", "error")) == "majority",
            seed=params.seed_of(self.random_state) if self.max_features is not None else 0,
            n_threads=n_threads(self.n_jobs),
        )

    def _read_training(self, X: Any, y: Any, sample_weight: Any) -> tuple[RowSupply, Target]:
        """Read what the tree is grown from: rows that count; and the target of all."""
        rows = self._read(X, reset=True, categorical=self.categorical_features)
        target = self._target(y, rows.n_rows, sample_weight)
        return RowSupply(*counted_rows(rows, target), self._grow, self.n_jobs), target

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any) -> Target:
        plan = pruning_plan(self, given=check_held_out(X_val, y_val))
        supply, target = self._read_training(X, y, sample_weight)
        judge = None if X_val is None else partial(self._judged_by_rows, X_val=X_val, y_val=y_val)
        self._keep_pruned(*grown_and_pruned(supply, plan, judge))
        if self.verbose:
            size = f"{supply.rows.n_rows:,} rows x {supply.rows.n_columns:,} columns"
            print(f"{type(self).__name__}: {size}, {self.tree_.n_leaves:,} leaves")
        return target

    def _judged_by_rows(self, tree: Tree, *, X_val: Any, y_val: Any) -> HeldOut:
        """Judge a tree's nodes by the held-out rows given to fit."""
        self.tree_ = tree
        return self._losses_on_rows(X_val, y_val)

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        supply, _ = self._read_training(X, y, sample_weight)
        return grown(supply, pruning_plan(self, given=False))

    def cost_complexity_pruning_path(self, X: Any, y: Any = None, sample_weight: Any = None) -> Bunch:
        """Return the alphas at which pruning cuts a link, and the leaves' total impurity after each."""
        alphas, impurities = cost_complexity_path(self._unpruned(X, y, sample_weight))
        return Bunch(ccp_alphas=alphas, impurities=impurities)


class RowClassifier(RowLearner, SketchClassifier):
    """A classification tree of binary splits; a sketch set grows it as well as rows."""

    @whole_or_not_at_all
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            numpy, pandas, polars, pyarrow or scipy sparse. Boolean columns are flags, numeric ones numbers,
            text and categorical ones categories. Or a `SketchSet` or `KeySample`, which knows the classes;
            then splits of estimated counts must gain more than noise, as in
            `ThetaSketchDecisionTreeClassifier`, and missing values join the heavier side.
        y : array-like
            One label per row.
        sample_weight : array-like, optional
            One weight per row; 0 leaves the row out.
        X_val, y_val : table and array-like, optional
            Held-out rows that pruning="validation" is judged by, instead of a share of `X`.
        """
        if isinstance(X, KeySample):
            X = X.sketch_set()
        if isinstance(X, SketchSet):
            self._refuse_for_sketches({"y": y is not None, "sample_weight": sample_weight is not None})
            return self._fit_sketches(X, X_val=X_val, y_val=y_val)
        self._forget_sketches()
        target = self._fit_rows(X, y, sample_weight, X_val, y_val)
        self.classes_ = np.asarray(target.classes)
        self.n_classes_ = len(self.classes_)
        self.n_outputs_ = 1
        return self

    def _refuse_for_sketches(self, given: dict[str, bool]) -> None:
        """Raise if anything that has no meaning for a sketch set is given."""
        given = given | {"missing='error'": self.missing == "error"}
        for what, is_given in given.items():
            if is_given:
                raise ValueError(f"{what} does not go with a SketchSet: leave it out, or fit on rows")

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        if isinstance(X, SketchSet):
            unpruned = clone(self).set_params(ccp_alpha=0.0, pruning=None)
            whole: Tree = unpruned.fit(X, y, sample_weight).tree_
            return whole
        return super()._unpruned(X, y, sample_weight)


class RowRegressor(RowLearner, SumRegressor):
    """A regression tree of binary splits; sketches whose keys carry numbers grow it as well as rows."""

    @whole_or_not_at_all
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : table
            numpy, pandas, polars, pyarrow or scipy sparse. Boolean columns are flags, numeric ones numbers,
            text and categorical ones categories. Or a `TupleSet`, whose keys carry the numbers, or a
            `KeySample`: then missing values join the heavier side, and a split of estimated means must part
            them by more than noise would.
        y : array-like
            One number per row.
        sample_weight : array-like, optional
            One weight per row; 0 leaves the row out.
        X_val, y_val : table and array-like, optional
            Held-out rows that pruning="validation" is judged by, instead of a share of `X`.
        """
        if isinstance(X, (KeySample, TupleSet)):
            given = {"y": y is not None, "sample_weight": sample_weight is not None}
            given["X_val"] = X_val is not None or y_val is not None
            return self._fit_sums(X.tuple_set() if isinstance(X, KeySample) else X, given)
        self._forget_sketches()
        self._fit_rows(X, y, sample_weight, X_val, y_val)
        self.n_outputs_ = 1
        return self
