"""Parentheses: an expression of any kind at any place means what it meant."""

from __future__ import annotations

import ast

import libcst as cst
import pytest

from migrator.rewrite import expr, statements

KINDS = (
    "a", "1", "1.5", "'s'", "f'{s}'", "'s' 't'", "...", "a.b", "a[b]", "a(b)", "[a]", "{a}", "{a: b}", "()", "(a,)", "a, b",
    "*a, b", "[a for a in b]", "(a for a in b)", "await a", "-a", "~a", "not a", "a ** b", "-a ** -b", "a * b", "a @ b", "a % b",
    "a + b", "a - b", "a << b", "a & b", "a ^ b", "a | b", "a < b", "a in b", "a is not b", "a and b", "a or b",
    "a if b else c", "lambda: a", "lambda a: b", "a := b", "yield", "yield a", "yield from a", "a\n.b", "a\n+ b", "a(\nb)",
)  # fmt: skip
PLACES = (
    "{x}", "f({x})", "f(k={x})", "f(a, {x})", "f(*{x})", "f(**{x})", "{x}(a)", "{x}.a", "{x}[a]", "a[{x}]", "a[{x}:{x}]",
    "a[b, {x}]", "[{x}, a]", "[*{x}]", "{{{x}}}", "{{{x}: {x}}}", "{{**{x}}}", "({x}, a)", "-{x}", "~{x}", "not {x}", "{x} ** a",
    "a ** {x}", "{x} * a", "a * {x}", "{x} + a", "a + {x}", "a - {x}", "a << {x}", "{x} & a", "a | {x}", "{x} < a", "a < {x}",
    "a < {x} < b", "a in {x}", "{x} and a", "a and {x}", "{x} or a", "a or {x}", "{x} if a else b", "a if {x} else b",
    "a if b else {x}", "lambda: {x}", "lambda a={x}: b", "await {x}", "[{x} for a in b]", "[a for a in {x}]",
    "[a for a in b if {x}]", "{{{x}: a for a in b}}", "(a := {x})", "(yield {x})", "(yield from {x})", "({x} for a in b)",
)  # fmt: skip
STATEMENTS = (
    "{x}", "a = {x}", "a += {x}", "a: b = {x}", "a: {x} = b", "return {x}", "assert {x}, {x}", "raise {x} from {x}",
    "if {x}: pass", "while {x}: pass", "for a in {x}: pass", "with {x}: pass", "with {x} as a: pass", "@{x}\ndef b(): pass",
    "def a(b={x}): pass", "def a(b: {x}) -> {x}: pass", "class A({x}, k={x}): pass",
)  # fmt: skip


class Put(ast.NodeTransformer):
    """Puts a tree where a name stands."""

    def __init__(self, new: ast.expr) -> None:
        self.new = new

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.new if node.id == "HOLE" else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """``(a and b) and c`` is ``a and b and c``."""
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
            node.values[:1] = first.values
        return node


def inside(source: str) -> str:
    """A program in which ``await``, ``yield`` and ``return`` may stand."""
    return "async def f():\n" + "".join(f"    {line}\n" for line in source.splitlines())


def of(kind: str) -> tuple[cst.BaseExpression, ast.expr]:
    """An expression without parentheses around it."""
    node, tree = cst.parse_expression(f"({kind})"), ast.parse(inside(f"({kind})"))
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[1:]), tree.body[0].body[0].value  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_an_expression_keeps_its_meaning_at_every_place(kind: str) -> None:
    node, tree = of(kind)
    for place in PLACES:
        found = cst.Module([]).code_for_node(expr(place, x=node))
        wanted = ast.parse(inside(f"x = ({place.format(x='HOLE')})"))
        assert dumped(f"x = ({found})") == ast.dump(Put(tree).visit(wanted)), f"{kind} in {place}: {found}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_expression_keeps_its_meaning_in_every_statement(kind: str) -> None:
    node, tree = of(kind)
    for place in STATEMENTS:
        found = "".join(map(cst.Module([]).code_for_node, statements(place, x=node)))
        if place.startswith("with") and isinstance(tree, ast.Tuple):
            continue  # which would be several context managers
        wanted = ast.parse(inside(place.format(x="HOLE")))
        assert dumped(found) == ast.dump(Put(tree).visit(wanted)), f"{kind} in {place}: {found}"


def dumped(source: str) -> str:
    try:
        return ast.dump(ast.parse(inside(source)))
    except SyntaxError as error:
        return str(error)


def test_parentheses_that_are_needed_nowhere_are_not_written() -> None:
    for place in ("f({x})", "[{x}]", "a[{x}]", "x = {x}", "return {x}", "if {x}: pass"):
        for kind in ("a + b", "a or b", "lambda: 0", "a if b else c", "not a", "a.b", "f(a\n  + b)"):
            new = statements(place, x=of(kind)[0])
            assert cst.Module(new).code == place.format(x=kind) + "\n"


def test_several_lines_need_brackets() -> None:
    node = of("a\n+ b")[0]
    assert cst.Module(statements("x = {x}", x=node)).code == "x = (a\n+ b)\n"
    assert cst.Module(statements("f({x})", x=node)).code == "f(a\n+ b)\n"
