"""Review on a real terminal: a pseudo-terminal, with the command in a process of its own and keys that are typed."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from cli_tools import HEAD, write
from terminal_tools import Terminal

pytestmark = pytest.mark.usefixtures("sample_folder")
PROMPT = "Make this change? [y,n,a,A,d,e,s,v,b,q,?] "


@pytest.fixture
def files(sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three changes in two files."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.parent / f"{tmp_path.name}-state"))
    write("a.py", "x = tf.old\ny = tf.old\n")
    write("b.py", "tf.lines\n")


def bodies() -> list[str]:
    """What is in the files."""
    return [Path(name).read_text()[len(HEAD) :] for name in ("a.py", "b.py")]


BEFORE = ["x = tf.old\ny = tf.old\n", "tf.lines\n"]
LINES = "# one\n# two\ntf.placed\n"


@pytest.mark.parametrize(
    ("keys", "after"),
    [
        ("yny", ["x = tf.new\ny = tf.old\n", LINES]),
        ("an", ["x = tf.new\ny = tf.new\n", "tf.lines\n"]),
        ("An", ["x = tf.new\ny = tf.new\n", "tf.lines\n"]),
        ("dy", ["x = tf.old\ny = tf.old\n", LINES]),
        ("ybnyn", ["x = tf.old\ny = tf.new\n", "tf.lines\n"]),
    ],
)
@pytest.mark.usefixtures("files")
def test_keys(keys: str, after: list[str]) -> None:
    terminal = Terminal(".", "--review")
    for key in keys:
        terminal.until(PROMPT)
        terminal.type(key)
    assert terminal.close() == int(after != ["x = tf.new\ny = tf.new\n", LINES])
    assert bodies() == after


@pytest.mark.usefixtures("files")
def test_what_is_shown_of_a_change() -> None:
    terminal = Terminal(".", "--review")
    shown = terminal.until(PROMPT)
    assert "(1 of 3) a.py:2:5: TST001 rename: old is new now" in shown
    assert "-x = tf.old" in shown and "+x = tf.new" in shown and "y = tf.new" not in shown
    terminal.type("?")
    assert "q - quit; nothing is written" in terminal.until(PROMPT)
    terminal.type("q")
    assert terminal.close() == 1 and bodies() == BEFORE


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("end", ["q", "", "ctrl-c"])
def test_a_review_that_ends_early_writes_nothing_and_goes_on_later(end: str) -> None:
    terminal = Terminal(".", "--review")
    terminal.until(PROMPT)
    terminal.type("y")
    terminal.until(PROMPT)
    if end == "ctrl-c":
        os.killpg(terminal.process.pid, signal.SIGINT)
    elif end:
        terminal.type(end)
    else:
        os.write(terminal.master, b"\x04")
    assert terminal.close() == (130 if end == "ctrl-c" else 1) and bodies() == BEFORE
    terminal = Terminal(".", "--review", "--resume")
    assert "(2 of 3)" in terminal.until(PROMPT)
    terminal.type("n")
    terminal.until(PROMPT)
    terminal.type("n")
    assert terminal.close() == 1 and bodies() == ["x = tf.new\ny = tf.old\n", "tf.lines\n"]


@pytest.mark.usefixtures("files")
def test_an_editor_has_the_terminal(tmp_path: Path) -> None:
    editor = tmp_path.parent / f"{tmp_path.name}-editor.py"
    editor.write_text(
        "import sys\nname = sys.argv[1]\ninput('in the editor: ')\ntext = open(name).read()\n"
        "open(name, 'w').write(text.replace('x = tf.new', 'x = tf.new  # mine'))\n"
    )
    terminal = Terminal(".", "--review", EDITOR=f"{sys.executable} {editor}", VISUAL="")
    terminal.until(PROMPT)
    terminal.type("e")
    terminal.until("in the editor: ")
    terminal.type("")
    for _ in range(2):
        terminal.until(PROMPT)
        terminal.type("n")
    terminal.close()
    assert bodies()[0] == "x = tf.new  # mine\ny = tf.old\n"


def test_a_program_is_split() -> None:
    write("p/model.py", "def program(): 1\ntf.old\n")
    write("p/task.py", "import model\ntf.old\n")
    terminal = Terminal(".", "--review")
    assert "(1 of 1)" in terminal.until(PROMPT)
    terminal.type("s")
    for key in "nyn":
        assert "of 3)" in terminal.until(PROMPT)
        terminal.type(key)
    terminal.close()
    assert Path("p/model.py").read_text() == HEAD + "def program(): 1\ntf.new\n"
    assert Path("p/task.py").read_text() == "import tensorflow as tf\nimport model\ntf.old\n"


@pytest.mark.usefixtures("files")
def test_a_review_starts_anew_where_that_is_asked_for() -> None:
    terminal = Terminal(".", "--review")
    terminal.until(PROMPT)
    terminal.type("y")
    terminal.until(PROMPT)
    terminal.type("q")
    assert terminal.close() == 1
    terminal = Terminal(".", "--review", "--no-resume")
    assert "(1 of 3)" in terminal.until(PROMPT)
    terminal.type("q")
    terminal.close()


def test_a_long_change_is_shown_in_part_and_viewed_whole() -> None:
    write("a.py", "def program(): 1\n" + "tf.old\n" * 100)
    terminal = Terminal(".", "--review", LINES="20", PAGER="cat")
    shown = terminal.until(PROMPT)
    assert shown.count("-tf.old") < 12 and "more lines; v shows the whole change" in shown and "(1 of 1)" in shown
    terminal.type("v")
    assert terminal.until(PROMPT).count("-tf.old") > 100
    terminal.type("q")
    assert terminal.close() == 1


@pytest.mark.usefixtures("files")
def test_a_review_without_a_state_folder_says_so_when_it_is_quit() -> None:
    terminal = Terminal(".", "--review", XDG_STATE_HOME=os.devnull)
    for key in "yq":
        terminal.until(PROMPT)
        terminal.type(key)
    assert terminal.until("The answers could not be kept.").endswith("Nothing written. ") and terminal.close() == 1
