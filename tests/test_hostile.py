"""Code that is looked at never runs: whatever it says, wherever it stands, in whatever the tool does with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TOUCH = "__import__('os').system('touch ran')"

PROGRAM = f"""\
import os
import tensorflow as tf
import evil
from evil import *

{TOUCH}
exec("open('ran', 'w').close()")
SIZE = {TOUCH} or 4


class Meta(type):
    def __new__(cls, *args):
        {TOUCH}
        return super().__new__(cls, *args)


class Config(metaclass=Meta):
    units = {TOUCH} or 4


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], {TOUCH} or SIZE, name=f"{{eval({TOUCH!r})}}")
    logits = tf.layers.dense(net, Config.units)
    if {TOUCH} or mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.AdamOptimizer(eval("0.1")).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, params={{"x": {TOUCH}}})
estimator.train(lambda: evil.data(), steps={TOUCH} or 3)
open("ran", "w").close()
"""

WATCHED = """\
import os, sys
folder = os.path.realpath(os.curdir)

def watch(event, arguments):
    code = arguments[0] if event == "exec" else None
    if code is not None and (code.co_filename.startswith(folder) or {"__import__", "ran"} & {*code.co_names, *code.co_consts}):
        os.write(2, f"ran code of {code.co_filename}".encode())
    elif event in ("os.system", "os.exec", "pty.spawn", "ctypes.dlopen", "pickle.find_class"):
        os.write(2, f"{event} {arguments}".encode())
    elif event == "subprocess.Popen" and os.path.basename(str(arguments[0])) != "git":
        os.write(2, f"{event} {arguments}".encode())
    elif event == "import" and arguments[0].partition(".")[0] in ("evil", "tensorflow"):
        os.write(2, f"imported {arguments[0]}".encode())

from migrator.cli import cli
sys.addaudithook(watch)
sys.argv = ["migrate", *sys.argv[1:]]
cli.main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tree of which every part would leave a file called `ran` behind if it were run."""
    (tmp_path / "task.py").write_text(PROGRAM)
    (tmp_path / "evil.py").write_text("open('ran', 'w').close()\n\n\ndef data():\n    return None\n")
    (tmp_path / "__init__.py").write_text("open('ran', 'w').close()\n")
    (tmp_path / "conftest.py").write_text("open('ran', 'w').close()\n")
    (tmp_path / "setup.py").write_text("open('ran', 'w').close()\n# tensorflow==1.15\n")
    lines = ["!touch ran\n", "%run evil.py\n", "%%bash\ntouch ran\n", PROGRAM]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": x} for x in lines]
    book = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    (tmp_path / "migrate.toml").write_text('exclude = ["$(touch ran)", "`touch ran`"]\n')
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["."],
        [".", "--apply"],
        [".", "--assess"],
        [".", "--style", "bridge", "--unsafe"],
        [".", "--strategy", "mirrored", "--features", "preprocessing", "--format", "html", "-o", "page.html"],
        ["task.py", "-j", "2", "--format", "sarif"],
    ],
    ids=" ".join,
)
def test_nothing_of_the_code_is_run(folder: Path, arguments: list[str]) -> None:
    environment = {**os.environ, "EDITOR": "touch ran", "PAGER": "touch ran"}
    command = [sys.executable, "-c", "import sys; del sys.path[0]\n" + WATCHED, *arguments]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert "ran code" not in done.stderr and "imported" not in done.stderr and "Popen" not in done.stderr, done.stderr
    assert "os." not in done.stderr and not (folder / "ran").exists()


def test_the_watch_sees_what_runs(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("import os\nos.system('true')\n")
    code = WATCHED.replace("cli.main()", "sys.path.insert(0, folder)\nimport evil")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert "ran code of" in done.stderr and "imported evil" in done.stderr and "os.system" in done.stderr
