"""DuckDB in the same process: it reads, filters and derives columns, and its batches stream into our builder.

A pass is a query that is run again from the start; at most one result is open at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from thetatree.sketch.batches import read_ahead
from thetatree.sketch.errors import BuildError

ROWS = 1 << 17
NAME = "data"  # what a query calls the rows that it is given

_READERS = {".parquet": "read_parquet", ".pq": "read_parquet", ".json": "read_json", ".jsonl": "read_json"}

Pass = Callable[[], Iterator[pa.RecordBatch]]


def wants_duckdb(data: Any, sql: str | None) -> bool:
    """Whether rows come through DuckDB: by a query, from its own objects, or from files with a ``*``."""
    module = type(data).__module__.partition(".")[0]
    return sql is not None or module in ("duckdb", "_duckdb") or (isinstance(data, str) and "*" in data)


def passes(data: Any, sql: str | None = None) -> Pass:
    """Give a function that runs through the rows once.

    Parameters
    ----------
    data
        A connection (with ``sql``), a relation, or with ``sql`` also a path, a pattern of paths, or a frame,
        which the query calls ``data``.
    sql
        A query.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"id": [1, 2, 3], "age": [20, 30, 40]})
    >>> again = passes(table, "SELECT id, age > 25 AS adult FROM data")
    >>> [batch.num_rows for batch in again()]
    [3]
    """
    duckdb = _import()
    if isinstance(data, duckdb.DuckDBPyConnection):
        if sql is None:
            raise BuildError("a DuckDB connection needs a query: give sql='SELECT …'")
        return _of_query(data, sql)
    if isinstance(data, duckdb.DuckDBPyRelation):
        if sql is None:
            return lambda: _batches(data)
        return lambda: _batches(data.query(NAME, sql))
    connection = duckdb.connect()
    if isinstance(data, (str, Path)):
        rows = f"SELECT * FROM {_reader(str(data))}"
        if sql is not None:
            connection.execute(f"CREATE VIEW {NAME} AS {rows}")
        return _of_query(connection, sql or rows)
    try:
        connection.register(NAME, data)
    except duckdb.Error as error:
        raise BuildError(
            f"sql= can not ask a {type(data).__name__}; give a path, a data frame or a connection"
        ) from error
    query = sql or f"SELECT * FROM {NAME}"
    return lambda: _batches(_asked(connection.cursor().register(NAME, data), query))


def _import() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("DuckDB is not installed: pip install 'thetatree[duckdb]'") from error
    return duckdb


def _reader(path: str) -> str:
    quoted = path.replace("'", "''")
    return f"{_READERS.get(Path(path).suffix.lower(), 'read_csv')}('{quoted}')"


def _of_query(connection: Any, sql: str) -> Pass:
    # A cursor sees the connection's tables and views, and leaves its open results alone.
    return lambda: _batches(_asked(connection.cursor(), sql))


def _asked(cursor: Any, sql: str) -> Any:
    duckdb = _import()
    try:
        return cursor.sql(sql)
    except duckdb.Error as error:
        raise BuildError(f"sql=: {str(error)[:300]}") from error


def _batches(relation: Any) -> Iterator[pa.RecordBatch]:
    reader = relation.to_arrow_reader(ROWS)
    try:
        yield from read_ahead(reader)
    finally:
        reader.close()
