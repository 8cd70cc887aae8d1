"""Classifiers that a sketch set can grow as well as rows, and how they predict on raw columns then."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thetatree.data.threads import n_threads
from thetatree.grow.from_sketches import SketchRules, grow_from_sketches
from thetatree.learn import params
from thetatree.learn.base import TreeClassifier
from thetatree.learn.found_columns import FindsColumns
from thetatree.learn.pruning import check_held_out, grown_and_pruned, pruning_plan
from thetatree.learn.supply import SketchSupply
from thetatree.sketch.consistency import inconsistencies
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import Sources, Tested, sources_of, tested_features
from thetatree.split.criteria import check_criterion
from thetatree.tree.held_out import HeldOut, losses_on
from thetatree.tree.tree import Tree

_log = logging.getLogger("thetatree")

SIGNIFICANCE, MIN_HELD = 0.05, 10  # the gate where an estimator has no parameters for it


class SketchClassifier(FindsColumns, TreeClassifier):
    """A classifier that grows from sketches."""

    def _fit_sketches(
        self,
        sketches: SketchSet,
        mapping: Mapping[str, int] | None = None,
        labels: tuple[Any, ...] | None = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Grow the tree; `labels` stand for the set's own."""
        if not sketches.classes:
            raise ValueError(
                "the sketch set has no class: merge it with the set that knows the target, read it with "
                "target=, or sketch it with a target column"
            )
        for finding in inconsistencies(sketches.data):
            _log.warning("%s", finding)
        tested = tested_features(sketches.data)
        columns = None
        if mapping is not None:
            columns = [int(mapping[sketches.features[one.feature]]) for one in tested]
            order = np.argsort(columns, kind="stable")
            tested = tuple(tested[i] for i in order)
            columns = sorted(columns)
        supply = self._supply(sketches, tested, labels)
        plan = pruning_plan(self, given=check_held_out(X_val, y_val))
        self.classes_ = as_array(supply.labels)
        self.n_classes_ = len(supply.labels)
        self.n_outputs_ = 1
        judge = None if X_val is None else partial(self._judged, X_val=X_val, y_val=y_val, columns=columns)
        self._keep_pruned(*grown_and_pruned(supply, plan, judge))
        self._remember_columns(columns)
        if getattr(self, "verbose", 0):
            held = len(sketches.data.column.hashes)
            print(
                f"{type(self).__name__}: {len(sketches)} sketches, {held:,} held keys, "
                f"{self.tree_.n_leaves} leaves"
            )
        return self

    def _supply(
        self, sketches: SketchSet, tested: tuple[Tested, ...], labels: tuple[Any, ...] | None
    ) -> SketchSupply:
        use_absent = bool(getattr(self, "use_absent", True))
        read = partial(_read_sources, tested=tested, use_absent=use_absent)
        own = read(sketches).labels if labels is None else labels
        return SketchSupply(
            sketches,
            own,
            read,
            lambda sources: grow_from_sketches(sources, self._sketch_rules(sources, own), own),
            lambda sources: self._class_weights(sources.class_sizes(), own),
            use_absent,
            self._option("n_jobs", None),
        )

    def _judged(self, tree: Tree, *, X_val: Any, y_val: Any, columns: list[int] | None) -> HeldOut:
        """Judge a tree's nodes by the held-out data given to fit."""
        if isinstance(X_val, SketchSet):
            return losses_on(tree, X_val, y_val)
        self.tree_ = tree
        self._remember_columns(columns)
        return self._losses_on_rows(X_val, y_val)

    def _sketch_rules(self, sources: Sources, labels: tuple[Any, ...]) -> SketchRules:
        criterion = check_criterion(self._option("criterion", "gini"), classify=True)
        if criterion == "binomial" and len(labels) > 2:
            raise ValueError(
                f"criterion='binomial' is for two classes; there are {len(labels)}: use 'chi_square'"
            )
        sizes = sources.class_sizes()
        weight = self._class_weights(sizes, labels)
        n, option = round(float(sizes.sum())), self._option
        depth = params.whole("max_depth", option("max_depth", None), 1, none=True)
        leaves = params.whole("max_leaf_nodes", option("max_leaf_nodes", None), 2, none=True)
        share = params.real("min_weight_fraction_leaf", option("min_weight_fraction_leaf", 0.0), 0.0, 0.5)
        drawn = option("max_features", None)
        return SketchRules(
            criterion=criterion,
            class_weight=weight.tolist(),
            max_depth=-1 if depth is None else depth,
            min_samples_split=params.count_or_share(
                "min_samples_split", option("min_samples_split", 2), n, 2
            ),
            min_samples_leaf=params.count_or_share("min_samples_leaf", option("min_samples_leaf", 1), n, 1),
            min_weight_leaf=share * float((sizes * weight).sum()),
            min_impurity_decrease=params.real(
                "min_impurity_decrease", option("min_impurity_decrease", 0.0), 0.0
            ),
            min_impurity_split=params.real("min_impurity_split", option("min_impurity_split", 0.0), 0.0),
            max_leaf_nodes=-1 if leaves is None else leaves,
            max_features=params.n_features_drawn(drawn, len(sources.tested)),
            max_categories=params.whole("max_categories", option("max_categories", 10), 2, most=24) or 2,
            significance=self._level(),
            min_held=params.whole("min_held", option("min_held", MIN_HELD), 0) or 0,
            seed=params.seed_of(option("random_state", None)) if drawn is not None else 0,
            n_threads=n_threads(option("n_jobs", None)),
        )

    def _level(self) -> float:
        """The level of the gate; to the kernel 0 means none."""
        significance = self._option("significance", SIGNIFICANCE)
        return params.level("significance", SIGNIFICANCE if significance == "auto" else significance)

    def _class_weights(self, sizes: NDArray[np.float64], labels: tuple[Any, ...]) -> NDArray[np.float64]:
        given, priors = self._option("class_weight", None), self._option("priors", None)
        if given is not None and priors is not None:
            raise ValueError("give class_weight or priors, not both: each says how much a class counts")
        if priors is not None:
            prior = _by_label("priors", priors, labels, complete=True)
            return np.asarray(prior / prior.sum() * sizes.sum() / np.maximum(sizes, 1e-300))
        if isinstance(given, Mapping):
            return _by_label("class_weight", given, labels, complete=False)
        if given is not None:
            params.choice("class_weight", given, ("balanced",))
            return np.asarray(sizes.sum() / (len(labels) * np.maximum(sizes, 1e-300)))
        return np.ones(len(labels))


def _read_sources(sketches: SketchSet, *, tested: tuple[Tested, ...], use_absent: bool) -> Sources:
    return sources_of(sketches.data, tested, use_absent=use_absent)


def as_array(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Give labels to numpy; of several types, as objects: 1 beside "rest" is not to become "1"."""
    array = np.asarray(labels)
    return array if tuple(array.tolist()) == labels else np.array(labels, dtype=object)


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
