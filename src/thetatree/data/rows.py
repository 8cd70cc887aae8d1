"""Any table becomes `Rows`: columns of flags, numbers and categories, read in place where that is possible.

A numpy matrix of numbers is passed on as it is; a data frame (whatever narwhals reads) column by column; a
scipy sparse matrix row-wise without its zeros. Missing values (NaN, None, NA) are NaN in numbers and -1 in
flags and codes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from thetatree.data.categories import Coded, code_values, is_missing
from thetatree.data.features import Feature, Kind, Label

_PLAIN = "fiub"  # the dtype kinds that the kernel reads in place: float, int, unsigned, bool


@dataclass(frozen=True)
class Column:
    """One column: values for a number, 0/1/-1 for a flag, codes into the labels for a category."""

    name: str
    kind: Kind
    values: NDArray[Any]
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Rows:
    """A table ready to be coded or routed. Either `matrix`, or `sparse`, or `columns` holds the values."""

    n_rows: int
    names: list[str]
    columns: list[Column] = field(default_factory=list)
    matrix: NDArray[Any] | None = None
    sparse: sp.csr_array | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library that narwhals reads."""
    if isinstance(X, np.ndarray):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def read_rows(
    X: Any, estimator: Any = None, categorical: Callable[[int, str], bool | None] | None = None
) -> Rows:
    """Read a table. `categorical(position, name)` overrules the dtype: True, False, or None to leave it."""
    if sp.issparse(X):
        return _read_sparse(X, estimator)
    if is_frame(X):
        return _read_frame(X, categorical)
    X = checked_array(X, estimator)
    names = default_names(X.shape[1])
    chosen = [categorical(j, name) for j, name in enumerate(names)] if categorical else []
    if X.dtype.kind in "fiu" and not any(chosen):
        return Rows(X.shape[0], names, matrix=X)
    columns = [array_column(names[j], X[:, j], chosen[j] if chosen else None) for j in range(X.shape[1])]
    return Rows(X.shape[0], names, columns)


def checked_array(X: Any, estimator: Any = None) -> NDArray[Any]:
    """Return a table that is no frame and not sparse as a matrix: of numbers, booleans or objects."""
    X = check_array(
        X,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=1,
        ensure_min_features=1,
        estimator=estimator,
    )
    if X.dtype.kind in "mM":
        raise ValueError(
            f"X holds dates or durations ({X.dtype}): convert them to numbers, days since some day, say"
        )
    X = native(X)
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float32 if X.dtype.itemsize == 2 else np.float64)
    return np.asarray(X)


def checked_frame(X: Any) -> Any:
    """Return a data frame as narwhals wraps it; one without rows or columns is refused."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    for what, size in zip(("sample", "feature"), frame.shape, strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={frame.shape}) while a minimum of 1 is required."
            )
    return frame


def array_column(name: str, values: NDArray[Any], categorical: bool | None = None) -> Column:
    """Read one column of a matrix."""
    if values.dtype.kind in _PLAIN:
        return _plain_column(name, values, categorical)
    return _object_column(name, values, categorical)


def native(values: NDArray[Any]) -> NDArray[Any]:
    """Return the values in this machine's byte order."""
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def default_names(n: int) -> list[str]:
    """Names of columns that have none: x0, x1, ..."""
    return [f"x{j}" for j in range(n)]


def _read_sparse(X: Any, estimator: Any) -> Rows:
    X = check_array(X, accept_sparse=("csr", "csc"), dtype=None, ensure_all_finite=False, estimator=estimator)
    rows = sp.csr_array(X)
    if rows.dtype.kind not in _PLAIN or (rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8)):
        rows = rows.astype(np.float64)
    rows.data = native(rows.data)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the caller's arrays stay as they are
        rows.sum_duplicates()
    return Rows(rows.shape[0], default_names(rows.shape[1]), sparse=rows)


def _plain_column(name: str, values: NDArray[Any], categorical: bool | None) -> Column:
    if categorical:
        return _category(name, code_values(values, name))
    if values.dtype.kind == "b":
        return Column(name, "flag", values.view(np.uint8))
    return Column(name, "number", values)


def _category(name: str, coded: Coded) -> Column:
    return Column(name, "category", coded.codes, coded.labels)


def _object_column(name: str, values: NDArray[Any], categorical: bool | None) -> Column:
    """Read a column of an object array: by what it holds, since its dtype does not say."""
    if categorical:
        return _category(name, code_values(values, name))
    kinds = {type(v) for v in values.tolist() if not is_missing(v)}
    if kinds and kinds <= {bool, np.bool_}:
        return Column(name, "flag", _flags_with_missing(values))
    if all(issubclass(kind, (int, float, np.number)) for kind in kinds):
        numbers = [np.nan if is_missing(v) else v for v in values]
        return Column(name, "number", np.array(numbers, dtype=np.float64))
    if categorical is False:
        raise ValueError(_not_categorical(name))
    return _category(name, code_values(values, name))


def _not_categorical(name: str) -> str:
    return (
        f"column {name!r} holds text and is not among categorical_features: add it there, "
        f'or leave categorical_features="from_dtype"'
    )


def _flags_with_missing(values: Iterable[Any]) -> NDArray[np.int8]:
    return np.array([-1 if is_missing(v) else int(v) for v in values], dtype=np.int8)


