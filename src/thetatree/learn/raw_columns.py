"""Columns for a tree grown from sketches: found by name or by place, and written as sketches knew them.

Sketches know a category by its text, and a tag ("tag=a") as a flag of its own: a column of lists ("tag") is
read as its tags. Texts are written by the builder's own function. Columns that the tree does not test are
never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from thetatree.data.categories import is_missing
from thetatree.data.features import Feature
from thetatree.data.rows import (
    Column,
    array_column,
    checked_array,
    checked_frame,
    default_names,
    is_frame,
    read_column,
    read_rows,
)
from thetatree.sketch.batches import values_of
from thetatree.sketch.coders import distinct_texts, elements_of, is_list
from thetatree.sketch.kinds import OTHER

_NO_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
_LISTS = (list, tuple, set, frozenset, np.ndarray)


class RawTable:
    """A table of any kind as its columns, none of them read yet.

    Attributes
    ----------
    named : bool
        Whether the columns have names of their own.
    names : list of str
        The names, or x0, x1, ...
    n_rows : int
        The number of rows.
    """

    def __init__(self, X: Any, estimator: Any = None) -> None:
        self.named = is_frame(X)
        self._sparse = sp.issparse(X)
        if self.named:
            frame = checked_frame(X)
            self._table: Any = list(frame.iter_columns())
            self.names = [str(name) for name in frame.columns]
            self.n_rows = len(frame)
            return
        self._table = read_rows(X, estimator).sparse if self._sparse else checked_array(X, estimator)
        self.n_rows, n_columns = self._table.shape
        self.names = default_names(n_columns)

    def values(self, place: int) -> Any:
        """Give a column as a narwhals series or a numpy array."""
        if self.named:
            return self._table[place]
        column = self._table[:, [place]] if self._sparse else self._table[:, place]
        return column.toarray().ravel() if self._sparse else column


def columns_by_name(table: RawTable, features: Sequence[Feature]) -> list[Column]:
    """Read the features' columns by their names; other columns are left alone."""
    at = {name: place for place, name in enumerate(table.names)}
    tags = _TagColumns(table)
    columns = []
    for feature in features:
        if feature.name in at:
            columns.append(_read(table.values(at[feature.name]), feature))
            continue
        base, tag = _tag_in(feature, table.names)
        columns.append(Column(feature.name, "flag", tags.flag(at[base], base, tag)))
    return columns


def columns_by_place(
    table: RawTable, features: Sequence[Feature], places: Sequence[int], *, lists: bool
) -> list[Column]:
    """Read the features' columns by position; tags from columns of `lists`, or as flags like any other."""
    tags = _TagColumns(table)
    columns = []
    for feature, place in zip(features, places, strict=True):
        if lists and feature.kind == "flag" and feature.labels:
            columns.append(Column(feature.name, "flag", tags.flag(place, *_own_tag(feature))))
        else:
            columns.append(_read(table.values(place), feature))
    return columns


def _read(values: Any, feature: Feature) -> Column:
    """Read a column as the feature is: a category by its texts, unknown ones are among the others."""
    if feature.kind != "category":
        read = array_column if isinstance(values, np.ndarray) else read_column
        return read(feature.name, values)
    places, texts = distinct_texts(_as_built(values, feature.name), feature.name)
    known = set(feature.labels)
    if OTHER in known:
        texts = [text if text in known else OTHER for text in texts]
    return Column(feature.name, "category", places.astype(np.int32), tuple(texts))


def _own_tag(feature: Feature) -> tuple[str, str]:
    """Part the name of a tag's flag into a column of lists and the tag: "tag=a" is "a" in "tag"."""
    tag = str(feature.labels[0])
    return feature.name[: -len(tag) - 1], tag


def _tag_in(feature: Feature, names: Sequence[str]) -> tuple[str, str]:
    """Find the column of lists for a flag without a column; one of its own may be named like a tag's."""
    parts = [_own_tag(feature)] if feature.kind == "flag" and feature.labels else []
    if feature.kind == "flag" and not feature.labels:
        pieces = feature.name.split("=")
        parts = [("=".join(pieces[:i]), "=".join(pieces[i:])) for i in range(1, len(pieces))]
    for base, tag in parts:
        if base in names:
            return base, tag
    raise ValueError(f"X has no column {feature.name!r}, which the tree was grown on; it has {list(names)}")


class _TagColumns:
    """The columns of tags that have been read, by place."""

    def __init__(self, table: RawTable) -> None:
        self._table = table
        self._read: dict[int, _Tags] = {}

    def flag(self, place: int, name: str, tag: str) -> NDArray[np.int8]:
        """Give a tag's flag."""
        if place not in self._read:
            self._read[place] = _Tags(self._table.values(place), name)
        return self._read[place].flag(tag)


class _Tags:
    """A column of tags: lists, or texts of one tag each."""

    def __init__(self, values: Any, name: str) -> None:
        array = _tags_as_built(values, name)
        lists = is_list(array)
        elements, self._rows = elements_of(array) if lists else (array, np.arange(len(array)))
        self._places, self._texts = distinct_texts(elements, name)
        self._known = np.asarray(array.is_valid()) if lists else self._places >= 0

    def flag(self, tag: str) -> NDArray[np.int8]:
        """Give 1 where a row has the tag, 0 where it has not, -1 where its tags are missing."""
        flags = np.where(self._known, 0, -1).astype(np.int8)
        if tag in self._texts:
            flags[self._rows[self._places == self._texts.index(tag)]] = 1
        return flags


def _tags_as_built(values: Any, name: str) -> pa.Array:
    array = _as_built(values, name, tags=True)
    if array.null_count == len(array):
        return pa.nulls(len(array), pa.string())
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_list(array) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    raise TypeError(_no_tags(name, array.drop_null()[0].as_py()))


def _no_tags(name: str, value: Any) -> str:
    return f"column {name!r} holds {value!r} where a list of tags is expected: give lists of tags, or texts"


def _as_built(values: Any, name: str, *, tags: bool = False) -> pa.Array:
    """Give a column to Arrow as the builder does. What Arrow has no type for is written item by item."""
    import narwhals as nw

    try:
        if not isinstance(values, np.ndarray):
            values = values.to_list() if values.dtype == nw.Object else values_of(values)
        return values if isinstance(values, pa.Array) else pa.array(values, from_pandas=True)
    except _NO_ARROW:
        items = list(values)
    if tags:
        return pa.array([_list_of_texts(item, name) for item in items], pa.large_list(pa.large_string()))
    return pa.array([_text(item, name) for item in items], pa.large_string())


def _list_of_texts(item: Any, name: str) -> list[str | None] | None:
    if isinstance(item, _LISTS):
        return [_text(tag, name) for tag in item]
    if is_missing(item) or item == "":
        return None
    if isinstance(item, str):
        return [item]
    raise TypeError(_no_tags(name, item))


def _text(item: Any, name: str) -> str | None:
    try:
        (place,), texts = distinct_texts(pa.array([item], from_pandas=True), name)
    except _NO_ARROW as error:
        raise TypeError(f"column {name!r} holds {item!r}, which is neither text nor a number") from error
    return texts[place] if place >= 0 else None
