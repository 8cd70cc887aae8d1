"""Theta sketch decision trees: grown from set summaries, predicting on 0/1 flags or on raw columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from thetatree.learn import params
from thetatree.learn.base import whole_or_not_at_all
from thetatree.learn.sketched import SketchClassifier
from thetatree.sketch.key_sample import KeySample
from thetatree.sketch.sketch_set import SketchSet

_POSITIVE, _NEGATIVE, _TOTAL = "positive", "negative", "total"


class ThetaSketchDecisionTreeClassifier(SketchClassifier):
    """A decision tree grown from theta sketches.

    Parameters
    ----------
    criterion : str, default="gini"
        gini, entropy (log_loss is the same), gain_ratio, chi_square, binomial (two classes), theta, delta or
        weighted_delta.
    max_depth : int, optional
        Depth of the deepest leaf; no limit by default.
    min_samples_split : int or float, default=2
        Keys (or their share) that a node needs to be split. Counts are estimates.
    min_samples_leaf : int or float, default=1
        Keys (or their share) that each side needs.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that each side needs.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features drawn at random at each node.
    random_state : int, RandomState instance or None, default=None
        Seed of max_features.
    max_leaf_nodes : int, optional
        Grow best first to so many leaves.
    min_impurity_decrease, min_impurity_split : float, default=0.0
        As in `CARTClassifier`.
    ccp_alpha : float, "cv" or "cv-1se", default=0.0
        Minimal cost-complexity pruning: links whose effective alpha is at most this are cut. "cv" takes the
        alpha of the least cross-validated error (by folds of the hashes), "cv-1se" the greatest one within a
        standard error of it; `cp_table_` has the table.
    pruning : {"cost_complexity", "validation", "reduced_error", "pessimistic", "min_impurity"}, optional
        As in `CARTClassifier`. Where the threshold of "cost_complexity" is known as min_impurity_decrease,
        give it as ccp_alpha, divided by the number of keys: alpha is in shares of the root here.
    validation_fraction : float, default=0.25
        Share of the keys, by their hashes, that pruning="validation" keeps aside, unless fit is given X_val.
    ccp_folds : int, default=10
        Folds of ccp_alpha="cv" and "cv-1se".
    honest : float, optional
        Share of the keys, by their hashes, that fills the nodes with counts; the rest chooses the splits.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, by label.
    priors : dict, optional
        Shares that the classes have where the tree will be used, by label; they weigh the classes instead of
        the sketches' own shares.
    max_categories : int, default=10
        With three and more classes, up to so many categories are parted exhaustively.
    significance : float or None, default=0.05
        A split of estimated counts must gain more than noise would, at this level, corrected for the number
        of candidates. None: no such gate. Exact counts (θ = 1) need none.
    min_held : int, default=10
        Keys that the sketches must hold on each side of a split of estimated counts.
    use_absent : bool, default=True
        Whether absent sketches take part, where they are the complement of the present ones.
    n_jobs : int, optional
        Threads; all cores by default. The tree never depends on it.
    verbose : int, default=0
        1 prints what was grown.

    Attributes
    ----------
    tree_ : Tree
        The tree; `tree_.estimates` has the counts with their standard errors.
    classes_ : ndarray
        [0, 1] when fitted on {"positive": ..., "negative" or "total": ...}; else the set's classes.
    feature_importances_ : ndarray
        Mean decrease in impurity, in column order.

    Examples
    --------
    >>> import datasketches
    >>> from thetatree import ThetaSketchDecisionTreeClassifier
    >>> def sketched(keys):
    ...     sketch = datasketches.update_theta_sketch(12)
    ...     for key in keys:
    ...         sketch.update(key)
    ...     return sketch
    >>> data = {
    ...     "positive": {"total": sketched(range(300)), "vip": sketched(range(200))},
    ...     "negative": {"total": sketched(range(300, 1000)), "vip": sketched(range(300, 350))},
    ... }
    >>> model = ThetaSketchDecisionTreeClassifier().fit(data, {"vip": 0})
    >>> model.predict([[1], [0]]).tolist()
    [1, 0]
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        min_impurity_split: float = 0.0,
        ccp_alpha: float | str = 0.0,
        pruning: str | None = None,
        validation_fraction: float = 0.25,
        ccp_folds: int = 10,
        honest: float | None = None,
        class_weight: Any = None,
        priors: Any = None,
        max_categories: int = 10,
        significance: float | None = 0.05,
        min_held: int = 10,
        use_absent: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.criterion = criterion
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
        self.pruning = pruning
        self.validation_fraction = validation_fraction
        self.ccp_folds = ccp_folds
        self.honest = honest
        self.class_weight = class_weight
        self.priors = priors
        self.max_categories = max_categories
        self.significance = significance
        self.min_held = min_held
        self.use_absent = use_absent
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(
        self,
        sketch_data: Any,
        feature_mapping: Mapping[str, int] | None = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        sketch_data : dict or SketchSet
            ``{"positive": {"total": s, name: (present, absent) | present}, "negative" | "total": {...}}``
            with sketches as datasketches objects or bytes; or a `SketchSet`, or a `KeySample`, with any
            number of classes.
        feature_mapping : dict, optional
            The column of the table given to `predict`, by feature name. Features that it does not name are
            left out. A column holds 0/1 flags, or what the feature was sketched from: numbers, categories,
            lists of tags. Without a mapping, `predict` takes columns by the features' names.
        X_val, y_val : table and array-like, optional
            Held-out data that pruning="validation" is judged by: a table as `predict` takes it with its
            labels, or a SketchSet of other keys alone.
        """
        sketches, labels = self._read_sketches(sketch_data)
        if feature_mapping is not None:
            sketches = sketches.select(_checked_mapping(feature_mapping, sketches.features))
        return self._fit_sketches(sketches, feature_mapping, labels, X_val, y_val)

    @staticmethod
    def _read_sketches(sketch_data: Any) -> tuple[SketchSet, tuple[Any, ...] | None]:
        if isinstance(sketch_data, KeySample):
            sketch_data = sketch_data.sketch_set()
        if isinstance(sketch_data, SketchSet):
            return sketch_data, None
        if not isinstance(sketch_data, Mapping):
            raise TypeError(
                f"sketch_data must be a SketchSet or a dict of sketches by class; "
                f"got {type(sketch_data).__name__}; sketch rows first, or give them to a CARTClassifier"
            )
        others = set(sketch_data) - {_POSITIVE}
        if _POSITIVE not in sketch_data or len(others) != 1 or not others <= {_NEGATIVE, _TOTAL}:
            raise ValueError(
                f"sketch_data needs 'positive' and one of 'negative' and 'total'; "
                f"it has {sorted(map(str, sketch_data))}. "
                f"For other classes make a SketchSet (SketchSet.from_sketches)"
            )
        return SketchSet.from_sketches(sketch_data), (0, 1)


def _checked_mapping(mapping: Any, features: tuple[str, ...]) -> list[str]:
    if not isinstance(mapping, Mapping):
        raise TypeError(f"feature_mapping must be a dict from feature name to column; got {mapping!r}")
    for name, column in mapping.items():
        if name not in features:
            raise ValueError(
                f"feature_mapping names {name!r}, of which there is no sketch; there are {list(features)}"
            )
        params.whole(f"feature_mapping[{name!r}]", column, 0)
    repeated = [name for name in mapping if list(mapping.values()).count(mapping[name]) > 1]
    if repeated:
        raise ValueError(
            f"feature_mapping gives column {mapping[repeated[0]]} to several features: {repeated}"
        )
    return list(mapping)
