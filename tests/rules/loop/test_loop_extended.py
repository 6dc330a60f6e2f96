"""Metrics and features that are added to canned Estimators, which become models of the program."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, joined, migrate, run

HEAD = """import tensorflow.compat.v1 as tf

KEY = "key"


def input_fn(repeat=1):
    data = {"x": [1.0, 2.0], "key": ["a", "b"]}, [0.0, 1.0]
    return tf.data.Dataset.from_tensor_slices(data).repeat(repeat).batch(2)


COLUMNS = [tf.feature_column.numeric_column("x", 1)]


"""
METRIC = """def my_rmse(labels, predictions):
    values = tf.squeeze(predictions["predictions"], axis=-1)
    return {"rmse": tf.metrics.root_mean_squared_error(labels=labels, predictions=values)}


"""
MADE = "estimator = tf.estimator.DNNRegressor([4], COLUMNS)\n"
USES = "estimator.train(lambda: input_fn(None), steps=5)\nprint(estimator.evaluate(input_fn))\n"
RMSE = 'tf.keras.metrics.RootMeanSquaredError(name="rmse")'


def written(text: str) -> str:
    """A program after migration, on long lines."""
    return joined(migrate(HEAD + text))


@pytest.mark.parametrize(
    "added",
    [
        f"{MADE}estimator = tf.estimator.add_metrics(estimator, my_rmse)\n",
        f"{MADE}estimator = tf.estimator.add_metrics(metric_fn=my_rmse, estimator=estimator)\n",
        f"base = {MADE[12:]}estimator = tf.estimator.add_metrics(base, my_rmse)\n",
        f"estimator = tf.estimator.add_metrics({MADE[12:-1]}, my_rmse)\n",
    ],
)
def test_a_metric_is_one_of_keras(added: str) -> None:
    text = written(METRIC + added + USES)
    assert RMSE in text and "my_rmse" not in text and "add_metrics" not in text
    assert "model = DNNRegressor([4], COLUMNS)\nmodel.compile(" in text and ".fit(" in text


FILLED = """def more(labels, predictions):
    metrics = {}
    values = tf.squeeze(predictions["predictions"])
    metrics["rmse"] = tf.metrics.root_mean_squared_error(labels, values)
    metrics["mae"] = tf.metrics.mean_absolute_error(labels, values)
    return metrics


