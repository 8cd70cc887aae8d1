"""The rules that a tree is grown by, in the kernel's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thetatree.split.criteria import CODES


@dataclass(frozen=True)
class GrowRules:
    """Limits and choices; counts are whole numbers here and fractions have been resolved. -1 and 0: none.

    `min_score` to `p2` say what the best split's score must reach, and `p1` what share of the root's loss a
    node must hold. `tier`, `ordered` and `monotonic` are by feature: the lowest tier is tried first; ordered
    categories are cut in the order of their labels. `largest_first` grows the node of the greatest loss
    first, `force` is the feature of the first split, `trace` keeps every feature's best score at each node.
    `significance` is the level that a node's best split must pass.
    The tree does not depend on `binned_from`, the rows of a node from which numbers are searched by bins, nor
    on `listed_to`, the rows up to which a node's numbers are sorted once for all nodes below it.
    """

    criterion: str
    n_classes: int
    max_depth: int = -1
    min_samples_split: int = 2
    min_samples_leaf: float = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int = -1
    max_features: int = 0
    max_categories: int = 10
    majority: bool = False
    random_splits: bool = False
    positive_gain: bool = False
    seed: int = 0
    monotonic: Sequence[int] = ()
    min_score: float = 0.0
    min_gain: float = 0.0
    min_improvement: float = 0.0
    p1: float = 0.0
    p2: float = 0.0
    tier: Sequence[int] = ()
    force: int = -1
    ordered: Sequence[int] = ()
    largest_first: bool = False
    significance: float = 0.0
    trace: bool = False
    binned_from: int = 1024
    listed_to: int = 4096
    n_threads: int = 1

    def for_kernel(self) -> dict[str, Any]:
        """Return the rules as the kernel reads them."""
        rules = dict(vars(self))
        rules["criterion"] = CODES[self.criterion]
        for name in ("monotonic", "tier", "ordered"):
            rules[name] = list(getattr(self, name))
        rules["min_samples_leaf"] = float(self.min_samples_leaf)
        return rules
