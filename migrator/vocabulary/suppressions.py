"""Comments that silence diagnostics: of their line, or of the whole file.

``# migrate: ignore`` and ``# migrate: ignore[EST101, EST2]`` at the end of a line; ``# migrate: ignore-file[EST1]`` anywhere.
"""

from __future__ import annotations

import difflib
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

_MEANT = re.compile(
    r"#\s*migrat(?:e|or)\b[ \t]*(?P<colon>[:-]?)[ \t]*(?P<word>i[\w-]*|no-?qa|disable|skip)", re.IGNORECASE
)
"""Comments that may be meant as one of ours."""
_COMMENT = re.compile(r"#\s*migrate:\s*ignore(?P<file>-file)?(?:\[(?P<codes>[^\]]*)\])?(?![\w\[-])")
_CODES = re.compile(r"\s*\[|[\s:=(-]*(?:E(?:ST)?\d+|[A-Z]+\d{3})\b", re.IGNORECASE)
"""Codes that do not stand in brackets right behind the word: ``ignore EST101``, ``ignore: EST101``, ``ignore [EST101]``."""


@dataclass(frozen=True)
class Entry:
    """One prefix of codes in one comment; the empty prefix stands for every code."""

    line: int
    column: int
    prefix: str
    whole_file: bool


@dataclass
class Suppressions:
    """The ignore comments of a file, and which of them silenced something."""

    entries: tuple[Entry, ...] = ()
    misspelt: tuple[tuple[int, int], ...] = ()
    """Lines and columns of comments that look like one of ours and are none."""
    used: set[int] = field(default_factory=set)
    """Numbers of entries."""

    def silence(self, line: int, code: str) -> bool:
        """Whether a comment silences `code` on `line`; notes the comment as used."""
        found = [
            number
            for number, entry in enumerate(self.entries)
            if (entry.whole_file or entry.line == line) and code.startswith(entry.prefix)
        ]
        self.used.update(found)
        return bool(found)

    def unused(self) -> Iterator[Entry]:
        """The entries that silenced nothing."""
        return (entry for number, entry in enumerate(self.entries) if number not in self.used)


def suppressions(text: str) -> Suppressions:
    """The ignore comments of a file. Text in strings that looks like one is none."""
    if "igrat" not in text or not _MEANT.search(text):  # nearly every file: saves tokenizing it
        return Suppressions()
    found: list[Entry] = []
    misspelt: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type != tokenize.COMMENT:
                continue
            match = _COMMENT.search(token.string)
            prefixes = _prefixes(match) if match is not None else []
            if match is None or not prefixes:
                meant = _MEANT.search(token.string)
                if meant is not None and _is_meant(meant):
                    misspelt.append((token.start[0], token.start[1] + meant.start() + 1))
            else:
                line, column = token.start[0], token.start[1] + match.start() + 1
                for prefix in prefixes:
                    found.append(Entry(line, column, prefix, match.group("file") is not None))
    except (tokenize.TokenError, SyntaxError):  # `ast` accepts a few files that `tokenize` does not
        pass
    return Suppressions(tuple(found), tuple(misspelt))


def _prefixes(comment: re.Match[str]) -> list[str]:
    """The prefixes of codes that a comment silences; none if the codes are not written as they are to be."""
    codes: str | None = comment["codes"]
    if codes is not None:
        return re.findall(r"\w+", codes)
    return [] if _CODES.match(comment.string, comment.end()) else [""]


def _is_meant(comment: re.Match[str]) -> bool:
    """Whether a comment is a misspelt one of ours: ``migrate: ignor[EST1]``, ``migrate: ignore EST101``, ``migrate ignore``;
    not ``migrate: ignored by the loader``, ``migrate ignore lists``."""
    word, rest = comment["word"].lower(), comment.string[comment.end() :]
    near = word.startswith("ignore") or bool(
        difflib.get_close_matches(word, ["ignore", "ignore-file"], n=1, cutoff=0.8)
    )
    if word.startswith("i") and not near:
        return False
    if _CODES.match(rest):
        return True
    return word[-1] not in "ds" and (not rest.strip() or (near and comment["colon"] == ":"))