"""


@pytest.mark.parametrize(("names", "kind"), [('["a", "b"]', "Binary"), ('["a", "b", "c"]', "SparseCategorical")])
def test_a_number_of_classes_that_the_program_says(names: str, kind: str) -> None:
    hits = 'def hits(labels, predictions):\n    return {"hits": tf.metrics.accuracy(labels, predictions["class_ids"])}\n\n\n'
    made = f"NAMES = {names}\nestimator = tf.estimator.LinearClassifier(COLUMNS, n_classes=len(NAMES))\n"
    text = written(f"{hits}{made}estimator = tf.estimator.add_metrics(estimator, hits)\n{USES}")
    assert f'{kind}Accuracy(name="hits"' in text and "def hits" not in text


def test_other_names_of_labels() -> None:
    named = FILLED.replace("    values =", "    true = labels\n    values =").replace(
        "(labels, values)", "(true, values)"
    )
    text = written(f"{named}{MADE}estimator = tf.estimator.add_metrics(estimator, more)\n{USES}")
    assert RMSE in text and "def more" not in text


def test_metrics_that_are_added_to_a_dict() -> None:
    text = written(f"{FILLED}{MADE}estimator = tf.estimator.add_metrics(estimator, more)\n{USES}")
    assert RMSE in text and 'MeanAbsoluteError(name="mae")' in text and "def more" not in text


@pytest.mark.parametrize(
    "more", ["    show(metrics)\n", "    metrics.update(others)\n", "    metrics[labels] = values\n"]
)
def test_a_dict_that_is_read_otherwise_stays(more: str) -> None:
    filled = FILLED.replace("    return", f"{more}    return")
    outcome = run(f"{HEAD}{filled}{MADE}estimator = tf.estimator.add_metrics(estimator, more)\n{USES}")[PATH]
    assert "def more" in outcome.after.decode()


def test_an_estimator_that_a_function_returns() -> None:
    build = f"def build():\n    {MADE}    return tf.contrib.estimator.add_metrics(estimator, my_rmse)\n\n\nestimator = build()\n"
    text = written(METRIC + build + USES)
    assert RMSE in text and "    return estimator\n\n\nestimator = build()\nestimator.fit(" in text


@pytest.mark.parametrize("told", ["tf.logging.info('made %s', estimator)", "print('made %s' % estimator)"])
def test_one_that_is_logged(told: str) -> None:
    text = written(f"{MADE}{told}\n{USES}")
    assert "estimator.fit(" in text and "made %s" in text


def test_one_that_another_function_of_tensorflow_gets_stays() -> None:
    outcome = run(f"{HEAD}{MADE}tf.identity(estimator)\n{USES}")[PATH]
    assert ".fit(" not in outcome.after.decode()


def test_metrics_of_classes_and_of_keras() -> None:
    metrics = """def more(labels, predictions):
    auc = tf.keras.metrics.AUC()
    auc.update_state(y_true=labels, y_pred=predictions["logistic"])
    return {
        "my_auc": auc,
        "hits": tf.metrics.accuracy(labels, predictions["class_ids"]),
        "auc": tf.metrics.auc(labels, predictions["probabilities"][:, 1]),
    }


"""
    made = "estimator = tf.estimator.LinearClassifier(COLUMNS)\nestimator = tf.estimator.add_metrics(estimator, more)\n"
    text = written(metrics + made + USES)
    assert 'tf.keras.metrics.AUC(name="my_auc", from_logits=True)' in text
    assert 'tf.keras.metrics.BinaryAccuracy(name="hits", threshold=0.0)' in text
    assert text.count('AUC(name="auc"') == 1  # in the place of that of the head


def test_classes_with_names() -> None:
    metrics = (
        'def hits(labels, predictions):\n    return {"hits": tf.metrics.accuracy(labels, predictions["KEY"])}\n\n\n'
    )
    made = 'estimator = tf.estimator.LinearClassifier(COLUMNS, n_classes=3, label_vocabulary=["a", "b", "c"])\n'
    made += "estimator = tf.estimator.add_metrics(estimator, hits)\n"
    assert 'SparseCategoricalAccuracy(name="hits")' in written(metrics.replace("KEY", "classes") + made + USES)
    assert "add_metrics(estimator, hits)" in written(metrics.replace("KEY", "class_ids") + made + USES)


def test_features_are_forwarded() -> None:
    made = f"{MADE}estimator = tf.contrib.estimator.forward_features(estimator, KEY)\n"
    text = written(made + USES + "for row in estimator.predict(input_fn):\n    print(row[KEY], row['predictions'])\n")
    assert "x, _, _ = tf.keras.utils.unpack_x_y_sample_weight(data)" in text and "KEY: x[KEY]" in text


def test_forwarded_features_that_nobody_reads() -> None:
    text = written(f"{MADE}estimator = tf.contrib.estimator.forward_features(estimator, 'key')\n{USES}")
    assert "predict_step" not in text and ".fit(" in text


SCALED = """class ScaledRootMeanSquaredError(tf.keras.metrics.RootMeanSquaredError):
    \"\"\"That of values times `scale`.\"\"\"

    def __init__(self, scale, name):
        super().__init__(name=name)
        self.scale = scale

    def update_state(self, y_true, y_pred, sample_weight=None):
        return super().update_state(y_true * self.scale, y_pred * self.scale, sample_weight)
