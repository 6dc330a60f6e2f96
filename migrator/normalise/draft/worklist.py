"""What is to be looked at in the functions of a program that changes step by step."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar
from weakref import WeakKeyDictionary

from migrator.normalise.draft.draft import Change
from migrator.resolve.module import Module
from migrator.resolve.project import Definition

N = TypeVar("N", ast.Call, ast.FunctionDef)


class Worklist:
    """Remembers where there was nothing to do, until `again` is asked for, and which functions are changed by now."""

    def __init__(self) -> None:
        self.changed: set[Definition] = set()
        """The functions in which the step that is to be taken changes something."""
        self._idle: set[tuple[str, str, str, str]] = set()
        """Where there was nothing to do: question, file, name of the function, text of the call or function."""
        self._seen: WeakKeyDictionary[Module, set[tuple[str, ast.FunctionDef]]] = WeakKeyDictionary()
        """The functions in which there is nothing but that, by question."""

    def again(self) -> bool:
        """Let everything be looked at once more, as what changed elsewhere may concern it; False where all just was."""
        stale = bool(self._idle)
        self._idle.clear()
        self._seen.clear()
        return stale

    def take(self, changes: list[Change], definition: Definition | None) -> bool:
        """Whether changes are but lines of the body of one function, so that others can be made with them."""
        if definition is None or not _is_inside(changes, definition):
            return False
        self.changed.add(definition)
        return True

    def waiting(
        self, question: str, functions: Iterable[Definition], parts: Callable[[Module, ast.FunctionDef], Iterable[N]]
    ) -> Iterator[tuple[Definition, N]]:
        """The parts of functions of which a question is to be asked. Who asks for the next one found nothing to do in the last,
        or took the changes; a function that is changed is not looked at any further."""
        for definition in functions:
            module, function = definition.module, definition.node
            assert isinstance(function, ast.FunctionDef)
            seen = self._seen.setdefault(module, set())
            if (question, function) in seen:
                continue
            for part in parts(module, function):
                key = question, module.path, function.name, module.segment(part)
                if key not in self._idle:
                    yield definition, part
                    if definition in self.changed:
                        break
                    self._idle.add(key)
            else:
                seen.add((question, function))

    def functions(self, question: str, functions: Iterable[Definition]) -> Iterator[Definition]:
        """The same for functions as a whole."""
        for definition, _ in self.waiting(question, functions, lambda _, function: [function]):
            yield definition


def _is_inside(changes: list[Change], definition: Definition) -> bool:
    """Whether changes leave all of a program as it is but lines of the body of one function."""
    module, function = definition.module, definition.node
    assert isinstance(function, ast.FunctionDef)
    first, last = function.body[0].lineno, function.end_lineno or function.lineno
    starts = [*module.line_starts, len(module.source)]
    return first > function.lineno and all(
        change.edit.path == module.path and starts[first - 1] <= change.edit.start and change.edit.end <= starts[last]
        for change in changes
    )
