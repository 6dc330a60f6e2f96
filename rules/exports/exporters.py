"""Exporters of an EvalSpec that write one SavedModel, at the end of the training."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.estimator_values import PREFIX
from ..loop.places import has_its_line
from .receivers import Receiver, receiver_of

_SIGNATURES = {
    "FinalExporter": "name serving_input_receiver_fn assets_extra as_text",
    "LatestExporter": "name serving_input_receiver_fn assets_extra as_text exports_to_keep",
}
NAMES = frozenset(PREFIX + name for name in _SIGNATURES)
_UNSEEN = "`exporters` of its EvalSpec"


@dataclass(frozen=True)
class Exporter:
    """One of them."""

    reference: ast.expr
    """To its class."""
    name: ast.expr
    """The folder below that of all exports."""
    fed: Receiver
    statement: ast.Assign | None
    """What holds it, and goes."""
    latest: bool
    """Whether it exports after each evaluation."""


def exporters_of(project: Project, module: Module, node: ast.expr, call: ast.Call) -> tuple[Exporter, ...] | str:
    """The exporters that an EvalSpec is given by `node`, or why they are not understood; `call` is where it trains."""
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    found: list[Exporter] = []
    for element in elements:
        statement = module.assignment(element)
        if isinstance(element, ast.Name) and (statement is None or not _alone(module, element, statement)):
            return _UNSEEN
        made = statement.value if statement is not None else element
        short = (module.resolve(made.func) or "")[len(PREFIX) :] if isinstance(made, ast.Call) else ""
        if short not in _SIGNATURES or not isinstance(made, ast.Call):
            return _UNSEEN
        try:
            given = {n: v for n, v in bind(made, _SIGNATURES[short], short).items() if not is_none(v)}
        except Unsupported as problem:
            return problem.reason
        given.pop("exports_to_keep", None)  # of those that are made here
        if set(given) != {"name", "serving_input_receiver_fn"} or not isinstance(given["name"], ast.Constant):
            return _UNSEEN
        fed = receiver_of(project, module, given["serving_input_receiver_fn"], call)
        if isinstance(fed, str):
            return fed
        found.append(Exporter(made.func, given["name"], fed, statement, short == "LatestExporter"))
    return tuple(found)


def _alone(module: Module, name: ast.Name, statement: ast.Assign) -> bool:
    """Whether a name is read here alone, and its statement may go."""
    return module.loads_of(name.id, module.scope(name).lookup(name.id)) == [name] and has_its_line(module, statement)
