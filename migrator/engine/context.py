"""Files as parsed modules: those that are worked on, and others that they may know of."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable

from migrator.discover.sources import SourceFile
from migrator.resolve.module import Module
from migrator.vendor.vendoring import FILE_NAMES
from migrator.vocabulary.diagnostics import Diagnostic
from migrator.vocabulary.problems import deep_problem, internal_problem, syntax_problem


def parse(source: SourceFile) -> Module:
    """The parsed module. Raises SyntaxError, RecursionError, MemoryError or ValueError."""
    module = Module(source.path, source.text)
    if source.path in _context_modules:
        module.share(_context_modules[source.path])
    elif os.path.basename(source.path) in FILE_NAMES:
        module.share(_helpers(source.text))
    module.tree  # noqa: B018  parses now
    return module


_CONTEXT_MODULES = 64
_context_modules: dict[str, Module] = {}


@functools.lru_cache(maxsize=32)
def _helpers(text: str) -> Module:
    """What is known of a file of helpers: programs that need the same ones have equal copies of it."""
    module = Module(FILE_NAMES[0], text, lenient=True)
    module.references()
    return module


def _context_module(source: SourceFile) -> Module:
    """The module, kept for other components, as many programs share the same helpers.

    It is parsed when a rule first looks into it; errors are reported where the file is worked on.
    """
    module = _context_modules.pop(source.path, None)
    if module is None or module.text != source.text:
        module = Module(source.path, source.text, lenient=True)
    _context_modules[source.path] = module  # the last one used is the last one in it
    while len(_context_modules) > _CONTEXT_MODULES:
        del _context_modules[next(iter(_context_modules))]
    return module


class Context:
    """Further files; only a component with an Estimator pays for them."""

    def __init__(self, sources: Iterable[SourceFile]) -> None:
        self._sources = sources

    @functools.cached_property
    def modules(self) -> dict[str, Module]:
        """The modules by path."""
        return {source.path: _context_module(source) for source in self._sources}


def parse_problem(source: SourceFile, error: Exception) -> Diagnostic:
    """What to say of a file that cannot be parsed."""
    if isinstance(error, SyntaxError):
        return syntax_problem(source.path, error, source.text)
    if isinstance(error, (RecursionError, MemoryError)):
        return deep_problem(source.path)
    return internal_problem(source.path, "E005 (reading)", error)
