"""Numbers of a RunConfig that is made in a function of its own: the model keeps them for where it is trained."""

from __future__ import annotations

from modelfn.programs import HELPERS, run
from test_loop import MODEL

BUILD = """
def build(folder, every, config_class=None):
    config = tf.estimator.RunConfig({fields}save_checkpoints_steps={every}, save_summary_steps=every * 2)
    return tf.estimator.Estimator(model_fn, config=config, params={{"units": 1}})


"""
MAIN = """
def main(args):
    estimator = build(args.folder, args.every)
    train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20)
    eval_spec = tf.estimator.EvalSpec(make_input_fn(4, 1), steps=None)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
"""


def program(fields: str = "model_dir=folder, ", every: str = "every") -> str:
    return MODEL + BUILD.format(fields=fields, every=every) + MAIN


def test_the_model_keeps_what_only_the_function_knows() -> None:
    text = run(program())["program.py"].after.decode()
    assert "\n    model.save_checkpoints_steps = every\n" in text
    assert "\n    model.save_summary_steps = every * 2\n    return model\n" in text
    assert "steps_per_epoch=estimator.save_checkpoints_steps" in text
    assert "update_freq=estimator.save_summary_steps" in text
    assert not any(path.startswith("tf2_") for path in run(program()))


def test_summaries_of_the_model_have_their_number_already() -> None:
    recorded = MODEL.replace("    train_op =", '    tf.summary.scalar("l", loss)\n    train_op =')
    text = run(program().replace(MODEL, recorded))["program.py"].after.decode()
    assert text.count("summary_steps = every * 2") == 1 and "update_freq=estimator.summary_steps" in text


def test_what_is_known_is_written_where_it_is_needed() -> None:
    text = run(program(every="5"))["program.py"].after.decode()
    assert "save_checkpoints_steps" not in text and "steps_per_epoch=5" in text


def test_a_model_without_a_folder_keeps_its_helpers() -> None:
    assert HELPERS in run(program(fields=""))
