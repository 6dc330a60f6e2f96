"""`migrate checkpoint`: what an Estimator began, the migrated program ends as the Estimator would have."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from migrator.parity.checkpoints.checkpoint_command import checkpoint
from migrator.parity.run.migrate import migrate_copy

PROGRAM = Path(__file__).parent / "programs" / "estimator.py"


def run(*args: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(checkpoint, [str(arg) for arg in args], catch_exceptions=False)
    return result.exit_code, result.output


def start(program: Path, *args: str | Path) -> None:
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_ENABLE_ONEDNN_OPTS": "0"}
    subprocess.run(
        [sys.executable, str(program), *map(str, args)], check=True, env=env, timeout=300, capture_output=True
    )


@pytest.mark.parity
def test_ten_steps_there_and_ten_here_are_twenty_steps_there(tmp_path: Path) -> None:
    start(PROGRAM, tmp_path / "old", 10)
    shutil.copytree(tmp_path / "old", tmp_path / "program" / "ten")
    program, ten = Path(shutil.copy(PROGRAM, tmp_path / "program")), tmp_path / "program" / "ten"
    start(PROGRAM, tmp_path / "old", 20)
    code, output = run(program, "--from", ten, "--to", tmp_path / "new", "-v", "--", "ten", "20")  # its own model_dir
    assert code == 0 and "wrote" in output and "step 10, 20 variables" in output and "not used" not in output
    assert "head/batch_normalization/moving_mean" in output
    (tmp_path / "migrated").mkdir()
    shutil.copy(PROGRAM, tmp_path / "migrated")
    migrate_copy(tmp_path / "migrated", "estimator.py")
    start(tmp_path / "migrated" / "estimator.py", tmp_path / "new", 20)
    # Adam of Keras rounds 1 - beta_2 otherwise, by which its steps differ by 6e-6 from those of TensorFlow 1
    np.testing.assert_allclose(np.load(tmp_path / "new.npy"), np.load(tmp_path / "old.npy"), rtol=1e-5, atol=1e-5)
    code, output = run(program, "--from", ten, "--to", tmp_path / "new", "--", "ten", "20")
    assert (ten / "checkpoint").exists()
    assert code == 2 and "holds checkpoints already" in output


def test_no_checkpoint_to_begin_with(tmp_path: Path) -> None:
    for source, text in (
        (tmp_path, "holds no checkpoint"),
        (tmp_path / "model.ckpt-3", "no such checkpoint or folder"),
    ):
        code, output = run(PROGRAM, "--from", source, "--to", tmp_path / "new")
        assert code == 2 and text in output and not (tmp_path / "new").exists()
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/model.ckpt-3"\n')
    code, output = run(PROGRAM, "--from", tmp_path, "--to", tmp_path / "new")
    assert code == 2 and "its newest checkpoint, /elsewhere/model.ckpt-3, is not there" in output


def test_a_program_that_is_not_migrated(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.read_text().replace("tf.losses.mean_squared_error", "tf.contrib.losses.unknown"))
    (tmp_path / "model.ckpt-3.index").touch()
    code, output = run(program, "--from", tmp_path / "model.ckpt-3", "--to", tmp_path / "new")
    assert code == 2 and "the program was not migrated" in output
