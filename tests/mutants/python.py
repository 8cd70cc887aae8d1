"""Mutants of the Python: places in functions' bodies, and the module that has all of them in it."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from typing import Any

COMPARE = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
LOGIC = {ast.And: ast.Or, ast.Or: ast.And}
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
CLOSED = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)


@dataclass
class Mutant:
    """A place in a file, what stands there and what is put there; `place` counts the places of the file."""

    file: str
    line: int
    source: str
    change: str
    place: int


class _Rewriter(ast.NodeTransformer):
    """Counts the places of a module, and puts a choice between the two where a place has a number."""

    def __init__(self, file: str, text: str, numbers: dict[int, int]) -> None:
        self.file, self.lines, self.numbers = file, text.splitlines(), numbers
        self.found: list[Mutant] = []
        self.depth = 0

    def choose(self, node: Any, change: str, mutated: Any, as_is: Any) -> Any:
        """Note a place; give the choice between what it is and its mutant."""
        place = len(self.found)
        self.found.append(Mutant(self.file, node.lineno, self.lines[node.lineno - 1].strip(), change, place))
        if place not in self.numbers:
            return as_is
        return ast.IfExp(_on(self.numbers[place]), mutated, as_is)

    def visit(self, node: ast.AST) -> Any:
        """Look at what is in functions only: the rest runs once, at import."""
        if isinstance(node, ast.FunctionDef):
            self.depth += 1
            node.body = [line for old in node.body for line in self.statement(old)]
            self.depth -= 1
            return node
        if self.depth == 0 and not isinstance(node, (ast.Module, ast.ClassDef)):
            return node
        if isinstance(node, CLOSED):
            return node
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        return super().visit(node)

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        """Rewrite a statement of a function; it may be left out."""
        if isinstance(node, ast.FunctionDef):
            return [self.visit(node)]
        before = ast.unparse(node)
        bodies = {
            name: [line for old in getattr(node, name) for line in self.statement(old)]
            for name in ("body", "orelse")
            if isinstance(getattr(node, name, None), list)
        }
        for name in bodies:
            setattr(node, name, [])
        node = self.visit(node)
        for name, lines in bodies.items():
            setattr(node, name, lines)
        call = isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Constant, ast.Yield))
        if not (call or isinstance(node, (ast.AugAssign, ast.Continue, ast.Break))):
            return [node]
        choice = self.choose(node, f"{_short(before)} -> nothing", ast.Constant(True), ast.Constant(False))
        return (
            [node]
            if isinstance(choice, ast.Constant)
            else [ast.If(ast.UnaryOp(ast.Not(), choice), [node], [])]
        )

    def visit_Compare(self, node: ast.Compare) -> Any:
        before = ast.unparse(node)
        self.generic_visit(node)
        out: Any = node
        for i, operator in enumerate(node.ops):
            other = copy.deepcopy(node)
            other.ops[i] = COMPARE[type(operator)]()
            change = f"{_short(before)}: {type(operator).__name__} {i} -> {type(other.ops[i]).__name__}"
            out = self.choose(node, change, other, out)
        return out

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        before = ast.unparse(node)
        self.generic_visit(node)
        if type(node.op) not in BINARY:
            return node
        other = copy.deepcopy(node)
        other.op = BINARY[type(node.op)]()
        return self.choose(
            node, f"{_short(before)}: {type(node.op).__name__} -> {type(other.op).__name__}", other, node
        )

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        node.value = self.visit(node.value)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        before = ast.unparse(node)
        self.generic_visit(node)
        other = copy.deepcopy(node)
        other.op = LOGIC[type(node.op)]()
        return self.choose(
            node, f"{_short(before)}: {type(node.op).__name__} -> {type(other.op).__name__}", other, node
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        before = ast.unparse(node)
        number = isinstance(node.operand, ast.Constant)
        self.generic_visit(node)
        if number or not isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
            return node
        return self.choose(node, f"{_short(before)}: {type(node.op).__name__} -> nothing", node.operand, node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        if type(node.value) not in (int, float):
            return node
        return self.choose(node, f"{node.value}: +1", ast.Constant(node.value + 1), node)

    def visit_Call(self, node: ast.Call) -> Any:
        before = ast.unparse(node)
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name not in EXTREMES:
            return node
        other = copy.deepcopy(node)
        if isinstance(other.func, ast.Name):
            other.func.id = EXTREMES[name]
        else:
            other.func.attr = EXTREMES[name]
        return self.choose(node, f"{_short(before)}: {name} -> {EXTREMES[name]}", other, node)

    def condition(self, node: Any) -> Any:
        before = ast.unparse(node.test)
        told = isinstance(node.test, ast.Compare) and type(node.test.ops[0]) not in ORDERS
        self.generic_visit(node)
        if not told:  # the comparison's own mutant is the negation
            negated = ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
            node.test = self.choose(node, f"if {_short(before)} -> if not", negated, node.test)
        return node

    visit_If = condition  # noqa: N815
    visit_While = condition  # noqa: N815
    visit_IfExp = condition  # noqa: N815


def _short(text: str) -> str:
    return " ".join(text.split())


def _on(number: int) -> ast.expr:
    called = ast.Attribute(ast.Name("_mutants", ast.Load()), "on", ast.Load())
    return ast.Call(called, [ast.Constant(number)], [])


def find(file: str, text: str) -> list[Mutant]:
    """Find the mutants of a module."""
    rewriter = _Rewriter(file, text, {})
    rewriter.visit(ast.parse(text))
    return rewriter.found


def rewrite(file: str, text: str, numbers: dict[int, int]) -> str:
    """Give the module with those of its places mutated that have a number."""
    rewriter = _Rewriter(file, text, numbers)
    tree = rewriter.visit(ast.parse(text))
    if rewriter.found != find(file, text):
        raise SystemExit(f"{file}: its places are counted differently when it is rewritten")
    after = 1 + max((i for i, line in enumerate(tree.body) if _is_future(line)), default=-1)
    if after == 0 and isinstance(tree.body[0], ast.Expr):
        after = 1
    tree.body.insert(after, ast.ImportFrom("thetatree", [ast.alias("_mutants")], 0))
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_future(line: ast.stmt) -> bool:
    return isinstance(line, ast.ImportFrom) and line.module == "__future__"
