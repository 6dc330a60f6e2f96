"""Hooks that functions of the program make, by their names in a table or not: they are made where a training is given them."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.draft.returns import sole_value
from migrator.normalise.functions.applied import applied, substituted, written
from migrator.normalise.functions.idle import taken_away
from migrator.normalise.functions.inline import Inliner
from migrator.normalise.values.possible_values import display, possible_values
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, Statement, Unprintable, expr, statements
from migrator.vocabulary.unsupported import Unsupported

from ..model_fns.looked_up import lookup, without

if TYPE_CHECKING:
    import libcst as cst

_MOST = 100
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp)
Turn = dict[str, tuple[Module, ast.expr]]
"""What the variables of a loop are in one of its turns."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes each hook into its list, as far as the source says which these are.

    ```python
    import tensorflow as tf


    def steps(n):
        return tf.train.StepCounterHook(n)


    def stop(n):
        return tf.train.StopAtStepHook(10 * n)


    HOOKS = {"steps": steps, "stop": stop}


    def main(estimator, every):
        estimator.train(input_fn, hooks=[HOOKS[name](every) for name in ("steps", "stop")])
    ```
    becomes
    ```python
    import tensorflow as tf


    def main(estimator, every):
        estimator.train(input_fn, hooks=[tf.train.StepCounterHook(every), tf.train.StopAtStepHook(10 * every)])
    ```
    """
    called: set[tuple[str, str]] = set()
    for path in paths:
        for _ in range(_MOST):
            changes = next(filter(None, _found(drafts, drafts.project.modules[path], called)), None)
            if not changes:
                break
            drafts.apply(changes)
            while any(taken_away(drafts, *entry) for entry in sorted(called)):
                pass


def _found(drafts: Drafts, module: Module, called: set[tuple[str, str]]) -> Iterator[list[Change]]:
    """The changes for each hook or list of hooks; what they call is noted."""
    for call in module.nodes(ast.Call) if b"hooks" in module.source else ():
        for keyword in call.keywords:
            if keyword.arg == "hooks":
                yield from _of_list(drafts, module, keyword.value, called)


def _of_list(
    drafts: Drafts, module: Module, node: ast.expr, called: set[tuple[str, str]], deep: int = 0
) -> Iterator[list[Change]]:
    """The changes for what stands for a list of hooks."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for element in node.elts:
            yield _written(drafts, module, element, called)
    elif isinstance(node, ast.BinOp):
        yield from _of_list(drafts, module, node.left, called, deep)
        yield from _of_list(drafts, module, node.right, called, deep)
    elif isinstance(node, ast.IfExp):
        yield from _of_list(drafts, module, node.body, called, deep)
        yield from _of_list(drafts, module, node.orelse, called, deep)
    elif isinstance(node, _COMPREHENSIONS):
        yield _unrolled(drafts, module, node)
    elif isinstance(node, ast.Call) and is_name(node.func, "list") and len(node.args) == 1:
        yield from _of_list(drafts, module, node.args[0], called, deep)
    elif isinstance(node, ast.Call):
        yield _written(drafts, module, node, called)
    elif isinstance(node, ast.Name) and deep < 3:
        for value in _assigned(module, node):
            yield from _of_list(drafts, module, value, called, deep + 1)
        for load in module.loads_of(node.id, module.scope(node).lookup(node.id)):
            method = module.parent(load)
            call = module.parent(method) if isinstance(method, ast.Attribute) else None
            if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute) or len(call.args) != 1:
                continue
            if method.attr not in ("append", "extend"):
                continue
            loop = module.parent(module.statement(load))
            if isinstance(loop, ast.For):
                yield _repeated(drafts, module, loop)
            elif method.attr == "append":
                yield _written(drafts, module, call.args[0], called)
            else:
                yield from _of_list(drafts, module, call.args[0], called, deep + 1)


def _assigned(module: Module, node: ast.Name) -> Iterator[ast.expr]:
    for binding in module.bindings(node):
        statement = module.parent(binding.node)
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            yield statement.value


def _written(drafts: Drafts, module: Module, node: ast.expr, called: set[tuple[str, str]]) -> list[Change]:
    """The changes that put what a function of the program makes in the place of its call."""
    if isinstance(node, ast.Name):
        statement = module.assignment(node)
        node = statement.value if statement is not None else node
    if not isinstance(node, ast.Call):
        return []
    names = OuterNames()
    with contextlib.suppress(Unsupported, Unprintable):
        entry = _entry(drafts, module, node, names, called)
        if entry:
            return entry
        if isinstance(node.func, (ast.Lambda, ast.Call)):
            new = applied(drafts, module, node, module, node.func, names)
            return Change.every((module, each) for each in (*names.changes, Replace(node, new)))
        found = drafts.project.definition(module, node.func)
        if found is None or not isinstance(found.node, ast.FunctionDef):
            return []
        called.add((found.module.path, found.name))
        body = sole_value(found.node) if not found.node.decorator_list else None
        if body is None:
            return Inliner(drafts, module, node, found).changes()
        new = substituted(drafts, module, node, found.module, found.node, body, names)
        return Change.every([*((module, each) for each in names.changes), (module, Replace(node, new))], [found.module])
    return []


