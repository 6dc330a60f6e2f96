"""Exporters of an EvalSpec, which write SavedModels after evaluations of a training or at its end."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import read_once

from ..callbacks.elements import Element, elements_of
from ..estimator_calls.estimator_values import PREFIX
from ..estimator_calls.exporters import EXPORTERS
from ..loop.places import has_its_line, is_simple, moves
from .comparisons import compares
from .fed_features import Receiver
from .receivers import receiver_of

NAMES = frozenset(PREFIX + name for name in EXPORTERS)
_KEPT = 5
"""How many exports stay where a program does not say."""
_UNSEEN = "`exporters` of its EvalSpec"


@dataclass(frozen=True)
class Exporter:
    """One of them."""

    reference: ast.expr
    """To its class."""
    name: ast.expr
    """The folder below that of all exports."""
    fed: Receiver
    statements: tuple[ast.stmt, ...]
    """What holds it, and goes."""
    kind: str
    """What its class is called."""
    keep: int | None
    """How many exports stay in its folder; None: all."""
    keeps: bool
    """Whether the program says that."""
    compare: ast.expr | None
    """The function of the program that compares evaluations."""

    @property
    def final(self) -> bool:
        """Whether it exports at the end of a training alone."""
        return self.kind == "FinalExporter"


def exporters_of(project: Project, module: Module, node: ast.expr, call: ast.Call) -> tuple[Exporter, ...] | str:
    """The exporters that an EvalSpec is given by `node`, or why they are not understood; `call` is where it trains."""
    held: list[ast.stmt] = []
    one = module.assignment(node)
    listed = isinstance(node, (ast.List, ast.Tuple)) or isinstance(getattr(one, "value", None), (ast.List, ast.Tuple))
    elements = elements_of(module, node, held) if listed else [Element(node)]
    if any(element.condition is not None for element in elements or ()):
        return _UNSEEN
    found: list[Exporter] = []
    for element in (each.node for each in elements or ()):
        statements: list[ast.stmt] = [] if found else held
        statement = read_once(module, element) if isinstance(element, ast.Name) else None
        if isinstance(element, ast.Name) and (statement is None or not has_its_line(module, statement)):
            return _UNSEEN
        made = statement.value if statement is not None else element
        exporter = _exporter(project, module, made, call)
        if isinstance(exporter, str):
            return exporter
        statements = [*statements, *([statement] if statement is not None else [])]
        parts = [exporter.name] if exporter.compare is None else [exporter.name, exporter.compare]
        parts += [exporter.fed.given] if exporter.fed.maker is not None else []
        above = all(module.span(each) < module.span(call) for each in statements)
        if not above or not all(moves(module, each, call, parts) for each in statements):
            return _UNSEEN
        found.append(replace(exporter, statements=tuple(statements)))
    return tuple(found) or _UNSEEN


def _exporter(project: Project, module: Module, made: ast.expr, call: ast.Call) -> Exporter | str:
    """The exporter that a call makes."""
    short = (module.resolve(made.func) or "")[len(PREFIX) :] if isinstance(made, ast.Call) else ""
    if short not in EXPORTERS or not isinstance(made, ast.Call):
        return _UNSEEN
    try:
        told = bind(made, EXPORTERS[short], short)
    except Unsupported as problem:
        return problem.reason
    keep = told.pop("exports_to_keep", None)
    told.pop("event_file_pattern", None)  # the first evaluation of a run counts as its best one, whatever it says
    if isinstance(told.get("as_text"), ast.Constant):  # how the file is written, which TensorFlow 2 does not ask
        del told["as_text"]
    given = {name: value for name, value in told.items() if not is_none(value)}
    compare = given.pop("compare_fn", None)
    if short == "BestExporter":
        given.setdefault("name", ast.copy_location(ast.Constant("best_exporter"), made))
    if set(given) != {"name", "serving_input_receiver_fn"} or not is_simple(given["name"]):
        return _UNSEEN
    number = keep.value if isinstance(keep, ast.Constant) else _KEPT if keep is None else 0
    if number is not None and (type(number) is not int or number < 1):
        return _UNSEEN
    if compare is not None and not compares(project, module, compare):
        return "how a BestExporter compares evaluations"
    fed = receiver_of(project, module, given["serving_input_receiver_fn"], call)
    if isinstance(fed, str):
        return fed
    kept = None if short == "FinalExporter" else number
    return Exporter(made.func, given["name"], fed, (), short, kept, keep is not None, compare)
