"""Lines of a notebook that install TensorFlow 1, which the migrated cells do not run on."""

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
_OLD = re.compile(r"(?:={1,3}|~=|<=?)\s*1(?:\.|$)|<\s*2(?:\.0)*$")


def installations(cell: str) -> Iterator[tuple[int, str]]:
    """Where a cell asks for TensorFlow 1, as an offset, and what to do about it."""
    for found in _COLAB.finditer(cell):
        yield (
            found.start(),
            "%tensorflow_version asks Colab for TensorFlow 1, which it no longer has: delete the line",
        )
    for line in _INSTALL.finditer(cell):
        for package in _PACKAGE.finditer(line.group()):
            version = package["version"] or ""
            if any(_OLD.match(part) for part in version.split(",")):
                remedy = "the migrated cells run on TensorFlow 2.15, and on later ones with tf_keras"
                yield line.start(), f"this installs TensorFlow 1 ({package.group()}): {remedy}"
            elif package["kind"] == "-gpu":
                yield line.start(), "there is no tensorflow-gpu any more: install tensorflow, which uses GPUs"
