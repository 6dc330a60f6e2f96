"""Where working copies of comparisons stand, and how many of those that failed are kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MOST = 5
"""Copies of comparisons that failed; older ones go."""
_MARK = ".failed"


def place() -> Path:
    """The folder of this user's comparisons."""
    user = getattr(os, "getuid", lambda: "user")()
    return Path(tempfile.gettempdir(), f"migrate-parity-{user}")


def folder(name: str) -> Path:
    """A new folder for one comparison."""
    top = place()
    top.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name[:40]}-", dir=top))


def keep(root: Path) -> str:
    """Keep the folder of a comparison that failed, and forget the oldest; what to say of it."""
    (root / _MARK).touch()
    failed = sorted(place().glob(f"*/{_MARK}"), key=lambda mark: mark.stat().st_mtime, reverse=True)
    for mark in failed[MOST:]:
        shutil.rmtree(mark.parent, ignore_errors=True)
    return f"its working copies are kept in {root}, with those of the last {MOST} that failed (--keep DIR: elsewhere, for good)"
