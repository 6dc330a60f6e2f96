"""What `tf.metrics.*` of a model_fn is written as, run over several batches and compared with TensorFlow 1 in a graph."""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from modelfn.programs import LOSS, TRAIN_OP, method, migrate, model_fn

from migrator.runtime.losses_metrics import mean_errors, metrics

random = np.random.RandomState(0)
SPEC = 'return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops={"m": %s})'
WEIGHTS = np.array([0.0, 1.0, 2.0, 0.5, 1.0, 0.0, 1.0], "float32")


def reals(*shape: int) -> np.ndarray:
    return random.uniform(0.0, 1.0, shape).astype("float32")


def numbers(high: int, *shape: int) -> np.ndarray:
    return random.randint(0, high, shape)


def three(make: Any, *shape: int) -> list[np.ndarray]:
    """Batches of 7, 7 and 3 examples."""
    return [make(size, *shape) for size in (7, 7, 3)]


def classes(high: int) -> Any:
    return lambda *shape: numbers(high, *shape)


TOP = "tf.cast(tf.nn.top_k(predictions, 2)[1], tf.int64)"
# Arguments of the function of tf.metrics, and the batches of labels and predictions.
PAIRS: list[tuple[str, list[np.ndarray], list[np.ndarray]]] = [
    ("accuracy(labels, predictions", three(classes(2)), three(classes(2))),
    ("accuracy(labels, tf.reshape(predictions, [-1])", three(classes(2)), three(classes(2), 1)),
    ("mean(labels - predictions", three(reals), three(reals)),
    ("mean_squared_error(labels, predictions", three(reals), three(reals)),
    ("mean_squared_error(labels, predictions", three(reals), three(reals, 1)),
    ("mean_squared_error(labels + 1.0, predictions - 1.0", three(reals), three(reals)),
    ("mean_absolute_error(labels, predictions", three(reals, 1), three(reals)),
    ("mean_absolute_error(labels - 1.0, predictions - labels", three(reals), three(reals)),
    ("root_mean_squared_error(labels, predictions", three(reals), three(reals, 1)),
    ("root_mean_squared_error(labels, predictions", three(reals), three(reals)),
    ("mean_relative_error(labels, predictions, labels", three(reals), three(reals)),
    ("percentage_below(labels - predictions, 0.5 - 0.3", three(reals), three(reals)),
    ("auc(labels, predictions", three(classes(2)), three(reals)),
    ("auc(labels, predictions, num_thresholds=30, curve='PR'", three(classes(2)), three(reals)),
    ("auc(labels, predictions, curve='PR', summation_method='careful_interpolation'", three(classes(2)), three(reals)),
    ("precision(labels, predictions", three(classes(2)), three(classes(3))),
    ("recall(labels, predictions", three(classes(2)), three(classes(3))),
    ("false_positives(labels, predictions", three(classes(2)), three(classes(2))),
    ("true_negatives(labels, predictions", three(classes(2)), three(classes(2))),
    ("true_positives(labels, predictions", three(classes(2)), three(classes(2))),
    ("false_negatives(labels, predictions", three(classes(2)), three(classes(2))),
    ("true_positives_at_thresholds(labels, predictions, [0.3, 0.6]", three(classes(2)), three(reals)),
    ("true_negatives_at_thresholds(labels, predictions, [0.3, 0.6]", three(classes(2)), three(reals)),
    ("false_positives_at_thresholds(labels, predictions, [0.3, 0.6]", three(classes(2)), three(reals)),
    ("false_negatives_at_thresholds(labels, predictions, [0.3, 0.6]", three(classes(2)), three(reals)),
    ("precision_at_thresholds(labels, predictions, [0.3, 0.6]", three(classes(2)), three(reals)),
    ("recall_at_thresholds(labels, predictions, thresholds=[0.5]", three(classes(2)), three(reals)),
    ("mean_iou(labels, predictions, 3", three(classes(3)), three(classes(3))),
    ("mean_per_class_accuracy(labels, predictions, num_classes=3", three(classes(3)), three(classes(3))),
    ("sensitivity_at_specificity(labels, predictions, 0.4", three(classes(2)), three(reals)),
    ("specificity_at_sensitivity(labels, predictions, sensitivity=0.4", three(classes(2)), three(reals)),
    (
        "average_precision_at_k(labels, predictions, 2",
        [x.astype("int64") for x in three(classes(5), 1)],
        three(reals, 5),
    ),
    (
        "sparse_average_precision_at_k(labels, predictions, 2",
        [x.astype("int64") for x in three(classes(5), 1)],
        three(reals, 5),
    ),
    (
        "sparse_precision_at_k(labels, predictions, 2, class_id=1",
        [x.astype("int64") for x in three(classes(3), 2)],
        three(reals, 5),
    ),
    *(
        (f"{name}_at_top_k(labels, {TOP}", [x.astype("int64") for x in three(classes(5), 2)], three(reals, 5))
        for name in ("precision", "recall")
    ),
    ("recall_at_k(labels, predictions, k=2", [x.astype("int64") for x in three(classes(5), 1)], three(reals, 5)),
    ("precision_at_k(labels, predictions, 2", [x.astype("int64") for x in three(classes(5), 1)], three(reals, 5)),
]


