"""What holds for every input: bytes outside of fixes stay, a second run is empty, and a kill leaves whole files."""

from __future__ import annotations

import ast
import codecs
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_tools import with_pack, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from notebook_tools import notebook, sources

from migrator.discover.sources import SourceFile, decode
from migrator.engine.engine import migrate_component
from migrator.engine.fixes import splice
from migrator.engine.registry import Registry
from migrator.vocabulary.diagnostics import Outcome
from migrator.vocabulary.settings import Settings

ONLY = Settings(select=("TST",))
LINES = [
    "tf.old",
    "x = tf.old, tf.old  # tf.old é",
    "tf.lines",
    "tf.gone.x",
    "tf.risky",
    "s = '''tf.old\n\ttf.lines'''",
    "if x:\n    tf.lines\n    tf.old",
    "y = (tf\n     .old)",
    "z = 'é\\n'; tf.old",
    "\x0c",
    "",
    "# tf.old",
    "w = f'{tf.old!r}'",
]
LETTERS = {
    **dict.fromkeys(("utf-8", "latin-1", "cp1252", "iso8859-15", "cp437", "mac-roman"), "é"),
    **{"koi8-r": "я", "cp1251": "ж", "iso8859-7": "λ", "cp1255": "ש", "tis-620": "ก", "hz": "汉"},
    **{
        "shift_jis": "表",
        "euc-jp": "日",
        "iso2022-jp": "日",
        "gb18030": "漢",
        "big5": "功",
        "euc-kr": "한",
        "johab": "한",
    },
}
"""A letter beyond ASCII in each encoding."""
bodies = st.lists(st.sampled_from(LINES), max_size=8)
slow = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def migrate(registry: Registry, path: str, raw: bytes) -> Outcome:
    """Migrate one file with the sample rules."""
    return migrate_component([decode(path, raw)], ONLY, registry)[0]


def encoded(lines: list[str], newlines: list[str], encoding: str, bom: bool) -> bytes:
    """A module with these lines; line ends take turns."""
    head = [f"# coding: {encoding}", "import tensorflow as tf", "x = 1"]
    text = "\n".join([*head, *lines])
    count = iter(range(10_000))
    text = re.sub("\n", lambda match: newlines[next(count) % len(newlines)], text)
    return (codecs.BOM_UTF8 if bom else b"") + text.encode(encoding)


@slow
@given(
    bodies,
    st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\r\n", "\n", "\n"]]),
    st.sampled_from([("utf-8", True), *((encoding, False) for encoding in LETTERS)]),
)
def test_modules(sample_rules: Registry, lines: list[str], newlines: list[str], form: tuple[str, bool]) -> None:
    letter = LETTERS[form[0]]  # in Shift JIS and Big 5, with bytes that mean `\\` and `|` alone
    raw = encoded([line.replace("é", letter) for line in lines], newlines, *form)
    outcome = migrate(sample_rules, "a.py", raw)
    source, result = decode("a.py", raw), decode("a.py", outcome.after)
    assert source.raw == source.encode() == outcome.before == raw
    assert (result.encoding, result.bom) == (source.encoding, source.bom)
    ast.parse(result.text)
    assert outcome.after == expected(source, outcome)
    assert comments(result.text) >= comments(source.text)
    again = migrate(sample_rules, "a.py", outcome.after)
    assert again.status == "unchanged" and again.after == outcome.after


def expected(source: SourceFile, outcome: Outcome) -> bytes:
    """The original with the edits of the reported fixes and nothing else."""
    newline = source.newline if source.mixed else "\n"
    edits = {edit for item in outcome.applied if item.fix for edit in item.fix.edits}
    data = splice(source.data, {type(e)(e.path, e.start, e.end, e.text.replace("\n", newline)) for e in edits})
    return source.with_data(data).raw


def comments(text: str) -> set[str]:
    """The comments that are not the sample rules' own."""
    return set(re.findall(r"# [ct]\S+ \S*", text))


