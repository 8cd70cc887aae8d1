"""The tree as SQL: one CASE expression, and a query that scores a table by it.

Each dialect's own quoting and types are sqlglot's; what holds the pieces together is the same everywhere.
Blocks follow `View.steps`, so that CASE expressions are nested no deeper than the logarithm of the tree's
size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from thetatree.data.features import Label
from thetatree.export.view import Test, View

_OUTPUTS = ("prediction", "probability", "leaf")

# How a dialect says that a number is NaN: a function of sqlglot's, a comparison, or not at all (it has none).
_NAN: dict[str, str | None] = {
    "bigquery": "function",
    "clickhouse": "function",
    "databricks": "function",
    "duckdb": "function",
    "mysql": None,
    "postgres": "comparison",
    "redshift": "comparison",
    "snowflake": "comparison",
    "spark": "function",
    "sqlite": None,
    "trino": "function",
}


def to_sql(
    model: Any,
    *,
    dialect: str,
    output: str | Sequence[str] = "prediction",
    label: Any = None,
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
) -> str:
    """Return the tree as a CASE expression over the columns' names, or as a query that scores a table.

    NULL and NaN are missing; a row that the tree parts among several leaves, as C4.5 does where a value is
    missing, gets NULL. Numbers are compared as float64, whatever the column's type; a flag is a boolean
    column or one of 0 and 1. Needs sqlglot: ``pip install 'thetatree[sql]'``.

    Parameters
    ----------
    model : estimator or Tree
        What to write.
    dialect : str
        bigquery, clickhouse, databricks, duckdb, mysql, postgres, redshift, snowflake, spark, sqlite or
        trino.
    output : str or sequence of str, default="prediction"
        "prediction" (the class, or the value of a regression), "probability" (of the class `label`) or
        "leaf"; several for a query.
    label : class label, optional
        Whose probability; the second of two classes by default.
    table : str or sequence of str, optional
        A table to select from: its name, or the parts of its name such as ("schema", "table"). With it the
        result is a query; without it, one expression.
    keep : sequence of str, optional
        Columns that the query passes on; all by default.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> print(export.to_sql(model, dialect="sqlite", output="leaf", table="points"))
    SELECT
      *,
      CASE
        WHEN "x0" IS NULL OR CAST("x0" AS REAL) <= 3.0 THEN 1
        ELSE 2
      END AS "leaf"
    FROM "points"
    """
    outputs = [output] if isinstance(output, str) else list(output)
    unknown = [one for one in outputs if one not in _OUTPUTS]
    if unknown or not outputs or len(set(outputs)) < len(outputs):
        raise ValueError(f"output must be among {', '.join(_OUTPUTS)}, each once; got {output!r}")
    writer = _Writer(View(model), dialect)
    if table is None:
        if len(outputs) > 1 or keep is not None:
            raise ValueError("several outputs and kept columns need a query: give a table, or one output")
        return writer.expression(outputs[0], label, "")
    parts = [table] if isinstance(table, str) else list(table)
    columns = ["*"] if keep is None else [writer.name(name) for name in keep]
    columns += [f"{writer.expression(one, label, '  ')} AS {writer.name(one)}" for one in outputs]
    return "SELECT\n  " + ",\n  ".join(columns) + "\nFROM " + ".".join(writer.name(part) for part in parts)


class _Writer:
    """Writes a tree's tests and values in one dialect."""

    def __init__(self, view: View, dialect: str) -> None:
        try:
            from sqlglot import exp
        except ImportError as error:
            raise ImportError("to_sql needs sqlglot: pip install 'thetatree[sql]'") from error
        if dialect not in _NAN:
            raise ValueError(f"dialect must be one of {', '.join(_NAN)}; got {dialect!r}")
        self._exp, self._view, self._dialect = exp, view, dialect
        self._columns = {index: self._column(index) for index in view.tested}

    # ---- pieces

    def name(self, name: str) -> str:
        """Return a name, quoted."""
        if "\0" in name:
            raise ValueError(f"SQL has no character zero, which the name {name!r} has")
        return str(self._exp.to_identifier(name, quoted=True).sql(self._dialect))

    def _text(self, text: str) -> str:
        if "\0" in text:
            raise ValueError(f"SQL has no character zero, which the label {text!r} has")
        return str(self._exp.Literal.string(text).sql(self._dialect))

    def _cast(self, expression: str, to: str) -> str:
        kind = self._exp.DataType.build(to).sql(self._dialect)
        if self._dialect == "clickhouse":
            kind = f"Nullable({kind})"
        return f"CAST({expression} AS {kind})"

    def _number(self, value: float) -> str:
        """Write a float64 so that it is read back the same.

        DuckDB takes 0.1 for a decimal, 1e-1 for a double. SQLite's reader is an ulp off for some numbers of
        17 digits: what is not short in decimals is written as a quotient or product of whole numbers there.
        """
        if not math.isfinite(value):
            raise ValueError(f"SQL has no literal for {value}")
        if self._dialect == "sqlite":
            return _sqlite_number(value)
        text = repr(float(value))
        return text if "e" in text else text + "e0"

    def _column(self, index: int) -> tuple[str, str, str]:
        """Return a tested column's name, its value, and the condition that it is missing."""
        feature = self._view.feature(index)
        name = self.name(feature.name)
        if feature.kind == "flag":
            value = self._cast(name, "int")
            return name, value, f"{value} IS NULL OR {value} NOT IN (0, 1)"
        if feature.kind == "number":
            value = self._cast(name, "double")
            nan = self._is_nan(value)
            return name, value, f"{name} IS NULL" + (f" OR {nan}" if nan else "")
        value = self._category(name, feature.name, feature.labels)
        return name, value, f"{value if self._view.sketched else name} IS NULL"

    def _category(self, name: str, plain: str, labels: Sequence[Label]) -> str:
        texts = [isinstance(label, str) for label in labels]
        if all(texts):
            value = self._cast(name, "text")
            return f"NULLIF({value}, '')" if self._view.sketched else value
        if any(texts):
            both = f"{labels[texts.index(True)]!r} and {labels[texts.index(False)]!r}"
            raise ValueError(
                f"column {plain!r} has texts and numbers among its labels ({both}), but a column in SQL is "
                f"of one type: make them all text before fitting"
            )
        if all(isinstance(label, bool) for label in labels):
            return self._cast(name, "int")
        whole = all(isinstance(label, int) and not isinstance(label, bool) for label in labels)
        return name if whole else self._cast(name, "double")

    def _is_nan(self, value: str) -> str:
        how = _NAN[self._dialect]
        if how == "function":
            function = "ISNAN" if self._dialect in ("duckdb", "spark", "databricks") else "IS_NAN"
            return f"{'isNaN' if self._dialect == 'clickhouse' else function}({value})"
        return f"{value} = {self._cast(self._text('NaN'), 'double')}" if how else ""

    def _label(self, label: Label) -> str:
        if isinstance(label, bool):
            return str(int(label))
        if isinstance(label, str):
            return self._text(label)
        return str(label) if isinstance(label, int) else self._number(label)

    # ---- tests

    def condition(self, test: Test) -> str:
        """Return what is true for the rows that the test sends on, and false or NULL for the others."""
        _, value, is_missing = self._columns[test.feature]
        if test.kind in ("any", "none"):
            if (test.kind == "any") == test.missing:
                return "1 = 1" if test.missing else "1 = 0"
            return is_missing if test.missing else f"NOT ({is_missing})"
        feature = self._view.feature(test.feature)
        if feature.kind == "flag":
            wanted = int(test.kind == "true")
            return f"{value} IS NULL OR {value} <> {1 - wanted}" if test.missing else f"{value} = {wanted}"
        if feature.kind == "category":
            labels = ", ".join(self._label(feature.labels[code]) for code in test.codes)
            known = f"{value} {test.kind.upper()} ({labels})"
            return f"{is_missing} OR {known}" if test.missing else known
        known = f"{value} {'<=' if test.kind == 'le' else '>'} {self._number(test.threshold)}"
        if test.missing:
            return f"{is_missing} OR {known}"
        nan = self._is_nan(value) if test.kind == "gt" else ""  # where NaN is the greatest number
        return f"{known} AND NOT {nan}" if nan else known

    # ---- the whole

    def expression(self, output: str, label: Any, margin: str) -> str:
        """Return the CASE expression of an output; its lines after the first are indented by the margin."""
        values, kind = self._values(output, label)
        text = "\n".join(self._case(values, margin)).lstrip()
        return self._cast(text, kind) if kind else text

    def _values(self, output: str, label: Any) -> tuple[dict[int, str], str]:
        """Return what each leaf says, and the type that it has to be cast to."""
        view = self._view
        tree = view.tree
        if output == "leaf":
            return {leaf: str(leaf) for leaf in view.leaves}, ""
        if output == "probability":
            place = _place(view, label)
            return {leaf: self._number(float(tree.values[leaf, place])) for leaf in view.leaves}, "double"
        if tree.classes is None:
            return {leaf: self._number(float(tree.values[leaf, 0])) for leaf in view.leaves}, "double"
        texts = [self._class(label) for label in tree.classes]
        real = any(isinstance(label, float) for label in tree.classes)
        return {leaf: texts[view.chosen[leaf]] for leaf in view.leaves}, "double" if real else ""

    def _class(self, label: Any) -> str:
        if isinstance(label, bool):
            return str(self._exp.Boolean(this=label).sql(self._dialect))
        return self._label(label)

    def _case(self, values: dict[int, str], margin: str) -> list[str]:
        lines = [""]
        indent = margin
        cases = [False]  # of each open block: whether it has begun a CASE
        fresh = True
        for step in self._view.steps():
            if step.what == "open":
                if fresh:
                    lines.append(indent + "CASE")
                    cases[-1] = True
                lines.append(f"{indent}  WHEN {self.condition(self._view.test(step.node, step.branch))} THEN")
                cases.append(False)
                indent += "    "
            elif step.what == "close":
                if cases.pop():
                    lines.append(indent + "END")
                indent = indent[:-4]
            else:
                value = "NULL" if step.what == "lost" else values[step.node]
                if fresh:
                    lines[-1] += " " + value
                else:
                    lines.append(f"{indent}  ELSE {value}")
            fresh = step.what == "open"
        return lines + [margin + "END"] * cases[0]


