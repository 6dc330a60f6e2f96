"""Folders that a program names outside of its own: they move into the sandbox."""

from __future__ import annotations

import os
import pathlib

from migrator.parity.probe.program import Redirect


def test_files_that_were_written_before_the_folder_is_claimed(tmp_path: pathlib.Path) -> None:
    """A program makes its output folder and writes a vocabulary there, and only then an Estimator says that it is one."""
    outside, sandbox = tmp_path / "out", tmp_path / "sandbox"
    outside.mkdir()
    sandbox.mkdir()
    earlier = outside / "of_an_earlier_run.txt"
    earlier.write_text("old")
    os.utime(earlier, (1, 1))
    redirect = Redirect(str(sandbox))
    (outside / "labels.txt").write_text("a\nb\n")
    place = pathlib.Path(redirect.claim(str(outside)))
    assert place.is_relative_to(sandbox) and os.listdir(place) == ["labels.txt"]
    assert redirect.map(str(outside / "new.txt")) == str(place / "new.txt")


def test_a_folder_that_is_not_there_is_not_made(tmp_path: pathlib.Path) -> None:
    redirect = Redirect(str(tmp_path / "sandbox"))
    assert not os.path.exists(redirect.claim(str(tmp_path / "out")))
