"""A small regression program, twice: for an Estimator, and for Keras as migrated code has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.cluster.training import configure_distributed
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(22, 3).astype("float32")
Y = (X @ [[1.0], [-2.0], [3.0]] + 0.5).astype("float32")


def input_fn(mode: str) -> tf.data.Dataset:
    """Batches of 4; the last one of an evaluation has 2 examples."""
    dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return dataset.repeat().batch(4) if mode == "train" else dataset.batch(4)


def model_fn(features: Any, labels: Any, mode: str, params: Any = None) -> Any:
    v1 = tf.compat.v1
    kernel = v1.get_variable("kernel", [3, 1], initializer=v1.zeros_initializer())
    bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
    outputs = features["x"] @ kernel + bias
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, {"output": outputs, "twice": 2 * outputs})
    loss = tf.reduce_mean(tf.square(outputs - labels))
    step = v1.train.get_global_step()
    rate = (params or {}).get("rate") or v1.train.exponential_decay(0.5, step, 3, 0.9)
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=v1.train.AdagradOptimizer(rate).minimize(loss, global_step=step),
        eval_metric_ops={"mae": v1.metrics.mean_absolute_error(labels, outputs)},
    )


def after_reading_the_step() -> Any:
    """A context for a graph's ops: sessions read the global step before them; else before or after, as threads run."""
    v1 = tf.compat.v1
    graph = v1.get_default_graph()
    reads = [*graph.get_collection("global_step_read_op_cache")]
    if hasattr(v1.train.get_global_step(), "handle"):
        reads.append(graph.get_tensor_by_name("global_step/Read/ReadVariableOp:0"))
    return tf.control_dependencies(reads)


class LineModel(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="zeros")
        self.loss_metric = BatchMean(name="loss")
        self.mae = tf.keras.metrics.MeanAbsoluteError(name="mae")

    def call(self, features: Any, training: bool = False) -> Any:
        outputs = self.dense(features["x"])
        with tf.name_scope(""):  # outside of the scope that Keras enters for the model
            tf.summary.scalar("mean_output", tf.reduce_mean(outputs))
        return {"output": outputs, "twice": 2 * outputs}

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        loss = tf.reduce_mean(tf.square(y_pred["output"] - y))
        self.loss_metric.update_state(loss)
        tf.summary.scalar("mean_error", tf.reduce_mean(y_pred["output"] - y))
        return loss

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        self.mae.update_state(y, y_pred["output"])
        return self.get_metrics_result()


def create_model(
    model_dir: Path, steps_per_execution: int = 1, model: Any = None, rate: float | None = None, **config: Any
) -> tf.keras.Model:
    falling = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 3, 0.9)
    model = model or LineModel()
    optimizer = tf.keras.optimizers.Adagrad(falling if rate is None else rate, epsilon=1e-12)
    model.compile(optimizer, steps_per_execution=steps_per_execution)
    config.setdefault("save_summary_steps", 1)
    config.setdefault("save_checkpoints_steps", 4)
    made = configure_distributed if {"strategy", "eval_strategy"} & set(config) else configure
    return made(model, RunConfig(model_dir=str(model_dir), **config))


def read_events(directory: Path) -> dict[str, dict[int, float]]:
    """Scalars of the event files of a folder: {tag: {step: value}}."""
    tags: dict[str, dict[int, float]] = {}
    for path in sorted(directory.glob("events*")):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                simple = value.WhichOneof("value") == "simple_value"
                number = value.simple_value if simple else tf.make_ndarray(value.tensor)
                if np.ndim(number) == 0 and not isinstance(number, (bytes, np.ndarray)) or np.size(number) == 1:
                    tags.setdefault(value.tag, {})[event.step] = number if simple else number.item()
    return tags


def checkpoint_steps(directory: Path) -> list[int]:
    """Steps of the checkpoints in a folder."""
    return sorted(int(name.split("-")[1].split(".")[0]) for name in os.listdir(directory) if name.endswith(".index"))
