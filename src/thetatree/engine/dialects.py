"""How each warehouse writes what a sketching query is made of.

Casts matter: a sketch hashes bytes, so a 4-byte integer, a decimal and a text hash apart from the 8-byte
integer of the same value. Keys are therefore cast to BIGINT, text or DOUBLE everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thetatree.sketch.errors import BuildError
from thetatree.sketch.keys import KeyType


@dataclass(frozen=True)
class Dialect:
    """One dialect of SQL.

    Attributes
    ----------
    name, parser
        What it is called here, and by sqlglot.
    quote
        Put around names.
    integer, text, double
        The types that keys, categories and numbers are cast to.
    sketch
        The aggregate over ``{key}``, of 2^``{lg_k}`` entries; by key type where that matters.
    filtered
        An aggregate over the rows where ``{condition}`` holds: made of ``{aggregate}``, or of ``{inner}``
        with the key made null elsewhere.
    written
        How a ``{sketch}`` is given back.
    number
        A double that is null where it is NaN.
    lines, line, item
        How one wide row becomes several lines ``u``, and a line is written of its items.
    flag_type, nullable
        The type of flags; a type that takes null.
    zero
        Added to floats, where the engine would hash minus zero apart from zero.
    backslash
        Whether a backslash in a text literal escapes.
    note
        What to know before the query is run.
    """

    name: str
    parser: str
    quote: str
    integer: str
    text: str
    double: str
    sketch: Mapping[KeyType, str]
    filtered: str
    written: str
    number: str
    lines: str
    line: str
    item: str
    flag_type: str = "INT"
    nullable: str = "{kind}"
    zero: str = ""
    backslash: bool = False
    note: str = ""

    def ident(self, name: str) -> str:
        """Quote a name."""
        if self.backslash:
            name = name.replace("\\", "\\\\")
        inner = f"\\{self.quote}" if self.backslash and self.name != "spark" else 2 * self.quote
        return f"{self.quote}{name.replace(self.quote, inner)}{self.quote}"

    def literal(self, text: str | None) -> str:
        """Write a text, or a null of the type text."""
        if text is None:
            return self.cast("NULL", self.text)
        if self.backslash:
            text = text.replace("\\", "\\\\")
        quoted = text.replace("'", "\\'" if self.backslash else "''")
        return f"'{quoted}'"

    def cast(self, what: str, kind: str) -> str:
        """Cast; null stays null."""
        return f"CAST({what} AS {self.nullable.format(kind=kind)})"

    def key(self, column: str, key_type: KeyType) -> str:
        """Cast a key so that it hashes as everywhere else; empty text and NaN are no keys."""
        quoted = self.ident(column)
        if key_type == "int":
            return self.cast(quoted, self.integer)
        if key_type == "text":
            return self.category(column)
        return self.threshold(column) + self.zero

    def category(self, column: str) -> str:
        """Give a category as text; empty text is missing."""
        return f"NULLIF({self.cast(self.ident(column), self.text)}, '')"

    def flag(self, column: str) -> str:
        """Give a flag as 0, 1 or null."""
        return self.cast(self.ident(column), self.flag_type)

    def threshold(self, column: str) -> str:
        """Give a number; NaN is missing."""
        return self.number.format(number=self.cast(self.ident(column), self.double))

    def aggregate(self, key_type: KeyType, lg_k: int, condition: str | None = None) -> str:
        """Sketch the keys of the rows where a condition holds."""
        made = self.sketch[key_type]
        whole = made.format(key="k", lg_k=lg_k)
        if condition is None:
            return whole
        inner = made.format(key=f"IF({condition}, k, NULL)", lg_k=lg_k)
        return self.filtered.format(aggregate=whole, inner=inner, condition=condition)

    def give(self, column: str) -> str:
        """Write a sketch as the answer has it."""
        return self.written.format(sketch=column)

    def check(self, key_type: KeyType, lg_k: int) -> None:
        """Refuse what the engine can not do."""
        if key_type not in self.sketch:
            raise BuildError(
                f"{self.name} has no theta sketch of {key_type} keys; cast them: "
                f"key_type={' or '.join(map(repr, self.sketch))}"
            )
        if self.name == "clickhouse" and lg_k != 12:
            raise BuildError(
                f"lg_k={lg_k}: ClickHouse's uniqThetaState is always of lg_k 12; ask for that, or hashes=True"
            )

    def unpivot(self, rows: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[str, str]:
        """Turn a wide row into lines: what to select of them, and the clause that makes them."""
        written = [
            self.line.format(
                ", ".join(
                    self.item.format(item=item, name=name) for item, name in zip(row, names, strict=True)
                )
            )
            for row in rows
        ]
        clause = self.lines.format(lines=",\n    ".join(written), names=", ".join(names))
        places = [str(i + 1) if self.name == "clickhouse" else name for i, name in enumerate(names)]
        return ", ".join(f"u.{place} AS {name}" for place, name in zip(places, names, strict=True)), clause


_FILTER = "{aggregate} FILTER (WHERE {condition})"
_BIGQUERY = (
    "bqutil.datasketches.theta_sketch_agg_{0}_lgk_seed_p"
    "({{key}}, STRUCT<BYTEINT, INT64, FLOAT64>({{lg_k}}, 9001, 1.0))"
)


def _each(text: str) -> Mapping[KeyType, str]:
    return {"int": text, "text": text, "float": text}


SPARK = Dialect(
    name="spark",
    parser="spark",
    quote="`",
    integer="BIGINT",
    text="STRING",
    double="DOUBLE",
    sketch=_each("THETA_SKETCH_AGG({key}, {lg_k})"),
    filtered=_FILTER,
    written="{sketch}",
    number="NULLIF({number}, CAST('NaN' AS DOUBLE))",
    backslash=True,
    note="Spark 4.1 or later, Databricks Runtime 18 or later. Sail runs it too.",
    lines="LATERAL VIEW INLINE(ARRAY(\n    {lines}\n  )) u AS {names}",
    line="NAMED_STRUCT({0})",
    item="'{name}', {item}",
)
BIGQUERY = Dialect(
    name="bigquery",
    parser="bigquery",
    quote="`",
    integer="INT64",
    text="STRING",
    double="FLOAT64",
    sketch={"int": _BIGQUERY.format("int64"), "text": _BIGQUERY.format("string")},
    filtered="{inner}",
    written="{sketch}",
    number="IF(IS_NAN({number}), NULL, {number})",
    backslash=True,
    note="The functions of the public project bqutil; put your region's dataset in their place if need be.",
    lines="CROSS JOIN UNNEST([\n    {lines}\n  ]) AS u",
    line="STRUCT({0})",
    item="{item} AS {name}",
    flag_type="INT64",
)
DUCKDB = Dialect(
    name="duckdb",
    parser="duckdb",
    quote='"',
    integer="BIGINT",
    text="VARCHAR",
    double="DOUBLE",
    sketch=_each("DATASKETCH_THETA({lg_k}, {key})"),
    filtered=_FILTER,
    written="CAST({sketch} AS BLOB)",
    number="NULLIF({number}, CAST('NaN' AS DOUBLE))",
    note="First: INSTALL datasketches FROM community; LOAD datasketches;",
    lines="CROSS JOIN LATERAL UNNEST([\n    {lines}\n  ]) AS lines(u)",
    line="{{{0}}}",
    item="'{name}': {item}",
)
POSTGRES = Dialect(
    name="postgres",
    parser="postgres",
    quote='"',
    integer="BIGINT",
    text="TEXT",
    double="DOUBLE PRECISION",
    sketch=_each("THETA_SKETCH_BUILD({key}, {lg_k})"),
    filtered=_FILTER,
    written="ENCODE(CAST({sketch} AS BYTEA), 'hex')",
    number="NULLIF({number}, CAST('NaN' AS DOUBLE PRECISION))",
    note="First: CREATE EXTENSION datasketches; (Apache DataSketches for PostgreSQL)",
    lines="CROSS JOIN LATERAL (VALUES\n    {lines}\n  ) AS u({names})",
    line="({0})",
    item="{item}",
    zero=" + 0.0",
)
CLICKHOUSE = Dialect(
    name="clickhouse",
    parser="clickhouse",
    quote='"',
    integer="Int64",
    text="String",
    double="Float64",
    sketch=_each("uniqThetaState(assumeNotNull({key}))"),
    filtered="uniqThetaStateIf(assumeNotNull(k), ifNull({condition}, 0))",
    written="hex({sketch})",
    number="IF(isNaN({number}), NULL, {number})",
    backslash=True,
    note="A build with DataSketches, as the official ones are; uniqThetaState is always of lg_k 12.",
    lines="ARRAY JOIN [\n    {lines}\n  ] AS u",
    line="({0})",
    item="{item}",
    flag_type="Int32",
    nullable="Nullable({kind})",
    zero=" + 0.0",
)
DIALECTS = {one.name: one for one in (SPARK, BIGQUERY, DUCKDB, POSTGRES, CLICKHOUSE)} | {"databricks": SPARK}


def dialect_of(name: str) -> Dialect:
    """Find a dialect."""
    found = DIALECTS.get(str(name).lower())
    if found is None:
        raise BuildError(f"dialect {name!r} is none of {', '.join(sorted(DIALECTS))}")
    return found