"""


@pytest.mark.parametrize("scale", ["SCALE", "100"])
@pytest.mark.parametrize(
    ("labels", "values"),
    [
        ("labels * {0}", "predictions['predictions'] * {0}"),
        ("tf.reshape(labels, [-1, 1]) * {0}", "{0} * tf.cast(predictions['predictions'], tf.float64)"),
    ],
)
def test_a_metric_of_values_times_a_constant(labels: str, values: str, scale: str) -> None:
    body = f"tf.metrics.root_mean_squared_error({labels.format(scale)}, {values.format(scale)})"
    function = f'def more(labels, predictions):\n    return {{"rmse": {body}}}\n\n\n'
    text = written(f"SCALE = 1000\n\n\n{function}{MADE}estimator = tf.estimator.add_metrics(estimator, more)\n{USES}")
    assert SCALED in text and f'ScaledRootMeanSquaredError({scale}, name="rmse")' in text and "def more" not in text


def test_a_function_that_is_defined_again() -> None:
    """As cells of notebooks do that are run one after another."""
    other = METRIC.replace("root_mean_squared_error", "mean_absolute_error").replace('"rmse"', '"mae"')
    added = f"{MADE}estimator = tf.estimator.add_metrics(estimator, my_rmse)\n{USES}"
    text = written(METRIC + added + other + added)
    assert RMSE in text and 'MeanAbsoluteError(name="mae")' in text and "my_rmse" not in text


def test_one_that_is_read_in_a_function_stays() -> None:
    use = "def later():\n    return my_rmse\n\n\n"
    added = f"{MADE}estimator = tf.estimator.add_metrics(estimator, my_rmse)\n{USES}"
    assert written(METRIC + use + added + METRIC + added).count("def my_rmse") == 2


@pytest.mark.parametrize(
    "body",
    [
        'return {"rmse": tf.metrics.root_mean_squared_error(labels * 100, predictions["predictions"])}',
        'return {"rmse": tf.metrics.root_mean_squared_error(labels * 100, predictions["predictions"] * 10)}',
        'return {"rmse": tf.metrics.root_mean_squared_error(labels * KEY, predictions["predictions"] * labels)}',
        'return {"rmse": tf.metrics.root_mean_squared_error(labels, tf.cast(predictions["predictions"], tf.int32))}',
        'return {"rmse": tf.metrics.root_mean_squared_error(labels, predictions["predictions"], tf.ones([2]))}',
        'labels = labels + 1\n    return {"rmse": tf.metrics.mean_squared_error(labels, predictions["predictions"])}',
        'return {"mean": tf.metrics.mean(predictions["predictions"])}',
        'found = {}\n    found["a"] = tf.metrics.mean(predictions["predictions"])\n    return found',
        'print(labels)\n    return {"rmse": tf.metrics.mean_squared_error(labels, predictions["predictions"])}',
    ],
)
def test_another_computation_stays(body: str) -> None:
    text = written(
        f"def more(labels, predictions):\n    {body}\n\n\n{MADE}"
        f"estimator = tf.estimator.add_metrics(estimator, more)\n{USES}"
    )
    assert "add_metrics(estimator, more)" in text and ".fit(" not in text


@pytest.mark.parametrize(
    "made",
    [
        f"{MADE}estimator.train(lambda: input_fn(None), steps=1)\nestimator = tf.estimator.add_metrics(estimator, my_rmse)\n",
        f"{MADE}if KEY:\n    estimator = tf.estimator.add_metrics(estimator, my_rmse)\n",
        f"{MADE}estimator = tf.estimator.add_metrics(estimator, my_rmse)\nprint(my_rmse)\n",
        "estimator = tf.estimator.DNNRegressor([4], COLUMNS, label_dimension=2)\n"
        "estimator = tf.estimator.add_metrics(estimator, my_rmse)\n",
    ],
)
def test_another_estimator_stays(made: str) -> None:
    assert ".fit(" not in written(METRIC + made + USES)
