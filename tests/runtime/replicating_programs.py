"""Programs of TensorFlow 1 that average the gradients of several batches by themselves, and what becomes of them."""

from __future__ import annotations

import types
from pathlib import Path

from both_sides import PATH, load_helpers, loaded

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

_PROGRAM = """import json
import sys

import numpy as np
import tensorflow as tf

random = np.random.RandomState(0)
X = random.rand(24, 3).astype("float32")
IDS = random.randint(0, 6, [24])  # some twice in a batch
Y = (X @ [[1.0], [-2.0], [3.0]] + 0.1 * IDS[:, None]).astype("float32")
TABLE, KERNEL, LAST = (np.linspace(-0.6, 0.9, n).astype("float32") for n in (12, 20, 4))


def model_fn(features, labels, mode, params, config):
    table = tf.get_variable("table", [6, 2], initializer=tf.constant_initializer(TABLE))
    rows = {rows}
    net = tf.concat([features["x"], rows], axis=1)
    net = tf.layers.dense(net, 4, activation=tf.nn.tanh, kernel_initializer=tf.constant_initializer(KERNEL), name="hidden")
    outputs = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(LAST), name="outputs")
    loss = tf.losses.mean_squared_error(labels, outputs)
    {optimizer}
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=outputs, loss=loss, train_op=train_op{hooks})


def input_fn(params, config):
    examples = tf.data.Dataset.from_tensor_slices(({{"x": X, "ids": IDS}}, Y))
    if params["shared"]:
        examples = examples.shard(config.num_worker_replicas, config.global_id_in_cluster)
    return examples.repeat().batch(params["batch"])


def main(params):
    config = tf.estimator.RunConfig(model_dir=params["model_dir"], save_summary_steps=1, save_checkpoints_steps=100)
    estimator = tf.estimator.Estimator({model_fn}, config=config, params=params)
    estimator.train(input_fn, steps=8)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
"""
SYNC = _PROGRAM.format(
    rows='tf.matmul(tf.one_hot(features["ids"], 6), table)',
    optimizer="""optimizer = tf.train.AdamOptimizer(0.05)
    optimizer = tf.train.SyncReplicasOptimizer(
        optimizer, replicas_to_aggregate=config.num_worker_replicas, total_num_replicas=config.num_worker_replicas
    )
    hooks = [optimizer.make_session_run_hook(config.is_chief, num_tokens=0)]""",
    hooks=", training_hooks=hooks",
    model_fn="model_fn",
)
"""With `num_tokens=0` a worker never runs ahead; else its second batch may be stale, and is left out by chance.

Its gradients are no rows of tables, of which it averages each over the workers that looked it up.
"""
TOWERS = _PROGRAM.format(
    rows='tf.nn.embedding_lookup(table, features["ids"])',
    optimizer="optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.AdamOptimizer(0.05))",
    hooks="",
    model_fn="tf.contrib.estimator.replicate_model_fn(model_fn)",
)


def migrated(source: str, strategy: str) -> dict[str, str]:
    """The files that a program becomes with this `--strategy`, with the optimizers of TensorFlow 1."""
    outcomes = migrate_component([decode(PATH, source.encode())], Settings(strategy=strategy, exact=True))
    tiers = [unit.tier for outcome in outcomes for unit in outcome.units]
    assert tiers == ["native"] * len(tiers) != [], [left for outcome in outcomes for left in outcome.remaining]
    return {outcome.path: outcome.after.decode() for outcome in outcomes}


def new_program(source: str, strategy: str, folder: Path) -> types.ModuleType:
    """The migrated program, with its helpers."""
    folder.mkdir(parents=True, exist_ok=True)
    files = migrated(source, strategy)
    load_helpers(files, folder)
    return loaded("new_program", folder / PATH, files[PATH])
