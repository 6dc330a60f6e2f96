"""Variables that helpers share by name: one in TF1, so never two in Keras."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, model_fn

HELPER = """
def {name}(x):
    with tf.variable_scope("{scope}", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("{variable}", [3, 4])
    return tf.matmul(x, w)
"""
BOTH = 'predictions = left(features["x"]) - right(features["x"])'


def helpers(scope: str, variable: str) -> str:
    left = HELPER.format(name="left", scope="shared", variable="w")
    return left + HELPER.format(name="right", scope=scope, variable=variable)


def test_helpers_that_share_a_variable_are_left() -> None:
    source = model_fn(f"{BOTH}  # HERE", before=helpers("shared", "w"))
    assert "the variable `shared/w` is shared by two calls" in manual_reason(source)


def test_a_helper_that_shares_with_the_model_fn_is_left() -> None:
    body = """
    with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [3, 4])
    predictions = left(features["x"]) - tf.matmul(features["x"], w)
    """
    assert "`shared/w` is shared" in manual_reason(model_fn(body, before=helpers("other", "w")))


@pytest.mark.parametrize(("scope", "variable"), [("other", "w"), ("shared", "v")])
def test_helpers_with_variables_of_their_own_move(scope: str, variable: str) -> None:
    assert "class Right(" in migrate(model_fn(BOTH, before=helpers(scope, variable)))


def test_arms_of_a_condition_share_nothing_at_a_time() -> None:
    body = """
    if params["big"]:
        predictions = left(features["x"])
    else:
        predictions = right(features["x"])
    """
    assert "class Right(" in migrate(model_fn(body, before=helpers("shared", "w")))
