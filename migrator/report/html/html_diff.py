"""A unified diff as an HTML table, old and new side by side, with Python's words coloured."""

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

_COLUMNS = "<colgroup><col class=number><col><col class=number><col></colgroup>"
# The first row spans all columns, so that a table of fixed layout could not learn their widths from it.

Row = tuple[str, str]
"""Number and text of a line, both empty where the side has none."""


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
            rows += _pairs(old, new)
            _, cell, number = text.rpartition(" cell ")
            if cell and text.startswith("+++ "):
                rows.append(f'<tr class="hunk"><td colspan="4">cell {escape(number)}</td></tr>')
        elif match:
            rows += _pairs(old, new)
            left, right = int(match.group(1)), int(match.group(2))
            rows.append(f'<tr class="hunk"><td colspan="4">{escape(text)}</td></tr>')
        elif text.startswith("-"):
            old.append((str(left), text[1:]))
            left += 1
        elif text.startswith("+"):
            new.append((str(right), text[1:]))
            right += 1
        else:
            rows += _pairs(old, new)
            code = coloured(text[1:])
            rows.append(
                f"<tr><td>{left}</td><td><code>{code}</code></td><td>{right}</td><td><code>{code}</code></td></tr>"
            )
            left, right = left + 1, right + 1
    rows += _pairs(old, new)
    return f'<div class="scroll"><table class="diff">{_COLUMNS}{"".join(rows)}</table></div>'


def _pairs(old: list[Row], new: list[Row]) -> Iterator[str]:
    """Rows of removed and added lines beside each other; empties both lists."""
    empty = ("", "")
    for index in range(max(len(old), len(new))):
        a, b = (side[index] if index < len(side) else empty for side in (old, new))
        yield (
            f"<tr><td>{a[0]}</td><td{' class=old' if a[0] else ''}><code>{coloured(a[1])}</code></td>"
            f"<td>{b[0]}</td><td{' class=new' if b[0] else ''}><code>{coloured(b[1])}</code></td></tr>"
        )
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
