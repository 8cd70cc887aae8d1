"""The tree as one Java class that imports nothing.

A method holds at most 64 kilobytes of bytecode and a class 65,535 constants, so a large tree becomes nested
classes: one for each part of it, and one for each stretch of a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from thetatree.export.c_like import Conditions, function_body, label_texts, one_line, rows_of
from thetatree.export.view import View

_MOST = 500  # tests in one method; each takes some 20 to 100 bytes
_TABLE = 2000  # items of a table in one class
_SET_CODES = 262_000  # a constant text has at most 65,535 bytes: of a set's bits, up to two for eight codes

_KEYWORDS = (
    "abstract assert boolean break byte case catch char class const continue default do double else enum "
    "extends final finally float for goto if implements import instanceof int interface long native new "
    "package private protected public return short static strictfp super switch synchronized this throw "
    "throws transient try void volatile while true false null record var yield sealed permits "
    "String Object Double System"
)

_IN_SET = """
  private static boolean in(double value, String set, int n) {
    return value >= 0 && value < n && (set.charAt((int) value >> 3) >> ((int) value & 7) & 1) == 1;
  }
"""

_LOOK_UP = """
  /** The code of a label in a column of categories; NaN (missing) where the label is null. */
  public static double code(int column, String label) {{
    if (label == null{empty}) return Double.NaN;
    Object[] tables = null;
    double unseen = Double.NaN;
{columns}    if (tables == null) return Double.NaN;
    int start = 0;
    for (Object table : tables) {{
      String[] labels = (String[]) table;
      for (int i = 0; i < labels.length; ++i) if (labels[i].equals(label)) return start + i;
      start += labels.length;
    }}
    return unseen;
  }}
"""

_PLACE = """
  private static int place(int leaf) {{
    int low = 0, high = {leaves} - 1;
    while (low < high) {{
      int middle = (low + high) >>> 1;
      if (((int[]) LEAVES[middle / {table}])[middle % {table}] < leaf) low = middle + 1; else high = middle;
    }}
    return low;
  }}

  private static double value(int at) {{
    return ((double[]) VALUES[at / {table}])[at % {table}];
  }}
"""

_CLASSES = """
  /** The position of the class in CLASSES. */
  public static int predict(double[] x) {{
    int leaf = apply(x);
    if (leaf < 0) return -1;
    int at = place(leaf);
    return ((int[]) CLASS_OF[at / {table}])[at % {table}];
  }}

  /** The share of each class, in their order. */
  public static double[] predictProba(double[] x) {{
    int leaf = apply(x);
    int at = leaf < 0 ? 0 : {classes} * place(leaf);
    double[] shares = new double[{classes}];
    for (int k = 0; k < {classes}; ++k) shares[k] = leaf < 0 ? Double.NaN : value(at + k);
    return shares;
  }}
"""

_VALUE = """
  /** The value. */
  public static double predict(double[] x) {
    int leaf = apply(x);
    return leaf < 0 ? Double.NaN : value(place(leaf));
  }
"""


def to_java(model: Any, *, name: str = "Tree") -> str:
    """Return a Java class with the methods `apply`, `predict` and, for classes, `predictProba`.

    Each takes one row, ``double[] x``, in the order of the model's columns: numbers as they are, flags as 1
    and 0, categories as ``code(column, label)`` gives them, and NaN where a value is missing. A row that the
    tree parts among several leaves, as C4.5 does where a value is missing, has leaf and class -1 and shares
    NaN.

    Parameters
    ----------
    model : estimator or Tree
        What to write.
    name : str, default="Tree"
        The name of the class, and so of its file.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> [line for line in export.to_java(model).splitlines() if "if (!" in line]
    ['    if (!(x[0] > 3.0)) {']
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _KEYWORDS.split():
        raise ValueError(f"name must be an identifier of Java; got {name!r}")
    return _Writer(View(model), name).text()


