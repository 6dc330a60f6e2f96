"""Notebooks for tests."""

from __future__ import annotations

import json
from typing import Any


def notebook(*cells: str, indent: Any = 1, string: bool = False, language: str = "python", **extra: Any) -> bytes:
    """A notebook of code cells; those that begin with ``#md `` are prose."""
    made: list[dict[str, Any]] = []
    for text in cells:
        prose = text.startswith("#md ")
        text = text[4:] if prose else text
        cell: dict[str, Any] = {"cell_type": "markdown" if prose else "code", "metadata": {}}
        if not prose:
            cell |= {"execution_count": 1, "outputs": [{"name": "stdout", "text": ["tf.old é\n"]}]}
        made.append({**cell, "source": text if string else text.splitlines(keepends=True)})
    top = {
        "cells": made,
        "metadata": {"language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 2,
        **extra,
    }
    return (json.dumps(top, indent=indent, ensure_ascii=False) + "\n").encode()


def sources(raw: bytes) -> list[str]:
    """The text of each cell."""
    found = [cell["source"] for cell in json.loads(raw)["cells"]]
    return [source if isinstance(source, str) else "".join(source) for source in found]
