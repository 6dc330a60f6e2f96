"""Hooks that evaluate amid a training, or ask a function whether it goes on; hooks of evaluations."""

from __future__ import annotations

import pytest
from hook_programs import SAVED, fitted, messages, program, stays

EVALUATOR = "tf.estimator.experimental.InMemoryEvaluatorHook"
ASKED = "tf.estimator.experimental.make_early_stopping_hook"


def trained(hook: str) -> str:
    return f"estimator.train(input_fn, hooks=[{hook}], steps=20)\n"


@pytest.mark.parametrize(
    ("more", "made", "written"),
    [
        ("", "", "EvaluateEvery(input_fn(1), 100)"),
        (", every_n_iter=5", SAVED, 'EvaluateEvery(input_fn(1), 5, os.path.join("here", "eval"))'),
        (', steps=3, name="some"', SAVED, 'EvaluateEvery(input_fn(1).take(3), 100, os.path.join("here", "eval_some"))'),
    ],
)
def test_an_evaluator(more: str, made: str, written: str) -> None:
    assert f"callbacks=[{written}" in fitted(
        program(trained(f"{EVALUATOR}(estimator, lambda: input_fn(1){more})"), made)
    )


def test_a_function_that_ends_a_training() -> None:
    hook = f"{ASKED}(estimator, good_enough, run_every_secs=None, run_every_steps=2)"
    use = f"def good_enough():\n    return False\n\n{trained(hook)}"
    text = fitted(program(use))
    assert "        if batch % 2 == 0 and good_enough():\n            model.stop_training = True\n" in text


def test_one_that_was_asked_by_time() -> None:
    source = program(trained(f'{ASKED}(estimator, lambda: os.path.exists("x"))'))
    assert 'if batch % 100 == 0 and os.path.exists("x"):' in fitted(source)
    assert "a hook asked by time whether to stop; the program does so every 100 steps now" in messages(source)


def test_a_hook_that_waits_goes() -> None:
    source = program(trained("tf.train.GlobalStepWaiterHook({})"))
    assert "callbacks" not in fitted(source.replace("{}", "0")) and "begin together" not in messages(
        source.replace("{}", "0")
    )
    assert "now all of them begin together" in messages(source.replace("{}", "FLAGS.wait"))


def test_hooks_of_an_eval_spec() -> None:
    use = """\
        spec = tf.estimator.TrainSpec(input_fn, max_steps=40)
        tf.estimator.train_and_evaluate(estimator, spec, tf.estimator.EvalSpec(lambda: input_fn(1), 5, hooks=[Count()]))
        """
    source = program(use.replace(", 5, ", ", steps=5, "))
    from modelfn.programs import migrate

    assert "callbacks=[Count()]" in fitted(source) and "def on_test_batch_end(" in migrate(source)


@pytest.mark.parametrize(
    "use",
    [
        trained(f"{EVALUATOR}(estimator, input_fn)"),
        trained(f"{EVALUATOR}(estimator, lambda: input_fn(1), hooks=[Count()])"),
        "other = tf.estimator.Estimator(model_fn, params={})\n" + trained(f"{EVALUATOR}(other, lambda: input_fn(1))"),
        """\
        train = tf.estimator.TrainSpec(input_fn, max_steps=40, hooks=[Count()])
        evaluation = tf.estimator.EvalSpec(lambda: input_fn(1), steps=5, hooks=[Count()])
        tf.estimator.train_and_evaluate(estimator, train, evaluation)
        """,
        "estimator.evaluate(input_fn, steps=2, hooks=[tf.train.StopAtStepHook(2)])\n",
    ],
)
def test_what_stays(use: str) -> None:
    stays(program(use))
