"""A function that begins by replacing fields of the RunConfig that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name
from migrator.rewrite import Remove, Replace, code
from migrator.vocabulary.unsupported import Unsupported

from ..estimator_calls.driver import RUN_CONFIG as SIGNATURE
from ..loop.comments import has_comments
from .handed_configs import argument_of, made_for


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Says where a RunConfig is made what the one function that gets it replaces in it.

    ```python
    import tensorflow as tf


    def run(config):
        config = config.replace(keep_checkpoint_max=2)
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(read, steps=100)


    def main(folder):
        config = tf.estimator.RunConfig(model_dir=folder)
        run(config)
    ```
    becomes
    ```python
    import tensorflow as tf


    def run(config):
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(read, steps=100)


    def main(folder):
        config = tf.estimator.RunConfig(model_dir=folder).replace(keep_checkpoint_max=2)
        run(config)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each function."""
    if b".replace(" not in module.source or b"onfig" not in module.source:
        return
    for function in module.nodes(ast.FunctionDef):
        at = int(ast.get_docstring(function, clean=False) is not None)
        statement = function.body[at] if len(function.body) > at + 1 else None
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and len(statement.targets) == 1:
            yield _moved(project, module, function, statement, statement.value)


def _moved(
    project: Project, module: Module, function: ast.FunctionDef, statement: ast.Assign, call: ast.Call
) -> list[Change]:
    """The changes for a statement ``config = config.replace(field=constant)``."""
    method = call.func
    if not (isinstance(method, ast.Attribute) and method.attr == "replace" and isinstance(method.value, ast.Name)):
        return []
    fields = {each.arg: each.value for each in call.keywords if each.arg is not None}
    if call.args or len(fields) < len(call.keywords) or not fields or not fields.keys() <= set(SIGNATURE.split()):
        return []
    if not is_name(statement.targets[0], method.value.id) or has_comments(module, statement):
        return []
    if not all(isinstance(each, ast.Constant) for each in fields.values()):
        return []
    parameters = (*function.args.args, *function.args.kwonlyargs)
    arg = next((each for each in parameters if each.arg == method.value.id), None)
    found = argument_of(project, module, arg) if arg is not None else None
    if found is None:
        return []
    _, there, _, value = found
    made = made_for(project, there, value)
    if made is None or has_comments(there, made.call) or any(read.attr in fields for read in made.reads):
        return []
    told = ", ".join(f"{name}={module.segment(each)}" for name, each in fields.items())
    new = code(f"{there.segment(made.call)}.replace({told})")
    try:
        return Change.every([(module, Remove(statement, apart=True)), (there, Replace(made.call, new))])
    except Unsupported:
        return []
