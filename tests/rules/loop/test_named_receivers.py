"""Receivers that have a name before a serving function returns them."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, migrate, run
from test_loop import MODEL

SERVING = """\
def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 1], name="x")
    {lines}


estimator = tf.estimator.Estimator(model_fn, "saved", params={{"units": 1}})
estimator.train(make_input_fn(8, None), steps=5)
estimator.export_savedmodel("export", serving_input_fn)
"""
RAW = 'tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x})()'
RECEIVER = 'tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})'


def program(lines: str) -> str:
    return MODEL + SERVING.format(lines=lines)


@pytest.mark.parametrize("receiver", [RAW, RECEIVER])
def test_it_needs_no_name(receiver: str) -> None:
    source = program(f"made = {receiver}\n    return made")
    assert migrate(source) == migrate(program(f"return {receiver}"))
    assert HELPERS not in run(source)


@pytest.mark.parametrize(
    "lines",
    [
        f"made = {RECEIVER}\n    print(made)\n    return made",
        f"made = {RECEIVER} if x is not None else None\n    return made",
        f"made = {RECEIVER}\n    made = {RAW}\n    return made",
    ],
)
def test_a_name_that_says_more_stays(lines: str) -> None:
    assert HELPERS in run(program(lines))
