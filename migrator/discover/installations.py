"""Lines that install TensorFlow 1, which migrated programs do not run on: in notebooks, and where projects name packages."""

from __future__ import annotations

import re
from collections.abc import Iterator

SHELLS = frozenset({"bash", "sh", "shell"})
"""Cell magics whose body is a shell script."""

_COLAB = re.compile(r"^[ \t]*%tensorflow_version[ \t]+1", re.MULTILINE)
_INSTALL = re.compile(
    r"^[ \t]*[!%]?[^#\n]*\b(?:pip3?|conda|mamba)\b[^#\n]*\binstall\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE
)
_PACKAGE = re.compile(
    r"""(?<![\w./-])tensorflow(?P<kind>-gpu|-cpu)?(?:\[[\w,-]*\])?(?P<version>[=<>~!][^\s"';|&#]*)?(?![\w./-])"""
)
_KEYED = re.compile(r"""^[ \t]*["']?tensorflow(?:-gpu)?["']?[ \t]*=[ \t]*["'][\^~=<]*1\.[^"']*["']?""")
_IMAGE = re.compile(r"^[ \t]*FROM[ \t]+\S*tensorflow/tensorflow:1\.\S*", re.IGNORECASE)
_OLD = re.compile(r"(?:={1,3}|~=|<=?)\s*1(?:\.|$)|<\s*2(?:\.0)*$")


def installations(cell: str) -> Iterator[tuple[int, str]]:
    """Where a cell asks for TensorFlow 1, as an offset, and what to do about it."""
    for found in _COLAB.finditer(cell):
        yield (
            found.start(),
            "%tensorflow_version asks Colab for TensorFlow 1, which it no longer has: delete the line",
        )
    for line in _INSTALL.finditer(cell):
        for message in _asked_for(line.group(), "installs"):
            yield line.start(), message


def requirements(text: str) -> Iterator[tuple[int, str]]:
    """Where a file that names packages asks for TensorFlow 1, as a line from 1, and what to do about it."""
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0]
        whole = _KEYED.match(line) or _IMAGE.match(line)
        messages = [_too_old("asks for", whole.group().strip())] if whole else _asked_for(line, "asks for")
        yield from ((number, message) for message in messages)


def _asked_for(line: str, verb: str) -> Iterator[str]:
    for package in _PACKAGE.finditer(line):
        if any(_OLD.match(part) for part in (package["version"] or "").split(",")):
            yield _too_old(verb, package.group())
        elif package["kind"] == "-gpu":
            yield "there is no tensorflow-gpu any more: install tensorflow, which uses GPUs"


def _too_old(verb: str, what: str) -> str:
    return (
        f"this {verb} TensorFlow 1 ({what}): migrated programs run on TensorFlow 2.15, and on later ones with tf_keras"
    )
