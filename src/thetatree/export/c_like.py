"""What the exports to C and Java share: the same tests, in functions of bounded size.

A row is an array of doubles, NaN where a value is missing: numbers as they are, flags as 1 and 0, categories
as codes, which a function of the exported source looks up by label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thetatree.data.features import Label
from thetatree.export.view import Test, View, runs

_RANGES = 4  # a set of codes of more ranges than this is looked up in a table of bits


class Conditions:
    """Writes tests as conditions on ``x``; sets of many codes become tables of bits, in `sets`.

    Parameters
    ----------
    view : View
        The tree.
    in_set : callable
        Writes the call that looks a value up: of the value's text, the set's number and the number of codes.
    """

    def __init__(self, view: View, in_set: Callable[[str, int, int], str]) -> None:
        self._view, self._in_set = view, in_set
        self._numbers: dict[tuple[int, ...], int] = {}

    @property
    def sets(self) -> list[list[int]]:
        """The tables of bits: eight codes a byte, the lowest in the lowest bit."""
        return [_bits(codes) for codes in self._numbers]

    def write(self, test: Test) -> str:
        """Return the condition."""
        x = f"x[{self._view.columns[test.feature]}]"
        flag = self._view.feature(test.feature).kind == "flag"
        if test.kind in ("any", "none"):
            if (test.kind == "any") == test.missing:
                return "1 == 1" if test.missing else "1 == 0"
            if flag:  # as in `predict`, -1 is missing too
                return f"{x} == 0 || {x} == 1" if test.kind == "any" else f"!({x} == 0 || {x} == 1)"
            return f"{x} == {x}" if test.kind == "any" else f"{x} != {x}"
        if flag:
            wanted = int(test.kind == "true")
            return f"{x} != {1 - wanted}" if test.missing else f"{x} == {wanted}"
        if test.kind in ("le", "gt"):
            sign = {"le": ("<=", ">"), "gt": (">", "<=")}[test.kind]
            threshold = repr(test.threshold)
            return f"!({x} {sign[1]} {threshold})" if test.missing else f"{x} {sign[0]} {threshold}"
        listed = self._listed(x, test.codes)
        if test.kind == "in":
            return f"{x} != {x} || {listed}" if test.missing else listed
        return f"!({listed})" if test.missing else f"{x} == {x} && !({listed})"

    def _listed(self, x: str, codes: tuple[int, ...]) -> str:
        ranges = runs(codes)
        if len(ranges) > _RANGES:
            return self._in_set(x, self._numbers.setdefault(codes, len(self._numbers)), codes[-1] + 1)
        texts = [f"{x} == {a}" if a == b else f"({x} >= {a} && {x} <= {b})" for a, b in ranges]
        return " || ".join(texts) if len(texts) == 1 else "(" + " || ".join(texts) + ")"


def _bits(codes: Sequence[int]) -> list[int]:
    table = [0] * (codes[-1] // 8 + 1)
    for code in codes:
        table[code // 8] |= 1 << code % 8
    return table


def function_body(
    view: View,
    conditions: Conditions,
    root: int,
    *,
    parts: Sequence[int],
    call: Callable[[int], str],
    indent: str,
) -> list[str]:
    """Return the statements of the part at a root: they return a leaf's number or go on to another part."""
    lines: list[str] = []
    for step in view.steps(root, frozenset(parts)):
        if step.what == "open":
            lines.append(f"{indent}if ({conditions.write(view.test(step.node, step.branch))}) {{")
            indent += "  "
        elif step.what == "close":
            indent = indent[:-2]
            lines.append(indent + "}")
        else:
            said = {"go": call(step.node), "lost": "-1", "leaf": str(step.node)}[step.what]
            lines.append(f"{indent}return {said};")
    return lines


def label_texts(view: View, feature: int, target: str) -> list[str]:
    """Return a category's labels as texts; two labels of one text cannot be told apart and are refused."""
    labels = view.feature(feature).labels
    texts = [str(label) for label in labels]
    seen: dict[str, Label] = {}
    for text, label in zip(texts, labels, strict=True):
        if text in seen:
            name = view.feature(feature).name
            raise ValueError(
                f"column {name!r} has labels of one text, {seen[text]!r} and {label!r}, but {target} looks "
                f"labels up by their texts: make them all text before fitting"
            )
        seen[text] = label
    return texts


def rows_of(items: Sequence[str], margin: str, width: int = 100) -> list[str]:
    """Lay items out in lines of about a width, separated by commas."""
    lines, line = [], margin
    for i, item in enumerate(items):
        piece = item + ("," if i < len(items) - 1 else "")
        if len(line) + len(piece) > width and line.strip():
            lines.append(line.rstrip())
            line = margin
        line += piece + " "
    return [*lines, line.rstrip()] if line.strip() else lines


def one_line(text: str) -> str:
    """Return a name so that it can stand in a comment of either language."""
    printable = "".join(c if c.isprintable() and c != "\\" else " " for c in text)
    return printable.replace("*/", "* /").replace("/*", "/ *")
