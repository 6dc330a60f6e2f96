"""Numbers of steps that are None where nobody gives an option: a training or an evaluation goes through all of its data then."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, run

HEAD = """\
import argparse

import tensorflow as tf

flags = tf.flags
flags.DEFINE_integer("most", None, "steps at most")
flags.DEFINE_integer(name="named", default=None, help="steps at most")
flags.DEFINE_integer("given", 30, "steps")
FLAGS = flags.FLAGS
parser = argparse.ArgumentParser()
parser.add_argument("--left_out", type=int)
parser.add_argument("--required", type=int, required=True)
args = parser.parse_args()


def model_fn(features, labels, mode):
    score = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, score)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat(epochs).batch(2)


"""
MAIN = """\
estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(input_fn, max_steps=LIMIT)
"""
LOOP = """\
estimator = tf.estimator.Estimator(model_fn, CONFIG)
spec = tf.estimator.EvalSpec(input_fn, steps=LIMIT)
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=MOST), spec)
"""


def migrated(main: str, limit: str) -> str:
    return joined(migrate(HEAD + main.replace("LIMIT", limit)))


@pytest.mark.parametrize("limit", ["FLAGS.most", "FLAGS.named", "args.left_out"])
def test_a_step_to_train_to(limit: str) -> None:
    text = migrated(MAIN, limit)
    assert f"steps = ({limit} or sys.maxsize) - model.optimizer.iterations.numpy()\n" in text and "import sys\n" in text


def test_a_name_and_a_parameter() -> None:
    main = MAIN.replace("estimator = ", "limit = FLAGS.most\nestimator = ")
    assert "steps = (limit or sys.maxsize) - " in migrated(main, "limit")
    train = 'def train(limit):\n    estimator = tf.estimator.Estimator(model_fn, "model")\n'
    train += "    estimator.train(input_fn, max_steps=limit)\n\n\ntrain(FLAGS.most)\n"
    assert "steps = (limit or sys.maxsize) - " in migrated(train, "")


@pytest.mark.parametrize("limit", ["FLAGS.given", "args.required", "int(FLAGS.most)", "20"])
def test_a_number_that_is_there(limit: str) -> None:
    text = migrated(MAIN, limit)
    assert f"steps = {limit} - model.optimizer.iterations.numpy()\n" in text and "maxsize" not in text


def test_steps_of_a_training_and_an_evaluation() -> None:
    main = (
        MAIN.replace("max_steps", "steps").replace(', "model"', "")
        + "print(estimator.evaluate(input_fn, steps=LIMIT))\n"
    )
    text = migrated(main, "FLAGS.most")
    taken = ".take(-1 if FLAGS.most is None else FLAGS.most)"
    assert f"model.fit(input_fn(){taken})" in text and f"model.evaluate(input_fn(){taken}, return_dict=True)" in text


def test_evaluations_amid_a_training() -> None:
    every = "config=tf.estimator.RunConfig(save_checkpoints_steps=10)"
    text = migrated(LOOP.replace("CONFIG", every).replace("MOST", "FLAGS.given"), "FLAGS.most")
    assert "validation_data=input_fn().take(-1 if FLAGS.most is None else FLAGS.most)" in text
    source = HEAD + LOOP.replace("CONFIG", every).replace("MOST", "FLAGS.most").replace("LIMIT", "None")
    text = run(source)["program.py"].after.decode()  # how many epochs would it have?
    taken = "take(-1 if FLAGS.most is None else FLAGS.most)"
    assert f"model.fit(input_fn(None).{taken}, callbacks=[ValidateEvery(input_fn(), 10)])" in text


BERT = """\
limit = None
if FLAGS.FIRST:
    limit = int(FLAGS.given)
if FLAGS.SECOND:
    estimator = tf.estimator.Estimator(model_fn, "model")
    estimator.train(input_fn, max_steps=limit)
"""


@pytest.mark.parametrize(("second", "none"), [("do_train", False), ("do_eval", True)])
def test_a_name_that_has_a_value_where_it_is_read(second: str, none: bool) -> None:
    flags = 'flags.DEFINE_bool("do_train", True, "")\nflags.DEFINE_bool("do_eval", True, "")\n'
    text = migrated(flags + BERT.replace("FIRST", "do_train").replace("SECOND", second), "")
    assert ("steps = limit - " in text) is not none and ("steps = (limit or sys.maxsize) - " in text) is none


def test_a_value_that_it_may_not_get_is_not_it() -> None:
    flags = 'flags.DEFINE_bool("do_train", True, "")\n'
    main = BERT.replace("FIRST", "do_train").replace("SECOND", "do_train")
    set_ = "    limit = int(FLAGS.given)"
    for other in (
        main.replace(set_, "    print()\nelse:\n" + set_),
        main.replace(set_, "    if FLAGS.most:\n    " + set_),
        main.replace(set_, "    for _ in range(FLAGS.given):\n    " + set_),
        main.replace("limit = None\n", "").replace(
            "if FLAGS.do_train:\n    est", "limit = None\nif FLAGS.do_train:\n    est"
        ),
    ):
        assert "steps = (limit or sys.maxsize) - " in migrated(flags + other, "")


GENERATED = """\
def eval_input_fn():
    return tf.data.Dataset.from_generator(rows, ({"x": tf.float32}, tf.float32), ({"x": [1]}, [1])).batch(2)


def rows():
    for number in range(8):
        yield {"x": [1.0 * number]}, [1.0]


"""


def test_data_that_an_evaluation_reads_whole_have_an_end() -> None:
    main = GENERATED + LOOP.replace("EvalSpec(input_fn", "EvalSpec(eval_input_fn").replace("MOST", "30")
    text = migrated(main.replace("CONFIG", '"model"'), "None")
    assert "model.fit(" in text and "eval_input_fn()" in text and "EvalSpec" not in text
    endless = migrated(main.replace("CONFIG", '"model"').replace(".batch(2)", ".repeat().batch(2)"), "None")
    assert "EvalSpec" in endless
