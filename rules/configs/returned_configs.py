"""A RunConfig, a spec or an exporter that a function makes is made by its caller.

A function that does more has one caller.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.functions.idle import taken_away
from migrator.normalise.functions.inline import Inliner
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.vocabulary.unsupported import Unsupported

from ..distribute.tpu_facts import short_name
from ..estimator_calls.derived_configs import RUN_CONFIG
from ..exports.exporters import NAMES as EXPORTERS
from ..loop.specs import EVAL_SPEC, TRAIN_SPEC

MADE = {RUN_CONFIG, TRAIN_SPEC, EVAL_SPEC, *EXPORTERS}
"""Configurations, specs and exporters, which do nothing as they are made."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Puts functions that make a configuration or a spec in the place of their calls.

    ```python
    import tensorflow as tf


    def get_config(folder):
        return tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=100)


    def main(folder):
        config = get_config(folder)
        estimator = tf.estimator.Estimator(model_fn, config=config)
    ```
    becomes
    ```python
    import tensorflow as tf


    def main(folder):
        config = tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=100)
        estimator = tf.estimator.Estimator(model_fn, config=config)
    ```
    """
    put_in_place(drafts, paths, lambda project, module, function: _makes(module, function))


def put_in_place(
    drafts: Drafts, paths: Sequence[str], is_meant: Callable[[Project, Module, ast.FunctionDef], bool]
) -> None:
    """Puts the functions that are meant in the place of their calls."""
    gone: list[tuple[str, str]] = []
    drafts.apply_all(paths, lambda project, module: _found(drafts, module, gone, is_meant))
    for path, name in dict.fromkeys(gone):
        taken_away(drafts, path, name)


def _found(
    drafts: Drafts,
    module: Module,
    gone: list[tuple[str, str]],
    is_meant: Callable[[Project, Module, ast.FunctionDef], bool],
) -> Iterator[list[Change]]:
    """The changes for each function of a file."""
    if b"estimator" not in module.source:
        return
    for function in [node for node in module.tree.body if isinstance(node, ast.FunctionDef)]:
        if is_meant(drafts.project, module, function):
            found = Definition(module, function)
            inlined = [_inlined(drafts, *place, found) for place in _calls(drafts.project, found)]
            if inlined and all(inlined):
                gone.append((module.path, function.name))
                yield [change for changes in inlined for change in changes]


def _makes(module: Module, function: ast.FunctionDef) -> bool:
    """Whether what a function returns, or one of several values, is a configuration, a spec or an exporter that it makes."""
    returns = own_returns(function)
    value = returns[0].value if len(returns) == 1 and returns[0] is function.body[-1] else None
    if value is None or function.decorator_list:
        return False
    return any(_is_made(module, part) for part in (value.elts if isinstance(value, ast.Tuple) else [value]))


def _is_made(module: Module, value: ast.expr) -> bool:
    """Whether a function makes one of these, and may give it a name before it returns it."""
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        statements = [module.parent(binding.node) for binding in bindings]
        made = [statement.value for statement in statements if isinstance(statement, ast.Assign)]
        return bool(made) and len(made) == len(bindings) and all(_is_config(module, each, value.id) for each in made)
    return _is_config(module, value, "")


def _is_config(module: Module, node: ast.expr, name: str) -> bool:
    """Whether an expression makes one of these, or another configuration of that of a name."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
        base = node.func.value
        return (isinstance(base, ast.Name) and base.id == name) or _is_config(module, base, name)
    made = module.resolve(node.func) or ""
    return made in MADE or short_name(made) == "RunConfig"


def _calls(project: Project, found: Definition) -> list[tuple[Module, ast.Call]]:
    """The calls of a function, if they are all that is done with it: one, or more of a function that only returns."""
    calls = []
    for module, node in project.readers.of(found.module, found.module.analysis.root, found.name):
        call = module.parent(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            return []
        calls.append((module, call))
    texts = (part for each in project.modules.values() for part in walk(each.tree) if isinstance(part, ast.Constant))
    said = re.compile(rf"(^|[^\w/-]){re.escape(found.name)}($|\s*\()")  # as what finds or runs a function by its name
    named = any(isinstance(text.value, str) and said.search(text.value) for text in texts)
    alone = isinstance(found.node, ast.FunctionDef) and isinstance(found.node.body[0], ast.Return)
    several = alone and all(_is_used(module, call) for module, call in calls)
    return [] if named or (len(calls) > 1 and not several) else calls


def _is_used(module: Module, call: ast.Call) -> bool:
    """Whether a name holds what a call makes, or a function of TensorFlow is given it."""
    outer = module.parent(call)
    outer = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    given = isinstance(outer, ast.Call) and (module.resolve(outer.func) or "").startswith("tensorflow.")
    return given or isinstance(outer, ast.Assign)


def _inlined(drafts: Drafts, module: Module, call: ast.Call, found: Definition) -> list[Change]:
    if module.path not in drafts.project.editable or module.nearest(call, ast.ClassDef) is not None:
        return []
    try:
        return Inliner(drafts, module, call, found).changes()
    except Unsupported:
        return []
