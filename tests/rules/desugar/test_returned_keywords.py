"""Arguments of specs and configurations that a function returns in a dict."""

from __future__ import annotations

import textwrap

import pytest
from desugared import BODY, ESTIMATOR, INPUT, TRAIN, plain
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
        (CALL, HELPER.replace("    spec = {", "    mode = str(mode)\n    spec = {")),
        (CALL.replace("mode=mode", "mode=load()"), HELPER),
        (CALL, HELPER + "print(finish)\n\n\n"),
        (CALL, "@traced\n" + HELPER),
        (CALL, HELPER.replace("    return spec\n\n", "    if spec:\n        return spec\n\n")),
        (CALL.replace("train_op))", "*[train_op]))"), HELPER),
    ],
)
def test_what_is_left_alone(call: str, helper: str) -> None:
    assert "hidden behind * or **" in manual_reason(program(call, helper))
