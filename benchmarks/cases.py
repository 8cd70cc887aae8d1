"""What is measured: each case makes its own data from a fixed seed, so every library sees the same rows.

A *case* is a data set, a task and a depth. The rows that are fitted and the held-out rows come from the same
law and from different seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Maker = Callable[[np.random.Generator, int], tuple[NDArray[Any], NDArray[Any]]]

_CHUNK = 50_000  # rows made at a time


@dataclass(frozen=True)
class Case:
    """One row of the result: what is fitted, how deep, and what is to be reached.

    Attributes
    ----------
    n_rows, n_held_out : int
        Rows that are fitted, and rows that accuracy is judged on.
    measured : {"fit", "predict"}
        What the clock runs for; predict is asked for the held-out rows.
    inside : int
        Times that the work is done in one process, whose median counts. Work of milliseconds is repeated,
        after one round that does not count.
    at_least : dict
        How many times as fast as whom this is to be: a library, "fastest", "fastest histogram" or
        "fastest exact".
    without : dict
        Libraries that are left out, and why.
    only : tuple
        The libraries that can do this at all, beside ours; all of them where it is empty.
    form : {"array", "categories", "sparse"}
        How the rows are handed over: a numpy array, a data frame of categories, a CSR matrix.
    """

    title: str
    make: Maker
    n_rows: int
    n_held_out: int
    depth: int | None = 8
    task: Literal["classify", "regress"] = "classify"
    measured: Literal["fit", "predict"] = "fit"
    inside: int = 1
    at_least: Mapping[str, float] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    form: Literal["array", "categories", "sparse"] = "array"
    criterion: str | None = None
    weighted: bool = False
    opt_in: bool = False
    fixed_size: bool = False
    without: Mapping[str, str] = field(default_factory=dict)

    def scaled(self, n: int, scale: float) -> int:
        """Return a number of rows, made smaller for a quick run."""
        return n if self.fixed_size else max(1_000, int(n * scale))


def _flags(rng: np.random.Generator, n: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Make 200 flags of every frequency; 8 of them say something, two of those only together."""
    law = np.random.default_rng(1)
    frequency = law.uniform(0.05, 0.95, 200).astype(np.float32)
    informative = law.choice(200, 8, replace=False)
    X = np.empty((n, 200), dtype=bool)
    for begin in range(0, n, _CHUNK):
        end = min(n, begin + _CHUNK)
        X[begin:end] = rng.random((end - begin, 200), dtype=np.float32) < frequency
    a = [X[:, j] for j in informative]
    log_odds = 1.6 * a[0] - 1.3 * a[1] + 1.1 * a[2] - 0.9 * a[3] + 0.7 * a[4] - 0.5 * a[5]
    log_odds += 1.5 * (a[6] ^ a[7]) - 1.0
    return X, _draw_classes(rng, log_odds)


