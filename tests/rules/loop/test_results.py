"""What `train_and_evaluate` returns: the metrics of the last evaluation, out of the history of `fit`."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, run
from test_loop import ESTIMATOR, MODEL
from test_loop_train_and_evaluate import SAVES, SPECS, STEPS, VALIDATION, made

CALL = "tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)"
METRICS = 'metrics = {name[4:]: values[-1] for name, values in history.items() if name.startswith("val_")}'
STEP = 'metrics["global_step"] = model.optimizer.iterations.numpy()'
FIT = f"model.fit(make_input_fn(8, None)(), steps_per_epoch=5, epochs=4, {VALIDATION})"
EXPORTER = ", exporters=tf.estimator.FinalExporter('final', receive)"


def read(line: str, config: str = STEPS) -> str:
    return made(config, SPECS.replace(CALL, line)).replace("\n).history", ").history")


def test_a_tuple() -> None:
    text = read(f"result = {CALL}\nprint(result)")
    assert text == f"history = {FIT}.history\n{METRICS}\n{STEP}\nresult = metrics, []\nprint(result)"


def test_what_is_shown_gets_a_name() -> None:
    text = read(f"print('all', {CALL})")
    assert text == f"history = {FIT}.history\n{METRICS}\n{STEP}\nresults = metrics, []\nprint('all', results)"


def test_the_metrics_alone() -> None:
    text = read(f"metrics, _ = {CALL}\nprint(metrics)")
    assert text == f"history = {FIT}.history\n{METRICS}\n{STEP}\nprint(metrics)"
    text = read(f"metrics, exported = {CALL}\nprint(exported)")
    assert text.endswith("\nmetrics, exported = metrics_, []\nprint(exported)")


def test_names_that_nothing_reads() -> None:
    assert read(f"result = {CALL}") == read(f"_, _ = {CALL}") == FIT


def test_a_training_that_may_be_done() -> None:
    text = read(f"result = {CALL}\nprint(result)", SAVES)
    assert "\nmetrics = None\ndone = model.optimizer" in text and "\nresult = metrics, []\n" in text
    assert f"    {METRICS}\n    {STEP}\n" in text


@pytest.mark.parametrize(("use", "returned"), [("work()", False), ("print(work())", True)])
def test_what_a_function_returns(use: str, returned: bool) -> None:
    function = "def work():\n" + textwrap.indent(ESTIMATOR + SPECS.replace(CALL, f"return {CALL}"), "    ")
    files = run(f"{MODEL}{function}\n\n{use}\n")
    assert not any(path.startswith("tf2_") for path in files)
    text = files["program.py"].after.decode()
    assert ("\n    return metrics, []\n" in text) == ("history" in text) == returned
    assert "return model.fit" not in text and "\n    return\n" not in text


@pytest.mark.parametrize(
    ("line", "evaluated"),
    [
        (f"print(next(lines), {CALL})", ""),
        (f"result = {CALL}\nprint(result)", EXPORTER),
        (f"a = b = {CALL}\nprint(a)", ""),
    ],
)
def test_helpers_where_more_is_read(line: str, evaluated: str) -> None:
    specs = SPECS.replace("steps=None", f"steps=None{evaluated}")
    receive = "def receive():\n    x = {'x': tf.placeholder(tf.float32, [None, 2])}\n"
    receive += "    return tf.estimator.export.ServingInputReceiver(x, x)\n\n\n"
    assert HELPERS in run(MODEL + receive + ESTIMATOR + specs.replace(CALL, line))