def run_old(call: str, labels: list[np.ndarray], predictions: list[np.ndarray]) -> np.ndarray:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.compat.v1.placeholder(labels[0].dtype, (None, *labels[0].shape[1:]))
        p = tf.compat.v1.placeholder(predictions[0].dtype, (None, *predictions[0].shape[1:]))
        w = tf.compat.v1.placeholder("float32", (None,))
        scope = {"tf": tf.compat.v1, "features": {"w": w}, "labels": y, "predictions": p}
        value, update = eval(f"tf.metrics.{call}", scope)
        session.run(tf.compat.v1.local_variables_initializer())
        for label, prediction in zip(labels, predictions):
            session.run(update, {y: label, p: prediction, w: WEIGHTS[: len(label)]})
        return np.asarray(session.run(value))


def run_new(call: str, labels: list[np.ndarray], predictions: list[np.ndarray]) -> np.ndarray:
    # Outputs of any rank, as these are: of outputs [n, k] some metrics move to `compile`, for which [n] would be wrong.
    body = "predictions = tf.reshape(tf.layers.dense(features['x'], 3), features['shape'])"
    text = migrate(model_fn(body, end=f"{LOSS}\n{TRAIN_OP}\n{SPEC % f'tf.metrics.{call}'}"))
    scope: dict[str, Any] = {"tf": tf, **vars(metrics), **vars(mean_errors)}
    compiled = re.search(r"metrics=\[(.*)\]", text)
    if compiled is not None:  # a metric that Keras updates with labels and output
        metric = eval(compiled[1], scope)
        for label, prediction in zip(labels, predictions):
            metric.update_state(tf.constant(label), tf.constant(prediction))
        return np.asarray(metric.result())
    made = next(line for line in method(text, "__init__").splitlines() if "self.m = " in line)
    model = types.SimpleNamespace(get_metrics_result=lambda: None)
    exec(made.strip(), scope, {"self": model})
    exec(method(text, "compute_metrics"), scope)
    for label, prediction in zip(labels, predictions):
        x = {"w": tf.constant(WEIGHTS[: len(label)])}
        scope["compute_metrics"](model, x, tf.constant(label), tf.constant(prediction), None)
    return np.asarray(model.m.result())


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("case", range(len(PAIRS)), ids=lambda number: PAIRS[number][0].split("(")[0] + str(number))
def test_same_value(case: int, weighted: bool) -> None:
    head, labels, predictions = PAIRS[case]
    call = f"{head}, weights=features['w'])" if weighted else f"{head})"
    expected = run_old(call, labels, predictions)
    np.testing.assert_allclose(run_new(call, labels, predictions), expected, rtol=2e-6, atol=1e-7, err_msg=call)


def test_cosine_distance() -> None:
    labels, predictions = three(reals, 4), three(reals, 4)
    call = "mean_cosine_distance(labels, predictions, 1)"
    np.testing.assert_allclose(run_new(call, labels, predictions), run_old(call, labels, predictions), rtol=2e-6)
