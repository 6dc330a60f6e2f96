"""Models find the weights of each other's checkpoints by the names of TensorFlow 1, as those of an Estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.checkpoints.checkpoint_names import keep_names, list_variables, load_checkpoint, load_variable
from migrator.runtime.checkpoints.weight_names import tf1_variables
from migrator.runtime.checkpoints.weights_from_checkpoint import begin_with, init_from_checkpoint
from migrator.runtime.layers.weights import get_weight
from migrator.runtime.losses_metrics.metrics import BatchMean
from migrator.runtime.training.training import configure, train

v1 = tf.compat.v1
SHAPES = {
    "body/block_0/kernel": [3, 3],
    "body/block_1/kernel": [3, 3],
    "body/scale": [3],
    "head/kernel": [3, 2],
    "head/bias": [2],
}


def input_fn() -> tf.data.Dataset:
    random = np.random.RandomState(0)
    x, y = random.randn(20, 3).astype("float32"), random.randn(20, 2).astype("float32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(5)


class Body(tf.keras.layers.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = [tf.keras.layers.Dense(3, use_bias=False) for _ in range(2)]

    def call(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x * get_weight(self, "scale", shape=[x.shape[-1]], initializer="ones")


class Learner(tf.keras.Model):
    tf1_names = {
        "body/block_*/kernel": "body.blocks.*.kernel",
        "body/scale": "body.late_weights.scale",
        "head/kernel": "head.kernel",
        "head/bias": "head.bias",
    }

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = Body(), tf.keras.layers.Dense(2)
        self.loss_metric = BatchMean(name="loss")

    def call(self, features: Any, training: bool = False) -> Any:
        return self.head(self.body(features["x"]))

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        loss = tf.reduce_mean(tf.square(y_pred - y))
        self.loss_metric.update_state(loss)
        return loss


class Teacher(tf.keras.Model):
    """The same body in another attribute, and a head of its own."""

    tf1_names = {
        "body/block_*/kernel": "encoder.blocks.*.kernel",
        "body/scale": "encoder.late_weights.scale",
        "out/kernel": "out.kernel",
    }

    def __init__(self) -> None:
        super().__init__()
        self.out, self.encoder = tf.keras.layers.Dense(2, use_bias=False), Body()
        self.loss_metric = BatchMean(name="loss")

    def call(self, features: Any, training: bool = False) -> Any:
        return self.out(self.encoder(features["x"]))

    compute_loss = Learner.compute_loss


def made(model: Any, folder: Path) -> Any:
    model.compile(tf.keras.optimizers.Adam(0.1), steps_per_execution=1)
    return configure(model, model_dir=str(folder))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """The folder of a model that keeps its names, and the model."""
    folder = tmp_path_factory.mktemp("teacher")
    return str(folder), train(keep_names(made(Teacher(), folder)), input_fn)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a checkpoint of TensorFlow 1 whose largest variable is in parts."""
    folder = tmp_path_factory.mktemp("old")
    with tf.Graph().as_default(), v1.Session() as session:
        for name, shape in SHAPES.items():
            parts = v1.fixed_size_partitioner(2) if name == "head/kernel" else None
            v1.get_variable(name, shape, initializer=v1.random_uniform_initializer(1, 2), partitioner=parts)
        v1.get_variable("half", initializer=np.float16(1))
        v1.get_variable("global_step", initializer=np.int64(7))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(folder / "model.ckpt"), global_step=7)
    return str(folder)


def test_names_shapes_and_values_of_a_model_of_layers(taught: tuple[str, Any]) -> None:
    path, model = taught
    shapes = {name: shape for name, shape in SHAPES.items() if name.startswith("body")}
    wanted = sorted({**shapes, "out/kernel": [3, 2], "global_step": []}.items())
    assert list_variables(path) == wanted
    reader = load_checkpoint(path)
    assert sorted(reader.get_variable_to_shape_map().items()) == wanted
    assert reader.has_tensor("body/scale") and not reader.has_tensor("model/encoder/scale")
    assert reader.get_variable_to_dtype_map()["out/kernel"] == tf.float32
    for read in (reader.get_tensor, lambda name: load_variable(path, name)):
        np.testing.assert_array_equal(read("out/kernel"), model.out.kernel)
        np.testing.assert_array_equal(read("body/block_1/kernel"), model.encoder.blocks[1].kernel)
        np.testing.assert_array_equal(read("body/scale"), model.encoder.late_weights["scale"])
        assert read("global_step") == 4
    with pytest.raises(tf.errors.NotFoundError):
        reader.get_tensor("head/kernel")


def test_of_tensorflow_1(old: str) -> None:
    assert list_variables(old) == sorted({**SHAPES, "half": [], "global_step": []}.items())
    assert load_checkpoint(old).get_tensor("head/kernel").shape == (3, 2) and load_variable(old, "global_step") == 7


def start(folder: Path, path: str, assignment_map: dict[str, Any]) -> Any:
    """A model that starts from a checkpoint; its first steps change nothing."""
    model = made(Learner(), folder)
    begin_with(model, lambda: init_from_checkpoint(model, path, assignment_map))
    model.optimizer.learning_rate = 0.0
    return train(model, input_fn)


def test_one_starts_from_the_other_and_the_next_from_that(tmp_path: Path, taught: tuple[str, Any]) -> None:
    path, teacher = taught
    first = start(tmp_path / "first", path, {"body/": "body/"})
    values = {each.op.name: each.variable.numpy() for each in tf1_variables(teacher)}
    for each in tf1_variables(first):
        if each.op.name.startswith("body/"):
            np.testing.assert_array_equal(each.variable, values[each.op.name], err_msg=each.name)
    second = start(tmp_path / "second", str(tmp_path / "first"), {"/": "/"})
    assert int(second.optimizer.iterations) == 8  # the step goes along
    for one, other in zip(tf1_variables(first), tf1_variables(second)):
        np.testing.assert_array_equal(one.variable, other.variable, err_msg=one.name)


def test_parts_are_put_together(tmp_path: Path, old: str) -> None:
    model = start(tmp_path, old, {"head/": "head/"})
    np.testing.assert_array_equal(model.head.kernel, tf.train.load_variable(old, "head/kernel"))


@pytest.mark.parametrize(
    ("assignment_map", "message"),
    [
        ({"half": "head/bias"}, r"head/bias has shape \[2\]; in .*: \[\]"),
        ({"head/bias/Adam": "head/bias"}, "does not hold head/bias/Adam, which head/bias should begin with"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, old: str, assignment_map: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        start(tmp_path, old, assignment_map)


def test_another_type_is_told(tmp_path: Path, old: str) -> None:
    model = made(Learner(), tmp_path)
    model.tf1_names = {"half": "half"}
    model.half = model.add_weight(name="half", shape=[], dtype="float32")
    with pytest.raises(ValueError, match="half has type .*float32.*; in .*: float16"):
        init_from_checkpoint(model, old, {"half": "half"})


def test_a_model_without_names_is_told(tmp_path: Path) -> None:
    train(made(Learner(), tmp_path), input_fn)
    for read in (list_variables, load_checkpoint, lambda path: load_variable(path, "head/bias")):
        with pytest.raises(ValueError, match="has no names of TensorFlow 1, as the model that wrote it"):
            read(str(tmp_path))
