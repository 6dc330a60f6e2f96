"""Code in files that a rewrite leaves as they are, which the new model still calls: it must not need a graph.

What the model calls by name is followed into layers; what it gets through a table or from another function is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.modelfn.errors import Unsupported
from migrator.module import Module
from migrator.project import Definition, Project
from migrator.text import within

from .estimator_values import Construction
from .finishing import touches
from .named_code import NamedCode
from .translations import is_refused, needs_graph


def check_called(
    project: Project, bodies: Iterable[Definition], constructions: list[Construction], rewritten: Iterable[Module]
) -> None:
    """Follow the names in `bodies`, and in the params of the Estimators, through the files that are not `rewritten`.

    Raises Unsupported at a name of TensorFlow 1 that works on a graph.
    """
    done = {module.path for module in rewritten}
    if all(path in done or not module.mentions_tensorflow for path, module in project.modules.items()):
        return
    code = NamedCode(project)
    for body in bodies:
        code.follow(body.module, body.node)
    for construction in constructions:
        if "params" in construction.arguments:
            code.follow(construction.module, construction.arguments["params"])
    for module, node in code.places():
        if module.path not in done:
            _check(module, node)


def _check(module: Module, node: ast.AST) -> None:
    """Refuse names that work on a graph and that no rule rewrites by itself."""
    if not isinstance(node, (ast.expr, ast.stmt)):
        return
    inside = [module.span(node)]
    edits = [edit for fix in module.fixes for edit in fix.edits]
    for reference, name in module.references():
        span = module.span(reference)
        if not is_refused(name) or not within(span, inside) or touches(span, edits):
            continue
        if module.dialect(reference) != "v2" or needs_graph(name):
            short = name.replace("tensorflow", "tf", 1)
            raise Unsupported(f"{short} is in code that does not move with the model_fn", reference)
