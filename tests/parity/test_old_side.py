"""What TensorFlow 1 programs find on TensorFlow 2.15."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.probe.recorded.store import Reader
from migrator.parity.probe.tf1.dialect import written_for_v1
from migrator.parity.probe.tf1.lookups import by_id
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import SideError, run_side

REGRESSION = (Path(__file__).parent / "programs" / "regression.py").read_text()


def record(tmp_path: Path, text: str, steps: int = 2) -> Reader:
    pytest.importorskip("tensorflow_estimator")
    pytest.importorskip("tf_slim")
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "old.py").write_text(text)
    case = Case("case", Program(tmp_path / "program" / "old.py"), steps=steps)
    return Reader(str(run_side("old", case.old, tmp_path / "side", Progress(quiet=True), case, None).folder))


CONTRIB = """
from tensorflow.contrib import layers
from tensorflow.contrib.layers import l2_regularizer
import tensorflow.contrib.slim as slim

def dense(inputs, units, activation=None):
    assert tf.contrib.training.HParams(a=1).parse("a=3").a == 3
    from tensorflow.contrib.training.python.training import hparam
    assert hparam.HParams is tf.contrib.training.HParams
    from tensorflow.python.keras.preprocessing.sequence import pad_sequences
    assert pad_sequences is tf.keras.preprocessing.sequence.pad_sequences
    assert slim.conv2d and tf.VERSION.startswith("2.") and tf.compat.v1.layers.dense is tf.layers.dense
    return layers.fully_connected(inputs, units, activation, weights_regularizer=l2_regularizer(0.1))
