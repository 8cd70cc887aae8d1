"""An estimator that acts on leaves by a rule rather than by their majority."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from thetatree.judge import decisions
from thetatree.judge.decisions import LEAVE, TAKE, UNDECIDED, Decisions, leaves_of
from thetatree.judge.leaf_counts import (
    LeafCounts,
    fitted_tree_of,
    judged_tree,
    leaves_of_rows,
    own_counts,
)
from thetatree.judge.segments import checked_weights, counted_leaves, segments_of
from thetatree.learn import params
from thetatree.sketch.sketch_set import SketchSet
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {TAKE: "take", LEAVE: "leave", UNDECIDED: "undecided"}


class DecisionStrategy(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Decides leaf by leaf whether to take it for the target class.

    Parameters
    ----------
    estimator : classifier
        A thetatree classifier. Decisions rest on the rows (or the sketch set) given to `fit`; of an honest
        tree (without class_weight) on those that fill its leaves. To decide on others than the tree was grown
        on, give a fitted one in scikit-learn's `FrozenEstimator`.
    strategy : str, default="cost"
        "cost": where missing the leaf's hits would cost at least as much as its false alarms do, that is
        from a rate of w₋ / (w₋ + w₊) on. "binomial": where the rate is above the reference by a binomial
        test; below it, the leaf is left; else it is undecided. "wilson": the same by Wilson's interval.
        "ratio": where there are at least so many hits to each false alarm; undecided below `min_n` cases.
        "minimum_collateral": the leaves that together reach the wanted recall with the fewest false alarms;
        of equal choices the one with most hits.
    target : label, optional
        The class that is looked for; with two classes the second.
    weights : pair of float, default=(1, 1)
        cost: what a missed hit (w₊) and a false alarm (w₋) cost.
    rate : float, optional
        binomial, wilson: the reference; by default the rate of all rows given to `fit`.
    significance : float, default=0.05
        binomial: the greatest p-value that decides.
    method : {"exact", "twice_smaller"}, default="exact"
        binomial: as in `binomial_p`. Weighted and estimated counts are tested by "twice_smaller" in any case.
    level : float, default=0.95
        wilson: the level of the interval.
    ratio : float, default=1.0
        ratio: hits to each false alarm.
    min_n : int, default=30
        ratio: cases that a leaf needs to be decided about.
    recall : float, default=0.8
        minimum_collateral: share of all hits that is to be reached.
    otherwise : {"negative", "abstain"}, default="negative"
        What an undecided leaf predicts: its likeliest other class, or the abstain label.
    abstain_label : object, default="abstain"
        What `predict` returns for undecided leaves with otherwise="abstain".

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    decisions_ : DataFrame
        One line per leaf, the highest rate first: leaf, rule, n, rate, and the decision: take, leave or
        undecided; for binomial also the p-value.
    leaf_classes_ : ndarray of shape (node_count,)
        The place in `classes_` of what each leaf predicts; -1 where it abstains, and in inner nodes.
    target_ : label
        The class that is looked for.
    classes_ : ndarray
        The class labels; the abstain label is not among them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from thetatree import CARTClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = CARTClassifier(max_depth=3)
    >>> cautious = DecisionStrategy(tree, "cost", target=0, weights=(20, 1)).fit(X, y)
    >>> missed = [int(((m.predict(X) != 0) & (y == 0)).sum()) for m in (tree.fit(X, y), cautious)]
    >>> missed
    [8, 4]
    >>> DecisionStrategy(tree, "cost", weights=(-1, 1)).fit(X, y)
    Traceback (most recent call last):
        ...
    ValueError: DecisionStrategy: weights must be a number of at least 0; got -1
    """

    def __init__(
        self,
        estimator: Any,
        strategy: str = "cost",
        *,
        target: Any = None,
        weights: tuple[float, float] = (1, 1),
        rate: float | None = None,
        significance: float = 0.05,
        method: str = "exact",
        level: float = 0.95,
        ratio: float = 1.0,
        min_n: int = 30,
        recall: float = 0.8,
        otherwise: str = "negative",
        abstain_label: Any = "abstain",
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.target = target
        self.weights = weights
        self.rate = rate
        self.significance = significance
        self.method = method
        self.level = level
        self.ratio = ratio
        self.min_n = min_n
        self.recall = recall
        self.otherwise = otherwise
        self.abstain_label = abstain_label

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the classifier and decide about its leaves.

        Parameters
        ----------
        X : table or SketchSet
            What the classifier is fitted on, and its leaves are counted on.
        y : array-like, optional
            The target of the rows.
        sample_weight : array-like, optional
            Weights of the rows.
        **fit_params
            Passed to the classifier's fit.
        """
        params.choice("strategy", self.strategy, decisions.STRATEGIES)
        params.choice("otherwise", self.otherwise, ("negative", "abstain"))
        given = fit_params if sample_weight is None else {**fit_params, "sample_weight": sample_weight}
        fitted = clone(self.estimator)
        self.estimator_ = fitted.fit(X, **given) if isinstance(X, SketchSet) else fitted.fit(X, y, **given)
        counts = self._counts(X, y, sample_weight)
        if counts.tree.classes is None:
            raise ValueError("DecisionStrategy is for classes: give a classifier")
        self.classes_ = self.estimator_.classes_
        self.target_ = self._target(counts.tree)
        self._decide(counts)
        return self

    def _counts(self, X: Any, y: Any, sample_weight: Any) -> LeafCounts:
        inner = fitted_tree_of(self.estimator_)
        frozen = isinstance(self.estimator, FrozenEstimator)
        own = not frozen and getattr(inner, "honest", None) is not None
        if own and getattr(inner, "class_weight", None) is None:
            return own_counts(judged_tree(inner))  # of the keys that did not choose the splits
        return counted_leaves(self.estimator_, X, y, sample_weight)

    def _target(self, tree: Tree) -> Any:
        assert tree.classes is not None
        classes = list(tree.classes)
        if self.target is None and len(classes) > 2:
            raise ValueError(
                f"which class is to be found? Give target=; the classes are {classes}. Without it: Only "
                f"binary classification is supported. The type of the target is multiclass"
            )
        target = classes[-1] if self.target is None else self.target
        if target not in classes:
            raise ValueError(f"target={target!r} is not a class; the classes are {classes}")
        return target

    def _decide(self, counts: LeafCounts) -> None:
        tree = counts.tree
        assert tree.classes is not None
        target = tree.classes.index(self.target_)
        reference = None if self.rate is None else params.real("rate", self.rate, 0.0, 1.0)
        found, p = self._rule(leaves_of(counts, target, reference))
        frame = segments_of(counts, self.target_, 0.95).frame
        place = np.searchsorted(counts.leaf, frame["leaf"])
        frame = frame[["leaf", "rule", "n", "rate"]]
        if p is not None:
            frame = frame.assign(p=p[place])
        self.decisions_: pd.DataFrame = frame.assign(decision=[_NAMES[d] for d in found[place].tolist()])
        self.leaf_classes_ = np.full(tree.node_count, -1, dtype=np.int64)
        self.leaf_classes_[counts.leaf] = self._class_of(counts, target, found)

    def _rule(self, leaves: decisions.Leaves) -> tuple[Decisions, NDArray[np.float64] | None]:
        if self.strategy == "cost":
            return decisions.by_cost(leaves, *checked_weights("DecisionStrategy", self.weights)), None
        if self.strategy == "binomial":
            level = params.real("significance", self.significance, 0.0, 1.0)
            method = params.choice("method", self.method, ("exact", "twice_smaller"))
            return decisions.by_test(leaves, level, method)
        if self.strategy == "ratio":
            ratio = params.real("ratio", self.ratio, 0.0)
            return decisions.by_ratio(leaves, ratio, params.whole("min_n", self.min_n, 0) or 0), None
        if self.strategy == "wilson":
            return decisions.by_interval(leaves, self.level), None
        return decisions.by_collateral(leaves, params.real("recall", self.recall, 0.0, 1.0)), None

    def _class_of(self, counts: LeafCounts, target: int, found: Decisions) -> NDArray[np.int64]:
        """Return the class that each leaf predicts; -1 for none."""
        others = counts.predicted.copy()
        others[:, target] = -1.0
        out = np.where(found == TAKE, target, others.argmax(axis=1))
        if self.otherwise == "abstain":
            out[found == UNDECIDED] = -1
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the target for rows in leaves that are taken, else another class or the abstain label."""
        check_is_fitted(self)
        code = self.leaf_classes_[self.apply(X)]
        if self.otherwise != "abstain":
            return np.asarray(self.classes_[code])
        labels = [*self.classes_.tolist(), self.abstain_label]
        known = np.asarray(labels)
        if known.tolist() != labels:  # labels of several types
            known = np.empty(len(labels), dtype=object)
            known[:] = labels
        return np.asarray(known[code])

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row ends in."""
        check_is_fitted(self)
        return leaves_of_rows(self.estimator_, X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class shares of each row's leaf, as the classifier has them."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    @property
    def tree_(self) -> Tree:
        """The tree whose leaves are decided about."""
        check_is_fitted(self)
        return judged_tree(self.estimator_)

    @property
    def n_features_in_(self) -> int:
        """Columns of the tables given to `predict`."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Their names, where `fit` saw names."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.feature_names_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "leaf_classes_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = self.target is not None
        return tags