def _entry(
    drafts: Drafts, module: Module, call: ast.Call, names: OuterNames, called: set[tuple[str, str]]
) -> list[Change]:
    """The changes for a call of an entry of a table by a key that is written. Raises Unsupported."""
    found = lookup(drafts.project, module, call)
    if found is None or found.base is not None or not isinstance(found.key, ast.Constant):
        return []
    keys = [key.value if isinstance(key, ast.Constant) else None for key in found.table.keys]
    place: tuple[Module, ast.expr | None] = module, found.default
    if found.key.value in keys:
        place = found.home, found.table.values[keys.index(found.key.value)]
    home, value = place
    if None in keys or value is None:
        return []
    new = applied(drafts, module, call, home, value, names)
    makers = [drafts.project.definition(found.home, each) for each in found.table.values]
    called |= {(maker.module.path, maker.name) for maker in makers if maker is not None}
    gone = without(drafts.project, module, found)
    if gone is None:
        return []
    held = [Remove(found.held)] if found.held is not None else []
    return [*gone, *Change.every(((module, each) for each in (*names.changes, *held, Replace(call, new))), [home])]


def _unrolled(drafts: Drafts, module: Module, node: ast.ListComp | ast.GeneratorExp) -> list[Change]:
    """The list that a comprehension makes, where its turns are seen."""
    loop = node.generators[0]
    turns = _turns(drafts.project, module, loop.iter, loop.target)
    if len(node.generators) != 1 or loop.ifs or turns is None:
        return []
    names = OuterNames()
    with contextlib.suppress(Unsupported, Unprintable):
        made = [_filled(drafts, module, node.elt, turn, names) for turn in turns]
        holes = {f"hook{n}": each for n, each in enumerate(made)}
        new = expr(f"[{', '.join(f'{{{name}}}' for name in holes)}]", **holes)
        gone = _idle(module, loop.iter)
        return Change.every((module, each) for each in (*names.changes, *gone, Replace(node, new)))
    return []


def _repeated(drafts: Drafts, module: Module, loop: ast.For) -> list[Change]:
    """The statements that a loop comes to that only adds to a list, where its turns are seen."""
    turns = _turns(drafts.project, module, loop.iter, loop.target)
    if turns is None or loop.orelse or not all(isinstance(s, ast.Expr) for s in loop.body):
        return []
    names, made = OuterNames(), list[Statement]()
    with contextlib.suppress(Unsupported, Unprintable):
        for turn in turns:
            for statement in loop.body:
                assert isinstance(statement, ast.Expr)
                made += statements("{value}", value=_filled(drafts, module, statement.value, turn, names))
        gone = _idle(module, loop.iter)
        return Change.every((module, each) for each in (*names.changes, *gone, Replace(loop, made)))
    return []


def _idle(module: Module, node: ast.expr) -> list[Remove]:
    """The statement that names what a loop runs over, if nothing else reads the name."""
    statement = module.assignment(node)
    if statement is None or not isinstance(node, ast.Name):
        return []
    alone = module.loads_of(node.id, module.scope(statement)) == [node]
    return [Remove(statement)] if alone and module.scope(statement).kind == "function" else []


def _filled(drafts: Drafts, module: Module, node: ast.expr, turn: Turn, names: OuterNames) -> cst.BaseExpression:
    """An expression with what a turn of a loop has for its variables. Raises Unsupported."""
    table: dict[ast.AST, cst.BaseExpression] = {}
    for read in walk(node):
        if isinstance(read, ast.Name) and read.id in turn:
            table[read] = written(drafts, module, node, *turn[read.id], names)
    return module.cst.filled(node, table)


def _turns(project: Project, module: Module, over: ast.expr, target: ast.expr) -> list[Turn] | None:
    """What the variables of a loop are in each of its turns: over a list that is written, or over a table."""
    method = over.func if isinstance(over, ast.Call) and not over.args else None
    if isinstance(method, ast.Attribute) and method.attr in ("keys", "values", "items"):
        found = display(project, module, method.value)
        kind = method.attr
    else:
        found, kind = display(project, module, over), "keys"
    if found is None:
        shown = possible_values(project, module, over, whole=True)
        home, value = shown.values[0] if shown.stuck is None and len(shown.values) == 1 else (module, over)
        rows = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
        if shown.strangers(project, shown.read) or any(isinstance(row, ast.Starred) for row in rows):
            return None
    else:
        home, table = found
        rows = [key for key in table.keys if key is not None] if kind == "keys" else table.values
    if isinstance(target, ast.Name):
        if found is not None and kind == "items":
            return None
        return [{target.id: (home, row)} for row in rows] or None
    names = [each.id for each in target.elts if isinstance(each, ast.Name)] if isinstance(target, ast.Tuple) else []
    if found is not None and kind == "items" and len(names) == 2:
        pairs = zip(found[1].keys, found[1].values)
        return [dict(zip(names, ((home, key), (home, value)))) for key, value in pairs if key is not None]
    parts = [row.elts for row in rows if isinstance(row, (ast.List, ast.Tuple)) and len(row.elts) == len(names)]
    if not names or len(parts) < len(rows) or found is not None:
        return None
    return [dict(zip(names, ((home, each) for each in part))) for part in parts] or None
