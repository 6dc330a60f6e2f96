"""Names that are never anything but None."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn, run, units

DENSE = 'net = tf.contrib.layers.fully_connected(features["x"], 4, normalizer_fn=norm)\n'
END = "predictions = tf.layers.dense(net, 1)\n"


def test_none_is_written_in_their_place() -> None:
    made = "if PARAMS:\n    print(1)\nelse:\n    norm = None\n"
    text = migrate(model_fn(made + DENSE + END, before="PARAMS = {}\n"))
    assert "normalizer_fn" not in text and "Dense(4, " in text


@pytest.mark.parametrize(
    "made",
    ["norm = None\nif PARAMS:\n    norm = tf.contrib.layers.batch_norm\n", "norm = tf.contrib.layers.batch_norm\n"],
)
def test_names_of_other_values_stay(made: str) -> None:
    outcomes = run(model_fn(made + DENSE + END, before="PARAMS = {}\n"), style="auto")
    assert "normalizer_fn=None" not in outcomes["program.py"].after.decode()
    assert units(outcomes)[0].tier != "native" or "BatchNormalization" in outcomes["program.py"].after.decode()
