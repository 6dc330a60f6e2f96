"""Options that nothing reads any more, and files that hold nothing but imports."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from modelfn.programs import SPEC, TRAIN_OP, model_fn, run

from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

leftovers = import_module("migrator.rules.estimator_calls.leftovers").leftovers

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


NETWORK = """\
import tensorflow as tf


class Network:
    def __init__(self, features):
        self.logits = tf.layers.dense(features["x"], 3)
"""


def idle_files(source: str, path: str = "network.py") -> list[str]:
    """What is said of a file out of which a class goes."""
    start = source.index("class Network")
    end = source.index("3)\n") + 3
    edit = Edit(path, start, end, "")
    return [f"{module.path}: {text}" for module, _, text in leftovers({path: Module(path, source)}, [edit])]


def test_a_file_that_holds_imports_alone() -> None:
    (told,) = idle_files(NETWORK)
    assert told.startswith("network.py: nothing is left of this file but imports")
    assert idle_files(f'"""The network."""\n{NETWORK}') == [told]


def test_a_file_that_holds_more() -> None:
    assert idle_files(f"{NETWORK}\n\nSIZES = [3]\n") == []
    assert idle_files(f"{NETWORK}\n\ndef clean(text):\n    return text.strip()\n") == []
    assert idle_files(NETWORK, "network/__init__.py") == []
    assert list(leftovers({"other.py": Module("other.py", "from network import Network\n")}, [])) == []


def test_the_file_of_classes_that_a_program_no_longer_has() -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "programs" / "class_family" / "before"
    outcomes = run({path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.py")})
    told = [d.location.path for o in outcomes.values() for d in o.remaining if "nothing is left" in d.message]
    assert told == ["config.py"]
