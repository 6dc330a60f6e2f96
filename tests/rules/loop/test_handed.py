"""Configurations that a function gets for the Estimator which it makes: it gets the folder of the checkpoints instead."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import MODEL

MADE = "tf.estimator.Estimator(model_fn, config=run_config, params={'units': 1})"
CONFIG = "FOLDER = 'here'\nrun_config = tf.estimator.RunConfig(model_dir=FOLDER, tf_random_seed=3)\n"
CREATE = f"def create(run_config, name='x'):\n    print(name)\n    estimator = {MADE}\n    return estimator\n\n\n"
USE = "estimator = create(run_config)\nestimator.train(make_input_fn(8, None), max_steps=20)\n"
AGAIN = "estimator = create(run_config)\nprint(estimator.evaluate(make_input_fn(8, 1)))\n"


def becomes(after: str) -> str:
    assert HELPERS not in run(MODEL + after + AGAIN)
    return joined(migrate(MODEL + after + AGAIN)).partition("return input_fn")[2]


def test_the_function_gets_the_folder() -> None:
    text = becomes(CREATE + CONFIG + USE)
    assert "def create(model_dir, name='x'):" in text and "tf.train.CheckpointManager(checkpoint, model_dir, " in text
    assert "FOLDER = 'here'\ntf.keras.utils.set_random_seed(3)\nestimator = create(FOLDER)\n" in text
    assert "run_config" not in text


def test_it_is_given_by_name() -> None:
    text = becomes(CREATE + CONFIG + USE.replace("create(run_config)", "create(name='y', run_config=run_config)"))
    assert "estimator = create(name='y', model_dir=FOLDER)\n" in text


def test_what_is_read_of_it() -> None:
    create = CREATE.replace("print(name)", "print(run_config.model_dir, run_config.tf_random_seed)")
    text = becomes(create + CONFIG + "print(run_config.model_dir)\n" + USE)
    assert "    print(model_dir, 3)\n" in text and "\nprint(FOLDER)\n" in text


def test_another_name_where_that_one_is_taken() -> None:
    create = CREATE.replace("print(name)", "model_dir = name")
    text = becomes(create + CONFIG + USE)
    assert "def create(model_dir_, name='x'):" in text and "CheckpointManager(checkpoint, model_dir_, " in text


def test_one_call_reads_the_folder_itself() -> None:
    text = joined(migrate(MODEL + CREATE + CONFIG + USE))
    assert "def create(name='x'):" in text and "CheckpointManager(checkpoint, FOLDER, " in text


def test_one_field_is_replaced() -> None:
    text = becomes(CREATE + CONFIG + "run_config = run_config.replace(tf_random_seed=4)\n" + USE)
    assert "set_random_seed(4)\nestimator = create(FOLDER)\n" in text and "run_config" not in text


def test_a_library_that_is_imported_too_late() -> None:
    config = CONFIG.replace("'here'", "input()")
    text = joined(migrate(MODEL + CREATE + config + USE + AGAIN + "import tempfile\n\nprint(tempfile.gettempdir())\n"))
    assert text.index("import tempfile\n") < text.index("def create") and "tempfile.mkdtemp()" in text


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            CREATE + CONFIG + USE + "other = tf.estimator.RunConfig(model_dir='there')\nprint(create(other))\n",
            id="another configuration for another call",
        ),
        pytest.param(
            CREATE.replace("(run_config,", "(run_config=None,") + CONFIG + USE + "print(create())\n", id="a default"
        ),
        pytest.param(CREATE + CONFIG.replace("model_dir=FOLDER, ", "") + USE, id="no folder"),
        pytest.param(CREATE + CONFIG + "FOLDER = 'there'\n" + USE, id="a folder whose name changes"),
        pytest.param(CREATE.replace("print(name)", "print(run_config)") + CONFIG + USE, id="it is shown"),
        pytest.param(CREATE + CONFIG + USE + "print(run_config)\n", id="it is shown elsewhere"),
    ],
)
def test_left_to_the_helpers(program: str) -> None:
    assert HELPERS in run(MODEL + program + AGAIN)
