"""Columns to codes: per kind of feature, which of its values each row has, and whether it has any.

code: the position of a value. NOTHING: known, but none of the values (a flag that is 0, a number above all
cuts). MISSING: not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from thetatree.sketch.batches import Values
from thetatree.sketch.errors import BuildError
from thetatree.sketch.kinds import OTHER, PRESENT, Kind, cut_text

MISSING = -1
NOTHING = -2
MOST_VALUES = 10_000

Codes = npt.NDArray[np.int32]


class Coded(NamedTuple):
    """A coded batch. rows: for each code its row, where a row may have several values; None for one code
    each.
    """

    codes: Codes
    known: npt.NDArray[np.bool_] | None  # None: all
    rows: npt.NDArray[np.int64] | None = None


class Coder(Protocol):
    """Turns one column, batch by batch, into codes."""

    kind: Kind
    values: list[str]

    def code(self, column: Values) -> Coded:
        """Code a batch."""


class FlagCoder:
    """0/1 columns: booleans, numbers that are 0 or 1, or missing."""

    kind: Kind = "flag"

    def __init__(self, name: str) -> None:
        self._name = name
        self.values = [PRESENT]

    def code(self, column: Values) -> Coded:
        """Code a batch, from the flags of `flags`."""
        flags = self.flags(column)
        known = flags <= 1
        codes = np.where(flags == 1, 0, np.where(known, NOTHING, MISSING)).astype(np.int32)
        return Coded(codes, None if known.all() else known)

    def flags(self, column: Values) -> npt.NDArray[np.uint8]:
        """Give 0, 1, or 255 where the flag is missing."""
        if isinstance(column, np.ndarray) and column.dtype == np.bool_:
            return column.view(np.uint8)
        missing: npt.NDArray[np.bool_] | None = None
        if not isinstance(column, np.ndarray):
            missing = np.asarray(column.is_null(nan_is_null=True)) if column.null_count else None
            column = _plain(column, self._name)
        if column.dtype.kind == "f":
            nan = np.isnan(column)
            missing = nan if missing is None else missing | nan
        ones = column == 1
        odd = ~(ones | (column == 0))
        if missing is not None:
            odd &= ~missing
        if odd.any():
            at = int(np.flatnonzero(odd)[0])
            raise BuildError(
                f"column {self._name!r} is a flag but holds {column[at].item()!r}; flags are 0, 1 or "
                "missing: declare another kind in features="
            )
        flags: npt.NDArray[np.uint8] = ones.astype(np.uint8)
        if missing is not None:
            flags[missing] = 255
        return flags


class ThresholdCoder:
    """Numbers, by ascending edges: code j is the first cut that holds, edges[j-1] < x <= edges[j]."""

    kind: Kind = "threshold"

    def __init__(self, name: str, edges: Sequence[float]) -> None:
        self._name = name
        self.edges = np.asarray(edges, np.float64)
        if not np.all(np.isfinite(self.edges)) or np.any(np.diff(self.edges) <= 0):
            raise BuildError(f"edges of {name!r} must be finite and ascending; they are {list(edges)[:8]}")
        self.values = [cut_text(edge) for edge in self.edges]

    def code(self, column: Values) -> Coded:
        """Code a batch."""
        numbers = as_numbers(column, self._name)
        missing = np.isnan(numbers)
        return Coded(self.codes(numbers), ~missing if missing.any() else None)

    def codes(self, numbers: npt.NDArray[np.float64]) -> Codes:
        """Code numbers; NaN is missing."""
        codes = np.searchsorted(self.edges, numbers, side="left").astype(np.int32)
        codes[codes == len(self.edges)] = NOTHING
        codes[np.isnan(numbers)] = MISSING
        return codes


class CategoryCoder:
    """Text and other discrete columns, one code for each value as it turns up; empty text is missing.

    Parameters
    ----------
    name, kind
        The column, and whether a key may have several values.
    values
        Those to expect; new ones become "other" if that is among them.
    """

    def __init__(self, name: str, kind: Kind, values: Sequence[str] = ()) -> None:
        self._name = name
        self.kind = kind
        self.values = list(values)
        self._codes = {value: code for code, value in enumerate(self.values)}
        self._capped = OTHER in self._codes

    def code(self, column: Values) -> Coded:
        """Code a batch; of a list column, every element."""
        array = pa.array(column) if isinstance(column, np.ndarray) else column
        if is_list(array):
            if self.kind != "multi":
                raise BuildError(f"column {self._name!r} holds lists; declare it 'multi' in features=")
            known = np.asarray(array.is_valid())
            elements, rows = elements_of(array)
            return Coded(self._lookup(elements), None if known.all() else known, rows)
        codes = self._lookup(array)
        known = codes != MISSING
        return Coded(codes, None if known.all() else known)

    def _lookup(self, array: pa.Array) -> Codes:
        places, texts = distinct_texts(array, self._name)
        table = np.full(len(texts) + 1, MISSING, np.int32)
        for at in np.flatnonzero(np.bincount(places + 1, minlength=len(texts) + 1)[1:]):
            table[at] = self._code_of(texts[at])
        codes: Codes = table[places]
        return codes

    def _code_of(self, text: str) -> int:
        code = self._codes.get(text)
        if code is None:
            if self._capped:
                return self._codes[OTHER]
            if len(self.values) == MOST_VALUES:
                raise BuildError(
                    f"column {self._name!r} has more than {MOST_VALUES} values; leave it out of features=, "
                    "or group its values first"
                )
            code = self._codes[text] = len(self.values)
            self.values.append(text)
        return code


def distinct_texts(array: pa.Array, name: str) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Write values as the texts that sketches know them by: for each its place among the texts.

    -1 stands for what is missing: nulls, NaN, empty text.
    """
    try:
        if pa.types.is_floating(array.type):
            array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        texts = array.dictionary.cast(pa.large_string()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BuildError(
            f"column {name!r} of type {array.type} cannot be written as text: convert it to text or numbers; "
            f"{str(error)[:100]}"
        ) from error
    places = np.array(array.indices.cast(pa.int64()).fill_null(-1))
    empty = [place for place, text in enumerate(texts) if not text]
    if empty:
        places[np.isin(places, empty)] = -1
    return places, [text or "" for text in texts]


def is_packed(column: Values) -> bool:
    """Whether a column is of Arrow's booleans, a bit each, and none is missing."""
    arrow = isinstance(column, pa.Array)
    return arrow and bool(pa.types.is_boolean(column.type)) and column.null_count == 0


def is_list(array: pa.Array) -> bool:
    """Whether an Arrow array holds lists."""
    return bool(pa.types.is_list(array.type) or pa.types.is_large_list(array.type))


def elements_of(array: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Give the elements of an Arrow array of lists, and the row of each."""
    return pc.list_flatten(array), np.asarray(pc.list_parent_indices(array), np.int64)


def _plain(array: pa.Array, name: str) -> npt.NDArray[Any]:
    """Give an Arrow array of numbers or booleans to numpy, 0 where it is null."""
    kind = array.type
    if pa.types.is_boolean(kind):
        buffer = array.buffers()[1]
        bits = np.frombuffer(buffer, np.uint8)
        flags = np.unpackbits(bits, bitorder="little")[array.offset : array.offset + len(array)]
        return flags
    if pa.types.is_null(kind):
        return np.zeros(len(array), np.uint8)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise BuildError(
            f"column {name!r} is of type {kind}, where numbers are expected; declare another kind in "
            "features="
        )
    return np.asarray(array.fill_null(0) if array.null_count else array)


def as_numbers(column: Values, name: str) -> npt.NDArray[np.float64]:
    """Give a column as float64, NaN where it is missing."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64, copy=False)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    numbers = _plain(column, name).astype(np.float64)
    if column.null_count:
        numbers[np.asarray(column.is_null())] = np.nan
    return numbers


def known_numbers(column: Values, name: str) -> npt.NDArray[np.bool_] | None:
    """Tell which numbers of a column are not missing; None: all. Whole numbers are not looked at."""
    whole = column.dtype.kind in "biu" if isinstance(column, np.ndarray) else pa.types.is_integer(column.type)
    if whole:
        some = not isinstance(column, np.ndarray) and column.null_count
        return np.asarray(column.is_valid()) if some else None
    missing = np.isnan(as_numbers(column, name))
    return ~missing if missing.any() else None


def kind_of_column(column: Values, name: str) -> Kind:
    """Tell a feature's kind from its column's type: booleans are flags, numbers thresholds, text
    categories.
    """
    kind = pa.from_numpy_dtype(column.dtype) if isinstance(column, np.ndarray) else column.type
    types = pa.types
    if types.is_boolean(kind):
        return "flag"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "threshold"
    if types.is_list(kind) or types.is_large_list(kind):
        return "multi"
    if (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_dictionary(kind)
        or types.is_null(kind)
    ):
        return "category"
    raise BuildError(
        f"column {name!r} of type {kind} cannot be sketched; convert it to numbers or text, or leave it out"
    )
