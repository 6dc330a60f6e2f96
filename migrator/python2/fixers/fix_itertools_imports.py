"""Imports of iterators that are functions of the language now: with their lines."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_itertools_imports

from migrator.python2.fixers.around import without_line


class FixItertoolsImports(fix_itertools_imports.FixItertoolsImports):
    """2to3 leaves an empty line of an import of which nothing remains."""

    def transform(self, node: Any, results: Any) -> Any:
        """Remove names of one import, or all of it."""
        new = super().transform(node, results)
        return without_line(node) if new is not None and not str(new).strip() else new