"""


def test_contrib_layers_and_the_imports_that_programs_use(tmp_path: Path) -> None:
    text = REGRESSION.replace("tf.layers.dense(", "dense(")
    text = text.replace("X = np", CONTRIB + "\n\nX = np")
    (event,) = record(tmp_path, text).of("variables")
    assert [item["name"] for item in event["variables"]][:2] == ["fully_connected/weights", "fully_connected/biases"]


def test_a_symbol_without_equal_is_named_with_the_way_out(tmp_path: Path) -> None:
    text = REGRESSION.replace("tf.train.AdagradOptimizer(0.1)", "tf.contrib.opt.GGTOptimizer(0.1)")
    with pytest.raises(SideError) as error:
        record(tmp_path, text)
    assert "tf.contrib.opt.GGTOptimizer has no equal in TensorFlow 2 or tf_slim" in str(error.value)
    assert "--old-python" in str(error.value)


def test_steps_end_training_and_slots_are_no_variables_of_the_model(tmp_path: Path) -> None:
    reader = record(tmp_path, REGRESSION, steps=3)
    (event,) = reader.of("variables")
    assert [item["name"] for item in event["variables"]] == [
        f"dense{number}/{leaf}" for number in ("", "_1", "_2") for leaf in ("kernel", "bias")
    ]
    steps = list(reader.of("step"))
    assert [step["step"] for step in steps] == [1, 2, 3]
    assert reader.leaves(steps[0]["batch"][0])["x"].shape == (8, 5)
    (prediction,) = reader.of("predictions")
    assert prediction["complete"] is False, "the program stopped after the first row"


def test_frozen_layers_are_variables_of_the_model_though_their_names_end_like_those_of_trained_ones(
    tmp_path: Path,
) -> None:
    second = '    net = tf.layers.dense(net, params["units"], activation=tf.nn.relu)\n'
    frozen = '    with tf.variable_scope("head"):\n        net = tf.layers.dense(net, 6, trainable=False)\n'
    assert REGRESSION.count(second) == 1
    text = REGRESSION.replace(second, frozen).replace("AdagradOptimizer(0.1)", "AdamOptimizer(0.1)")
    (event,) = record(tmp_path, text).of("variables")
    assert [(item["name"], item["trainable"]) for item in event["variables"]] == [
        ("dense/kernel", True),
        ("dense/bias", True),
        ("head/dense/kernel", False),
        ("head/dense/bias", False),
        ("dense_1/kernel", True),
        ("dense_1/bias", True),
    ]


def test_layers_of_keras_have_apply_as_in_tensorflow_1(tmp_path: Path) -> None:
    second = '    net = tf.layers.dense(net, params["units"], activation=tf.nn.relu)\n'
    text = REGRESSION.replace(second, "    net = tf.keras.layers.Dense(6).apply(net)\n")
    assert text != REGRESSION and len(list(record(tmp_path, text, steps=2).of("step"))) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tensorflow as tf\ntf.placeholder", True),
        ("import tensorflow as tf\ntf.contrib.layers.l2_regularizer", True),
        ("from tensorflow.contrib import layers", True),
        ("from tensorflow import app", True),
        ("import tensorflow\ntensorflow.get_variable", True),
        ("import tensorflow.compat.v1 as tf\ntf.placeholder", False),
        ("import tensorflow as tf\ntf.compat.v1.placeholder\ntf.keras.layers.Dense.from_config", False),
        ("import other as tf\ntf.placeholder", False),
        ("import tensorflow as tf\nprint 'python 2'", False),
    ],
)
def test_dialect_is_told_from_the_names_used(tmp_path: Path, text: str, expected: bool) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "program.py").write_text(text)
    assert written_for_v1(str(tmp_path)) is expected


@pytest.mark.parametrize(
    ("start", "text", "expected"),
    [
        ("main.py", "from nets import build\n", True),
        ("main.py", "from . import nets\n", True),
        ("main.py", "from nets.build import *\n", True),
        ("main.py", "import importlib\nnets = importlib.import_module(NAME)\n", True),
        ("main.py", "import other\n", False),
        ("main", "import other\n", False),
        ("", "import other\n", True),
    ],
)
def test_other_programs_of_the_folder_say_nothing_of_the_dialect(
    tmp_path: Path, start: str, text: str, expected: bool
) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "__init__.py").write_text("from nets import build\n")
    (tmp_path / "nets" / "build.py").write_text("import tensorflow as tf\ntf.placeholder\n")
    (tmp_path / "main.py").write_text(f"import tensorflow as tf\n{text}tf.keras\n")
    assert written_for_v1(str(tmp_path), str(tmp_path / start) if ".py" in start else start) is expected


@pytest.mark.parametrize("parts", [2, 3])
def test_rows_that_lookups_deal_out_are_given_by_id(parts: int) -> None:
    rows, offsets = np.arange(14).reshape(7, 2), [0]
    dealt = [rows[number::parts] for number in range(parts)]
    for part in dealt[:-1]:
        offsets.append(offsets[-1] + len(part))
    np.testing.assert_array_equal(by_id(np.concatenate(dealt), offsets[::-1]), rows)


def test_what_an_export_computes_is_recorded(tmp_path: Path) -> None:
    shape = '{"x": tf.placeholder(tf.float32, [None, 5])}'
    receiver = f"lambda: tf.estimator.export.build_raw_serving_input_receiver_fn({shape})()"
    exported = f'    estimator.export_saved_model("/tmp/parity-test-export", {receiver})\n\n\nif __name__'
    reader = record(tmp_path, REGRESSION.replace("\n\nif __name__", exported, 1))
    (event,), batches = reader.of("export"), list(reader.of("batch"))
    (signature,) = event["signatures"].values()
    assert signature["inputs"] == {"x": "float32"} and set(event["signatures"]) == {"serving_default"}
    rows, (values,) = reader.array(signature["fed"]["x"]), signature["values"].values()
    np.testing.assert_array_equal(rows, next(iter(reader.leaves(batches[-1]["batch"][0]).values()))[:4])
    assert reader.array(values).shape == (4, 1)


TWO = """
for _ in range(2):
    model = tf.estimator.Estimator(model_fn, "two-models", params={"units": 8})
    model.train(input_fn, steps=2)
"""


@pytest.mark.parametrize(("after", "streams"), [("", [0, 0]), ("    shutil.rmtree(model.model_dir)", [0, 1])])
def test_an_estimator_in_a_folder_that_was_emptied_is_another_model(
    tmp_path: Path, after: str, streams: list[int]
) -> None:
    head, _ = REGRESSION.split("def main(")
    assert [event["stream"] for event in record(tmp_path, f"import shutil\n{head}{TWO}{after}").of("begin")] == streams
