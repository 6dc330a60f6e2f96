"""A small program as migrated code has it, to run in every process of a cluster: ``MODEL_DIR train|train_and_evaluate``."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.callbacks.exporters import FinalExporter
from migrator.runtime.cluster.strategy import make_strategy
from migrator.runtime.cluster.train_and_evaluate import train_and_evaluate
from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.exports.serving import build_raw_serving_input_receiver_fn
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.train_and_evaluate import EvalSpec, TrainSpec
from migrator.runtime.training.training import evaluate, train

X = np.random.RandomState(0).rand(22, 3).astype("float32")
Y = (X @ [[1.0], [-2.0], [3.0]] + 0.5).astype("float32")


class NormalizedModel(tf.keras.Model):
    """Has moving statistics, and kernels that partitioners split."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = tf.keras.layers.Dense(5, kernel_initializer="ones")
        self.norm = tf.keras.layers.BatchNormalization(momentum=0.9)
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
        self.loss_metric = BatchMean(name="loss")
        self.mae = tf.keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, features: Any, training: bool = False) -> Any:
        return self.dense(self.norm(self.hidden(features["x"]), training=training))

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        loss = tf.reduce_mean(tf.square(y_pred - y))
        self.loss_metric.update_state(loss)
        return loss

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        self.mae.update_state(y, y_pred)
        return self.get_metrics_result()


def train_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(4)


def eval_input() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X[:18]}, Y[:18])).batch(4)


def create_model(config: RunConfig) -> tf.keras.Model:
    partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
    with make_strategy(config, variable_partitioner=partitioner).scope():
        model = NormalizedModel()
        model.compile(tf.keras.optimizers.Adagrad(0.5, epsilon=0.0), steps_per_execution=100)
    return configure_distributed(model, config)


def main(model_dir: str, what: str, steps: int, strategy: Any = None) -> dict[str, float]:
    """Train; the metrics of the last evaluation of this process."""
    config = RunConfig(model_dir, save_checkpoints_steps=10, save_summary_steps=10, strategy=strategy)
    if what == "train_by_the_clock":
        config = config.replace(save_checkpoints_secs=0.1)
    model = create_model(config)
    if what == "train_by_the_clock":
        train(model, train_input, max_steps=steps)
        result: Any = {}
    elif what == "train":
        train(model, train_input, max_steps=steps)
        result = evaluate(model, eval_input)
    else:
        features = build_raw_serving_input_receiver_fn({"x": tf.TensorSpec([None, 3])})
        exporter = FinalExporter("rows", features)
        evaluation = EvalSpec(eval_input, None, exporters=exporter, start_delay_secs=1, throttle_secs=1)
        result, _ = train_and_evaluate(model, TrainSpec(train_input, steps), evaluation)
    return {key: float(value) for key, value in (result or {}).items()}


if __name__ == "__main__":
    print("RESULT", json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]))), flush=True)
