"""A hook, an exporter or a configuration that a function makes and gives to nothing.

Tutorials that were cut down to `train_and_evaluate` have such: a hook that nothing runs does nothing. What stands outside of
functions stays: files that are not given may import it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import calls_only_tensorflow
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import Scope
from migrator.resolve.syntax import is_main_block, walk
from migrator.rewrite import Remove

from ..configs.returned_configs import MADE


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Takes away what nothing reads, where making it does nothing else.

    ```python
    import tensorflow as tf


    def main():
        logging_hook = tf.train.LoggingTensorHook({"probabilities": "softmax"}, every_n_iter=50)
        classifier.train(input_fn, steps=1000)
    ```
    becomes
    ```python
    import tensorflow as tf


    def main():
        classifier.train(input_fn, steps=1000)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each of them."""
    if b"Hook(" not in module.source and b"stimator" not in module.source:
        return
    for node, name in module.references():
        if name in MADE or (name.startswith("tensorflow.") and name.endswith("Hook")):
            call = module.parent(node)
            statement = module.parent(call) if isinstance(call, ast.Call) and call.func is node else None
            if isinstance(statement, ast.Assign) and _is_unread(module, statement):
                values = (_value(module, part) for part in walk(statement.value) if isinstance(part, ast.Name))
                yield Change.of(module, Remove(statement), *(Remove(value) for value in values if value is not None))


def _is_unread(module: Module, statement: ast.Assign) -> bool:
    """Whether a name that nothing reads gets a value that is made of other values alone."""
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return False
    scope = module.scope(target).holder(target.id)
    if (
        not _is_of_script(module, statement, scope)
        or len(scope.bindings.get(target.id, [])) > 1
        or module.loads_of(target.id, scope)
    ):
        return False
    return calls_only_tensorflow(module, statement.value) and target.id not in _texts(module, statement)


def _value(module: Module, name: ast.Name) -> ast.Assign | None:
    """The statement that gives a name a value of constants, which nothing else reads."""
    statement = module.assignment(name)
    scope = module.scope(name).lookup(name.id)
    if not isinstance(statement, ast.Assign) or scope is None or module.loads_of(name.id, scope) != [name]:
        return None
    constant = all(
        isinstance(n, (ast.Dict, ast.List, ast.Tuple, ast.Constant, ast.Load)) for n in walk(statement.value)
    )
    return statement if constant and _is_of_script(module, statement, scope) else None


def _texts(module: Module, statement: ast.stmt) -> set[str]:
    """Strings of a file beside those of a statement, by which something may find a name."""
    own = set(walk(statement))
    texts = (node for node in walk(module.tree) if isinstance(node, ast.Constant) and node not in own)
    return {text.value for text in texts if isinstance(text.value, str)}


def _is_of_script(module: Module, statement: ast.stmt, scope: Scope) -> bool:
    """Whether no file that is not given can import what a statement binds in a scope."""
    outer = (each for each in module.ancestors(statement) if isinstance(each, ast.If))
    return scope.kind == "function" or any(map(is_main_block, outer))
