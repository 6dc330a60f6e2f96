"""The opposites of conditions."""

from __future__ import annotations

import ast

import pytest

from migrator.analyse.statements.negation import negated


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("a", "not a"),
        ("f(a)", "not f(a)"),
        ("not a.b", "a.b"),
        ("a == 1", "a != 1"),
        ("a not in b", "a in b"),
        ("a is None", "a is not None"),
        ("a < b", "not (a < b)"),
        ("a == b == c", "not (a == b == c)"),
        ("a and b", "not (a and b)"),
    ],
)
def test_opposites(test: str, expected: str) -> None:
    assert negated(ast.parse(test, mode="eval").body, ast.unparse) == expected
