"""What is particular about notebooks of Python 2."""

from __future__ import annotations

import re
from collections.abc import Iterator

from migrator.discover.cells import border, split
from migrator.discover.notebooks import Notebook
from migrator.discover.sources import SourceFile
from migrator.vocabulary.diagnostics import Diagnostic, Location, Severity
from migrator.vocabulary.problems import PYTHON_2

_IMPORT = re.compile(r"(?:from [\w.]+ )?import (\w+)")
_MAGICS = re.compile(r"(?:\(?_*__magic_\w+\)?\n)*")
_KERNEL = re.compile(r'"name":\s*"python2"')


def imports_in_cells(old: str, new: str) -> str:
    """`new` with each import that 2to3 added, below all others, at the top of the first cell that needs it."""
    first = new.find(border(0)[:-2])
    if first < 0:
        return new
    known = set(old.split("\n"))
    added = [line for line in new.split("\n") if _IMPORT.fullmatch(line) and line not in known]
    for line in added:
        name = line.rpartition(" ")[2]
        rest = new.replace(line + "\n", "", 1)
        for number, text in split(rest):
            if re.search(rf"\b{name}\b", text):
                above = _MAGICS.match(text)
                at = rest.index(border(number)) + len(border(number)) + (above.end() if above else 0)
                new = f"{rest[:at]}{line}\n{rest[at:]}"
                break
    return new


def kernel_note(source: SourceFile) -> Iterator[Diagnostic]:
    """That a notebook asks for a Python that is gone."""
    if isinstance(source, Notebook) and _KERNEL.search(source.template):
        said = "the notebook asks for a kernel of Python 2: choose one of Python 3 when you open it"
        yield Diagnostic(PYTHON_2, said, Location(source.path), None, Severity.INFO, "from-python2")
