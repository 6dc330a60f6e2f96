"""Statements that are broken over lines at their brackets."""

from __future__ import annotations

import ast
import textwrap

import pytest

from migrator.engine.wrapping import aligned, wrapped


def broken(text: str, width: int = 40) -> str | None:
    found = wrapped(textwrap.dedent(text).strip("\n").split("\n"), "    ", width)
    return None if found is None else "\n".join(found) + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "value = function(first_argument, second_argument)",
            """
            value = function(
                first_argument, second_argument
            )
            """,
        ),
        (
            "value = function(first_argument, second_argument, third_argument=3)",
            """
            value = function(
                first_argument,
                second_argument,
                third_argument=3,
            )
            """,
        ),
        (
            "value = outer(inner(first_argument, second_argument), 1)",
            """
            value = outer(
                inner(
                    first_argument, second_argument
                ),
                1,
            )
            """,
        ),
        (
            "data = tf.data.Dataset.range(8).repeat(2).batch(size)",
            """
            data = (
                tf.data.Dataset.range(8)
                .repeat(2)
                .batch(size)
            )
            """,
        ),
        (
            "return first.batch(one_size).map(read).repeat()",
            """
            return (
                first.batch(one_size)
                .map(read)
                .repeat()
            )
            """,
        ),
        (
            "data = dataset.repeat(number).batch(batch_size)",
            """
            data = dataset.repeat(number).batch(
                batch_size
            )
            """,
        ),
        (
            "loss = first(one, two) + second(three, four) - third(five)",
            """
            loss = (
                first(one, two)
                + second(three, four)
                - third(five)
            )
            """,
        ),
        (
            "total = sum([weight * value for weight, value in pairs if weight > 0])",
            """
            total = sum(
                [
                    weight * value
                    for weight, value in pairs
                    if weight > 0
                ]
            )
            """,
        ),
        (
            "value = first_alternative if the_condition else second(-1)",
            """
            value = (
                first_alternative
                if the_condition
                else second(-1)
            )
            """,
        ),
        (
            "    if predicate(first_argument, second_argument):",
            """
            if predicate(
                first_argument, second_argument
            ):
            """,
        ),
        (
            "elif predicate(first_argument, second_argument):",
            """
            elif predicate(
                first_argument, second_argument
            ):
            """,
        ),
        (
            "def function(self, first_argument=None, *others):",
            """
            def function(
                self, first_argument=None, *others
            ):
            """,
        ),
        (
            "apply(lambda one, two: one + two, [1, 2, 3, 4, 5])",
            """
            apply(
                lambda one, two: one + two,
                [1, 2, 3, 4, 5],
            )
            """,
        ),
        (
            "first = function(one)[two:three].method(four, five)",
            """
            first = function(one)[two:three].method(
                four, five
            )
            """,
        ),
        ("table = {\n    'a': first,\n    'b': second,\n}", "table = {'a': first, 'b': second}\n"),
        ("pair = (\n    value,\n)", "pair = (value,)\n"),
        (
            'function(f"{first!r:>{width}} and {second}", "a string", x)',
            """
            function(
                f"{first!r:>{width}} and {second}",
                "a string",
                x,
            )
            """,
        ),
    ],
)
def test_wrapped(before: str, after: str) -> None:
    found = broken(before)
    assert found == textwrap.dedent(after).lstrip("\n")
    assert max(map(len, found.splitlines())) <= 40
    assert broken(found) == found


@pytest.mark.parametrize(
    "text",
    [
        'a_rather_long_name = "a string that nothing can make any shorter"',
        "value = function(first_argument,  # why\n    second_argument, third)",
        'value = function("""a\n    b""", first_argument, second_argument)',
        "value = first_argument + \\\n    function(second_argument, third_argument)",
        "value = function(first_argument",
    ],
)
def test_left_alone(text: str) -> None:
    assert broken(text) is None


def test_a_statement_stays_the_same() -> None:
    text = "result = f(not a, x is not y, z not in [1, *rest], **{'k': lambda v, w=-1: (v, w)})[1:-1].g(a if b else c)"
    for width in range(30, 120, 5):
        found = wrapped([text], "  ", width)
        assert found is None or ast.dump(ast.parse("\n".join(found))) == ast.dump(ast.parse(text))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("train(first,\n          second)", "train(first,\n      second)"),
        (
            "x = mean(top(a,\n           b,\n           [c,\n            d]),\n         e)",
            "x = mean(top(a,\n             b,\n             [c,\n              d]),\n         e)",
        ),
        (
            "train(first,\n          second(\n              third\n          ))",
            "train(first,\n      second(\n          third\n      ))",
        ),
        (
            "        net = build([\n        dense(1),  # first\n        dense(2),\n    ])",
            "        net = build([\n            dense(1),  # first\n            dense(2),\n        ])",
        ),
    ],
)
def test_aligned(before: str, after: str) -> None:
    assert aligned(before.split("\n")) == after.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "\tvalue = call(\n\t\tfirst,\n\t)",
        "\tvalue = call(first,\n\t\tsecond)",
        "train(first,\n      second)",
        "train(first,\n    second)",
        "train(\n        first,\n        second)",
        "train(first,  # why\n          second)",
        'train("""a\n          b""")',
        '    text = call(first, """\n  a\n)""", """\n)""")',
    ],
)
def test_not_aligned(text: str) -> None:
    assert aligned(text.split("\n")) is None
