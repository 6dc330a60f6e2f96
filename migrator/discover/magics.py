"""What IPython understands and Python does not: magics, shell lines and questions, put aside while code is looked at.

Each is replaced by a name that stands for nothing, with as many lines, and put back afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "memit"})
"""Cell magics whose body runs as Python of the notebook."""

_CELL_MAGIC = re.compile(r"\s*%%(\w+)[^\n]*")
_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<head>[^=\n#'\"]*?=[ \t]*)?(?P<magic>[%!][^\n]*)")
_QUOTED = r"'[^'\n]*'|\"[^\"\n]*\""
_QUESTION = re.compile(
    r"(?P<indent>[ \t]*)(?P<head>)"
    rf"(?P<magic>\?{{1,2}}[%\w.*]+|(?:[^\n#'\"?]|{_QUOTED})+\?{{1,2}})[ \t]*(?=\n|$)"
)
"""Nothing in Python ends in a question mark, other than strings and comments."""
_AUTOMATIC = re.compile(
    r"(?P<indent>)(?P<head>)(?P<magic>(?:(?:pip3?|conda|mamba)[ \t]+(?:install|uninstall|list|freeze)\b"
    r"|(?:cd|ls|mkdir|rm|cp|mv|cat)[ \t]+[-./~\w](?!n\b|s\b|f\b|nd\b|r\b))[^\n]*)"
)
_TOKEN = re.compile(
    r"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
    r"|#[^\n]*|\\\n|[()\[\]{}\n]|[^'\"#\\()\[\]{}\n]+|.",
    re.DOTALL,
)


@dataclass(frozen=True)
class Masked:
    """Code of a cell that Python can parse, and what stands for what in it."""

    text: str
    masks: tuple[tuple[str, str], ...] = ()
    """Pairs of a mask and the text that it stands for."""
    magic: str = ""
    """The cell magic, without percent signs."""

    @property
    def is_python(self) -> bool:
        """Whether the cell runs as Python of the notebook."""
        return not self.magic or self.magic in PYTHON_CELLS

    def unmask(self, text: str) -> str | None:
        """`text` with the original in the place of each mask; None if it does not hold each mask once, in order."""
        position = 0
        parts = []
        for mask, original in self.masks:
            found = text.find(mask, position)
            if found < 0:
                return None
            parts += [text[position:found], original]
            position = found + len(mask)
        parts.append(text[position:])
        lost = any(text.count(_name(mask)) != 1 for mask, _ in self.masks)
        return None if lost else "".join(parts)


def mask(source: str, prefix: str) -> Masked:
    """Put the magics of a cell aside. `prefix` begins the names that stand for them and occurs nowhere in the code."""
    found = _CELL_MAGIC.match(source)
    magic = found.group(1) if found else ""
    if magic and magic not in PYTHON_CELLS:
        return Masked(source, (), magic)
    parts: list[str] = []
    masks: list[tuple[str, str]] = []
    position = 0
    if found:
        masks.append((f"{prefix}0__", found.group().lstrip()))
        parts += [source[: found.start()], found.group()[: -len(found.group().lstrip())] + masks[0][0]]
        position = found.end()
    for start, end in _magics(source, position):
        original = source[start:end]
        lines = original.count("\n")
        name = f"{prefix}{len(masks)}__"
        masks.append((f"({name}{chr(10) * lines})" if lines else name, original))
        parts += [source[position:start], masks[-1][0]]
        position = end
    parts.append(source[position:])
    return Masked("".join(parts), tuple(masks), magic)


def _name(mask: str) -> str:
    return mask.strip("()\n")


def _magics(source: str, position: int) -> Iterator[tuple[int, int]]:
    """Spans of what is not Python, without the blanks and the assignment before it."""
    while position < len(source):
        found = _LINE.match(source, position) or _QUESTION.match(source, position) or _AUTOMATIC.match(source, position)
        if found is None:
            position = _next_statement(source, position)
            continue
        end = found.end("magic")
        while source[end - 1] == "\\" and end < len(source):
            following = source.find("\n", end + 1)
            end = following if following >= 0 else len(source)
        yield found.start("magic"), end
        position = end + 1


def _next_statement(source: str, position: int) -> int:
    """Where the line after the statement at `position` begins: past open brackets, strings and backslashes."""
    depth = 0
    for token in _TOKEN.finditer(source, position):
        text = token.group()
        if text in "([{":
            depth += 1
        elif text in ")]}":
            depth = max(0, depth - 1)
        elif text == "\n" and not depth:
            return token.end()
    return len(source)
