"""Joining what a user edited with other changes of the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrator.write.merging import Conflict, merge

BASE = "a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE, BASE, BASE),
        ("A\nb\nc\nd\ne\n", BASE, "A\nb\nc\nd\ne\n"),
        (BASE, "a\nb\nc\nd\nE\n", "a\nb\nc\nd\nE\n"),
        ("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
        ("0\na\nb\nc\nd\ne\n", "a\nb\nd\ne", "0\na\nb\nd\ne"),
        ("A\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", "A\nb\nc\nd\nE\n"),
    ],
)
def test_changes_of_both_sides_are_kept(ours: str, theirs: str, merged: str) -> None:
    assert merge(BASE, ours, theirs) == merged


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n"),
        ("a\nb\nX\nc\nd\ne\n", "a\nb\nY\nc\nd\ne\n"),
        ("a\nd\ne\n", "a\nb\nC\nd\ne\n"),
    ],
)
def test_changes_of_the_same_lines_are_a_conflict(ours: str, theirs: str) -> None:
    with pytest.raises(Conflict):
        merge(BASE, ours, theirs)


LINES = st.lists(st.sampled_from("abcdef"), max_size=12).map(lambda lines: "".join(line + "\n" for line in lines))


@given(LINES, LINES)
def test_one_side_alone_wins(base: str, text: str) -> None:
    assert merge(base, base, text) == merge(base, text, base) == merge(base, text, text) == text
