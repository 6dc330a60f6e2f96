"""What the source tells of the names of scopes, layers and variables."""

from __future__ import annotations

import ast

import pytest

from migrator.analyse.variables.namepatterns import NO_NAME, Patterns, literal_pattern, may_meet, parts

NAMES = {"none": NO_NAME, "given": "tower", "part": "tower_*"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("'a' if not none else none", "a"),
        ("none if none else 'a'", "a"),
        ("'a' if not given else given", "tower"),
        ("given if given is not None else 'a'", "tower"),
        ("'a' if none is None else none", "a"),
        ("'a' if none == None else none", "a"),
        ("part if part else 'a'", "tower_*"),
        ("'a' + (given if given else 'b')", "atower"),
    ],
)
def test_names_that_are_one_of_two(name: str, wanted: str) -> None:
    assert pattern(name, NAMES) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "'a' if other else 'b'",
        "'a' if other is None else 'b'",
        "'a' if given == 'tower' else 'b'",
        "'a' if f() else 'b'",
    ],
)
def test_names_that_are_not_known(name: str) -> None:
    assert pattern(name, NAMES) is None
    assert pattern(name, None) is None


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ("block_*/self/w", "block_*/vanilla/w", False),
        ("encoder/block_*/w", "decoder/block_*/w", False),
        ("block_*/w", "block_3/w", True),
        ("block_*/w", "block_3/v", False),
        ("block_*/w", "block_*/dense/w", True),  # of a block that is called `1/dense`
        ("*", "block_1/w", True),
        ("block/w", "block/w", False),  # which ask nobody
    ],
)
def test_names_that_may_be_the_same(one: str, other: str, wanted: bool) -> None:
    assert may_meet(one, other) is may_meet(other, one) is wanted


def pattern(name: str, names: Patterns | None) -> str | None:
    return literal_pattern(ast.parse(name, mode="eval").body, names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'kernel'", ("kernel", None, "")),
        ("'dense/' + name + '/kernel'", ("dense/", "name", "/kernel")),
        ("'dense/%s/kernel' % name", ("dense/", "name", "/kernel")),
        ("'dense/{}'.format(names[0])", ("dense/", "names[0]", "")),
        ("f'{name}/kernel'", ("", "name", "/kernel")),
        ("f'{name!r}/kernel'", ("", "f'{name!r}/kernel'", "")),
        ("'%s/%s' % (name, part)", ("", "'%s/%s' % (name, part)", "")),
        ("name", ("", "name", "")),
        ("name + 1", ("", "name + 1", "")),
    ],
)
def test_what_stands_around_the_one_expression_in_a_text(text: str, expected: tuple[str, str | None, str]) -> None:
    before, hole, after = parts(ast.parse(text, mode="eval").body)
    assert (before, None if hole is None else ast.unparse(hole), after) == expected
