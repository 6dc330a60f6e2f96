"""Programs as ``python FILE ARGUMENTS`` runs them: forks of an interpreter that has TensorFlow, where there can be one."""

from __future__ import annotations

import os
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """How a program ended, and what it printed."""

    returncode: int
    output: str


def started(program: Path, *arguments: str, python: str = sys.executable) -> Done:
    """Run a program in its own folder."""
    from migrator.parity.run import process, warm

    warm.SCRIPTS.add(__file__)
    log, folder = program.with_suffix(".log"), str(program.parent)
    command = [python, __file__, "old", str(program), *arguments]  # "old": with the Keras that its TensorFlow has
    ended = process.run(program.stem, command, str(log), folder, process.environment(folder), timeout=300)
    return Done(ended.returncode, log.read_text("utf-8", "replace"))


if __name__ == "__main__":
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
