"""Metrics that are computed from others, and loops over a dict of metrics."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, TRAIN_OP, joined, manual_reason, method, migrate, model_fn

DENSE = 'predictions = tf.layers.dense(features["x"], 3)'
SPEC = (
    "return tf.estimator.EstimatorSpec("
    "mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)"
)
PARTS = "p, p_op = tf.metrics.mean(predictions)\nr, r_op = tf.metrics.mean(labels)\n"
F1 = 'metrics = {"f1": (2 * p * r / (p + r), tf.group(p_op, r_op))}'


def program(metrics: str, before: str = "") -> str:
    """A model_fn whose statements `metrics` set `metrics`."""
    return model_fn(DENSE, end=f"{LOSS}\n{metrics}\n{TRAIN_OP}\n{SPEC}", before=before)


@pytest.mark.parametrize(
    "metrics",
    [
        PARTS + F1,
        PARTS + 'metrics = {"f1": (2 * p * r / (p + r), tf.group(*[p_op, r_op]))}',
        PARTS + 'both = tf.group(p_op, r_op)\nmetrics = {"f1": (2 * p * r / (p + r), both)}',
        PARTS + 'metrics = {}\nmetrics["f1"] = (2 * p * r / (p + r), tf.tuple([p_op, r_op]))',
        PARTS
        + """
with tf.control_dependencies([p_op, r_op]):
    update = tf.identity(2 * p * r / (p + r))
metrics = {"f1": (2 * p * r / (p + r), update)}
""",
    ],
)
def test_parts_that_are_no_metrics_themselves(metrics: str) -> None:
    text = migrate(program(metrics))
    results = method(text, "get_metrics_result")
    assert "results = super().get_metrics_result()\n    p = self.p.result()\n    r = self.r.result()\n" in results
    assert 'results["f1"] = 2 * p * r / (p + r)\n    del results["p"]\n    del results["r"]\n' in results
    assert method(text, "compute_metrics").count("update_state") == 2
    assert "metrics = " not in method(text, "compute_metrics")


def test_parts_that_are_metrics_too() -> None:
    text = migrate(program(PARTS + F1.replace("{", '{"p": (p, p_op), "recall": (r, r_op), ')))
    results = method(text, "get_metrics_result")
    assert "p = self.p.result()\n    r = self.recall.result()\n" in results and "del" not in results


def test_a_part_whose_pair_has_a_name() -> None:
    text = migrate(program('m = tf.metrics.mean(predictions)\nmetrics = {"root": (tf.sqrt(m[0]), m[1])}'))
    assert 'results["root"] = tf.sqrt(self.m.result())\n    del results["m"]' in method(text, "get_metrics_result")


def test_names_of_parts_and_of_metrics_do_not_meet() -> None:
    text = migrate(program(PARTS + 'metrics = {"f1": (p + r, tf.group(p_op, r_op)), "p": tf.metrics.mean(labels)}'))
    assert 'del results["p_part"]' in method(text, "get_metrics_result")


def test_a_constant() -> None:
    text = migrate(program('metrics = {"rate": (tf.constant(0.1), tf.no_op()), "m": tf.metrics.mean(labels)}'))
    assert 'results["rate"] = tf.constant(0.1)' in method(text, "get_metrics_result")


def test_a_function_of_the_program() -> None:
    before = """
def f1(labels, predictions):
    with tf.name_scope("f1"):
        p, p_op = tf.metrics.precision(labels, predictions)
        r, r_op = tf.metrics.recall(labels, predictions)
        return 2 * p * r / (p + r + 1e-7), tf.group(p_op, r_op)
