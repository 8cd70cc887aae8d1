"""The tree as Python source that imports nothing."""

from __future__ import annotations

from typing import Any

from thetatree.data.features import Label
from thetatree.export.view import Test, View

_HEAD = '''"""A decision tree, written by thetatree. A row is a mapping from column name to value, such as a
dict; None and NaN are missing. Nothing is imported.
"""
'''

_FUNCTIONS = '''

def predict_proba(row):
    """Return the share of each class, in the order of CLASSES."""
    return _LEAVES[apply(row)][1]


def predict(row):
    """Return the class."""
    return CLASSES[_LEAVES[apply(row)][0]]'''

_VALUE = '''

def predict(row):
    """Return the value."""
    return _LEAVES[apply(row)]'''

# How a column's value is read, by kind: numbers become floats, so that they compare as float64.
_READ = {
    "number": "{x} = _NAN if {x} is None else float({x})",
    "flag": "{x} = -1 if {x} is None or {x} != {x} else int({x})",
    "category": "{x} = None if {x} is None or {x} != {x} else {x}",
}
_READ_TEXT = '{x} = None if {x} is None or {x} != {x} or {x} == "" else {x}'


def to_python(model: Any) -> str:
    """Return a Python module with the functions `apply`, `predict` and, for classes, `predict_proba`.

    Each takes one row: a mapping from column name to value. `apply` returns the leaf, as the model does.
    Columns that the tree does not test are not looked at. A row that the tree parts among several leaves, as
    C4.5 does where a value is missing, is a ValueError.

    Parameters
    ----------
    model : estimator or Tree
        What to write.

    Examples
    --------
    >>> from thetatree import CARTRegressor, export
    >>> model = CARTRegressor().fit([[1.0], [2.0], [4.0]], [5.0, 5.0, 9.0])
    >>> names = {}
    >>> exec(export.to_python(model), names)
    >>> names["predict"]({"x0": 3.5})
    9.0
    """
    view = View(model)
    lines = [_HEAD]
    if any(view.feature(index).kind == "number" for index in view.tested):
        lines.append('_NAN = float("nan")')
    tree = view.tree
    if tree.classes is None:
        leaves = [f"    {leaf}: {float(tree.values[leaf, 0])!r}," for leaf in view.leaves]
    else:
        lines.append(f"CLASSES = {_sequence(tree.classes)}")
        shares = tree.values.tolist()
        leaves = [f"    {leaf}: ({view.chosen[leaf]}, {_sequence(shares[leaf])})," for leaf in view.leaves]
    lines += [
        "_LEAVES = {",
        *leaves,
        "}",
        "",
        "",
        "def apply(row):",
        '    """Return the number of the leaf."""',
    ]
    for index in view.tested:
        feature = view.feature(index)
        lines.append(f"    x{index} = row[{feature.name!r}]")
        empty = view.sketched and feature.kind == "category"
        lines.append("    " + (_READ_TEXT if empty else _READ[feature.kind]).format(x=f"x{index}"))
    lines += _body(view)
    return "\n".join([*lines, ""]) + (_VALUE if tree.classes is None else _FUNCTIONS)


def _body(view: View) -> list[str]:
    lines: list[str] = []
    indent = "    "
    for step in view.steps():
        if step.what == "open":
            lines.append(f"{indent}if {_condition(view, view.test(step.node, step.branch))}:")
            indent += "    "
        elif step.what == "close":
            indent = indent[:-4]
        elif step.what == "lost":
            name = view.feature(int(view.tree.feature[step.node])).name
            said = f"the value of {name!r} is missing or new, which parts the row among several leaves"
            lines.append(f"{indent}raise ValueError({said!r})")
        else:
            lines.append(f"{indent}return {step.node}")
    return lines


def _condition(view: View, test: Test) -> str:
    kind, x = view.feature(test.feature).kind, f"x{test.feature}"
    if test.kind in ("any", "none"):
        if (test.kind == "any") == test.missing:
            return str(test.missing)
        known = {"number": f"{x} == {x}", "flag": f"{x} in (0, 1)", "category": f"{x} is not None"}
        missing = {"number": f"{x} != {x}", "flag": f"{x} not in (0, 1)", "category": f"{x} is None"}
        return known[kind] if test.kind == "any" else missing[kind]
    if kind == "number":  # a comparison with NaN is false
        sign = {"le": ("<=", ">"), "gt": (">", "<=")}[test.kind]
        return (
            f"not {x} {sign[1]} {test.threshold!r}" if test.missing else f"{x} {sign[0]} {test.threshold!r}"
        )
    if kind == "flag":
        wanted = int(test.kind == "true")
        return f"{x} != {1 - wanted}" if test.missing else f"{x} == {wanted}"
    labels = _set([view.feature(test.feature).labels[code] for code in test.codes])
    if test.kind == "in":
        return f"{x} is None or {x} in {labels}" if test.missing else f"{x} in {labels}"
    return f"{x} not in {labels}" if test.missing else f"{x} is not None and {x} not in {labels}"


def _literal(value: Label) -> str:
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "1e999" if value > 0 else "-1e999"
    return repr(value)


def _set(labels: list[Label]) -> str:
    return "{" + ", ".join(_literal(label) for label in labels) + "}"


def _sequence(items: Any) -> str:
    texts = [_literal(item) for item in items]
    return "(" + ", ".join(texts) + ("," if len(texts) == 1 else "") + ")"
