"""Small random problems over everything that a row learner's search must get right.

`random_problem(seed)` is a function of its seed alone. The odd inputs are on purpose: neighbouring
floats, magnitudes near both ends of the range, columns that repeat another, targets without signal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import criteria

Column = NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """One call of `grow`.

    A flag column is int8 (-1 missing), a number float64 (NaN missing), a category int32 (-1 missing).
    """

    seed: int
    columns: list[Column]
    kinds: list[str]
    y: Column
    weights: Column | None
    settings: dict[str, Any]

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments of `grow`."""
        return (self.columns, self.kinds, self.y, self.weights), dict(self.settings)


def random_problem(seed: int, criterion: str | None = None) -> Problem:
    """A problem of 5 to 60 rows and 1 to 5 columns, of the given criterion or of a random one."""
    rng = np.random.default_rng(seed)
    drawn = str(rng.choice([*criteria.CLASSIFICATION, *criteria.REGRESSION]))
    criterion = criterion or drawn
    n = int(rng.integers(5, 61))
    kinds = [str(kind) for kind in rng.choice(["flag", "number", "category"], size=rng.integers(1, 6))]
    columns = [_column(rng, kind, n) for kind in kinds]
    if len(kinds) > 1 and rng.random() < 0.1:
        kinds[-1], columns[-1] = kinds[0], columns[0].copy()
    latent = _latent(rng, columns, n)
    columns = _with_missing(rng, columns, kinds)
    weights = _weights(rng, n)
    if criterion in criteria.CLASSIFICATION:
        y, n_classes = _classes(rng, latent, criterion)
    else:
        y, n_classes = _numbers(rng, latent, criterion), 0
    settings = {
        "task": "classification" if n_classes else "regression",
        "criterion": criterion,
        "n_classes": n_classes,
        **_limits(rng, y, n_classes, n if weights is None else float(weights.sum())),
        "max_categories": int(rng.integers(2, 9)),
        "missing": str(rng.choice(["learnt", "majority"])),
        "monotonic": _monotonic(rng, kinds, n_classes),
    }
    return Problem(seed, columns, kinds, y, weights, settings)


def _column(rng: np.random.Generator, kind: str, n: int) -> Column:
    if kind == "flag":
        return (rng.random(n) < rng.choice([0.1, 0.5, 0.8])).astype(np.int8)
    if kind == "category":
        return rng.integers(0, rng.integers(2, 13), size=n).astype(np.int32)
    return _number(rng, n)


def _number(rng: np.random.Generator, n: int) -> Column:
    few = rng.integers(0, rng.integers(1, 7), size=n).astype(np.float64)
    shape = rng.choice(["few", "many", "grid", "huge", "tiny", "neighbours", "magnitudes", "both ends"])
    if shape == "few":
        return few
    if shape == "many":
        return rng.normal(size=n)
    if shape == "grid":
        return np.round(rng.normal(size=n), 1)
    if shape == "huge":
        # The sum of two of these overflows.
        return (few - 2) * 4e307
    if shape == "tiny":
        return (few - 2) * 5e-324
    if shape == "neighbours":
        start = float(rng.choice([0.1, 1.0, -1.0, 1e300]))
        return start + few * float(np.spacing(start))
    if shape == "magnitudes":
        return rng.choice([-1.0, 1.0], size=n) * 10.0 ** rng.uniform(-300, 300, size=n)
    return rng.choice([-1.7e308, -1.0, -0.0, 0.0, 5e-324, 1.0, 1.7e308], size=n)


def _latent(rng: np.random.Generator, columns: list[Column], n: int) -> Column:
    """What the target depends on, about standard scale."""
    shape = rng.choice(["noise", "signal", "xor", "constant"], p=[0.3, 0.4, 0.2, 0.1])
    if shape == "constant":
        return np.zeros(n)
    noise = rng.normal(size=n)
    if shape == "noise":
        return noise
    effects = [_effect(rng, column) for column in columns]
    if shape == "signal":
        return sum(effects[1:], effects[0]) + rng.choice([0.0, 0.3, 1.0]) * noise
    first, second = (effects[i] > np.median(effects[i]) for i in (0, -1))
    return 2.0 * (first ^ second) - 1 + rng.choice([0.0, 0.2]) * noise


