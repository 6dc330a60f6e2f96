"""A program that keeps its model_fn as a graph, to run in every process of a cluster: ``MODEL_DIR train STEPS``."""

from __future__ import annotations

import json
import sys
from typing import Any

import tensorflow as tf
from cluster_program import eval_input, train_input

from migrator.runtime.cluster.graph import graph_model
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1


def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
    """Partitioned variables, one of them looked up by rows, a table, moving statistics, and slots of an optimizer."""
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1, 2], [4, 0, 1]), 3)
    rows = table.lookup(tf.cast(3.0 * features["x"], tf.int32))
    with v1.variable_scope("net", partitioner=v1.fixed_size_partitioner(2), initializer=v1.ones_initializer()):
        embeddings = v1.get_variable("embeddings", [5, 2])
        looked_up = v1.nn.embedding_lookup(embeddings, rows)  # of rows that are shared out in turn
        hidden = tf.concat([features["x"], tf.reduce_sum(looked_up, 1)], 1)
        hidden = v1.layers.batch_normalization(v1.layers.dense(hidden, 4), momentum=0.9, training=mode == "train")
        outputs = v1.layers.dense(hidden, 1)
    if mode == "infer":
        return EstimatorSpec(mode, {"output": outputs})
    loss = v1.losses.mean_squared_error(labels, outputs)
    optimizer = v1.train.AdamOptimizer(0.05)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
    metrics = {"mae": v1.metrics.mean_absolute_error(labels, outputs)}
    return EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def main(model_dir: str, steps: int) -> dict[str, float]:
    """Train and evaluate; the metrics, and the sum of all weights."""
    model = graph_model(model_fn, model_dir, RunConfig(save_checkpoints_steps=10))
    train(model, train_input, max_steps=steps)
    result = evaluate(model, eval_input)
    result["weights"] = sum(float(tf.reduce_sum(tf.abs(variable))) for variable in model.tf1_variables.values())
    return {key: float(value) for key, value in result.items()}


if __name__ == "__main__":
    print("RESULT", json.dumps(main(sys.argv[1], int(sys.argv[3]))), flush=True)
