"""Metrics and losses of `tf.contrib` that are those of TensorFlow with their arguments in another order."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, PATH, TRAIN_OP, manual_reason, migrate, model_fn, run, units

BODY = "predictions = tf.layers.dense(features['x'], 3)"
SPEC = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op"


def with_metric(call: str, before: str = "") -> str:
    return model_fn(BODY, end=f'{LOSS}\n{TRAIN_OP}\n{SPEC}, eval_metric_ops={{"m": {call}}})', before=before)


def with_loss(call: str, before: str = "") -> str:
    return model_fn(BODY, end=f"loss = {call}\n{TRAIN_OP}\n{SPEC})", before=before)


# The end of the call of `tf.contrib.metrics.streaming_…`, and the call of `tf.metrics.…` that it is.
METRICS = [
    ("accuracy(predictions, labels)", "accuracy(labels, predictions)"),
    ("accuracy(predictions, labels, features['w'])", "accuracy(labels, predictions, features['w'])"),
    ("accuracy(labels=labels, predictions=predictions)", "accuracy(labels, predictions)"),
    ("mean(predictions, weights=features['w'])", "mean(predictions, features['w'])"),
    ("mean_tensor(predictions)", "mean_tensor(predictions)"),
    ("auc(predictions, labels, None, 50, curve='PR')", "auc(labels, predictions, num_thresholds=50, curve='PR')"),
    ("precision(predictions, labels)", "precision(labels, predictions)"),
    ("recall(tf.round(predictions), labels)", "recall(labels, tf.round(predictions))"),
    ("true_positives(predictions, labels)", "true_positives(labels, predictions)"),
    ("false_negatives(predictions, labels=labels)", "false_negatives(labels, predictions)"),
    ("mean_absolute_error(predictions, labels)", "mean_absolute_error(labels, predictions)"),
    ("root_mean_squared_error(predictions, labels)", "root_mean_squared_error(labels, predictions)"),
    ("mean_relative_error(predictions, labels, labels)", "mean_relative_error(labels, predictions, labels)"),
    ("mean_cosine_distance(predictions, labels, 1)", "mean_cosine_distance(labels, predictions, 1)"),
    ("mean_iou(predictions, labels, 3)", "mean_iou(labels, predictions, 3)"),
    ("percentage_less(predictions, 0.5)", "percentage_below(predictions, 0.5)"),
    ("recall_at_thresholds(predictions, labels, [0.5])", "recall_at_thresholds(labels, predictions, [0.5])"),
    ("sparse_recall_at_k(predictions, labels, 2)", "recall_at_k(labels, predictions, 2)"),
    ("sparse_precision_at_k(predictions, labels, 2, 1)", "precision_at_k(labels, predictions, 2, 1)"),
    ("sparse_average_precision_at_k(predictions, labels, 2)", "average_precision_at_k(labels, predictions, 2)"),
    (
        "sensitivity_at_specificity(predictions, labels, 0.5, None, 50)",
        "sensitivity_at_specificity(labels, predictions, 0.5, num_thresholds=50)",
    ),
]


@pytest.mark.parametrize(("old", "same"), METRICS)
def test_a_streaming_metric(old: str, same: str) -> None:
    expected = migrate(with_metric(f"tf.metrics.{same}"))
    assert migrate(with_metric(f"tf.contrib.metrics.streaming_{old}")) == expected


# The call of `tf.contrib.losses.…`, and the call of `tf.losses.…` that it is.
LOSSES = [
    ("absolute_difference(predictions, labels)", "absolute_difference(labels, predictions)"),
    ("mean_squared_error(predictions, labels, 0.5)", "mean_squared_error(labels, predictions, 0.5)"),
    ("log_loss(tf.sigmoid(predictions), labels)", "log_loss(labels, tf.sigmoid(predictions))"),
    ("cosine_distance(predictions, labels, 1)", "cosine_distance(labels, predictions, 1)"),
    ("sigmoid_cross_entropy(predictions, labels)", "sigmoid_cross_entropy(labels, predictions)"),
    (
        "softmax_cross_entropy(predictions, labels, features['w'], 0.1)",
        "softmax_cross_entropy(labels, predictions, features['w'], 0.1)",
    ),
    (
        "sparse_softmax_cross_entropy(predictions, labels, weights=features['w'])",
        "sparse_softmax_cross_entropy(labels, predictions, features['w'])",
    ),
    (
        "compute_weighted_loss(tf.square(predictions - labels))",
        "compute_weighted_loss(tf.square(predictions - labels))",
    ),
]


@pytest.mark.parametrize("package", ["tf.contrib", "tf.contrib.slim"])
@pytest.mark.parametrize(("old", "same"), LOSSES)
def test_a_loss(old: str, same: str, package: str) -> None:
    assert migrate(with_loss(f"{package}.losses.{old}")) == migrate(with_loss(f"tf.losses.{same}"))


def test_losses_that_are_collected() -> None:
    before = "import tensorflow as tf\nfrom tensorflow.contrib import slim\n"
    ends = [
        f"{m}.softmax_cross_entropy({logits}={{}}, onehot_labels=labels)\n{m}.add_loss(tf.nn.l2_loss(predictions))\n"
        f"loss = {m}.get_total_loss()\n{TRAIN_OP}\n{SPEC})"
        for m, logits in (("slim.losses", "logits"), ("tf.losses", "logits"))
    ]
    texts = [migrate(model_fn(BODY, end=end.format("predictions"), before=before)) for end in ends]
    assert "tf.nn.l2_loss(" in texts[0]
    assert texts[0].replace("from tensorflow.contrib import slim\n", "") == texts[1].replace(
        "from tensorflow.contrib import slim\n", ""
    )


def test_a_graph_has_them_by_their_names_in_compat_v1() -> None:
    for source, call in (
        (
            with_metric("tf.contrib.metrics.streaming_accuracy(predictions, labels)"),
            "tf.compat.v1.metrics.accuracy(predictions=predictions, labels=labels)",
        ),
        (
            with_loss("tf.contrib.slim.losses.mean_squared_error(tf.identity(predictions), labels)"),
            "tf.compat.v1.losses.mean_squared_error(predictions=tf.identity(predictions), labels=labels)",
        ),
    ):
        outcomes = run(source, "bridge")
        assert [unit.tier for unit in units(outcomes)] == ["bridge"]
        assert call in outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("mean_squared_error(predictions, labels, features['w'])", "broadcast otherwise"),
        ("mean_squared_error(*features['both'])", "hidden behind"),
        ("hinge_loss(predictions, labels)", "tf.contrib.losses.hinge_loss is not migrated yet"),
        ("mean_pairwise_squared_error(predictions, labels)", "is not migrated yet"),
        ("mean_squared_error(predictions, truth=labels)", "no argument `truth`"),
    ],
)
def test_what_is_another_loss_is_refused(call: str, reason: str) -> None:
    [unit] = units(run(with_loss(f"tf.contrib.losses.{call}"), "auto"))
    assert unit.tier == "manual" and reason in str(unit.reason)


def test_other_metrics_of_contrib_are_refused() -> None:
    source = with_metric("tf.contrib.metrics.streaming_concat(predictions)")
    assert "the metric `m` is none that is known" in manual_reason(source)
    assert "streaming_concat is not migrated yet" in str(units(run(source, "auto"))[0].reason)


def test_modules_of_other_names_are_left_alone() -> None:
    before = "import tensorflow as tf\nimport losses\n"
    assert "losses.mean_squared_error(y_pred" in migrate(
        with_loss("losses.mean_squared_error(predictions, labels)", before)
    )


@pytest.mark.parametrize(
    ("call", "made", "update"),
    [
        ("f1_score(labels, predictions, num_thresholds=50)", "BestF1Score(num_thresholds=50, ", "(y, y_pred)"),
        ("f1_score(labels, predictions, features['w'])", "BestF1Score(", "(y, y_pred, sample_weight=x['w'])"),
        ("streaming_pearson_correlation(predictions, labels)", "PearsonCorrelation(", "(y, y_pred)"),
    ],
)
def test_metrics_that_have_a_class_of_their_own(call: str, made: str, update: str) -> None:
    for package in ("tf.contrib", "tf.contrib.slim"):
        text = migrate(with_metric(f"{package}.metrics.{call}"))
        assert f"self.m = {made}" in text
        assert f"self.m.update_state{update}" in text
