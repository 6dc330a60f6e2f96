"""Canned Estimators with a head of their own, and those that predict the same for all examples, trained by `fit`."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, run

INPUT = """import {tf} as tf


def input_fn(repeat=1):
    data = {{"x": [1.0, 2.0], "w": [1.0, 2.0]}}, [{labels}]
    return tf.data.Dataset.from_tensor_slices(data).repeat(repeat).batch(2)


COLUMNS = [tf.feature_column.numeric_column("x", 1)]
"""
TRAIN = "estimator.train(lambda: input_fn(None), steps=5)\n"
EVALUATE = "print(estimator.evaluate(input_fn))\n"
HEAD = "DNNEstimator(head={}, hidden_units=[4], feature_columns=COLUMNS)"
CONTRIB = "tf.contrib.estimator."


def program(
    made: str, uses: str = TRAIN, tf: str = "tensorflow.compat.v1", before: str = "", labels: str = "0, 1"
) -> str:
    """A program that makes an Estimator and uses it."""
    return f"{INPUT.format(tf=tf, labels=labels)}{textwrap.dedent(before)}estimator = tf.estimator.{made}\n{uses}"


def written(made: str, uses: str = TRAIN, **more: str) -> str:
    """It after migration, on long lines; nothing is vendored for it."""
    source = program(made, uses, **more)
    assert HELPERS not in run(source)
    return joined(migrate(source))


def kept(made: str, uses: str = TRAIN, **more: str) -> None:
    """It is one that stays with helpers."""
    source = program(made, uses, **more)
    assert HELPERS in run(source) and ".fit(" not in migrate(source)


def test_a_baseline() -> None:
    text = written("BaselineClassifier(n_classes=3)")
    expected = '''
        class BaselineClassifier(tf.keras.Model):
            """Logits [batch, 3]: the same for all examples."""

            def __init__(self, n_classes):
                super().__init__()
                self.bias = self.add_weight(name="bias", shape=[n_classes], initializer="zeros")

            def call(self, features):
                batch_size = tf.shape(tf.nest.flatten(features)[0])[0]
                return tf.tile(self.bias[tf.newaxis], [batch_size, 1])
        '''
    assert textwrap.dedent(expected) in text
    assert "model.compile(optimizer=tf.keras.optimizers.Ftrl(0.3), " in text
    assert "    def __init__(self):\n" in written("BaselineRegressor(optimizer='SGD')")


@pytest.mark.parametrize(
    ("head", "loss", "metrics"),
    [
        (
            "binary_classification_head()",
            "BinaryCrossentropy(from_logits=True)",
            "BinaryAccuracy AUC BinaryCrossentropy",
        ),
        ("multi_class_head(3)", "SparseCategoricalCrossentropy(from_logits=True)", "SparseCategoricalAccuracy"),
        ("multi_label_head(3)", "BinaryCrossentropy(from_logits=True)", "AUC BinaryCrossentropy"),
        ("regression_head()", "MeanSquaredError()", "MeanSquaredError"),
        ("logistic_regression_head()", "BinaryCrossentropy(from_logits=True)", "BinaryCrossentropy"),
    ],
)
def test_heads(head: str, loss: str, metrics: str) -> None:
    text = written(HEAD.format(CONTRIB + head), TRAIN + EVALUATE)
    assert f"loss=tf.keras.losses.{loss}, metrics=[" in text and "head" not in text
    found = [part.partition("(")[0] for part in text.split("tf.keras.metrics.")[1:]]
    assert found[: len(metrics.split())] == metrics.split()


def test_a_head_of_rates() -> None:
    text = written(HEAD.format(CONTRIB + "poisson_regression_head(compute_full_loss=False)"), TRAIN + EVALUATE)
    assert "    return tf.nn.log_poisson_loss(tf.cast(y_true, tf.float32), log_rates)\n\n\nclass " in text
    metric = 'tf.keras.metrics.MeanMetricWrapper(poisson_loss, name="average_loss")'
    assert f"loss=poisson_loss, metrics=[{metric}]," in text


def test_heads_of_tensorflow_2_have_exact_curves() -> None:
    head = HEAD.format("tf.estimator.MultiLabelHead(n_classes=3)")
    assert 'curve="PR"' in written(head, TRAIN + EVALUATE, tf="tensorflow")
    assert 'curve="PR"' not in written(HEAD.format(CONTRIB + "multi_label_head(3)"), TRAIN + EVALUATE)


def test_predictions_of_a_head() -> None:
    reads = 'print([p["predictions"] for p in estimator.predict(input_fn)])\n'
    text = written(HEAD.format(CONTRIB + "logistic_regression_head()"), TRAIN + reads)
    assert 'return {"predictions": tf.sigmoid(logits)}' in text
    kept(HEAD.format(CONTRIB + "multi_label_head(3)"), TRAIN + reads.replace("predictions", "class_ids"))


def test_thresholds_and_the_name_of_a_head() -> None:
    head = "binary_classification_head(name='clicks', thresholds=[0.3], weight_column='w')"
    text = written(HEAD.format(CONTRIB + head), TRAIN + EVALUATE)
    assert 'BinaryAccuracy(name="accuracy/positive_threshold_0.3/clicks", threshold=0.3)' in text
    assert 'AUC(name="auc/clicks")' in text and "weighted_metrics=[" in text
    labels = "tf.reshape(y, [-1, 1])"  # for the mean of losses with Keras 3
    assert f"return super().compute_metrics(x, {labels}, tf.sigmoid(y_pred), x[self.weight_column])" in text
    assert "return super().compute_loss(x, y, y_pred, x[self.weight_column])" in text


def test_classes_with_metrics_of_their_own() -> None:
    head = "multi_label_head(3, classes_for_class_based_metrics=[2])"
    text = written(HEAD.format(CONTRIB + head), TRAIN + EVALUATE)
    assert "class ClassAUC(tf.keras.metrics.AUC):" in text and 'ClassAUC(2, name="auc/class2")' in text
    one = written(HEAD.format(CONTRIB + head), TRAIN + 'print(estimator.evaluate(input_fn)["auc"])\n')
    assert "ClassAUC" not in one


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (HEAD.format("head"), "DNNClassifier(n_classes=3, hidden_units=[4], feature_columns=COLUMNS)"),
        ("DNNEstimator(head, [4], COLUMNS)", "DNNClassifier([4], COLUMNS, n_classes=3)"),
        (
            "LinearEstimator(feature_columns=COLUMNS, head=head)",
            "LinearClassifier(feature_columns=COLUMNS, n_classes=3)",
        ),
        ("BaselineEstimator(head, optimizer='SGD')", "BaselineClassifier(n_classes=3)"),
        ("BaselineEstimator(head)", "BaselineClassifier(n_classes=3)"),
    ],
)
def test_a_head_with_a_name(made: str, call: str) -> None:
    text = written(made, before=f"head = {CONTRIB}multi_class_head(3)\n")
    assert f"\n\n\nmodel = {call}\nmodel.compile(" in text and "head" not in text


def test_a_head_of_several_estimators() -> None:
    before = f"head = {CONTRIB}multi_class_head(3)\nfirst = tf.estimator.BaselineEstimator(head)\n"
    before += "first.train(lambda: input_fn(None), steps=5)\n"
    assert "head" not in written(HEAD.format("head"), before=before)


@pytest.mark.parametrize(
    ("head", "before"),
    [
        ("head", "head = tf.contrib.estimator.multi_class_head(3)\nprint(head)\n"),
        ("head", "def make(head):\n    return head\n\nhead = make(tf.contrib.estimator.multi_class_head(3))\n"),
        ("tf.contrib.estimator.multi_class_head(3, loss_fn=loss)", "def loss(labels, logits):\n    return logits\n"),
        ("tf.contrib.estimator.binary_classification_head(thresholds=LIMITS)", "LIMITS = load()\n"),
        ("tf.contrib.estimator.multi_label_head(2)", "def f(x):\n    return tf.SparseTensor(x, x, x)\n"),
        ("tf.contrib.estimator.poisson_regression_head(loss_reduction=tf.losses.Reduction.SUM)", ""),
    ],
)
def test_other_heads_stay_with_helpers(head: str, before: str) -> None:
    source = program(HEAD.format(head), before=before)
    assert ".fit(" not in run(source)["program.py"].after.decode()


@pytest.mark.parametrize(
    ("reduction", "weights"),
    [
        ("MEAN", "tf.reduce_mean(weights)"),
        ("SUM_BY_NONZERO_WEIGHTS", "tf.reduce_mean(tf.cast(weights != 0, tf.float32))"),
    ],
)
def test_means_by_weights(reduction: str, weights: str) -> None:
    text = written(f"LinearClassifier(COLUMNS, weight_column='w', loss_reduction=tf.losses.Reduction.{reduction})")
    assert (
        "        weights = tf.cast(x[self.weight_column], tf.float32)\n"
        f"        weights = tf.math.divide_no_nan(weights, {weights})\n"
        "        return super().compute_loss(x, y, y_pred, weights)\n"
    ) in text
    assert "return super().compute_metrics(x, y, y_pred, x[self.weight_column])" in text
    plain = written(f"LinearClassifier(COLUMNS, loss_reduction=tf.losses.Reduction.{reduction})")
    assert "compute_loss" not in plain and "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in plain


def test_the_sum_of_the_losses_of_several_numbers() -> None:
    text = written("LinearRegressor(COLUMNS, label_dimension=2)")
    assert 'loss=tf.keras.losses.MeanSquaredError(reduction="sum"), loss_weights=2' in text
    assert "loss_weights" not in written("LinearRegressor(COLUMNS)")


@pytest.mark.parametrize(
    ("column", "given"),
    [
        ("'w'", "'w'"),
        ("tf.feature_column.numeric_column('w')", "'w'"),
        ("tf.feature_column.numeric_column(key='w')", "'w'"),
        ("W", "W.key"),
    ],
)
def test_columns_of_weights(column: str, given: str) -> None:
    before = "W = tf.feature_column.numeric_column('w')\n" if column == "W" else ""
    text = written(f"LinearRegressor(COLUMNS, weight_column={column})", before=before)
    assert f"model = LinearRegressor(COLUMNS, weight_column={given})\n" in text
    kept("LinearRegressor(COLUMNS, weight_column=tf.feature_column.numeric_column('w', default_value=1.0))")


def test_means_of_labels_and_predictions() -> None:
    text = written("LinearClassifier(COLUMNS)", TRAIN + 'print(estimator.evaluate(input_fn)["prediction/mean"])\n')
    wrapper = "tf.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: tf.sigmoid(y_pred), "
    assert f'metrics=[{wrapper}name="prediction/mean")]' in text


def test_functions_that_two_heads_need() -> None:
    first = f"first = tf.estimator.BaselineEstimator({CONTRIB}poisson_regression_head({{}}))\n"
    first += "first.train(lambda: input_fn(None), steps=5)\n"
    rates = HEAD.format(CONTRIB + "poisson_regression_head()")
    assert written(rates, before=first.format("")).count("def poisson_loss(") == 1
    kept(rates, before=first.format("compute_full_loss=False"))
    assert "def column_weights(" in written(
        rates, before=first.format("").replace("Baseline", "Linear").replace("head())", "head(), COLUMNS)")
    )


def test_a_metric_that_may_be_read_under_its_name() -> None:
    reads = TRAIN + "for n in range(2):\n    r = estimator.evaluate(input_fn)\n    r = dict(r)\n    print(r[{}])\n"
    assert 'name="label/mean"' in written("LinearClassifier(COLUMNS)", reads.format('"label/mean"'))
    assert 'name="label/mean"' not in written("LinearClassifier(COLUMNS)", reads.format('"auc"'))
    kept("LinearClassifier(COLUMNS)", reads.format('"accuracy_baseline"'))


def test_weighted_sums_of_several_kinds() -> None:
    first = "first = tf.estimator.LinearRegressor(COLUMNS{})\nfirst.train(lambda: input_fn(None), steps=5)\n"
    text = written("LinearRegressor(COLUMNS, label_dimension=2)", before=first.format(""))
    assert 'def column_weights(column, units=1, combiner="sum"):' in text
    assert "[column_weights(column, label_dimension) for" in text and "[column_weights(column) for" in text
    assert "column_weights(column, combiner=sparse_combiner)" in written(
        "LinearRegressor(COLUMNS, label_dimension=2)", before=first.format(", sparse_combiner='mean'")
    )


SHARED = """\
import tensorflow as tf

head = tf.estimator.RegressionHead()


def optimize(loss):
    return tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())


def small(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1)
    return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=optimize)


def large(features, labels, mode):
    net = tf.layers.dense(features["x"], 8)
    return head.create_estimator_spec(features, mode, tf.layers.dense(net, 1), labels, train_op_fn=optimize)


def input_fn(count=None):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 4}, [0.0, 1.0, 0.0, 1.0])).repeat(count).batch(2)


for model_fn in (small, large):
    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(input_fn, steps=5)
"""


def test_a_head_of_several_model_fns() -> None:
    text = migrate(SHARED)
    assert "head" not in text and ".fit(input_fn().take(5))" in text
    assert HELPERS not in run(SHARED)


@pytest.mark.parametrize("use", ["print(head)\n", "heads = [head]\n"])
def test_a_head_that_is_read_elsewhere_stays(use: str) -> None:
    assert ".fit(" not in migrate(SHARED + use)
