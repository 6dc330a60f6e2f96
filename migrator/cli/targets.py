"""Whether a project asks for the TensorFlow that its migrated programs are to run on."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PACKAGE = re.compile(r"""(?:^\s*|["'])tensorflow(?:\[[\w,-]*\])?(?P<version>[^"';#]*)(?=["';#]|$)""")
_KEYED = re.compile(r"""^[ \t]*["']?tensorflow["']?[ \t]*=[ \t]*["'](?P<version>[^"']*)["']""")
_BOUND = re.compile(r"(===?|~=|!=|<=?|>=?|\^)\s*(\d+)(?:\.(\d+|\*))?(?:\.(\d+|\*))?")
_KERAS = re.compile(r"""(?:^\s*|["'])tf[_-]keras\b""", re.M)
_FIRST_WITHOUT_KERAS_2 = 16
_LATER = range(_FIRST_WITHOUT_KERAS_2, 100)


def misfits(text: str, target: str) -> Iterator[tuple[int, str]]:
    """Lines of a file that names packages which do not fit `target`, one of `choices.TARGETS`, and what to do.

    TensorFlow 1 is no business of this function. Lines count from 1.
    """
    named = 0
    for number, line in enumerate(text.splitlines(), start=1):
        found = _KEYED.match(line) or _PACKAGE.search(line)
        version = found["version"].strip() if found is not None else ""
        if found is None or (version and not version.startswith("*") and not _BOUND.match(version)):
            continue
        named = named or number
        newer, older = any(_allows(version, minor) for minor in _LATER), _allows(version, 15)
        if target == "2.15" and newer and (older or not version):
            yield (
                number,
                "this lets in TensorFlow 2.16 and newer, which the target 2.15 is not: ask for tensorflow>=2.13,<2.16",
            )
        elif target == "2.15" and newer:
            yield (
                number,
                "this asks for TensorFlow 2.16 or newer, but the target is 2.15: ask for tensorflow>=2.13,<2.16",
            )
        elif target == "2.16" and not newer and any(_allows(version, minor) for minor in range(_FIRST_WITHOUT_KERAS_2)):
            yield number, "this keeps TensorFlow below 2.16, but the target is 2.16 and newer: ask for tensorflow>=2.16"
    if target == "2.16" and named and not _KERAS.search(text):
        yield (
            named,
            "on TensorFlow 2.16 and newer, migrated programs need tf_keras: ask for it, and set TF_USE_LEGACY_KERAS=1",
        )


def _allows(version: str, minor: int) -> bool:
    """Whether a requirement such as ``>=2.1,<2.16`` lets in some release of TensorFlow 2.`minor`."""
    return all(_holds(bound, minor) for bound in _BOUND.findall(version))


def _holds(bound: tuple[str, str, str, str], minor: int) -> bool:
    operator, *numbers = bound
    parts = [int(number) for number in numbers if number.isdigit()]
    given = parts[1] if len(parts) > 1 else None
    if parts[0] != 2:
        return operator in ("!=",) or (operator[0] == ">" and parts[0] < 2) or (operator[0] == "<" and parts[0] > 2)
    if given is None:
        return operator not in ("!=", "<")
    if operator in ("==", "==="):
        return minor == given
    if operator == "~=":
        return minor == given if len(parts) > 2 else minor >= given
    if operator == "!=":
        return len(parts) > 2 or minor != given
    if operator[0] == "<":
        return minor <= given if operator == "<=" or len(parts) > 2 and parts[2] > 0 else minor < given
    return minor >= given if operator != ">" or len(parts) > 2 else minor > given
