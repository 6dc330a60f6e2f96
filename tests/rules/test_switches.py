"""Calls that switch TensorFlow to graphs, in programs that become Keras."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, model_fn

BODY = "predictions = tf.layers.dense(features['x'], 1)"
SWITCH = "tf.compat.v1.disable_eager_execution()"


@pytest.mark.parametrize("imported", ["import tensorflow as tf", "import tensorflow.compat.v1 as tf"])
@pytest.mark.parametrize("switch", [SWITCH, "tf.disable_v2_behavior()", f"if True:\n    {SWITCH}"])
def test_they_go(imported: str, switch: str) -> None:
    if "compat" in imported:
        switch = switch.replace("tf.compat.v1.", "tf.")
    text = migrate(model_fn(BODY, before=f"{imported}\n{switch}"))
    assert "disable" not in text and "tf.keras.Model" in text


def test_a_session_on_the_graph_is_still_refused() -> None:
    program = model_fn(BODY, before=f"import tensorflow as tf\n{SWITCH}") + "\n\ntf.Session().run(1)\n"
    assert "works on the graph by itself" in manual_reason(program)
