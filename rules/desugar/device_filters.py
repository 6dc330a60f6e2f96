"""Settings of sessions that a function makes of TF_CONFIG, to say which machines each one talks to.

They go where the function returns nothing but ``tf.ConfigProto(device_filters=[…])`` or None: TensorFlow 2 has no sessions. A
function that nothing else reads goes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Replace, with_arguments
from migrator.vocabulary.unsupported import Unsupported

from ..estimator_calls.derived_configs import RUN_CONFIG

_CONFIG = "tensorflow.ConfigProto"
_TOLD = (
    "which machines its sessions talk to is left out: TensorFlow 2 has no sessions, and strategies know their machines"
)


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Leaves settings out that only say with which machines sessions talk.

    ```python
    import json
    import os

    import tensorflow as tf


    def session_config_of_env():
        task = json.loads(os.environ["TF_CONFIG"])["task"]
        if task["type"] == "worker":
            return tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % task["index"]])
        return None


    config = tf.estimator.RunConfig("model", session_config=session_config_of_env())
    ```
    becomes
    ```python
    import json
    import os

    import tensorflow as tf


    config = tf.estimator.RunConfig("model")
    ```
    """
    for path in paths:
        module = drafts.project.modules[path]
        for call in module.nodes(ast.Call) if b"device_filters" in _sources(drafts.project) else ():
            given = next((k for k in call.keywords if k.arg == "session_config"), None)
            if given is None or module.resolve(call.func) != RUN_CONFIG:
                continue
            changes = _dropped(drafts.project, module, call, given)
            if changes:
                drafts.remark(module, given.value, _TOLD)
                drafts.apply(changes)
                break  # whose nodes are those of an earlier draft now


def _sources(project: Project) -> bytes:
    return b"".join(module.source for module in project.modules.values() if b"device_filters" in module.source)


def _dropped(project: Project, module: Module, call: ast.Call, given: ast.keyword) -> list[Change]:
    made = given.value
    found = project.definition(module, made.func) if isinstance(made, ast.Call) else None
    function = found.node if found is not None else None
    if found is None or not isinstance(made, ast.Call) or made.args or made.keywords:
        return []
    if not isinstance(function, ast.FunctionDef) or not _only_filters(found.module, function):
        return []
    place = len(call.args) + call.keywords.index(given)
    changes: list[tuple[Module, Rewrite]] = [
        (module, Replace(call, with_arguments(module.cst.call(call), drop=[place])))
    ]
    scope = found.module.scope(found.module.parent(function) or found.module.tree).holder(function.name)
    readers = project.readers.of(found.module, scope, function.name)
    uses = [
        node for other in project.modules.values() for node in project.uses(Definition(found.module, function), other)
    ]
    if [node for _, node in readers] == [made.func] and all(node is made.func for node in uses):
        changes.append((found.module, Remove(function, apart=True)))
    try:
        return Change.every(changes)
    except Unsupported:
        return []


def _only_filters(module: Module, function: ast.FunctionDef) -> bool:
    """Whether a function looks at the environment, and returns filters of devices or nothing."""
    args = function.args
    if function.decorator_list or args.args or args.kwonlyargs or args.posonlyargs or args.vararg or args.kwarg:
        return False
    if not all(_is_plain(statement) for statement in function.body):
        return False
    returned = [node.value for node in walk(function) if isinstance(node, ast.Return)]
    return any(_filters(module, value) for value in returned) and all(
        value is None or (isinstance(value, ast.Constant) and value.value is None) or _filters(module, value)
        for value in returned
    )


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement keeps what it does to itself."""
    if isinstance(statement, ast.If):
        return all(map(_is_plain, [*statement.body, *statement.orelse]))
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    named = isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)
    return text or named or isinstance(statement, (ast.Return, ast.Pass, ast.Import, ast.ImportFrom))


def _filters(module: Module, node: ast.expr | None) -> bool:
    """Whether an expression makes settings that say nothing else."""
    return (
        isinstance(node, ast.Call)
        and module.resolve(node.func) == _CONFIG
        and not node.args
        and [keyword.arg for keyword in node.keywords] == ["device_filters"]
    )
