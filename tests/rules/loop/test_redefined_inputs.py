"""Input functions of one name that a module defines again."""

from __future__ import annotations

import pytest
from test_loop import kept, loop

AGAIN = """

def make_input_fn(rows):
    return tf.data.Dataset.from_tensor_slices({"x": rows}).batch(2)


"""
TRAIN = "estimator.train(lambda: make_input_fn(8, None)(), steps=20)\n"


def test_a_training_reads_the_function_above_it() -> None:
    use = AGAIN + "print(list(estimator.predict(lambda: make_input_fn([[1.0]]))))\n"
    text = loop(TRAIN + use)
    assert text.startswith("model.fit(make_input_fn(8, None)().take(20))\n")
    assert "model.predict(make_input_fn([[1.0]]), verbose=0)" in text


@pytest.mark.parametrize("use", ["evaluate(lambda: make_input_fn(8, 1)(), steps=2)", "evaluate(make_input_fn(8, 1))"])
def test_an_evaluation_does_so_too(use: str) -> None:
    text = loop(TRAIN + f"print(estimator.{use})\n" + AGAIN)
    assert "model.evaluate(make_input_fn(8, 1)()" in text and "model.fit(" in text


def test_what_is_called_later_is_left() -> None:
    kept("read = lambda: make_input_fn(8, None)()\n" + AGAIN + "estimator.train(read, steps=20)\n")


def test_predictions_are_read_later() -> None:
    kept(TRAIN + "rows = estimator.predict(lambda: make_input_fn([[1.0]]))\n" + AGAIN + "print(list(rows))\n")


def test_a_function_that_is_defined_by_a_condition_is_left() -> None:
    again = "if FLAG:\n    def make_input_fn(*given):\n        return None\n\n\n"
    kept(again + TRAIN)


def test_a_function_that_runs_later_is_left() -> None:
    kept("\n\ndef main():\n    estimator.train(lambda: make_input_fn(8, None)(), steps=20)\n\n" + AGAIN + "main()\n")


def test_one_function_is_read_as_before() -> None:
    assert loop(TRAIN) == "model.fit(make_input_fn(8, None)().take(20))\n"
