"""Glob patterns of files, as in options and settings."""

from __future__ import annotations

import fnmatch
from pathlib import PurePath


def excluded(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether one of `patterns` matches a path, a folder above it or, for a pattern without slash, one of its parts."""
    parts = PurePath(name).parts
    posix = "/".join(parts)
    for pattern in patterns:
        plain = pattern.rstrip("/")
        while plain.startswith("./"):
            plain = plain[2:]
        if "/" not in plain and any(fnmatch.fnmatch(part, plain) for part in parts):
            return True
        ancestors = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        if any(fnmatch.fnmatch(ancestor, plain) for ancestor in ancestors) or fnmatch.fnmatch(posix, "*/" + plain):
            return True
    return False
