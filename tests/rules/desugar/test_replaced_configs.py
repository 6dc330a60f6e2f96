"""A RunConfig that is made in pieces."""

from __future__ import annotations

import pytest
from desugared import MODEL, TRAIN, below
from modelfn.programs import migrate, run

ESTIMATOR = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config)\n'
CONFIG = "config = tf.estimator.RunConfig"


def loop(config: str, after: str = "") -> str:
    """The program that has no helpers, from its model on."""
    text = below(MODEL + config + ESTIMATOR + TRAIN + after)
    assert "config" not in text
    return text


@pytest.mark.parametrize(
    "config",
    [
        'config = tf.estimator.RunConfig().replace(model_dir="here", save_checkpoints_steps=5)\n',
        'config = tf.estimator.RunConfig("there", save_checkpoints_secs=60)'
        '.replace(model_dir="here").replace(save_checkpoints_steps=5)\n',
        'config = tf.estimator.RunConfig("here")\nconfig = config.replace(save_checkpoints_steps=5)\n',
        'config = tf.estimator.RunConfig("here")\nprint("on")\nconfig = config.replace(save_checkpoints_steps=9)\n'
        "config = config.replace(save_checkpoints_steps=5)\n",
        'first = tf.estimator.RunConfig(save_checkpoints_steps=5)\nconfig = first.replace(model_dir="here")\n',
    ],
)
def test_the_pieces_are_one_configuration(config: str) -> None:
    text = loop(config)
    assert 'CheckpointManager(checkpoint, "here"' in text and "(batch + 1) % 5 == 0" in text


def test_in_a_function() -> None:
    body = (
        'config = tf.estimator.RunConfig()\nconfig = config.replace(model_dir="here", tf_random_seed=3)\n' + ESTIMATOR
    )
    text = migrate(MODEL + "def main():\n    " + (body + TRAIN).replace("\n", "\n    ").rstrip() + "\n\n\nmain()\n")
    assert "    tf.keras.utils.set_random_seed(3)\n    model = create_model(" in text and "RunConfig" not in text


def test_seconds_and_hours() -> None:
    text = loop(f'{CONFIG}("here", save_checkpoints_secs=60, keep_checkpoint_every_n_hours=2)\n', "print(1)\n")
    assert 'max_to_keep=5, keep_checkpoint_every_n_hours=2, checkpoint_name="model.ckpt"' in text
    program = MODEL + f'{CONFIG}("here", save_checkpoints_secs=60)\n' + ESTIMATOR + TRAIN.replace("20", "5000")
    outcome = run(program)["program.py"]
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert "every 60 seconds; the program does so every 1000 steps now" in said


def test_settings_of_sessions_go() -> None:
    session = "session = tf.ConfigProto(allow_soft_placement=True)\nsession.gpu_options.allow_growth = True\n"
    text = loop(session + f'{CONFIG}("here", session_config=session)\n')
    assert "ConfigProto" not in text and "gpu_options" not in text


def test_fields_of_the_configuration_of_an_estimator() -> None:
    text = loop(f'{CONFIG}("here", save_summary_steps=7)\n', "print(estimator.config.model_dir)\n")
    assert text.endswith('\nprint("here")')
    text = loop(f'{CONFIG}("here", save_summary_steps=7)\n', "print(estimator.config.save_summary_steps)\n")
    assert text.endswith("\nprint(7)")


@pytest.mark.parametrize(
    "config",
    [
        'config = tf.estimator.RunConfig("here")\nprint(config)\nconfig = config.replace(save_summary_steps=5)\n',
        'config = tf.estimator.RunConfig("here")\nif load():\n    config = config.replace(save_summary_steps=5)\n',
        'name = "a"\nconfig = tf.estimator.RunConfig(name + "/b")\nname = "c"\nconfig = config.replace(save_summary_steps=5)\n',
        'other = tf.estimator.RunConfig("here")\nconfig = other.replace(save_summary_steps=5)\nprint(other)\n',
        'config = tf.estimator.RunConfig("here").replace(**load())\n',
    ],
)
def test_what_is_read_in_between_stays(config: str) -> None:
    assert "RunConfig" in migrate(MODEL + config + ESTIMATOR + TRAIN)


@pytest.mark.parametrize("name", ["base", "config"])
def test_a_configuration_that_another_file_has_stays(name: str) -> None:
    program = MODEL + CONFIG.replace("config =", "base =") + '("here")\n'
    program += f"config = base.replace(save_checkpoints_steps=5)\n{ESTIMATOR}{TRAIN}"
    other = f"from program import {name}\n\nprint({name}.model_dir)\n"
    text = run({"program.py": program, "other.py": other})["program.py"].after.decode()
    assert f"\n{name} = " in text


@pytest.mark.parametrize(
    "made",
    [
        'config = tf.estimator.RunConfig(\n    "here",  # of each night\n).replace(save_checkpoints_steps=5)\n',
        'base = tf.estimator.RunConfig("here")\n'
        "config = base.replace(\n    # of each night\n    save_checkpoints_steps=5,\n)\n",
    ],
)
def test_configurations_with_comments_stay(made: str) -> None:
    text = run(MODEL + made + ESTIMATOR + TRAIN)["program.py"].after.decode()
    assert "# of each night" in text and "replace(" in text
