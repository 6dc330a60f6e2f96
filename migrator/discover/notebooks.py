"""Jupyter notebooks (nbformat 4) as source files: code cells are changed, every other byte of the JSON stays.

A notebook is one module, the text of its code cells in order. Only the `source` of a cell whose code changed is written
anew, in the way that it was written; outputs, metadata, key order and indentation are never touched.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Optional

from migrator.discover import cells
from migrator.discover.cells import CellBorder, border
from migrator.discover.installations import SHELLS, installations
from migrator.discover.magics import Masked, mask
from migrator.discover.sources import SourceFile, Unusable
from migrator.resolve.parsing import syntax_tree
from migrator.vocabulary.diagnostics import Diagnostic, Location, Severity
from migrator.vocabulary.problems import CELL, ENCODING, NOTEBOOK, looks_like_python_2, problem

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits))
"""Which does not refuse long numbers: none of them is written."""
_ESCAPED = re.compile(r"\\u(?!00[0-7])")
_WRITES = re.compile(r"\s*%%(?:writefile|file)[ \t]+(?:-a[ \t]+)?(\S+)")

Visit = Callable[[str, int], Optional[int]]
"""Called with a key (or a running number) and the offset of its value; returns where the value ends, or None to skip it."""


@dataclass(frozen=True)
class _Source:
    """The value of `source` in the JSON text: one string, or a list of lines."""

    start: int
    end: int
    lines: tuple[tuple[str, str], ...]
    """Each string, and how it is written."""
    is_list: bool = False
    opening: str = ""
    """White space after the bracket."""
    separator: str = ", "
    closing: str = ""

    @property
    def text(self) -> str:
        return "".join(line for line, _ in self.lines)


@dataclass(frozen=True)
class _Cell:
    """A code cell: where its source stands in the JSON, and the code as Python can parse it."""

    number: int
    source: _Source
    masked: Masked
    newline: str = "\n"


@dataclass(frozen=True)
class Notebook(SourceFile):
    """A notebook. `text` is the module made of its code cells."""

    template: str = ""
    """The JSON as it was read."""
    cells: tuple[_Cell, ...] = ()
    prefix: str = ""
    """How the names begin that stand for magics."""

    def encode(self) -> bytes:
        """The JSON with the cells of `text`. Raises CellBorder where an edit went across cells or into a magic."""
        found = list(cells.split(self.text))
        masks = sum(len(cell.masked.masks) for cell in self.cells)
        if [number for number, _ in found] != [cell.number for cell in self.cells] or (
            self.prefix and self.text.count(self.prefix) != masks
        ):
            raise CellBorder
        parts: list[str] = []
        position = 0
        for cell, (_, body) in zip(self.cells, found):
            if body != cell.masked.text:
                parts += [self.template[position : cell.source.start], self._written(cell, body)]
                position = cell.source.end
        parts.append(self.template[position:])
        return (codecs.BOM_UTF8 if self.bom else b"") + "".join(parts).encode("utf-8")

    def without(self, numbers: Collection[int], remarks: Iterable[Diagnostic] = ()) -> Notebook:
        """The notebook as it is, of which these cells are neither looked at nor changed."""
        kept = tuple(cell for cell in self.cells if cell.number not in numbers)
        texts = dict(cells.split(self.text))
        text = "".join(border(cell.number) + texts[cell.number] + "\n" for cell in kept)
        return replace(self, text=text, cells=kept, remarks=(*self.remarks, *remarks))

    def _written(self, cell: _Cell, body: str) -> str:
        source = cell.source
        text = cell.masked.unmask(body)
        if text is None:
            raise CellBorder
        if not source.text.endswith("\n"):
            text = text.rstrip("\n")
        if cell.newline != "\n":
            text = text.replace("\n", cell.newline)
        known = dict(source.lines)
        escape = self.template.isascii() and _ESCAPED.search(self.template) is not None
        if not source.is_list:
            return json.dumps(text, ensure_ascii=escape)
        lines = re.findall(r"[^\n]*\n|[^\n]+", text)
        written = [known.get(line) or json.dumps(line, ensure_ascii=escape) for line in lines]
        if not written:
            return "[]"
        return "[" + source.opening + source.separator.join(written) + source.closing + "]"


def decode(path: str, raw: bytes) -> Notebook:
    """Read a notebook. Raises Unusable (E003, E012)."""
    bom = raw.startswith(codecs.BOM_UTF8)
    try:
        text = raw[len(codecs.BOM_UTF8) :].decode("utf-8") if bom else raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(problem(ENCODING, path, f"not valid UTF-8, which notebooks are written in: {error}")) from error
    try:
        version, metadata, sources = _read(text)
    except json.JSONDecodeError as error:
        reason = f"not a notebook: {error.msg}"
        raise Unusable(problem(NOTEBOOK, path, reason, error.lineno, error.colno)) from error
    except RecursionError as error:
        raise Unusable(problem(NOTEBOOK, path, "not a notebook: nested too deeply")) from error
    if version is None or version < 4:
        found = "has no nbformat" if version is None else f"is of nbformat {version}"
        reason = f"the notebook {found}; only 4 is known: convert it with `jupyter nbconvert --to notebook --inplace`"
        raise Unusable(problem(NOTEBOOK, path, reason))
    if _language(metadata) != "python":
        sources = []
    if any(cells.has_border(source.text) for _, source in sources):
        raise Unusable(problem(NOTEBOOK, path, "a comment looks like those that mark cells here: left alone"))
    prefix = _prefix(sources)
    made = list(_cells(sources, prefix))
    module = "".join(border(cell.number) + cell.masked.text + "\n" for cell in made if cell.masked.is_python)
    try:
        module.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unusable(problem(ENCODING, path, "a code cell holds half a surrogate pair")) from error
    python = tuple(cell for cell in made if cell.masked.is_python)
    remarks = tuple(_remarks(path, made))
    notebook = Notebook(path, raw, module, bom=bom, remarks=remarks, template=text, cells=python, prefix=prefix)
    return _without_broken(notebook)


def _without_broken(notebook: Notebook) -> Notebook:
    """The notebook without the cells that no Python parses, which do not run either, if others are left."""
    if _syntax_error(notebook.text) is None:
        return notebook
    broken = {cell.number: error for cell in notebook.cells for error in [_syntax_error(cell.masked.text)] if error}
    if not broken or len(broken) == len(notebook.cells) or any(map(looks_like_python_2, *_errors(notebook, broken))):
        return notebook  # which is told when the module is parsed
    remarks = [
        Diagnostic(
            CELL,
            f"the cell is left as it is, as it cannot be parsed ({error.msg}); the others are looked at without it",
            Location(notebook.path, error.lineno or 1, error.offset or 1, number),
        )
        for number, error in broken.items()
    ]
    return notebook.without(broken, remarks)


def _errors(notebook: Notebook, broken: Mapping[int, SyntaxError]) -> tuple[list[SyntaxError], list[str]]:
    """What is wrong with cells, and their texts."""
    return list(broken.values()), [cell.masked.text for cell in notebook.cells if cell.number in broken]


def _syntax_error(text: str) -> SyntaxError | None:
    try:
        syntax_tree(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def code(raw: bytes) -> bytes:
    """The code cells as one text, for looking at imports; empty for what is no notebook."""
    try:
        return decode("", raw).data
    except Unusable:
        return b""


def code_cells(path: str, raw: bytes) -> dict[int, str]:
    """The code of each Python cell as it stands in the notebook, by number. Raises Unusable."""
    return {cell.number: cell.source.text for cell in decode(path, raw).cells}


def script(raw: bytes) -> str:
    """The code cells as a program, without magics. Raises Unusable."""
    notebook = decode("", raw)
    parts = [f"# cell {cell.number}\n{cell.masked.text}\n" for cell in notebook.cells]
    shown = [number for number, part in enumerate(parts) if "display(" in part]
    if shown:  # a builtin of IPython
        parts[shown[0]] = "display = print\n" + parts[shown[0]]
    text = "".join(parts)
    if not notebook.prefix:
        return text
    # A line of its own goes, as `from __future__` may follow; elsewhere something must stand.
    name = re.escape(notebook.prefix) + r"\w+"
    text = re.sub(rf"^(?:{name}|\({name}\n+\))$", "", text, flags=re.MULTILINE)
    return re.sub(name, "None", text)


def _prefix(sources: list[tuple[int, _Source]]) -> str:
    prefix = "__magic_"
    while any(prefix in source.text for _, source in sources):
        prefix = "_" + prefix
    return prefix


def _cells(sources: list[tuple[int, _Source]], prefix: str) -> Iterator[_Cell]:
    for number, source in sources:
        text = source.text
        windows = "\r\n" if "\r" in text and text.count("\r\n") == text.count("\n") == text.count("\r") else "\n"
        masked = mask(text.replace("\r\n", "\n") if windows != "\n" else text, f"{prefix}{number}_")
        yield _Cell(number, source, masked, windows)


def _remarks(path: str, made: list[_Cell]) -> Iterator[Diagnostic]:
    for cell in made:
        text = cell.source.text
        place = Location(path, 1, 1, cell.number)
        written = _WRITES.match(text)
        if not cell.masked.is_python and "tensorflow" in text:
            what = f"%%{cell.masked.magic}"
            remedy = f"run it, and migrate {written.group(1)} by itself" if written else "look at it yourself"
            yield Diagnostic(
                CELL, f"the cell is left as it is, as {what} says: {remedy}", place, severity=Severity.INFO
            )
        for start, message in installations(text) if cell.masked.is_python or cell.masked.magic in SHELLS else ():
            line = text.count("\n", 0, start) + 1
            yield Diagnostic(CELL, message, Location(path, line, 1, cell.number), severity=Severity.INFO)


def _language(metadata: Any) -> str:
    if not isinstance(metadata, dict):
        return "python"
    info, kernel = metadata.get("language_info"), metadata.get("kernelspec")
    name = info.get("name") if isinstance(info, dict) else None
    name = name or (kernel.get("language") if isinstance(kernel, dict) else None)
    return "python" if name is None else str(name).lower().partition(" ")[0].rstrip("23")


# -- JSON with offsets ------------------------------------------------------------------------------------------------


def _read(text: str) -> tuple[int | None, Any, list[tuple[int, _Source]]]:
    """Version, metadata, and number and source of each code cell. Raises JSONDecodeError."""
    top: dict[str, Any] = {}
    found: list[tuple[int, _Source]] = []

    def cell(number: str, at: int) -> int:
        kind: list[Any] = []
        source: list[_Source] = []

        def member(key: str, at: int) -> int | None:
            if key == "cell_type":
                value, end = _DECODER.raw_decode(text, at)
                kind[:] = [value]
                return end
            if key == "source":
                source[:] = [_source(text, at)]
                return source[0].end
            return None

        end = _each(text, at, "{", member)
        if kind == ["code"] and source:
            found.append((int(number) + 1, source[0]))
        return end

    def member(key: str, at: int) -> int | None:
        if key == "cells":
            return _each(text, at, "[", cell)
        if key in ("nbformat", "metadata"):
            top[key], end = _DECODER.raw_decode(text, at)
            return end
        return None

    end = _space(text, _each(text, _space(text, 0), "{", member))
    if end != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    version = top.get("nbformat")
    return version if isinstance(version, int) else None, top.get("metadata"), found


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


def _expect(text: str, at: int, characters: str) -> str:
    if text[at : at + 1] not in tuple(characters):
        raise json.JSONDecodeError(f"expected {' or '.join(characters)}", text, at)
    return text[at]


def _each(text: str, at: int, opening: str, visit: Visit) -> int:
    """Go through an object or a list; returns where it ends."""
    closing = "}" if opening == "{" else "]"
    _expect(text, at, opening)
    at = _space(text, at + 1)
    if text[at : at + 1] == closing:
        return at + 1
    number = 0
    while True:
        key = str(number)
        if opening == "{":
            _expect(text, at, '"')
            key, at = _DECODER.raw_decode(text, at)
            at = _space(text, at)
            _expect(text, at, ":")
            at = _space(text, at + 1)
        end = visit(key, at)
        at = _space(text, _DECODER.raw_decode(text, at)[1] if end is None else end)
        if _expect(text, at, "," + closing) == closing:
            return at + 1
        at = _space(text, at + 1)
        number += 1


def _source(text: str, at: int) -> _Source:
    if _expect(text, at, '["') == '"':
        value, end = _DECODER.raw_decode(text, at)
        return _Source(at, end, ((value, text[at:end]),))
    spans: list[tuple[int, int]] = []
    lines: list[tuple[str, str]] = []

    def line(number: str, at: int) -> int:
        _expect(text, at, '"')
        value, end = _DECODER.raw_decode(text, at)
        spans.append((at, end))
        lines.append((value, text[at:end]))
        return end

    end = _each(text, at, "[", line)
    if not spans:
        return _Source(at, end, (), True)
    opening = text[at + 1 : spans[0][0]]
    separator = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else "," + (opening or " ")
    return _Source(at, end, tuple(lines), True, opening, separator, text[spans[-1][1] : end - 1])
