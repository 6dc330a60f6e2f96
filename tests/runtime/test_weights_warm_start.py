"""A model of layers starts from checkpoints as an Estimator does: of TensorFlow 1, of graphs, and of models of other classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.checkpoints.warm_start_settings import WarmStartSettings
from migrator.runtime.checkpoints.weight_names import tf1_variables
from migrator.runtime.checkpoints.weights_warm_start import begin_warm
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.training import configure, train

v1 = tf.compat.v1
RANDOM = np.random.RandomState(0)
X, Y = RANDOM.randn(20, 3).astype("float32"), RANDOM.randn(20, 2).astype("float32")


def input_fn() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(5)


class Learner(tf.keras.Model):
    """Layers in a list and by themselves."""

    tf1_names = {
        "body/hidden_*/kernel": "hidden.*.kernel",
        "body/hidden_*/bias": "hidden.*.bias",
        "out/kernel": "out.kernel",
        "out/bias": "out.bias",
    }

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(3, name=f"hidden_{number}") for number in range(layers)]
        self.out = tf.keras.layers.Dense(2, name="out")
        self.loss_metric = BatchMean(name="loss")

    def call(self, features: Any, training: bool = False) -> Any:
        net = features["x"]
        for layer in self.hidden:
            net = layer(net)
        return self.out(net)

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        loss = tf.reduce_mean(tf.square(y_pred - y))
        self.loss_metric.update_state(loss)
        return loss


class Teacher(Learner):
    """The same variables, in attributes that `Learner` has for others."""

    tf1_names = {
        "body/hidden_0/kernel": "out.kernel",
        "body/hidden_0/bias": "out.bias",
        "body/hidden_1/kernel": "hidden.0.kernel",
        "body/hidden_1/bias": "hidden.0.bias",
        "out/kernel": "last.kernel",
        "out/bias": "last.bias",
    }

    def __init__(self) -> None:
        super().__init__(1)
        self.out, self.last = tf.keras.layers.Dense(3, name="a"), tf.keras.layers.Dense(2, name="b")

    def call(self, features: Any, training: bool = False) -> Any:
        return self.last(self.hidden[0](self.out(features["x"])))


def made(model: Any, folder: Path, start: Any = None, rate: float = 0.1) -> Any:
    model.compile(tf.keras.optimizers.SGD(rate), steps_per_execution=1)
    return begin_warm(configure(model, model_dir=str(folder)), start)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    net = features["x"]
    with v1.variable_scope("body"):
        for number in range(2):
            net = dense(net, 3, f"hidden_{number}")
    outputs = dense(net, 2, "out")
    loss = tf.reduce_mean(tf.square(outputs - labels))
    train_op = v1.train.GradientDescentOptimizer(params["rate"]).minimize(loss, v1.train.get_global_step())
    return params["spec"](mode, outputs, loss, train_op)


def dense(inputs: Any, units: int, name: str) -> Any:
    with v1.variable_scope(name):
        kernel = v1.get_variable("kernel", [inputs.shape[-1], units], use_resource=True)
        return inputs @ kernel + v1.get_variable("bias", [units], initializer=v1.zeros_initializer(), use_resource=True)


def teacher(kind: str, folder: Path) -> dict[str, np.ndarray]:
    """Trains a model, and gives its variables by their names."""
    names = [f"body/hidden_{n}/{v}" for n in range(2) for v in ("kernel", "bias")] + ["out/kernel", "out/bias"]
    if kind == "estimator":
        params = {"spec": tf.estimator.EstimatorSpec, "rate": 0.1}
        old = tf.estimator.Estimator(model_fn, str(folder), params=params).train(input_fn)
        return {name: old.get_variable_value(name) for name in names}
    if kind == "graph":
        graph = train(graph_model(model_fn, str(folder), params={"spec": EstimatorSpec, "rate": 0.1}), input_fn)
        return {name: graph.tf1_variables[name].numpy() for name in names}
    model = train(made(Teacher() if kind == "other" else Learner(), folder), input_fn)
    held = [model.out, model.hidden[0], model.last] if kind == "other" else [*model.hidden, model.out]
    return dict(zip(names, [weight.numpy() for layer in held for weight in layer.weights]))


@pytest.mark.parametrize("kind", ["estimator", "graph", "same", "other"])
def test_values_by_their_names(tmp_path: Path, kind: str) -> None:
    if kind == "estimator" and not hasattr(tf, "estimator"):
        pytest.skip("TensorFlow without Estimator")
    values = teacher(kind, tmp_path / "old")
    new = train(made(Learner(), tmp_path / "new", str(tmp_path / "old"), rate=0.0), input_fn)
    found = [weight.numpy() for layer in (*new.hidden, new.out) for weight in layer.weights]
    for value, (name, expected) in zip(found, values.items()):
        np.testing.assert_array_equal(value, expected, err_msg=name)
    assert int(new.optimizer.iterations) == 4  # the step begins anew


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_same_as_estimator(tmp_path: Path) -> None:
    """Some variables, one of them under another name; the next training goes on from its own checkpoint."""
    teacher("estimator", tmp_path / "old")
    chosen = "body/hidden_.*kernel"
    names = {"body/hidden_1/kernel": "body/hidden_0/kernel"}
    start = tf.estimator.WarmStartSettings(str(tmp_path / "old"), chosen, None, names)
    params = {"spec": tf.estimator.EstimatorSpec, "rate": 0.0}
    old = tf.estimator.Estimator(model_fn, str(tmp_path / "one"), params=params, warm_start_from=start).train(input_fn)
    new = made(Learner(), tmp_path / "two", WarmStartSettings(str(tmp_path / "old"), chosen, None, names), rate=0.0)
    train(new, input_fn)
    for number, layer in enumerate(new.hidden):
        np.testing.assert_array_equal(layer.kernel, old.get_variable_value(f"body/hidden_{number}/kernel"))
    again = made(Learner(), tmp_path / "two", str(tmp_path / "nowhere"), rate=0.0)
    train(again, input_fn)
    np.testing.assert_array_equal(again.out.kernel, new.out.kernel)


@pytest.mark.parametrize(
    ("settings", "error", "reason"),
    [
        ({"var_name_to_prev_var_name": {"out/bias": "other"}}, ValueError, "does not hold other, which out/bias"),
        ({"var_name_to_prev_var_name": {"other": "out/bias"}}, ValueError, "names that are not used"),
        ({"vars_to_warm_start": ["out"]}, TypeError, "must be one pattern"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, settings: dict[str, Any], error: type[Exception], reason: str) -> None:
    teacher("same", tmp_path / "old")
    start = WarmStartSettings(str(tmp_path / "old"), **settings)
    with pytest.raises(error, match=reason):
        train(made(Learner(), tmp_path / "new", start), input_fn)


def test_a_frozen_layer_is_not_among_the_trainable_variables() -> None:
    model = Learner()
    model.hidden[0].trainable = False
    model({"x": X})
    assert [each.op.name for each in tf1_variables(model)] == [
        "body/hidden_1/kernel", "body/hidden_1/bias", "out/kernel", "out/bias",
    ]  # fmt: skip
    assert len(tf1_variables(model, trained_only=False)) == 6