"""
    text = migrate(program('metrics = {"f1": f1(labels, predictions > 0.5)}', before))
    assert 'results["f1"] = 2 * p * r / (p + r + 1e-7)' in method(text, "get_metrics_result")


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        (PARTS + 'metrics = {"f1": (p + r, p_op)}', "the update of the metric `f1` does not run those of its parts"),
        (PARTS + 'metrics = {"f1": (p_op + r_op, tf.group(p_op, r_op))}', "is that of an update"),
        (PARTS + 'metrics = {"f1": (p + tf.reduce_mean(labels), p_op)}', "from tensors, not from metrics alone"),
        ('metrics = {"f1": (tf.metrics.mean(labels)[0], tf.no_op())}', "`f1` is none that is known"),
        (PARTS + 'metrics = {"f1": (p, tf.group(p_op, tf.assign_add(total, 1)))}', "`f1` is none that is known"),
        (PARTS + 'metrics = {"f1": (p + r, run(p_op, r_op))}', "`f1` is none that is known"),
    ],
)
def test_refused(metrics: str, reason: str) -> None:
    assert reason in manual_reason(program(metrics))


DICT = 'metrics = {"mean": tf.metrics.mean(predictions), "label/mean": tf.metrics.mean(labels, name="l")}\n'


@pytest.mark.parametrize(
    ("loop", "tags"),
    [
        ("for name, metric in metrics.items():\n    tf.summary.scalar(name, metric[1])", ("mean_1", "label/mean")),
        (
            "for n, (value, update) in metrics.items():\n    tf.summary.scalar('t/' + n, update)",
            ("t/mean", "t/label/mean"),
        ),
        ("for n in metrics:\n    tf.summary.scalar('t_%s' % n, metrics[n][1])", ("t_mean", "t_label/mean")),
        (
            "for n in metrics.keys():\n    tf.summary.scalar('{}/t'.format(n), metrics[n][1])",
            ("mean/t", "label/mean/t"),
        ),
        ("for n, m in sorted(six.iteritems(metrics)):\n    tf.summary.scalar(f'x{n}', m[1])", ("xmean", "xlabel/mean")),
    ],
)
def test_loops_over_metrics(loop: str, tags: tuple[str, str]) -> None:
    written = method(migrate(program(DICT + loop)), "compute_metrics")
    assert f'tf.summary.scalar("{tags[0]}", self.mean.result())' in joined(written)
    assert f'tf.summary.scalar("{tags[1]}", self.label_mean.result())' in joined(written)


def test_a_loop_over_a_dict_that_is_filled_in_steps() -> None:
    dictionary = 'm = tf.metrics.mean(labels)\nmetrics = {"mean": tf.metrics.mean(predictions)}\nmetrics["label"] = m\n'
    text = migrate(program(dictionary + "for n, v in metrics.items():\n    tf.summary.scalar('t/' + n, v[1])"))
    assert 'tf.summary.scalar("t/label", self.label.result())' in method(text, "compute_metrics")


def test_summaries_of_an_evaluation_are_written_by_nobody() -> None:
    loop = (
        "if mode == tf.estimator.ModeKeys.EVAL:\n    for n, m in metrics.items():\n        tf.summary.scalar(n, m[1])"
    )
    assert "summary" not in migrate(program(DICT + loop))


@pytest.mark.parametrize(
    "metrics",
    [
        DICT + "for n, m in metrics.items():\n    seen = n\n    tf.summary.scalar(n, m[1])",
        DICT + "for n, m in metrics.items():\n    tf.summary.scalar(n, m[-1])",
        DICT + "for n, m in metrics.items():\n    tf.summary.scalar(n, m[1])\nelse:\n    pass",
        DICT + "metrics.pop('mean')\nfor n, m in metrics.items():\n    tf.summary.scalar(n, m[1])",
        'metrics = {"mean": tf.metrics.mean(predictions)}\n'
        + 'z = 1; metrics["label"] = tf.metrics.mean(labels)\n'
        + "for n, m in metrics.items():\n    tf.summary.scalar(n, m[1])",
        DICT.replace("metrics = ", "metrics = {}\nif params['z']:\n    metrics = ")
        + "for n, m in metrics.items():\n    tf.summary.scalar(n, m[1])",
    ],
)
def test_other_loops_are_left_alone(metrics: str) -> None:
    manual_reason(program(metrics))
