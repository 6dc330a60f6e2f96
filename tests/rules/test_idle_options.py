"""Options that nothing reads any more."""

from __future__ import annotations

import pytest
from modelfn.programs import SPEC, TRAIN_OP, model_fn, run

MODEL = model_fn(
    'logits = tf.layers.dense(features["x"], 3)\npredictions = {"p": logits}',
    end=f"loss = tf.losses.mean_squared_error(labels, logits)\n{TRAIN_OP}\n{SPEC}",
)
FLAGS = 'tf.app.flags.DEFINE_string("master", "", "")\ntf.app.flags.DEFINE_integer("steps", 2, "")\nFLAGS = tf.app.flags.FLAGS\n'
PARSER = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--log-steps", "-l", type=int)
args = parser.parse_args()
"""
DATA = """

def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[1.0]])).repeat().batch(1)


"""


def told(options: str, config: str, more: str = "", **others: str) -> list[str]:
    """What is said of options, where a program gives these to its configuration."""
    made = f"estimator = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig({config}))\n"
    source = f"{MODEL}{options}{DATA}{made}{more}\nestimator.train(input_fn, steps=2)\n"
    outcomes = run({"program.py": source, **{f"{name}.py": text for name, text in others.items()}})
    return [
        f"{d.location.line} {d.message}" for o in outcomes.values() for d in o.remaining if "nothing reads" in d.message
    ]


def test_options_of_what_is_gone() -> None:
    (found,) = told(PARSER, "log_step_count_steps=args.log_steps")
    assert found.endswith(" nothing reads the option `log_steps` any more")
    (found,) = told(FLAGS, "log_step_count_steps=FLAGS.steps")
    assert "`steps`" in found


@pytest.mark.parametrize(
    ("config", "more"),
    [
        ("tf_random_seed=FLAGS.steps", ""),
        ("log_step_count_steps=FLAGS.steps", "print(FLAGS.steps)"),
        ("log_step_count_steps=FLAGS.steps", "print(FLAGS['steps'].value)"),
        ("log_step_count_steps=FLAGS.steps", "print(FLAGS.flag_values_dict())"),
        ("log_step_count_steps=FLAGS.steps", "print(getattr(FLAGS, input()))"),
        ("log_step_count_steps=3", ""),
    ],
)
def test_options_that_are_read_or_never_were(config: str, more: str) -> None:
    assert told(FLAGS, config, more) == []


def test_options_that_another_file_reads() -> None:
    assert (
        told(FLAGS, "log_step_count_steps=FLAGS.steps", "import tools", tools="def f(flags):\n    return flags.steps\n")
        == []
    )
