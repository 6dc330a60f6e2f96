"""Code in files that a rewrite leaves as they are, which the new model still calls: it must not need a graph.

What the model calls by name is followed into layers; what it gets through a table or from another function is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.text import Spans, spans_of
from migrator.vocabulary.diagnostics import Edit

from ..estimator_calls.estimator_values import Construction
from ..model_fns.translations import is_refused, needs_graph
from ..program.named_code import NamedCode
from ..program.unused_code import GRAPH_SCOPES
from .graph_names import scope_fixes


def check_called(
    project: Project, bodies: Iterable[Definition], constructions: list[Construction], rewritten: Iterable[Module]
) -> dict[str, list[Edit]]:
    """Follow the names in `bodies`, and in the params of the Estimators, through the files that are not `rewritten`.

    Returns the edits of scopes that only name operations, by file. Raises Unsupported at a name of TensorFlow 1 that works
    on a graph.
    """
    done = {module.path for module in rewritten}
    if all(path in done or not module.mentions_tensorflow for path, module in project.modules.items()):
        return {}
    code = NamedCode(project)
    for body in bodies:
        code.follow(body.module, body.node)
    for construction in constructions:
        if "params" in construction.arguments:
            code.follow(construction.module, construction.arguments["params"])
    found: dict[str, list[Edit]] = {}
    edited: dict[str, Spans] = {}
    for module, node in code.places():
        if module.path in done:
            continue
        if module.path not in found:
            found[module.path] = [edit for fix in scope_fixes(module) for edit in fix.edits]
            edits = [edit for fix in module.fixes for edit in fix.edits]
            edited[module.path] = spans_of([*found[module.path], *edits])
        _check(module, node, edited[module.path])
    return {path: edits for path, edits in found.items() if edits}


def _check(module: Module, node: ast.AST, edited: Spans) -> None:
    """Refuse names that work on a graph and that no rule rewrites by itself."""
    if not isinstance(node, (ast.expr, ast.stmt)):
        return
    for reference, name in module.references_in(node):
        if not (is_refused(name) or name in GRAPH_SCOPES) or edited.touch(module.span(reference)):
            continue
        if module.dialect(reference) != "v2" or needs_graph(name):
            short = name.replace("tensorflow", "tf", 1)
            raise Unsupported(f"{short} is in code that does not move with the model_fn", reference)
