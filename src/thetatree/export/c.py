"""The tree as a C99 header that includes nothing."""

from __future__ import annotations

import re
from typing import Any

from thetatree.export.c_like import Conditions, function_body, label_texts, one_line, rows_of
from thetatree.export.view import View

_MOST = 2000  # tests in one function: compilers take long over longer ones

_IN_SET = """
static inline int {name}_in(double value, const unsigned char *set, int n) {{
  return value >= 0 && value < n && (set[(int)value >> 3] >> ((int)value & 7) & 1);
}}
"""

_CODE = """
/* The code of a label in a column of categories; NaN (missing) where label is NULL. */
static inline double {name}_code(int column, const char *label) {{
  const double nan = {name}_nan();
  const char *const *labels = 0;
  const int *codes = 0;
  int low = 0, high = 0;
  double unseen = nan;
  if (label == 0{empty}) return nan;
{columns}  while (low < high) {{
    const int middle = low + (high - low) / 2;
    const unsigned char *a = (const unsigned char *)labels[middle], *b = (const unsigned char *)label;
    while (*a != 0 && *a == *b) ++a, ++b;
    if (*a == *b) return codes[middle];
    if (*a < *b) low = middle + 1; else high = middle;
  }}
  return unseen;
}}
"""

_NAN = """
static inline double {name}_nan(void) {{
  const double zero = 0.0;
  return zero / zero;
}}
"""

_OUTPUTS = """
/* The position of the class in {name}_classes. */
static inline int {name}_predict(const double *x) {{
  const int leaf = {name}_apply(x);
  return leaf < 0 ? -1 : {name}_class_of[{name}_place(leaf)];
}}

/* The share of each class, in their order. */
static inline void {name}_predict_proba(const double *x, double *shares) {{
  const int leaf = {name}_apply(x);
  const double *const own = {name}_values + (long){classes} * (leaf < 0 ? 0 : {name}_place(leaf));
  for (int k = 0; k < {classes}; ++k) shares[k] = leaf < 0 ? {name}_nan() : own[k];
}}
"""

_VALUE = """
/* The value. */
static inline double {name}_predict(const double *x) {{
  const int leaf = {name}_apply(x);
  return leaf < 0 ? {name}_nan() : {name}_values[{name}_place(leaf)];
}}
"""

_PLACE = """
/* The place of a leaf among the leaves. */
static inline int {name}_place(int leaf) {{
  int low = 0, high = {leaves} - 1;
  while (low < high) {{
    const int middle = low + (high - low) / 2;
    if ({name}_leaves[middle] < leaf) low = middle + 1; else high = middle;
  }}
  return low;
}}
"""


