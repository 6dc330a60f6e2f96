"""Why the rewrite of a program was not applied."""

from __future__ import annotations

from migrator.engine.fixes import refusal
from migrator.vocabulary.diagnostics import Diagnostic, Edit, Fix, Location, ProgramUnit
from migrator.vocabulary.units import Units


def fix(*spans: tuple[int, int]) -> Fix:
    return Fix("rewrite", tuple(Edit("a.py", start, end, "x") for start, end in spans))


def line(edit: Edit) -> str:
    return f"{edit.path}:{edit.start}"


def test_changes_of_one_rewrite_that_overlap_are_named() -> None:
    assert refusal(fix((1, 5), (9, 12), (10, 20)), (), line) == "two of its own changes overlap, at a.py:9 and a.py:10"
    assert refusal(fix((1, 5), (9, 12)), (), line) == ""


def test_the_change_that_came_first_is_named() -> None:
    first = Diagnostic("EST003", "renamed", Location("a.py", 7, 2), fix((3, 6)))
    other = Diagnostic("EST004", "renamed", Location("a.py", 9, 2), fix((30, 36)))
    assert refusal(fix((1, 5)), (other, first), line) == "it changes the same code as EST003 at a.py:7:2"
    assert refusal(fix((10, 15)), (other, first), line) == ""


def test_the_report_says_why() -> None:
    for refused, text in (
        ({("EST100", "a.py"): "two clash"}, "its rewrite was not applied: two clash (could become native)"),
        ({}, "its rewrite was not applied (could become native)"),
    ):
        units = Units()
        units.settle([("EST100", ProgramUnit("model_fn", Location("a.py", 1, 1), "native"))], (), refused)
        assert [unit.reason for unit in units.of("a.py")] == [text]
