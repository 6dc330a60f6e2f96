"""The parts of benchmarks/distributed.py that train nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
_spec = importlib.util.spec_from_file_location("distributed_benchmark", ROOT / "benchmarks" / "distributed.py")
assert _spec is not None and _spec.loader is not None
distributed = importlib.util.module_from_spec(_spec)
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.modules[_spec.name] = distributed  # dataclasses look their module up
_spec.loader.exec_module(distributed)


def test_the_rate_leaves_the_first_steps_out() -> None:
    assert distributed.rate([(2000, 40.0), (100, 10.0), (400, 20.0), (1200, 30.0)]) == 80.0


@pytest.mark.parametrize("marks", [[], [(100, 1.0)], [(100, 1.0), (2000, 1.0)]])
def test_no_rate_of_too_few_marks(marks: list[tuple[int, float]]) -> None:
    with pytest.raises(ValueError, match="too few steps"):
        distributed.rate(marks)


def test_both_sides_have_as_many_trainers() -> None:
    """The chief of parameter servers trains in the old program only; nobody evaluates."""
    one, two, mirrored_one, mirrored_two = distributed.clusters([1, 2])
    assert [distributed.shape(one, side).jobs for side in ("old", "new")] == [
        {"ps": 2, "chief": 1},
        {"ps": 2, "worker": 1, "chief": 1},
    ]
    assert [distributed.shape(two, side).jobs for side in ("old", "new")] == [
        {"ps": 2, "worker": 1, "chief": 1},
        {"ps": 2, "worker": 2, "chief": 1},
    ]
    assert distributed.shape(mirrored_one, "old").jobs == {"chief": 1}
    assert distributed.shape(mirrored_two, "new").jobs == {"worker": 1, "chief": 1}


def test_the_table_has_a_row_for_each_cluster() -> None:
    cluster = distributed.clusters([2])[0]
    found = distributed.compared(cluster, [10.0, 20.0, 40.0], [20.0, 10.0, 60.0])
    assert (found.old, found.new, found.ratio) == (20.0, 20.0, 1.5)
    lines = distributed.table([found]).splitlines()
    assert lines[2] == "| parameter servers | 2 | 20 | 20 | 1.50 |"
    assert len({line.count("|") for line in lines}) == 1


def test_marks_are_read_from_event_files(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step, tag in ((100, "loss"), (100, distributed.TAG), (200, distributed.TAG)):
            summary = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag=tag, simple_value=1.0)])
            tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step)
    assert sorted(step for step, _ in distributed.marks_of(tmp_path)) == [100, 200]


def test_the_program_takes_what_it_is_given() -> None:
    for name in ("before.py", "after.py"):
        text = (distributed.PROGRAM / name).read_text("utf-8")
        assert all(f'"{flag}"' in text for flag in ("max_steps", "save_every", "model_dir", "mirrored"))
