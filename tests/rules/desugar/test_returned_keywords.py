"""Arguments of specs and configurations that a function returns in a dict."""

from __future__ import annotations

import textwrap

import pytest
from desugared import BODY, ESTIMATOR, INPUT, MODEL, TRAIN, plain
from modelfn.programs import manual_reason

HELPER = """def finish(mode, predictions, loss, train_op):
    spec = {"predictions": predictions}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return spec
    spec["loss"] = loss
    spec["train_op"] = train_op
    return spec


"""
CALL = "return tf.estimator.EstimatorSpec(mode=mode, **finish(mode, predictions, loss, train_op))"


def program(call: str = CALL, helper: str = HELPER) -> str:
    """A program whose model_fn gets its spec of a function."""
    body = textwrap.indent(BODY + call, "    ")
    return (
        f"import tensorflow as tf\n\n\n{helper}def model_fn(features, labels, mode, params):\n{body}\n\n\n{INPUT}"
        + (ESTIMATOR + TRAIN)
    )


def test_a_function_that_fills_a_dict() -> None:
    text = plain(program())
    assert "finish" not in text and "**" not in text


def test_a_mode_among_the_entries() -> None:
    helper = HELPER.replace('{"predictions"', '{"mode": mode, "predictions"')
    assert "finish" not in plain(program(CALL.replace("mode=mode, ", ""), helper))


@pytest.mark.parametrize(
    ("call", "helper"),
    [
        (CALL, HELPER + "print(finish)\n\n\n"),
        (CALL, "@traced\n" + HELPER),
        (CALL, HELPER.replace("    return spec\n\n", "    if spec:\n        return spec\n\n")),
        (CALL.replace("train_op))", "*[train_op]))"), HELPER),
    ],
)
def test_what_is_left_alone(call: str, helper: str) -> None:
    assert "hidden behind * or **" in manual_reason(program(call, helper))


MADE = """def arguments_of(units):
    print(units)
    return {"params": {"units": units}, "model_dir": "here"}


estimator = tf.estimator.Estimator(model_fn, **arguments_of(1))
"""


def test_a_function_that_is_not_given_what_stands_beside_comes_to_its_caller() -> None:
    made = "def main():\n" + textwrap.indent(MADE.partition("\n\n\n")[2] + TRAIN, "    ")
    text = plain(MODEL + MADE.partition("\n\n\n")[0] + "\n\n\n" + made + "\n\nmain()\n")
    assert "arguments_of" not in text and "    print(1)\n" in text and '"here"' in text


def test_it_stays_where_its_body_cannot_stand() -> None:
    assert "not seen" in manual_reason(MODEL + MADE + TRAIN)  # a script has no function that it can come to
