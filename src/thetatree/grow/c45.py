"""Growing C4.5's trees: the rules in the kernel's terms, the tree before pruning and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.coding import code_rows
from thetatree.data.features import Feature
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.from_rows import refuse_missing
from thetatree.tree.error_limits import METHODS
from thetatree.tree.rules import number_text
from thetatree.tree.tree import SplitKind, Tree

if TYPE_CHECKING:
    import pandas as pd

CANDIDATE_COLUMNS = ("feature", "split", "gain", "split_information", "gain_ratio", "cut")


@dataclass(frozen=True)
class C45Rules:
    """Limits and choices. Cases are weighed, so their limits need not be whole; -1 and 0: none."""

    n_classes: int
    ratio: bool = True
    mdl: bool = True
    subsets: bool = False
    binary_categories: bool = False
    once_per_path: bool = False
    collapse: bool = True
    min_cases: float = 2.0
    min_split: float = 2.0
    min_ratio: float = 0.0
    min_decrease: float = 0.0
    min_impurity: float = 0.0
    max_depth: int = -1
    max_features: int = 0
    seed: int = 0
    prune: bool = True
    raising: bool = True
    limits: str = "release8"
    confidence: float = 0.25
    n_threads: int = 1

    @property
    def criterion(self) -> str:
        """What the tree is grown by, by its name among the criteria."""
        return "gain_ratio" if self.ratio else "entropy"

    def for_kernel(self) -> dict[str, Any]:
        """Return the rules as the kernel reads them."""
        return asdict(self) | {"limits": METHODS.index(self.limits)}


def grow_c45(
    rows: Rows, features: Sequence[Feature], target: Target, rules: C45Rules, missing: str
) -> tuple[Tree, Tree]:
    """Return the tree before pessimistic pruning and after; `missing="error"` refuses gaps."""
    columns = code_rows(rows, rules.n_threads)
    if missing == "error":
        refuse_missing(columns, rows)
    grown, pruned = _kernel.grow_c45(columns, target.y, target.weight, rules.for_kernel())
    classes = tuple(np.asarray(target.classes).tolist())
    known = tuple(replace(f, gaps=f.gaps or columns.has_missing(j)) for j, f in enumerate(features))
    first = Tree.from_arrays(grown, known, classes, rules.criterion)
    return first, first if pruned is grown else Tree.from_arrays(pruned, known, classes, rules.criterion)


def c45_candidates(
    rows: Rows, features: Sequence[Feature], target: Target, rules: C45Rules, missing: str
) -> pd.DataFrame:
    """Return what each feature's test would gain at the root, one row each; NaN where it has none."""
    import pandas as pd

    columns = code_rows(rows, rules.n_threads)
    if missing == "error":
        refuse_missing(columns, rows)
    found = _kernel.candidates_c45(columns, target.y, target.weight, rules.for_kernel())
    described = [_described(test, feature) for test, feature in zip(found, features, strict=True)]
    return pd.DataFrame(described, columns=list(CANDIDATE_COLUMNS))


def _described(test: dict[str, Any], feature: Feature) -> dict[str, Any]:
    if not test["possible"]:
        return {"feature": feature.name, "split": None}
    gain, info = test["gain"], test["info"]
    cut = test["threshold"] if SplitKind(test["kind"]) is SplitKind.THRESHOLD else float("nan")
    return {
        "feature": feature.name,
        "split": _test_in_words(test, feature),
        "gain": gain,
        "split_information": info,
        "gain_ratio": gain / info if info > 0 else float("nan"),
        "cut": cut,
    }


def _test_in_words(test: dict[str, Any], feature: Feature) -> str:
    kind = SplitKind(test["kind"])
    if kind is SplitKind.THRESHOLD:
        return f"{feature.name} ≤ {number_text(test['threshold'])}"
    if kind is SplitKind.PRESENCE:
        return feature.name
    branch: NDArray[np.int32] = test["branch_of"]
    parts = [np.flatnonzero(branch == b) for b in range(int(branch.max()) + 1)]
    if kind is SplitKind.SUBSET:
        parts = parts[:1]
    told = [", ".join(str(feature.labels[code]) for code in part) for part in parts]
    return f"{feature.name} in " + " | ".join(f"{{{labels}}}" for labels in told)
