"""Every feature's best split at the root, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thetatree import _kernel
from thetatree.data.coding import MOST_BINS, code_rows
from thetatree.data.features import Feature
from thetatree.data.rows import Rows
from thetatree.data.target import Target
from thetatree.grow.from_rows import refuse_missing
from thetatree.grow.rules import GrowRules
from thetatree.tree.rules import number_text
from thetatree.tree.tree import SplitKind

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = (
    "feature",
    "split",
    "score",
    "gain",
    "cut",
    "n_left",
    "n_right",
    "weight_left",
    "weight_right",
    "missing_left",
)


def root_candidates(
    rows: Rows, features: list[Feature], target: Target, rules: GrowRules, missing: str
) -> pd.DataFrame:
    """Return a data frame with one row per feature, in column order; NaN where a feature cannot split."""
    import pandas as pd

    columns = code_rows(rows, rules.n_threads, MOST_BINS)
    if missing == "error":
        refuse_missing(columns, rows)
    found = _kernel.candidates(columns, target.y, target.weight, rules.for_kernel())
    described = [_row(split, feature) for split, feature in zip(found, features, strict=True)]
    return pd.DataFrame(described, columns=list(COLUMNS))


def _row(split: dict[str, Any], feature: Feature) -> dict[str, Any]:
    if not split["valid"]:
        return {"feature": feature.name, "split": None}
    kind = SplitKind(split["kind"])
    row: dict[str, Any] = {"feature": feature.name, "split": _test(split, kind, feature)}
    row["score"] = split["score"]
    row["gain"] = max(0.0, split["decrease"])
    row["cut"] = split["threshold"] if kind is SplitKind.THRESHOLD else float("nan")
    row["n_left"] = int(split["n_left"])
    row["n_right"] = int(split["n_right"])
    row["weight_left"] = split["weight_left"]
    row["weight_right"] = split["weight_right"]
    row["missing_left"] = split["missing_left"]
    return row


def _test(split: dict[str, Any], kind: SplitKind, feature: Feature) -> str:
    if kind is SplitKind.THRESHOLD:
        if split["threshold"] == float("inf"):
            return f"{feature.name} is known"
        return f"{feature.name} ≤ {number_text(split['threshold'])}"
    if kind is SplitKind.PRESENCE:
        return feature.name
    labels = ", ".join(str(feature.labels[code]) for code in split["left_categories"])
    return f"{feature.name} in {{{labels}}}"
