"""Inputs that queues feed are refused, natively and in the bridge, with what tf.data has instead."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, run, units

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features, 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def input_fn():
    return tf.ones([2, 3]), tf.ones([2, 1])


"""
TRAIN = """
estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=2)
"""
QUEUE = """
def read():
    return tf.train.string_input_producer(["a"])
"""


@pytest.mark.parametrize("style", ["native", "bridge", "auto"])
@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ('tf.train.string_input_producer(["a"])', "tf.data.Dataset.from_tensor_slices(filenames)"),
        ("tf.TextLineReader().read(queue)", "tf.data.TextLineDataset(filenames)"),
        ("tf.train.batch([x], 3)", "dataset.batch(batch_size)"),
        ("tf.compat.v1.train.shuffle_batch([x], 3, 10, 5)", "dataset.shuffle(capacity).batch(batch_size)"),
    ],
)
def test_refused(style: str, call: str, advice: str) -> None:
    program = MODEL.replace("return tf.ones", f"{call}\n    return tf.ones") + TRAIN
    outcomes = run(program, style)
    (unit,) = units(outcomes)
    assert unit.tier == "manual" and "feeds queues" in unit.reason and advice in unit.reason
    assert "(program.py:12)" in unit.reason and outcomes["program.py"].after.decode() == program


def test_a_function_that_nothing_calls_is_no_obstacle() -> None:
    assert "create_model()" in migrate(MODEL + QUEUE + TRAIN)


@pytest.mark.parametrize("use", ["read()", "print(read)", "@register\ndef read"])
def test_a_function_that_something_calls_is_one(use: str) -> None:
    queue = QUEUE.replace("def read", use) if use.startswith("@") else f"{QUEUE}\n{use}\n"
    (unit,) = units(run(MODEL + queue + TRAIN))
    assert "feeds queues" in unit.reason


def test_functions_that_only_such_a_function_calls_are_none() -> None:
    """Also in a file that another one imports."""
    queue = (
        "def reader():\n    return tf.TFRecordReader()\n\n\ndef read():\n    return tf.train.batch([reader()], 2)\n\n\n"
    )
    model = MODEL + queue + "def train():\n" + TRAIN.replace("\ne", "\n    e").lstrip("\n")
    made = "import argparse\nargs = argparse.ArgumentParser().parse_args()\nprint(args.__dict__)\n"
    task = "import program\n\nprogram.train()\n"
    assert {unit.tier for unit in units(run({"program.py": model, "task.py": made + task}))} == {"native"}
    found = units(run({"program.py": model, "task.py": f"{task}print(program.__dict__)\n"}))
    assert all("feeds queues" in unit.reason for unit in found)


def test_a_function_of_two_files_is_one() -> None:
    other = "import tensorflow as tf\nimport program\n\nspec = tf.estimator.TrainSpec(program.read)\n"
    found = units(run({"program.py": MODEL + QUEUE + TRAIN, "task.py": other}))
    assert all("feeds queues" in unit.reason for unit in found)


def test_queues_of_a_graph_of_its_own_stay() -> None:
    own = (
        "def show():\n    with tf.Graph().as_default():\n        return tf.train.batch([tf.ones([3])], 2)\n\n\nshow()\n"
    )
    (unit,) = units(run(MODEL + own + TRAIN, "bridge"))
    assert "feeds queues" not in unit.reason
