"""Mutants of the kernel: where they are, found with libclang, and the kernel that has all of them in it.

A mutant is a place and what is put there. Every place is rewritten into a call that does what stood there or,
where the mutant is the active one, what is put there (`mutant.h`), so one build holds all.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Index, TypeKind

HERE = Path(__file__).resolve().parent

PAIRS = {
    "<": ("less", "<="),
    "<=": ("less_equal", "<"),
    ">": ("greater", ">="),
    ">=": ("greater_equal", ">"),
    "==": ("equal", "!="),
    "!=": ("not_equal", "=="),
    "+": ("plus", "-"),
    "-": ("minus", "+"),
    "*": ("times", "/"),
    "/": ("over", "*"),
    "%": ("modulo", "/"),
    "+=": ("plus_into", "-="),
    "-=": ("minus_into", "+="),
    "*=": ("times_into", "/="),
    "/=": ("over_into", "*="),
}
STEPS = {"++": ("up", "--"), "--": ("down", "++")}
EXTREMES = {b"std::min": ("lesser", "std::max"), b"std::max": ("greater_of", "std::min")}
# No places for mutants: compile-time constants, messages, labels, and first values of members, which are
# overwritten; and calls that no answer depends on.
CLOSED = {
    CursorKind.STATIC_ASSERT,
    CursorKind.CXX_THROW_EXPR,
    CursorKind.ENUM_DECL,
    CursorKind.CASE_STMT,
    CursorKind.FIELD_DECL,
}
HINTS = re.compile(rb"(poll|poll_at|__builtin_prefetch|\w+\.(reserve|shrink_to_fit))\(")
STATEMENTS = {
    CursorKind.CALL_EXPR,
    CursorKind.BINARY_OPERATOR,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR,
    CursorKind.UNARY_OPERATOR,
    CursorKind.CONTINUE_STMT,
    CursorKind.BREAK_STMT,
    CursorKind.RETURN_STMT,
}
POINTERS = {TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY}


@dataclass
class Mutant:
    """A place in a file and what is put there; `edits` are of (offset, length, order, text)."""

    file: str
    line: int
    source: str
    change: str
    edits: list[tuple[int, int, int, str]] = field(repr=False, default_factory=list)


def _flags() -> list[str]:
    """Where the compiler finds its headers, as clang wants to be told."""
    told = subprocess.run(
        ["c++", "-E", "-x", "c++", "-", "-v"], input="", capture_output=True, text=True, check=True
    ).stderr
    folders = told.split("search starts here:")[-1].split("End of search")[0].split("\n")
    system = [f"-isystem{folder.strip()}" for folder in folders if folder.startswith(" ")]
    return ["-std=c++20", "-x", "c++", *system]


class _Finder:
    """Walks one file's syntax tree and collects the mutants of it."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_bytes()
        self.found: dict[tuple[int, str], Mutant] = {}

    def add(self, cursor: Cursor, change: str, *edits: tuple[int, int, int, str]) -> None:
        start = cursor.extent.start.offset
        line = self.text.count(b"\n", 0, start) + 1
        source = self.text.split(b"\n")[line - 1].strip().decode()
        self.found.setdefault((start, change), Mutant(self.path.name, line, source, change, list(edits)))

    def span(self, cursor: Cursor) -> tuple[int, int]:
        return cursor.extent.start.offset, cursor.extent.end.offset

    def words(self, start: int, end: int) -> str:
        return " ".join(self.text[start:end].decode().split())

    def walk(self, cursor: Cursor, parent: Cursor | None) -> None:
        """Visit a cursor of this file and what is below it."""
        if cursor.kind in CLOSED or self._is_constant(cursor):
            if cursor.kind == CursorKind.CASE_STMT:  # what a case does is open, its label is not
                for below in list(cursor.get_children())[1:]:
                    self.statement(below, cursor)
                    self.walk(below, cursor)
            return
        if self.is_hint(cursor):
            return
        self.look(cursor, parent)
        for below in cursor.get_children():
            if cursor.kind == CursorKind.COMPOUND_STMT or self._is_body(cursor, below):
                self.statement(below, cursor)
            self.walk(below, cursor)

    def _is_constant(self, cursor: Cursor) -> bool:
        if cursor.kind not in (CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.IF_STMT):
            return False
        start, _ = self.span(cursor)
        head = self.text[max(0, start - 12) : start + 40].split(b"=")[0].split(b"{")[0]
        return cursor.kind != CursorKind.IF_STMT and b"constexpr" in head

    def _is_body(self, cursor: Cursor, below: Cursor) -> bool:
        """Whether something is all that an if, an else or a loop does."""
        if cursor.kind not in (
            CursorKind.IF_STMT,
            CursorKind.FOR_STMT,
            CursorKind.WHILE_STMT,
            CursorKind.CXX_FOR_RANGE_STMT,
        ):
            return False
        parts = list(cursor.get_children())
        bodies = parts[1:] if cursor.kind == CursorKind.IF_STMT else parts[-1:]
        return below in bodies and not self.text[self.span(below)[1] :].lstrip().startswith(b")")

    def is_hint(self, cursor: Cursor) -> bool:
        """Whether something is a call that may be left out: for an interrupt, for a cache, for room."""
        start, end = self.span(cursor)
        return cursor.kind == CursorKind.CALL_EXPR and HINTS.match(self.text[start:end]) is not None

    def look(self, cursor: Cursor, parent: Cursor | None) -> None:
        """Find the mutants of one cursor."""
        kind = cursor.kind
        if kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
            self.binary(cursor)
        elif kind == CursorKind.UNARY_OPERATOR:
            self.unary(cursor, parent)
        elif kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            self.number(cursor, parent)
        elif kind == CursorKind.CALL_EXPR:
            self.extreme(cursor)
        elif kind in (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.CONDITIONAL_OPERATOR):
            self.condition(cursor)

    def binary(self, cursor: Cursor) -> None:
        sides = list(cursor.get_children())
        if len(sides) != 2:
            return
        start, left_end = self.span(sides[0])
        right, end = self.span(sides[1])
        between = self.text[left_end:right]
        operator = between.strip().decode()
        at = left_end + between.index(between.strip()) if operator else left_end
        if operator in ("&&", "||"):
            other = "||" if operator == "&&" else "&&"
            on = "mutant::on<@>()"
            self.add(
                cursor,
                f"{self.words(start, end)}: {operator} -> {other}",
                (start, 0, end - start, f"({on} != (({on} != static_cast<bool>("),
                (at, 2, 0, f")) {operator} ({on} != static_cast<bool>("),
                (end, 0, start - end, "))))"),
            )
        elif operator in PAIRS:
            if any(side.type.get_canonical().kind in POINTERS for side in sides) and operator not in (
                "==",
                "!=",
            ):
                return
            name, other = PAIRS[operator]
            self.add(
                cursor,
                f"{self.words(start, end)}: {operator} -> {other}",
                (start, 0, end - start, f"mutant::{name}<@>("),
                (at, len(operator), 0, ", "),
                (end, 0, start - end, ")"),
            )

    def unary(self, cursor: Cursor, parent: Cursor | None) -> None:
        start, end = self.span(cursor)
        text = self.text[start:end].decode()
        below = list(cursor.get_children())
        if cursor.type.get_canonical().kind in POINTERS or (parent and parent.kind == CursorKind.FOR_STMT):
            return  # a loop that steps the wrong way ends in a crash
        for step, (name, other) in STEPS.items():
            if text.startswith(step):
                self.add(
                    cursor,
                    f"{text}: {step} -> {other}",
                    (start, 2, end - start, f"mutant::{name}<@>("),
                    (end, 0, start - end, ")"),
                )
            elif text.endswith(step):
                edits = ((start, 0, end - start, f"mutant::{name}_after<@>("), (end - 2, 2, start - end, ")"))
                self.add(cursor, f"{text}: {step} -> {other}", *edits)
        literal = below and below[0].kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL)
        if re.match(r"-[^-]", text) and not literal:
            edits = ((start, 1, end - start, "mutant::negative<@>("), (end, 0, start - end, ")"))
            self.add(cursor, f"{self.words(start, end)}: - -> nothing", *edits)

    def number(self, cursor: Cursor, parent: Cursor | None) -> None:
        start, end = self.span(cursor)
        text = self.text[start:end].decode()
        if not re.match(r"[\d.]", text):
            return
        if parent and parent.type.get_canonical().kind == TypeKind.CONSTANTARRAY:
            return
        step = 1 if re.fullmatch(r"[0.]+\D*", text) or start % 2 else -1
        self.add(
            cursor,
            f"{text}: {step:+d}",
            (start, 0, end - start, f"mutant::number<@, {step}>("),
            (end, 0, start - end, ")"),
        )

    def extreme(self, cursor: Cursor) -> None:
        start, end = self.span(cursor)
        for name, (call, other) in EXTREMES.items():
            after = self.text[start + len(name) : start + len(name) + 2]
            if self.text[start:end].startswith(name) and after[:1] in b"(<" and after != b"({":
                opened = after[:1] == b"<"
                put = f"mutant::{call}<@, " if opened else f"mutant::{call}<@>"
                change = f"{self.words(start, end)}: {name.decode()} -> {other}"
                self.add(cursor, change, (start, len(name) + opened, end - start, put))

    def condition(self, cursor: Cursor) -> None:
        first = next(iter(cursor.get_children()))
        start, end = self.span(first)
        head = self.text[cursor.extent.start.offset : start]
        if b"constexpr" in head or not first.kind.is_expression() or b";" in head:
            return
        text = self.words(start, end)
        if first.kind == CursorKind.BINARY_OPERATOR and len(sides := list(first.get_children())) == 2:
            between = self.text[self.span(sides[0])[1] : self.span(sides[1])[0]].strip()
            if between in (b"==", b"!="):
                return  # its other operator is the same mutant
        edits = ((start, 0, end - start + 1, "mutant::truth<@>("), (end, 0, start - end - 1, ")"))
        self.add(cursor, f"if {text} -> if not", *edits)

    def statement(self, cursor: Cursor, parent: Cursor) -> None:
        """Drop a statement that nothing needs for compiling."""
        if cursor.kind not in STATEMENTS or self.is_hint(cursor):
            return
        start, end = self.span(cursor)
        semicolon = re.match(rb"\s*;", self.text[end:])
        text = self.words(start, end)
        if not semicolon or (cursor.kind == CursorKind.RETURN_STMT and text != "return"):
            return
        if cursor.kind == CursorKind.BREAK_STMT and parent.kind == CursorKind.CASE_STMT:
            return
        until = end + semicolon.end()
        edits = ((start, 0, 10**6, "{ if (!mutant::on<@>()) "), (until, 0, -(10**6), " }"))
        self.add(cursor, f"{text}; -> nothing", *edits)


