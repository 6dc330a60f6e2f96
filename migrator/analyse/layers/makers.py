"""Functions of a program, outside of its model_fns, that make recurrent cells: they stay functions, and make the new cells.

A cell is made once for all modes and knows when it trains. So what only matters for dropout, a probability or the flag
that switches it on, is given to the function as it is in training.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Translations, Writing, format_call
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.resolve.project import Definition


@dataclass
class Maker:
    """A function that makes cells. `calls` are those in model_fns and in helpers that make layers."""

    definition: Definition
    neutral: dict[str, float]
    """Parameters that only matter for dropout, with the value that drops nothing."""
    flags: set[str] = field(default_factory=set)
    """Those of them that switch dropout on."""
    guarded: bool = True
    """Whether a flag switches all dropout on."""
    calls: set[ast.Call] = field(default_factory=set)
    drops: dict[bool, ast.Call] = field(default_factory=dict)
    """Calls by whether they drop in training only."""

    @property
    def only_in_training(self) -> bool:
        """Whether the cells drop in training only. Raises Unsupported where that differs by call."""
        if len(self.drops) > 1:
            raise Unsupported(
                "a function makes cells that drop in training only, and others that always do", self.drops[False]
            )
        return False not in self.drops

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """Defaults of positional parameters."""
        assert isinstance(self.definition.node, ast.FunctionDef)
        defaults, names = self.definition.node.args.defaults, _parameters(self.definition)
        return dict(zip(names[len(names) - len(defaults) :], defaults))

    def given(self, call: ast.Call) -> dict[str, ast.expr]:
        """The arguments of a call by parameter."""
        positional = dict(zip(_parameters(self.definition), call.args))
        return {**positional, **{k.arg: k.value for k in call.keywords if k.arg}}

    def values(self, call: ast.Call) -> dict[ast.expr, float]:
        """The arguments of a call that only matter for dropout, with the value that drops nothing."""
        given = self.given(call)
        return {given[name]: neutral for name, neutral in self.neutral.items() if name in given}


def made_cell(found: Maker, call: ast.Call, writing: Writing) -> str:
    """The text of a call of a function that makes cells."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise Unsupported("a function that makes recurrent cells is called with * or **", call)
    values = found.values(call)

    names = {id(node): name for name, node in found.given(call).items()}
    drops: set[bool] = set()

    def written(node: ast.expr) -> str:
        if node not in values:
            return writing.text(node)
        text = writing.in_training(node, values[node])
        if text is not None and found.guarded and names[id(node)] in found.flags:
            switched.append(node)
        if text is not None or not _is(node, values[node]):
            drops.add(text is not None)
        return text or writing.text(node)

    switched: list[ast.expr] = []
    given: list[tuple[str | None, str]] = [(None, written(a)) for a in call.args]
    given += [(k.arg, written(k.value)) for k in call.keywords]
    for name, default in found.defaults.items():
        if name in found.neutral and name not in names.values() and not _is(default, found.neutral[name]):
            drops.add(False)
    found.drops.update(dict.fromkeys({True} if switched else drops, call))
    found.calls.add(call)
    return format_call(writing.text(call.func), given)


def _is(node: ast.expr, number: float) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def maker(definition: Definition, translations: Translations) -> Maker | None:
    """What is known of a function that makes cells; None for any other one. Raises Unsupported."""
    function, module = definition.node, definition.module
    if not isinstance(function, ast.FunctionDef):
        return None
    calls = [node for node in walk(function) if isinstance(node, ast.Call)]
    cells = [call for call in calls if module.resolve(call.func) in translations.cells]
    if not cells:
        return None
    args = function.args
    if args.vararg or args.kwarg or function.decorator_list:
        raise Unsupported("a function with * or a decorator makes recurrent cells", function)
    names = set(_parameters(definition)) | {a.arg for a in args.kwonlyargs}
    found = Maker(definition, {})
    seen: set[ast.AST] = set()
    guarded: set[ast.AST] = set()
    for node in walk(function):
        if isinstance(node, ast.If) and not node.orelse and all(_wraps(s, translations, definition) for s in node.body):
            parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            flags = {
                part.id for part in parts if isinstance(part, ast.Name) and part.id in names and _is_and(node.test)
            }
            found.flags |= flags
            seen |= set(walk(node.test))
            guarded |= {child for statement in node.body for child in walk(statement)} if flags else set()
    for call in cells:
        for keep in translations.training_only(call, module.resolve):
            name, value = _dropping(keep)
            if name in names and name is not None:
                found.neutral[name] = value
                seen |= set(walk(keep))
            if call not in guarded:
                found.guarded = False
                if name not in names and not _is(keep, 1.0):
                    found.drops[False] = call
    found.neutral.update({name: 0.0 for name in found.flags if name not in found.neutral})
    for node in walk(function):
        if isinstance(node, ast.Name) and node.id in found.neutral and node not in seen:
            del found.neutral[node.id]  # it matters for more than dropout
    return found


def _parameters(definition: Definition) -> list[str]:
    assert isinstance(definition.node, ast.FunctionDef)
    return [a.arg for a in (*definition.node.args.posonlyargs, *definition.node.args.args)]


def _dropping(keep: ast.expr) -> tuple[str | None, float]:
    """The name that a probability is made of, and with which value nothing is dropped: ``keep`` or ``1 - rate``."""
    if isinstance(keep, ast.Name):
        return keep.id, 1.0
    if isinstance(keep, ast.BinOp) and isinstance(keep.op, ast.Sub) and isinstance(keep.right, ast.Name):
        if isinstance(keep.left, ast.Constant) and keep.left.value == 1:
            return keep.right.id, 0.0
    return None, 1.0


def _is_and(test: ast.expr) -> bool:
    return not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.And)


def _wraps(statement: ast.stmt, translations: Translations, definition: Definition) -> bool:
    """Whether a statement is ``cell = DropoutWrapper(cell, …)``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    target, call = statement.targets[0], statement.value
    same = call.args and isinstance(target, ast.Name) and isinstance(call.args[0], ast.Name)
    return (
        bool(same)
        and ast.unparse(target) == ast.unparse(call.args[0])
        and bool(translations.training_only(call, definition.module.resolve))
    )
