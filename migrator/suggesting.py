"""What is wrong with a path that leads nowhere, and what a misspelt word may have meant."""

from __future__ import annotations

import difflib
import os

COMMANDS = ("checkpoint", "explain", "parity", "rules")


def dangling(path: str) -> str:
    """Says so of a path that is a link to nothing; empty for others."""
    if os.path.exists(path) or not os.path.islink(path):
        return ""
    return f"{path} is a dangling link: there is no {os.readlink(path)}"


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
