"""What commands share: exit status, errors, colours and progress. Light, as every command imports it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from migrator.runner import Progress

EXIT_DONE, EXIT_LEFT, EXIT_ABNORMAL, EXIT_INTERRUPTED = 0, 1, 2, 130


def fail(message: str) -> NoReturn:
    """Say why the command cannot go on, and end with status 2."""
    click.echo(f"migrate: {message}", err=True)
    sys.exit(EXIT_ABNORMAL)


def print_styled(lines: Any, stream: Any) -> None:
    """Print lines of a report, coloured where the stream shows colours."""
    from migrator.reporting.text import print_lines

    print_lines(lines, stream, colours(stream))


def colours(stream: Any) -> bool:
    """Whether to print colours: on terminals, unless NO_COLOR is set; elsewhere with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    return terminal or bool(os.environ.get("FORCE_COLOR"))


def progress() -> Progress | None:
    """A counter on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        return None
    shown = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal shown
        if done == total:
            sys.stderr.write("\r\x1b[K")
        elif time.monotonic() - shown > 0.1:
            shown = time.monotonic()
            sys.stderr.write(f"\r{done} of {total} files\x1b[K")
        sys.stderr.flush()

    return show
