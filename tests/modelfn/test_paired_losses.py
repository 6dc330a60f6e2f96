"""Loops over tasks and their losses, side by side."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn
from modelfn.test_desugarings import expanded

from migrator.normalise.names.paired_losses import expand

LOSSES = "losses = [labels[t] - features[t] for t in tasks]"
BODY = 'total += tf.get_variable("w_" + task, []) * loss'


def _function(*rows: str, parameters: str = "features, labels, mode, tasks") -> str:
    inner = "".join(f"    {line}\n" for row in rows for line in row.split("\n"))
    return f"import tensorflow as tf\n\n\ndef model_fn({parameters}):\n{inner}"


def test_a_third_sequence_stays_beside_the_tasks() -> None:
    before = _function(LOSSES, f"for task, loss, size in zip(tasks, losses, sizes):\n    {BODY}")
    assert "for index, (task, size) in enumerate(zip(tasks, sizes)):\n        loss = losses[index]\n" in expanded(
        expand, before
    )


def test_losses_that_a_loop_appends() -> None:
    grown = "losses = []\nfor t in tasks:\n    losses.append(labels[t])"
    before = _function(grown, f"for task, loss in zip(tasks, losses):\n    {BODY}")
    assert "for index, task in enumerate(tasks):\n        loss = losses[index]\n" in expanded(expand, before)


def test_a_literal_has_as_many_losses_as_it_says() -> None:
    before = _function("losses = [labels, labels - 1]", f"for task, loss in enumerate(losses):\n    {BODY}")
    assert "for task in range(2):\n        loss = losses[task]\n" in expanded(expand, before)


LOOP = f"for task, loss in zip(tasks, losses):\n    {BODY}"


@pytest.mark.parametrize(
    "rows",
    [
        (LOSSES, "for task, loss in zip(tasks, losses):\n    total += loss"),
        ("losses = [features[t] for t in tasks]", LOOP),
        ("losses = {t: labels[t] for t in tasks}", LOOP),
        ("losses = (labels[t] for t in tasks)", LOOP),
        ("losses = zip(labels, labels)", LOOP),
        (LOSSES, "losses = list(losses)", LOOP),
        (LOSSES, f"{LOOP}\nelse:\n    total += 1"),
        (LOSSES, LOOP.replace("task, loss", "pair")),
        (LOSSES, LOOP.replace("task, loss", "(task, other), loss")),
        (LOSSES, LOOP.replace("zip(tasks, losses)", "zip(*tasks)")),
        (LOSSES, "zip = pairs", LOOP),
        ("other = [labels]", LOSSES, LOOP.replace("zip(tasks,", "zip(labels.keys(),")),
        ("losses = []\nlosses.append(labels)", LOOP.replace("zip(tasks, losses)", "enumerate(losses)")),
        ("losses = [labels[t] for t in tasks if t]", LOOP.replace("zip(tasks, losses)", "enumerate(losses)")),
    ],
)
def test_other_loops_are_left_alone(rows: tuple[str, ...]) -> None:
    assert expanded(expand, _function(*rows)) == _function(*rows)


def test_a_function_that_is_no_model_fn_is_left_alone() -> None:
    before = _function(LOSSES, LOOP, parameters="features, labels, tasks")
    assert expanded(expand, before) == before


def test_a_program_of_several_tasks_has_a_weight_for_each() -> None:
    text = migrate(
        model_fn(
            'logits = {t: tf.layers.dense(features["x"], 1, name=t) for t in params["tasks"]}\npredictions = logits',
            end="""
    losses = [tf.reduce_mean(tf.square(labels - logits[t])) for t in params["tasks"]]
    loss = 0.0
    for task, part in zip(params["tasks"], losses):
        variance = tf.get_variable("variance_" + task, [], initializer=tf.zeros_initializer())
        loss += tf.exp(-variance) * part + variance
    metrics = {}
    for task, part in zip(params["tasks"], losses):
        metrics["loss_" + task] = tf.metrics.mean(part)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
""",
        )
    )
    assert "for index, variance in enumerate(self.variance_variables):\n            part = losses[index]\n" in text
    assert 'tf.keras.metrics.Mean(name="loss_" + task)' in text
    assert "metric.update_state(part)" in text
