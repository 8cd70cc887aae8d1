"""The target and the weights, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples

from thetatree.data.categories import is_missing

_GREATEST = 1e150  # squares of greater numbers, and sums of such squares, overflow


@dataclass(frozen=True)
class Target:
    """Codes into `classes` for classification, float64 for regression; weights where any differs from 1."""

    y: NDArray[Any]
    classes: NDArray[Any] | None
    weight: NDArray[np.float64] | None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)


def read_target(
    y: Any, n_rows: int, estimator: Any, *, classify: bool
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return (codes, classes) or (float64 values, None)."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: "
            f"give one label or number per row"
        )
    values = _one_dimension(y)
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(values)}]"
        )
    return _classes(values) if classify else (_numbers(values), None)


def _one_dimension(y: Any) -> NDArray[Any]:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(
            f"y has {values.shape[1]} columns: a tree here has one target; bad input shape {values.shape}. "
            f"Fit one tree per target (sklearn.multioutput does it)"
        )
    return np.asarray(column_or_1d(values, warn=True))


def _classes(values: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[Any]]:
    missing = _missing(values)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: the label of row {int(np.argmax(missing))} is missing; "
            f"drop the rows without a label ({int(missing.sum())} of {len(values)})"
        )
    if values.dtype.kind in "iub" and len(values) and values.min() >= 0 and values.max() < 256:
        small = values.astype(np.uint8, copy=False)
        present = np.flatnonzero(np.bincount(small.astype(np.intp, copy=False), minlength=1))
        to = np.zeros(256, dtype=np.int32)
        to[present] = np.arange(len(present), dtype=np.int32)
        return to[small], present.astype(values.dtype)
    check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int32), classes


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "O":
        return np.array([is_missing(v) for v in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers")
    try:
        if values.dtype.kind == "O":
            values = np.array([np.nan if is_missing(v) else v for v in values])
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"y must hold numbers for regression; got {values.dtype} such as {values.tolist()[0]!r}"
        ) from None
    bad = ~np.isfinite(numbers)
    if bad.any():
        row = int(np.argmax(bad))
        what = "NaN" if np.isnan(numbers[row]) else "infinity"
        raise ValueError(f"Input y contains {what}: y[{row}] is {numbers[row]}; drop or mend such rows")
    if len(numbers) and np.abs(numbers).max() > _GREATEST:
        row = int(np.argmax(np.abs(numbers)))
        raise ValueError(f"y[{row}] is {numbers[row]}: its square is no number; scale y down")
    return numbers


def read_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights as float64, or None where every one is 1."""
    if sample_weight is None:
        return None
    weight = np.array(sample_weight, dtype=np.float64, copy=None, order="C")
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array")
    if _num_samples(weight) != n_rows:
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity: give finite weights, 0 to leave a row out")
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(f"Negative values in data passed to `sample_weight`: row {row} has {weight[row]}")
    if float(weight.max(initial=0)) * len(weight) > _GREATEST:
        raise ValueError(
            f"sample_weight goes up to {weight.max()}, too much to calculate with: scale it down"
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for every row: at least one row must count")
    return None if (weight == 1).all() else weight


def with_class_weight(
    weight: NDArray[np.float64] | None, class_weight: Any, codes: NDArray[Any], classes: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Multiply the weights by those of the classes ("balanced", or a dict by label)."""
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight != "balanced":
        raise ValueError(f"class_weight must be None, 'balanced' or a dict by label; got {class_weight!r}")
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in set(classes.tolist())]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not a class; there are {classes.tolist()}"
            )
        for label, w in class_weight.items():
            number = isinstance(w, (int, float, np.number)) and not isinstance(w, bool)
            if not number or not 0 <= w < np.inf:
                raise ValueError(
                    f"class_weight[{label!r}] must be a finite number and not negative; got {w!r}"
                )
    expanded = np.asarray(compute_sample_weight(class_weight, classes[codes]), dtype=np.float64)
    product = expanded if weight is None else expanded * weight
    if not product.any():
        raise ValueError(f"class_weight {class_weight!r} leaves no row any weight: at least one must count")
    return None if (product == 1).all() else product
