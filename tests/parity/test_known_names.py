"""The names that a migration of the old program knows, where the new one is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.run import known_names
from migrator.parity.run.known_names import with_names
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
    assert with_names(case, tmp_path / "root", Settings()) == replace(case, derived=(wanted,))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.py", "old.py", "root"]


def test_a_program_that_is_not_migrated_has_none(tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text("import tensorflow as tf\ntf.estimator.BoostedTreesClassifier([])\n")
    case = Case("case", Program(tmp_path / "old.py"), Program(tmp_path / "old.py"))
    assert with_names(case, tmp_path / "root", Settings()) == case


def test_a_program_is_migrated_once_in_each_of_its_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrations = []
    migrate = known_names.migrate_copy
    monkeypatch.setattr(known_names, "migrate_copy", lambda *given: migrations.append(given) or migrate(*given))

    def names_of(text: str, folder: str, settings: Settings) -> object:
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "old.py").write_text(text)
        program = Program(tmp_path / folder / "old.py")
        return with_names(Case("case", program, program), tmp_path / "root", settings).derived

    text = OLD.replace("x, 4", "x, 5")
    first = names_of(text, "one", Settings())
    assert names_of(text, "two", Settings()) == first and len(migrations) == 1
    assert names_of(text.replace("block_%d", "part_%d"), "one", Settings()) != first and len(migrations) == 2
    assert names_of(text, "one", Settings(style="bridge")) != first and len(migrations) == 3
