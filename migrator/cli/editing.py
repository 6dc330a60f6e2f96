"""Changes that a user edits in a review before they are made."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from migrator.discover.cells import SUFFIX
from migrator.discover.sources import Unusable, decode
from migrator.resolve.parsing import syntax_tree
from migrator.vocabulary.diagnostics import Outcome
from migrator.write.merging import Conflict, merge

Edited = dict[str, tuple[str, str]]
"""Of each file, the text that a change proposed and what the user made of it; line ends are ``\\n``."""


class EditError(Exception):
    """An edited change cannot be made; the message says why."""


def editor() -> list[str]:
    """The command that edits a file, as git finds it."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")


def edit(path: str, text: str) -> str:
    """What the user makes of `text`, the proposed content of a Python file. Raises EditError."""
    with tempfile.TemporaryDirectory(prefix="migrate-") as folder:
        copy = Path(folder) / os.path.basename(path)
        copy.write_bytes(text.encode("utf-8"))  # bytes: line ends stay
        try:
            status = subprocess.call([*editor(), str(copy)])
        except OSError as error:
            raise EditError(f"cannot start {editor()[0]}: {error.strerror}; set EDITOR") from error
        if status:
            raise EditError(f"{editor()[0]} ended with {status}: the change stays as it was")
        raw = copy.read_bytes()
    try:
        syntax_tree(raw)
        return raw.decode("utf-8")
    except (SyntaxError, ValueError) as error:
        raise EditError(f"what you wrote is not valid Python: {error}") from error


def edit_all(outcomes: Iterable[Outcome]) -> Edited:
    """Edit each file that a change proposes to change, in turn. Raises EditError."""
    edited: Edited = {}
    for outcome in outcomes:
        if outcome.status == "changed":
            if outcome.path.endswith(SUFFIX):
                raise EditError("a notebook is edited in Jupyter: accept the change, then edit it there")
            text = decode(outcome.path, outcome.after).text
            edited[outcome.path] = text, edit(outcome.path, text)
    return edited


def with_edits(outcome: Outcome, edits: Iterable[tuple[str, str]]) -> Outcome:
    """The outcome with what the user made of the changes in it. Raises EditError."""
    try:
        source = decode(outcome.path, outcome.after)
        text = source.text
        for proposed, wanted in edits:
            text = merge(proposed, text, wanted)
        syntax_tree(text)
        raw = source.with_data(text.encode("utf-8")).raw
    except Conflict:
        raise EditError(
            f"{outcome.path}: what you edited is also changed by another fix: edit the file after it"
        ) from None
    except (Unusable, SyntaxError, ValueError) as error:
        raise EditError(f"{outcome.path}: your edit cannot be kept: {error}") from error
    return replace(outcome, after=raw)
