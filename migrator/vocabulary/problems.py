"""Diagnostics about files rather than about TensorFlow: the E codes. The file then stays byte for byte as it was."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace
from typing import Final

from migrator.discover.cells import SUFFIX, CellLines
from migrator.vocabulary.diagnostics import Diagnostic, Location, Severity

SYNTAX: Final = "E001"
NUL_BYTES: Final = "E002"
ENCODING: Final = "E003"
UNREADABLE: Final = "E004"
INTERNAL: Final = "E005"
BROKEN_RESULT: Final = "E006"
NO_FIXPOINT: Final = "E007"
WORKER_DIED: Final = "E008"
TOO_DEEP: Final = "E009"
TOO_LONG: Final = "E010"
OCCUPIED: Final = "E011"
NOTEBOOK: Final = "E012"
CELL: Final = "E013"
UNUSED_IGNORE: Final = "E014"
REQUIREMENT: Final = "E015"
APART: Final = "E016"
PYTHON_2: Final = "E017"
OUTDATED: Final = "E018"

MEANINGS: Final = {
    SYNTAX: "The file is not valid Python 3. It was left as it was. `--from-python2` converts programs of Python 2 first.",
    NUL_BYTES: "The file contains NUL bytes, so it is not a text file.",
    ENCODING: "The bytes of the file do not fit its encoding: UTF-8, or the one its `# -*- coding: … -*-` line names.",
    UNREADABLE: "The file or folder could not be read, or the file not be written: the message says why.",
    INTERNAL: "A rule failed: a bug of this tool. The file was processed without that rule. Please report it.",
    BROKEN_RESULT: "A rewrite gave text that is not valid Python: a bug of this tool. Taken back. Please report it.",
    NO_FIXPOINT: "A rule proposed new rewrites again and again: a bug of this tool. Taken back. Please report it.",
    WORKER_DIED: "The process that worked on the file died, perhaps for want of memory. The file was left as it was.",
    TOO_DEEP: "The code is nested too deeply to analyse, as in one expression of thousands of terms.",
    TOO_LONG: "The file is larger than 16 MiB, or it and the files that it shares imports with took too much CPU time, and were "
    "left as they were. The setting `timeout` moves that limit: `timeout = 600` in migrate.toml or under `[tool.migrate]` in "
    "pyproject.toml; without it, it is 120 seconds.",
    OCCUPIED: "A file that the migrated program needs exists already, and is not of this tool or was edited where it would "
    "have to grow. Move it away, or the program.",
    NOTEBOOK: "The file is not a notebook that can be read: broken JSON, or a format before nbformat 4. It was left as it was.",
    CELL: "Something about one cell of a notebook: a cell that is left as it is, or a rewrite that would cross the border of "
    "cells or change a magic, and was taken back.",
    UNUSED_IGNORE: "A `# migrate: ignore` comment has nothing to silence: delete it; or it is misspelt.",
    REQUIREMENT: "The project asks for a TensorFlow that its migrated programs do not run on. The file was left as it was.",
    APART: "A program stays, and one beside it that shares files with it is migrated: what both import stays for the one, and is "
    "copied under a name with `_tf2` for the other. Or cells of a notebook stay, and programs of its other cells move.",
    PYTHON_2: "The file is Python 2, and `--from-python2` makes it Python 3 before it is migrated; or a place in it where "
    "nobody can know by the text whether Python 3 computes the same: look at it.",
    OUTDATED: "A helper file of an earlier migration holds helpers that this version of migrate writes otherwise, or that "
    "somebody edited. They stay, as the program around them was written for them: a later run changes nothing of what is "
    "migrated. To have the new ones, take the migration back (`migrate --undo`, or git) and migrate again.",
}
"""What each code means: the text of ``migrate explain``."""

_BUG = "This is a bug of migrate, please report it."

_PYTHON_2_MESSAGES = re.compile(
    r"Missing parentheses in call to '(print|exec)'"
    r"|[Mm]ultiple exception types must be parenthesized"
    r"|leading zeros in decimal integer literals"
    r"|[Ll]ambda expression parameters cannot be parenthesized"
    r"|[Ff]unction parameters cannot be parenthesized"
    r"|inconsistent use of tabs"
)
_PYTHON_2_LINES = re.compile(
    r"""^\s*print\s+["'\w%(]|^\s*print\s*>>|^\s*exec\s+["'\w]"""  # print and exec statements
    r"|^\s*except\s+[\w.()\s,]+,\s*\w+\s*:"  # except ValueError, error:
    r"|^\s*raise\s+[\w.]+\s*,"  # raise ValueError, 'text'
    r"|`[^`]+`|<>"  # repr in backticks, the old inequality
    r"""|\b[uU][rR]["']|\b0[0-7]+\b|\b\d+[lL]\b"""  # ur'', 0777, 10L
    r"|\blambda\s*\(|^\s*def\s+\w+\([^()]*\("  # parameters that unpack tuples
)


def problem(code: str, path: str, message: str, line: int = 1, column: int = 1) -> Diagnostic:
    """An error about `path`."""
    return Diagnostic(code, message, Location(path, max(line, 1), max(column, 1)), severity=Severity.ERROR)


def syntax_problem(path: str, error: SyntaxError, text: str) -> Diagnostic:
    """E001 for a file that does not parse; says so when it looks like Python 2."""
    line, column = error.lineno or 1, error.offset or 1
    if looks_like_python_2(error, text):
        reason = f"this looks like Python 2 ({error.msg}): --from-python2 converts it first"
    else:
        reason = f"cannot parse: {error.msg}"
    found = problem(SYNTAX, path, reason, line, column)
    if path.endswith(SUFFIX):
        found = replace(found, location=CellLines(text).location(path, line, column))
    return found


def looks_like_python_2(error: SyntaxError, text: str) -> bool:
    """Whether what keeps `text` from being parsed is something that Python 2 has."""
    line = error.lineno or 1
    lines = re.split(r"\r\n|\r|\n", text)
    source = lines[line - 1][:1000] if 0 < line <= len(lines) else ""
    return bool(_PYTHON_2_MESSAGES.search(error.msg or "") or _PYTHON_2_LINES.search(source))


def deep_problem(path: str, code: str = "") -> Diagnostic:
    """E009: the parser, or the rule `code`, ran out of stack."""
    who = f"for rule {code}" if code else "to parse"
    return problem(TOO_DEEP, path, f"the code is nested too deeply {who}: split the longest expression")


def internal_problem(path: str, code: str, error: BaseException) -> Diagnostic:
    """E005: rule `code` raised `error` on `path`; names the innermost frame."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    detail = " ".join(str(error).split())
    return problem(INTERNAL, path, f"rule {code} failed: {type(error).__name__}: {detail[:200]}{where}. {_BUG}")


def broken_problem(path: str, codes: str, error: Exception) -> Diagnostic:
    """E006: the rewrites of `codes` do not parse."""
    return problem(
        BROKEN_RESULT, path, f"the rewrite of {codes} is not valid Python ({error}); it was taken back. {_BUG}"
    )


def fixpoint_problem(path: str, codes: str, rounds: int) -> Diagnostic:
    """E007: `codes` still proposed rewrites after `rounds` rounds."""
    return problem(NO_FIXPOINT, path, f"{codes} still rewrote its own result after {rounds} rounds; taken back. {_BUG}")
