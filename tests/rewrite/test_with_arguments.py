"""Other arguments for a call."""

from __future__ import annotations

import ast

import libcst as cst
import pytest
from changing import changed, first, parsed

from migrator.rewrite import Replace, with_arguments


def call(source: str) -> cst.Call:
    found = cst.parse_expression(source)
    assert isinstance(found, cst.Call)
    return found


def done(source: str, **how: object) -> str:
    text = cst.Module([]).code_for_node(with_arguments(call(source), **how))  # type: ignore[arg-type]  # of several kinds
    ast.parse(text)
    return text


LINES = "f(\n    a,  # A\n    b,  # B\n    c,  # C\n)"


@pytest.mark.parametrize(
    ("source", "doomed", "expected"),
    [
        ("f(a, b, c)", [0], "f(b, c)"),
        ("f(a, b, c)", [1], "f(a, c)"),
        ("f(a, b, c)", [2], "f(a, b)"),
        ("f(a, b, c,)", [2], "f(a, b,)"),
        ("f(a)", [0], "f()"),
        ("f(a,)", [0], "f()"),
        ("f( a , b )", [1], "f( a )"),
        ("f(a, b, c)", [0, 1], "f(c)"),
        ("f(a, b, c)", [1, 2], "f(a)"),
        ("f(a, b, c)", [0, 2], "f(b)"),
        ("f(a, b, c)", [0, 1, 2], "f()"),
        ("f(a, (b), k=(c))", [1], "f(a, k=(c))"),
        ("f(a, (b), k=(c))", ["k"], "f(a, (b))"),
        (LINES, [1], "f(\n    a,  # A\n    c,  # C\n)"),
        (LINES, [2], "f(\n    a,  # A\n    b,  # B\n)"),
        (LINES, [0], "f(\n    b,  # B\n    c,  # C\n)"),
        ("f(\n    a,\n    b\n)", [1], "f(a)"),
        ("f(\n    a,\n    b)", [1], "f(a)"),
        ("f(\n    a,  # about a\n    b)", [1], "f(\n    a,  # about a\n    )"),
        ("f(\n    [\n        a,\n    ],\n    b)", [1], "f(\n    [\n        a,\n    ])"),
        ("f(\n    a,\n    # about c\n    c)", [0], "f(\n    # about c\n    c)"),
        ("f(a, \\\n  b)", [1], "f(a)"),
        ("f(a, *b, c=1, **d)", ["c"], "f(a, *b, **d)"),
        ("f('a,b', ')', c)", [1], "f('a,b', c)"),
        ("(f)(a, b)", [0], "(f)(b)"),
        ("f(g(x), h(y, z))", [1], "f(g(x))"),
        ("f(x for x in y)", [0], "f()"),
        ("f((x for x in y), b)", [1], "f((x for x in y))"),
        ("f(a)", ["k"], "f(a)"),
    ],
)
def test_arguments_go(source: str, doomed: list[int | str], expected: str) -> None:
    assert done(source, drop=doomed) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f()", "f(k=v)"),
        ("f(a)", "f(a, k=v)"),
        ("f(a,)", "f(a, k=v)"),
        ("f( a )", "f( a, k=v )"),
        ("f(\n    a,\n)", "f(\n    a,\n    k=v,\n)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=v,\n)"),
        ("f(\n    a, b,\n)", "f(\n    a, b, k=v\n)"),
        ("f(\n    a\n)", "f(\n    a, k=v\n)"),
        ("f(a  # A\n)", "f(a, k=v  # A\n)"),
        ("f(\n    a,  # A\n    # b\n)", "f(\n    a,  # A\n    k=v,\n    # b\n)"),
        ("f(x for x in y)", "f((x for x in y), k=v)"),
        ("f((a))", "f((a), k=v)"),
        ("f(**d)", "f(**d, k=v)"),
        ("f(*a)", "f(*a, k=v)"),
    ],
)
def test_keywords_come(source: str, expected: str) -> None:
    assert done(source, add={"k": "v"}) == expected


@pytest.mark.parametrize(
    ("source", "at", "expected"),
    [
        ("f()", 0, "f(n)"),
        ("f(a, b)", 0, "f(n, a, b)"),
        ("f(a, b)", 1, "f(a, n, b)"),
        ("f(a, b)", 2, "f(a, b, n)"),
        ("f(a, k=b)", 1, "f(a, n, k=b)"),
        ("f(\n  a,\n  b)", 0, "f(\n  n,\n  a,\n  b)"),
        ("f(\n  a, b)", 0, "f(\n  n, a, b)"),
        ("f(a,\n  b)", 1, "f(a, n,\n  b)"),
        ("f(x for x in y)", 0, "f(n, (x for x in y))"),
    ],
)
def test_positional_arguments_come(source: str, at: int, expected: str) -> None:
    assert done(source, insert={at: "n"}) == expected


