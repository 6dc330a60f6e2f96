"""SyncReplicasOptimizer and towers against the strategies that replace them: the same losses and weights."""

from __future__ import annotations

import functools
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import old_program
from line_program import read_events
from replicating_programs import SYNC, TOWERS, new_program

keras_2 = pytest.mark.skipif(hasattr(tf.keras, "ops"), reason="Keras 3 does not train on several replicas")
MIRRORED = tf.distribute.MirroredStrategy
STEPS = 8
# TensorFlow 1.15.5 on `TOWERS` with batches of 8 on devices=["/cpu:0", "/cpu:1"]; losses are the means over both towers.
LOSSES = [2.56379843, 1.77819538, 2.07343674, 0.826465845, 1.14103162, 2.08883858, 0.815853, 1.14776587]
WEIGHTS = {
    "table": [
        *(-0.44298539, -0.31096449, -0.04374106, 0.08894733, 0.11195915, 0.23370555),
        *(0.36571598, 0.4887853, 0.59048623, 0.46491587, 0.96967381, 0.76879525),
    ],
    "hidden.bias": [-0.21682426, -0.17906547, 0.23001526, 0.23625129],
    "outputs_layer.kernel": [-0.7974214, -0.28858715, 0.50519824, 1.06159258],
    "outputs_layer.bias": [0.22412011],
}


@pytest.fixture(autouse=True)
def one_strategy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs share one: a process remembers the shapes that collective ops had, and a second strategy counts them anew."""
    monkeypatch.setattr(tf.distribute, "MirroredStrategy", mirrored)


@functools.lru_cache(maxsize=1)
def mirrored() -> tf.distribute.Strategy:
    return MIRRORED()


def trained(source: str, strategy: str, folder: Path, batch: int) -> tuple[list[float], dict[str, Any]]:
    """Losses by step and weights after the migrated program has trained."""
    program, models = new_program(source, strategy, folder), []
    create_model = program.create_model

    def create(*args: Any, **named: Any) -> Any:
        models.append(create_model(*args, **named))
        return models[0]

    program.create_model = create
    program.main({"model_dir": str(folder / "model"), "batch": batch, "shared": False})
    losses = read_events(folder / "model")["loss"]
    assert sorted(losses) == list(range(1, STEPS + 1))
    (model,) = models
    weights = {
        "table": getattr(model.table, "embeddings", model.table),  # a weight, or the layer that holds it
        "hidden.bias": model.hidden.bias,
        "outputs_layer.kernel": model.outputs_layer.kernel,
        "outputs_layer.bias": model.outputs_layer.bias,
    }
    return [losses[step] for step in sorted(losses)], {name: value.numpy().ravel() for name, value in weights.items()}


def assert_same(found: tuple[list[float], dict[str, Any]], losses: Any, weights: Any) -> None:
    np.testing.assert_allclose(found[0], losses, rtol=1e-5)
    for name, value in found[1].items():
        np.testing.assert_allclose(value, np.ravel(weights[name]), rtol=1e-5, atol=1e-7, err_msg=name)


@keras_2
@pytest.mark.parametrize(("strategy", "batch"), [("none", 8), ("mirrored", 4)])
def test_towers(tmp_path: Path, strategy: str, batch: int) -> None:
    """One device takes the whole batch; of several, each takes one as large as the part that a tower had."""
    assert_same(trained(TOWERS, strategy, tmp_path, batch), LOSSES, WEIGHTS)


def path_of(variable: Any) -> str:
    """What the migrated model calls a variable of the old program."""
    path: str = variable.op.name.replace("outputs/", "outputs_layer/").replace("/", ".")
    return path


def sync_replicas(
    folder: Path, workers: int, of_worker: Any, shared: bool = False
) -> tuple[list[float], dict[str, Any]]:
    """Mean losses of `workers` by step, and weights: sessions of SyncReplicasOptimizer that share one server's variables.

    `of_worker(dataset, workers, index)` are the batches that a worker gets; `shared`: the input_fn shares examples out.
    """
    v1, program = tf.compat.v1, old_program(SYNC, folder)
    server, losses = v1.train.Server.create_local_server(), np.zeros([STEPS, workers])
    weights: dict[str, Any] = {}
    together, initialized = threading.Barrier(workers), threading.Event()
    problems: list[BaseException] = []

    def work(index: int) -> None:
        config = types.SimpleNamespace(num_worker_replicas=workers, global_id_in_cluster=index, is_chief=index == 0)
        params = {"batch": 4, "shared": shared}
        with tf.Graph().as_default():
            v1.train.create_global_step()
            batches = of_worker(program.input_fn(params, config), workers, index)
            features, labels = v1.data.make_one_shot_iterator(batches).get_next()
            spec = program.model_fn(features, labels, "train", params, config)
            quiet: dict[str, Any] = dict.fromkeys(
                ("save_summaries_steps", "save_summaries_secs", "log_step_count_steps")
            )
            if index:  # which would look for variables every half a minute only
                initialized.wait(60)
            # The queue runner of the chief waits for further gradients, which do not come.
            with v1.train.MonitoredTrainingSession(
                server.target, index == 0, hooks=spec.training_hooks, stop_grace_period_secs=1, **quiet
            ) as session:
                initialized.set()
                for step in range(STEPS):
                    losses[step, index], _ = session.run([spec.loss, spec.train_op])
                    together.wait(60)
                if index == 0:
                    weights.update(session.run({path_of(v): v for v in v1.trainable_variables()}))
                together.wait(60)

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            problems.append(error)
            together.abort()

    threads = [threading.Thread(target=guarded, args=(index,), daemon=True) for index in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not problems and not any(thread.is_alive() for thread in threads), problems
    return list(losses.mean(axis=1)), weights


@keras_2
def test_sync_replicas_on_several_devices(tmp_path: Path) -> None:
    """Each device takes every other batch."""
    losses, weights = sync_replicas(tmp_path, 2, lambda dataset, workers, index: dataset.shard(workers, index))
    assert_same(trained(SYNC, "mirrored", tmp_path, 4), losses, weights)


def test_sync_replicas_on_one_device(tmp_path: Path) -> None:
    """Where there was one worker, it averaged nothing."""
    losses, weights = sync_replicas(tmp_path, 1, lambda dataset, workers, index: dataset)
    assert_same(trained(SYNC, "none", tmp_path, 4), losses, weights)


def test_a_row_that_some_workers_look_up() -> None:
    """What the migration of SyncReplicasOptimizer remarks: strategies take the mean over all workers."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        gradients = tf.compat.v1.SparseConditionalAccumulator(tf.float32, [3, 1])
        for rows, value in (([0, 1], 2.0), ([1, 2], 6.0)):
            session.run(gradients.apply_grad(rows, tf.fill([2, 1], value)))
        mean = session.run(gradients.take_grad(2))
    assert mean.values.ravel().tolist() == [2.0, 4.0, 6.0]
