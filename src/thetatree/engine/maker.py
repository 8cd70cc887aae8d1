"""What the sketches of a query are made by: a sketch aggregate, or the least hashes in plain SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thetatree.engine.dialects import Dialect
from thetatree.engine.murmur_sql import clickhouse_hash, duckdb_hashed, duckdb_macros
from thetatree.engine.request import Request
from thetatree.sketch.errors import BuildError


class Step(Protocol):
    """Adds a step to a query: its name and its text."""

    def __call__(self, name: str, text: str) -> None:
        """Add it."""


class Maker(Protocol):
    """How keys are told apart, and a sketch and a count of some of them are written."""

    dialect: Dialect
    answer: str  # the column that the sketches are in
    preamble: str

    def keyed(self, select: str) -> str:
        """Give the rows of a key with what a sketch needs of the key."""

    def single(
        self, number: str, keys: str, conditions: Sequence[str], add: Step
    ) -> tuple[str, dict[str, str]]:
        """Prepare the keyed rows: the step to aggregate, and how each condition is written there."""

    def aggregate(self, condition: str | None) -> str:
        """Sketch the keys where a condition holds."""

    def give(self, column: str) -> str:
        """Write a sketch as the answer has it."""

    def count(self, condition: str | None, *, total: bool) -> str | None:
        """Count them, if that is asked for."""

    def distinct(self, columns: str, keyed: str, where: str) -> str:
        """Give the rows to sketch by the values of a column."""


class SketchMaker:
    """Sketches by the engine's own aggregate, of rows as they are."""

    answer = "sketch"

    def __init__(self, dialect: Dialect, request: Request) -> None:
        dialect.check(request.key_type, request.lg_k)
        if request.sums and dialect.name != "spark":
            raise BuildError(f"{dialect.name} has no tuple sketch of doubles; Spark 4.2 has")
        self.dialect = dialect
        self._request = request
        self.preamble = f"-- {dialect.note}\n"

    def keyed(self, select: str) -> str:
        """The aggregate hashes the key itself."""
        return select

    def single(
        self, number: str, keys: str, conditions: Sequence[str], add: Step
    ) -> tuple[str, dict[str, str]]:
        """A key may have several rows: its hash is the same in each."""
        return f"keyed{number}", {condition: condition for condition in conditions}

    def aggregate(self, condition: str | None) -> str:
        """Sketch the keys where a condition holds."""
        if not self._request.sums:
            return self.dialect.aggregate(self._request.key_type, self._request.lg_k, condition)
        made = f"TUPLE_SKETCH_AGG_DOUBLE(k, y, {self._request.lg_k})"
        return made if condition is None else f"{made} FILTER (WHERE {condition})"

    def give(self, column: str) -> str:
        """Write a sketch as the answer has it."""
        return self.dialect.give(column)

    def count(self, condition: str | None, *, total: bool) -> str | None:
        """Count the keys of totals, or the rows of everything."""
        if self._request.counts == "rows":
            return "COUNT(*)" if condition is None else f"COUNT(CASE WHEN {condition} THEN 1 END)"
        if self._request.counts == "distinct" and total:
            return "COUNT(DISTINCT k)"
        return None

    def distinct(self, columns: str, keyed: str, where: str) -> str:
        """Rows are sketched as they are."""
        return f"{keyed}\nWHERE {where}"


class HashMaker:
    """The 2^lg_k + 1 least hashes, of keys that were made one row each first."""

    answer = "hashes"

    def __init__(self, dialect: Dialect, request: Request) -> None:
        if dialect.name not in ("duckdb", "clickhouse"):
            raise BuildError(f"hashes=True is for duckdb and clickhouse; leave it out for {dialect.name}")
        if request.sums:
            raise BuildError("form='sums' is for Spark's tuple sketches; leave hashes=True out")
        self.dialect = dialect
        self._request = request
        self._n = (1 << request.lg_k) + 1
        self.preamble = duckdb_macros(request.key_type) if dialect.name == "duckdb" else ""

    def keyed(self, select: str) -> str:
        """Hash the keys: column ``h``."""
        if self.dialect.name == "duckdb":
            return duckdb_hashed(select, self._request.key_type)
        steps = clickhouse_hash("kk", self._request.key_type)
        named = "".join(f"    {what} AS {name},\n" for name, what in steps[:-1])
        return (
            f"WITH\n    assumeNotNull(k) AS kk,\n{named}    {steps[-1][1]} AS hashed\n"
            f"  SELECT taken.*, hashed AS h FROM ({select}) AS taken"
        )

    def single(
        self, number: str, keys: str, conditions: Sequence[str], add: Step
    ) -> tuple[str, dict[str, str]]:
        """A key has what any of its rows has."""
        marks = {condition: f"b{i}" for i, condition in enumerate(conditions)}
        by = f"{keys}h"
        columns = [
            by,
            *(f"MAX(CASE WHEN {what} THEN 1 ELSE 0 END) AS {name}" for what, name in marks.items()),
        ]
        lines = ",\n    ".join(columns)
        add(f"single{number}", f"SELECT\n    {lines}\n  FROM keyed{number}\n  GROUP BY {by}")
        mark = "{0}" if self.dialect.name == "clickhouse" else "{0} = 1"  # where a number is a condition
        return f"single{number}", {condition: mark.format(name) for condition, name in marks.items()}

    def aggregate(self, condition: str | None) -> str:
        """Give the least hashes where a condition holds."""
        if self.dialect.name == "clickhouse":
            suffix, rest = ("", "") if condition is None else ("If", f", {condition}")
            # In brackets sqlglot, which does not know the function, reads it too.
            return f"(groupArraySorted{suffix}({self._n})(h{rest}))"
        least = f"MIN(h, {self._n})"
        return least if condition is None else f"{least} FILTER (WHERE {condition})"

    def give(self, column: str) -> str:
        """Hashes are given as they are."""
        return column

    def count(self, condition: str | None, *, total: bool) -> str | None:
        """Every key is one row here, so that counting costs nothing."""
        if self._request.counts is None:
            return None
        return "COUNT(*)" if condition is None else f"COUNT(CASE WHEN {condition} THEN 1 END)"

    def distinct(self, columns: str, keyed: str, where: str) -> str:
        """Make one row of each key and value."""
        return f"(SELECT DISTINCT {columns}, h FROM {keyed} WHERE {where}) AS pairs"
