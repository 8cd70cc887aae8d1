"""Theta sketch decision trees: grown from set summaries, predicting on 0/1 flags or on raw columns."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from thetatree.data.rows import Rows
from thetatree.data.threads import n_threads
from thetatree.grow.from_sketches import SketchRules, grow_from_sketches
from thetatree.learn import params
from thetatree.learn.base import TreeClassifier
from thetatree.learn.raw_columns import RawTable, columns_by_name, columns_by_place
from thetatree.sketch.consistency import inconsistencies
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import Sources, sources_of, tested_features
from thetatree.split.criteria import check_criterion

_log = logging.getLogger("thetatree")

_POSITIVE, _NEGATIVE, _TOTAL = "positive", "negative", "total"


class ThetaSketchDecisionTreeClassifier(TreeClassifier):
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
        self.class_weight = class_weight
        self.priors = priors
        self.max_categories = max_categories
        self.significance = significance
        self.min_held = min_held
        self.use_absent = use_absent
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, sketch_data: Any, feature_mapping: Mapping[str, int] | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        sketch_data : dict or SketchSet
            ``{"positive": {"total": s, name: (present, absent) | present}, "negative" | "total": {...}}``
            with sketches as datasketches objects or bytes; or a `SketchSet` with any number of classes.
        feature_mapping : dict, optional
            The column of the table given to `predict`, by feature name. Features that it does not name are
            left out. A column holds 0/1 flags, or what the feature was sketched from: numbers, categories,
            lists of tags. Without a mapping, `predict` takes columns by the features' names.
        """
        sketches, labels = self._read_sketches(sketch_data)
        if feature_mapping is not None:
            sketches = sketches.select(_checked_mapping(feature_mapping, sketches.features))
        for finding in inconsistencies(sketches.data):
            _log.warning("%s", finding)
        tested = tested_features(sketches.data)
        columns = None
        if feature_mapping is not None:
            columns = [int(feature_mapping[sketches.features[one.feature]]) for one in tested]
            order = np.argsort(columns, kind="stable")
            tested = tuple(tested[i] for i in order)
            columns = sorted(columns)
        sources = sources_of(sketches.data, tested, use_absent=bool(self.use_absent))
        labels = sources.labels if labels is None else labels
        self.tree_ = grow_from_sketches(sources, self._rules(sources, labels), labels)
        self.classes_ = _as_array(labels)
        self.n_classes_ = len(labels)
        self.n_outputs_ = 1
        self._remember_columns(columns)
        if self.verbose:
            held = len(sketches.data.column.hashes)
            grown = f"{held:,} held keys, {self.tree_.n_leaves} leaves"
            print(f"{type(self).__name__}: {len(sketches)} sketches, {grown}")
        return self

    @staticmethod
    def _read_sketches(sketch_data: Any) -> tuple[SketchSet, tuple[Any, ...] | None]:
        if isinstance(sketch_data, SketchSet):
            return sketch_data, None
        if not isinstance(sketch_data, Mapping):
            raise TypeError(
                f"sketch_data must be a SketchSet or a dict of sketches by class; "
                f"got {type(sketch_data).__name__}"
            )
        others = set(sketch_data) - {_POSITIVE}
        if _POSITIVE not in sketch_data or len(others) != 1 or not others <= {_NEGATIVE, _TOTAL}:
            raise ValueError(
                f"sketch_data needs 'positive' and one of 'negative' and 'total'; "
                f"it has {sorted(map(str, sketch_data))}. "
                f"For other classes make a SketchSet (SketchSet.from_sketches)"
            )
        return SketchSet.from_sketches(sketch_data), (0, 1)

    def _rules(self, sources: Sources, labels: tuple[Any, ...]) -> SketchRules:
        criterion = check_criterion(self.criterion, classify=True)
        if criterion == "binomial" and len(labels) > 2:
            raise ValueError(
                f"criterion='binomial' is for two classes; there are {len(labels)}: use 'chi_square'"
            )
        sizes = sources.class_sizes()
        weight = self._class_weights(sizes, labels)
        n = round(float(sizes.sum()))
        depth = params.whole("max_depth", self.max_depth, 1, none=True)
        leaves = params.whole("max_leaf_nodes", self.max_leaf_nodes, 2, none=True)
        share = params.real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        return SketchRules(
            criterion=criterion,
            class_weight=weight.tolist(),
            max_depth=-1 if depth is None else depth,
            min_samples_split=params.count_or_share("min_samples_split", self.min_samples_split, n, 2),
            min_samples_leaf=params.count_or_share("min_samples_leaf", self.min_samples_leaf, n, 1),
            min_weight_leaf=share * float((sizes * weight).sum()),
            min_impurity_decrease=params.real("min_impurity_decrease", self.min_impurity_decrease, 0.0),
            min_impurity_split=params.real("min_impurity_split", self.min_impurity_split, 0.0),
            max_leaf_nodes=-1 if leaves is None else leaves,
            max_features=params.n_features_drawn(self.max_features, len(sources.tested)),
            max_categories=params.whole("max_categories", self.max_categories, 2, most=24) or 2,
            significance=self._level(),
            min_held=params.whole("min_held", self.min_held, 0) or 0,
            seed=params.seed_of(self.random_state) if self.max_features is not None else 0,
            n_threads=n_threads(self.n_jobs),
        )

    def _level(self) -> float:
        """The level of the gate; to the kernel 0 means none."""
        if self.significance is None:
            return 0.0
        level = params.real("significance", self.significance, 0.0, 1.0)
        if level == 0:
            raise ValueError(
                f"significance must be above 0, where nothing is significant; got {self.significance!r}: "
                f"give None for no gate"
            )
        return level

    def _class_weights(self, sizes: NDArray[np.float64], labels: tuple[Any, ...]) -> NDArray[np.float64]:
        weight = np.ones(len(labels))
        if self.class_weight is not None and self.priors is not None:
            raise ValueError("give class_weight or priors, not both: each says how much a class counts")
        if self.priors is not None:
            prior = _by_label("priors", self.priors, labels, complete=True)
            return np.asarray(prior / prior.sum() * sizes.sum() / np.maximum(sizes, 1e-300))
        if isinstance(self.class_weight, Mapping):
            return _by_label("class_weight", self.class_weight, labels, complete=False)
        if self.class_weight is not None:
            params.choice("class_weight", self.class_weight, ("balanced",))
            return np.asarray(sizes.sum() / (len(labels) * np.maximum(sizes, 1e-300)))
        return weight

    def _remember_columns(self, columns: list[int] | None) -> None:
        """Keep where each of the tree's features is found in the tables given to `predict`."""
        self.columns_ = columns
        if columns is None:
            self.n_features_in_ = self.tree_.n_features
            self.feature_names_in_ = np.array([f.name for f in self.tree_.features], dtype=object)
        else:
            self.n_features_in_ = max(columns, default=-1) + 1
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit without a mapping

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Mean decrease in impurity by column, adding up to 1; columns without a sketch have 0."""
        check_is_fitted(self)
        own = self.tree_.compute_feature_importances()
        if self.columns_ is None:
            return own
        out = np.zeros(self.n_features_in_)
        np.add.at(out, self.columns_, own)
        return out

    def _leaves(self, X: Any) -> NDArray[np.int64]:
        check_is_fitted(self)
        features = self.tree_.features
        table = RawTable(X, self)
        if self.columns_ is None and table.named:
            picked = columns_by_name(table, features)
        else:
            places = self._places(len(table.names))
            picked = columns_by_place(table, features, places, lists=self.columns_ is not None)
        rows = Rows(table.n_rows, [c.name for c in picked], picked)
        return self.tree_.apply_rows(rows, self.n_jobs)

    def _places(self, n_columns: int) -> list[int]:
        """Where each of the tree's features stands in a table of so many columns."""
        expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
        if self.columns_ is None:
            if n_columns != self.n_features_in_:
                names = [f.name for f in self.tree_.features]
                raise ValueError(f"X has {n_columns} features, but {expected}: {names}; or a data frame")
            return list(range(self.n_features_in_))
        if n_columns < self.n_features_in_:
            last = self.n_features_in_ - 1
            raise ValueError(
                f"X has {n_columns} features, but {expected}: feature_mapping names column {last}"
            )
        return list(self.columns_)

    def model_extras(self) -> dict[str, Any]:
        """What a model file keeps beside the tree."""
        return {"columns": self.columns_}

    def restore_extras(self, extras: dict[str, Any]) -> None:
        """Take back what `model_extras` gave."""
        columns = extras["columns"]
        if columns is not None:
            whole = all(isinstance(c, int) and c >= 0 for c in columns)
            if not whole or len(columns) != self.tree_.n_features:
                raise ValueError("the columns do not fit the tree's features")
        self._remember_columns(columns)


def _as_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Give labels to numpy; of several types, as objects: 1 beside "rest" is not to become "1"."""
    array = np.asarray(labels)
    return array if tuple(array.tolist()) == labels else np.array(labels, dtype=object)


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


def _by_label(name: str, given: Any, labels: tuple[Any, ...], *, complete: bool) -> NDArray[np.float64]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} must be a dict by class label; got {given!r}")
    unknown = [label for label in given if label not in labels]
    lacking = [label for label in labels if label not in given] if complete else []
    if unknown or lacking:
        what = f"names {unknown[0]!r}, which is not a class" if unknown else f"lacks class {lacking[0]!r}"
        raise ValueError(f"{name} {what}; the classes are {list(labels)}")
    weights = np.array([params.real(f"{name}[{label!r}]", given.get(label, 1.0), 0.0) for label in labels])
    if not 0 < weights.sum() < np.inf:
        raise ValueError(f"{name} must be finite, and one of them above 0; got {dict(given)!r}")
    return weights