def _read_frame(X: Any, categorical: Callable[[int, str], bool | None] | None) -> Rows:
    frame = checked_frame(X)
    names = [str(name) for name in frame.columns]
    columns = [
        read_column(name, series, categorical(j, name) if categorical else None)
        for j, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True))
    ]
    return Rows(len(frame), names, columns, matrix=_shared_matrix(columns))


def _shared_matrix(columns: Sequence[Column]) -> NDArray[Any] | None:
    """Return the matrix whose columns these are, where one block of numbers backs them all in order."""
    first = columns[0].values
    base = first.base
    if not isinstance(base, np.ndarray) or any(
        c.kind != "number" or c.values.base is not base for c in columns
    ):
        return None
    if base.ndim != 2 or base.dtype.kind not in "fiu":
        return None
    if base.shape == (len(columns), len(first)):
        base = base.T
    if base.shape != (len(first), len(columns)):
        return None
    same = all(
        c.values.__array_interface__["data"] == base[:, j].__array_interface__["data"]
        and c.values.strides == base[:, j].strides
        for j, c in enumerate(columns)
    )
    return base if same else None


def read_column(name: str, series: Any, categorical: bool | None = None) -> Column:
    """Read one column of a data frame."""
    import narwhals as nw

    dtype = series.dtype
    if categorical:
        return _category(name, code_values(series, name))
    if dtype == nw.Boolean:
        if series.null_count() == 0:
            return Column(name, "flag", np.ascontiguousarray(series.to_numpy(), dtype=bool).view(np.uint8))
        return Column(name, "flag", _flags_with_missing(series.to_list()))
    if dtype.is_numeric():
        return Column(name, "number", _numbers(series))
    if dtype == nw.Object and categorical is None:
        return _object_column(name, np.asarray(series.to_list(), dtype=object), _object_is_category(series))
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        if categorical is False:
            raise ValueError(_not_categorical(name))
        return _category(name, code_values(series, name))
    if dtype == nw.Unknown and series.null_count() == len(series):
        return Column(name, "number", np.full(len(series), np.nan))  # nothing is known: it can not split
    raise ValueError(
        f"column {name!r} is of type {dtype}, which is neither a flag, a number nor a category: a date or a "
        f"duration, say, has to be converted to a number first (days since some day), other things to text"
    )


def _object_is_category(series: Any) -> bool | None:
    """Objects are categories by dtype; flags with gaps (True, False, None) stay flags."""
    kinds = {type(v) for v in series.to_list() if not is_missing(v)}
    return None if kinds and kinds <= {bool, np.bool_} else True


def _numbers(series: Any) -> NDArray[Any]:
    values = series.to_numpy() if series.null_count() == 0 or series.dtype.is_float() else None
    if values is None or values.dtype.kind not in "fiu":
        import narwhals as nw

        values = series.cast(nw.Float64).to_numpy()
    if values.dtype.kind == "f" and values.dtype.itemsize == 2:
        values = values.astype(np.float32)
    return native(np.asarray(values))


def features_of(rows: Rows) -> list[Feature]:
    """Describe the columns as the tree remembers them."""
    if not rows.columns:
        return [Feature(name, "number") for name in rows.names]
    return [Feature(c.name, c.kind, c.labels) for c in rows.columns]


def select(rows: Rows, keep: NDArray[np.bool_]) -> Rows:
    """Return the rows that `keep` marks."""
    columns = [Column(c.name, c.kind, c.values[keep], c.labels) for c in rows.columns]
    matrix = rows.matrix[keep] if rows.matrix is not None else None
    sparse = rows.sparse[keep] if rows.sparse is not None else None
    return Rows(int(keep.sum()), rows.names, columns, matrix, sparse)


def check_names(rows: Rows, features: Sequence[Feature]) -> None:
    """Refuse a data frame whose columns are not those of fit, naming the first that is not in its place."""
    expected = [f.name for f in features]
    unnamed = expected == default_names(len(expected)) and not set(expected) & set(rows.names)
    if rows.names == expected or unnamed:
        return
    lacking = [name for name in expected if name not in rows.names]
    extra = [name for name in rows.names if name not in expected]
    what = ""
    if extra:
        what += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in extra)
    if lacking:
        what += "Feature names seen at fit time, yet now missing:\n" + "".join(
            f"- {name}\n" for name in lacking
        )
    if not what:
        at = next(j for j, name in enumerate(rows.names) if name != expected[j])
        what = (
            f"Column {at} is {rows.names[at]!r}, but fit had {expected[at]!r} there: reorder the columns.\n"
        )
    raise ValueError(
        f"The feature names should match those that were passed during fit.\n{what}Expected {expected}"
    )


def first_gap(rows: Rows) -> int | None:
    """Return the first column with a missing value, or None."""
    if rows.sparse is not None:
        gaps = np.isnan(rows.sparse.data) if rows.sparse.dtype.kind == "f" else np.zeros(0, dtype=bool)
        return int(rows.sparse.indices[gaps].min()) if gaps.any() else None
    if rows.matrix is not None and not rows.columns:
        by_column = np.isnan(rows.matrix).any(axis=0) if rows.matrix.dtype.kind == "f" else np.zeros(0)
        return int(np.argmax(by_column)) if by_column.any() else None
    for j, column in enumerate(rows.columns):
        values = column.values
        if column.kind == "flag":
            values = values.view(np.int8)
        coded = column.kind != "number"
        if bool((values < 0).any()) if coded else values.dtype.kind == "f" and bool(np.isnan(values).any()):
            return j
    return None
