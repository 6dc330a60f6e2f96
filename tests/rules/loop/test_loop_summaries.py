"""Summaries of a model_fn beside a folder of checkpoints: `train_step` writes them, at the steps that they had."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import migrate, run
from test_loop import said

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
"""
TAIL = """\
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat(epochs).batch(2)


"""
ERROR = '    tf.summary.scalar("error", tf.sqrt(loss))\n'
TRAIN = """\
estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(lambda: input_fn(None), max_steps=200)
"""


def migrated(summaries: str = ERROR, loop: str = TRAIN) -> str:
    return migrate(HEAD + summaries + TAIL + textwrap.dedent(loop))


def test_the_step_of_a_training_writes_them() -> None:
    text = migrated(loop=TRAIN.replace('"model")', '"model", tf.estimator.RunConfig(save_summary_steps=7))'))
    step = """
    def train_step(self, data):
        steps = self.optimizer.iterations
        recorded = steps % self.summary_steps == 0
        with self.summary_writer.as_default(steps + 1), tf.summary.record_if(recorded):
            return super().train_step(data)
"""
    assert step in text and "test_step" not in text
    assert "        self.summary_writer = tf.summary.create_noop_writer()\n        self.summary_steps = 100\n" in text
    assert '\nmodel.summary_writer = tf.summary.create_file_writer("model")\nmodel.summary_steps = 7\n' in text
    assert (
        "SGD(0.1)" in text
        and "jit_compile=False)" in text
        and "steps_per_execution" not in text
        and "model.fit(" in text
    )


def test_tags_of_grouped_steps_are_not_named_after_their_loop() -> None:
    text = migrated(loop=TRAIN.replace("200", "2000"))
    assert "steps_per_execution=100, jit_compile=False)" in text and "model.summary_steps" not in text
    writing = 'with tf.name_scope(""), self.summary_writer.as_default(steps + 1), tf.summary.record_if(recorded):\n'
    assert writing in text


def test_evaluations_during_a_training_write_none() -> None:
    text = migrated(
        loop="""\
        estimator = tf.estimator.Estimator(model_fn, "model")
        train_spec = tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=20)
        tf.estimator.train_and_evaluate(estimator, train_spec, tf.estimator.EvalSpec(input_fn))
        """
    )
    step = """
    def test_step(self, data):
        with tf.summary.record_if(False):
            return super().test_step(data)
"""
    assert step in text and "validation_data=" in text


def test_a_train_step_of_its_own_writes_them() -> None:
    summaries = """\
    pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
    tf.summary.scalar("norm", tf.global_norm([gradient for gradient, _ in pairs]))
"""
    tail = TAIL.replace("minimize(loss,", "apply_gradients([(2.0 * g, v) for g, v in pairs],")
    text = migrate(HEAD + summaries + tail + TRAIN.replace("200", "20"))
    body = text[text.index("def train_step") :]
    body = body[: body.index("\n\n")]
    lines = body.splitlines()
    assert "as_default(steps + 1)" in lines[3] and all(line.startswith(" " * 12) for line in lines[4:])
    assert '            tf.summary.scalar("norm", ' in body and "return self.compute_metrics(" in lines[-1]


def test_names_of_the_program_are_not_taken() -> None:
    summaries = """\
    steps = 0.5
    pairs = tf.train.GradientDescentOptimizer(0.1).compute_gradients(loss)
    tf.summary.scalar("norm", tf.global_norm([gradient for gradient, _ in pairs]))
"""
    tail = TAIL.replace("minimize(loss,", "apply_gradients([(steps * g, v) for g, v in pairs],")
    text = migrate(HEAD + summaries + tail + TRAIN)
    assert "steps_ = self.optimizer.iterations" in text and "as_default(steps_ + 1)" in text


def test_summaries_of_evaluations_alone_ask_for_nothing() -> None:
    summaries = """\
    if mode == tf.estimator.ModeKeys.EVAL:
        tf.summary.scalar("error", tf.sqrt(loss))
        return tf.estimator.EstimatorSpec(mode, loss=loss)
"""
    text = migrated(summaries)
    assert "model.fit(" in text and "train_step" not in text and "summary_writer" not in text


def test_a_folder_that_may_be_none() -> None:
    flag = 'tf.flags.DEFINE_string("model_dir", None, "")\n'
    text = migrated(loop=flag + TRAIN.replace('"model"', "tf.flags.FLAGS.model_dir"))
    assert "model.summary_writer = tf.summary.create_file_writer(checkpoints.directory)\n" in text


def test_without_a_folder_there_is_nothing_to_write_to() -> None:
    text = migrated(loop=TRAIN.replace(', "model"', ""))
    assert "summary_writer" not in text and "jit_compile" not in text and "model.fit(" in text


def test_a_model_without_summaries_has_no_step_of_its_own() -> None:
    text = migrated("")
    assert "train_step" not in text and "summary_writer" not in text and "model.fit(" in text


def test_summaries_of_layers_keep_their_tags() -> None:
    text = migrated('    tf.summary.histogram("predictions", predictions)\n')
    lines = """\
        with tf.name_scope(""):  # so that Keras puts no prefix before the tag
            tf.summary.histogram("predictions", predictions)
"""
    assert lines in text and "super().train_step(data)" in text and "model.fit(" in text
    assert 'model.summary_writer = tf.summary.create_file_writer("model")\n' in text


@pytest.mark.parametrize(
    ("again", "told"),
    [
        ("estimator.train(input_fn)\n", True),
        ("for _ in range(2):\n    estimator.train(input_fn)\n", True),
        ("estimator.train(lambda: input_fn(None), steps=150)\n", True),
        ("estimator.train(lambda: input_fn(2), steps=200)\n", True),  # data may end before
        ("estimator.train(lambda: input_fn(None), steps=200)\n", False),  # begins where a summary is due
        ("estimator.evaluate(input_fn)\n", False),
    ],
)
def test_several_trainings_write_by_the_steps_of_all(again: str, told: bool) -> None:
    source = HEAD + ERROR + TAIL + TRAIN + again
    text = migrate(source)
    assert ".fit(" in text and "self.summary_writer.as_default(steps + 1)" in text
    assert ("every 100 steps of all trainings" in said(run(source))) is told


def test_several_trainings_without_summaries_ask_for_no_remark() -> None:
    source = HEAD + TAIL + TRAIN + "estimator.train(input_fn)\n"
    assert ".fit(" in migrate(source) and "summaries" not in said(run(source))


def test_summaries_of_a_function_that_becomes_a_layer() -> None:
    helper = """\
def block(x):
    net = tf.layers.dense(x, 3)
    tf.summary.histogram("net", net)
    return tf.layers.dense(net, 1)


def model_fn("""
    source = (
        (HEAD + TAIL + TRAIN)
        .replace("def model_fn(", helper)
        .replace('tf.layers.dense(features["x"], 1)', 'block(features["x"])')
    )
    text = migrate(source)
    assert 'tf.summary.histogram("net", net)' in text and 'with tf.name_scope(""):' in text
    assert "self.summary_writer.as_default(steps + 1)" in text and "model.fit(" in text
    assert 'model.summary_writer = tf.summary.create_file_writer("model")\n' in text


@pytest.mark.parametrize(
    "summaries",
    [
        """\
    accuracy = tf.metrics.accuracy(labels, predictions)
    tf.summary.histogram("accuracy", accuracy[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
""",
    ],
)
def test_left_with_helpers(summaries: str) -> None:
    text = migrated(summaries)
    assert "configure(" in text and ".fit(" not in text
