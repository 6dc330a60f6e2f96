"""How a chief orders steps of its workers."""

from __future__ import annotations

import pytest

from migrator.runtime.cluster.coordinator import steps_per_call


@pytest.mark.parametrize(
    ("interval", "workers", "most", "expected"),
    [
        (100, 1, 100, 100),
        (100, 1, 30, 25),
        (100, 2, 100, 50),
        (100, 3, 100, 10),
        (100, 2, 5, 5),
        (1000, 2, 100, 100),
        (97, 2, 100, 1),
        (4, 8, 100, 1),
    ],
)
def test_several_workers_share_the_steps_of_an_interval(interval: int, workers: int, most: int, expected: int) -> None:
    assert steps_per_call(interval, workers, most) == expected
