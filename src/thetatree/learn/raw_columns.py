"""Columns for a tree grown from sketches: found by name or by place, and written as sketches knew them.

Sketches know a category by its text, and a tag ("tag=a") as a flag of its own: a column of lists ("tag") is
read as its tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetatree.data.coding import as_category
from thetatree.data.features import Feature, Label
from thetatree.data.rows import Column, Rows, read_column
from thetatree.sketch.kinds import OTHER


def columns_by_name(X: Any, features: Sequence[Feature]) -> list[Column]:
    """Read the features' columns from a data frame; other columns are left alone."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    names = [str(name) for name in frame.columns]
    at = dict(zip(names, frame.columns, strict=True))
    columns = []
    for feature in features:
        if feature.name in at:
            columns.append(_as_known(read_column(feature.name, frame[at[feature.name]]), feature))
            continue
        base = _tags_column(feature, names)
        tag = feature.name[len(base) + 1 :]
        columns.append(Column(feature.name, "flag", _has_tag(frame[at[base]].to_list(), tag)))
    return columns


def columns_by_place(rows: Rows, features: Sequence[Feature], places: Sequence[int]) -> list[Column]:
    """Take the features' columns from a table by position."""
    columns = []
    for feature, place in zip(features, places, strict=True):
        if rows.sparse is not None:
            column = Column(feature.name, "number", rows.sparse[:, [place]].toarray().ravel())
        elif rows.matrix is not None and not rows.columns:
            column = Column(feature.name, "number", rows.matrix[:, place])
        else:
            column = rows.columns[place]
        columns.append(_as_known(column, feature))
    return columns


def _tags_column(feature: Feature, names: Sequence[str]) -> str:
    for i, letter in enumerate(feature.name):
        if letter == "=" and feature.kind == "flag" and feature.name[:i] in names:
            return feature.name[:i]
    raise ValueError(f"X has no column {feature.name!r}, which the tree was grown on; it has {list(names)}")


def _has_tag(lists: list[Any], tag: str) -> NDArray[np.int8]:
    return np.array(
        [-1 if tags is None else int(tag in {str(t) for t in tags}) for tags in lists], dtype=np.int8
    )


def _as_known(column: Column, feature: Feature) -> Column:
    """Name the column after the feature, and its categories by the text that sketches know them by."""
    if feature.kind != "category":
        return Column(feature.name, column.kind, column.values, column.labels)
    column = as_category(column)
    labels = tuple(_known_text(label, feature.labels) for label in column.labels)
    return Column(feature.name, "category", column.values, labels)


def _known_text(label: Label, known: tuple[Label, ...]) -> str:
    """Write a label as sketches do; what they did not keep by name is among the others."""
    if isinstance(label, str):
        text = label
    elif isinstance(label, bool):
        text = "true" if label else "false"
    else:
        text = str(int(label)) if float(label).is_integer() else repr(float(label))
    return OTHER if text not in known and OTHER in known else text