@pytest.mark.parametrize(
    ("source", "how", "expected"),
    [
        ("f(a, k = b)", {"rename": {"k": "n"}}, "f(a, n = b)"),
        ("f(a, b)", {"named": {1: "n"}}, "f(a, n=b)"),
        ("f(a, (b))", {"named": {1: "n"}}, "f(a, n=(b))"),
        ("f(a := b)", {"named": {0: "n"}}, "f(n=(a := b))"),
        ("f(a for a in b)", {"named": {0: "n"}}, "f(n=(a for a in b))"),
        ("f(a, (b))", {"values": {1: "n"}}, "f(a, n)"),
        ("f(a, k=b)", {"values": {1: call("g()")}}, "f(a, k=g())"),
        ("f(x for x in y)", {"values": {0: "n"}, "named": {0: "k"}}, "f(k=n)"),
        ("f(a, b, k=3)", {"insert": {0: "n"}, "drop": [1]}, "f(n, a, k=3)"),
        ("f(a, b)", {"drop": [0, 1], "add": {"k": "v", "l": "w"}}, "f(k=v, l=w)"),
        ("f(\n    a,  # A\n)", {"drop": [0], "add": {"k": "v"}}, "f(k=v)"),
        ("f(a, b, c=d)", {"named": {0: "x"}, "rename": {"c": "y"}, "drop": [1], "add": {"z": "v"}}, "f(x=a, y=d, z=v)"),
    ],
)
def test_several_ways_at_once(source: str, how: dict[str, object], expected: str) -> None:
    assert done(source, **how) == expected


def test_a_call_that_keeps_its_arguments_is_the_same() -> None:
    old = call("f(a, k=b)")
    assert with_arguments(old, rename={"other": "n"}, drop=["gone"]) is old


def test_edits_are_small() -> None:
    module = parsed(f"x = g({LINES}, 3)  # x\n")
    node = next(n for n in module.nodes(ast.Call) if isinstance(n.func, ast.Name) and n.func.id == "f")
    change = Replace(node, with_arguments(module.cst.call(node), add={"k": "v"}))
    assert [(edit.end - edit.start, edit.text) for edit in module.cst.apply([change])] == [(0, "    k=v,\n")]
    assert changed(module, [change]) == ("x = g(f(\n    a,  # A\n    b,  # B\n    c,  # C\n    k=v,\n), 3)  # x\n")


def test_windows_lines_stay_so() -> None:
    module = parsed("f(\r\n    a,\r\n)\r\n")
    node = first(module, ast.Call)
    new = with_arguments(module.cst.call(node), add={"k": "v"})
    assert changed(module, [Replace(node, new)]) == "f(\r\n    a,\r\n    k=v,\r\n)\r\n"


@pytest.mark.parametrize(
    ("source", "at", "given", "expected"),
    [
        ("f(a, **b)", 1, {"c": "d"}, "f(a, c=d)"),
        ("f(a, **b, e=1)", 1, {"c": "d", "g": "h"}, "f(a, c=d, g=h, e=1)"),
        ("f(a, **b)", 1, {}, "f(a)"),
        ("f(\n    **b,  # B\n)", 0, {"c": "d"}, "f(\n    c=d,  # B\n)"),
    ],
)
def test_arguments_in_the_place_of_one(source: str, at: int, given: dict[str, str], expected: str) -> None:
    assert done(source, spread={at: given}) == expected


def test_several_arguments_come_before_one() -> None:
    assert done("f(x, y=1)", insert={0: ["a", "b"]}) == "f(a, b, x, y=1)"
    assert done("f(x, *y)", drop=[1], insert={1: ["a", "b"]}) == "f(x, a, b)"
    assert done("f()", insert={0: []}) == "f()"


def test_arguments_go_beside_others_that_are_spread() -> None:
    one, none = {0: {"b": "x", "c": "y"}}, dict[int, dict[str, str]]({0: {}})
    assert done("f(a=1, d=2, e=3)", spread=one, drop=[2]) == "f(b=x, c=y, d=2)"
    assert done("f(a=1, d=2, e=3)", spread=none, drop=[1]) == "f(e=3)"