def find(folder: Path, names: list[str]) -> list[Mutant]:
    """Find the mutants of these files of the kernel, in order of place."""
    finders = {name: _Finder(folder / name) for name in names}
    index, flags = Index.create(), _flags()
    for source in sorted(folder.glob("*.cpp")):
        if source.name.startswith("bind"):
            continue
        unit = index.parse(str(source), args=flags)
        for cursor in _of_kernel(unit.cursor, folder):
            if finder := finders.get(Path(cursor.location.file.name).name):
                finder.walk(cursor, None)
    return [
        mutant
        for finder in finders.values()
        for _, mutant in sorted(finder.found.items(), key=lambda item: item[0])
    ]


def _of_kernel(cursor: Cursor, folder: Path) -> Iterator[Cursor]:
    """The declarations that stand in the kernel's own files."""
    for below in cursor.get_children():
        if below.location.file and Path(below.location.file.name).parent == folder:
            yield below


def rewrite(folder: Path, mutants: list[tuple[int, Mutant]]) -> None:
    """Write the mutants into the files of a copy of the kernel."""
    by_file: dict[str, list[tuple[int, int, int, int, str]]] = {}
    for number, mutant in mutants:
        for place, (offset, length, order, text) in enumerate(mutant.edits):
            put = text.replace("@", str(number))
            by_file.setdefault(mutant.file, []).append((offset, order, number * 4 + place, length, put))
    for name, edits in by_file.items():
        path = folder / name
        text = path.read_bytes()
        out, done = [], 0
        for offset, _, _, length, put in _in_order(edits):
            out.append(text[done:offset])
            out.append(put.encode())
            done = offset + length
        out.append(text[done:])
        path.write_bytes(b"".join(out))


def _in_order(edits: list[tuple[int, int, int, int, str]]) -> list[tuple[int, int, int, int, str]]:
    """Order what is put at one place: ends, the innermost first; then beginnings, the outermost first."""

    def rank(edit: tuple[int, int, int, int, str]) -> tuple[int, int, int, int]:
        offset, order, number, _, _ = edit
        sign = (order > 0) - (order < 0)
        return offset, sign, -order, number if sign > 0 else -number

    return sorted(edits, key=rank)
