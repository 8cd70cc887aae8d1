"""C4.5: trees by gain ratio, with cases in parts and pessimistic pruning (Quinlan 1993, 1996)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetatree.data.features import Feature
from thetatree.data.rows import Rows, features_of
from thetatree.data.target import Target
from thetatree.data.threads import n_threads
from thetatree.grow.c45 import C45Rules, c45_candidates, grow_c45
from thetatree.grow.held_rows import held_rows
from thetatree.learn import params
from thetatree.learn.base import counted_rows, whole_or_not_at_all
from thetatree.learn.rows import ATTRIBUTES, CATEGORICAL, RowClassifier, paragraph
from thetatree.learn.sketched import as_array
from thetatree.learn.supply import SketchSupply
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import Sources, Tested
from thetatree.tree.error_limits import METHODS
from thetatree.tree.training import Training, training_of
from thetatree.tree.tree import Tree

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = ("gain_ratio", "gain")


@dataclass(frozen=True)
class _Grown:
    """A tree before pruning and the cases that it was grown from."""

    tree: Tree
    rows: Rows
    target: Target


class C45Classifier(RowClassifier):  # noqa: D101 - its docstring is put together
    __doc__ = f"""C4.5, release 8: multiway splits by gain ratio, cases in parts, pessimistic pruning.

    A category has a branch for each of its values, a number is cut in two. A row whose value is missing goes
    to every branch, in parts as their known cases weigh, when the tree is grown, pruned and asked. Rows are
    *cases*, and a row of weight 2 is two of them.

    Parameters
    ----------
    criterion : {{"gain_ratio", "gain"}}, default="gain_ratio"
        gain_ratio: information gain over split information, among the tests that gain at least the average.
        gain: information gain alone.
    subsets : bool, default=False
        Group the values of a category for each split, two groups at a time while that does no harm, instead
        of a branch for each value.
    binary_categories : bool, default=False
        Split a category in two: one value against the others.
    mdl : bool, default=True
        Let a number's gain pay log2(cuts) / cases for the choice among its cuts, as release 8 does.
    min_gain_ratio : float, default=0.0
        A split of a lower ratio is not made.
    once_per_path : bool, default=False
        A feature that was asked for on the way to a node is not asked for again.
    collapse : bool, default=True
        A subtree that makes no fewer training errors than a leaf becomes one at once.
    pruning : str or None, default="pessimistic"
        "pessimistic": by the errors to be reckoned with; None: not at all. Or as other learners prune:
        "cost_complexity", by `ccp_alpha`; "validation" (also called "reduced_error"): the smallest subtree of
        the fewest errors on held-out data; "min_impurity": pairs of leaves whose split lowers the impurity of
        its own node by less than `min_impurity_decrease` are collapsed.
    confidence : float, default=0.25
        Of the upper limits of error rates; a smaller one prunes more.
    limits : {{"release8", "exact", "normal"}}, default="release8"
        How an upper limit is reckoned; see `thetatree.tree.error_limits`.
    raising : bool, default=True
        Whether pruning may put a node's largest branch in its place.
    max_depth : int, optional
        Depth of the deepest leaf; no limit by default.
    min_samples_split : int or float, default=2
        Cases (or their share) that a node needs to be split.
    min_samples_leaf : int or float, default=2
        Cases (or their share) that at least two branches need. On each side of a number's cut it is a tenth
        of the cases per class, but no more than 25, where that is more.
    min_weight_fraction_leaf : float, default=0.0
        The same as a share of the total weight.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random at each node; more are looked at until one can split.
    random_state : int, RandomState instance or None, default=None
        Seed of max_features and of partings of the data. Without these, a tree does not depend on it.
    min_impurity_decrease : float, default=0.0
        What a split must gain, weighted by the node's share of the root.
    min_impurity_split : float, default=0.0
        A node of at most this entropy is a leaf.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, by label.
    ccp_alpha : float, "cv" or "cv-1se", default=0.0
        Minimal cost-complexity pruning, with pruning=None or "cost_complexity": links whose effective alpha
        is at most this are cut; "cv" and "cv-1se" choose it by cross-validation.
    validation_fraction : float, default=0.25
        Share of the training data that pruning="validation" keeps aside, unless fit is given X_val and y_val.
    ccp_folds : int, default=10
        Folds of ccp_alpha="cv" and "cv-1se".
{paragraph(CATEGORICAL)}
    missing : {{"fractional", "error"}}, default="fractional"
        "fractional": a row goes to every branch, in parts; "error": missing values are refused.
    n_jobs : int, optional
        Threads; all cores by default, small problems use one. The tree never depends on it.
    verbose : int, default=0
        1 prints what was grown.

