"""What `tf.losses.*` of a model_fn is written as, run and compared with the loss of TensorFlow 1 in a graph."""

from __future__ import annotations

import ast
import itertools
import re
import types
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.programs import SPEC, TRAIN_OP, method, migrate, model_fn

from migrator.runtime.losses_metrics import losses as vendored

random = np.random.RandomState(0)
B, C = 6, 3
PER_EXAMPLE = np.array([0.0, 1.0, 2.0, 0.0, 0.5, 3.0], "float32")
ONE_HOT = np.eye(C, dtype="float32")[[0, 2, 1, 1, 0, 2]]
LOGITS = random.randn(B, C).astype("float32")
REDUCTIONS = ("", *("SUM SUM_OVER_BATCH_SIZE MEAN SUM_BY_NONZERO_WEIGHTS NONE".split()))
SPARSE_WEIGHTS = ["", "0.5", PER_EXAMPLE, PER_EXAMPLE[:, None]]
DENSE_WEIGHTS = ["", "0.5", PER_EXAMPLE[:, None], random.randint(0, 3, (B, C)).astype("float32")]

# Call, labels, predictions, weights.
CASES: list[tuple[str, np.ndarray, np.ndarray, list[Any]]] = [
    ("sparse_softmax_cross_entropy(labels, predictions", np.array([0, 2, 1, 1, 0, 2]), LOGITS, SPARSE_WEIGHTS),
    (
        "sparse_softmax_cross_entropy(labels, predictions",
        np.array([[0], [2], [1], [1], [0], [2]]),
        LOGITS,
        SPARSE_WEIGHTS,
    ),
    ("softmax_cross_entropy(labels, predictions", ONE_HOT, LOGITS, SPARSE_WEIGHTS[:3]),
    ("softmax_cross_entropy(labels, predictions, label_smoothing=0.1", ONE_HOT, LOGITS, SPARSE_WEIGHTS[:3]),
    ("sigmoid_cross_entropy(labels, predictions", ONE_HOT.astype("int64"), LOGITS, DENSE_WEIGHTS),
    ("sigmoid_cross_entropy(labels, predictions, label_smoothing=0.2", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("mean_squared_error(labels, predictions", ONE_HOT.astype("int32"), LOGITS, DENSE_WEIGHTS),
    ("absolute_difference(labels, predictions", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("huber_loss(labels, predictions", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("huber_loss(labels, predictions, delta=0.3", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("hinge_loss(labels, predictions", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("log_loss(labels, predictions", ONE_HOT, random.uniform(0, 1, (B, C)).astype("float32"), DENSE_WEIGHTS),
    (
        "log_loss(labels, predictions, epsilon=1e-3",
        ONE_HOT,
        random.uniform(0, 1, (B, C)).astype("float32"),
        DENSE_WEIGHTS,
    ),
    ("cosine_distance(labels, predictions, axis=1", ONE_HOT, LOGITS, DENSE_WEIGHTS[:3]),
    ("cosine_distance(labels, predictions, dim=-1", ONE_HOT, LOGITS, DENSE_WEIGHTS[:3]),
    ("compute_weighted_loss(labels - predictions", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("absolute_difference(labels - 1.0, predictions + 1.0", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("hinge_loss(labels, predictions + 1.0", ONE_HOT, LOGITS, DENSE_WEIGHTS),
    ("cosine_distance(labels + 1.0, predictions + 1.0, -1", ONE_HOT, LOGITS, DENSE_WEIGHTS[:3]),
    ("mean_pairwise_squared_error(labels, predictions", ONE_HOT, LOGITS, DENSE_WEIGHTS[:3]),
]


def written(call: str) -> str:
    """The program whose loss is this call."""
    body = "predictions = tf.layers.dense(features['x'], 3)"
    return migrate(model_fn(body, end=f"loss = {call}\n{TRAIN_OP}\n{SPEC}"))


def compiled(text: str) -> ast.expr | None:
    """What `compile` takes as loss."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    keywords = [k for call in calls if ast.unparse(call.func) == "model.compile" for k in call.keywords]
    return next((keyword.value for keyword in keywords if keyword.arg == "loss"), None)


def run_new(call: str, x: Any, labels: Any, out: Any) -> np.ndarray:
    text, scope = written(call), {"tf": tf, **vars(vendored)}
    given = compiled(text)
    if given is not None:
        model = tf.keras.Sequential()
        model.compile("sgd", loss=eval(ast.unparse(given), scope))
        return np.asarray(model.compute_loss(y=tf.constant(labels), y_pred=tf.constant(out)))
    exec(re.sub(r"    self.loss_metric.*\n", "", method(text, "compute_loss")), scope)
    loss: Any = scope["compute_loss"](types.SimpleNamespace(), x=x, y=tf.constant(labels), y_pred=tf.constant(out))
    return np.asarray(loss)


def run_old(call: str, x: Any, labels: Any, out: Any) -> np.ndarray:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        scope = {"tf": tf.compat.v1, "features": x, "labels": tf.constant(labels), "predictions": tf.constant(out)}
        return np.asarray(session.run(eval(call, scope)))


@pytest.mark.parametrize("case", range(len(CASES)), ids=lambda number: CASES[number][0].split("(")[0] + str(number))
def test_reductions_and_weights(case: int) -> None:
    head, labels, predictions, all_weights = CASES[case]
    reductions = ("",) if head.startswith("mean_pairwise") else REDUCTIONS
    for weights, reduction in itertools.product(all_weights, reductions):
        call = f"tf.losses.{head}"
        if not isinstance(weights, str):
            call += ", weights=features['w'] * 0.5 + 0.5 * features['w']"
        elif weights:
            call += f", weights={weights}"
        if reduction:
            call += f", reduction=tf.losses.Reduction.{reduction}"
        x = {"w": tf.constant(weights) if not isinstance(weights, str) else None}
        old_x = {"w": None if isinstance(weights, str) else weights}
        expected = run_old(call + ")", old_x, labels, predictions)
        actual = run_new(call + ")", x, labels, predictions)
        assert actual.shape == expected.shape, call
        np.testing.assert_allclose(actual, expected, rtol=2e-6, atol=1e-7, err_msg=call)
