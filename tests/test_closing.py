"""The end of the report: what is said, in which order, and what is not said twice."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from migrator.report.closing import FEW, MANY, closing, findings, next_step, units
from migrator.vocabulary.diagnostics import Diagnostic, Location, Outcome, ProgramUnit, Severity


def note(line: int, code: str = "EST005", severity: Severity = Severity.INFO) -> Diagnostic:
    return Diagnostic(code, f"about line {line}", Location("a.py", line, 1), severity=severity)


def outcome(*remaining: Diagnostic, status: str = "unchanged", units: tuple[ProgramUnit, ...] = ()) -> Outcome:
    return Outcome("a.py", status, b"x", b"y", remaining=remaining, units=units)


def unit(tier: str, reason: str = "") -> ProgramUnit:
    return ProgramUnit("model_fn", Location("a.py", 7, 1), tier, reason, ("a.py",))


def texts(*outcomes: Outcome, verbosity: int = 0) -> list[str]:
    return [line.text for line in closing(outcomes, verbosity)]


def test_what_is_left_comes_after_notes_and_programs() -> None:
    warning = note(1, "EST100", Severity.WARNING)
    lines = texts(outcome(note(9), warning, units=(unit("manual", "too hard"),)))
    assert lines[:8] == [
        "",
        "Notes",
        "a.py:9:1: EST005 about line 9",
        "",
        "Programs",
        "a.py:7:1: program model_fn: manual: too hard",
        "",
        "Left to you",
    ]
    assert lines[8] == "a.py:1:1: EST100 about line 1" and lines[-1].startswith("Next: `migrate explain EST100`")


def test_empty_sections_have_no_heading() -> None:
    assert texts(outcome()) == ["", "1 file: 0 changes."]


def test_many_notes_of_a_code_are_cut_and_counted() -> None:
    some = [note(number) for number in range(1, MANY + 2)]
    lines = texts(outcome(*some, note(1, "EST100")))
    assert sum("EST005 about" in line for line in lines) == FEW and "a.py:1:1: EST100 about line 1" in lines
    assert f"{MANY + 1 - FEW} more notes of EST005: -v lists them, `migrate explain EST005` explains them" in lines
    assert sum("EST005 about" in line for line in texts(outcome(*some), verbosity=1)) == MANY + 1


def test_what_needs_somebody_is_never_cut() -> None:
    some = [note(number, "EST100", Severity.WARNING) for number in range(1, 40)]
    assert sum("EST100 about" in line for line in texts(outcome(*some))) == 39


def test_a_reason_does_not_repeat_the_file_of_its_line() -> None:
    rows = {
        "here (a.py:7)": "here",
        "there (a.py:30)": "there (line 30)",
        "elsewhere (b.py:3)": "elsewhere (b.py:3)",
    }
    for reason, shown in rows.items():
        (line,) = units([outcome(units=(unit("bridge", reason),))])
        assert line.text == f"a.py:7:1: program model_fn: bridge: {shown}"


def test_next_steps() -> None:
    pending = outcome(status="changed", units=(unit("native"),))
    assert "migrate parity a.py" in next_step([pending]) and "--review" in next_step([pending])
    assert "parity" not in next_step([outcome(status="changed", units=(unit("manual"),))])
    assert "migrate --undo" in next_step([pending], ["a.py"])
    assert "--since" not in next_step([pending], ["a.py"]), "no repository"
    assert next_step([outcome()]) == next_step([outcome(note(3))]) == next_step([outcome()], []) == ""
    assert "explain EST100" in next_step([outcome(note(1, "EST100", Severity.WARNING))], ["a.py"])
    several = replace(pending, units=(replace(unit("native"), files=("a.py", "b c.py")),))
    assert "migrate parity FILE" in next_step([several])
    started = Outcome("b c.py", "unchanged", b"if __name__ == '__main__':")
    assert "migrate parity 'b c.py'" in next_step([several, started])


@pytest.mark.parametrize(("kind", "shown"), [("tracked", True), ("ignored", False), ("no repository", False)])
def test_git_is_named_only_where_it_has_the_file(
    kind: str, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("y")
    if kind != "no repository":
        subprocess.run(["git", "init", "-q"], check=True)
    if kind == "ignored":
        Path(".gitignore").write_text("a.py\n")
    step = next_step([outcome(status="changed", units=(unit("native"),))], ["a.py"])
    assert ("`migrate parity --since HEAD a.py`" in step) is shown
    assert ("`git diff`" in step) is shown and ("the only way" in step) is not shown
    assert "`migrate --undo`, from this folder, takes it back" in step
    assert "`git log -p`" in next_step([outcome(status="changed")], ["a.py"], committed=True)


def test_editors_get_lines_without_headings() -> None:
    assert [line.text for line in findings([outcome(note(3))])] == ["a.py:3:1: EST005 about line 3"]
