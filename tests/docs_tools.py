"""What pages of documentation promise, read from their source.

A comment before a fenced block says what the block is, and the tests in `test_docs.py` hold it to that:

    <!-- from fixtures/x/y/after.py: Model, Model.call -->   these definitions of that file (all of it without names)
    <!-- diff of A.py and B.py: main -->                    what changed in these definitions
    <!-- program: name.py -->                               a program, for the blocks up to the next one
    <!-- becomes: Model -->                                 these definitions of it, migrated
    <!-- said of it -->                                     what the report says of it
    <!-- run on fixtures/x/y/before.py as task.py -->       commands and what they print beside a copy of that file or folder

In the output of commands, a line `...` stands for any lines, and a number for any number.
"""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"(?:^<!-- (?P<what>[^\n]*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block, and what its comment says it is."""

    page: str
    what: str
    language: str
    text: str
    span: tuple[int, int]
    """Of the text, in the page."""

    def __str__(self) -> str:
        return f"{self.page}: {self.what or self.language}"


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text("utf-8")
    return [
        Block(page, found["what"] or "", found["language"], found["text"], found.span("text"))
        for found in _BLOCK.finditer(text)
    ]


def rewrite(block: Block, text: str) -> None:
    """Put `text` in the place of a block's text; other blocks of the page move."""
    page = ROOT / block.page
    content = page.read_text("utf-8")
    assert content[slice(*block.span)] == block.text, f"{block} has moved: run again"
    page.write_text(content[: block.span[0]] + text + content[block.span[1] :], "utf-8")


def definitions(source: str, names: Sequence[str]) -> str:
    """The source of classes, functions, methods (`Model.call`) and assignments, in the order of `names`."""
    if not names:
        return source
    tree = ast.parse(source)
    return "\n\n".join(_definition(tree, source, name) for name in names)


def _definition(tree: ast.Module, source: str, name: str) -> str:
    body: Sequence[ast.stmt] = tree.body
    for part in name.split("."):
        node = next((node for node in body if part in _bound(node)), None)
        assert node is not None, f"no definition of {name}"
        body = getattr(node, "body", [])
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    return textwrap.dedent("".join(source.splitlines(keepends=True)[first - 1 : node.end_lineno]))


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def changes(before: str, after: str) -> str:
    """A diff with little around the changes, and no heads."""
    lines = [text.splitlines(keepends=True) for text in (before, after)]
    found = list(difflib.unified_diff(*lines, n=1))[2:]
    return "".join("...\n" if line.startswith("@@") else line for line in found).removeprefix("...\n")


def names_of(what: str) -> list[str]:
    """The names after the colon of a comment."""
    return [name.strip() for name in what.partition(":")[2].split(",") if name.strip()]


def agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what is shown, but for blanks at the ends of lines."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines())
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed.splitlines())) is not None


def sessions(text: str) -> list[tuple[str, str]]:
    """The commands of a console block with what is shown below each."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))
