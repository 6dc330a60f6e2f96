"""Trainings that go on after the end of data of an unknown number, where Keras counts a step too many."""

from __future__ import annotations

import pytest
from modelfn.programs import method, migrate
from test_loop import ESTIMATOR, MODEL
from test_loop_summaries import ERROR, TAIL
from test_loop_summaries import HEAD as SUMMARIZED

LINES = MODEL.replace(".repeat(epochs)", ".repeat(epochs).filter(keep)")
TRAIN = "estimator.train(make_input_fn(8, 1))\n"
SAVING = ESTIMATOR.replace("model_fn,", 'model_fn, "model",')
WAITING = "with tf.control_dependencies(tf.nest.flatten(data, expand_composites=True)):\n"
STEP = f"""
    def train_step(self, data):
        # Else Keras counts a step where it finds that the data end.
        {WAITING}            return super().train_step(data)
"""


@pytest.mark.parametrize(
    "program",
    [
        ESTIMATOR + TRAIN + TRAIN,
        SAVING + TRAIN,  # a second run goes on
        f"{ESTIMATOR}for _ in range(2):\n    {TRAIN}",
        ESTIMATOR + TRAIN + "estimator.train(make_input_fn(8, 1), steps=100)\n",
        SAVING + "estimator.train(make_input_fn(8, 1), max_steps=100)\n",  # the data may end before
    ],
)
def test_the_step_waits_for_its_batch(program: str) -> None:
    text = migrate(LINES + program)
    assert STEP in text and "model.fit(" in text and "steps_per_execution" not in text


@pytest.mark.parametrize(
    "program",
    [
        LINES + ESTIMATOR + TRAIN,  # alone
        MODEL + ESTIMATOR + TRAIN + TRAIN,  # a number that TensorFlow knows
        LINES + ESTIMATOR + "estimator.train(make_input_fn(8, None), steps=9)\n" * 2,  # data without an end
    ],
)
def test_others_have_the_step_of_keras(program: str) -> None:
    text = migrate(program)
    assert "train_step" not in text and "model.fit(" in text


def test_a_step_of_its_own() -> None:
    clipped = "pairs = [(2.0 * g, v) for g, v in optimizer.compute_gradients(loss)]"
    train_op = "train_op = optimizer.apply_gradients(pairs, global_step=tf.train.get_global_step())"
    own = LINES.replace(
        "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())",
        f"optimizer = tf.train.GradientDescentOptimizer(0.1)\n    {clipped}\n    {train_op}",
    )
    text = migrate(own + ESTIMATOR + TRAIN + TRAIN)
    body = text[text.index("def train_step") :].partition("\n\n")[0].splitlines()
    assert body[2].strip() + "\n" == WAITING and all(line.startswith(" " * 12) for line in body[3:])
    assert "tf.GradientTape() as tape:" in body[4]


def test_summaries_are_written_around_it() -> None:
    text = migrate(
        SUMMARIZED
        + ERROR
        + TAIL.replace(".batch(2)", ".batch(2).filter(keep)")
        + 'estimator = tf.estimator.Estimator(model_fn, "model")\nestimator.train(input_fn)\n'
    )
    assert text.index("self.summary_writer.as_default(steps + 1)") < text.index(WAITING)
    assert f"            {WAITING}                return super().train_step(data)\n" in text


CANNED = "x = [tf.feature_column.numeric_column('x')]\nestimator = tf.estimator.LinearRegressor(x)\n"
BOTH = "DNNLinearCombinedRegressor(linear_feature_columns=x, dnn_feature_columns=x, dnn_hidden_units=[2])"


def test_canned_models() -> None:
    assert STEP in migrate(LINES + CANNED + TRAIN + TRAIN) and STEP not in migrate(LINES + CANNED + TRAIN)
    text = migrate(LINES + CANNED.replace("LinearRegressor(x)", BOTH) + TRAIN + TRAIN)
    body = text[text.index("def train_step") :].partition("\n\n")[0].splitlines()
    assert body[2].strip() + "\n" == WAITING and all(line.startswith(" " * 12) for line in body[3:])
    assert "steps_per_execution" not in text


def test_models_that_the_program_does_not_write_keep_the_helpers() -> None:
    keras = "estimator = tf.keras.estimator.model_to_estimator(model)\n"
    made = "model = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
    assert ".fit(" not in migrate(LINES + made + keras + TRAIN + TRAIN)


EVALUATED = """import tensorflow as tf


def model_fn(features, labels, mode):
    outputs = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.nn.relu(outputs - labels))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    metrics = {"error": tf.metrics.mean(tf.reduce_max(tf.abs(outputs - labels)))}
    return tf.estimator.EstimatorSpec(mode, predictions={"y": outputs}, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn():
    return DATA.batch(4)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(lambda: input_fn().repeat(), steps=5)
estimator.evaluate(input_fn)
"""


@pytest.mark.parametrize(
    ("data", "waits"),
    [
        ("tf.data.TextLineDataset(PATH).map(parse)", True),
        ("tf.data.Dataset.from_tensor_slices(load()).filter(is_good)", True),
        ("tf.data.Dataset.from_tensor_slices(load())", False),
    ],
)
def test_an_evaluation_counts_no_batch_behind_the_last(data: str, waits: bool) -> None:
    """Keras 3 updates metrics of single numbers once more where it finds that data of an unknown number end."""
    text = migrate(EVALUATED.replace("DATA", data))
    assert ".evaluate(" in text and ("def test_step" in text) is waits
    if waits:
        assert "control_dependencies(tf.nest.flatten(data" in method(text, "test_step")