def to_c(model: Any, *, name: str = "tree") -> str:
    """Return a C99 header with the functions `name`_apply, _predict and, for classes, _predict_proba.

    Each takes one row, ``const double *x``, in the order of the model's columns: numbers as they are, flags
    as 1 and 0, categories as `name`_code(column, label) gives them (the label as UTF-8 text), and NaN where a
    value is missing. A row that the tree parts among several leaves, as C4.5 does where a value is missing,
    has leaf and class -1 and shares NaN. Do not compile with -ffast-math, which knows no NaN.

    Parameters
    ----------
    model : estimator or Tree
        What to write.
    name : str, default="tree"
        What all names of the header begin with.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> [line for line in export.to_c(model).splitlines() if "if (!" in line]
    ['  if (!(x[0] > 3.0)) {']
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be an identifier of C; got {name!r}")
    return _Writer(View(model), name).text()


class _Writer:
    def __init__(self, view: View, name: str) -> None:
        self._view, self._name = view, name
        self._conditions = Conditions(view, lambda x, number, n: f"{name}_in({x}, {name}_set_{number}, {n})")

    def text(self) -> str:
        functions = self._functions()
        sets = self._conditions.sets
        return "\n".join(
            [
                *self._head(),
                *self._tables(),
                _NAN.format(name=self._name),
                *self._code(),
                _IN_SET.format(name=self._name) if sets else "",
                *(self._array("unsigned char", f"set_{i}", map(str, bits)) for i, bits in enumerate(sets)),
                *functions,
                self._outputs(),
                "#endif",
            ]
        )

    def _head(self) -> list[str]:
        view, guard = self._view, f"{self._name.upper()}_H"
        columns = [
            f" *   x[{view.columns[i]}]  {view.feature(i).kind}: {one_line(view.feature(i).name)}"
            for i in view.tested
        ]
        return [
            "/* A decision tree, written by thetatree. Columns that it tests:",
            *columns,
            " */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
        ]

    def _array(self, kind: str, name: str, items: Any) -> str:
        texts = list(items)
        lines = rows_of(texts, "  ")
        return "\n".join([f"static const {kind} {self._name}_{name}[{len(texts)}] = {{", *lines, "};"])

    def _tables(self) -> list[str]:
        tree, leaves = self._view.tree, self._view.leaves
        out = [self._array("int", "leaves", map(str, leaves))]
        out.append(self._array("double", "values", map(repr, tree.values[leaves].ravel().tolist())))
        if tree.classes is not None:
            texts = [_string(str(label), "a class") for label in tree.classes]
            out.append(self._array("char *const", "classes", texts))
            out.append(self._array("int", "class_of", map(str, self._view.chosen[leaves])))
        return out

    def _categories(self) -> list[int]:
        return [i for i in self._view.tested if self._view.feature(i).kind == "category"]

    def _code(self) -> list[str]:
        out, columns = [], ""
        for index in self._categories():
            feature, column = self._view.feature(index), self._view.columns[index]
            texts = label_texts(self._view, index, "C")
            order = sorted(range(len(texts)), key=lambda code: texts[code].encode())
            strings = [_string(texts[code], f"column {feature.name!r}") for code in order]
            out.append(self._array("char *const", f"labels_{column}", strings))
            out.append(self._array("int", f"codes_{column}", map(str, order)))
            unseen = self._view.unseen_code(index)
            unseen_text = f"unseen = {unseen}; " if unseen >= 0 else ""
            columns += (
                f"  if (column == {column}) {{ labels = {self._name}_labels_{column}; codes = "
                f"{self._name}_codes_{column}; high = {len(texts)}; {unseen_text}}}\n"
            )
        empty = " || *label == 0" if self._view.sketched else ""
        return [*out, _CODE.format(name=self._name, columns=columns, empty=empty)] if out else []

    def _functions(self) -> list[str]:
        """Parts come before those that go on to them: later roots first."""
        roots = self._view.parts(_MOST)
        out = []
        for root in reversed(roots):
            function = "apply" if root == 0 else f"part_{root}"
            body = function_body(
                self._view,
                self._conditions,
                root,
                parts=roots,
                call=lambda node: f"{self._name}_part_{node}(x)",
                indent="  ",
            )
            what = ["", "/* The number of the leaf. */"] if root == 0 else [""]
            unused = ["  (void)x;"] if self._view.tree.is_leaf[root] else []
            head = f"static inline int {self._name}_{function}(const double *x) {{"
            out.append("\n".join([*what, head, *unused, *body, "}"]))
        return out

    def _outputs(self) -> str:
        tree = self._view.tree
        place = _PLACE.format(name=self._name, leaves=len(self._view.leaves))
        if tree.classes is None:
            return place + _VALUE.format(name=self._name)
        return place + _OUTPUTS.format(name=self._name, classes=len(tree.classes))


def _string(text: str, what: str) -> str:
    """Write text as a C literal of UTF-8 bytes; the others are octal escapes of three digits."""
    if "\0" in text:
        raise ValueError(f"{what} has the label {text!r}, but a text in C ends at the character zero")
    plain = {byte for byte in range(32, 127) if chr(byte) not in '"\\?'}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'
