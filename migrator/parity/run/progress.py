"""How far the running side is, on stderr: one line that moves on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

EVERY_SECONDS = 5.0


class Progress:
    """Says what runs. `quiet` says nothing."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()

    @contextlib.contextmanager
    def side(self, case: str, side: str, file: Path) -> Iterator[Callable[[float], None]]:
        """While one side runs: call what this yields with the seconds so far; `file` is where the child writes."""
        title = f"{case}: {'recording the old program' if side == 'old' else 'replaying the new program'}"
        if self.quiet:
            yield lambda seconds: None
        elif self.terminal:
            from rich.console import Console

            with Console(stderr=True).status(title) as status:
                yield lambda seconds: status.update(f"{title}: {read(file)} ({seconds:.0f} s)")
        else:
            print(title, file=sys.stderr, flush=True)
            last = [0.0]

            def say(seconds: float) -> None:
                if seconds - last[0] >= EVERY_SECONDS:
                    last[0] = seconds
                    print(f"{title}: {read(file)} ({seconds:.0f} s)", file=sys.stderr, flush=True)

            yield say


def read(file: Path) -> str:
    """What the child last said, such as ``training, step 12 of 60``."""
    try:
        step, total, activity = file.read_text("utf-8").split(" ", 2)
    except (OSError, ValueError):
        return "starting"
    if not int(step):
        return activity
    return f"{activity}, step {step}" + (f" of {total}" if int(total) else "")
