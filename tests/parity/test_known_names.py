"""The names that a migration of the old program knows, where the new one is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

from migrator.parity.judge.case import Case, Program
from migrator.parity.run.runner import _with_names
from migrator.vocabulary.settings import Settings

OLD = """\
import tensorflow as tf


def block(x):
    return tf.layers.dense(x, 4)


def model_fn(features, labels, mode):
    x = features["x"]
    for i in range(2):
        with tf.variable_scope("block_%d" % i):
            x = block(x)
    loss = tf.losses.mean_squared_error(labels, x)
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(lambda: None)
"""


def test_blocks_of_equal_paths_are_told_apart(tmp_path: Path) -> None:
    """Both layers are `block/dense` in Keras; the map has their place in the list."""
    (tmp_path / "old.py").write_text(dedent(OLD))
    (tmp_path / "new.py").write_text("")
    case = Case("case", Program(tmp_path / "old.py"), Program(tmp_path / "new.py"))
    wanted = tuple((f"block_*/dense/{leaf}", f"blocks.*.dense.{leaf}") for leaf in ("kernel", "bias"))
    assert _with_names(case, tmp_path / "root", Settings()) == replace(case, derived=(wanted,))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.py", "old.py", "root"]


def test_a_program_that_is_not_migrated_has_none(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import tensorflow as tf\ntf.estimator.BoostedTreesClassifier([])\n")
    case = Case("case", Program(tmp_path / "old.py"), Program(tmp_path / "old.py"))
    assert _with_names(case, tmp_path / "root", Settings()) == case
