"""Classes of hooks that a model_fn defines: they move to the module, and are given what they read from around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import holders, keywords, removal
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewritten
from migrator.rewrite import Insert, Replace, code, statements, with_parameters

_HOOKS = frozenset(f"tensorflow.{family}.SessionRunHook" for family in ("train", "estimator", "contrib.learn"))
_KINDS = (ast.FunctionDef, ast.ClassDef, ast.alias)


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such class; none where there is none.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))

        class Progress(tf.train.SessionRunHook):
            def before_run(self, run_context):
                return tf.train.SessionRunArgs(loss)

        return tf.estimator.EstimatorSpec(mode, loss=loss, training_hooks=[Progress()])
    ```
    becomes
    ```python
    import tensorflow as tf


    class Progress(tf.train.SessionRunHook):
        def __init__(self, loss):
            self.loss = loss

        def before_run(self, run_context):
            return tf.train.SessionRunArgs(self.loss)


    def model_fn(features, labels, mode):
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))

        return tf.estimator.EstimatorSpec(mode, loss=loss, training_hooks=[Progress(loss=loss)])
    ```
    """
    for definition in (node for node in function.body if isinstance(node, ast.ClassDef)):
        calls = _calls(module, function, definition)
        if not calls or not _is_hook(module, definition):
            continue
        reads = _captured(module, function, definition)
        if reads is None:
            continue
        changes = list(_given(module, definition, calls, reads)) if reads else _moved(module, definition)
        return Change.every((module, change) for change in changes)
    return []


def _is_hook(module: Module, definition: ast.ClassDef) -> bool:
    """Whether a class derives from that of hooks alone, and has nothing but methods of objects."""
    bases = [module.resolve(base) for base in definition.bases]
    if len(bases) != 1 or bases[0] not in _HOOKS or definition.keywords or definition.decorator_list:
        return False
    return all(_is_method(part) or _is_text(part) for part in definition.body)


def _is_method(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and not node.decorator_list and bool(node.args.args)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _calls(module: Module, function: ast.FunctionDef, definition: ast.ClassDef) -> list[ast.Call]:
    """The calls of a class in the function that defines it; none where it is read for anything else."""
    holder = module.scope(function)
    if len(holder.bindings.get(definition.name, [])) != 1:
        return []
    reads = [read for read in module.loads_of(definition.name, holder) if not module.is_inside(read, definition)]
    calls = [call for read in reads if isinstance(call := module.parent(read), ast.Call) and call.func is read]
    starred = any(isinstance(a, ast.Starred) for call in calls for a in call.args)
    return [] if starred or len(calls) < len(reads) else calls


def _captured(module: Module, function: ast.FunctionDef, definition: ast.ClassDef) -> dict[ast.Name, str] | None:
    """The reads of names of the function, with what the method calls its object; None where they cannot be given to it."""
    holder, found = module.scope(function), dict[ast.Name, str]()
    own = {node.attr for node in walk(definition) if isinstance(node, ast.Attribute)}
    for node in walk(definition):
        if not isinstance(node, ast.Name) or module.scope(node).lookup(node.id) is not holder:
            continue
        if node.id == definition.name:  # ``super(Progress, self)``
            continue
        method = next((each for each in module.ancestors(node) if module.parent(each) is definition), None)
        bound = holder.bindings[node.id]
        single = len(bound) == 1 and not isinstance(bound[0].node, _KINDS) and isinstance(node.ctx, ast.Load)
        if not single or node.id in own or not isinstance(method, ast.FunctionDef):
            return None
        if any(node in walk(default) for default in (*method.args.defaults, *method.args.kw_defaults) if default):
            return None
        found[node] = method.args.args[0].arg
    return found


def _given(
    module: Module, definition: ast.ClassDef, calls: list[ast.Call], reads: dict[ast.Name, str]
) -> Iterator[Rewritten]:
    """The class with what it reads in attributes, which its constructor is given."""
    names = list(dict.fromkeys(node.id for node in reads))
    constructor = next((m for m in definition.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    for node, own in reads.items():
        if constructor is None or not module.is_inside(node, constructor):
            yield Replace(node, code(f"{own}.{node.id}"))
    own = constructor.args.args[0].arg if constructor is not None else "self"
    kept = [line for name in names for line in statements("{own}.{name} = {name}", own=own, name=name)]
    if constructor is None:
        first = next(part for part in definition.body if isinstance(part, ast.FunctionDef))
        method = statements("def __init__({own}):\n    {kept}", own=own, kept=kept)
        yield Insert([with_parameters(method[0], add=names)], before=first, apart=True)
    else:
        yield Replace(constructor, with_parameters(module.cst.statement(constructor), add=names))
        yield Insert(kept, before=constructor.body[0])
    for call in calls:
        yield keywords(module, call, {name: name for name in names})


def _moved(module: Module, definition: ast.ClassDef) -> list[Rewritten]:
    """The class at the level of the module, above what defined it; nothing where something else has its name."""
    top = next(each for each in module.ancestors(definition) if module.parent(each) is module.tree)
    assert isinstance(top, ast.stmt)
    if len(holders(module, definition.name)) > 1:
        return []
    return [Insert([module.cst.statement(definition)], before=top, apart=True), removal(definition)]