{paragraph(ATTRIBUTES)}
    classes_ : ndarray
        The class labels.
    training_ : Training
        Sizes and errors before pruning and after, and the confusion matrix, of the cases that the tree was
        grown from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from thetatree import C45Classifier
    >>> iris = load_iris()
    >>> model = C45Classifier().fit(iris.data, iris.target)
    >>> model.tree_.node_count, model.training_.pruned.errors
    (9, 3.0)
    """

    training_: Training
    prunes_as_it_grows = True

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        subsets: bool = False,
        binary_categories: bool = False,
        mdl: bool = True,
        min_gain_ratio: float = 0.0,
        once_per_path: bool = False,
        collapse: bool = True,
        pruning: str | None = "pessimistic",
        confidence: float = 0.25,
        limits: str = "release8",
        raising: bool = True,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 2,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        min_impurity_decrease: float = 0.0,
        min_impurity_split: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float | str = 0.0,
        validation_fraction: float = 0.25,
        ccp_folds: int = 10,
        categorical_features: Any = "from_dtype",
        missing: str = "fractional",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
        self.subsets = subsets
        self.binary_categories = binary_categories
        self.mdl = mdl
        self.min_gain_ratio = min_gain_ratio
        self.once_per_path = once_per_path
        self.collapse = collapse
        self.pruning = pruning
        self.confidence = confidence
        self.limits = limits
        self.raising = raising
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.validation_fraction = validation_fraction
        self.ccp_folds = ccp_folds
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        """Grow the tree and prune it.

        Parameters
        ----------
        X : table
            numpy, pandas, polars, pyarrow or scipy sparse. Boolean columns are flags, numeric ones numbers,
            text and categorical ones categories. Or a `SketchSet`, which knows the classes: then the keys
            of which the sketches know everything are the cases.
        y : array-like
            One label per row.
        sample_weight : array-like, optional
            One weight per row: how many cases it is; 0 leaves the row out.
        X_val, y_val : table and array-like, optional
            Held-out rows that pruning="validation" is judged by, instead of a share of `X`.
        """
        self._first: _Grown | None = None
        try:
            super().fit(X, y, sample_weight, X_val=X_val, y_val=y_val)
            assert self._first is not None
            self.training_ = training_of(
                self._first.tree,
                self.tree_,
                self._first.rows,
                self._first.target,
                confidence=self.confidence,
                limits=self.limits,
                n_jobs=self.n_jobs,
            )
        finally:
            del self._first
        return self

    def _grow(self, rows: Rows, target: Target) -> Tree:
        rows, target = counted_rows(rows, target)
        grown, pruned = self._trees(rows, features_of(rows), target)
        self._first = self._first or _Grown(grown, rows, target)
        return pruned

    def _supply(
        self, sketches: SketchSet, tested: tuple[Tested, ...], labels: tuple[Any, ...] | None
    ) -> SketchSupply:
        supply = super()._supply(sketches, tested, labels)
        return replace(supply, grower=lambda sources: self._grow_held(sources, supply.labels))

    def _grow_held(self, sources: Sources, labels: tuple[Any, ...]) -> Tree:
        """Grow from the keys of which everything is known."""
        held = held_rows(sources)
        class_weight = self._class_weights(held.size, labels)
        target = Target(held.codes, as_array(labels), held.weight(class_weight))
        rows, target = counted_rows(held.rows, target)
        grown, pruned = self._trees(rows, held.features, target)
        self._first = self._first or _Grown(held.estimated(grown, class_weight), rows, target)
        return held.estimated(pruned, class_weight)

    def _trees(self, rows: Rows, features: list[Feature], target: Target) -> tuple[Tree, Tree]:
        return grow_c45(rows, features, target, self._c45_rules(rows, target), self.missing)

    def _unpruned(self, X: Any, y: Any, sample_weight: Any) -> Tree:
        unpruned = clone(self).set_params(ccp_alpha=0.0, pruning=None)
        whole: Tree = unpruned.fit(X, y, sample_weight).tree_
        return whole

    def _c45_rules(self, rows: Rows, target: Target) -> C45Rules:
        total = float(rows.n_rows) if target.weight is None else float(target.weight.sum())
        params.choice("missing", self.missing, ("fractional", "error"))
        if self.subsets and self.binary_categories:
            raise ValueError("give subsets or binary_categories, not both: they split a category differently")
        confidence = params.real("confidence", self.confidence, 0.0, 1.0)
        if confidence in (0, 1):
            raise ValueError(f"confidence must lie between 0 and 1, both excluded; got {self.confidence!r}")
        depth = params.whole("max_depth", self.max_depth, 1, none=True)
        share = params.real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        drawn = params.n_features_drawn(self.max_features, rows.n_columns)
        least = params.count_or_share("min_samples_leaf", self.min_samples_leaf, int(total), 1)
        return C45Rules(
            n_classes=target.n_classes,
            ratio=params.choice("criterion", self.criterion, CRITERIA) == "gain_ratio",
            mdl=bool(self.mdl),
            subsets=bool(self.subsets),
            binary_categories=bool(self.binary_categories),
            once_per_path=bool(self.once_per_path),
            collapse=bool(self.collapse),
            min_cases=max(float(least), share * total),
            min_split=float(
                params.count_or_share("min_samples_split", self.min_samples_split, int(total), 2)
            ),
            min_ratio=params.real("min_gain_ratio", self.min_gain_ratio, 0.0),
            min_decrease=params.real("min_impurity_decrease", self.min_impurity_decrease, 0.0),
            min_impurity=params.real("min_impurity_split", self.min_impurity_split, 0.0),
            max_depth=-1 if depth is None else depth,
            max_features=drawn if drawn < rows.n_columns else 0,
            seed=params.seed_of(self.random_state) if self.max_features is not None else 0,
            prune=self.pruning == "pessimistic",
            raising=bool(self.raising),
            limits=params.choice("limits", self.limits, METHODS),
            confidence=confidence,
            n_threads=n_threads(self.n_jobs),
        )

    def root_candidates(self, X: Any, y: Any, sample_weight: Any = None) -> pd.DataFrame:
        """Return what each feature's test would gain at the root.

        A data frame with one row per feature, in column order: the test, its gain (of a number after the
        price of its cuts), split information and gain ratio; NaN where a feature has no test.
        """
        rows = self._read(X, reset=True, categorical=self.categorical_features)
        rows, target = counted_rows(rows, self._target(y, rows.n_rows, sample_weight))
        return c45_candidates(rows, features_of(rows), target, self._c45_rules(rows, target), self.missing)

    def summary(self) -> str:
        """Return C4.5's table: sizes and errors before pruning and after, and the confusion matrix."""
        from thetatree.export.summary_c45 import c45_text

        check_is_fitted(self)
        return c45_text(self.tree_, self.training_)

    def summary_frame(self) -> pd.DataFrame:
        """Return sizes and errors before pruning and after as a data frame."""
        check_is_fitted(self)
        return self.training_.frame()

    def model_extras(self) -> dict[str, Any]:
        """What a model file keeps beside the tree."""
        return super().model_extras() | {"training": self.training_.to_dict()}

    def restore_extras(self, extras: dict[str, Any]) -> None:
        """Take back what `model_extras` gave."""
        super().restore_extras(extras)
        self.training_ = Training.from_dict(extras["training"], len(self.classes_))
