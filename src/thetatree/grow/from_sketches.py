"""Growing from a sketch set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.features import Feature, Kind
from thetatree.sketch.sources import Sources
from thetatree.split.criteria import CODES
from thetatree.tree.tree import Tree

_KINDS: dict[str, Kind] = {"flag": "flag", "multi": "flag", "category": "category", "threshold": "number"}
_LABELLED = ("category", "multi")


@dataclass(frozen=True)
class SketchRules:
    """Limits on estimated counts, and the gate that a split's gain must pass where counts are estimates."""

    criterion: str
    class_weight: Sequence[float]
    max_depth: int = -1
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int = -1
    max_features: int = 0
    max_categories: int = 10
    positive_gain: bool = False
    min_score: float = 0.0
    min_gain: float = 0.0
    significance: float = 0.0
    min_held: float = 0.0
    seed: int = 0
    n_threads: int = 1

    def for_kernel(self) -> dict[str, Any]:
        """Return the rules as the kernel reads them."""
        rules = asdict(self)
        rules["criterion"] = CODES[self.criterion]
        rules["class_weight"] = [float(w) for w in self.class_weight]
        for name in ("min_samples_split", "min_samples_leaf", "min_held"):
            rules[name] = float(rules[name])
        return rules


def grow_from_sketches(sources: Sources, rules: SketchRules, classes: tuple[Any, ...]) -> Tree:
    """Grow a tree from the sketches of each class."""
    column = sources.data.column
    arrays = _kernel.grow_from_sketches(
        column.hashes,
        column.offsets,
        column.thetas,
        sources.classes,
        sources.exact_n,
        sources.cells,
        rules.for_kernel(),
    )
    features = tree_features(sources)
    arrays["threshold"] = _placed_cuts(arrays, sources)
    arrays["standard_error"] = np.sqrt(arrays.pop("variance"))
    return Tree.from_arrays(arrays, features, classes, rules.criterion)


def tree_features(sources: Sources) -> tuple[Feature, ...]:
    """Describe what was tested as the tree remembers it: flags, tags, numbers with cuts, categories."""
    described = []
    known = [source["known"] for source in sources.classes]
    with_gaps = [max(places) >= 0 for places in zip(*known, strict=True)]
    for place, tested in enumerate(sources.tested):
        feature = sources.data.features[tested.feature]
        gaps = with_gaps[place]
        labels = tuple(feature.values[v] for v in tested.values) if feature.kind in _LABELLED else ()
        unlisted = sources.has_unlisted(place)
        described.append(Feature(tested.name, _KINDS[feature.kind], labels, gaps, unlisted))
    return tuple(described)


def _placed_cuts(arrays: dict[str, NDArray[Any]], sources: Sources) -> NDArray[np.float64]:
    """The kernel numbers a feature's cuts; the tree compares with their edges."""
    threshold = arrays["threshold"].copy()
    for node in np.flatnonzero(arrays["kind"] == 1):
        feature = sources.data.features[sources.tested[arrays["feature"][node]].feature]
        threshold[node] = feature.edges[int(threshold[node])]
    return threshold
