"""With Keras 3, which restores nothing that is not made yet, a process goes on from what another one has saved."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from modelfn.programs import migrate

TOP = Path(__file__).resolve().parent.parent.parent
LATEST = os.environ.get("MIGRATOR_LATEST_PYTHON") or str(TOP / ".venv-latest" / "bin" / "python")
PROGRAM = """\
import sys

import numpy as np
import tensorflow as tf

MODE = sys.argv[1]


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 4, tf.nn.relu)
    net = tf.layers.batch_normalization(net, training=mode == tf.estimator.ModeKeys.TRAIN)
    score = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.losses.mean_squared_error(labels, score)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat):
    x = np.linspace(-1, 1, 64).reshape(16, 4).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1] * 3 + 1)).repeat(repeat).batch(8)


def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def main():
    estimator = tf.estimator.Estimator(model_fn, "saved")
    if MODE in ("train", "all"):
        estimator.train(lambda: input_fn(None), steps=20)
    if MODE in ("eval", "all"):
        print("loss %.6f" % estimator.evaluate(lambda: input_fn(1))["loss"])
    if MODE in ("predict", "all"):
        for number, row in enumerate(estimator.predict(lambda: input_fn(1))):
            print("score %d %.6f" % (number, row["score"][0]))
    if MODE == "export":
        estimator.export_saved_model("served", serving_input_fn)


main()
"""
LISTED = PROGRAM.replace(
    """    net = tf.layers.dense(features["x"], 4, tf.nn.relu)
""",
    """    net = features["x"]
    for units in [5, 4]:
        net = tf.layers.dense(net, units, tf.nn.relu)
""",
).replace(
    "    loss = tf.losses.mean_squared_error(labels, score)\n",
    """    aside = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, score) + tf.losses.mean_squared_error(-labels, aside)
""",
)
"""Hidden layers in a list, and one that predictions do not make."""
SERVE = """\
import glob
import numpy as np
import tensorflow as tf
model = tf.saved_model.load(glob.glob("served/*")[0])
x = np.linspace(-1, 1, 64).reshape(16, 4).astype(np.float32)
scores = model.signatures["serving_default"](x=tf.constant(x))["score"]
for number, row in enumerate(scores.numpy()):
    print("score %d %.6f" % (number, row[0]))
"""


def _lines(folder: Path, *command: str) -> list[str]:
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "0"}
    ran = subprocess.run([LATEST, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    return [line for line in ran.stdout.splitlines() if line.startswith(("loss ", "score "))]


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@pytest.mark.parametrize("program", [PROGRAM, LISTED], ids=["layers", "lists of layers"])
def test_modes_that_run_in_processes_of_their_own(tmp_path: Path, program: str) -> None:
    (tmp_path / "program.py").write_text(migrate(program))
    (tmp_path / "serve.py").write_text(SERVE)
    together = _lines(tmp_path, "program.py", "all")
    assert len(together) == 17
    assert _lines(tmp_path, "program.py", "eval") == together[:1]
    assert _lines(tmp_path, "program.py", "predict") == together[1:]
    _lines(tmp_path, "program.py", "export")
    served = [float(line.split()[-1]) for line in _lines(tmp_path, "serve.py")]
    assert served == pytest.approx([float(line.split()[-1]) for line in together[1:]], rel=1e-5)


CANNED = """\
import sys

import numpy as np
import tensorflow as tf


def input_fn(repeat):
    x = np.linspace(-1, 1, 64).reshape(16, 4).astype(np.float32)
    features = {"x": x, "kind": np.array(["a", "b", "c", "a"] * 4)}
    return tf.data.Dataset.from_tensor_slices((features, (x[:, 0] > 0).astype(np.int32))).repeat(repeat).batch(8)


def main():
    columns = [tf.feature_column.numeric_column("x", 4)]
    kinds = [tf.feature_column.categorical_column_with_hash_bucket("kind", 5)]
    config = tf.estimator.RunConfig("saved", tf_random_seed=1)
    estimator = tf.estimator.ESTIMATOR
    estimator.train(lambda: input_fn(None), max_steps=int(sys.argv[1]))
    print("loss %.6f" % estimator.evaluate(lambda: input_fn(1))["loss"])


main()
"""
NETWORK = "DNNClassifier([6, 5], columns, config=config, optimizer=tf.train.AdagradOptimizer(0.1), batch_norm=True)"
BOTH = """DNNLinearCombinedClassifier(
        config=config,
        linear_feature_columns=kinds,
        linear_optimizer=tf.train.FtrlOptimizer(0.1),
        dnn_feature_columns=columns,
        dnn_hidden_units=[6, 5],
        dnn_optimizer=tf.train.AdamOptimizer(0.01),
    )"""


@pytest.mark.parity
@pytest.mark.skipif(not os.path.exists(LATEST), reason="needs the newest TensorFlow: make setup-latest")
@pytest.mark.parametrize("made", [NETWORK, BOTH], ids=["an optimizer", "two optimizers"])
def test_a_canned_estimator_goes_on_with_what_its_optimizers_keep(tmp_path: Path, made: str) -> None:
    for folder in ("once", "twice"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "program.py").write_text(migrate(CANNED.replace("ESTIMATOR", made)))
    _lines(tmp_path / "twice", "program.py", "10")
    again = _lines(tmp_path / "twice", "program.py", "20")
    assert len(again) == 1 and again == _lines(tmp_path / "once", "program.py", "20")
