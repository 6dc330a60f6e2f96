"""Reading arguments."""

from __future__ import annotations

import ast

import pytest

from migrator.resolve import calls
from migrator.resolve.module import Module


def parse(source: str) -> tuple[Module, ast.Call]:
    module = Module("p.py", source)
    call = next(node for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    return module, call


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


def test_is_literal() -> None:
    _, call = parse("f(1, True, 'a', x, -1, [1])")
    assert [calls.is_literal(value, 1, "a", -1) for value in call.args] == [True, False, True, False, True, False]
