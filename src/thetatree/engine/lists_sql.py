"""Columns that hold several values in one row, in each dialect: an array, or text with a separator.

They become an array of texts, each once, without nulls and empty texts. A null array is missing, an empty one
is not: nobody has any of its values. ClickHouse has no null arrays; there a missing text is an array of one
empty text, which no other becomes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from thetatree.engine.dialects import Dialect

ARRAY = ""  # the "separator" of a column that is an array already

_SPLIT = {
    "spark": "SPLIT({text}, {separator})",
    "bigquery": "SPLIT({text}, {separator})",
    "duckdb": "STRING_SPLIT({text}, {separator})",
    "postgres": "STRING_TO_ARRAY({text}, {separator})",
    "clickhouse": "splitByString({separator}, assumeNotNull({text}))",
}
_CAST = {
    "spark": "CAST({array} AS ARRAY<STRING>)",
    "bigquery": "{array}",
    "duckdb": "CAST({array} AS VARCHAR[])",
    "postgres": "CAST({array} AS TEXT[])",
    "clickhouse": "{array}",
}
_CLEAN = {
    "spark": "ARRAY_EXCEPT({array}, ARRAY('', CAST(NULL AS STRING)))",
    "bigquery": (
        "IF({null}, NULL, ARRAY(SELECT DISTINCT CAST(e AS STRING) FROM UNNEST({array}) AS e "
        "WHERE CAST(e AS STRING) <> ''))"
    ),
    "duckdb": "LIST_DISTINCT(LIST_FILTER({array}, lambda e: e <> ''))",
    "postgres": (
        "CASE WHEN NOT {null} THEN ARRAY(SELECT DISTINCT e FROM UNNEST({array}) AS e WHERE e <> '') END"
    ),
    "clickhouse": "arrayDistinct(arrayFilter(e -> e <> '', arrayMap(e -> ifNull(toString(e), ''), {array})))",
}
_CONTAINS = {
    "spark": "ARRAY_CONTAINS({column}, {value})",
    "bigquery": "{value} IN UNNEST({column})",
    "duckdb": "LIST_CONTAINS({column}, {value})",
    "postgres": "{value} = ANY({column})",
    "clickhouse": "has({column}, {value})",
}
_BESIDE = {
    "spark": "SIZE(ARRAY_EXCEPT({column}, ARRAY({named}, CAST(NULL AS STRING)))) > 0",
    "bigquery": "EXISTS(SELECT 1 FROM UNNEST({column}) AS e WHERE e NOT IN ({named}))",
    "duckdb": "LEN(LIST_FILTER({column}, lambda e: e NOT IN ({named}))) > 0",
    "postgres": "NOT {column} <@ ARRAY[{named}]",
    "clickhouse": "NOT hasAll([{named}], {column})",
}
_EACH = {
    "spark": "SELECT {keys}, EXPLODE({column}) AS {element} FROM {rows}",
    "bigquery": "SELECT {keys}, {element} FROM {rows} CROSS JOIN UNNEST({column}) AS {element}",
    "duckdb": "SELECT {keys}, UNNEST({column}) AS {element} FROM {rows}",
    "postgres": "SELECT {keys}, UNNEST({column}) AS {element} FROM {rows}",
    "clickhouse": "SELECT {keys}, arrayJoin({column}) AS {element} FROM {rows}",
}


def elements(d: Dialect, name: str, separator: str) -> str:
    """Give a column's values as an array of texts."""
    if separator == ARRAY:
        column = d.ident(name)
        array = _CAST[d.name].format(array=column)
        return _CLEAN[d.name].format(array=array, null=f"{column} IS NULL")
    text = d.category(name)
    mark = re.escape(separator) if d.name == "spark" else separator  # Spark splits at a regular expression
    array = _SPLIT[d.name].format(text=text, separator=d.literal(mark))
    clean = _CLEAN[d.name].format(array=array, null=f"{text} IS NULL")
    return f"IF({text} IS NULL, [''], {clean})" if d.name == "clickhouse" else clean


def known(d: Dialect, column: str, separator: str) -> tuple[str, str] | None:
    """Tell how it is written that a row has a value, and that it lacks one; None: every row has."""
    if d.name != "clickhouse":
        return f"{column} IS NOT NULL", f"{column} IS NULL"
    return None if separator == ARRAY else (f"NOT has({column}, '')", f"has({column}, '')")


def contains(d: Dialect, column: str, value: str) -> str:
    """Tell how it is written that a row has a value among others."""
    return _CONTAINS[d.name].format(column=column, value=d.literal(value))


def beside(d: Dialect, column: str, named: Sequence[str]) -> str:
    """Tell how it is written that a row has a value that is not named; empty text is none."""
    listed = ", ".join(d.literal(value) for value in (*named, ""))
    return _BESIDE[d.name].format(column=column, named=listed)


def each(d: Dialect, keys: str, column: str, element: str, rows: str) -> str:
    """Make a row of each value."""
    return _EACH[d.name].format(keys=keys, column=column, element=element, rows=rows)
