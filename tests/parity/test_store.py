from __future__ import annotations

from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from migrator.parity.probe.recorded.store import Reader, Writer, checksums, describe

Sparse = namedtuple("Sparse", "indices values dense_shape")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(array=hnp.arrays(st.sampled_from([np.float32, np.int64, np.bool_, np.float64]), hnp.array_shapes(min_dims=0)))
def test_arrays_come_back_bit_for_bit(tmp_path: Path, array: np.ndarray) -> None:  # type: ignore[type-arg]
    writer = Writer(str(tmp_path / "r"))
    reference = writer.array(array)
    writer.close()
    back = Reader(str(tmp_path / "r")).array(reference)
    assert back.dtype == array.dtype and back.shape == array.shape and back.tobytes() == array.tobytes()


def test_strings_keep_trailing_zeros_and_empty_ones(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path))
    reference = writer.array(np.array([[b"a\0", b""], [b"\xff", "ü"]], dtype=object))
    writer.close()
    assert Reader(str(tmp_path)).array(reference).tolist() == [[b"a\0", b""], [b"\xff", "ü".encode()]]


def test_trees_flatten_to_paths(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path))
    sparse = Sparse(np.array([[0, 1]]), np.array([7.0]), np.array([2, 3]))
    tree = writer.tree({"a": (np.arange(3), None), "s": sparse, "l": [np.float32(1)]})
    writer.close()
    leaves = Reader(str(tmp_path)).leaves(tree)
    assert sorted(leaves) == ["a/0", "l/0", "s/dense_shape", "s/indices", "s/values"]
    assert describe(tree) == "{a: (int64[3], None), s: sparse float64[1], l: (float32[])}"


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    writer = Writer(str(tmp_path))
    writer.event("step", loss=float("nan"))
    writer.close()
    with open(tmp_path / "events.jsonl", "a") as file:
        file.write('{"type": "st')
    events = Reader(str(tmp_path)).events
    assert len(events) == 1 and events[0]["loss"] != events[0]["loss"]


def test_threads_may_write_at_the_same_time(tmp_path: Path) -> None:
    """Input pipelines of TensorFlow call from their own threads while the training loop writes."""
    writer = Writer(str(tmp_path))
    values = [np.full(1000 + number, number) for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        references = list(pool.map(writer.array, values))
        list(pool.map(lambda number: writer.event("step", number=number), range(200)))
    writer.close()
    reader = Reader(str(tmp_path))
    assert all(np.array_equal(reader.array(r), value) for r, value in zip(references, values))
    assert {event["number"] for event in reader.events} == set(range(200))


def test_checksums_see_an_exchange_of_two_values() -> None:
    assert checksums([1.0, 2.0, 3.0]) != pytest.approx(checksums([2.0, 1.0, 3.0]))
