"""Horovod where a program keeps it: with its API for Keras."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, migrate

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """import horovod.tensorflow as hvd
import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.MomentumOptimizer(0.001 * hvd.size(), 0.9)
    optimizer = hvd.DistributedOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(load()).shard(hvd.size(), hvd.rank()).repeat().batch(32)


def main(_):
    hvd.init()
    session = tf.ConfigProto()
    session.gpu_options.visible_device_list = str(hvd.local_rank())
    model_dir = FLAGS.model_dir if hvd.rank() == 0 else None
    config = tf.estimator.RunConfig(model_dir=model_dir, session_config=session)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={})
    hook = hvd.BroadcastGlobalVariablesHook(0)
    estimator.train(input_fn, steps=FLAGS.steps // hvd.size(), hooks=[hook])


tf.app.run(main)
"""
DEVICES = '    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[hvd.local_rank():][:1], "GPU")\n'


def test_what_becomes_of_each_part() -> None:
    text = migrate(PROGRAM)
    for part in (
        "import horovod.tensorflow.keras as hvd\n",
        "optimizer = tf.keras.optimizers.SGD(0.001 * hvd.size(), momentum=0.9)\n",
        "optimizer = hvd.DistributedOptimizer(optimizer)\n",
        "model.compile(optimizer=optimizer, loss=",
        ".shard(hvd.size(), hvd.rank())",
        "    hvd.init()\n",
        DEVICES,
        "model_dir = FLAGS.model_dir if hvd.rank() == 0 else None\n",
        "hook = BroadcastVariables(0)\n",
        "train(estimator, input_fn, steps=FLAGS.steps // hvd.size(), callbacks=[hook])",
    ):
        assert part in joined(text), (part, text)
    assert "visible_device_list" not in text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("import horovod.tensorflow as hvd", "from horovod import tensorflow as hvd",
         "import horovod.tensorflow.keras as hvd\n"),
        ("import horovod.tensorflow as hvd", "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None",
         "try:\n    import horovod.tensorflow.keras as hvd\n"),
        ("DistributedOptimizer(optimizer)", 'DistributedOptimizer(optimizer, "Mine", True, compression=hvd.Compression.fp16)',
         'hvd.DistributedOptimizer(optimizer, name="Mine", compression=hvd.Compression.fp16)'),
        ("DistributedOptimizer(optimizer)", "DistributedOptimizer(optimizer, op=hvd.Average, backward_passes_per_step=1)",
         "hvd.DistributedOptimizer(optimizer, op=hvd.Average)"),
        ("    optimizer = hvd.Dist", "    if params['many']:\n        optimizer = hvd.Dist",
         'if params["many"]:\n            optimizer = hvd.DistributedOptimizer(optimizer)'),
        ("VariablesHook(0)", "VariablesHook(root_rank=0, device='/cpu:0')", "BroadcastVariables(root_rank=0, device='/cpu:0')"),
    ],
)  # fmt: skip
def test_ways_to_write_it(old: str, new: str, expected: str) -> None:
    assert expected.replace("'", '"') in joined(migrate(PROGRAM.replace(old, new))).replace("'", '"')


IMPORT = "import horovod.tensorflow as hvd"
WRAPPED = "DistributedOptimizer(optimizer)"
MINIMIZE = "train_op = optimizer.minimize(loss, tf.train.get_global_step())"
CLIPPED = """pairs = optimizer.compute_gradients(loss)
    pairs = [(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs]
    train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())"""
SESSION = "session = tf.ConfigProto()\n    session.gpu_options.visible_device_list = str(hvd.local_rank())"
OPTIONS = "session = tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list=str(hvd.local_rank())))"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (WRAPPED, "DistributedOptimizer(optimizer, op=hvd.Adasum)", "Adasum has no counterpart"),
        (WRAPPED, "DistributedOptimizer(optimizer, backward_passes_per_step=4)", "passes_per_step"),
        (
            "= tf.losses.mean_squared_error(labels, predictions)",
            "= hvd.allreduce(tf.reduce_mean(predictions))",
            "allreduce",
        ),
        (IMPORT, "import horovod.keras as hvd", "no counterpart"),
        (IMPORT, f"{IMPORT}\nimport horovod.torch as other\nother.init()", "torch"),
        (MINIMIZE, CLIPPED, "more than to minimize"),
        (SESSION, OPTIONS, "which GPU"),
    ],
)
def test_refused(old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    assert reason in manual_reason(PROGRAM.replace(old, new))


def test_a_graph_does_not_keep_it() -> None:
    (outcome,) = migrate_component([decode("program.py", PROGRAM.encode())], Settings(style="bridge"))
    assert outcome.after.decode() == PROGRAM
    assert "stays a graph cannot keep Horovod: --strategy" in outcome.units[0].reason
