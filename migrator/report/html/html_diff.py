"""A unified diff as an HTML table, the lines removed above those in their place, with Python's words coloured."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from html import escape

_RANGE = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_TOKEN = re.compile(
    r"(?P<c>#.*)|(?P<s>(?:\b[bfru]{1,2})?(?:'''.*?(?:'''|$)|\"\"\".*?(?:\"\"\"|$)|'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?))"
    rf"|(?P<k>\b(?:{'|'.join(keyword.kwlist)})\b)|(?P<n>\b\d[\w.]*)",
    re.IGNORECASE,
)

_COLUMNS = "<colgroup><col class=number><col class=number><col></colgroup>"
# The first row spans all columns, so that a table of fixed layout could not learn their widths from it.

Row = tuple[str, str]
"""Number and text of a line."""


def table(diff: Iterable[str]) -> str:
    """The table for the diff of one file."""
    rows: list[str] = []
    old: list[Row] = []
    new: list[Row] = []
    left = right = 0
    for line in diff:
        text = line.rstrip("\r\n")
        match = _RANGE.match(text)
        if match is None and line[:1] not in "-+ @" or line.startswith(("--- ", "+++ ")):
            rows += _block(old, new)
            _, cell, number = text.rpartition(" cell ")
            if cell and text.startswith("+++ "):
                rows.append(f'<tr class="hunk"><td colspan="3">cell {escape(number)}</td></tr>')
        elif match:
            rows += _block(old, new)
            left, right = int(match.group(1)), int(match.group(2))
            rows.append(f'<tr class="hunk"><td colspan="3">{escape(text)}</td></tr>')
        elif text.startswith("-"):
            old.append((str(left), text[1:]))
            left += 1
        elif text.startswith("+"):
            new.append((str(right), text[1:]))
            right += 1
        else:
            rows += _block(old, new)
            rows.append(f"<tr><td>{left}</td><td>{right}</td><td><code>{coloured(text[1:])}</code></td></tr>")
            left, right = left + 1, right + 1
    rows += _block(old, new)
    return f'<div class="scroll"><table class="diff">{_COLUMNS}{"".join(rows)}</table></div>'


def _block(old: list[Row], new: list[Row]) -> Iterator[str]:
    """Rows of the lines removed, then of those added; empties both lists."""
    for number, text in old:
        yield f"<tr><td>{number}</td><td></td><td class=old><code>{coloured(text)}</code></td></tr>"
    for number, text in new:
        yield f"<tr><td></td><td>{number}</td><td class=new><code>{coloured(text)}</code></td></tr>"
    old.clear()
    new.clear()


def coloured(code: str) -> str:
    """One line of Python as HTML."""
    parts: list[str] = []
    position = 0
    for match in _TOKEN.finditer(code):
        parts += [escape(code[position : match.start()]), f"<i class={match.lastgroup}>{escape(match.group())}</i>"]
        position = match.end()
    return "".join(parts) + escape(code[position:])
