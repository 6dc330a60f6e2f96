"""`migrate checkpoint` refuses tables whose rows TensorFlow 1 dealt out to their parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from migrator.parity.checkpoints.checkpoint_command import checkpoint
from migrator.parity.run.row_order import lookup_in_turn

PARTITIONED = (
    "with tf.variable_scope('a', partitioner=tf.fixed_size_partitioner(2)):\n    w = tf.get_variable('w', [4, 2])\n"
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids)\n", 3),
        (f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids, 'div')\n", 3),
        (f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids, partition_strategy=strategy)\n", 3),
        (f"{PARTITIONED}x = tf.nn.safe_embedding_lookup_sparse(w, ids, partition_strategy='mod')\n", 3),
        (f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids, partition_strategy='div')\n", None),
        (f"{PARTITIONED}x = tf.gather(w, ids)\n", None),
        ("x = tf.nn.embedding_lookup(w, ids)\n", None),
        (f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids) (\n", None),
    ],
)
def test_lookups_in_turn(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "model.py").write_text(text)
    (tmp_path / "other.py").write_text("import model\n")
    assert lookup_in_turn(tmp_path) == (None if line is None else f"model.py:{line}")


def test_other_programs_of_the_folder_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(f"{PARTITIONED}x = tf.nn.embedding_lookup(w, ids)\n")
    (tmp_path / "task.py").write_text("from model import x\n")
    (tmp_path / "other.py").write_text("import tensorflow as tf\n")
    assert lookup_in_turn(tmp_path, "task.py") == "model.py:3" and lookup_in_turn(tmp_path, "other.py") is None


def test_notebooks_are_looked_into(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [
        {**cell, "source": "%matplotlib inline\n"},
        {**cell, "source": f"{PARTITIONED}x = tf.nn.embedding_lookup(w, i)"},
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    found = lookup_in_turn(tmp_path, "book.ipynb")
    assert found is not None and found.startswith("book.ipynb:")
    (tmp_path / "book.ipynb").write_text("{")
    assert lookup_in_turn(tmp_path, "book.ipynb") is None


PROGRAM = """import tensorflow as tf


def model_fn(features, labels, mode):
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("table", [10, 1])
    predictions = tf.nn.embedding_lookup(table, features["id"])
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)


tf.estimator.Estimator(model_fn, "model").train(None, steps=10)
"""


def test_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    program = tmp_path / "program" / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "model.ckpt-3.index").touch()
    order = [str(program), "--from", str(tmp_path / "model.ckpt-3"), "--to", str(tmp_path / "new")]
    result = CliRunner().invoke(checkpoint, order, catch_exceptions=False)
    assert result.exit_code == 2 and "program.py:7: this lookup takes the rows" in result.output
    assert "--rows-by-id" in result.output and not (tmp_path / "new").exists()


def test_a_layer_of_that_name_is_no_lookup(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    made = "class Net:\n    def __init__(self):\n        self.embedding_lookup = {made}\n\n"
    called = "    def call(self, ids):\n        return self.embedding_lookup(ids)\n\n\npartitioner = None\n"
    program.write_text(made.format(made="EmbeddingLookup(8)") + called)
    assert lookup_in_turn(tmp_path) is None
    program.write_text(made.format(made="tf.nn.embedding_lookup") + called)
    assert lookup_in_turn(tmp_path) == "program.py:6"
