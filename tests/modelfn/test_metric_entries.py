"""Metrics that a dict makes, and that are read by their keys."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

metric_entries = importlib.import_module("migrator.rules.losses_metrics.metric_entries")

NET = 'predictions = tf.layers.dense(features["x"], 3)'
MADE = 'metrics = {"mean": tf.metrics.mean(predictions, name="m"), "other": tf.metrics.mean(labels)}\n'
READ = 'tf.summary.scalar("mean", metrics["mean"][1])\n'
END = SPEC.replace(")", ", eval_metric_ops=metrics)")


def program(made: str = MADE, read: str = READ) -> str:
    return model_fn(NET, end=f"{LOSS}\n{made}{read}{TRAIN_OP}\n{END}")


def test_a_summary_reads_one() -> None:
    text = method(migrate(program()), "compute_metrics")
    assert 'tf.summary.scalar("mean_1", self.mean.result())' in text  # as the other metric is called so


def test_one_is_stored_and_read() -> None:
    made = 'metrics = {"other": tf.metrics.mean(labels)}\nmetrics["mean"] = tf.metrics.mean(predictions)\n'
    assert "self.mean.result()" in method(migrate(program(made)), "compute_metrics")


def test_both_are_read() -> None:
    text = migrate(program(read=READ + 'tf.summary.scalar("other", metrics["other"][1])\n'))
    assert "self.mean.result()" in text and "self.other.result()" in text


@pytest.mark.parametrize(
    "body",
    [
        '{MADE}if more:\n    metrics["mean"] = tf.metrics.mean(labels)\n{READ}',  # another metric by then
        'metrics = {{}}\nmetrics[key] = tf.metrics.mean(labels)\nkey = "other"\ntf.summary.scalar("x", metrics[key][1])\n',
        'metrics = {{}}\nmetrics[key()] = tf.metrics.mean(labels)\ntf.summary.scalar("x", metrics[key()][1])\n',
        'metrics = {{}}\nmetrics["mean"] = tf.metrics.mean(labels)\nmetrics.update(more)\n{READ}',
        'metrics = {{}}\nif more:\n    metrics["mean"] = tf.metrics.mean(labels)\n{READ}',
        "{MADE}metrics.update(more)\n{READ}",
        "{MADE}change(metrics)\n{READ}",
        '{MADE}del metrics["mean"]\n{READ}',
        "{MADE}kept = metrics\n{READ}",
        "{MADE}if more:\n    metrics = {{}}\n{READ}",
        'metrics = {{**more, "mean": tf.metrics.mean(predictions)}}\n{READ}',
        'metrics = {{"mean": tf.metrics.mean(labels), "mean": tf.metrics.mean(predictions)}}\n{READ}',
        'metrics = {{"mean": own(predictions)}}\n{READ}',
        "{MADE}tf.summary.scalar('x', metrics[key][1])\n",
        "{MADE}print(f\"{{metrics['mean'][1]}}\")\n",
        '{MADE}for metrics["mean"] in found:\n    pass\n{READ}',
    ],
)
def test_left_alone(body: str) -> None:
    source = "import tensorflow as tf\n\n\ndef f(predictions, labels, more, key, found):\n"
    source += textwrap.indent(body.format(MADE=MADE, READ=READ), "    ") + "    return metrics\n"
    module = Module("program.py", source)
    assert not metric_entries.expand.expand(Drafts(Project({})), module, module.tree.body[1])


def test_a_name_that_is_taken() -> None:
    source = f"import tensorflow as tf\n\n\ndef f(predictions, labels, mean):\n    {MADE}    {READ}    return metrics\n"
    module = Module("program.py", source)
    texts = {
        change.edit.text for change in metric_entries.expand.expand(Drafts(Project({})), module, module.tree.body[1])
    }
    assert any("mean_metric" in text for text in texts)
