"""Parameters: checked once, with messages that say what would be right, and resolved to plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from thetatree.data.features import Feature

_MOST = 2**31 - 1


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(0.0 < value <= 1.0)


def whole(name: str, value: Any, least: int, *, most: float = math.inf, none: bool = False) -> int | None:
    """Return a whole number between `least` and `most` (or None where that is allowed)."""
    if value is None and none:
        return None
    if not _is_whole(value) or not least <= value <= most:
        between = f"of at least {least}" if math.isinf(most) else f"between {least} and {most:g}"
        allowed = f"a whole number {between}" + (" or None" if none else "")
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return min(int(value), _MOST)  # more than any table or tree has


def real(name: str, value: Any, least: float, most: float = math.inf) -> float:
    """Return a number between `least` and `most`."""
    if not (_is_whole(value) or isinstance(value, (float, np.floating))) or not least <= value <= most:
        between = f"of at least {least:g}" if math.isinf(most) else f"between {least:g} and {most:g}"
        raise ValueError(f"{name} must be a number {between}; got {value!r}")
    return float(value)


def open_share(name: str, value: Any) -> float:
    """Return a share between 0 and 1, both excluded."""
    if not isinstance(value, (float, np.floating)) or not 0 < value < 1:
        raise ValueError(f"{name} must be a share between 0 and 1, both excluded; got {value!r}")
    return float(value)


def level(name: str, value: Any) -> float:
    """Return a level of significance; 0 for None, which asks for no test."""
    if value is None:
        return 0.0
    given = real(name, value, 0.0, 1.0)
    if given == 0:
        raise ValueError(
            f"{name} must be above 0, where nothing is significant; got {value!r}: give None for no test"
        )
    return given


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """Return one of the options."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}")
    return str(value)


def count_or_share(name: str, value: Any, n: int, least: int) -> int:
    """Return a number of rows, given as such or as a share of them (a float up to 1)."""
    if _is_whole(value):
        return int(whole(name, value, least) or least)
    if _is_share(value):
        return max(least, math.ceil(float(value) * n))
    raise ValueError(f"{name} must be a whole number of at least {least} or a share in (0, 1]; got {value!r}")


def n_features_drawn(value: Any, n: int) -> int:
    """Resolve max_features; 0 means all of them."""
    if value is None:
        return 0
    if isinstance(value, str):
        rule = choice("max_features", value, ("sqrt", "log2"))
        return max(1, int(math.sqrt(n) if rule == "sqrt" else math.log2(n)))
    if _is_whole(value):
        return min(n, int(whole("max_features", value, 1) or 1))
    if _is_share(value):
        return max(1, int(value * n))
    raise ValueError(
        f"max_features must be None, 'sqrt', 'log2', a whole number or a share in (0, 1]; got {value!r}"
    )


def seed_of(random_state: Any) -> int:
    """Return the seed that a random_state stands for."""
    if _is_whole(random_state) and random_state >= 0:
        return int(random_state) & 0xFFFFFFFFFFFFFFFF
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def categorical_chooser(value: Any) -> Callable[[int, str], bool | None] | None:
    """Return a function that says whether a column is categorical: True, False, or None to ask its dtype."""
    if isinstance(value, str):
        choice("categorical_features", value, ("from_dtype",))
        return None
    if value is None:
        return lambda position, name: False
    chosen = list(value) if not isinstance(value, np.ndarray) else value.tolist()
    if all(isinstance(v, (bool, np.bool_)) for v in chosen):
        return lambda position, name: bool(chosen[position]) if position < len(chosen) else False
    return lambda position, name: position in chosen or name in chosen


def check_categorical(value: Any, names: Sequence[str]) -> None:
    """Refuse categorical_features that name columns which are not there."""
    if value is None or isinstance(value, str):
        return
    chosen = list(value) if not isinstance(value, np.ndarray) else value.tolist()
    if chosen and all(isinstance(v, (bool, np.bool_)) for v in chosen):
        if len(chosen) != len(names):
            raise ValueError(f"categorical_features marks {len(chosen)} columns, X has {len(names)}")
        return
    for v in chosen:
        column_of("categorical_features", v, names)


def column_of(parameter: str, value: Any, names: Sequence[str]) -> int:
    """Return the position of a column given by name or position."""
    if isinstance(value, str) and value in names:
        return list(names).index(value)
    if _is_whole(value) and 0 <= value < len(names):
        return int(value)
    raise ValueError(f"{parameter} names {value!r}, which is not a column of X: {list(names)}")


def columns_marked(parameter: str, value: Any, names: Sequence[str]) -> list[int]:
    """Return 1 for each column that is named, else 0; an empty list where none is."""
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, (Collection, np.ndarray)):
        value = [value]
    chosen = {column_of(parameter, v, names) for v in value}
    return [int(j in chosen) for j in range(len(names))] if chosen else []


def tiers(parameter: str, value: Any, names: Sequence[str], unnamed: int) -> list[int]:
    """Return the tier of each column from a dict; an empty list where there is none."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise ValueError(f"{parameter} must be a dict of tiers by column; got {value!r}")
    out = [unnamed] * len(names)
    for column, tier in value.items():
        if not _is_whole(tier) or abs(tier) > _MOST:
            raise ValueError(f"{parameter}[{column!r}] must be a whole number; got {tier!r}")
        out[column_of(parameter, column, names)] = int(tier)
    return out


def monotonic_signs(value: Any, features: Sequence[Feature], n_classes: int) -> list[int]:
    """Return the constraint of each feature; an empty list where there is none."""
    if value is None:
        return []
    if isinstance(value, dict):
        names = [f.name for f in features]
        unknown = [name for name in value if name not in names]
        if unknown:
            raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is not a column of X: {names}")
        value = [value.get(name, 0) for name in names]
    signs = np.asarray(value)
    if signs.shape != (len(features),):
        raise ValueError(
            f"monotonic_cst has shape {signs.shape} but the input data X has {len(features)} features."
        )
    if not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError("monotonic_cst must be None or an array-like of -1, 0 or 1.")
    if n_classes > 2:
        raise ValueError("Monotonicity constraints are not supported with multiclass classification")
    for feature, sign in zip(features, signs.tolist(), strict=True):
        if sign and feature.kind == "category":
            raise ValueError(f"monotonic_cst constrains {feature.name!r}, but a category has no order")
    return [int(s) for s in signs] if signs.any() else []
