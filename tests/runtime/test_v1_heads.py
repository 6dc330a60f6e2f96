"""Heads in the graph of a model_fn give the loss, metrics, predictions and training of those of TensorFlow 1."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.canned.heads import BinaryClassHead, MultiClassHead, RegressionHead
from migrator.runtime.canned.named_heads import named_head
from migrator.runtime.graph_contrib.v1_heads import create_estimator_spec
from migrator.runtime.graph_contrib.v1_optimizers import get_optimizer_instance
from migrator.runtime.graph_v1.v1_graph import EstimatorSpec
from migrator.runtime.graph_v1.v1_session_graph import graph_model
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import evaluate, train

v1 = tf.compat.v1
needs_estimators = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
RANDOM = np.random.RandomState(0)
X, W = RANDOM.randn(24, 3).astype("float32"), RANDOM.uniform(0, 2, [24, 1]).astype("float32")
CLASSES = np.array(["red", "white", "rose"])
KINDS: dict[str, Any] = {
    "multi class": (
        "_multi_class_head_with_softmax_cross_entropy_loss",
        {"n_classes": 3, "weight_column": "w", "label_vocabulary": list(CLASSES)},
        MultiClassHead,
        CLASSES[RANDOM.randint(0, 3, 24)],
    ),
    "binary": (
        "_binary_logistic_head_with_sigmoid_cross_entropy_loss",
        {"weight_column": "w", "thresholds": [0.25, 0.5], "name": "win"},
        BinaryClassHead,
        RANDOM.randint(0, 2, 24),
    ),
    "regression": ("_regression_head", {"weight_column": "w", "label_dimension": 2}, RegressionHead, X[:, :2] * 2 - 1),
}
REDUCTIONS = {"sum": "SUM", "sum_by_nonzero_weights": "SUM_BY_NONZERO_WEIGHTS", "mean": "MEAN"}


def spec_of(make: Any, units: int, features: Any, labels: Any, mode: str) -> Any:
    """Logits from a linear layer, a penalty, and an update op beside the train op."""
    kernel = v1.get_variable("kernel", [3, units], initializer=v1.constant_initializer(0.1))
    count = v1.get_variable("counter", [], initializer=v1.zeros_initializer(), trainable=False)
    if mode == "train":
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, count.assign_add(1.0))
    return make(
        features=features,
        mode=mode,
        logits=features["x"] @ kernel,
        labels=labels,
        optimizer=v1.train.AdagradOptimizer(0.1),
        regularization_losses=[0.01 * tf.reduce_sum(kernel**2)],
    )


@needs_estimators
@pytest.mark.parametrize(("kind", "reduction"), zip(KINDS, REDUCTIONS))
def test_as_in_tensorflow_1(tmp_path: Path, kind: str, reduction: str) -> None:
    from tensorflow_estimator.python.estimator.canned import head as canned_heads

    maker, arguments, new, labels = KINDS[kind]

    def input_fn() -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(({"x": X, "w": W}, labels)).batch(5)

    def old_model_fn(features: Any, labels: Any, mode: str) -> Any:
        how = getattr(v1.losses.Reduction, REDUCTIONS[reduction])
        head = getattr(canned_heads, maker)(loss_reduction=how, **arguments)
        return spec_of(head.create_estimator_spec, head.logits_dimension, features, labels, mode)

    def new_model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        maker = partial(named_head, new) if "name" in arguments else new
        head = maker(loss_reduction=reduction, **arguments)
        spec: EstimatorSpec = spec_of(
            lambda **named: create_estimator_spec(head, **named), head.units, features, labels, mode
        )
        return spec

    old = tf.estimator.Estimator(old_model_fn, str(tmp_path / "old")).train(input_fn, steps=4)
    model = train(graph_model(new_model_fn, str(tmp_path / "new")), input_fn, steps=4)
    for name in ("kernel", "counter"):
        value = model.tf1_variables[name].numpy()
        np.testing.assert_allclose(value, old.get_variable_value(name), rtol=1e-6, err_msg=name)
    expected = old.evaluate(input_fn)
    results = {name: float(value) for name, value in evaluate(model, input_fn).items()}
    assert results == pytest.approx({name: float(value) for name, value in expected.items()}, rel=1e-6)
    for mine, theirs in zip(list(predict(model, input_fn)), list(old.predict(input_fn))):
        assert set(mine) == set(theirs)
        for name in mine:
            if mine[name].dtype == np.float32:
                np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-5, err_msg=name)
            else:
                assert list(mine[name]) == list(theirs[name])


def test_either_an_optimizer_or_a_function() -> None:
    head = RegressionHead()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="either an optimizer or a train_op_fn"):
        create_estimator_spec(head, {}, "train", tf.zeros([2, 1]), tf.zeros([2, 1]))


@needs_estimators
@pytest.mark.parametrize("name", ["Adagrad", "Adam", "Ftrl", "RMSProp", "SGD"])
def test_optimizers_by_name(name: str) -> None:
    from tensorflow_estimator.python.estimator.canned import optimizers

    old, new = (get(name, 0.25) for get in (optimizers.get_optimizer_instance, get_optimizer_instance))
    assert type(new) is type(old) and vars(new).keys() == vars(old).keys()
    assert get_optimizer_instance(lambda: new) is get_optimizer_instance(new) is new


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("Adam",), "learning_rate must be specified"),
        (("Lion", 0.1), "Unsupported optimizer name: Lion"),
        ((3,), "not an Optimizer instance"),
    ],
)
def test_what_is_no_optimizer(given: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        get_optimizer_instance(*given)