class _Writer:
    def __init__(self, view: View, name: str) -> None:
        self._view, self._name = view, name
        self._conditions = Conditions(view, lambda x, number, n: f"{name}.in({x}, Set{number}.BITS, {n})")
        self._nested: list[str] = []

    def text(self) -> str:
        functions = self._functions()
        tables = self._tables()
        code = self._code()
        sets = self._conditions.sets
        for number, bits in enumerate(sets):
            self._nested.append(
                f"  private static final class Set{number} {{\n"
                f"    static final String BITS = {self._bits(bits)};\n  }}"
            )
        return "\n".join(
            [
                *self._head(),
                *tables,
                code,
                _IN_SET if sets else "",
                *functions,
                self._outputs(),
                *self._nested,
                "}",
            ]
        )

    def _head(self) -> list[str]:
        view = self._view
        columns = [
            f" *   x[{view.columns[i]}]  {view.feature(i).kind}: {one_line(view.feature(i).name)}"
            for i in view.tested
        ]
        return [
            "/* A decision tree, written by thetatree. Columns that it tests:",
            *columns,
            " */",
            f"public final class {self._name} {{",
            f"  private {self._name}() {{}}",
            "",
        ]

    def _bits(self, bits: Sequence[int]) -> str:
        if len(bits) * 8 > _SET_CODES:
            raise ValueError(
                f"a split lists categories up to code {len(bits) * 8:,}, but a constant of Java holds "
                f"{_SET_CODES:,}: merge rare categories before fitting"
            )
        return '"' + "".join(f"\\{byte:03o}" for byte in bits) + '"'

    def _stretches(self, title: str, kind: str, items: Sequence[str]) -> str:
        """Put a table into nested classes; return the expressions that read them, in order."""
        stretches = [items[i : i + _TABLE] for i in range(0, len(items), _TABLE)]
        for number, stretch in enumerate(stretches):
            lines = "\n".join(rows_of(stretch, "      "))
            self._nested.append(
                f"  private static final class {title}{number} {{\n"
                f"    static final {kind}[] ITEMS = {{\n{lines}\n    }};\n  }}"
            )
        return "{" + ", ".join(f"{title}{number}.ITEMS" for number in range(len(stretches))) + "}"

    def _table(self, name: str, kind: str, items: Sequence[str]) -> str:
        title = name.title().replace("_", "")
        return f"  private static final Object[] {name} = {self._stretches(title, kind, items)};"

    def _tables(self) -> list[str]:
        tree, leaves = self._view.tree, self._view.leaves
        values = [repr(value) for value in tree.values[leaves].ravel().tolist()]
        out = [
            self._table("LEAVES", "int", [str(leaf) for leaf in leaves]),
            self._table("VALUES", "double", values),
        ]
        if tree.classes is not None:
            labels = ", ".join(_string(str(label)) for label in tree.classes)
            out.append(self._table("CLASS_OF", "int", [str(k) for k in self._view.chosen[leaves]]))
            out.append(f"  public static final String[] CLASSES = {{{labels}}};")
        return out

    def _code(self) -> str:
        columns = ""
        for index in self._view.tested:
            if self._view.feature(index).kind != "category":
                continue
            column = self._view.columns[index]
            strings = [_string(text) for text in label_texts(self._view, index, "Java")]
            tables = self._stretches(f"Labels{column}Part", "String", strings)
            unseen = self._view.unseen_code(index)
            unseen_text = f"unseen = {unseen}; " if unseen >= 0 else ""
            columns += f"    if (column == {column}) {{ tables = new Object[] {tables}; {unseen_text}}}\n"
        empty = " || label.isEmpty()" if self._view.sketched else ""
        return _LOOK_UP.format(columns=columns, empty=empty) if columns else ""

    def _functions(self) -> list[str]:
        most = int(np.diff(self._view.tree.child_start).max())
        if most > _MOST:
            raise ValueError(f"a split has {most:,} branches, but a method of Java holds {_MOST}: use to_c")
        roots = self._view.parts(_MOST)
        out = []
        for root in roots:
            body = function_body(
                self._view,
                self._conditions,
                root,
                parts=roots,
                call=lambda node: f"Part{node}.apply(x)",
                indent="    " if root == 0 else "      ",
            )
            if root == 0:
                out.append(
                    "\n".join(
                        [
                            "",
                            "  /** The number of the leaf. */",
                            "  public static int apply(double[] x) {",
                            *body,
                            "  }",
                        ]
                    )
                )
            else:
                head = [f"  private static final class Part{root} {{", "    static int apply(double[] x) {"]
                self._nested.append("\n".join([*head, *body, "    }", "  }"]))
        return out

    def _outputs(self) -> str:
        tree = self._view.tree
        place = _PLACE.format(leaves=len(self._view.leaves), table=_TABLE)
        if tree.classes is None:
            return place + _VALUE
        return place + _CLASSES.format(classes=len(tree.classes), table=_TABLE)


def _string(text: str) -> str:
    """Write text as a Java literal, whatever is not plain as an escape of its UTF-16 code."""
    units = memoryview(text.encode("utf-16-be", "surrogatepass"))
    codes = [units[i] << 8 | units[i + 1] for i in range(0, len(units), 2)]
    plain = {code for code in range(32, 127) if chr(code) not in '"\\'}
    return '"' + "".join(chr(c) if c in plain else _escape(c) for c in codes) + '"'


def _escape(code: int) -> str:
    r"""Escape a UTF-16 code. Java reads \u before all else, so quotes and line ends need another form."""
    return f"\\{code:03o}" if code < 128 else f"\\u{code:04x}"
