"""Programs with hooks, as text."""

from __future__ import annotations

import textwrap

from modelfn.programs import joined, migrate, run, units

HEAD = """\
import os
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
EVERY = 20


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(labels - predictions), name="mse")
    error = tf.metrics.mean_absolute_error(labels, predictions)
    {summary}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={{"mae": error}}{evaluation})
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    {above}
    return tf.estimator.EstimatorSpec(mode, predictions={{"y": predictions}}, loss=loss, train_op=train_op{spec})


def input_fn(epochs=None):
    return tf.data.Dataset.from_tensor_slices(({{"x": [[1.0]] * 8}}, [[1.0]] * 8)).repeat(epochs).batch(2)


class Count(tf.train.SessionRunHook):
    def __init__(self, every=1):
        self.every = every

    def begin(self):
        self.n = 0

    def after_run(self, run_context, run_values):
        self.n += 1


def main(_):
    estimator = tf.estimator.Estimator(model_fn, {made}params={{"every": 7, "dir": FLAGS.dir}})
{use}

if __name__ == "__main__":
    tf.app.run()
"""
TRAIN = "estimator.train(input_fn, steps=20)\n"
SAVED = 'model_dir="here", '


def program(use: str = TRAIN, made: str = "", before: str = "", **parts: str) -> str:
    """One with `use` in its main; `parts` are those of the model_fn: `spec`, `evaluation`, `above`, `summary`."""
    told = {name: parts.get(name, "pass" if name in ("above", "summary") else "") for name in _PARTS}
    text = HEAD.format(use=textwrap.indent(textwrap.dedent(use), "    "), made=made, **told)
    return text.replace("\n\nclass Count", f"\n\n{textwrap.dedent(before)}\n\nclass Count", 1) if before else text


_PARTS = ("spec", "evaluation", "above", "summary")


def fitted(source: str) -> str:
    """What becomes of `main`, without line breaks at brackets; it must train by `fit`."""
    text = migrate(source)
    assert ".fit(" in text, units(run(source))
    return joined(text[text.index("def main(_)") :])


def stays(source: str) -> str:
    """Why it keeps the helpers."""
    outcomes = run(source)
    assert ".fit(" not in outcomes["program.py"].after.decode()
    return " ".join(str(unit) for unit in units(outcomes))


def messages(source: str) -> str:
    """All that is said."""
    return " ".join(d.message for outcome in run(source).values() for d in (*outcome.applied, *outcome.remaining))
