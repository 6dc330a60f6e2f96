"""Functions that fill a dict with placeholders and compute features of it then: they do the latter in a function of their own.

An export calls that one; what is fed stays in the function around it, among the names of that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.methods import method_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, spaced, statements

from .feature_dicts import only_reads
from .fed_entries import loads
from .fed_features import RECEIVER
from .filled_dicts import Filled, changed_receiver, filled, inner_of
from .receivers import function_receiver

_OUTER = (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom, ast.Await)


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives them such a function, where the dict is not seen where the SavedModel is exported.

    ```python
    import tensorflow as tf


    def make_serving_input_fn(names):
        def serving_input_fn():
            inputs = {name: tf.placeholder(tf.float32, [None]) for name in names}
            features = {name: tf.math.log(value) for name, value in inputs.items()}
            return tf.estimator.export.ServingInputReceiver(features, inputs)

        return serving_input_fn
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_serving_input_fn(names):
        def serving_input_fn():
            inputs = {name: tf.placeholder(tf.float32, [None]) for name in names}

            def features_of(inputs):
                features = {name: tf.math.log(value) for name, value in inputs.items()}
                return features

            return tf.estimator.export.ServingInputReceiver(features_of(inputs), inputs)

        return serving_input_fn
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    for node, name in module.references():
        call = module.parent(node) if name == RECEIVER else None
        function = module.nearest(node, ast.FunctionDef)
        last = function.body[-1] if function is not None else None
        if isinstance(call, ast.Call) and isinstance(last, ast.Return) and last.value is call and function is not None:
            found = filled(module, function, call)
            if found is not None and not _is_understood(project, module, function, call, found):
                yield _split(project, module, function, found, last)


def _is_understood(project: Project, module: Module, function: ast.FunctionDef, call: ast.Call, found: Filled) -> bool:
    """Whether an export understands it as it is."""
    if inner_of(module, function, found) is not None or changed_receiver(project, module, call, function, call):
        return True
    return function_receiver(project, module, call, function, function.body[-1]) is not None


def _split(
    project: Project, module: Module, function: ast.FunctionDef, found: Filled, last: ast.Return
) -> list[Change]:
    """The changes for one of them; none where what it computes may change the dict, or names of the function."""
    inside = [*found.rest, last]
    read = [load for load in loads(module, found.tensors) if any(module.is_inside(load, each) for each in inside)]
    read.remove(found.tensors)
    if not read or not all(_only_reads(project, module, load) for load in read):
        return []
    arguments = {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    if _bound(module, function, found.rest) & (_bound(module, function, found.first) | arguments):
        return []
    if any(isinstance(node, _OUTER) for each in inside for node in walk(each)):
        return []
    file, name = module.cst, module.unused_name("features_of", function.body[0])
    body = [*file.statements(found.rest), *statements("return {it}", it=file.expression(found.features))]
    made = statements(f"def {name}({found.tensors.id}):\n    {{body}}", body=body)
    receiver = file.expression(last.value.func)  # type: ignore[union-attr]
    returned = statements(f"return {{receiver}}({name}({found.tensors.id}), {found.tensors.id})", receiver=receiver)
    first, *others = inside
    return Change.of(module, Replace(first, [*spaced(made), *spaced(returned)]), *(Remove(each) for each in others))


def _only_reads(project: Project, module: Module, load: ast.Name) -> bool:
    """Whether the place that reads a dict changes nothing of it, as functions of libraries do not."""
    if only_reads(project, module, load):
        return True
    outer = module.parent(load)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    own = project.definition(module, call.func) or method_of(project, module, call.func)
    return own is None and call.func.value is not load


def _bound(module: Module, function: ast.FunctionDef, block: Sequence[ast.stmt]) -> set[str]:
    """Names of a function that statements bind."""
    nodes = [node for each in block for node in walk(each)]
    stored = [node for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    own = {node.id for node in stored if module.scope(node).holder(node.id) is module.scope(function.body[0])}
    return own | {node.name for node in block if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
