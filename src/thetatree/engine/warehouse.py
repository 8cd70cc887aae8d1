"""SQL that makes the sketches of a problem where its rows are: one pass, one line for each sketch.

The answer is the long table: class, feature, value, sketch, n. Flags, cuts and listed values are aggregates
with a filter over one scan, which is about three times as fast as turning the columns into rows first; values
that are not listed are found by a GROUP BY each. A feature that some row has no value for gets a line of the
keys that it is known for (value NULL).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from thetatree.engine.dialects import dialect_of
from thetatree.engine.keys_sql import keys_query
from thetatree.engine.maker import HashMaker, SketchMaker
from thetatree.engine.query import query
from thetatree.engine.request import Counts, Lists, make_request
from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyType


def sql(  # noqa: PLR0917 - the order is public
    dialect: str,
    table: str | Sequence[str],
    key: str,
    target: str | None = None,
    features: Any = (),
    lg_k: int = 12,
    *,
    edges: Mapping[str, Sequence[float]] | None = None,
    values: Mapping[str, Sequence[str]] | None = None,
    not_null: Sequence[str] = (),
    lists: Lists = (),
    key_type: KeyType = "int",
    counts: Counts = "distinct",
    hashes: bool = False,
    form: Literal["sums", "keys", "numbers"] | None = None,
) -> str:
    """Write the query that sketches a table in a warehouse.

    Parameters
    ----------
    dialect
        ``"spark"`` (or ``"databricks"``), ``"bigquery"``, ``"duckdb"``, ``"postgres"`` or ``"clickhouse"``.
    table
        What stands after FROM: a table's name, written as the warehouse wants it, or a subquery in brackets
        with a name. Several that share the key: a list, of which the first has the target; they are not
        joined, and the sketches are class-free.
    key
        The column that says whose row it is. Rows without a key are passed over.
    target
        The class column. Rows of no class are passed over. None makes class-free sketches.
    features
        Columns, or a dict from column to kind: ``"flag"`` (0, 1, true, false), ``"category"``, ``"multi"``,
        ``"threshold"``, or None. Those in `edges` are thresholds, those in `values` categories, others flags.
        For several tables, a dict from table to this.
    lg_k
        Each sketch holds at most 2^lg_k hashes.
    edges
        The cuts of each threshold, ascending.
    values
        The values of a category or multi that are wanted, where they are known: that saves a pass.
        ``"other"`` among them takes all that are not named.
    not_null
        Features that no row lacks. The others also get a sketch of the keys that have a value, which is in
        the answer only if there are gaps, but costs as much as any.
    lists
        Features of kind multi with several values in one row: their names, where the column is an array; or a
        dict from name to what separates the values in its text (None: it is an array). A null is missing, and
        so is empty text; an empty array is known to have none of the values.
    key_type
        What keys are cast to and hashed as: ``"int"`` (64 bits), ``"text"`` or ``"float"``.
    counts
        Exact counts beside the sketches: ``"distinct"`` counts the keys of the totals, which costs a shuffle
        of all keys; ``"rows"`` counts everything at no cost, where each key has one row; None: no counts.
    hashes
        DuckDB and ClickHouse only: use no sketch function, and give the 2^lg_k + 1 least hashes of each
        sketch for `from_hashes`.
    form
        None: sketches. ``"keys"``: a key sample, whole rows of the keys with the least hashes of each class,
        or, with ``"numbers"``, over all keys, where the target is a number; thresholds need no edges then.
        ``"sums"`` (Spark 4.2): tuple sketches that carry the target; a key must have one row.

    Returns
    -------
    str
        Save its answer as Parquet or CSV, and give that to `thetatree.engine.from_sketches`, with
        ``hashes`` to `thetatree.engine.from_hashes`, with ``form`` to `from_rows` or `from_sums`.

    Examples
    --------
    >>> from thetatree.engine import sql
    >>> print(sql("spark", "sales.customers", "id", "churned", ["vip"], not_null=["vip"], counts=None))
    -- Spark 4.1 or later, Databricks Runtime 18 or later. Sail runs it too.
    WITH input AS (
      SELECT
        CAST(`id` AS BIGINT) AS k,
        NULLIF(CAST(`churned` AS STRING), '') AS c,
        CAST(`vip` AS INT) AS f0
      FROM sales.customers
    ),
    keyed AS (
      SELECT * FROM input WHERE k IS NOT NULL AND c IS NOT NULL
    ),
    wide AS (
      SELECT
        c,
        THETA_SKETCH_AGG(k, 12) AS s0,
        THETA_SKETCH_AGG(k, 12) FILTER (WHERE f0 = 1) AS s1
      FROM keyed
      GROUP BY c
    ),
    lines AS (
      SELECT c AS class, u.feature AS feature, u.value AS value, u.sketch AS sketch
      FROM wide
      LATERAL VIEW INLINE(ARRAY(
        NAMED_STRUCT('feature', CAST(NULL AS STRING), 'value', CAST(NULL AS STRING), 'sketch', s0),
        NAMED_STRUCT('feature', 'vip', 'value', '1', 'sketch', s1)
      )) u AS feature, value, sketch
    )
    SELECT class, feature, value, sketch
    FROM lines
    """
    request = make_request(
        table,
        key,
        target,
        features,
        lg_k=lg_k,
        edges=edges,
        values=values,
        not_null=not_null,
        key_type=key_type,
        counts=counts,
        sums=form == "sums",
        cuts=form not in ("keys", "numbers"),
        lists=lists,
    )
    found = dialect_of(dialect)
    if form not in (None, "sums", "keys", "numbers"):
        raise BuildError(f"form={form!r} is none of 'sums', 'keys', 'numbers', None")
    maker = HashMaker(found, request) if hashes else SketchMaker(found, request)
    if form in ("keys", "numbers"):
        return keys_query(request, maker, numeric=form == "numbers")
    return query(request, maker)
