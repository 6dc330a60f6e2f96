"""Metrics of `tf.contrib.metrics` that have a class of their own, against `tf_slim`, which is the code of contrib."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest
import tensorflow as tf

from migrator.runtime.graph_contrib.v1_metrics import streaming_covariance, streaming_pearson_correlation
from migrator.runtime.losses_metrics.metrics_contrib import BestF1Score, PearsonCorrelation

slim = pytest.importorskip("tf_slim").metrics
random = np.random.RandomState(0)
SIZES = (7, 7, 3)
WEIGHTS = [np.array([0.0, 1.0, 2.0, 0.5, 1.0, 0.0, 3.0], "float32")[:size] for size in SIZES]
SCORES = [random.rand(size).astype("float32") for size in SIZES]
CLASSES = [random.randint(0, 2, size) for size in SIZES]
RATINGS = [(2.0 * scores + random.randn(len(scores)) + 3.0).astype("float32") for scores in SCORES]

# The function of contrib, given labels, predictions and weights; its replacement; labels.
METRICS: dict[str, tuple[Callable[..., Any], Callable[[], Any], list[np.ndarray]]] = {
    "f1_score": (slim.f1_score, BestF1Score, CLASSES),
    "f1_score of few thresholds": (
        lambda y, p, w=None: slim.f1_score(y, p, w, num_thresholds=7),
        lambda: BestF1Score(num_thresholds=7),
        CLASSES,
    ),
    "pearson": (
        lambda y, p, w=None: slim.streaming_pearson_correlation(p, y, w),
        PearsonCorrelation,
        RATINGS,
    ),
}


def expected(build: Callable[..., Any], labels: list[np.ndarray], weighted: bool, column: bool) -> float:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        y = tf.compat.v1.placeholder(labels[0].dtype, [None, 1] if column else [None])
        p = tf.compat.v1.placeholder("float32", [None])
        w = tf.compat.v1.placeholder("float32", [None])
        value, update = build(y, p, w) if weighted else build(y, p)
        session.run(tf.compat.v1.local_variables_initializer())
        for label, scores, weights in zip(labels, SCORES, WEIGHTS):
            session.run(update, {y: label[:, None] if column else label, p: scores, w: weights})
        return float(session.run(value))


@pytest.mark.parametrize("column", [False, True], ids=["", "column"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", METRICS)
def test_same_value(name: str, weighted: bool, column: bool) -> None:
    build, create, labels = METRICS[name]
    metric = create()

    @tf.function
    def update(*given: Any) -> None:
        metric.update_state(*given)

    for label, scores, weights in zip(labels, SCORES, WEIGHTS):
        given = tf.constant(label[:, None] if column else label)
        update(given, tf.constant(scores), tf.constant(weights) if weighted else None)
    actual = float(metric.result())
    assert 0.1 < abs(actual) < 1.0
    np.testing.assert_allclose(actual, expected(build, labels, weighted, column), rtol=1e-6)
    metric.reset_state()
    assert not any(np.any(variable.numpy()) for variable in metric.variables)


def test_matrices_and_batches_without_weight() -> None:
    metric, whole = PearsonCorrelation(), PearsonCorrelation()
    labels, predictions = random.randn(6, 4).astype("float32"), random.randn(6, 4).astype("float32")
    for rows, weight in ((slice(0, 4), 1.0), (slice(1, 3), 0.0), (slice(4, 6), 1.0)):
        metric.update_state(labels[rows], predictions[rows], tf.fill([len(labels[rows]), 1], weight))
    whole.update_state(labels, predictions)
    np.testing.assert_allclose(metric.result(), np.corrcoef(labels.ravel(), predictions.ravel())[0, 1], rtol=1e-5)
    np.testing.assert_allclose(metric.result(), whole.result(), rtol=1e-5)
    assert np.isnan(PearsonCorrelation().result())


@pytest.mark.parametrize("column", [False, True], ids=["", "column"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("ours", [streaming_covariance, streaming_pearson_correlation])
def test_same_value_in_graphs(ours: Callable[..., Any], weighted: bool, column: bool) -> None:
    theirs = getattr(slim, ours.__name__)
    values = [expected(lambda y, p, w=None: build(p, y, w), RATINGS, weighted, column) for build in (theirs, ours)]
    assert 0.01 < abs(values[0]) < 1.0
    np.testing.assert_allclose(values[1], values[0], rtol=1e-6)


def test_what_an_update_of_a_graph_returns() -> None:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        p = tf.compat.v1.placeholder("float32", [None])
        pairs = [
            build(p, p * p + 1.0, name=build.__name__) for build in (streaming_covariance, slim.streaming_covariance)
        ]
        both = [streaming_pearson_correlation(p, p * p, updates_collections="updates")[1]]
        assert graph.get_collection("updates") == both
        session.run(tf.compat.v1.local_variables_initializer())
        assert np.isnan(session.run([value for value, _ in pairs])).all()
        for scores in SCORES:
            ours, theirs = session.run([update for _, update in pairs], {p: scores})
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)
