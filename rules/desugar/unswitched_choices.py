"""Choices of variables of which an option tells whether there is a choice: the option is asked once, not of each variable."""

from __future__ import annotations

import ast

from migrator.analyse.statements.names import reads
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr

_LISTS = frozenset({"tensorflow.trainable_variables", "tensorflow.get_collection"})


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one such choice; none if there is no more.

    ```python
    import tensorflow as tf


    def train_op(optimizer, loss, params):
        chosen = [v for v in tf.trainable_variables() if not params["freeze"] or "head" in v.name]
        return optimizer.minimize(loss, var_list=chosen)
    ```
    becomes
    ```python
    import tensorflow as tf


    def train_op(optimizer, loss, params):
        chosen = [v for v in tf.trainable_variables() if "head" in v.name] if params["freeze"] else tf.trainable_variables()
        return optimizer.minimize(loss, var_list=chosen)
    ```
    """
    for node in walk(function):
        if not isinstance(node, ast.ListComp) or len(node.generators) != 1 or len(node.generators[0].ifs) != 1:
            continue
        generator = node.generators[0]
        test, target = generator.ifs[0], generator.target
        if not isinstance(target, ast.Name) or not is_name(node.elt, target.id) or not _is_list(module, generator.iter):
            continue
        options = [part for part in test.values if _is_option(part, target.id)] if isinstance(test, ast.BoolOp) else []
        if not isinstance(test, ast.BoolOp) or len(options) != 1 or len(test.values) != 2:
            continue
        (asked,) = [part for part in test.values if part is not options[0]]
        if isinstance(test.op, ast.And):
            template = "{chosen} if {option} else []"
        elif isinstance(options[0], ast.UnaryOp) and isinstance(options[0].op, ast.Not):
            options, template = [options[0].operand], "{chosen} if {option} else {every}"
        else:
            template = "{every} if {option} else {chosen}"
        file = module.cst
        every, option = file.expression(generator.iter), file.expression(options[0])
        chosen = expr("[{v} for {v} in {every} if {asked}]", v=target.id, every=every, asked=file.expression(asked))
        return Change.of(module, Replace(node, expr(template, every=every, option=option, chosen=chosen)))
    return []


def _is_list(module: Module, node: ast.expr) -> bool:
    """Whether a call lists variables, or a name stands for what one gave."""
    statement = module.assignment(node)
    value = statement.value if statement is not None else node
    return isinstance(value, ast.Call) and module.resolve(value.func) in _LISTS


def _is_option(node: ast.expr, variable: str) -> bool:
    """Whether a test asks no variable, and computes nothing."""
    return variable not in reads(node) and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(node))
