"""Files that fixes put beside a program. Ours are merged with what is there; those of others are never touched."""

from __future__ import annotations

import os
from collections.abc import Iterable

from migrator.discover.sources import SourceFile, Unusable, load
from migrator.vendor import vendoring
from migrator.vocabulary.diagnostics import NewFile, Outcome


class Companions:
    """New files of one component. Where one is among its sources, `current`, it is kept up to date there."""

    def __init__(self, current: dict[str, SourceFile]) -> None:
        self._current = current
        self._created: dict[str, SourceFile] = {}

    def occupied(self, files: Iterable[NewFile]) -> str | None:
        """The reason why one of `files` cannot be made, if there is one."""
        for file in files:
            try:
                if os.path.isdir(os.path.splitext(file.path)[0]):
                    return f"the migrated program needs {file.path}, which Python would not find beside a folder of that name"
                existing = self._existing(file.path)
                if existing is None or existing.text == file.text:
                    continue
                if not (vendoring.is_vendored(existing.text) and vendoring.is_vendored(file.text)):
                    return f"the migrated program needs {file.path}, but a file of that name exists: move it away"
                vendoring.merge(file.path, existing.text, file.text)
            except Unusable as error:
                return f"cannot add to {error.diagnostic}"
            except vendoring.Edited as error:
                return f"cannot add to {file.path}: {error}"
            except SyntaxError as error:
                return f"cannot add to {file.path}:{error.lineno}: {error.msg}"
        return None

    def would_change(self, files: Iterable[NewFile]) -> bool:
        """Whether making `files` changes anything. True for those that are occupied."""
        for file in files:
            try:
                existing = self._existing(file.path)
                if existing is None or _merged(existing, file) != existing.text:
                    return True
            except (Unusable, SyntaxError, vendoring.Edited):
                return True
        return False

    def add(self, files: Iterable[NewFile]) -> list[str]:
        """Make or extend files that are not occupied; returns those that are sources of the component."""
        touched = []
        for file in files:
            existing = self._existing(file.path) or SourceFile(file.path, b"", "")
            changed = existing.with_data(_merged(existing, file).encode("utf-8"))
            if file.path in self._current:
                self._current[file.path] = changed
                touched.append(file.path)
            else:
                self._created[file.path] = changed
        return touched

    def outcomes(self) -> list[Outcome]:
        """One for each file outside of the component's sources."""
        found = []
        for path, source in sorted(self._created.items()):
            before = load(path).raw if os.path.exists(path) else None
            if before is None:
                found.append(Outcome(path, "created", b"", source.raw))
            elif before != source.raw:
                found.append(Outcome(path, "changed", before, source.raw))
        return found

    def _existing(self, path: str) -> SourceFile | None:
        known = self._created.get(path) or self._current.get(path)
        if known is None and os.path.lexists(path):
            known = load(path)
        return known


def _merged(existing: SourceFile, file: NewFile) -> str:
    if not existing.text or not vendoring.is_vendored(existing.text):
        return file.text
    return vendoring.merge(file.path, existing.text, file.text)
