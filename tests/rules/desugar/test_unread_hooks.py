"""Hooks, exporters and specs that nothing is given."""

from __future__ import annotations

import textwrap

import pytest
from desugared import ESTIMATOR, MODEL, TRAIN, plain
from modelfn.programs import run

HOOK = 'hook = tf.train.LoggingTensorHook({"probabilities": "softmax"}, every_n_iter=50)\n'
HOOKED = "hook = tf.train.StopAtStepHook(last_step=10)\n"


def main(made: str, after: str = "") -> str:
    body = f"{made}{ESTIMATOR}{TRAIN}{after}"
    return f"{MODEL}def main():\n{textwrap.indent(body, '    ')}\n\nmain()\n"


@pytest.mark.parametrize(
    "made",
    [
        HOOK,
        "logged = {'loss': 'softmax'}\nhook = tf.train.LoggingTensorHook(tensors=logged, every_n_iter=50)\n",
        "hook = tf.train.StopAtStepHook(last_step=10)\n",
        "spec = tf.estimator.EvalSpec(make_input_fn, steps=None)\n",
        "exporter = tf.estimator.FinalExporter('exporter', make_input_fn)\n",
        "settings = tf.estimator.RunConfig(session_config=tf.ConfigProto())\n",
    ],
)
def test_what_nothing_reads(made: str) -> None:
    assert plain(main(made)) == plain(main(""))


def test_what_stands_at_the_top_of_a_file_may_be_imported() -> None:
    assert "StopAtStep" in after({"program.py": MODEL + HOOKED + ESTIMATOR + TRAIN})


def test_what_stands_in_a_script_may_not() -> None:
    logged = "logged = {'loss': 'softmax'}\n"
    hook = "hook = tf.train.LoggingTensorHook(tensors=logged, every_n_iter=50)\n"
    guard = "if __name__ == '__main__':\n"
    inside = after({"program.py": MODEL + guard + textwrap.indent(logged + hook + ESTIMATOR + TRAIN, "    ")})
    assert "Hook" not in inside and "logged" not in inside
    outside = after({"program.py": MODEL + logged + guard + textwrap.indent(hook + ESTIMATOR + TRAIN, "    ")})
    assert "Hook" not in outside and logged in outside


def test_values_that_others_read_stay() -> None:
    made = "logged = {'loss': 'softmax'}\nhook = tf.train.LoggingTensorHook(logged, every_n_iter=50)\nprint(logged)\n"
    text = plain(main(made))
    assert "logged = {'loss': 'softmax'}\n    print(logged)" in text and "hook" not in text


@pytest.mark.parametrize(
    ("made", "below"),
    [
        (HOOK, "print(hook)\n"),
        (HOOK, 'print(locals()["hook"])\n'),
        (HOOK.replace('"softmax"', "name()"), ""),  # which may do something
        (HOOK.replace("hook =", "hook = other ="), ""),
        (HOOK.replace("hook =", "HOOKS.hook ="), ""),
        (f"hook = None\n{HOOK}", ""),
    ],
)
def test_what_stays(made: str, below: str) -> None:
    assert "LoggingTensorHook" in after({"program.py": main(made, below)})


def test_what_a_training_returns_is_no_spec() -> None:
    specs = "tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20), tf.estimator.EvalSpec(make_input_fn(4, 1))"
    text = after({"program.py": main("", f"result = tf.estimator.train_and_evaluate(estimator, {specs})\n")})
    assert "model.fit(make_input_fn(8, None)" in text and "validation_data=make_input_fn(4, 1)" in text


def after(files: dict[str, str]) -> str:
    """All files after migration."""
    return "".join(outcome.after.decode() for outcome in run(files, "auto").values())


def test_what_another_file_or_an_object_reads_stays() -> None:
    task = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\nimport hooks\n", 1) + ESTIMATOR + TRAIN
    hooks = f"import tensorflow as tf\n\n{HOOK}"
    assert "LoggingTensorHook" in after({"hooks.py": hooks, "task.py": task + "print(hooks.hook)\n"})
    held = f"class Hooks:\n    {HOOK}\n\n"
    assert "LoggingTensorHook" in after({"task.py": MODEL + held + ESTIMATOR + TRAIN + "print(Hooks.hook)\n"})
