"""Compound statements from heads and rows, and conditions of which only one arm is left."""

from __future__ import annotations

import pytest

from migrator.rewrite import (
    Row,
    in_scope,
    opened,
    rows,
    same,
    text_of,
    with_else,
    with_first_argument,
    without_body,
    without_repeated_scopes,
)


def text(found: list[Row]) -> list[str]:
    return text_of(found, "  ").splitlines()


def test_a_head_brings_its_comments_and_lines() -> None:
    found = opened(["    # why", "    if f(", "        b):  # so"], rows(["c()", "# end"]))
    assert text(found) == ["# why", "if f(", "    b):  # so", "  c()", "  # end"]


@pytest.mark.parametrize(
    ("orelse", "chain", "expected"),
    [
        (["if b:", "  c()"], True, ["if a:", "  x()", "elif b:", "  c()"]),
        (["if b:", "  c()", "else:", "  d()"], True, ["if a:", "  x()", "elif b:", "  c()", "else:", "  d()"]),
        (["if b:", "  c()"], False, ["if a:", "  x()", "else:", "  if b:", "    c()"]),
        (["if b:", "  c()", "d()"], True, ["if a:", "  x()", "else:", "  if b:", "    c()", "  d()"]),
        (["# why", "if b:", "  c()"], True, ["if a:", "  x()", "else:", "  # why", "  if b:", "    c()"]),
    ],
)
def test_the_other_arm(orelse: list[str], chain: bool, expected: list[str]) -> None:
    (found,) = opened(["if a:"], rows(["x()"]))
    assert text([with_else(found, rows(orelse), chain)]) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["if b:", "  c()", "", "  d()"], ["if a and b:", "  c()", "", "  d()"]),
        (["if (b or c):", "  d()"], ["if a and (b or c):", "  d()"]),
        (["if b:", '  c = """', 'd"""'], ["if a and b:", '  c = """', 'd"""']),
    ],
)
def test_nested_conditions_become_one(lines: list[str], expected: list[str]) -> None:
    assert text(without_body("a", rows(lines))) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ["if b or c:", "  d()"],
        ["if lambda: b:", "  d()"],
        ["if b:", "  c()", "else:", "  d()"],
        ["if b:", "  c()", "d()"],
        ["# why", "if b:", "  c()"],
        ["if b:  # why", "  c()"],
    ],
)
def test_other_rows_stay(lines: list[str]) -> None:
    assert text(without_body("a", rows(lines))) == ["if a:", *(f"  {line}" for line in lines)]


@pytest.mark.parametrize(
    ("condition", "inner", "expected"),
    [
        ('x["k"] != "a"', 'x["k"] != "b"', 'x["k"] not in ("a", "b")'),
        ("x != 1", 'x not in (2, "b")', 'x not in (1, 2, "b")'),
        ("x != 1", "y != 2", "x != 1 and y != 2"),
        ("x != 1", "x != y", "x != 1 and x != y"),
        ("x != 1.0", "x != 2", "x != 1.0 and x != 2"),
        ("x == 1", "x != 2", "x == 1 and x != 2"),
    ],
)
def test_none_of_several_values(condition: str, inner: str, expected: str) -> None:
    assert text(without_body(condition, rows([f"if {inner}:", "  c()"]))) == [f"if {expected}:", "  c()"]


def test_a_choice_is_no_factor() -> None:
    assert text(without_body("a or b", rows(["if c:", "  d()"]))) == ["if a or b:", "  if c:", "    d()"]


def test_rows_are_the_same_by_their_text() -> None:
    assert same(rows(["a()", "b()"]), rows(["    a()", "    b()"]))
    assert not same(rows(["a()"]), rows(["a()  # why"]))


def test_a_scope_goes_on() -> None:
    scope = 'with f(""):  # remark'
    first, second = in_scope(scope, rows(["a()"])), in_scope(scope, rows(["", "b()"]))
    assert text(without_repeated_scopes([*first, *second], "# remark")) == [scope, "  a()", "", "  b()"]


def test_a_scope_ends_at_other_rows_and_comments() -> None:
    scope = 'with f(""):  # remark'
    scopes = in_scope(scope, rows(["a()"])), in_scope(scope, rows(["b()"]))
    between = [*scopes[0], *rows(["c()"]), *scopes[1]]
    assert same(without_repeated_scopes(between, "# remark"), between)
    other = [*scopes[0], *in_scope('with f(""):  # another', rows(["b()"]))]
    assert same(without_repeated_scopes(other, "# remark"), other)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('tf.summary.scalar("a", f("a", 1))', 'tf.summary.scalar("n/a", f("a", 1))'),
        ('f(g("a", 1))', 'f(g("n/a", 1))'),
        ('f("a")', 'f("a")'),
        ('f(name="a", b=1)', 'f(name="a", b=1)'),
    ],
)
def test_the_first_argument(line: str, expected: str) -> None:
    (row,) = rows([line])
    assert text([with_first_argument(row, '"a"', '"n/a"')]) == [expected]
