"""Diffs are right, short and quick."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from migrator.report import linediff
from migrator.report.linediff import matching_blocks, unified_diff

COMMON = st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n", "x = 1\n"])
LINES = st.lists(COMMON | st.text("xyz", min_size=3).map(lambda text: text + "\n"))


def patched(before: list[str], diff: list[str]) -> list[str]:
    """Apply a diff by its hunk headers."""
    result, position = [], 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            result += before[position:first]
            position = first
        elif line[0] in " -":
            assert before[position] == line[1:]
            result += [line[1:]] if line[0] == " " else []
            position += 1
        else:
            result.append(line[1:])
    return result + before[position:]


@given(LINES, LINES)
def test_the_diff_leads_from_one_to_the_other(before: list[str], after: list[str]) -> None:
    diff = list(unified_diff(before, after, "a", "b"))
    assert (patched(before, diff) if diff else before) == after
    assert bool(diff) == (before != after)


@given(LINES, LINES)
def test_blocks_are_equal_and_ascending(before: list[str], after: list[str]) -> None:
    last_i = last_j = 0
    for i, j, size in matching_blocks(before, after):
        assert i >= last_i and j >= last_j and size > 0
        assert before[i : i + size] == after[j : j + size]
        last_i, last_j = i + size, j + size


@given(LINES, LINES)
def test_long_gaps_give_right_diffs_too(before: list[str], after: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linediff, "_SHORT", 2)
        patch.setattr(linediff, "_WINDOW", 4)
        diff = list(unified_diff(before, after, "a", "b"))
    assert (patched(before, diff) if diff else before) == after


@settings(max_examples=20)
@given(before=LINES, after=LINES)
def test_git_applies_it(tmp_path_factory: pytest.TempPathFactory, before: list[str], after: list[str]) -> None:
    folder: Path = tmp_path_factory.mktemp("d")
    (folder / "f").write_text("".join(before))
    diff = "".join(unified_diff(before, after, "a/f", "b/f"))
    if diff and after:
        subprocess.run(["git", "apply", "--unidiff-zero", "-"], cwd=folder, input=diff.encode(), check=True)
        assert (folder / "f").read_text() == "".join(after)


@pytest.mark.parametrize("different", [50_000, 7_000, 60])
def test_many_changes_in_a_large_file(different: int) -> None:
    before = [f"line {number % different}\n" for number in range(50_000)]
    after = [line if number % 50 else "changed " + line for number, line in enumerate(before)]
    start = time.process_time()
    diff = list(unified_diff(before, after, "a", "b"))
    assert patched(before, diff) == after
    assert time.process_time() - start < 10
    assert sum(line.startswith("+") for line in diff) == 1001


def test_only_the_changed_lines_are_shown() -> None:
    before = [f"{number}\n" for number in range(20)]
    after = [*before[:10], "new\n", *before[11:]]
    assert list(unified_diff(before, after, "a", "b"))[2:] == [
        "@@ -8,7 +8,7 @@\n", " 7\n", " 8\n", " 9\n", "-10\n", "+new\n", " 11\n", " 12\n", " 13\n",
    ]  # fmt: skip
