"""Training with Horovod: by a stand-in of its API for one process, and by itself, where it is installed, for two."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure, report_batch_loss, train
from migrator.vocabulary.settings import Settings

PROGRAM = Path(__file__).resolve().parent / "horovod_program.py"
TWO = ["-m", "horovod.runner.launch", "-np", "2", "--gloo"]
OLD_SIDE = """
import os, runpy, sys
from migrator.parity.probe_entry import load_probe

load_probe("tf1.dialect").install(os.getcwd())
runpy.run_path("before.py", run_name="__main__")
"""


@pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Horovod has no optimizers for Keras 3")
def test_a_training_begins_with_the_variables_of_the_first_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process has done 15 of 20 steps, of which this one knows nothing."""
    package, horovod = types.ModuleType("horovod"), types.ModuleType("horovod.tensorflow")
    seen: list[tuple[set[str], int]] = []

    def broadcast_variables(variables: list[Any], root_rank: int) -> None:
        seen.append(({variable.name for variable in variables}, root_rank))
        for variable in variables:
            variable.assign(15 if "iteration" in variable.name else tf.fill(variable.shape, 3.0))

    package.tensorflow, horovod.broadcast_variables = horovod, broadcast_variables  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "horovod", package)
    monkeypatch.setitem(sys.modules, "horovod.tensorflow", horovod)
    monkeypatch.delitem(sys.modules, "migrator.runtime.checkpoints.variable_broadcasts", raising=False)
    broadcasts = importlib.import_module("migrator.runtime.checkpoints.variable_broadcasts")

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
    model.compile(
        tf.keras.optimizers.SGD(0.1, momentum=0.5), tf.keras.losses.MeanSquaredError(), steps_per_execution=100
    )
    report_batch_loss(model)
    configure(model, RunConfig(str(tmp_path), save_checkpoints_steps=100))

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensors((np.ones([2, 1], "f"), np.zeros([2, 1], "f"))).repeat()

    train(model, input_fn, max_steps=20, callbacks=[broadcasts.BroadcastVariables(0)])
    ((names, root),) = seen
    assert root == 0 and any("kernel" in name for name in names) and any("iteration" in name for name in names)
    assert int(model.optimizer.iterations) == 20
    weight, velocity = 3.0, 3.0
    for _ in range(5):
        velocity = 0.5 * velocity - 0.1 * 2 * weight
        weight += velocity
    np.testing.assert_allclose(model.get_weights()[0], [[weight]], rtol=1e-5)
    assert model.run_state.loss_alone  # steps may be grouped


@pytest.mark.parity
@pytest.mark.skipif(importlib.util.find_spec("horovod") is None, reason="Horovod is not installed")
def test_two_processes_train_as_before(tmp_path: Path, root: Path) -> None:
    source = decode("program.py", PROGRAM.read_bytes())
    outcomes = migrate_component([source], Settings())
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    (tmp_path / "old" / "before.py").write_bytes(PROGRAM.read_bytes())
    (tmp_path / "old" / "program.py").write_text(OLD_SIDE)
    for outcome in outcomes:
        (tmp_path / "new" / outcome.path).write_bytes(outcome.after)
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    for steps in (20, 30):  # the second time from a checkpoint
        losses = []
        for side in ("old", "new"):
            command = [sys.executable, *TWO, sys.executable, "program.py", f"--max_steps={steps}", "--model_dir=model"]
            environment = {**os.environ, "PYTHONPATH": path}
            done = subprocess.run(
                command, cwd=tmp_path / side, env=environment, text=True, capture_output=True, timeout=240
            )
            found = re.search(r"LOSS (\S+)", done.stdout)
            assert found, done.stdout[-1500:] + done.stderr[-1500:]
            losses.append(float(found[1]))
        assert losses[1] == pytest.approx(losses[0], rel=1e-5)
