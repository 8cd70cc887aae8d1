"""Sketches made by Spark 4.1 and later, on Databricks, or by Sail through the same client.

Spark does all the work: one wide aggregation with a filter for each sketch, in chunks where there are
thousands, after a light pass that finds which columns have gaps, and another for quantile edges. What comes
back is the long table, a few kilobytes a sketch.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from thetatree.engine.answer import from_sketches
from thetatree.engine.dialects import SPARK
from thetatree.engine.maker import SketchMaker
from thetatree.engine.query import query
from thetatree.engine.request import Asked, Counts, Request, Table, make_request
from thetatree.sketch.coders import as_numbers
from thetatree.sketch.edges import quantile_edges
from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyType
from thetatree.sketch.kinds import Kind
from thetatree.sketch.sketch_set import SketchSet

CHUNK = 400  # aggregates in one query; Spark plans some thousands, but slowly
SAMPLE = 1 << 16  # rows, at least, that quantile edges are found in

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_TEXTS = ("string", "varchar", "char")


def sketch(
    df: Any,
    key: str,
    target: str | None = None,
    features: Sequence[str] | Mapping[str, Kind | None] | None = None,
    *,
    lg_k: int = 12,
    bins: int = 32,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    key_type: KeyType | None = None,
    counts: Counts = None,
) -> SketchSet:
    """Sketch a Spark data frame.

    Parameters
    ----------
    df
        A data frame of Spark 4.1 or later, classic or Connect, or of Sail.
    key, target
        Columns. Rows without a key or a class are passed over.
    features
        The columns, or a dict from column to kind; None in it, and all but key and target by default, takes
        the kind of the column's type: booleans are flags, numbers thresholds, text categories.
    lg_k
        Each sketch holds at most 2^lg_k hashes.
    bins, edges
        Numbers without edges are cut into at most so many bins, at quantiles of a sample by the key's hash.
    values
        Values of categories, where they are known: the others cost a GROUP BY each.
    key_type
        ``"int"``, ``"text"`` or ``"float"``; None: that of the key's type.
    counts
        As for `thetatree.engine.sql`.

    Returns
    -------
    SketchSet
        The set that `thetatree.sketch` makes of the same rows with the same edges, hash by hash.
    """
    problem, frame = prepared(
        df,
        key,
        target,
        features,
        lg_k=lg_k,
        bins=bins,
        edges=edges,
        values=values,
        key_type=key_type,
        counts=counts,
    )
    parts = [part.toArrow() for part in frame]
    cuts = {one.name: one.edges for one in problem.features if one.kind == "threshold"}
    listed = {one.name: one.values for one in problem.features if one.values is not None}
    kinds = {one.name: one.kind for one in problem.features}
    return from_sketches(
        parts, key, target, kinds, lg_k, edges=cuts, values=listed, key_type=problem.key_type
    )


def long_table(df: Any, key: str, target: str | None = None, features: Any = None, **options: Any) -> Any:
    """Give the long table as a data frame, to be written as Parquet or Delta; options as for `sketch`.

    Where there are several chunks, each brings the totals: reading keeps them once.
    """
    defaults = {"lg_k": 12, "bins": 32, "edges": None, "values": None, "key_type": None, "counts": None}
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        raise TypeError(f"long_table() has no option {unknown[0]!r}; it has {', '.join(defaults)}")
    _, frames = prepared(df, key, target, features, **(defaults | options))
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame)
    return whole


def prepared(
    df: Any,
    key: str,
    target: str | None,
    features: Any,
    *,
    lg_k: int,
    bins: int,
    edges: Mapping[str, Sequence[float]] | None,
    values: Mapping[str, Sequence[str]] | None,
    key_type: KeyType | None,
    counts: Counts,
) -> tuple[Request, list[Any]]:
    """Settle what is asked for, with a pass for edges and gaps; give it, and a frame for each chunk."""
    types = {name: kind.partition("(")[0] for name, kind in df.dtypes}
    for name in (key, *([] if target is None else [target])):
        _type_of(types, name)
    if features is None:
        features = [name for name in types if name not in (key, target)]
    given = dict(edges or {})
    kinds = {name: _kind(features, types, name, given, values or {}) for name in features}
    view = f"thetatree_{uuid.uuid4().hex}"
    df.createOrReplaceTempView(view)
    spark = df.sparkSession
    wanting = [name for name, kind in kinds.items() if kind == "threshold" and name not in given]
    lists = [name for name in kinds if _is_array(types[name])]
    rows, full = _gaps(spark, view, kinds, lists)
    if wanting:
        drawn = f"PMOD(XXHASH64({SPARK.ident(key)}), {max(1, rows // SAMPLE)}) = 0"
        sampled = f"{view} WHERE {SPARK.ident(key)} IS NOT NULL AND {drawn}"
        given |= _quantile_edges(spark, sampled, wanting, bins)
    constant = [name for name in wanting if not given[name]]
    kinds = {name: kind for name, kind in kinds.items() if name not in constant}
    request = make_request(
        view,
        key,
        target,
        kinds,
        lg_k=lg_k,
        edges={name: cuts for name, cuts in given.items() if name not in constant},
        values=values,
        not_null=[name for name in full if name in kinds],
        lists=lists,
        key_type=key_type or _key_type(types[key]),
        counts=counts,
    )
    return request, [spark.sql(query(part, SketchMaker(SPARK, part))) for part in _chunks(request)]


def _type_of(types: Mapping[str, str], name: str) -> str:
    if name not in types:
        raise BuildError(
            f"column {name!r} is not in the data; there are {', '.join(map(repr, list(types)[:8]))}"
        )
    return types[name]


def _kind(
    features: Any, types: Mapping[str, str], name: str, edges: Mapping[str, Any], values: Mapping[str, Any]
) -> Kind:
    kind = _type_of(types, name)
    declared = features[name] if isinstance(features, Mapping) else None
    if declared is not None:
        found: Kind = declared
        return found
    if name in edges or name in values:
        return "threshold" if name in edges else "category"
    if kind == "boolean":
        return "flag"
    if kind in _NUMBERS or kind in _TEXTS:
        return "threshold" if kind in _NUMBERS else "category"
    if _is_array(kind):
        return "multi"
    raise BuildError(
        f"column {name!r} of type {kind} can not be sketched; make it a number, text, boolean or array, or "
        "leave it out"
    )


def _is_array(kind: str) -> bool:
    return kind.startswith("array<")


def _key_type(kind: str) -> KeyType:
    if kind in ("float", "double"):
        return "float"
    if kind in _TEXTS:
        return "text"
    if kind in _NUMBERS and kind != "decimal":
        return "int"
    raise BuildError(f"keys of type {kind}: say what they are to be hashed as, key_type='int' or 'text'")


def _gaps(spark: Any, view: str, kinds: Mapping[str, Kind], lists: Sequence[str]) -> tuple[int, list[str]]:
    """Count the rows, and find the columns that none of them lacks."""
    columns = []
    for i, (name, kind) in enumerate(kinds.items()):
        value = SPARK.flag(name) if kind == "flag" else SPARK.category(name)
        value = SPARK.threshold(name) if kind == "threshold" else value
        value = SPARK.ident(name) if name in lists else value
        columns.append(f", COUNT({value}) AS n{i}")
    row = spark.sql(f"SELECT COUNT(*) AS n{''.join(columns)} FROM {view}").collect()[0]
    return row["n"], [name for i, name in enumerate(kinds) if row[f"n{i}"] == row["n"]]


def _quantile_edges(spark: Any, drawn: str, names: Sequence[str], bins: int) -> dict[str, list[float]]:
    """Cut numbers at the quantiles of a sample that does not depend on how rows are partitioned."""
    listed = ", ".join(f"{SPARK.threshold(name)} AS f{i}" for i, name in enumerate(names))
    sample = spark.sql(f"SELECT {listed} FROM {drawn}").toArrow()
    columns = [column.combine_chunks() for column in sample.columns]
    return {
        name: quantile_edges(as_numbers(column, name), bins).tolist()
        for name, column in zip(names, columns, strict=True)
    }


def _chunks(request: Request) -> list[Request]:
    """Part the features so that no query has too many aggregates."""
    (table,) = request.tables
    chunks: list[list[Asked]] = [[]]
    size = 0
    for one in table.features:
        needed = len(one.texts()) + 1
        if chunks[-1] and size + needed > CHUNK:
            chunks.append([])
            size = 0
        chunks[-1].append(one)
        size += needed
    return [replace(request, tables=(Table(table.source, tuple(chunk)),)) for chunk in chunks]
