"""What commands share: exit status, errors, colours and progress. Light, as every command imports it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from migrator.engine.runner import Progress

_FULL = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])

EXIT_DONE, EXIT_LEFT, EXIT_ABNORMAL, EXIT_INTERRUPTED = 0, 1, 2, 130


def fail(message: str) -> NoReturn:
    """Say why the command cannot go on, and end with status 2."""
    click.echo(f"migrate: {message}", err=True)
    sys.exit(EXIT_ABNORMAL)


class ReportFile(click.Path):
    """A file to write a report to; not code, which may be what the report is about."""

    def __init__(self, path_type: type | None = None) -> None:
        super().__init__(dir_okay=False, path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse names of code."""
        if str(value).endswith((".py", ".ipynb")):
            self.fail(f"{value} is the name of a program; the report would be written over it.", param, ctx)
        return super().convert(value, param, ctx)


def open_streams() -> None:
    """Let standard streams that are closed be empty, and print any code on any terminal."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
        elif mode == "w" and hasattr(stream, "reconfigure"):  # code may hold what the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")


def check_folder() -> None:
    """End with status 2 where the current folder is gone, as no relative path means anything there."""
    try:
        os.getcwd()
    except OSError as error:
        fail(f"the current folder cannot be used ({error.strerror}): change to another one")


@contextlib.contextmanager
def full_disks_told() -> Iterator[None]:
    """End with status 2 where standard output finds no room."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        with contextlib.suppress(OSError, ValueError):  # what is left in its buffer goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"cannot write to standard output: {error.strerror}")


def print_styled(lines: Any, stream: Any) -> None:
    """Print lines of a report, coloured where the stream shows colours."""
    from migrator.report.text import print_lines

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
