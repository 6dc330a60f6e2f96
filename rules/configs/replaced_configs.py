"""A RunConfig that is made in pieces, as one call; so is ``RunConfig(model_dir).replace(…)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import is_name
from migrator.rewrite import Remove, Replace, code

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..estimator_calls.driver import RUN_CONFIG as SIGNATURE
from ..loop.comments import has_comments
from ..loop.places import moves

_EITHER = ("save_checkpoints_steps", "save_checkpoints_secs")
"""Fields of which one that is replaced takes the other one away."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Puts what `replace` says of a RunConfig into the call that makes it, where nothing reads it in between.

    ```python
    import tensorflow as tf

    config = tf.estimator.RunConfig("model")
    config = config.replace(save_checkpoints_steps=100)
    ```
    becomes
    ```python
    import tensorflow as tf

    config = tf.estimator.RunConfig("model", save_checkpoints_steps=100)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each call of `replace`."""
    if b".replace(" not in module.source or b"RunConfig" not in module.source:
        return
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "replace" and not call.args:
            yield _joined(project, module, call, call.func.value)


def _joined(project: Project, module: Module, call: ast.Call, base: ast.expr) -> list[Change]:
    """The changes for one call of the method `replace` of `base`."""
    if isinstance(base, ast.Call):
        if not base.args and not base.keywords and module.resolve(base.func) == RUN_CONFIG:  # its comments stay
            return Change.of(module, Replace(call.func, module.cst.expression(base.func)))
        text = _text(module, base, call) if not has_comments(module, call) else ""
        return Change.of(module, Replace(call, code(text))) if text else []
    made = _made(module, base, call) if isinstance(base, ast.Name) else None
    if made is None or not isinstance(made.value, ast.Call) or not isinstance(base, ast.Name):
        return []
    commented = has_comments(module, made) or has_comments(module, call)
    if commented or project.readers.elsewhere(module, module.scope(base), base.id):
        return []
    text = _text(module, made.value, call)
    parts = [*made.value.args, *(keyword.value for keyword in made.value.keywords)]
    if not text or not moves(module, made, call, parts):
        return []
    return Change.of(module, Replace(call, code(text)), Remove(made))


def _made(module: Module, name: ast.Name, call: ast.Call) -> ast.Assign | None:
    """The statement in the block of a call that gave a name the value which the call alone reads."""
    statement = module.statement(call)
    block = block_of(module, statement)
    scope = module.scope(name)
    holder = scope.lookup(name.id)
    if holder is None or holder is not scope:
        return None
    found = None
    for before in block[: block.index(statement)]:
        if isinstance(before, ast.Assign) and len(before.targets) == 1 and is_name(before.targets[0], name.id):
            found = before
        elif found is not None and any(is_name(node, name.id) for node in ast.walk(before)):
            found = None
    if found is None:
        return None
    anew = isinstance(statement, ast.Assign) and len(statement.targets) == 1 and is_name(statement.targets[0], name.id)
    reads = [n for n in ast.walk(statement) if is_name(n, name.id) and isinstance(getattr(n, "ctx", None), ast.Load)]
    if reads != [name] or (not anew and module.loads_of(name.id, holder) != [name]):
        return None
    target = found.targets[0]
    inner = [load for load in module.loads_of(name.id, holder) if module.scope(load) is not scope]
    return found if isinstance(target, ast.Name) and not inner else None


def _text(module: Module, made: ast.Call, call: ast.Call) -> str:
    """The RunConfig that a call makes, with what `replace` says; nothing where that is not seen."""
    if module.resolve(made.func) != RUN_CONFIG:
        return ""
    try:
        given, told = bind(made, SIGNATURE, "RunConfig"), bind(call, SIGNATURE, "RunConfig.replace")
    except Unsupported:
        return ""
    for name, value in told.items():
        given[name] = value
        for other in _EITHER if name in _EITHER and not is_none(value) else ():
            if other not in told:
                given.pop(other, None)
    positional = SIGNATURE.split()[: len(made.args)]
    if not given.keys() >= set(positional):
        return ""
    parts = [module.segment(given[name]) for name in positional]
    parts += [f"{name}={module.segment(value)}" for name, value in given.items() if name not in positional]
    return f"{module.segment(made.func)}({', '.join(parts)})"
