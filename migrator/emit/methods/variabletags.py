"""Tags of summaries that say the name of a variable: ``tf.summary.histogram("{}/grad".format(v.op.name), g)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import targets
from migrator.emit.expressions import Expressions
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan


def name_in_tag(writer: Expressions, node: ast.Attribute, at: Leaf) -> str | None:
    """The text for the name of the variable that a turn of a loop is about, if it stands in a tag; None elsewhere."""
    plan = writer.plan
    named = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "op" else node.value
    turns = {name for loop in at.loops for name in targets(loop.target)}
    if node.attr != "name" or not isinstance(named, ast.Name) or named.id not in turns:
        return None
    if any(site.layer.weight for site in plan.sites):
        return None  # several weights of a model may have one name
    for call in plan.module.ancestors(node):
        if isinstance(call, ast.Call) and plan.module.resolve(call.func) in plan.translations.summaries:
            tags = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
            if any(node in walk(tag) for tag in tags):
                path = f"{writer.need('variable_path')}({writer.text(named)})"
                return path if named is node.value else f"{path}.rpartition(':')[0]"
    return None


def renamed_tags(plan: Plan) -> Iterator[tuple[ast.AST, str]]:
    """The first summary whose tag is the name that TensorFlow 1 gave a variable, with what it is now."""
    for leaf in plan.ordered(plan.gradients):
        turns = {name for loop in leaf.loops for name in targets(loop.target)}
        for call in walk(leaf.node):
            if not isinstance(call, ast.Call) or plan.module.resolve(call.func) not in plan.translations.summaries:
                continue
            tags = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
            named = (n.value for tag in tags for n in walk(tag) if isinstance(n, ast.Attribute) and n.attr == "name")
            roots = {name.id for node in named for name in walk(node) if isinstance(name, ast.Name)}
            if roots & turns:
                yield (
                    call,
                    "these summaries have the names that Keras gives variables: model/dense/kernel for dense/kernel",
                )
                return
