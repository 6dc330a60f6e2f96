"""Conditions of which only the other arm is left."""

from __future__ import annotations

import ast

import pytest

from migrator.analyse.statements.negation import negated, without_body


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


def test_nested_conditions_become_one() -> None:
    assert without_body("a != 1", ["  if b:", "    c()", "", "    d()"], "", "  ") == [
        "if a != 1 and b:",
        "  c()",
        "",
        "  d()",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["  if b or c:", "    d()"],
        ["  if b:", "    c()", "  else:", "    d()"],
        ["  if b:", "    c()", "  d()"],
        ["  if b:", '    c = """', '    """'],
        ["  if f(", "    b):", "    c()"],
    ],
)
def test_other_lines_stay(lines: list[str]) -> None:
    assert without_body("a", lines, "", "  ") == ["if a:", *lines]
