"""What the command prints on terminals and elsewhere: colours, wrapping, and code that looks like markup."""

from __future__ import annotations

import io
import re

import pytest
from cli_tools import invoke, write

from migrator.engine.registry import Registry
from migrator.report import text
from migrator.vocabulary.diagnostics import Outcome

pytestmark = pytest.mark.usefixtures("sample_folder")

HOSTILE = "s = '[red]x[/red] [bold]'  # [/] :smile: \\[b]\nx = tf.old  # \x1b[31m\n"


def test_code_is_never_read_as_markup(sample_rules: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py", HOSTILE)
    plain = invoke("a.py").output
    assert "\x1b[31m" in plain and "[red]x[/red] [bold]'  # [/] :smile: \\[b]" in plain
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = invoke("a.py").output
    assert "\x1b[3" in coloured and "\x1b[31m\n" not in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert stripped == plain.replace("\x1b", "\\x1b")


def test_no_color_wins(sample_rules: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    write("a.py", "tf.old\n")
    assert "\x1b" not in invoke("a.py").output


def test_long_lines_are_not_wrapped(sample_rules: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    write("a.py", "x = tf.old, '" + "y " * 500 + "'\n")
    assert "y " * 500 in invoke("a.py").output


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_control_characters_do_not_act_on_terminals() -> None:
    line = text.Line("x = 1  # \x1b]0;title\x07\r", verbatim=True)
    shown, piped = Terminal(), io.StringIO()
    text.print_lines([line], shown, colour=False)
    text.print_lines([line], piped, colour=False)
    assert shown.getvalue() == "x = 1  # \\x1b]0;title\\x07\n" and piped.getvalue() == line.text + "\n"


@pytest.mark.parametrize("colour", [False, True])
def test_prose_is_wrapped_at_words_on_terminals_only(monkeypatch: pytest.MonkeyPatch, colour: bool) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    lines = [text.Line("some/path.py:10:1: " + "word " * 9 + "x" * 40), text.Line("+" + "code " * 9, verbatim=True)]
    terminal, pipe = Terminal(), io.StringIO()
    text.print_lines(lines, terminal, colour)
    text.print_lines(lines, pipe, colour)
    shown, piped = (re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines() for stream in (terminal, pipe))
    assert piped == [line.text for line in lines]
    assert shown[0] == "some/path.py:10:1: word word" and shown[1].startswith("  word word")
    assert shown[-2:] == ["  " + "x" * 40, lines[1].text]


def test_summary_counts() -> None:
    outcomes = [Outcome("a.py", "created", b"", b"x"), Outcome("b.py", "unchanged"), Outcome("c.py", "unchanged")]
    assert text.summary(outcomes) == "2 files: 0 changes. Nothing written; --apply writes."
    assert text.summary(outcomes[1:], []) == "2 files: 0 changes. Nothing to write."
    assert text.summary(outcomes, ["a.py"]) == "2 files: 0 changes. 1 file written."
