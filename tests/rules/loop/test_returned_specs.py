"""Functions that return an Estimator beside the specs of its training."""

from __future__ import annotations

from modelfn.programs import joined, migrate
from test_loop import MODEL, kept

MAKE = """\
def make(folder, steps):
    # One Estimator.
    estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, model_dir=folder)
    train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=steps)
    eval_spec = tf.estimator.EvalSpec(make_input_fn(4, 1))
    return estimator, train_spec, eval_spec


def main():
    estimator, train_spec, eval_spec = make("here", 20)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)


main()
"""


def test_specs_are_made_where_they_are_used() -> None:
    text = joined(migrate(MODEL + MAKE))
    assert "def make(" not in text and "Spec" not in text and "# One Estimator." in text
    assert "steps = 20 - model.optimizer.iterations.numpy()" in text and "make_input_fn(8, None)().take(steps)" in text


def test_a_function_with_two_callers_stays() -> None:
    main = "def main():\n    estimator, train_spec, eval_spec = make('here', 20)\n    return train_spec\n\n\n"
    text = kept(MAKE.replace("main()\n", f"{main.replace('main', 'other')}main()\n", 1), MODEL)
    assert "def make(" in text
