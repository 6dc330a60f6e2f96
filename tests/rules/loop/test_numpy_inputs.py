"""`numpy_input_fn` in trainings and evaluations that become those of Keras: a dataset."""

from __future__ import annotations

import pytest
from modelfn.programs import migrate
from test_loop import ESTIMATOR, MODEL, loop


def test_arrays_that_are_made_in_a_call() -> None:
    arrays = 'tf.estimator.inputs.numpy_input_fn({"x": x}, x, num_epochs=1, shuffle=False)'
    text = migrate(
        MODEL.replace("import tensorflow as tf", "import numpy as np\nimport tensorflow as tf")
        + "x = np.ones([8, 1])\n"
        + ESTIMATOR
        + f'estimator.train({arrays})\nprint([row["score"] for row in estimator.predict({arrays})])\n'
    )
    after = 'tf.data.Dataset.from_tensor_slices(({"x": x}, x)).batch(128)'
    assert text.endswith(
        f'model.fit({after})\nprint(\n    [score for score in model.predict({after}, verbose=0)["score"]]\n)\n'
    )


ARRAYS = """\
import numpy as np


def make_data(count):
    return {{"x": np.ones([count, 1])}}, np.ones([count, 1])


x, y = make_data(8)
train_input_fn = tf.estimator.inputs.numpy_input_fn({arguments})
"""


@pytest.mark.parametrize(
    "arguments, after",
    [
        ("x, y, shuffle=False", "((x, y)).batch(128)"),
        ("x, y, 4, None, True", "((x, y)).repeat().shuffle(1000).batch(4)"),
        (
            "x=x, y=y, batch_size=len(y), num_epochs=3, shuffle=True, queue_capacity=50",
            "((x, y)).repeat(3).shuffle(50).batch(len(y))",
        ),
        ("*make_data(4), shuffle=False, num_threads=1", "(make_data(4)).batch(128)"),
    ],
)
def test_arrays_become_a_dataset(arguments: str, after: str) -> None:
    text = loop(ARRAYS.format(arguments=arguments) + "estimator.train(train_input_fn, steps=3)\n")
    assert text.endswith(
        f"train_dataset = tf.data.Dataset.from_tensor_slices{after}\nmodel.fit(train_dataset.take(3))\n"
    )


@pytest.mark.parametrize(
    "arguments, more",
    [
        ("x, y, shuffle=SHUFFLE", ""),
        ("x, y, shuffle=True, num_threads=4", ""),
        ("*[x, y], shuffle=False", ""),
        ("x, y,  # both\n    shuffle=False", ""),
        ("x, y, shuffle=False", "print(train_input_fn)\n"),
    ],
)
def test_arrays_of_which_less_is_seen_keep_the_helper(arguments: str, more: str) -> None:
    use = "estimator.train(train_input_fn, steps=3)\n"
    text = migrate(MODEL + ESTIMATOR + "SHUFFLE = True\n" + ARRAYS.format(arguments=arguments) + more + use)
    assert text.endswith("model.fit(train_input_fn().take(3))\n") and "from tf2_training import numpy_input_fn" in text


def test_arrays_that_nothing_reads() -> None:
    """They stand in the file as before; a helper for them alone would be one too many."""
    unread = "other_input_fn = tf.estimator.inputs.numpy_input_fn(x, y, 4, None, True)\n"
    source = ARRAYS.format(arguments="x, y, shuffle=False") + unread + "estimator.train(train_input_fn, steps=3)\n"
    text = loop(source)
    assert "other_dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat().shuffle(1000).batch(4)\n" in text
    assert "numpy_input_fn" not in text


@pytest.mark.parametrize(
    "more", ["print(other_input_fn)\n", "other_input_fn = None\n", "def other():\n    return other_input_fn\n"]
)
def test_arrays_that_something_else_reads_stay(more: str) -> None:
    unread = "other_input_fn = tf.estimator.inputs.numpy_input_fn(x, y, 4, None, True)\n" + more
    source = ARRAYS.format(arguments="x, y, shuffle=False") + unread + "estimator.train(train_input_fn, steps=3)\n"
    assert "numpy_input_fn(x, y, 4, None, True)" in migrate(MODEL + ESTIMATOR + source)
