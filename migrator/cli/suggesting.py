"""What is wrong with a path that leads nowhere, and what a misspelt word may have meant."""

from __future__ import annotations

import difflib
import os

COMMANDS = ("checkpoint", "explain", "parity", "rules")


def unreachable(path: str) -> str:
    """Says so of a path that is a link to nothing, or in a folder that may not be entered; empty for others."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return f"{path} is a dangling link: there is no {os.readlink(path)}" if os.path.islink(path) else ""
    except OSError as error:
        return f"cannot read {path}: {error.strerror}"
    return ""


def suggestion(path: str) -> str:
    """``; did you mean ...?`` for a path that does not exist: a command, or its neighbour in the nearest folder; or nothing."""
    near = [f"`migrate {name}`" for name in difflib.get_close_matches(path, COMMANDS, n=1, cutoff=0.7)]
    folder, name = os.path.split(path.rstrip(os.sep))
    try:
        names = sorted(os.listdir(folder or os.curdir))
    except OSError:
        names = []
    near += [os.path.join(folder, match) for match in difflib.get_close_matches(name, names, n=2, cutoff=0.7)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
