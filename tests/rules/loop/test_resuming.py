"""A second run of a migrated program goes on where the first one ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from modelfn.programs import HELPERS, PATH, run
from started_programs import Done, started

TOP = Path(__file__).resolve().parent.parent.parent.parent
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(TOP / ".venv-latest" / "bin" / "python")
PROGRAM = """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--model_dir", default="model")
parser.add_argument("--max_steps", type=int, default=10)
args = parser.parse_args()


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 4, activation=tf.nn.tanh)
    predictions = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": predictions})
    loss = tf.reduce_mean(tf.square(labels - predictions))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensors(({"x": [[1.0, 2.0], [3.0, 4.0]]}, [[1.0], [2.0]])).repeat(epochs)


config = tf.estimator.RunConfig(model_dir=args.model_dir, tf_random_seed=1, save_checkpoints_steps=4)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(lambda: input_fn(None), max_steps=args.max_steps)
print("loss", estimator.evaluate(input_fn)["loss"])
print("scores", [float(p["score"][0]) for p in estimator.predict(input_fn)])
"""
TRAIN = "estimator.train(lambda: input_fn(None), max_steps=args.max_steps)"
TRAIN_AND_EVALUATE = """\
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=args.max_steps),
    tf.estimator.EvalSpec(input_fn))
if args.max_steps == 10:  # which is amid an epoch, for the ends of which 12 is one
    tf.estimator.train_and_evaluate(
        estimator, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=12), tf.estimator.EvalSpec(input_fn))
"""


def run_migrated(folder: Path, *arguments: str, train: str = TRAIN, python: str = sys.executable) -> Done:
    """The migrated program, run in a folder."""
    for path, outcome in run(PROGRAM.replace(TRAIN, train)).items():
        assert path in (PATH, HELPERS)
        (folder / path).write_bytes(outcome.after)
    return started(folder / PATH, *arguments, python=python)


def said(done: Done) -> list[str]:
    """What a run that succeeded says of the loss and of its predictions."""
    assert done.returncode == 0, done.output
    return [line for line in done.output.splitlines() if line.startswith(("loss", "scores"))]


@pytest.mark.parity
def test_a_checkpoint_of_an_estimator_is_not_passed_over(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("dense/kernel", [2, 4])
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, str(tmp_path / "model" / "model.ckpt"), global_step=7)
    done = run_migrated(tmp_path)
    assert done.returncode == 1 and "# else: migrate checkpoint" in done.output


@pytest.mark.parity
@pytest.mark.parametrize("train", [TRAIN, TRAIN_AND_EVALUATE])
def test_the_checkpoint_of_another_model_is_an_error(train: str, tmp_path: Path) -> None:
    """As with an Estimator; weights that nothing has made yet would silently begin anew."""
    pytest.importorskip("tensorflow")
    assert run_migrated(tmp_path, train=train).returncode == 0
    program = (tmp_path / PATH).read_text()
    layer = "self.dense = tf.keras.layers.Dense(4, activation=tf.nn.tanh)"
    (tmp_path / PATH).write_text(program.replace(layer, f"{layer}\n        self.more = tf.keras.layers.Dense(4)"))
    done = started(tmp_path / PATH)
    assert done.returncode == 0, done.output  # a layer that nothing calls has no weights
    program = program.replace(layer, f"{layer}\n        self.more = tf.keras.layers.Dense(4)")
    (tmp_path / PATH).write_text(
        program.replace("self.dense(", "self.more(self.dense(", 1).replace('["x"])', '["x"]))', 1)
    )
    done = started(tmp_path / PATH)
    assert done.returncode == 1 and "assert_existing_objects_matched" in done.output


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
def test_two_runs_are_one_with_keras_3(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    whole = said(run_migrated(tmp_path, "--model_dir=whole", python=LATEST))
    assert said(started(tmp_path / PATH, "--model_dir=halves", "--max_steps=5", python=LATEST)) != whole
    assert said(started(tmp_path / PATH, "--model_dir=halves", python=LATEST)) == whole


@pytest.mark.parity
@pytest.mark.parametrize("train", [TRAIN, TRAIN_AND_EVALUATE])
def test_two_runs_are_one(train: str, tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    whole = said(run_migrated(tmp_path, "--model_dir=whole", train=train))
    first = said(started(tmp_path / PATH, "--model_dir=halves", "--max_steps=5"))
    assert first != whole
    assert said(started(tmp_path / PATH, "--model_dir=halves")) == whole  # the other five
    assert said(started(tmp_path / PATH, "--model_dir=halves")) == whole  # nothing is left to train
    saved = sorted(path.stem for path in (tmp_path / "whole").glob("model.ckpt-*.index"))
    more = ["model.ckpt-12"] if train == TRAIN_AND_EVALUATE else []
    assert saved == ["model.ckpt-10", *more, "model.ckpt-4", "model.ckpt-8"]


SUMS = """\
    step = tf.train.get_global_step()
    variables = tf.trainable_variables()
    sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]
    added = [total.assign_add(g) for total, g in zip(sums, tf.gradients(loss, variables))]
    with tf.control_dependencies(added):
        def apply():
            applied = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(g / 2.0, v) for g, v in zip(sums, variables)])
            with tf.control_dependencies([applied]):
                return tf.group(*[v.assign(tf.zeros_like(v)) for v in sums])

        turned = tf.cond(tf.equal((step + 1) % 2, 0), apply, tf.no_op)
    with tf.control_dependencies([turned]):
        train_op = tf.assign_add(step, 1)
"""


@pytest.mark.parity
@pytest.mark.parametrize("python", [sys.executable, LATEST])
def test_sums_of_gradients_go_on(python: str, tmp_path: Path) -> None:
    """Five steps end amid a sum of two gradients. Keras 3 saves no variables that a list holds."""
    pytest.importorskip("tensorflow")
    if not os.path.exists(python):
        pytest.skip("needs the newest TensorFlow: make setup-latest")
    step = "    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())\n"
    for path, outcome in run(PROGRAM.replace(step, SUMS)).items():
        (tmp_path / path).write_bytes(outcome.after)
    whole = said(started(tmp_path / PATH, "--model_dir=whole", "--max_steps=6", python=python))
    assert said(started(tmp_path / PATH, "--model_dir=halves", "--max_steps=5", python=python)) != whole
    assert said(started(tmp_path / PATH, "--model_dir=halves", "--max_steps=6", python=python)) == whole
