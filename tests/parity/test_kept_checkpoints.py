"""Which checkpoints a program keeps, as the probe sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
import tensorflow as tf

from migrator.parity.probe.recorded import checkpoints
from migrator.parity.probe.recorded.store import Reader, Writer

v1 = tf.compat.v1
management = pytest.importorskip(checkpoints._MODULES[0])


@pytest.mark.parametrize(("most", "expected"), [(2, [5, 10]), (None, [0, 5, 10]), (0, [0, 5, 10])])
def test_savers_that_keep_all_have_no_list_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None, expected: list[int]
) -> None:
    monkeypatch.setattr(management, checkpoints._UPDATE, getattr(management, checkpoints._UPDATE))  # and take it back
    writer = Writer(str(tmp_path / "record"))
    checkpoints.watch(writer, str(tmp_path))
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", [1])
        saver = v1.train.Saver(max_to_keep=most)
        session.run(v1.global_variables_initializer())
        for step in (0, 5, 10):
            saver.save(session, str(tmp_path / "model.ckpt"), global_step=step)
    writer.close()
    *_, last = Reader(str(tmp_path / "record")).of("checkpoint")
    assert sorted(last["kept"]) == expected
