"""Optimizers that are chosen inside of an expression, written as an `if`, so that native follows each of them.

``OPTIMIZERS[name](rate)`` of a dict of optimizers asks for its keys, ``Adam(rate) if deep else Ftrl(rate)`` for its condition.
"""

from __future__ import annotations

import ast

from migrator.emit.render import Renderer
from migrator.normalise.draft.draft import Change
from migrator.normalise.draft.spelled import spelled
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from .optimizers import OPTIMIZERS

_ATOMS = (ast.Name, ast.Attribute, ast.Constant)


def spelled_out(project: Project, module: Module, call: ast.Call) -> list[Change]:
    """The statements for one such call, if nothing else reads the dict, which goes; none for other calls."""
    place = call.func
    if not isinstance(place, ast.Subscript):
        return _conditional(module, call)
    statement = _table(project, module, place.value) if isinstance(place.value, ast.Name) else None
    table = statement.value if statement is not None else place.value
    if not isinstance(table, ast.Dict) or any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in walk(place.slice)):
        return []
    choices = [(key, _made(module, value, call)) for key, value in zip(table.keys, table.values)]
    keys = [key.value if isinstance(key, ast.Constant) else None for key, _ in choices]
    if not all(isinstance(key, str) for key in keys) or any(text is None for _, text in choices):
        return []
    chosen = module.segment(place.slice)

    def lines(name: str, unit: str) -> list[str]:
        found: list[str] = []
        for key, text in choices:
            assert key is not None
            word = "elif" if found else "if"
            found += [f"{word} {chosen} == {module.segment(key)}:", f"{unit}{name} = {text}"]
        return [*found, "else:", f"{unit}raise KeyError({chosen})"]

    changes = spelled(module, call, "optimizer", lines)
    gone = [Change(module.delete_statement(statement))] if changes and statement is not None else []
    return [*gone, *changes]


def _conditional(module: Module, call: ast.Call) -> list[Change]:
    """The statements for a condition that chooses between two optimizers, the first of which is made by `call`."""
    whole = module.parent(call)
    if not isinstance(whole, ast.IfExp) or whole.body is not call or isinstance(module.parent(whole), ast.IfExp):
        return []
    made: list[tuple[str, str]] = []
    """What is asked, empty for the last one, and what makes the optimizer then."""
    value: ast.expr = whole
    while isinstance(value, ast.IfExp):
        made.append((module.segment(value.test), _optimizer(module, value.body)))
        value = value.orelse
    made.append(("", _optimizer(module, value)))
    if any(not text or "\n" in test + text for test, text in made) or module.comments_in(*module.span(whole)):
        return []

    def lines(name: str, unit: str) -> list[str]:
        found: list[str] = []
        for test, text in made:
            head = f"{'elif' if found else 'if'} {test}:" if test else "else:"
            found += [head, f"{unit}{name} = {text}"]
        return found

    return spelled(module, whole, "optimizer", lines)


def _optimizer(module: Module, node: ast.expr) -> str:
    """The text of a call that makes an optimizer; empty for any other expression."""
    return module.segment(node) if isinstance(node, ast.Call) and module.resolve(node.func) in OPTIMIZERS else ""


def _table(project: Project, module: Module, name: ast.Name) -> ast.Assign | None:
    """The statement that gives the name a dict, which only the place of `name` reads."""
    bindings = module.bindings(name)
    holder = module.scope(name).lookup(name.id)
    if len(bindings) != 1 or holder is None or holder.kind not in ("module", "function"):
        return None
    statement = module.parent(bindings[0].node)
    if not isinstance(statement, ast.Assign) or statement.targets != [bindings[0].node]:
        return None
    if not isinstance(statement.value, ast.Dict) or not statement.value.keys:
        return None
    if [node for _, node in project.readers.of(module, holder, name.id)] != [name]:
        return None
    body = getattr(module.parent(statement), "body", [])
    return (
        statement if statement in body and len(body) > 1 and not module.comments_in(*module.span(statement)) else None
    )


def _made(module: Module, value: ast.expr, call: ast.Call) -> str | None:
    """The text that makes the optimizer of an entry: a class of optimizers, or a lambda around one."""
    given = module.source[module.span(call.func)[1] : module.span(call)[1]].decode()
    if not isinstance(value, ast.Lambda):
        return f"{module.segment(value)}{given}" if module.resolve(value) in OPTIMIZERS and "\n" not in given else None
    args = value.args
    names = [argument.arg for argument in args.args]
    plain = not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults or args.posonlyargs or call.keywords)
    made = value.body
    if not plain or len(names) != len(call.args) or not all(isinstance(argument, _ATOMS) for argument in call.args):
        return None
    if not isinstance(made, ast.Call) or module.resolve(made.func) not in OPTIMIZERS:
        return None
    if any(isinstance(node, (ast.Lambda, ast.comprehension, ast.JoinedStr)) for node in walk(made)):
        return None
    texts = dict(zip(names, map(module.segment, call.args)))

    def transform(node: ast.AST) -> str | None:
        return texts.get(node.id) if isinstance(node, ast.Name) else None

    text = Renderer(module).expression(made, transform)
    return None if "\n" in text else text