@slow
@given(st.lists(bodies, max_size=4), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_notebooks(sample_rules: Registry, cells: list[list[str]], string: bool, indent: object) -> None:
    head = "%matplotlib inline\nimport tensorflow as tf\nx = 1"
    raw = notebook(head, *("\n".join(["!ls", *lines]) for lines in cells), indent=indent, string=string)
    outcome = migrate(sample_rules, "a.ipynb", raw)
    for old, new in zip(sources(raw), sources(outcome.after)):
        assert new.startswith(old[:3])  # the magic
        assert old == new or ".old" in old or "tf.lines" in old
    assert len(sources(raw)) == len(sources(outcome.after)) and raw.count(b"outputs") == outcome.after.count(b"outputs")
    assert migrate(sample_rules, "a.ipynb", outcome.after).after == outcome.after


KILL = """\
import os, sys
from migrator.vocabulary.diagnostics import Outcome
from migrator.write.writing import write_groups
root = sys.argv[1]
paths = [os.path.join(root, f"f{number:03}.py") for number in range(200)]
outcomes = [Outcome(path, "changed", b"old\\n" * 500, b"new\\n" * 500) for path in paths]
print("go", flush=True)
write_groups(outcomes, [[path] for path in paths], [os.path.realpath(root)])
"""


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1])
def test_a_kill_leaves_each_file_old_or_new(tmp_path: Path, delay: float) -> None:
    for number in range(200):
        (tmp_path / f"f{number:03}.py").write_bytes(b"old\n" * 500)
    with subprocess.Popen([sys.executable, "-c", KILL, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"go\n"
        time.sleep(delay)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(20)
    contents = {path.read_bytes() for path in tmp_path.glob("f*.py")}
    assert contents <= {b"old\n" * 500, b"new\n" * 500}
    assert len(list(tmp_path.glob("f*.py"))) == 200


def test_a_run_that_is_killed_is_undone_or_run_again(sample_folder: Path) -> None:
    for number in range(200):
        write(f"f{number:03}.py", "tf.old\n" + "# more\n" * 3000)
    before = (sample_folder / "f000.py").read_bytes()
    arguments = [sys.executable, "-m", "migrator", ".", "--apply"]
    partly = False
    for end in ("undo", "run again"):
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, **with_pack({})) as running:
            limit = time.monotonic() + 60
            while not list(sample_folder.glob(".f*tmp")) and running.poll() is None and time.monotonic() < limit:
                time.sleep(0.002)
            time.sleep(0.02 if end == "undo" else 0.05)
            running.kill()
        contents = [path.read_bytes() for path in sorted(sample_folder.glob("f*.py"))]
        after = before.replace(b"tf.old", b"tf.new")
        assert len(contents) == 200 and {*contents} <= {before, after}
        partly = partly or bool(list(sample_folder.glob(".f*tmp")))
        done = subprocess.run(
            [*arguments[:3], *(["--undo"] if end == "undo" else arguments[3:])],
            check=False,
            timeout=60,
            **with_pack({}),
        )
        assert done.returncode == 0
        assert {path.read_bytes() for path in sample_folder.glob("f*.py")} == {before if end == "undo" else after}
        assert not list(sample_folder.glob(".f*"))
    assert partly, "no kill came while files were written"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_full_disk_leaves_each_file_old_or_new(sample_folder: Path) -> None:
    small, large = write("a.py", "tf.old\n"), write("b.py", "tf.old\n" + "#" * 50_000)
    before = large.read_bytes()
    code = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"  # as if the disk were full
        "sys.argv = ['migrate', '.', '--apply', '--allow-dirty']\n"
        "runpy.run_module('migrator', run_name='__main__')\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **with_pack({}))
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert small.read_text().endswith("tf.new\n") and large.read_bytes() == before
    assert "b.py:1:1: E004 not written: File too large" in done.stdout, done.stdout
    assert (
        "cannot take this run back" in done.stderr and "--undo" not in done.stdout
    )  # the journal found no room either
    assert sorted(path.name for path in sample_folder.iterdir()) == ["a.py", "b.py", "pyproject.toml"]
