"""Input functions that a program keeps under one name, one after the other, under a name for each.

What a name stands for is seen where it is bound once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.resolve.symbols import Scope
from migrator.rewrite import Rename

_PREFIXES = {"train": "train_", "evaluate": "eval_", "predict": "predict_"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives input functions that are held by one name a name each.

    ```python
    import tensorflow as tf

    estimator = tf.estimator.Estimator(model_fn)
    input_fn = tf.estimator.inputs.numpy_input_fn(train_x, train_y, shuffle=True)
    estimator.train(input_fn, steps=100)
    input_fn = tf.estimator.inputs.numpy_input_fn(test_x, test_y, shuffle=False)
    estimator.evaluate(input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf

    estimator = tf.estimator.Estimator(model_fn)
    train_input_fn = tf.estimator.inputs.numpy_input_fn(train_x, train_y, shuffle=True)
    estimator.train(train_input_fn, steps=100)
    eval_input_fn = tf.estimator.inputs.numpy_input_fn(test_x, test_y, shuffle=False)
    estimator.evaluate(eval_input_fn)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each name."""
    seen = set[tuple[int, str]]()
    for call in module.nodes(ast.Call) if b"stimator" in module.source else ():
        if isinstance(call.func, ast.Attribute) and call.func.attr in _PREFIXES:
            for load in (*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "input_fn")):
                scope = module.scope(load).lookup(load.id) if isinstance(load, ast.Name) else None
                if isinstance(load, ast.Name) and scope is not None and (id(scope), load.id) not in seen:
                    seen.add((id(scope), load.id))
                    yield from _of_name(project, module, load.id, scope)


def _of_name(project: Project, module: Module, name: str, scope: Scope) -> Iterator[list[Change]]:
    """The changes for a name that statements of one block bind, and only methods of Estimators read."""
    parents = [module.parent(binding.node) for binding in scope.bindings[name]]
    statements = [each for each in parents if isinstance(each, ast.Assign) and len(each.targets) == 1]
    statements = sorted((each for each in statements if isinstance(each.targets[0], ast.Name)), key=module.span)
    if len(statements) < max(2, len(parents)) or scope.kind not in ("module", "function"):
        return
    if project.readers.elsewhere(module, scope, name):
        return
    block = block_of(module, statements[0])
    if any(statement not in block for statement in statements):
        return
    read: dict[ast.Assign, list[tuple[ast.Name, str]]] = {statement: [] for statement in statements}
    for load in module.loads_of(name, scope):
        method, place = _method(module, load), _in_block(module, load, block)
        before = [statement for statement in statements if place and block.index(statement) < block.index(place)]
        if not method or not before:
            return
        read[before[-1]].append((load, method))
    if not all(read.values()):
        return
    renames, taken = [], set[str]()
    for statement, loads in read.items():
        new = _name(module, name, loads[0][1], statement, taken)
        taken.add(new)
        targets = [target for target in statement.targets if isinstance(target, ast.Name)]
        renames += [Rename(node, new) for node in (*targets, *(load for load, _ in loads)) if new != name]
    yield Change.of(module, *renames)


def _method(module: Module, load: ast.Name) -> str:
    """The method that is given an input function; nothing if something else is done with it."""
    outer = module.parent(load)
    call = module.parent(outer) if isinstance(outer, ast.keyword) and outer.arg == "input_fn" else outer
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ""
    first = call is not outer or call.args[:1] == [load]
    return call.func.attr if first and call.func.attr in _PREFIXES else ""


def _in_block(module: Module, load: ast.Name, block: list[ast.AST]) -> ast.AST | None:
    """The statement of a block that reads a name when it is run; None if a function in it does, whenever that is called."""
    for outer in module.ancestors(load):
        if outer in block:
            return None if isinstance(outer, _FUNCTIONS) else outer
        if isinstance(outer, (*_FUNCTIONS, ast.GeneratorExp)):
            return None
    return None


def _name(module: Module, name: str, method: str, at: ast.AST, taken: set[str]) -> str:
    """``train_input_fn``, or ``train_input_fn_2``."""
    base = name if name.startswith(_PREFIXES[method]) else f"{_PREFIXES[method]}{name}"
    new, number = base, 1
    while new in taken or (new != name and module.unused_name(new, at) != new):
        number += 1
        new = f"{base}_{number}"
    return new