def _effect(rng: np.random.Generator, column: Column) -> Column:
    """A number's rank, or an effect of each level of a flag or category."""
    levels, ranks = np.unique(column, return_inverse=True)
    if column.dtype == np.float64:
        return rng.choice([-1.0, 1.0]) * (ranks / max(1, len(levels) - 1) * 2 - 1)
    return rng.normal(size=len(levels))[ranks]


def _with_missing(rng: np.random.Generator, columns: list[Column], kinds: list[str]) -> list[Column]:
    if rng.random() < 0.5:
        return columns
    rates = rng.choice([0.0, 0.1, 0.3, 0.7], size=len(columns))
    masks = [rng.random(len(column)) < rate for column, rate in zip(columns, rates, strict=True)]
    return [
        np.where(mask, np.nan if kind == "number" else -1, column).astype(column.dtype)
        for column, kind, mask in zip(columns, kinds, masks, strict=True)
    ]


def _weights(rng: np.random.Generator, n: int) -> Column | None:
    shape = rng.choice(["none", "whole", "quarters", "real"], p=[0.4, 0.25, 0.1, 0.25])
    if shape == "none":
        return None
    if shape == "real":
        return rng.uniform(0.1, 4.0, size=n)
    return rng.integers(1, 6, size=n) / (4.0 if shape == "quarters" else 1.0)


def _classes(rng: np.random.Generator, latent: Column, criterion: str) -> tuple[Column, int]:
    """Codes 0..K-1, each of them in use."""
    wanted = (
        2 if criterion == "binomial" else int(rng.choice([1, 2, 3, 4, 5], p=[0.03, 0.4, 0.27, 0.15, 0.15]))
    )
    cuts = np.sort(rng.uniform(0.05, 0.95, size=wanted - 1))
    classes = np.searchsorted(np.quantile(latent, cuts), latent)
    # Classes in no order of the latent, and some rows of another class.
    classes = rng.permutation(wanted)[classes]
    flipped = rng.random(len(latent)) < rng.choice([0.0, 0.1])
    classes = np.where(flipped, rng.integers(0, wanted, size=len(latent)), classes)
    levels, codes = np.unique(classes, return_inverse=True)
    return codes.astype(np.int64), len(levels)


def _numbers(rng: np.random.Generator, latent: Column, criterion: str) -> Column:
    if criterion == "poisson":
        # No offset: the deviance of counts near 1e6 is rounding error of its terms.
        rate = np.exp(np.clip(latent, -3, 3))
        return rng.poisson(rate).astype(np.float64) if rng.random() < 0.6 else rate * rng.uniform(0, 2)
    shape = rng.choice(["whole", "float", "offset"])
    if shape == "whole":
        return np.round(2 * latent)
    return latent + (1e6 if shape == "offset" else 0.0)


def _limits(rng: np.random.Generator, y: Column, n_classes: int, weight: float) -> dict[str, Any]:
    """Each limit is on in a quarter of the problems."""
    spread = 0.5 if n_classes else float(np.var(y)) + 1e-9
    drawn = {
        "max_depth": int(rng.integers(1, 5)),
        "min_samples_split": int(rng.integers(3, 12)),
        "min_samples_leaf": int(rng.integers(2, 7)),
        "min_weight_leaf": float(weight * rng.uniform(0.01, 0.2)),
        "min_impurity_decrease": spread * float(rng.uniform(0.001, 0.1)),
        "min_impurity_split": spread * float(rng.uniform(0.05, 0.6)),
        "max_leaf_nodes": int(rng.integers(2, 9)),
    }
    off = {
        "max_depth": None,
        "min_samples_split": 2,
        "min_samples_leaf": 1,
        "min_weight_leaf": 0.0,
        "min_impurity_decrease": 0.0,
        "min_impurity_split": 0.0,
        "max_leaf_nodes": None,
    }
    return {name: drawn[name] if rng.random() < 0.25 else off[name] for name in drawn}


def _monotonic(rng: np.random.Generator, kinds: list[str], n_classes: int) -> list[int] | None:
    signs = [int(sign) for sign in rng.choice([-1, 0, 1], size=len(kinds))]
    if n_classes not in (0, 2) or rng.random() < 0.7:
        return None
    return [0 if kind == "category" else sign for kind, sign in zip(kinds, signs, strict=True)]