def _place(view: View, label: Any) -> int:
    """Return the position of the class whose probability is asked for."""
    if view.tree.classes is None:
        raise ValueError("a regression tree has no probabilities: its output is 'prediction'")
    classes = list(view.tree.classes)
    if label is None:
        if len(classes) != 2:
            raise ValueError(
                f"there are {len(classes)} classes: say whose probability, label={classes[-1]!r}"
            )
        return 1
    if label not in classes:
        raise ValueError(f"label must be one of the classes {classes}; got {label!r}")
    return classes.index(label)


def _sqlite_number(value: float) -> str:
    """Write a float64 so that SQLite reads it exactly: as a short decimal, or a quotient of whole numbers."""
    text = repr(value)
    digits = text.lstrip("-").replace(".", "")
    if "e" not in text and len(digits) <= 15 and Fraction(text) == Fraction(value):
        return text
    numerator, denominator = value.as_integer_ratio()
    up = (numerator & -numerator).bit_length() - 1 if numerator else 0
    parts = [f"{numerator >> up}.0"]
    for sign, exponent in (("*", up), ("/", denominator.bit_length() - 1)):
        parts += [f" {sign} {2**62}.0"] * (exponent // 62)
        parts += [f" {sign} {2 ** (exponent % 62)}.0"] * (exponent % 62 > 0)
    return "(" + "".join(parts) + ")" if len(parts) > 1 else parts[0]
