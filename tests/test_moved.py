"""Places of programs in the text written."""

from __future__ import annotations

from migrator.report.moved import placed_in_result
from migrator.vocabulary.diagnostics import Location, Outcome, ProgramUnit

BEFORE = """\
import tensorflow as tf


def model_fn(features):
    net = tf.layers.dense(features, 3)
    net = tf.strange(net)
    return net


estimator = tf.estimator.Estimator(model_fn)
"""
AFTER = """\
import tensorflow as tf

from tf2_training import configure


class Model(tf.keras.Model):
    def call(self, features):
        net = self.dense(features)
        net = tf.strange(net)
        return net


def create_model():
    return configure(Model())


estimator = create_model()
"""


def moved(line: int, column: int = 1, reason: str = "", written: tuple[str, ...] = ("a.py",)) -> ProgramUnit:
    unit = ProgramUnit("model_fn", Location("a.py", line, column), "native", reason)
    outcome = Outcome("a.py", "changed", BEFORE.encode(), AFTER.encode(), units=(unit,))
    (result,) = placed_in_result([outcome], written)
    return result.units[0]


def test_a_definition_moves_to_the_one_in_its_place() -> None:
    assert moved(4).location == Location("a.py", 6)


def test_lines_that_stay_keep_their_column() -> None:
    assert moved(1, 8).location == Location("a.py", 1, 8)


def test_a_rewritten_line_is_the_one_in_its_place() -> None:
    assert AFTER.splitlines()[moved(10, 13).location.line - 1] == "estimator = create_model()"


def test_reasons_name_the_new_lines() -> None:
    assert moved(4, reason="it is strange (a.py:1) and b.py:3").reason == "it is strange (a.py:1) and b.py:3"
    before = BEFORE.replace("    net = tf.layers.dense", "    # kept\n    net = tf.layers.dense")
    after = "# one\n" + before
    unit = ProgramUnit("model_fn", Location("a.py", 4), "bridge", "it is strange (a.py:7)")
    (result,) = placed_in_result([Outcome("a.py", "changed", before.encode(), after.encode(), units=(unit,))], ["a.py"])
    assert result.units[0].reason == "it is strange (a.py:8)" and result.units[0].location.line == 5


def test_a_file_that_was_not_written_keeps_its_places() -> None:
    assert moved(4, written=()).location == Location("a.py", 4)


def test_places_that_do_not_exist_are_left() -> None:
    assert moved(99).location == Location("a.py", 99)
