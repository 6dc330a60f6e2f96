"""Which Keras the programs get."""

from __future__ import annotations

import os
from importlib import metadata, util

import pytest

from migrator.parity.probe.keras_choice import KERAS, choose_keras


@pytest.mark.parametrize(
    ("installed", "side", "before", "after"),
    [
        ({"tensorflow": "2.21.0", "tf_keras": "2.21.0"}, "new", None, "1"),
        ({"tensorflow-cpu": "2.16.1", "tf_keras": "2.16.0"}, "new", None, "1"),
        ({"tf-nightly": "2.22.0.dev1", "tf_keras": "2.21.0"}, "convert", None, "1"),
        ({"tensorflow": "2.21.0", "tf_keras": "2.21.0"}, "new", "0", "0"),  # somebody decided
        ({"tensorflow": "2.21.0", "tf_keras": "2.21.0"}, "old", None, None),
        ({"tensorflow-cpu": "2.15.1", "tf_keras": "2.15.0"}, "new", None, None),
        ({"tensorflow": "2.21.0"}, "new", "1", None),
        ({}, "new", None, None),
    ],
)
def test_keras_2_is_chosen_where_it_is_there(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], side: str, before: str | None, after: str | None
) -> None:
    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(util, "find_spec", lambda name: object() if name in installed else None)
    monkeypatch.setitem(os.environ, KERAS, before or "")
    if before is None:
        monkeypatch.delenv(KERAS)
    choose_keras(side)
    assert os.environ.get(KERAS) == after
