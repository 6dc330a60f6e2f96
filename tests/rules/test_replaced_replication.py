"""``--strategy`` in place of SyncReplicasOptimizer, towers and Horovod."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import joined

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

HOROVOD = """import horovod.tensorflow as hvd
import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.AdamOptimizer(0.001 * hvd.size())
    optimizer = hvd.DistributedOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    dataset = tf.data.Dataset.from_tensor_slices(load())
    dataset = dataset.shard(hvd.size(), hvd.rank())
    return dataset.repeat().batch(32)


def main(_):
    hvd.init()
    session = tf.ConfigProto()
    session.gpu_options.allow_growth = True
    session.gpu_options.visible_device_list = str(hvd.local_rank())
    model_dir = FLAGS.model_dir if hvd.rank() == 0 else None
    config = tf.estimator.RunConfig(model_dir=model_dir, session_config=session)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={})
    hooks = [hvd.BroadcastGlobalVariablesHook(0)]
    estimator.train(input_fn, steps=FLAGS.steps // hvd.size(), hooks=hooks)
    if hvd.rank() == 0:
        print("trained")


tf.app.run(main)
"""
REPLICAS = "tf.distribute.get_strategy().num_replicas_in_sync"
GPUS = 'max(1, len(tf.config.experimental.list_physical_devices("GPU")))'
SYNC = """import tensorflow as tf


def model_fn(features, labels, mode, params, config):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.AdagradOptimizer(0.1)
    hooks = []
    if params["sync"]:
        optimizer = tf.train.SyncReplicasOptimizer(
            optimizer, replicas_to_aggregate=config.num_worker_replicas, total_num_replicas=config.num_worker_replicas)
        hooks.append(optimizer.make_session_run_hook(config.is_chief))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, training_hooks=hooks)


