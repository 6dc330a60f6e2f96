"""What is written down of a shuffle that live mode switches off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from migrator.parity.probe import shuffling
from migrator.parity.probe.recorded.store import Reader, Writer

tf = pytest.importorskip("tensorflow")


@pytest.mark.parametrize(
    ("made", "how"),
    [
        (lambda data: data.shuffle(8), "anew in each pass"),
        (lambda data: data.shuffle(8, None, True).repeat().batch(2), "anew in each pass"),
        (lambda data: data.shuffle(8, reshuffle_each_iteration=False).repeat(), "once for all passes"),
        (lambda data: data.shuffle(8, seed=3).repeat(), "anew in each pass, by the seed 3"),
        (lambda data: data.repeat().map(abs).shuffle(8).batch(2), "anew in each pass, behind repeat"),
        (lambda data: data.repeat().batch(2).shuffle(8), "anew in each pass, behind batch, behind repeat"),
        (lambda data: tf.data.Dataset.zip((data.repeat(), data)).shuffle(8), "anew in each pass, behind repeat"),
    ],
)
@pytest.mark.parametrize("api", [tf, tf.compat.v1])
def test_what_is_shuffled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any, how: str, api: Any) -> None:
    for version in (tf, tf.compat.v1):
        for kind in version.data.Dataset.__mro__:
            if "shuffle" in vars(kind):
                monkeypatch.setattr(kind, "shuffle", kind.shuffle)
        monkeypatch.setattr(version.data.experimental, "shuffle_and_repeat", tf.data.experimental.shuffle_and_repeat)
    writer = Writer(str(tmp_path))
    shuffling.install(writer, estimators=False)
    made(api.data.Dataset.range(4))
    writer.close()
    assert [(event["size"], event["how"]) for event in Reader(str(tmp_path)).of("shuffle")] == [(8, how)]
