"""Why something is left as it is, with the place that says so."""

from __future__ import annotations

import ast

from .module import Module


class Reason(str):
    """A reason, which may know the node that it is about. Whoever only asks whether there is one reads it as text."""

    place: tuple[Module, ast.AST] | None = None


def reason_at(text: str, module: Module, node: ast.AST) -> str:
    """A reason with its place; one that knows its own keeps that, and none stays none."""
    if not text or isinstance(text, Reason):
        return text
    found = Reason(text)
    found.place = (module, node)
    return found


def place_of(text: str) -> tuple[Module, ast.AST] | None:
    """The place of a reason, if it knows that."""
    return text.place if isinstance(text, Reason) else None
