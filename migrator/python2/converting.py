"""One file of Python 2 as one of Python 3, by fissix, the fork of 2to3 that is maintained.

What is done is a fix of one diagnostic, so that reports, reviews and commits show it as they show any other; what the
file alone does not say is told with its place.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from migrator.discover.sources import SourceFile, Unusable
from migrator.engine.fixes import splice
from migrator.engine.places import Shift, in_original
from migrator.python2 import doubts
from migrator.python2.celled import imports_in_cells, kernel_note
from migrator.python2.divisions import with_floor_divisions
from migrator.python2.edits import LINE_END, edits_to
from migrator.resolve.module import Module
from migrator.resolve.parsing import syntax_tree
from migrator.vocabulary.conversions import Beside, Conversion
from migrator.vocabulary.diagnostics import Diagnostic, Fix, Location, Severity
from migrator.vocabulary.problems import PYTHON_2, SYNTAX, problem

MISSING = "--from-python2 needs fissix, the maintained fork of 2to3: pip install 'estimator-migrator[python2]', or fissix itself"

_OURS = """cmp dict filter future import itertools_imports map print tuple_params xrange zip""".split()
_LEFT_OUT = frozenset({"buffer", "idioms", "set_literal", "ws_comma"})
"""Fixers of 2to3 that change what is Python 3 as well, or that guess."""
_FUTURE = re.compile(r"^from __future__ import [^\n]*\n|^[ \t]*\n", re.MULTILINE)
_DIVISION = re.compile(r"^from __future__ import [^\n#]*\bdivision\b", re.MULTILINE)
_PRINT = re.compile(r"^from __future__ import [^\n#]*\bprint_function\b", re.MULTILINE)
_WARNING = re.compile(r"Line (\d+): (.*)", re.DOTALL)


class NotConverted(Exception):
    """The text is not Python 2 either, or what 2to3 makes of it is not Python 3; the message says why."""


@dataclass(frozen=True)
class Converted:
    """The new text, and what 2to3 says of lines of the old one."""

    text: str
    warnings: tuple[tuple[int, str], ...] = ()


def available() -> bool:
    """Whether fissix is installed."""
    from importlib.util import find_spec

    return find_spec("fissix") is not None


def converted(source: SourceFile, beside: Beside) -> SourceFile:
    """`source` with what makes it Python 3, if it needs anything.

    A file that is Python 3 already and cannot be converted stays, with a remark. Raises Unusable for one that is neither.
    """
    text = LINE_END.sub("\n", source.text)
    error = _syntax_error(text, source.path)
    try:
        found = conversion(text, beside)
    except NotConverted as reason:
        if error is not None:
            line, column = error.lineno or 1, error.offset or 1
            where = Module(source.path, source.text, lenient=True).located(line, column)
            said = f"neither Python 3 ({error.msg}) nor Python 2 that can be converted ({reason})"
            raise Unusable(replace(problem(SYNTAX, source.path, said), location=where)) from error
        said = f"parses as Python 3, and was left so: it cannot be converted ({reason})"
        return replace(source, remarks=(*source.remarks, _note(Location(source.path), said)))
    if error is None and _FUTURE.sub("", text) == _FUTURE.sub("", found.text):
        return source
    return _with_change(source, found, doubts.Asked(_DIVISION.search(text) is not None, beside))


def conversion(text: str, beside: Beside) -> Converted:
    """`text`, which has plain line ends, as Python 3. Raises NotConverted."""
    from migrator.python2.indentation import consistent

    ended = text if text.endswith("\n") else text + "\n"  # without, fissix does not parse
    try:
        even = consistent(ended)
        new, warnings = _refactored(even, beside)
    except RecursionError as error:
        raise NotConverted("nested too deeply") from error
    except Exception as error:  # those of its tokenizer, its parser and its fixers have no common base
        raise NotConverted(_said(error)) from error
    if _DIVISION.search(text) is None:
        try:
            new = with_floor_divisions(new)
        except (SyntaxError, ValueError) as error:
            raise NotConverted(f"the result is not Python 3: {error}") from error
    failure = _syntax_error(new, "<converted>")
    if failure is not None:
        raise NotConverted(f"the result is not Python 3: {failure.msg}, line {failure.lineno}")
    return Converted(new if text.endswith("\n") else new[:-1], warnings)


def is_python_2(text: str) -> bool:
    """Whether fissix can read it."""
    try:
        conversion(LINE_END.sub("\n", text), Beside())
    except NotConverted:
        return False
    return True


def _said(error: Exception) -> str:
    """What an error of fissix says; where it stands is with it in one form or another."""
    words = " ".join(str(error.args[0] if error.args else error).split())
    context = getattr(error, "context", None)
    if context:
        return f"{words.partition(':')[0]}, line {context[1][0]}"
    place = error.args[1] if len(error.args) > 1 else None
    return f"{words}, line {place[0]}" if isinstance(place, tuple) else words[:200]


def _syntax_error(text: str, path: str) -> SyntaxError | None:
    try:
        syntax_tree(text, path)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):  # reported where the file is parsed
        return None
    return None


# -- fissix -----------------------------------------------------------------------------------------------------------


def _load() -> Any:
    """fissix, which keeps its grammar in the user's cache; where that cannot be written, in a temporary folder."""
    try:
        from fissix import refactor
    except OSError:
        import tempfile
        from pathlib import Path

        import fissix

        fissix.CACHE_DIR = Path(tempfile.mkdtemp(prefix="migrate-"))
        from fissix import refactor
    return refactor


