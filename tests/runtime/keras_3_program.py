"""What Keras computes otherwise in its version 3, by the helpers of migrated programs: against kernels of TensorFlow 1.

Prints what differs, and how much was compared. Run by `test_keras_3.py` under the TensorFlow that has Keras 3.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.checkpoints.checkpoints import Checkpoints
from migrator.runtime.checkpoints.variable_paths import variable_path
from migrator.runtime.exports.exporting import export_saved_model
from migrator.runtime.exports.serving import ServingInputReceiver
from migrator.runtime.layers.normalization import ContribBatchNorm
from migrator.runtime.layers.weights import get_layer, get_weight
from migrator.runtime.losses_metrics.metrics import BatchMean, PrecisionAtK, RecallAtK
from migrator.runtime.optimizers.optimizers import KernelOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure, evaluate, train

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.randn(6, 3, 3, 2).astype("float32")
ROWS = RANDOM.randn(6, 2).astype("float32")
MOMENTUM = 0.9
STEPS = 3
NAMES: list[str] = []


class NamedDescent(KernelOptimizer):
    """Gradient descent that writes down what its variables are called."""

    def __init__(self, learning_rate: float = 0.0, name: str = "Descent", **kwargs: Any) -> None:
        super().__init__(learning_rate, name, **kwargs)

    def update(self, variable: Any, gradient: Any, learning_rate: Any) -> None:
        NAMES.append(variable_path(variable))
        variable.assign_sub(learning_rate * gradient)


class Late(tf.keras.layers.Layer):
    """A layer without others, whose weight and layer are as wide as its inputs."""

    def call(self, inputs: Any) -> Any:
        width = inputs.shape[-1]
        weight = get_weight(self, "weight", shape=[width], initializer="ones")
        return get_layer(self, "dense", tf.keras.layers.Dense, width, kernel_initializer="ones")(inputs * weight)


class Model(tf.keras.Model):
    """Normalizes images and rows, and passes the rows through a hard sigmoid and a late layer."""

    def __init__(self) -> None:
        super().__init__()
        self.images = tf.keras.layers.BatchNormalization(momentum=MOMENTUM)
        self.channels = tf.keras.layers.BatchNormalization(axis=1, momentum=MOMENTUM)
        self.rows = tf.keras.layers.BatchNormalization(momentum=MOMENTUM)
        self.contrib = ContribBatchNorm(momentum=MOMENTUM)
        self.hard = tf.keras.layers.Dense(2, "hard_sigmoid", kernel_initializer="ones", name="hard")
        self.late = Late()
        self.loss_metric = BatchMean(name="loss")

    def call(self, features: Any, training: bool = False) -> Any:
        images = self.images(features["images"], training=training)
        images += self.channels(features["images"], training=training)
        rows = self.rows(features["rows"], training=training) + self.contrib(features["rows"], training=training)
        hard = self.hard(features["rows"])
        return {"sum": tf.reduce_sum(images, [1, 2, 3]) + tf.reduce_sum(rows, 1), "hard": hard, "late": self.late(hard)}

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        loss = tf.reduce_sum(y_pred["sum"]) + tf.reduce_sum(y_pred["late"])
        self.loss_metric.update_state(loss)
        return loss

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        return self.get_metrics_result()


def features(rows: int = len(ROWS)) -> Any:
    return tf.data.Dataset.from_tensors(({"images": IMAGES[:rows], "rows": ROWS[:rows]}, ROWS[:rows, 0])).repeat(STEPS)


def stored_variance(axes: tuple[int, ...], inputs: Any, fused: bool) -> Any:
    """What TensorFlow 1 has after some steps on the same inputs, by hand."""
    number = inputs.size // inputs.shape[next(axis for axis in range(inputs.ndim) if axis not in axes)]
    variance, stored = inputs.var(axes) * (number / (number - 1) if fused else 1), 1.0
    for _ in range(STEPS):
        stored = MOMENTUM * stored + (1 - MOMENTUM) * variance
    return stored


def comparisons(folder: str) -> Iterator[tuple[str, Any, Any]]:
    """What is compared: its name, what is expected and what there is."""
    model = Model()
    model.compile(optimizer=NamedDescent())
    model = configure(model, model_dir=os.path.join(folder, "model"))
    train(model, lambda: features(), steps=STEPS)
    _, _, fused = tf.raw_ops.FusedBatchNormV3(
        x=IMAGES, scale=np.ones(2, "f"), offset=np.zeros(2, "f"), mean=[], variance=[], exponential_avg_factor=1.0
    )[:3]
    yield "the kernel", fused, IMAGES.var((0, 1, 2)) * 54 / 53
    yield "images", stored_variance((0, 1, 2), IMAGES, fused=True), model.images.moving_variance
    yield "channels first", stored_variance((0, 2, 3), IMAGES, fused=True), model.channels.moving_variance
    yield "rows", stored_variance((0,), ROWS, fused=False), model.rows.moving_variance
    yield "rows of contrib", stored_variance((0,), ROWS, fused=True), model.contrib.moving_variance
    sums = ROWS.sum(1, keepdims=True).repeat(2, 1)
    hard = np.clip(0.2 * sums + 0.5, 0, 1)
    outputs = model(next(iter(features()))[0])
    yield "hard sigmoid", hard, outputs["hard"]
    yield "late layer", hard.sum(1, keepdims=True).repeat(2, 1), outputs["late"]
    yield "steps", STEPS, evaluate(model, lambda: features(), steps=1)["global_step"]
    kernel = next(name for name in NAMES if "kernel" in name and "hard" in name)
    yield "names of variables", True, kernel.endswith("/hard/kernel:0")

    def receive() -> Any:
        placeholder = tf.compat.v1.placeholder
        received = {
            "images": placeholder(tf.float32, [None, 3, 3, 2]),
            "rows": placeholder(tf.float32, [None, 2]),
        }
        return ServingInputReceiver(received, received)

    path = export_saved_model(model, os.path.join(folder, "export"), receive).decode()
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        signature = tf.compat.v1.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        fed = {signature.inputs["images"].name: IMAGES, signature.inputs["rows"].name: ROWS}
        found = session.run({name: tensor.name for name, tensor in signature.outputs.items()}, fed)
    for name, value in found.items():
        yield f"{name} of a SavedModel in a session", outputs[name], value


def ranked() -> Iterator[tuple[str, Any, Any]]:
    """Metrics of the best classes, as a graph computes them."""
    for metric, expected in ((RecallAtK(2), 0.5), (PrecisionAtK(2), 0.25)):

        @tf.function  # type: ignore[untyped-decorator]
        def update(labels: Any, scores: Any, metric: Any = metric) -> None:
            metric.update_state(labels, scores)

        update(tf.constant([[1], [0]]), tf.constant([[0.1, 0.9, 0.0], [0.2, 0.3, 0.5]]))
        yield metric.name, expected, metric.result()


def differences(folder: str) -> list[str]:
    """Everything that differs."""
    found = []
    for name, expected, value in (*comparisons(folder), *ranked()):
        if not np.allclose(np.asarray(expected, "f"), np.asarray(value, "f"), rtol=2e-6, atol=1e-6):
            found.append(f"{name}: {np.asarray(value)!r} instead of {np.asarray(expected)!r}")
    other = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    other.compile(tf.keras.optimizers.SGD())
    other.build((None, 2))
    try:
        Checkpoints(other, RunConfig(model_dir=os.path.join(folder, "model"))).restore()
        found.append("a checkpoint of another model was restored")
    except ValueError as error:
        if "does not hold all variables" not in str(error):
            raise
    return found


if __name__ == "__main__":
    lines = differences(tempfile.mkdtemp())
    print(*lines, f"{len(lines)} differences with Keras {3 if hasattr(tf.keras, 'ops') else 2}", sep="\n")
