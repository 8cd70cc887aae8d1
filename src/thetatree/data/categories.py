"""Categories of any number of levels: values become codes, and codes are matched by value afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree import _kernel
from thetatree.data.features import Label


@dataclass(frozen=True)
class Coded:
    """Codes of a column (-1: missing) and what they stand for, in the order of the codes."""

    codes: NDArray[np.int32]
    labels: tuple[Label, ...]


def code_values(values: Any, name: str) -> Coded:
    """Code a column. Labels are sorted by value; an ordered type (ordered categorical, Enum) keeps its own.

    Only labels that occur are kept, so that one which training never saw is recognised as such.
    """
    indices, labels, ordered = _dictionary(values, name)
    kept = np.flatnonzero(_kernel.codes_present(indices, len(labels)))
    if not ordered:
        kept = np.array(sorted(kept.tolist(), key=lambda i: _sort_key(labels[i])), dtype=np.int64)
    rank = np.full(len(labels) + 1, -1, dtype=np.int32)
    rank[kept] = np.arange(len(kept), dtype=np.int32)
    return Coded(_kernel.translate_codes(indices, rank), tuple(labels[i] for i in kept))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN or NA (which will not even say whether it equals itself)."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def match_codes(
    codes: NDArray[np.int32], own: tuple[Label, ...], labels: tuple[Label, ...], unseen: int = -1
) -> NDArray[np.int32]:
    """Translate codes into those of another set of labels; a label that is not there becomes `unseen`."""
    if own == labels:
        return codes
    place = {_match_key(label): code for code, label in enumerate(labels)}
    to = np.array([place.get(_match_key(label), unseen) for label in own] + [-1], dtype=np.int32)
    return _kernel.translate_codes(codes, to)


def _match_key(label: Label) -> tuple[bool, Label]:
    return (isinstance(label, str), label)  # "1" is not 1; True is 1 and 1.0


def _sort_key(label: Label) -> tuple[bool, Any]:
    return (isinstance(label, str), label)


def _dictionary(values: Any, name: str) -> tuple[NDArray[np.signedinteger], list[Label], bool]:
    """Indices (-1: missing) into a list of distinct labels, and whether the type says their order."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        distinct, indices = np.unique(values, return_inverse=True)
        labels = distinct.tolist()
        if labels and labels[-1] != labels[-1]:  # NaN sorts last
            indices = np.where(indices == len(labels) - 1, -1, indices)
            labels.pop()
        return indices.astype(np.int64), labels, False
    import narwhals as nw
    import pyarrow as pa

    listed = not isinstance(values, np.ndarray) and values.dtype in (nw.Categorical, nw.Enum)
    if listed and values.implementation.is_pandas():  # its codes are read in place
        native = values.to_native().cat
        labels = [_checked(label, name) for label in native.categories.tolist()]
        return native.codes.to_numpy(), labels, values.dtype == nw.Enum
    try:
        array, ordered = _arrow_dictionary(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return _mixed(values.tolist() if isinstance(values, np.ndarray) else values.to_list(), name)
    labels = [_checked(label, name) for label in array.dictionary.to_pylist()]
    indices = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return _without_missing_label(indices, labels, ordered)


def _arrow_dictionary(values: Any) -> tuple[Any, bool]:
    """Return the values as an Arrow dictionary, and whether their type says their order."""
    import pyarrow as pa

    ordered = False
    if isinstance(values, np.ndarray):
        array = pa.array(values.tolist(), from_pandas=True)
    else:
        import narwhals as nw

        ordered = values.dtype == nw.Enum
        array = values.to_arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # several chunks of a type that does not combine
        array = pa.concat_arrays(array.chunks)
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode(), ordered


def _without_missing_label(
    indices: NDArray[np.int64], labels: list[Label], ordered: bool
) -> tuple[NDArray[np.signedinteger], list[Label], bool]:
    gone = [i for i, label in enumerate(labels) if is_missing(label)]
    for i in gone:
        indices = np.where(indices == i, -1, indices)
    if gone:
        keep = [i for i in range(len(labels)) if i not in gone]
        to = np.full(len(labels) + 1, -1, dtype=np.int64)
        to[keep] = np.arange(len(keep))
        return to[indices], [labels[i] for i in keep], ordered
    return indices, labels, ordered


def _mixed(items: list[Any], name: str) -> tuple[NDArray[np.signedinteger], list[Label], bool]:
    place: dict[tuple[bool, Label], int] = {}
    labels: list[Label] = []
    indices = np.empty(len(items), dtype=np.int64)
    for i, item in enumerate(items):
        if is_missing(item):
            indices[i] = -1
            continue
        label = _checked(item, name)
        key = _match_key(label)
        if key not in place:
            place[key] = len(labels)
            labels.append(label)
        indices[i] = place[key]
    return indices, labels, False


def _checked(label: Any, name: str) -> Any:
    if label is None or isinstance(label, (str, bool, int, float)):
        return label
    if isinstance(label, np.generic):
        return label.item()
    raise TypeError(
        f"a category label must be a string or a number (argument must be a string or a number); "
        f"column {name!r} holds {label!r} of type {type(label).__name__}"
    )
