"""Files as bytes and as text, without loss: encodings, byte order marks and newline styles survive a round trip."""

from __future__ import annotations

import codecs
import os
import re
import stat
import tokenize
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional, Union

from migrator.discover.cells import SUFFIX
from migrator.vocabulary.conversions import Conversion
from migrator.vocabulary.diagnostics import Diagnostic
from migrator.vocabulary.problems import ENCODING, NUL_BYTES, TOO_LONG, UNREADABLE, problem

MAX_BYTES = 16 * 1024 * 1024
"""Larger files are data, not programs."""

_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class SourceFile:
    """One Python file. `text` is decoded, without byte order mark.

    Where all line ends of the file are alike, they are ``\\n`` in `text` and `newline` says what they are in the file.
    Where they differ from line to line, `text` keeps them as they are, and `newline` is the most frequent.
    """

    path: str
    raw: bytes
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    newline: str = "\n"
    mixed: bool = False
    remarks: tuple[Diagnostic, ...] = ()
    """What there is to say about the file before any rule looks at it."""
    conversion: Optional[Conversion] = None
    """What is done to the text before any rule looks at it."""

    @property
    def data(self) -> bytes:
        """The UTF-8 bytes of `text`: what byte spans count in."""
        return self.text.encode("utf-8")

    def with_data(self, data: bytes) -> SourceFile:
        """The same file with other text. Raises UnicodeEncodeError when its encoding lacks a character."""
        changed = replace(self, text=data.decode("utf-8"))
        return replace(changed, raw=changed.encode())

    def encode(self) -> bytes:
        """The bytes to write. Raises UnicodeEncodeError when the encoding lacks a character."""
        text = self.text
        if not self.mixed and self.newline != "\n":
            text = text.replace("\n", self.newline)
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


class Unusable(Exception):
    """A file that cannot be worked on; carries the diagnostic that says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic


def read_bytes(path: str) -> bytes:
    """The content of a regular file: opening a pipe would wait for who writes into it. Raises Unusable (E004, E010)."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Unusable(problem(UNREADABLE, path, "cannot read: not a regular file"))
        with open(path, "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unusable(problem(UNREADABLE, path, f"cannot read: {error.strerror or error}")) from error
    if len(raw) > MAX_BYTES:
        raise Unusable(problem(TOO_LONG, path, f"larger than {MAX_BYTES >> 20} MiB: left alone"))
    return raw


def load(path: str) -> SourceFile:
    """Read and decode a file. Raises Unusable."""
    return decode(path, read_bytes(path))


def decode(path: str, raw: bytes) -> SourceFile:
    """Bytes to text, by byte order mark or coding line as Python does it. Raises Unusable (E002, E003, E012)."""
    if path.endswith(SUFFIX):
        from migrator.discover.notebooks import decode as decode_notebook  # few trees hold any

        return decode_notebook(path, raw)
    wide = _wide(raw)
    if wide:
        raise Unusable(problem(ENCODING, path, f"{wide}, which Python does not run: save it as UTF-8"))
    if b"\0" in raw:
        line, column = _position(raw, raw.index(b"\0"))
        raise Unusable(problem(NUL_BYTES, path, "contains NUL bytes", line, column))
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    encoding = _encoding(path, raw)
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _position(body, error.start)
        byte = body[error.start]
        reason = f"byte 0x{byte:02x} is not valid {encoding}: add a coding line or save as UTF-8"
        raise Unusable(problem(ENCODING, path, reason, line, column)) from error
    except (LookupError, ValueError, TypeError) as error:
        raise Unusable(problem(ENCODING, path, f"cannot decode as {encoding}: {error}")) from error
    source = _with_newlines(SourceFile(path, raw, text, encoding, bom))
    if _encoded(source) != raw:
        raise Unusable(problem(ENCODING, path, f"does not survive a round trip through {encoding}: save it as UTF-8"))
    return source


def read_text(path: Union[str, Path]) -> str | None:
    """The text of a file with plain newlines, or None when there is none. Raises Unusable."""
    if not Path(path).exists():
        return None
    return _NEWLINE.sub("\n", load(str(path)).text)


def _wide(raw: bytes) -> str:
    """``UTF-16`` or ``UTF-32`` if the file is in it, with a byte order mark or without; empty if it is not."""
    if raw.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "UTF-32"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    head = raw[:4096]
    for name, width in (("UTF-32", 4), ("UTF-16", 2)):  # of a program, nearly every character is ASCII
        for order in (0, width - 1):
            if (
                len(head) >= width
                and head.count(0) >= 0.9 * (width - 1) / width * len(head)
                and 0 not in head[order::width]
            ):
                return name
    return ""


def _encoded(source: SourceFile) -> bytes | None:
    try:
        return source.encode()
    except UnicodeError:
        return None


def _encoding(path: str, raw: bytes) -> str:
    head = b"\n".join(raw[:4096].splitlines()[:2])
    if b"coding" not in head:
        return "utf-8"
    lines = iter([line + b"\n" for line in head.split(b"\n")])
    try:
        name, _ = tokenize.detect_encoding(lambda: next(lines, b""))
        info = codecs.lookup(name)
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise Unusable(problem(ENCODING, path, f"coding line: {error}")) from error
    if not getattr(info, "_is_text_encoding", True):
        raise Unusable(problem(ENCODING, path, f"coding line: {name} is not a text encoding"))
    return "utf-8" if info.name == "utf-8" else "utf-8" if name == "utf-8-sig" else name


def _with_newlines(source: SourceFile) -> SourceFile:
    text = source.text
    if "\r" not in text:
        return source
    windows = text.count("\r\n")
    counts = {"\r\n": windows, "\r": text.count("\r") - windows, "\n": text.count("\n") - windows}
    newline = max(counts, key=lambda style: counts[style])
    if counts[newline] == sum(counts.values()):
        return replace(source, text=text.replace(newline, "\n"), newline=newline)
    return replace(source, newline=newline, mixed=True)


def _position(raw: bytes, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of a byte."""
    before = raw[:offset].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before) - start + 1


def translate_newlines(text: str, newline: str) -> str:
    """`text` with every line end as `newline`: what a rule wrote, made to fit a file."""
    return _NEWLINE.sub(newline, text)
