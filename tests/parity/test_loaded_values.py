"""What is loaded, judged on recordings written by hand, and what is told from the values of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from migrator.parity.judge.loaded_values import compare_loaded_values
from migrator.parity.judge.report import CaseReport
from migrator.parity.probe.recorded.files import Files, Source
from migrator.parity.probe.recorded.store import Reader, Writer

VALUE = np.arange(1, 7, dtype=np.float32).reshape(3, 2)


class Sides:
    """Writes both recordings of a model whose variable ``w`` the old program loads."""

    def __init__(self, folder: Path, own: Any = VALUE, **entry: Any) -> None:
        self.old, self.new = Writer(str(folder / "old")), Writer(str(folder / "new"))
        part = {"part": self.old.array(entry.pop("part"))} if "part" in entry else {}
        listed = {"name": "w", "trainable": True, "value": self.old.array(VALUE), "from": "program/m/c-3", **part}
        self.old.event("variables", stream=0, kind="train", variables=[listed])
        self.new.event("initial", stream=0, variables={"w": self.new.array(own)}, **entry)

    def compare(self) -> tuple[list[str], list[str]]:
        report = CaseReport("case")
        self.old.close(), self.new.close()
        found = compare_loaded_values(report, Reader(self.old.folder), Reader(self.new.folder))
        return [difference.message for difference in found], report.notes


def test_equal_values_are_noted(tmp_path: Path) -> None:
    note = "the new program begins with the values of 1 variable that the old one loads from m/c-3"
    assert Sides(tmp_path, VALUE * np.float32(1 + 1e-6)).compare() == ([], [note])


def test_other_values_are_named_with_the_worst_first(tmp_path: Path) -> None:
    text = (
        "1 of 1 variable that the old program loads from m/c-3 begin with other values in the new one: w (relative 0.5)"
    )
    assert Sides(tmp_path, VALUE + 3).compare() == ([text], [])


def test_what_is_loaded_before_the_first_step_counts(tmp_path: Path) -> None:
    sides = Sides(tmp_path, VALUE + 3)
    sides.new.event("begun", stream=0, variables={"w": sides.new.array(VALUE)})
    assert sides.compare()[0] == []


def test_of_a_part_only_that_is_compared(tmp_path: Path) -> None:
    part = np.array([[True, True], [True, True], [False, False]])
    own = VALUE.copy()
    own[2] = 0
    assert Sides(tmp_path / "same", own, part=part).compare()[0] == []
    own[1] = 0
    assert len(Sides(tmp_path / "other", own, part=part).compare()[0]) == 1


@pytest.mark.parametrize("result", ["its own", "another"])
def test_each_side_may_load_what_it_has_trained_a_weight_to_that_rounding_moves(tmp_path: Path, result: str) -> None:
    sides = Sides(tmp_path, VALUE + 1)
    sides.old.event("final", stream=1, call=1, variables={"v": sides.old.array(VALUE)})
    trained = VALUE + 1 if result == "its own" else VALUE
    sides.new.event("final", stream=1, call=1, variables={"v": sides.new.array(trained)})
    assert bool(sides.compare()[0]) is (result == "another")


@pytest.mark.parametrize(("name", "found"), [("w", 0), ("v", 1)])
def test_a_weight_that_one_seed_draws_for_two_models_is_not_loaded(tmp_path: Path, name: str, found: int) -> None:
    """Where the training of the first never moved it, a checkpoint has the value with which the second one begins."""
    sides = Sides(tmp_path, VALUE + 3)
    drawn = {"name": name, "trainable": True, "value": sides.old.array(VALUE)}
    sides.old.event("variables", stream=1, kind="train", variables=[drawn])
    assert len(sides.compare()[0]) == found


def test_what_only_the_new_program_loads_is_a_difference(tmp_path: Path) -> None:
    assert Sides(tmp_path, loaded={"b": "program/m/c-3"}).compare()[0] == ["only the new program loads b from m/c-3"]


def test_a_new_program_without_such_a_model_is_not_judged_here(tmp_path: Path) -> None:
    sides = Sides(tmp_path)
    sides.old.event("variables", stream=1, kind="predict", variables=[])
    assert sides.compare()[0] == []


def test_values_of_files_are_known_again(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    random = np.random.RandomState(0)
    table, other = random.randn(2, 6, 5).astype(np.float32)
    path = tf.train.Checkpoint(table=tf.Variable(table), zeros=tf.Variable(np.zeros(30, np.float32))).save(
        str(tmp_path / "c")
    )
    files, here = Files(), [Source(path)]
    assert files.whole(table, here) == files.whole(table.T, here) == files.whole(table.reshape(3, 10), here) == path
    assert not files.whole(other, here) and not files.whole(table * 2, here)
    assert not files.whole(np.zeros(30, np.float32), here), "zeros tell nothing"
    assert not files.whole(table, [Source(path, "step")]) and not files.whole(table, [Source(str(tmp_path / "gone"))])

    grown = np.concatenate([table[4:], other])
    found, mask = files.part(grown, here)
    assert found == path and mask.tolist() == [[True] * 5] * 2 + [[False] * 5] * 6
    found, mask = files.part(np.concatenate([other[:, :2], table[:, 3:]], axis=1), here)
    assert found == path and mask.tolist() == [[False, False, True, True]] * 6
    assert files.part(other, here) == ("", None)
    assert files.part(np.ones([3, 5], np.float32), here) == ("", None)
