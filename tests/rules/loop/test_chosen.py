"""Configurations of one name, and an Estimator that a condition chooses, whose settings are those of the branch that is taken."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import MODEL

FLAGS = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--often', type=int)\n"
PROGRAM = FLAGS + "args = parser.parse_args()\n\n" + MODEL
RUN = "tf.estimator.RunConfig(model_dir='here'{})"
MADE = "tf.estimator.Estimator(model_fn, config=config, params={'units': 1})"
TRAIN = "estimator.train(make_input_fn(8, None), max_steps=40)\n"


def arms(one: str, other: str, test: str = "args.often", train: str = TRAIN) -> str:
    """A program with a configuration and an Estimator in each branch."""
    made = "if {}:\n    config = {}\n    estimator = {}\nelse:\n    config = {}\n    estimator = {}\n"
    return PROGRAM + made.format(test, RUN.format(one), MADE, RUN.format(other), MADE) + train


def becomes(program: str) -> str:
    assert HELPERS not in run(program)
    return joined(migrate(program))


def test_each_branch_has_a_configuration_of_one_name() -> None:
    text = becomes(arms(", tf_random_seed=1", ", tf_random_seed=2"))
    assert text.index("set_random_seed(1)") < text.index("else:") < text.index("set_random_seed(2)")
    assert "RunConfig" not in text and "config" not in text


def test_one_is_told_when_to_save_and_the_other_is_not() -> None:
    text = becomes(arms(", save_checkpoints_steps=10", ""))
    assert "if (batch + 1) % (10 if args.often else 1000) == 0:" in text


def test_one_writes_summaries_as_often_as_the_other_by_default() -> None:
    text = becomes(arms(", save_summary_steps=100", ""))
    assert "update_freq=100" in text and "if args.often else" not in text


def test_they_write_summaries_at_other_times() -> None:
    text = becomes(arms(", save_summary_steps=5", ", save_summary_steps=20"))
    assert "update_freq=5 if args.often else 20" in text


def test_they_are_assigned_one_after_the_other() -> None:
    text = becomes(
        PROGRAM
        + textwrap.dedent(f"""
        config = tf.estimator.RunConfig(model_dir="one")
        first = {MADE}
        config = tf.estimator.RunConfig(model_dir="two")
        print(config.model_dir)
        second = {MADE}
        first.train(make_input_fn(8, None), steps=20)
        second.train(make_input_fn(8, None), steps=20)
        """)
    )
    assert 'CheckpointManager(first_checkpoint, "one"' in text and 'CheckpointManager(second_checkpoint, "two"' in text
    assert 'print("two")' in text


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(arms(", save_checkpoints_steps=10", "", "args.often > 3"), id="a condition that is computed"),
        pytest.param(
            arms(", save_checkpoints_steps=10", "", train="args.often = None\n" + TRAIN), id="what it reads changes"
        ),
        pytest.param(
            PROGRAM
            + f"config = {RUN.format('')}\nif args.often:\n    config = {RUN.format(', tf_random_seed=3')}\n"
            + f"estimator = {MADE}\n{TRAIN}",
            id="a configuration that may be either",
        ),
        pytest.param(
            PROGRAM
            + f"config = {RUN.format('')}\nfor units in (1, 2):\n    estimator = {MADE}\n    {TRAIN}"
            + f"    config = {RUN.format(', tf_random_seed=3')}\n",
            id="a configuration of the round before",
        ),
        pytest.param(
            PROGRAM
            + f"config = {RUN.format('')}\ntry:\n    config = {RUN.format(', tf_random_seed=3')}\n    print(1)\n"
            + f"except ValueError:\n    print(2)\nestimator = {MADE}\n{TRAIN}",
            id="a configuration that may not have been made",
        ),
        pytest.param(
            arms("", "").replace("    config =", "    config = other =", 1), id="a configuration of two names"
        ),
    ],
)
def test_left_to_the_helpers(program: str) -> None:
    assert HELPERS in run(program)


def test_evaluations_amid_a_training_need_one_number() -> None:
    specs = (
        "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(make_input_fn(8, None), 40), "
        "tf.estimator.EvalSpec(make_input_fn(8, 1)))\n"
    )
    program = arms(", save_checkpoints_steps=10", ", save_checkpoints_steps=20", train=specs)
    assert HELPERS in run(program)
    same = arms(", save_checkpoints_steps=10", ", save_checkpoints_steps=10", train=specs)
    assert HELPERS not in run(same)
