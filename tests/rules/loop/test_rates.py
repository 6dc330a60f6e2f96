"""A run that goes on trains at its own learning rate: a graph has it as a constant, Keras in its checkpoints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from modelfn.programs import PATH, migrate, run
from started_programs import started
from test_loop import MODEL
from test_resuming import LATEST, PROGRAM, said

TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"
EVALUATE = "estimator.evaluate(make_input_fn(8, 1))\n"
KEPT = "learning_rate  # of this run, not of the checkpoint"


def program(rate: str, before: str = "", use: str = TRAIN) -> str:
    """What becomes of a program with this learning rate."""
    model = MODEL.replace("Optimizer(0.1)", f"Optimizer({rate})").replace("def model_fn", f"{before}def model_fn", 1)
    return migrate(
        f'{model}estimator = tf.estimator.Estimator(model_fn, "here", params={{"units": 1, "rate": 0.1}})\n{use}'
    )


@pytest.mark.parametrize(
    ("rate", "before"),
    [
        ('params["rate"]', ""),
        ('0.1 * params["rate"]', ""),
        ("flags.rate", "flags = parse()\n\n\n"),
        ("RATE", "RATE = float(input())\n\n\n"),
        ('params.get("rate", 0.1)', ""),
    ],
)
def test_a_rate_that_a_run_is_given(rate: str, before: str) -> None:
    text = program(rate, before)
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("learning_rate = model.optimizer.learning_rate.numpy()")
    assert lines[at + 1].startswith("checkpoint.restore(")
    assert lines[at + 2] == f"model.optimizer.learning_rate = {KEPT}"


@pytest.mark.parametrize(
    ("rate", "before", "use"),
    [
        ("0.1", "", TRAIN),  # the same in each run
        ("RATE", "RATE = 0.1\n\n\n", TRAIN),
        ("RATE / 2", "RATE = 0.1\n\n\n", TRAIN),
        ('params["rate"]', "", EVALUATE),  # nothing is trained
        ("tf.train.exponential_decay(params['rate'], tf.train.get_global_step(), 3, 0.9)", "", TRAIN),  # no variable
    ],
)
def test_no_others(rate: str, before: str, use: str) -> None:
    text = program(rate, before, use)
    assert ".restore(" in text and KEPT not in text


def test_names_of_the_program_keep_their_values() -> None:
    text = program("learning_rate", "learning_rate = float(input())\n\n\n")
    assert "    learning_rate_ = model.optimizer.learning_rate.numpy()\n" in text
    assert f"    model.optimizer.learning_rate = {KEPT}".replace("= learning_rate ", "= learning_rate_ ") in text


def test_no_checkpoints() -> None:
    model = MODEL.replace("Optimizer(0.1)", 'Optimizer(params["rate"])')
    text = migrate(f'{model}estimator = tf.estimator.Estimator(model_fn, params={{"units": 1, "rate": 0.1}})\n{TRAIN}')
    assert KEPT not in text


@pytest.mark.parity
@pytest.mark.parametrize("python", [sys.executable, LATEST])
def test_a_second_run_at_another_rate(python: str, tmp_path: Path) -> None:
    """At the rate 0 the weights stay as they are."""
    pytest.importorskip("tensorflow")
    if not os.path.exists(python):
        pytest.skip("needs the newest TensorFlow: make setup-latest")
    source = PROGRAM.replace("AdamOptimizer(0.1)", "AdamOptimizer(args.rate)").replace(
        "args = ", 'parser.add_argument("--rate", type=float, default=0.1)\nargs = '
    )
    for path, outcome in run(source).items():
        (tmp_path / path).write_bytes(outcome.after)
    first = said(started(tmp_path / PATH, "--max_steps=5", python=python))
    assert said(started(tmp_path / PATH, "--max_steps=8", "--rate=0", python=python)) == first
    assert said(started(tmp_path / PATH, "--max_steps=10", python=python)) != first


CANNED = """\
import tensorflow as tf

COLUMNS = [tf.feature_column.numeric_column("x")]
rate = load()


def input_fn():
    return tf.data.Dataset.from_tensors(({{"x": [[1.0]]}}, [1])).repeat()


estimator = tf.estimator.{made}
estimator.train(input_fn, max_steps=3)
"""
LINEAR = 'LinearClassifier(COLUMNS, model_dir="here", optimizer={})'
BOTH = (
    "DNNLinearCombinedClassifier(model_dir='here', linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, "
    "dnn_hidden_units=[2], dnn_optimizer=tf.train.AdamOptimizer({}), linear_optimizer=tf.train.FtrlOptimizer({}))"
)


@pytest.mark.parametrize(
    ("made", "attributes"),
    [
        (LINEAR.format("tf.train.FtrlOptimizer(rate)"), ["optimizer"]),
        (
            LINEAR.format("tf.train.FtrlOptimizer(l2_regularization_strength=0.1, learning_rate=0.5 * rate)"),
            ["optimizer"],
        ),
        (LINEAR.format("lambda: tf.train.AdamOptimizer(rate)"), ["optimizer"]),
        (BOTH.format("rate", "rate"), ["optimizer", "linear_optimizer"]),
        (BOTH.format("0.1", "rate"), ["linear_optimizer"]),
    ],
)
def test_those_of_canned_models(made: str, attributes: list[str]) -> None:
    text = migrate(CANNED.format(made=made))
    assert text.count(KEPT) == len(attributes)
    for attribute in attributes:
        assert f"model.{attribute}.learning_rate = " in text


@pytest.mark.parametrize(
    "optimizer",
    [
        "tf.train.FtrlOptimizer(0.1)",
        "'Ftrl'",
        "lambda: tf.train.FtrlOptimizer(tf.train.exponential_decay(rate, tf.train.get_global_step(), 3, 0.9))",
        "tf.keras.optimizers.Ftrl(rate)",  # which an Estimator restores, too
    ],
)
def test_no_others_of_canned_models(optimizer: str) -> None:
    assert KEPT not in migrate(CANNED.format(made=LINEAR.format(optimizer)))