estimator = tf.estimator.Estimator(model_fn, params={"sync": True})
"""
TOWERS = """import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.AdagradOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn=tf.contrib.estimator.replicate_model_fn(model_fn))
"""


def migrated(text: str, strategy: str) -> tuple[str, list[str]]:
    """What becomes of a program, and the reasons if it stays."""
    outcomes = migrate_component([decode("program.py", text.encode())], Settings(strategy=strategy))
    (program,) = (outcome for outcome in outcomes if outcome.path == "program.py")
    manual = [unit.reason for unit in program.units if unit.tier == "manual"]
    assert manual or all(unit.tier == "native" for unit in program.units), program.units
    return program.after.decode(), manual


@pytest.mark.parametrize(
    ("strategy", "rate", "steps", "chosen"),
    [
        ("none", "0.001", "FLAGS.steps // 1", ""),
        ("mirrored", f"0.001 * {REPLICAS}", f"FLAGS.steps // {GPUS}", ", strategy=tf.distribute.MirroredStrategy()"),
        (
            "multi_worker",
            f"0.001 * {REPLICAS}",
            f"FLAGS.steps // (current_task().num_worker_replicas * {GPUS})",
            ", strategy=multi_worker_strategy()",
        ),
    ],
)
def test_horovod(strategy: str, rate: str, steps: str, chosen: str) -> None:
    text, manual = migrated(HOROVOD, strategy)
    assert not manual
    assert "hvd" not in text and "horovod" not in text and "visible_device_list" not in text
    for part in (
        f"optimizer = tf.keras.optimizers.Adam({rate}, epsilon=1e-8)\n",
        "model_dir = FLAGS.model_dir\n",
        f"config = RunConfig(model_dir=model_dir{chosen})",
        f"train(estimator, input_fn, steps={steps}",
        "    if current_task().is_chief:\n        print(",
    ):
        assert part in joined(text), (part, text)
    shard = "    dataset = dataset.shard(current_task().num_worker_replicas, current_task().global_id_in_cluster)\n"
    assert (shard in text) == (strategy == "multi_worker")
    assert text.count(".shard(") == (strategy == "multi_worker")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(5)]",
         "hooks = [StopAtStep(5)]"),
        ("hook = hvd.BroadcastGlobalVariablesHook(0)\n    hooks = [hook]", "hooks = []"),
        ("hooks = []\n    hooks.append(hvd.BroadcastGlobalVariablesHook(0))", "hooks = []"),
        ("hooks = []\n    if FLAGS.horovod:\n        hook = hvd.BroadcastGlobalVariablesHook(0)\n        hooks.append(hook)",
         "hooks = []"),
    ],
)  # fmt: skip
def test_hooks_of_horovod(old: str, new: str) -> None:
    text, manual = migrated(HOROVOD.replace("hooks = [hvd.BroadcastGlobalVariablesHook(0)]", old), "mirrored")
    assert not manual
    between = text.split("params={})\n")[1].split("train(\n")[0].strip()
    assert between == new


@pytest.mark.parametrize("strategy", ["none", "mirrored", "multi_worker"])
def test_sync_replicas(strategy: str) -> None:
    text, manual = migrated(SYNC, strategy)
    assert not manual
    assert "Sync" not in text and "is_chief" not in text
    assert "tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)" in text


def remarks(text: str, strategy: str) -> str:
    outcomes = migrate_component([decode("program.py", text.encode())], Settings(strategy=strategy))
    return "; ".join(d.message for outcome in outcomes for d in (*outcome.applied, *outcome.remaining))


@pytest.mark.parametrize("strategy", ["none", "mirrored", "multi_worker"])
def test_what_differs_from_sync_replicas_is_said(strategy: str) -> None:
    said = remarks(SYNC, strategy)
    assert ("over the workers that looked it up" in said) == (strategy != "none")
    assert "went on after replicas_to_aggregate" not in said
    backups = SYNC.replace("total_num_replicas=config.num_worker_replicas", "total_num_replicas=50")
    assert "went on after replicas_to_aggregate" in remarks(backups, strategy)
    assert "SyncReplicas" not in remarks(TOWERS, "none")


@pytest.mark.parametrize("strategy", ["none", "mirrored"])
@pytest.mark.parametrize(
    "optimizer",
    ["tf.train.AdagradOptimizer(0.1)", "optimizer", "optimizer_or_optimizer_fn=tf.train.AdagradOptimizer(0.1)"],
)
def test_towers(strategy: str, optimizer: str) -> None:
    program = TOWERS.replace("tf.train.AdagradOptimizer(0.1)", optimizer)
    if optimizer == "optimizer":
        program = program.replace("    optimizer =", "    optimizer = tf.train.AdagradOptimizer(0.1)\n    optimizer =")
    text, manual = migrated(program, strategy)
    assert not manual
    assert "Tower" not in text and "replicate" not in text
    assert "tf.keras.optimizers.Adagrad(0.1, initial_accumulator_value=0.1, epsilon=0.0)" in text


@pytest.mark.parametrize(
    ("text", "old", "new", "strategy", "reason"),
    [
        (SYNC, "", "", "parameter_server", "asynchronously in TensorFlow 2: --strategy multi_worker"),
        (SYNC, "optimizer, rep", "optimizer, variables_to_average=[W], rep", "none", r"variables_to_average=…"),
        (SYNC, "optimizer, rep", "*optimizers, rep", "none", r"hidden behind \* or \*\*"),
        (TOWERS, "TowerOptimizer(tf.train.AdagradOptimizer(0.1))", "TowerOptimizer(make)", "none", "not seen to be an optim"),
        (TOWERS, "replicate_model_fn(model_fn", "replicate_model_fn(model_fn, tf.losses.Reduction.SUM", "none", "adds up"),
        (HOROVOD, "", "", "parameter_server", "none, mirrored or multi_worker can take its place"),
        (HOROVOD, "Optimizer(optimizer)", "Optimizer(optimizer, op=hvd.Adasum)", "mirrored", r"op=…"),
        (HOROVOD, "Optimizer(optimizer)", "Optimizer(optimizer, backward_passes_per_step=4)", "mirrored", "passes_per_step"),
        (HOROVOD, 'print("trained")', 'print(hvd.allreduce(1))', "mirrored", "allreduce"),
        (HOROVOD, 'print("trained")', 'estimator.evaluate(input_fn)', "multi_worker", "only one process does this"),
        (HOROVOD, "hooks = [hvd.Broad", "hooks = make(hvd.Broad", "mirrored", "list of hooks only"),
        (HOROVOD, 'print("trained")', 'print(hvd.local_rank())', "multi_worker", r"local_rank\(\) has no place"),
    ],
)  # fmt: skip
def test_refused(text: str, old: str, new: str, strategy: str, reason: str) -> None:
    program = text.replace(old, new) if old else text
    if new.startswith("hooks = make"):
        program = program.replace("VariablesHook(0)]", "VariablesHook(0))")
    after, manual = migrated(program, strategy)
    assert after == program
    assert manual and re.search(reason, manual[0]), manual


def test_compression_says_how_gradients_are_sent() -> None:
    given = "Optimizer(optimizer, compression=hvd.Compression.fp16, sparse_as_dense=True)"
    text, manual = migrated(HOROVOD.replace("Optimizer(optimizer)", given), "none")
    assert not manual and "compression" not in text


def test_without_the_option_the_programs_stay() -> None:
    for text in (SYNC, TOWERS):
        after, manual = migrated(text, "auto")
        assert after == text and "--strategy" in manual[0]


OPTIONAL_TOWERS = TOWERS.replace(
    "model_fn(features, labels, mode)", "model_fn(features, labels, mode, params)"
).replace(
    "optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.AdagradOptimizer(0.1))",
    "optimizer = tf.train.AdagradOptimizer(0.1)\n    if params.get('multi_gpu'):\n"
    "        optimizer = tf.contrib.estimator.TowerOptimizer(optimizer)",
)
OPTIONAL_TOWERS = OPTIONAL_TOWERS.replace(
    "estimator = tf.estimator.Estimator(model_fn=tf.contrib.estimator.replicate_model_fn(model_fn))",
    "function = model_fn\nif FLAGS.multi_gpu:\n    function = tf.contrib.estimator.replicate_model_fn(model_fn, "
    "loss_reduction=tf.losses.Reduction.MEAN)\n"
    "estimator = tf.estimator.Estimator(model_fn=function, params={'multi_gpu': FLAGS.multi_gpu})",
)


def test_towers_that_an_option_asks_for_are_left_out() -> None:
    text, manual = migrated(OPTIONAL_TOWERS, "auto")
    assert not manual and "Tower" not in text and "replicate" not in text and "multi_gpu')" not in text
    outcomes = migrate_component([decode("program.py", OPTIONAL_TOWERS.encode())], Settings())
    assert any("towers, which an option asks for, are left out" in d.message for o in outcomes for d in o.remaining)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if params.get('multi_gpu'):", "if mode == tf.estimator.ModeKeys.TRAIN:"),
        ("TowerOptimizer(optimizer)", "TowerOptimizer(lambda: optimizer)"),
        ("if FLAGS.multi_gpu:", "if True:\n    print(1)\nwith tf.device('/gpu:0'):"),
    ],
)
def test_other_towers_stay(old: str, new: str) -> None:
    assert old in OPTIONAL_TOWERS
    assert "MirroredStrategy" in "".join(migrated(OPTIONAL_TOWERS.replace(old, new), "auto")[1])
