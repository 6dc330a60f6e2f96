"""What is said first of a program that failed: its own last error, where, and with which exit status."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Sequence
from pathlib import Path

from migrator.parity.judge.case import Program
from migrator.parity.probe.recorded.store import FAILURE

_USAGE = re.compile(r"^\S.*?: error: (.+)$")
"""What `argparse` says of arguments that it cannot take."""
_FLAGS = re.compile(r"^FATAL Flags parsing error:\s*(.*)$")
"""What `absl.flags` says."""


_ABSENT = re.compile(r"FileNotFoundError|NotFoundError|No such file|not found|does not exist")
_RELATIVE = re.compile(r"(?<![\w./~-])(?:\.\.?/)*[\w-][\w.-]*(?:/[\w.-]+)*")
_FAR = 3
"""Folders above that of a program in which what it did not find is looked for."""


_GRAPHS = "It counts on the graphs of TensorFlow 1, which TensorFlow 2 makes only when told to: try --old-dialect v1."
_PYTHON_2 = "If it is Python 2: --from-python2 trains its conversion."


def advice(log: Sequence[str], program: Program) -> str:
    """What to do about an old program that ended with this error, as a line of its own; empty where nobody knows."""
    if any("eager execution" in line for line in log):
        return f"\n{_GRAPHS}"
    if any(line.startswith(("SyntaxError", "TabError")) for line in log):
        return f"\n{_PYTHON_2}"
    return elsewhere(log[-1:], program)


def elsewhere(log: Sequence[str], program: Program) -> str:
    """What to say of a file that a program did not find where it ran, and that is there from a folder above."""
    here = program.folder.resolve()
    named = [name for line in log if _ABSENT.search(line) for name in _RELATIVE.findall(line)]
    for name in dict.fromkeys(named):
        beside = (here / name).resolve()
        if ".." in Path(name).parts and beside.exists() and here not in beside.parents:
            return f"\n{name} is outside of what was copied: give {_around(program, here, beside.parent)}."
        for folder in [*here.parents][:_FAR]:
            if len(folder.parts) > 1 and not (here / name).exists() and (folder / name).exists():
                shown = os.path.relpath(folder)
                if program.path.is_file():
                    return f"\n{name} is there from {shown}: --cwd {shown} runs the program in that folder."
                return f"\n{name} is there from {shown}: give that folder, and with --entry the file that starts the program."
    return ""


def _around(program: Program, here: Path, other: Path) -> str:
    """The folder that holds a program and another folder, with the options that start the program in it."""
    top = Path(os.path.commonpath([here, other]))
    file = program.entry or (program.path.name if program.path.is_file() else "")
    entry = f"--entry {os.path.relpath(here / file, top)} " if file else ""
    return f"{os.path.relpath(top)} with {entry}--cwd {here.relative_to(top)}"


def status_text(code: int) -> str:
    """An exit status in words, with the name of a signal."""
    if code >= 0:
        return f"exit status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"ended by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


def headline(code: int, recording: Path, log: Sequence[str]) -> str:
    """One line on how a program ended, such as ``exit status 2 at train.py:7: …``."""
    try:
        failure = json.loads((recording / FAILURE).read_text("utf-8"))
        place, text = str(failure["place"]), str(failure["text"])
    except (OSError, ValueError, LookupError, TypeError):
        return status_text(code)
    advice = ""
    if not text:
        texts = [found[1] for line in log for found in (_USAGE.match(line),) if found]
        flags = [
            " ".join([*filter(None, [found[1]]), *log[at + 1 : at + 2]])
            for at, line in enumerate(log)
            for found in (_FLAGS.match(line),)
            if found
        ]
        text = (texts or flags or [""])[-1].strip()
        advice = ". Arguments of the program go after `--`" if text else ""
    where = f" at {place}" if place else ""
    lines = text.splitlines()
    return f"{status_text(code)}{where}" + (f": {lines[0].rstrip('.')}" if lines else "") + advice
