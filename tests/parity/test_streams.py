"""Which model of the old program a model of the new one goes on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.parity.probe.recorded.store import Writer
from migrator.parity.probe.replay import Replay

STEPS = 5


def replay(folder: Path, *trainings: int) -> Replay:
    """A replay of trainings of `STEPS` steps each, of the models with these numbers."""
    writer = Writer(str(folder / "old"))
    for call, stream in enumerate(trainings, 1):
        writer.event("begin", kind="train", call=call, stream=stream)
        for step in range(1, STEPS + 1):
            writer.event("step", stream=stream, call=call, step=step, loss=1.0, batch=[None, None], sums={}, values={})
    writer.close()
    config = {"recording": str(folder / "old"), "output": str(folder / "new"), "progress": str(folder / "progress")}
    return Replay(config)


def trained(replayed: Replay, *models: object) -> list[int]:
    """The streams that these models go on with, if they train `STEPS` steps each in turn."""
    found = []
    for call, model in enumerate(models, 1):
        stream = replayed.stream_to_train(model, call)
        stream.model = model
        stream.taken += STEPS
        found.append(stream.index)
    return found


@pytest.mark.parametrize("trainings", [(0, 1, 0, 1), (0, 0, 1, 1), (0, 1, 1, 0)])
def test_models_that_are_built_anew_for_each_training(tmp_path: Path, trainings: tuple[int, ...]) -> None:
    replayed = replay(tmp_path, *trainings)
    assert trained(replayed, *(object() for _ in trainings)) == list(trainings)


def test_models_that_are_kept(tmp_path: Path) -> None:
    first, second = object(), object()
    assert trained(replay(tmp_path, 0, 1, 0, 1), first, second, first, second) == [0, 1, 0, 1]


def test_fewer_trainings_of_more_steps(tmp_path: Path) -> None:
    """What `train_and_evaluate` made in several trainings is one of `fit`."""
    replayed, first, second = replay(tmp_path, 0, 0, 1, 1), object(), object()
    stream = replayed.stream_to_train(first, 1)
    stream.model, stream.taken = first, 2 * STEPS
    assert stream.index == 0 and replayed.stream_to_train(second, 2).index == 1


def test_batches_that_are_trained_one_by_one_have_no_number(tmp_path: Path) -> None:
    replayed, first = replay(tmp_path, 0, 1), object()
    replayed.stream_to_train(first).model = first
    assert replayed.stream_to_train(object()).index == 1
