"""CheckpointSaverHook, and listeners of checkpoints."""

from __future__ import annotations

import pytest
from hook_programs import SAVED, fitted, messages, program, stays
from modelfn.programs import joined, migrate

LISTENER = """\
class Told(tf.train.CheckpointSaverListener):
    def __init__(self):
        self.steps = []

    def begin(self):
        print("begin")

    def before_save(self, session, global_step_value):
        print("before", global_step_value)

    def after_save(self, session, step):
        self.steps.append(step)

    def end(self, session, global_step_value):
        print("end", global_step_value)
"""


def saver(more: str = "", folder: str = '"here"', often: str = "save_steps=5") -> str:
    return f"estimator.train(input_fn, hooks=[tf.train.CheckpointSaverHook({folder}, {often}{more})], steps=20)\n"


@pytest.mark.parametrize("folder", ['"here"', "estimator.model_dir"])
def test_a_hook_says_how_often(folder: str) -> None:
    text = fitted(program(saver(folder=folder), SAVED))
    assert "        if (batch + 1) % 5 == 0:\n            checkpoints.save(model.optimizer.iterations)\n" in text
    assert "CheckpointSaverHook" not in text and "SaveCheckpoints" not in text


def test_it_takes_the_place_of_a_setting() -> None:
    made = 'config=tf.estimator.RunConfig("here", save_checkpoints_steps=3), '
    text = fitted(program(saver(), made))
    assert "% 5 == 0" in text and "% 3" not in text


def test_hours_and_savers_are_told() -> None:
    source = program(saver(", saver=tf.train.Saver(max_to_keep=2)", often="save_secs=60"), SAVED)
    text = fitted(source)
    assert "checkpoints.save(" in text and "tf.train.Saver" not in text
    assert "a hook saved checkpoints by time" in messages(source) and "no longer writes checkpoints" in messages(source)


def test_listeners_are_told_of_each() -> None:
    source = program(saver(", listeners=[Told()]"), SAVED, LISTENER)
    text = joined(migrate(source))
    assert "class Told(SaveListener):\n" in text and "from tf2_training import SaveCheckpoints, SaveListener\n" in text
    assert "def before_save(self, global_step_value):" in text and "def after_save(self, step):" in text
    assert "def end(self, global_step_value):" in text and "def begin(self):" in text
    assert "callbacks=[SaveCheckpoints(checkpoints, 5, [Told()]), " in text and "checkpoints.save(" not in text


def test_listeners_of_a_training() -> None:
    use = "told = Told()\nestimator.train(input_fn, steps=20, saving_listeners=[told])\nprint(told.steps)\n"
    text = fitted(program(use, SAVED, LISTENER))
    assert "SaveCheckpoints(checkpoints, 1000, [told])" in text and "print(told.steps)" in text


def test_listeners_beside_evaluations() -> None:
    hook = 'tf.train.CheckpointSaverHook("here", save_steps=10, listeners=[Told()])'
    use = f"""\
        spec = tf.estimator.TrainSpec(input_fn, max_steps=40, hooks=[{hook}])
        tf.estimator.train_and_evaluate(estimator, spec, tf.estimator.EvalSpec(lambda: input_fn(1), steps=None))
        """
    text = fitted(program(use, SAVED, LISTENER))
    assert "steps_per_epoch=10" in text and "SaveCheckpoints(checkpoints, 10, [Told()])" in text
    assert "on_epoch_end" not in text


@pytest.mark.parametrize(
    ("use", "made"),
    [
        (saver(), ""),
        (saver(folder='"elsewhere"'), SAVED),
        (saver(folder="FLAGS.model_dir"), SAVED),
        (saver(', checkpoint_basename="other"'), SAVED),
        (saver(", saver=tf.train.Saver([])"), SAVED),
        (saver(", listeners=told"), SAVED),
        (saver(", listeners=[Told()]").replace("hooks=", "saving_listeners=[Told()], hooks="), SAVED),
        ("estimator.train(input_fn, steps=20, saving_listeners=[Told()])\n", ""),
        (saver(", listeners=[Told()]") + "Told().after_save(None, 1)\n", SAVED),
    ],
)
def test_what_stays(use: str, made: str) -> None:
    stays(program(use, made, LISTENER))


def test_a_listener_that_nothing_uses_keeps_no_helpers() -> None:
    assert "model.fit(" in fitted(program(before=LISTENER))
