"""Names of packages that TensorFlow 2 does not have are spelled out."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, model_fn, run

NET = "predictions = tf.layers.dense(features, 1)"
USE = """\
estimator = lib.Estimator(model_fn, "out", params={})
estimator.train(inputs.numpy_input_fn({"x": X}, Y, shuffle=False), steps=3)
"""
ALIASES = "lib = tf.estimator\ninputs = tf.estimator.inputs\n"


def program(aliases: str = ALIASES, use: str = USE) -> str:
    return model_fn(
        NET,
        end=f"{LOSS}\n{TRAIN_OP}\n{SPEC}".replace("tf.estimator", "lib"),
        before=f"import tensorflow as tf\nfrom arrays import X, Y\n\n{aliases}",
        after=use,
    )


@pytest.mark.parametrize(
    "aliases",
    [
        ALIASES,
        "lib = tf.estimator; inputs = lib.inputs\n",
        "lib = tf.compat.v1.estimator\ninputs = tf.compat.v1.estimator.inputs\n",
        "lib = tf.estimator\ninputs = lib.inputs  # arrays\nexperimental = lib.experimental\n",
    ],
)
def test_no_alias_is_left(aliases: str) -> None:
    text = migrate(program(aliases))
    assert "lib" not in text and "estimator." not in text.replace("estimator.optimizer", "")


@pytest.mark.parametrize(
    "aliases",
    [
        "lib = tf.estimator\nlib = tf.estimator\ninputs = lib.inputs\n",
        "lib = other = tf.estimator\ninputs = tf.estimator.inputs\n",
        "lib = tf.estimator if X is not None else Y\ninputs = tf.estimator.inputs\n",
    ],
)
def test_what_else_binds_a_name_stays(aliases: str) -> None:
    outcome = run(program(aliases))["program.py"]
    assert "lib = " in outcome.after.decode()


def test_other_libraries_keep_their_names() -> None:
    text = migrate(program(f"{ALIASES}K = tf.keras.backend\nlayers = tf.keras.layers\n"))
    assert "K = tf.keras.backend\nlayers = tf.keras.layers\n" in text
