"""What `train` of an Estimator returns, where a function returns it and nothing reads that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, statements


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Returns nothing.

    ```python
    import tensorflow as tf


    def fit(estimator, input_fn):
        return estimator.train(input_fn, steps=100)


    fit(tf.estimator.Estimator(model_fn), input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def fit(estimator, input_fn):
        estimator.train(input_fn, steps=100)


    fit(tf.estimator.Estimator(model_fn), input_fn)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of these functions."""
    for call in module.nodes(ast.Call) if b".train(" in module.source and b"stimator" in module.source else ():
        node, function = module.parent(call), module.nearest(call, (ast.FunctionDef, ast.Lambda))
        if not isinstance(node, ast.Return) or not isinstance(call.func, ast.Attribute) or call.func.attr != "train":
            continue
        if isinstance(function, ast.FunctionDef) and _is_unread(project, module, function):
            ended = "{call}" if function.body[-1] is node else "{call}\nreturn"
            yield Change.of(module, Replace(node, statements(ended, call=module.cst.expression(call))))


def _is_unread(project: Project, module: Module, function: ast.FunctionDef) -> bool:
    """Whether all that is done with a function is to call it for what it does."""
    outer = module.parent(function)
    if isinstance(outer, ast.Module) and not function.decorator_list:
        places = project.readers.of(module, module.analysis.root, function.name)
    elif isinstance(outer, ast.ClassDef) and not function.decorator_list:
        files = [each for each in project.modules.values() if function.name.encode() in each.source]
        names = ((each, node) for each in files for node in each.nodes(ast.Attribute))
        places = [(each, node) for each, node in names if node.attr == function.name]
    else:
        return False
    calls = [(each, node, each.parent(node)) for each, node in places]
    return all(
        isinstance(call, ast.Call) and call.func is node and isinstance(each.parent(call), ast.Expr)
        for each, node, call in calls
    )
