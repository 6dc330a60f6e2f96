"""The codemod of libcst writes what `migrate FILE --apply` writes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext, SkipFile

from migrator.codemod import EstimatorToKeras

OLD = "import tensorflow as tf\n\ntf.train.Saver()\nx = tf.to_float( y )  # why\n"


def codemod(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the tool of libcst."""
    command = [sys.executable, "-m", "libcst.tool", "codemod", "-x", "migrator.codemod.EstimatorToKeras"]
    command += ["--no-format", "--jobs", "1", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", ["partitioners/min_max", "input/csv_dataset"])
def test_it_writes_what_migrate_writes(root: Path, tmp_path: Path, case: str) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        shutil.copy(root / "fixtures" / case / "before.py", tmp_path / name / "task.py")
    ours = [sys.executable, "-m", "migrator", "task.py", "--apply", "--allow-dirty"]
    assert subprocess.run(ours, cwd=tmp_path / "ours", capture_output=True, timeout=120).returncode in (0, 1)
    done = codemod(tmp_path / "theirs", "task.py")
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "theirs") == files(tmp_path / "ours")
    assert files(tmp_path / "ours")["task.py"] != (root / "fixtures" / case / "before.py").read_bytes()


def test_a_look_writes_nothing(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / "fixtures/distribution/sharded_tables/before.py", tmp_path / "task.py")
    before = files(tmp_path)
    done = codemod(tmp_path, "--unified-diff", "--no-helpers", "task.py")
    assert "\n+" in done.stdout and "WARNING: the program also needs tf2_cluster.py, tf2_training.py" in done.stderr
    assert files(tmp_path) == before


def test_what_is_left_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OLD + "tf.contrib.lookup.strange(x)\n")
    done = codemod(tmp_path, "a.py")
    assert "x = tf.cast( y, tf.float32 )  # why\ntf.contrib.lookup.strange(x)\n" in (tmp_path / "a.py").read_text()
    assert "a.py:5:1: EST" in done.stderr


def test_a_file_without_tensorflow_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\n")
    assert codemod(tmp_path, "a.py").returncode == 0
    assert (tmp_path / "a.py").read_bytes() == b"x = 1\r\n"


def test_in_memory() -> None:
    module = EstimatorToKeras(CodemodContext()).transform_module(cst.parse_module(OLD))
    assert "tf.cast( y, tf.float32 )  # why" in module.code


def test_wrong_settings_are_said(tmp_path: Path) -> None:
    (tmp_path / "migrate.toml").write_text("unknown = 1\n")
    command = EstimatorToKeras(CodemodContext(filename=str(tmp_path / "a.py")))
    with pytest.raises(SkipFile, match="unknown key"):
        command.transform_module(cst.parse_module(OLD))
