"""The option: both diffs, one entry of the journal, reports, and what is said."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli_tools import invoke, process
from notebook_tools import notebook, sources

from migrator.cli import running
from migrator.python2 import converting

TASK = """\
import tensorflow as tf

import rows


def show(n):
    print "half of", n / 2, tf.log(2.0)


for row in rows.read():
    show(row)
"""
ROWS = "def read():\n    return map(len, ['a', 'bc'])\n"
CONVERTED = TASK.replace('print "half of", n / 2, tf.log(2.0)', 'print("half of", n / 2, tf.log(2.0))')
MIGRATED = CONVERTED.replace("tf.log", "tf.math.log")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.py").write_text(TASK)
    Path("rows.py").write_text(ROWS)
    Path("apart.py").write_text(ROWS)


def test_without_the_option_it_is_named() -> None:
    result = invoke("task.py")
    assert result.exit_code == 1 and "this looks like Python 2" in result.output and "--from-python2" in result.output


def test_both_diffs_are_shown() -> None:
    result = invoke(".", "--from-python2")
    first, second = result.output.split("--- a/task.py")[1:]
    assert (
        first.startswith("\tPython 2\n+++ b/task.py\tPython 3\n") and "+    print(" in first and "tf.math" not in first
    )
    assert (
        second.startswith("\tPython 3\n+++ b/task.py\tTensorFlow 2\n") and "+" in second and 'print "half' not in second
    )
    assert "list(map(len" in result.output and "apart.py" not in result.output
    assert "task.py:7:22: E017 `/` of two integers was whole" in result.output
    assert Path("task.py").read_text() == TASK


def test_both_are_written_and_taken_back() -> None:
    result = invoke(".", "--from-python2", "--apply")
    assert "task.py:7:22: E017" in result.output
    assert Path("task.py").read_text() == MIGRATED and "list(map(" in Path("rows.py").read_text()
    assert invoke(".", "--from-python2", "-q").output.startswith("\n3 files: 0 changes")
    assert invoke("--undo").exit_code == 0
    assert (Path("task.py").read_text(), Path("rows.py").read_text()) == (TASK, ROWS)


def test_the_patch_is_whole() -> None:
    patch = invoke(".", "--from-python2", "--format", "diff").output
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True, cwd=".")
    assert Path("task.py").read_text() == MIGRATED


def test_records_have_edits_of_the_original() -> None:
    found = json.loads(invoke(".", "--from-python2", "--format", "json").output)
    changes = {item["code"]: item for file in found["files"] for item in file["applied"] if file["path"] == "task.py"}
    (edit,) = changes["E017"]["fix"]["edits"]
    lines = TASK.splitlines()
    line = lines[edit["start"]["line"] - 1]
    assert line[: edit["start"]["column"] - 1] + edit["text"] + line[edit["end"]["column"] - 1 :] in CONVERTED
    assert changes["EST001"]["location"]["line"] == 7
    assert '"results"' in invoke(".", "--from-python2", "--format", "sarif").output


def test_a_commit_of_its_own() -> None:
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "all"]):
        subprocess.run(["git", *command], check=True)
    subprocess.run(["git", "config", "user.name", "a"], check=True)
    subprocess.run(["git", "config", "user.email", "a"], check=True)
    assert invoke(".", "--from-python2", "--apply", "--commit-per-rule").exit_code == 1
    log = subprocess.run(["git", "log", "--format=%s", "--reverse"], check=True, capture_output=True, text=True).stdout
    assert "(E017)" in log.splitlines()[1] and len(log.splitlines()) == 3
    shown = subprocess.run(["git", "show", "HEAD~1:task.py"], check=True, capture_output=True, text=True).stdout
    assert shown == CONVERTED


def test_a_review_may_decline_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "interactive", lambda: True)
    result = invoke("task.py", "--from-python2", "--review", stdin=b"y\nn\n")
    assert Path("task.py").read_text() in (CONVERTED, MIGRATED), result.output
    Path("task.py").write_text(TASK)
    invoke("task.py", "--from-python2", "--review", "--no-resume", stdin=b"n\nn\n")
    assert Path("task.py").read_text() == TASK


def test_the_settings_may_say_it() -> None:
    Path("migrate.toml").write_text("from-python2 = true\n")
    assert "+++ b/task.py\tPython 3" in invoke(".").output


def test_a_named_file_that_is_not_converted_is_told() -> None:
    assert "rows.py:1:1: E017 not converted" in invoke("rows.py", "--from-python2").output
    assert "not converted" not in invoke("task.py", "rows.py", "--from-python2").output
    assert "not converted" not in invoke(".", "--from-python2").output
    Path("task.py").write_text("print 'a' b (\n")
    assert "E001 neither" in invoke("task.py", "--from-python2").output


def test_standard_input() -> None:
    result = invoke("-", "--from-python2", "--apply", stdin=TASK.encode())
    assert result.stdout == MIGRATED


def test_without_fissix_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "available", lambda: False)
    result = invoke(".", "--from-python2")
    assert result.exit_code == 2 and "estimator-migrator[python2]" in result.output + result.stderr
    assert invoke("rows.py").exit_code == 0


def test_a_program_that_stays_is_converted_still() -> None:
    Path("task.py").write_text("import tensorflow as tf\nprint tf.estimator.BoostedTreesClassifier([], 1)\n")
    invoke(".", "--from-python2", "--apply")
    assert Path("task.py").read_text() == "import tensorflow as tf\nprint(tf.estimator.BoostedTreesClassifier([], 1))\n"


def test_the_place_of_a_program_is_in_the_text_that_is_there() -> None:
    Path("task.py").write_text(
        "from itertools import izip\nimport tensorflow as tf\nprint reduce(max, [1])\n\n\ndef fn(features, labels, mode):\n"
        "    loss = tf.losses.absolute_difference(labels, tf.layers.dense(features['x'], 1))\n"
        "    op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())\n"
        "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op)\n\n\ntf.estimator.Estimator(fn).train(read)\n"
    )
    assert "task.py:12:1: program fn" in invoke(".", "--from-python2").output


def test_cells_of_a_notebook() -> None:
    raw = notebook(
        "%matplotlib inline\nprint reduce(max, [1])", "import tensorflow as tf", "!ls\nprint tf.log(1.0)\ntf.log?"
    )
    Path("a.ipynb").write_bytes(
        raw.replace(b'"metadata": {"language', b'"metadata": {"kernelspec": {"name": "python2"}, "language')
    )
    result = invoke("a.ipynb", "--from-python2", "--apply")
    assert sources(Path("a.ipynb").read_bytes()) == [
        "%matplotlib inline\nfrom functools import reduce\nprint(reduce(max, [1]))",
        "import tensorflow as tf",
        "!ls\nprint(tf.math.log(1.0))\ntf.log?",
    ], result.output


def test_more_of_it_is_told_as_a_file_that_stays() -> None:
    Path("task.py").write_text("import tensorflow as tf\nprint 'a' b (\n")
    assert "E001 neither Python 3" in invoke(".", "--from-python2").output


def test_what_nobody_can_know_is_named() -> None:
    Path("task.py").write_text(
        "import random, pickle\nimport tensorflow as tf\nprint round(2.5), tf.zeros\nrandom.shuffle(xs)\nx = cmp(1, f())\n"
        "d = pickle.load(open('a', 'rb'))\ny = [x for x in d.items()]\nprint x\nclass A:\n    def __cmp__(self, o): pass\n"
    )
    said = invoke(".", "--from-python2", "-q").output
    for line, word in (
        (3, "halves"),
        (4, "same seed"),
        (5, "cmp"),
        (6, "latin1"),
        (6, "bytes"),
        (7, "order"),
        (8, "list comp"),
        (10, "__lt__"),
    ):
        assert any(row.startswith(f"task.py:{line}:") and word in row for row in said.splitlines()), (line, word, said)


def test_a_cache_that_cannot_be_written_is_no_obstacle() -> None:
    Path("file").write_text("")
    done = process("task.py", "--from-python2", "-q", env={"XDG_CACHE_HOME": str(Path("file").resolve())})
    assert done.returncode == 1 and b"1 file: 2 changes" in done.stdout, done.stderr
