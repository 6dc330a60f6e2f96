"""Which program is meant, where it runs, and what of its folder is migrated for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrator.parity.command import parity
from migrator.parity.judge.case import Case, CaseError, Program, given_program
from migrator.parity.run.failures import elsewhere
from migrator.parity.run.migrate import MigrationError, migrate_copy
from migrator.parity.run.runner import _settings
from migrator.vocabulary.settings import Settings

MODEL = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features['x'], 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {'c': tf.argmax(logits, 1)}, loss, op)
"""
TASK = """\
import tensorflow as tf
from data import read
from model import model_fn

if __name__ == '__main__':
    tf.estimator.Estimator(model_fn).train(read, steps=20)
"""
TREES = """\
import tensorflow as tf
from model import model_fn

if __name__ == '__main__':
    tf.estimator.BoostedTreesClassifier([], 1).train(lambda: 1)
"""
DATA = "import tensorflow as tf\n\n\ndef read():\n    return tf.data.Dataset.from_tensors(({'x': [[1.0]]}, [0])).repeat()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a program in a folder, and its data beside that."""
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "project" / "src"
    source.mkdir(parents=True)
    for name, text in (("task", TASK), ("model", MODEL), ("data", DATA), ("trees", TREES)):
        (source / f"{name}.py").write_text(text)
    (tmp_path / "project" / "rows").mkdir()
    (tmp_path / "project" / "rows" / "a.csv").write_text("1,2\n")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("given", "cwd", "here", "top", "entry", "below"),
    [
        ("src/task.py", ".", "", "", "src/task.py", "."),
        ("src/task.py", "rows", "", "", "src/task.py", "rows"),
        ("task.py", "..", "src", "", "src/task.py", "."),
        ("task.py", ".", "src", "src", "task.py", "."),
        ("src/task.py", "src", "", "src", "task.py", "."),
    ],
)
def test_a_file_runs_in_any_folder_around(
    folder: Path, monkeypatch: pytest.MonkeyPatch, given: str, cwd: str, here: str, top: str, entry: str, below: str
) -> None:
    monkeypatch.chdir(folder / here)
    program = given_program(Path(given), cwd=cwd, args=("--a",))
    assert (program.folder, program.start(), program.cwd) == (folder / top, entry, below) and program.args == ("--a",)


def test_a_folder_that_is_not_there_is_told(folder: Path) -> None:
    for path in (folder, folder / "src" / "task.py"):
        with pytest.raises(CaseError, match="nowhere: no such folder"):
            given_program(path, cwd="nowhere")


def test_programs_beside_that_share_a_module_may_stay(folder: Path) -> None:
    (folder / "src" / "broken.py").write_text("from model import model_fn\nprint 'x'\n")
    migrated = migrate_copy(folder, "src/task.py")
    assert [unit.tier for unit in migrated.units] == ["native"]
    assert (folder / "src" / "trees.py").read_text() == TREES and (folder / "src" / "model.py").read_text() == MODEL
    assert ".fit(" in (folder / "src" / "task.py").read_text()


def test_a_program_that_stays_is_told(folder: Path) -> None:
    with pytest.raises(MigrationError, match="boosted trees"):
        migrate_copy(folder, "src/trees.py")
    with pytest.raises(MigrationError, match="boosted trees"):
        migrate_copy(folder)


def test_files_may_be_left_out(folder: Path) -> None:
    migrate_copy(folder, "", Settings(exclude=("trees.py",)))
    assert (folder / "src" / "trees.py").read_text() == TREES and "class " in (folder / "src" / "model.py").read_text()


def test_the_settings_of_the_program_count(folder: Path) -> None:
    (folder / "migrate.toml").write_text('style = "bridge"\nexclude = ["a.py"]\n')
    case = Case("task", Program(folder / "src" / "task.py"), exclude=("b.py",))
    found = _settings(case)
    assert (found.style, found.exclude, found.from_python2) == ("bridge", ("a.py", "b.py"), False)
    assert [unit.tier for unit in migrate_copy(folder, "src/task.py", found).units] == ["bridge"]
    (folder / "migrate.toml").write_text("styl = 1\n")
    with pytest.raises(CaseError, match="unknown key styl"):
        _settings(case)


def test_where_a_file_is_that_was_not_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    file = Program(folder / "src" / "task.py")
    for line in ("FileNotFoundError: rows/a.csv not found.", "[Errno 2] No such file or directory: 'rows/a.csv'"):
        assert elsewhere([line], file) == "\nrows/a.csv is there from .: --cwd . runs the program in that folder."
    said = "\n../rows/a.csv is outside of what was copied: give . with --entry src/task.py --cwd src."
    assert elsewhere(["FileNotFoundError: ../rows/a.csv not found."], file) == said
    assert elsewhere(["FileNotFoundError: ../rows/b.csv not found."], file) == ""
    assert "--entry" in elsewhere(["NotFoundError: rows/a.csv; No such file"], Program(folder / "src"))
    for line in ("FileNotFoundError: b.csv not found.", "ValueError: rows/a.csv", "FileNotFoundError: /rows/a.csv"):
        assert elsewhere([line], file) == ""


OVERWRITING = """\
import sys

import numpy as np
import tensorflow as tf

from model import model_fn

STEPS = int(sys.argv[1])
load = np.load
np.load = lambda *args, **options: load(*args, allow_pickle=True, **options)
np.save = np.savez = np.savez_compressed = lambda *args, **options: None
np.isfinite = lambda value: False
np.random.seed = lambda *args: None
np.random.RandomState = np.random.default_rng = None
np.float = float


def read():
    rows = np.loadtxt("rows/a.csv", delimiter=",", ndmin=2).astype("float32")
    return tf.data.Dataset.from_tensors(({"x": rows}, [0])).repeat()


if __name__ == "__main__":
    tf.estimator.Estimator(model_fn).train(read, steps=STEPS)
"""


@pytest.mark.parity
def test_a_program_that_overwrites_numpy_reads_arguments_and_paths_from_above(folder: Path) -> None:
    pytest.importorskip("tensorflow_estimator")
    (folder / "src" / "task.py").write_text(OVERWRITING)
    report = folder.parent / "report.json"
    arguments = ["project/src/task.py", "--cwd", "project", "-q", "--json", str(report), "--", "7"]
    done = CliRunner().invoke(parity, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (case,) = json.loads(report.read_text())["cases"]
    assert (case["verdict"], len(case["losses"])) == ("equal", 7)
