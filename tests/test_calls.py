"""Reading and editing arguments."""

from __future__ import annotations

import ast

import pytest

from migrator.resolve import calls
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit


def parse(source: str) -> tuple[Module, ast.Call]:
    module = Module("p.py", source)
    call = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    return module, call


def apply(module: Module, edits: list[Edit]) -> str:
    data = module.source
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))[::-1]:
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    ast.parse(data)
    return data.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(1, 2)", {"a": "1", "b": "2"}),
        ("f(b=1)", {"b": "1"}),
        ("f(1, z=2)", {"a": "1", "z": "2"}),
        ("f()", {}),
        ("f(*x)", None),
        ("f(**x)", None),
        ("f(1, 2, 3)", None),
        ("f(1, a=2)", None),
    ],
)
def test_bind(source: str, expected: dict[str, str] | None) -> None:
    module, call = parse(source)
    bound = calls.bind(call, ("a", "b"))
    assert (bound and {name: module.segment(node) for name, node in bound.items()}) == (expected or bound and {})


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
        ("f(a, (b), k=(c))", [2], "f(a, (b))"),
        ("f(\n    a,  # A\n    b,  # B\n    c,  # C\n)", [1], "f(\n    a,  # A\n    c,  # C\n)"),
        ("f(\n    a,  # A\n    b,  # B\n    c,  # C\n)", [2], "f(\n    a,  # A\n    b,  # B\n)"),
        ("f(\n    a,  # A\n    b,  # B\n    c,  # C\n)", [0], "f(\n    b,  # B\n    c,  # C\n)"),
        ("f(\n    a,\n    b\n)", [1], "f(\n    a\n)"),
        ("f(\n    a,\n    # about c\n    c)", [0], "f(\n    # about c\n    c)"),
        ("f(a,  # A\n  b)", [1], "f(a,  # A\n  )"),
        ("f(a, \\\n  b)", [1], "f(a)"),
        ("f(a, *b, c=1, **d)", [2], "f(a, *b, **d)"),
        ("f('a,b', ')', c)", [1], "f('a,b', c)"),
        ("(f)(a, b)", [0], "(f)(b)"),
        ("f(g(x), h(y, z))", [1], "f(g(x))"),
    ],
)
def test_delete_arguments(source: str, doomed: list[int], expected: str) -> None:
    module, call = parse(source)
    every = calls.arguments(call)
    edits = calls.delete_arguments(module, call, [every[index] for index in doomed])
    assert apply(module, edits) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f()", "f(k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a,)", "f(a, k=1)"),
        ("f(\n    a,\n)", "f(\n    a,\n    k=1,\n)"),
        ("f(\n    a\n)", "f(\n    a, k=1\n)"),
        ("f(a  # A\n)", "f(a, k=1  # A\n)"),
        ("f(x for x in y)", "f((x for x in y), k=1)"),
        ("f((a))", "f((a), k=1)"),
        ("f(**d)", "f(**d, k=1)"),
    ],
)
def test_add_keyword(source: str, expected: str) -> None:
    module, call = parse(source)
    assert apply(module, [calls.add_keyword(module, call, "k=1")]) == expected


def test_is_literal() -> None:
    _, call = parse("f(1, True, 'a', x, -1, [1])")
    assert [calls.is_literal(value, 1, "a", -1) for value in call.args] == [True, False, True, False, True, False]