def _flags_as_float32(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = _flags(rng, n)
    return X.astype(np.float32), y


def _signal(X: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return what the first seven columns say; the others are noise."""
    x = [X[:, j].astype(np.float64) for j in range(7)]
    smooth = 1.2 * x[0] - 0.8 * x[1] + 0.6 * np.sin(2 * x[2]) + 0.5 * x[3] * x[4]
    return np.asarray(smooth + 0.9 * (x[5] > 0.5) - 0.7 * (np.abs(x[6]) > 1))


def _normal(rng: np.random.Generator, n: int, n_columns: int) -> NDArray[np.float32]:
    return rng.standard_normal((n, n_columns), dtype=np.float32)


def _draw_classes(rng: np.random.Generator, log_odds: NDArray[np.float64]) -> NDArray[np.int64]:
    return (rng.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds))).astype(np.int64)


def _numbers(n_columns: int) -> Maker:
    def make(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
        X = _normal(rng, n, n_columns)
        return X, _draw_classes(rng, 1.5 * _signal(X))

    return make


def _regression(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X = _normal(rng, n, 30)
    return X, _signal(X) + rng.standard_normal(n)


def _iris(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Take iris, as it comes; which rows are asked for follows from their number."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    held_out = np.arange(len(y)) % 5 == 0
    keep = held_out if n == held_out.sum() else ~held_out
    return X[keep], y[keep]


_MILLION = 1_000_000
_HELD_OUT = 100_000

_EXACT = ("scikit-learn", "YDF")


def _ten_classes(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = _regression(rng, n)
    return X, np.clip(np.floor(1.3 * y + 5), 0, 9).astype(np.int64)


def _few_columns(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = _regression(rng, n)
    return X[:, :10].copy(), y


def _with_gaps(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = _numbers(30)(rng, n)
    X[rng.random(X.shape, dtype=np.float32) < 0.1] = np.nan
    return X, y


def _categories(rng: np.random.Generator, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Make ten columns of 100 categories; three of them say something."""
    law = np.random.default_rng(1).normal(size=(3, 100))
    X = rng.integers(0, 100, (n, 10)).astype(np.int8)
    return X, _draw_classes(rng, law[0, X[:, 0]] + law[1, X[:, 1]] * law[2, X[:, 2]])


def _ones(rng: np.random.Generator, n: int) -> tuple[Any, NDArray[Any]]:
    """Make 10,000 columns with 20 ones a row, of which fifty columns say something."""
    import scipy.sparse as sp

    columns = (10_000 * rng.random((n, 20)) ** 2).astype(np.int32)  # some are frequent
    matrix = sp.csr_matrix(
        (np.ones(columns.size, dtype=np.float32), columns.ravel(), np.arange(0, columns.size + 1, 20)),
        shape=(n, 10_000),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix, _draw_classes(rng, np.asarray(matrix[:, :50].sum(axis=1)).ravel() - 1.0)


CASES: dict[str, Case] = {
    "binary-float32": Case(
        "1M × 200 binary, float32",
        _flags_as_float32,
        _MILLION,
        _HELD_OUT,
        at_least={"scikit-learn": 10, "fastest": 8},
    ),
    "binary-bool": Case(
        "1M × 200 binary, bool", _flags, _MILLION, _HELD_OUT, at_least={"scikit-learn": 10, "fastest": 16}
    ),
    "numeric": Case(
        "1M × 30 numeric, float32",
        _numbers(30),
        _MILLION,
        _HELD_OUT,
        at_least={"scikit-learn": 40, "fastest histogram": 2},
    ),
    "numeric-deep": Case(
        "1M × 30 numeric, float32, unlimited depth",
        _numbers(30),
        _MILLION,
        _HELD_OUT,
        depth=None,
        opt_in=True,
        at_least={"scikit-learn": 20},
        only=_EXACT,
    ),
    "regression": Case(
        "1M × 30 regression, float32",
        _regression,
        _MILLION,
        _HELD_OUT,
        task="regress",
        at_least={"fastest exact": 5},
    ),
    "classes": Case(
        "1M × 30 numeric, 10 classes",
        _ten_classes,
        _MILLION,
        _HELD_OUT,
        at_least={"fastest exact": 5},
        only=_EXACT,
    ),
    "categories": Case(
        "1M × 10 categories of 100 levels",
        _categories,
        _MILLION,
        _HELD_OUT,
        form="categories",
        only=("LightGBM", "XGBoost", "scikit-learn histogram"),
        at_least={"fastest": 5},
    ),
    "absolute": Case(
        "100,000 × 10 absolute error",
        _few_columns,
        100_000,
        _HELD_OUT,
        task="regress",
        criterion="absolute_error",
        only=("scikit-learn",),
        at_least={"fastest exact": 5},
    ),
    "gaps": Case(
        "1M × 30 numeric, a tenth missing",
        _with_gaps,
        _MILLION,
        _HELD_OUT,
        only=("scikit-learn",),
        at_least={"fastest exact": 5},
    ),
    "weights": Case(
        "1M × 30 numeric, weighted rows",
        _numbers(30),
        _MILLION,
        _HELD_OUT,
        weighted=True,
        only=("scikit-learn",),
        at_least={"fastest exact": 5},
    ),
    "sparse": Case(
        "1M × 10,000 sparse, 20 ones a row",
        _ones,
        _MILLION,
        _HELD_OUT,
        form="sparse",
        only=("LightGBM", "XGBoost"),
    ),
    "small": Case(
        "10,000 × 20 numeric, float32",
        _numbers(20),
        10_000,
        10_000,
        inside=10,
        fixed_size=True,
        only=("scikit-learn",),
        at_least={"scikit-learn": 1},
    ),
    "hundred": Case(
        "100 × 20 numeric, float32",
        _numbers(20),
        100,
        10_000,
        inside=50,
        fixed_size=True,
        only=("scikit-learn",),
        at_least={"scikit-learn": 1},
    ),
    "iris": Case(
        "iris, 120 × 4",
        _iris,
        120,
        30,
        depth=None,
        inside=50,
        fixed_size=True,
        only=("scikit-learn",),
        at_least={"scikit-learn": 1},
    ),
    "predict-ten": Case(
        "predict ten rows × 20",
        _numbers(20),
        10_000,
        10,
        measured="predict",
        inside=50,
        fixed_size=True,
        only=("scikit-learn",),
        at_least={"scikit-learn": 1},
    ),
    "predict": Case(
        "predict 1M × 30",
        _numbers(30),
        _HELD_OUT,
        _MILLION,
        measured="predict",
        inside=5,
        at_least={"fastest": 1},
    ),
    "predict-bool": Case(
        "predict 1M × 200, bool",
        _flags,
        _HELD_OUT,
        _MILLION,
        measured="predict",
        inside=5,
        at_least={"fastest": 1},
    ),
}


def make_data(case: Case, scale: float, folder: Path) -> None:
    """Write the case's rows as .npy files, so that each process reads the same ones."""
    for part, seed, n in (("fit", 11, case.n_rows), ("held_out", 12, case.n_held_out)):
        X, y = case.make(np.random.default_rng(seed), case.scaled(n, scale))
        if case.form == "sparse":
            import scipy.sparse as sp

            sp.save_npz(folder / f"X_{part}.npz", X, compressed=False)
        else:
            np.save(folder / f"X_{part}.npy", X)
        np.save(folder / f"y_{part}.npy", y)