@functools.lru_cache(maxsize=2)
def _tool(beside: Beside) -> Any:
    refactor = _load()
    theirs = [
        name
        for name in refactor.get_fixers_from_package("fissix.fixes")
        if name.rpartition("fix_")[2] not in {*_LEFT_OUT, *_OURS}
    ]
    return refactor.RefactoringTool(
        [*theirs, *(f"migrator.python2.fixers.fix_{name}" for name in _OURS)], {"beside": beside}
    )


def _refactored(text: str, beside: Beside) -> tuple[str, tuple[tuple[int, str], ...]]:
    tool = _tool(beside)
    from fissix import pygram

    tool.fixer_log.clear()
    is_function = _PRINT.search(text) is not None
    tool.grammar = pygram.python_grammar_no_print_statement if is_function else pygram.python_grammar
    tool.driver.grammar = tool.grammar
    tree = tool.refactor_string(text, "<python 2>")
    return imports_in_cells(text, str(tree)), tuple(_warnings(tool.fixer_log))


def _warnings(log: Iterable[str]) -> Iterator[tuple[int, str]]:
    for entry in log:
        found = _WARNING.match(entry)
        if found is not None:
            yield int(found[1]), " ".join(found[2].split())


# -- what changes, and what is to be said -----------------------------------------------------------------------------


def _with_change(source: SourceFile, found: Converted, asked: doubts.Asked) -> SourceFile:
    original = Module(source.path, source.text, lenient=True)
    edits = edits_to(source, found.text)
    change = Diagnostic(
        PYTHON_2,
        "Python 2: becomes Python 3 before it is migrated",
        original.location(edits[0].start),
        Fix("convert Python 2 to Python 3", edits),
        Severity.INFO,
        "from-python2",
    )
    new = Module(source.path, splice(source.data, edits).decode("utf-8"))
    shifts = {source.path: [Shift.of(edits, source.data)]}
    notes = [_note(original.located(line, 1), f"2to3 says: {said}") for line, said in found.warnings]
    notes += kernel_note(source)
    for doubt in doubts.doubts(new.tree, asked):
        said = Diagnostic(PYTHON_2, doubt.message, new.location(doubt.node), None, doubt.severity, "from-python2")
        notes.append(in_original(said, shifts, {source.path: new}, {source.path: original}))
    return replace(source, conversion=Conversion(change, tuple(notes)))


def _note(location: Location, message: str) -> Diagnostic:
    return Diagnostic(PYTHON_2, message, location, severity=Severity.WARNING, rule="from-python2")
