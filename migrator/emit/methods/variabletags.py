"""Tags of summaries that say the name of a variable: ``tf.summary.histogram("{}/grad".format(v.op.name), g)``."""

from __future__ import annotations

import ast

from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import targets
from migrator.emit.expressions import Expressions
from migrator.resolve.syntax import walk


def name_in_tag(writer: Expressions, node: ast.Attribute, at: Leaf) -> str | None:
    """The text for the name of the variable that a turn of a loop is about, if it stands in a tag; None elsewhere."""
    plan = writer.plan
    named = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "op" else node.value
    turns = {name for loop in at.loops for name in targets(loop.target)}
    if node.attr != "name" or not isinstance(named, ast.Name) or named.id not in turns:
        return None
    for call in plan.module.ancestors(node):
        if isinstance(call, ast.Call) and plan.module.resolve(call.func) in plan.translations.summaries:
            tags = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
            if any(node in walk(tag) for tag in tags):
                path = f"{writer.need('variable_path')}({writer.text(named)})"
                return path if named is node.value else f"{path}.rpartition(':')[0]"
    return None
