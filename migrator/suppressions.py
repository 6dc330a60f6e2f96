"""Comments that silence diagnostics on their line: ``# migrate: ignore`` and ``# migrate: ignore[EST101, EST2]``."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping

_COMMENT = re.compile(r"#\s*migrate:\s*ignore(?:\[([^\]]*)\])?(?![\w\[])")

Suppressions = Mapping[int, tuple[str, ...]]
"""Line to code prefixes; the empty prefix stands for every code."""


def suppressions(text: str) -> Suppressions:
    """The ignore comments of a file. Text in strings that looks like one is none."""
    if not _COMMENT.search(text):  # nearly every file: saves tokenizing it
        return {}
    found: dict[int, tuple[str, ...]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                match = _COMMENT.search(token.string)
                if match:
                    codes = match.group(1)
                    found[token.start[0]] = ("",) if codes is None else tuple(re.findall(r"\w+", codes))
    except (tokenize.TokenError, SyntaxError):  # `ast` accepts a few files that `tokenize` does not
        pass
    return found


def suppressed(found: Suppressions, line: int, code: str) -> bool:
    """Whether a comment on `line` silences `code`."""
    return any(code.startswith(prefix) for prefix in found.get(line, ()))
