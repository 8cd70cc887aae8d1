"""A model grown again from newer sketches, and what changed.

The parameters are those of the model; so are the columns that it finds its features in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thetatree.sketch.column import SketchColumn
from thetatree.sketch.data import ALL, SketchData
from thetatree.sketch.errors import SketchSetError
from thetatree.sketch.sketch_set import SketchSet
from thetatree.sketch.sources import tested_features

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Refreshed:
    """What a refresh gave.

    Attributes
    ----------
    model
        The model grown again; None if there was none.
    keys : DataFrame or None
        Per class how many keys there were ``before`` and are ``after``, and how many are ``new`` and
        ``gone``. None if there was nothing before.
    drift : DataFrame or None
        What `thetatree.judge.compare` says of both sets, for the features that both have.
    splits : DataFrame or None
        What it says of both trees.
    features : dict
        Which features were ``gained`` and ``lost``.
    """

    model: Any
    keys: pd.DataFrame | None
    drift: pd.DataFrame | None
    splits: pd.DataFrame | None
    features: dict[str, list[str]]


def refresh(
    sketches: SketchSet, model: Any = None, before: SketchSet | None = None, *, level: float = 0.05
) -> Refreshed:
    """Grow a model again from newer sketches, and say what changed beyond noise.

    Parameters
    ----------
    sketches
        The sketches of today: yesterday's set merged with today's part, or the parts of a `window`.
    model
        Yesterday's model, fitted on sketches. It is not changed: another is grown with its parameters.
    before
        Yesterday's sketches.
    level
        The level at which a change counts, for all lines of a comparison together.

    Returns
    -------
    Refreshed
        The model, and the changes as data frames.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetatree as tt
    >>> rows = pd.DataFrame({"id": range(3000), "vip": [i % 3 == 0 for i in range(3000)]})
    >>> rows["buys"] = ["y" if i % 3 == 0 and i % 5 else "n" for i in range(3000)]
    >>> yesterday = tt.sketch(rows[:2000], "id", "buys")
    >>> model = tt.ThetaSketchDecisionTreeClassifier(max_depth=2).fit(yesterday)
    >>> today = yesterday.merge(tt.sketch(rows[2000:], "id", "buys", like=yesterday))
    >>> made = tt.engine.refresh(today, model, before=yesterday)
    >>> made.keys.values.tolist()
    [['n', 1467, 2200, 733, 0], ['y', 533, 800, 267, 0]]
    >>> made.splits["status"].tolist(), made.model.max_depth
    (['kept'], 2)
    """
    from thetatree.judge.compare import compare

    keys = drift = splits = None
    names = [set() if before is None else set(before.features), set(sketches.features)]
    if before is not None:
        if before.form != sketches.form:
            raise SketchSetError(
                f"the set before is of the form {before.form}, the new one {sketches.form}: make both in one"
            )
        common = names[0] & names[1]
        keys = _keys(before.data, sketches.data)
        drift = compare(before.select(common), sketches.select(common), level)
    grown = None
    if model is not None:
        grown = _regrown(model, sketches)
        splits = compare(model, grown, level)
    features = {
        "gained": sorted(names[1] - names[0]) if before is not None else [],
        "lost": sorted(names[0] - names[1]),
    }
    return Refreshed(grown, keys, drift, splits, features)


def _regrown(model: Any, sketches: SketchSet) -> Any:
    from sklearn.base import clone
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "tree_")
    name = type(model).__name__
    if not hasattr(model, "columns_"):
        raise SketchSetError(
            f"the {name} was grown from rows, of which sketches know too little to grow it again: fit it on "
            "the new rows, or fit a model on sketches first"
        )
    old = list(model.tree_.classes or ())
    if not old:
        raise SketchSetError(f"the {name} predicts a number; fit() it again on the new tuple sketches")
    if not set(old) & set(sketches.classes):
        raise SketchSetError(
            f"the model tells {old[:5]} apart and the sketches {list(sketches.classes[:5])}: they are of two "
            "problems; fit a model on these sketches first"
        )
    grown = clone(model)
    return grown.fit(sketches) if model.columns_ is None else grown.fit(sketches, _mapping(model, sketches))


def _mapping(model: Any, sketches: SketchSet) -> dict[str, int]:
    """Which column each feature was found in: of a feature with several values any of them tells."""
    named = {one.name: sketches.features[one.feature] for one in tested_features(sketches.data)}
    asked = {
        feature.name: column for feature, column in zip(model.tree_.features, model.columns_, strict=True)
    }
    found = {named[name]: column for name, column in asked.items() if name in named}
    lost = [name for name, column in asked.items() if column not in found.values()]
    if lost:
        raise SketchSetError(
            f"the model was fitted with feature {lost[0]!r}, of which the new sketches have none; "
            "fit a model without it first"
        )
    return found


def _keys(before: SketchData, after: SketchData) -> pd.DataFrame:
    """Count the keys of each class in both sets, in the newer only, and in the older only."""
    import pandas as pd

    classes: list[Any] = list(dict.fromkeys([*before.classes, *after.classes])) or [None]
    sides = [_totals(data, classes) for data in (before, after)]
    both = SketchColumn.concatenate(sides)
    first = np.arange(len(classes))
    second = first + len(classes)
    counts = [*sides, both.subtract(second, first), both.subtract(first, second)]
    columns = {
        name: np.rint(column.held / column.theta).astype(np.int64)
        for name, column in zip(("before", "after", "new", "gone"), counts, strict=True)
    }
    return pd.DataFrame({"class": pd.Series(classes, dtype=object)} | columns)


def _totals(data: SketchData, classes: list[Any]) -> SketchColumn:
    """The total of each class, empty where the set lacks it; of a set without classes that of all keys."""
    empty = len(data.column)
    at: dict[Any, int] = {label: data.entries.total(i) for i, label in enumerate(data.classes)}
    if classes == [None]:
        at = {None: data.entries.total(ALL)}
    return data.column.with_empty().take([at.get(label, empty) for label in classes])
