"""Hooks that become callbacks, and the ops whose values they read."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3, name="fc")
    predictions = {{"p": tf.nn.softmax(logits, name="softmax_tensor")}}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.identity(loss, "cross_entropy")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(1)


e = tf.estimator.Estimator(model_fn)
{use}
"""
LOG = "tf.train.LoggingTensorHook(['softmax_tensor'], every_n_iter=5)"
STOP = "tf.train.StopAtStepHook(last_step=9)"


def used(use: str) -> str:
    """The last lines after migration."""
    return migrate(PROGRAM.format(use=use)).split("e = create_model()\n")[1].strip()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"e.train(input_fn, hooks=[{STOP}])", "train(e, input_fn, callbacks=[StopAtStep(last_step=9)])"),
        (
            f"e.train(input_fn, [{STOP}], None, 9)",
            "train(e, input_fn, callbacks=[StopAtStep(last_step=9)], steps=None, max_steps=9)",
        ),
        (f"h = {STOP}\ne.train(input_fn, hooks=[h])", "h = StopAtStep(last_step=9)\ntrain(e, input_fn, callbacks=[h])"),
        (
            f"hooks = []\nhooks.append({STOP})\ns = tf.estimator.TrainSpec(input_fn, 9, hooks)",
            "hooks = []\nhooks.append(StopAtStep(last_step=9))\ns = TrainSpec(input_fn, 9, callbacks=hooks)",
        ),
        (
            f"e.train(input_fn, hooks=[{LOG}])",
            "train(e, input_fn, callbacks=[TensorLogger(['softmax_tensor'], every_n_iter=5)])",
        ),
        (
            "e.train(input_fn, hooks=[tf.estimator.LoggingTensorHook({'a': 'x/cross_entropy:0'}, 5, None, False)])",
            "train(e, input_fn, callbacks=[TensorLogger({'a': 'x/cross_entropy:0'}, 5, None)])",
        ),
        (
            "h = tf.contrib.estimator.stop_if_no_increase_hook(e, 'a', 7, min_steps=2)",
            "h = stop_if_no_improvement(e, 'a', 7, min_steps=2, higher_is_better=True)",
        ),
        (
            "h = tf.estimator.experimental.stop_if_no_decrease_hook("
            "estimator=e, metric_name='a', max_steps_without_decrease=7)",
            "h = stop_if_no_improvement(model=e, metric_name='a', max_steps=7)",
        ),
        (
            "h = tf.estimator.experimental.stop_if_higher_hook(e, 'a', threshold=1)",
            "h = stop_if_threshold_crossed(e, 'a', threshold=1, higher_is_better=True)",
        ),
        ("h = tf.estimator.experimental.stop_if_lower_hook(e, 'a', 1)", "h = stop_if_threshold_crossed(e, 'a', 1)"),
        (
            "h = tf.estimator.experimental.make_early_stopping_hook(e, should_stop_fn=f, run_every_steps=3)",
            "h = StopWhen(e, should_stop_fn=f, run_every_steps=3)",
        ),
    ],
)
def test_hooks(old: str, new: str) -> None:
    assert used(old) == new


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("e.train(input_fn, hooks=[HOOK])  # HERE", "`hooks` of Estimator.train"),
        (f"e.train(input_fn, hooks=[{STOP}, HOOK])  # HERE", "`hooks` of Estimator.train"),
        ("e.train(input_fn, hooks=make_hooks())  # HERE", "`hooks` of Estimator.train"),
        (f"hooks = [{STOP}]\nhooks += more()\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator.train"),
        (f"hooks = [{STOP}]\nhooks.extend(more())  # HERE\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator"),
        (f"hooks = [{STOP}]\nfill(hooks)\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator.train"),
        (f"e.evaluate(input_fn, hooks=[{STOP}])", "`hooks` of Estimator.evaluate"),
        (f"s = tf.estimator.EvalSpec(input_fn, hooks=[{STOP}])", "`hooks` of tf.estimator.EvalSpec"),
        ("h = tf.train.StepCounterHook()", "StepCounterHook is not migrated yet"),
        ("h = tf.train.StopAtStepHook", "StopAtStepHook is not migrated yet"),
        ("h = tf.train.LoggingTensorHook(['softmax_tensor'], at_end=True)", "`at_end` of a LoggingTensorHook"),
        ("h = tf.train.LoggingTensorHook(['other'], 5)  # HERE", "the name other"),
        ("h = tf.train.LoggingTensorHook(['fc'], 5)  # HERE", "the name fc"),
        ("h = tf.train.LoggingTensorHook(NAMES, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook({k: k for k in NAMES}, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook({'a': TENSOR}, 5)  # HERE", "not given by its name"),
    ],
)
def test_refused(use: str, reason: str) -> None:
    assert reason in manual_reason(PROGRAM.format(use=use))


def test_the_model_hands_out_what_is_logged() -> None:
    names = "{'a': 'softmax_tensor', 'b': 'cross_entropy'}"
    text = migrate(PROGRAM.format(use=f"e.train(input_fn, hooks=[tf.train.LoggingTensorHook({names}, 5)])"))
    assert '"p": watch(self, "softmax_tensor", tf.nn.softmax(logits, name="softmax_tensor"))' in method(text, "call")
    assert '    watch(self, "cross_entropy", tf.identity(loss, "cross_entropy"))\n' in method(text, "compute_loss")


def test_nothing_is_handed_out_that_nobody_reads() -> None:
    assert "watch" not in migrate(PROGRAM.format(use=f"e.train(input_fn, hooks=[{STOP}])"))
