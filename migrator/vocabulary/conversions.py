"""What makes a file Python 3 before any rule looks at it."""

from __future__ import annotations

from dataclasses import dataclass

from migrator.vocabulary.diagnostics import Diagnostic


@dataclass(frozen=True)
class Beside:
    """What the imports of a file may mean that stands in a folder with others."""

    modules: frozenset[str] = frozenset()
    is_package: bool = False
    """Whether the folder is imported as a package, so that its files import each other by it."""


@dataclass(frozen=True)
class Conversion:
    """From Python 2; all places are those of the original text."""

    change: Diagnostic
    """With the fix that makes it."""
    notes: tuple[Diagnostic, ...] = ()
    """What nobody can know who sees the text only."""
