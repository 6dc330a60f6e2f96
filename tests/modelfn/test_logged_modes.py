"""Messages with the mode of a model_fn, which no Keras model is told."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate, model_fn, run

BODY = "{}\npredictions = tf.layers.dense(features['x'], 1)"


@pytest.mark.parametrize(
    "message",
    [
        "print(mode)",
        "print('mode: {}'.format(mode), params)",
        "tf.logging.info('*** Mode: %s ***', mode)",
        'tf.logging.info(f"mode {mode}")',
        "logging.info('mode ' + mode)",
    ],
)
def test_they_go_and_the_report_says_so(message: str) -> None:
    source = model_fn(BODY.format(message), before="import logging\nimport tensorflow as tf\n")
    assert "mode" not in migrate(source).split("class Model")[1].replace("model", "").replace("Model", "")
    said = [str(d) for d in run(source)[PATH].remaining]
    assert any("a message with the mode is dropped" in text for text in said), said


def test_others_stay() -> None:
    text = migrate(model_fn(BODY.format("print('units', params['units'])")))
    assert "print('units', params['units'])" in text


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("features['x'] = features['x'] + len(mode)", "the mode is used as a value"),
        ("send(mode)", "a statement that only has an effect is not migrated yet"),
    ],
)
def test_what_is_no_message_keeps_the_program(use: str, reason: str) -> None:
    source = model_fn(BODY.format(use), before="import tensorflow as tf\nfrom elsewhere import send\n")
    assert reason in manual_reason(source)


@pytest.mark.parametrize(
    "removal", ["metrics.pop('b')", "metrics.pop('b', None)", "del metrics['b']", "metrics.update(c=metrics.pop('b'))"]
)
def test_metrics_that_are_taken_out_again(removal: str) -> None:
    end = f"""\
        loss = tf.reduce_mean(tf.square(labels - predictions))
        metrics = {{"a": tf.metrics.mean(predictions), "b": tf.metrics.mean(labels)}}
        {removal}
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        """
    source = model_fn(BODY.format(""), end=end)
    if "update" in removal:
        assert "the metric `c` is none that is known" in manual_reason(source)
    else:
        text = migrate(source)
        assert 'Mean(name="a")' in text and 'name="b"' not in text
