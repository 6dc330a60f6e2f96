"""Programs that import compat.v1 where it exists, else TensorFlow itself."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate, model_fn, run, units

BODY = 'predictions = tf.layers.dense(features["x"], 3)'


def program(head: str) -> str:
    return model_fn(BODY, before=head + "import tensorflow_datasets\n")


@pytest.mark.parametrize(
    "head",
    [
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\n",
        "try:\n  from tensorflow.compat import v1 as tf\nexcept:  # old\n  import tensorflow as tf\n",
        "try:\n    import tensorflow.compat.v1 as tf\n    tf.disable_v2_behavior()\nexcept (ImportError):\n"
        "    import tensorflow as tf\n",
        "try:\n    # the new one\n    import tensorflow.compat.v1 as tf\n\n    tf.disable_eager_execution()\n"
        "except AttributeError:\n    import tensorflow as tf\n",
    ],
)
def test_one_is_left(head: str) -> None:
    text = migrate(program(head))
    assert "import tensorflow as tf\n" in text and "compat" not in text and "except" not in text
    assert "class Model(tf.keras.Model):" in text and "disable" not in text


@pytest.mark.parametrize(
    "head",
    [
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\n    OLD = True\n",
        "try:\n    import tensorflow.compat.v1 as tf\n    print(1)\nexcept ImportError:\n    import tensorflow as tf\n",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept KeyError:\n    import tensorflow as tf\n",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf2\n",
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\nfinally:\n    print(1)\n",
    ],
)
def test_other_choices_are_not_decided(head: str) -> None:
    before = program(head)
    outcomes = run(before)
    (unit,) = units(outcomes)
    assert unit.tier == "manual" or "try:" in outcomes["program.py"].after.decode()
