"""The steps of a sketching query.

input: the columns that are needed, cast. keyed: its rows that have a key, and a class. wide: one row for each
class with an aggregate for each unit. Then each unit becomes a line, and columns whose values are to be found
add a GROUP BY each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from thetatree.engine.lists_sql import beside, contains, each, elements, known
from thetatree.engine.maker import Maker
from thetatree.engine.request import Asked, Request, Table
from thetatree.sketch.kinds import OTHER


@dataclass(frozen=True)
class _Unit:
    """A sketch to be made: of the keys where `holds`, if anybody lacks the feature (`gap`)."""

    feature: str | None
    value: str | None
    holds: str | None
    gap: str | None = None


def query(request: Request, maker: Maker) -> str:
    """Write the query."""
    return _Query(request, maker).text()


class _Query:
    def __init__(self, request: Request, maker: Maker) -> None:
        self._request = request
        self._maker = maker
        self._dialect = maker.dialect
        self._steps: list[str] = []
        self._answers: list[str] = []
        self._several = len(request.tables) > 1
        self._classed = not request.class_free
        self._key = "k" if maker.answer == "sketch" else "h"

    def text(self) -> str:
        for i, table in enumerate(self._request.tables):
            self._add_table(table, str(i) if self._several else "", first=i == 0)
        if self._several:
            self._add_totals()
        steps, answers = ",\n".join(self._steps), "\nUNION ALL\n".join(self._answers)
        return f"{self._maker.preamble}WITH {steps}\n{answers}"

    def _step(self, name: str, text: str) -> None:
        self._steps.append(f"{name} AS (\n  {text}\n)")

    def _add_table(self, table: Table, number: str, *, first: bool) -> None:
        d, request = self._dialect, self._request
        targeted = request.target is not None and first and not request.sums
        columns = [f"{d.key(request.key, request.key_type)} AS k"]
        if targeted:
            columns.append(f"{d.category(str(request.target))} AS c")
        if request.sums:
            columns.append(f"{d.threshold(str(request.target))} AS y")
        columns += [f"{self._column(one)} AS f{i}" for i, one in enumerate(table.features)]
        listed = ",\n    ".join(columns)
        self._step(f"input{number}", f"SELECT\n    {listed}\n  FROM {table.source}")
        where = "k IS NOT NULL" + (" AND c IS NOT NULL" if self._classed else "")
        where += " AND y IS NOT NULL" if request.sums else ""
        self._step(f"keyed{number}", self._maker.keyed(f"SELECT * FROM input{number} WHERE {where}"))
        self._add_wide(self._units(table), number)
        if targeted and not self._classed:
            self._add_class_totals(number)
        for i, one in enumerate(table.features):
            if not one.listed:
                self._add_found(one, i, number)

    def _column(self, one: Asked) -> str:
        if one.separator is not None:
            return elements(self._dialect, one.name, one.separator)
        if one.kind == "flag":
            return self._dialect.flag(one.name)
        return (
            self._dialect.threshold(one.name) if one.kind == "threshold" else self._dialect.category(one.name)
        )

    def _units(self, table: Table) -> list[_Unit]:
        units = [] if self._several else [_Unit(None, None, None)]
        for i, one in enumerate(table.features):
            column = f"f{i}"
            units += [_Unit(one.name, text, self._holds(one, column, text)) for text in one.texts()]
            told = self._told(one, column)
            if self._several:  # its table's keys are its own: they are kept apart from all keys
                units.append(_Unit(one.name, None, None if told is None else told[0]))
            elif not one.not_null and told is not None:
                units.append(_Unit(one.name, None, *told))
        return units

    def _told(self, one: Asked, column: str) -> tuple[str, str] | None:
        """Tell how it is written that a value is known, and that it is not; None: all are known."""
        if one.separator is not None:
            return known(self._dialect, column, one.separator)
        return f"{column} IS NOT NULL", f"{column} IS NULL"

    def _holds(self, one: Asked, column: str, text: str) -> str:
        if one.separator is not None:
            if text != OTHER:
                return contains(self._dialect, column, text)
            return beside(self._dialect, column, [value for value in one.values or () if value != OTHER])
        if one.kind == "flag":
            return f"{column} = 1"
        if one.kind == "threshold":
            return f"{column} <= {one.edges[one.texts().index(text)]!r}"
        if text == OTHER and one.values is not None:
            named = ", ".join(self._dialect.literal(value) for value in one.values if value != OTHER)
            return f"{column} NOT IN ({named})" if named else f"{column} IS NOT NULL"
        return f"{column} = {self._dialect.literal(text)}"

    def _add_wide(self, units: Sequence[_Unit], number: str) -> None:
        if not units:
            return
        maker, by = self._maker, "c, " if self._classed else ""
        wanted = dict.fromkeys(what for unit in units for what in (unit.holds, unit.gap) if what is not None)
        source, written = maker.single(number, by, list(wanted), self._step)
        columns, lines, counted = ["c"] if self._classed else [], [], self._request.counts is not None
        gaps = any(unit.gap is not None for unit in units)
        for i, unit in enumerate(units):
            holds = None if unit.holds is None else written[unit.holds]
            columns.append(f"{maker.aggregate(holds)} AS s{i}")
            line = [
                self._dialect.literal(unit.feature),
                self._dialect.literal(unit.value),
                maker.give(f"s{i}"),
            ]
            if counted:
                count = maker.count(holds, total=unit.feature is None)
                columns += [] if count is None else [f"{count} AS n{i}"]
                line.append(self._dialect.cast("NULL" if count is None else f"n{i}", self._dialect.integer))
            if gaps:
                columns += (
                    [] if unit.gap is None else [f"COUNT(CASE WHEN {written[unit.gap]} THEN 1 END) AS g{i}"]
                )
                line.append("1" if unit.gap is None else f"CASE WHEN g{i} > 0 THEN 1 ELSE 0 END")
            lines.append(line)
        grouped = "\n  GROUP BY c" if self._classed else ""
        listed = ",\n    ".join(columns)
        self._step(f"wide{number}", f"SELECT\n    {listed}\n  FROM {source}{grouped}")
        names = ["feature", "value", maker.answer] + ["n"] * counted
        picked, clause = self._dialect.unpivot(lines, names + ["kept"] * gaps)
        lined = f"SELECT {self._class()} AS class, {picked}\n  FROM wide{number}\n  {clause}"
        self._step(f"lines{number}", lined)
        kept = "\nWHERE kept = 1" if gaps else ""
        self._answers.append(f"SELECT class, {', '.join(names)}\nFROM lines{number}{kept}")

    def _class(self) -> str:
        return "c" if self._classed else self._dialect.literal(None)

    def _answer(self, klass: str, feature: str, value: str, source: str, by: str, *, total: bool) -> None:
        maker = self._maker
        columns = [
            f"{klass} AS class",
            f"{feature} AS feature",
            f"{value} AS value",
            f"{maker.give(maker.aggregate(None))} AS {maker.answer}",
        ]
        if self._request.counts is not None:
            count = maker.count(None, total=total)
            columns.append(f"{self._dialect.cast(count or 'NULL', self._dialect.integer)} AS n")
        grouped = f"\nGROUP BY {by}" if by else ""
        self._answers.append(f"SELECT {', '.join(columns)}\nFROM {source}{grouped}")

    def _add_found(self, one: Asked, i: int, number: str) -> None:
        """Values that are not listed: a GROUP BY, of lists with a row for each value."""
        column, rows = f"f{i}", f"keyed{number}"
        if one.separator is not None:
            column, rows = f"e{i}", f"each{number}_{i}"
            keys = "c, " * self._classed + self._key
            self._step(rows, each(self._dialect, keys, f"f{i}", column, f"keyed{number}"))
        by = f"c, {column}" if self._classed else column
        source = self._maker.distinct(
            by, rows, f"{column} <> ''" if one.separator else f"{column} IS NOT NULL"
        )
        self._answer(self._class(), self._dialect.literal(one.name), column, source, by, total=False)

    def _add_class_totals(self, number: str) -> None:
        source = self._maker.distinct("c", f"keyed{number}", "c IS NOT NULL")
        null = self._dialect.literal(None)
        self._answer("c", null, null, source, "c", total=True)

    def _add_totals(self) -> None:
        """All keys are those of any table."""
        column = self._key
        tables = range(len(self._request.tables))
        union = " UNION ALL ".join(f"SELECT {column} FROM keyed{i}" for i in tables)
        distinct = f"(SELECT DISTINCT h FROM ({union}) AS every)" if column == "h" else f"({union})"
        null = self._dialect.literal(None)
        self._answer(null, null, null, f"{distinct} AS everybody", "", total=True)
