"""Canned Estimators of a loop that is understood: classes of the program take their places."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from typing import TYPE_CHECKING

from migrator.emit.polishing.polish import polished
from migrator.emit.render import Renderer
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Change, Insert, Remove, Replace, code, definitions, with_arguments
from migrator.vocabulary.diagnostics import Edit

from ..canned.canned import CANNED, arguments_of, told_dialect
from ..canned.canned_models import CannedModel
from ..canned.canned_optimizers import OptimizerArguments
from ..canned.classes.writer import NetworkWriter
from ..canned.networks import Network
from ..estimator_calls.estimator_values import Construction
from ..model_fns.subjects import words_about

if TYPE_CHECKING:
    import libcst as cst_nodes

_KIND = {True: "Classifier", False: "Regressor"}


class CannedClass:
    """Writes the class of one canned Estimator, and the call that makes an object of it."""

    def __init__(
        self, model: CannedModel, name: str, optimizers: OptimizerArguments, tf: str, need: Callable[[str], str]
    ) -> None:
        self.model, self.network, self.name = model, model.network, name
        self.module, self.call = self.network.construction.module, self.network.construction.call
        self.optimizers, self.tf = optimizers, tf
        told = model.metrics, model.predictions, tf, model.classifies, model.mixed, model.named, model.uncounted
        self.writer = NetworkWriter(self.network, name, *told, model.built, model.listed, need)

    def call_edits(self) -> list[Edit]:
        """The edits of the call's name, and of what gives it optimizers. Raises Unsupported."""
        network = self.network
        edits = self.module.cst.apply([Replace(self.call.func, self.name)])
        for name, _, rate in self._optimizers():
            if name in network.given:
                what = f"`{name}` of {network.short}"
                edits += self.optimizers.edits(self.module, network.given[name], what, rate, self._part(name))
        return edits

    def _optimizers(self) -> Iterator[tuple[str, str, float | None]]:
        """Its arguments for optimizers, with the default and the rate of one that is given by name."""
        second = self.network.construction.dialect == "v2"
        for name, default, rate_1, rate_2 in CANNED[self.network.construction.name].optimizers:
            yield name, default, rate_2 if second else rate_1

    def _part(self, name: str) -> str:
        if self.network.kind == "Baseline":
            return "baseline"
        return "linear" if name.startswith("linear") or self.network.kind == "Linear" else "dnn"

    def _optimizer(self, name: str, default: str, rate: float | None, renderer: Renderer) -> str:
        """The expression that makes an optimizer."""
        value = self.network.given.get(name)
        if value is None:
            return self.optimizers.by_name(default, rate, self._part(name))
        node = value.body if isinstance(value, ast.Lambda) else value
        text = renderer.expression(node, lambda part: None)
        return f"{text}()" if node is value and self.optimizers.is_function(self.module, value) else text

    def compiled(self, renderer: Renderer, together: int) -> Callable[[str], str]:
        """What writes the statement that compiles a model."""

        def write(model: str) -> str:
            made = {name: self._optimizer(name, default, rate, renderer) for name, default, rate in self._optimizers()}
            made = {"optimizer": made.pop("dnn_optimizer"), **made} if "dnn_optimizer" in made else made
            return self.writer.compiled(model, made, together)

        return write

    def remark(self) -> str:
        """Which defaults it took, if any."""
        construction, said = self.network.construction, []
        for name, default, rate in self._optimizers():
            if name not in self.network.given:
                said.append(f"{default} at {self.optimizers.rate_of(default, rate)}")
        if "loss_reduction" not in self.network.given and self.network.head.call is None:
            summed = self.network.head.summed
            said.append("losses summed over the batch" if summed else "losses averaged over the batch")
        return told_dialect(construction, said) if said else ""

    def argument_changes(self) -> Iterator[Change]:
        """What takes arguments from the call which go to other places, and gives it those of its head."""
        construction, kept = self.network.construction, self.network.parameters
        given = arguments_of(self.call, construction.name, construction.dialect)
        names = {id(value): name for name, value in given.items()}
        values = [(a, a.value if isinstance(a, ast.keyword) else a) for a in arguments(self.call)]
        doomed = [at for at, (_, value) in enumerate(values) if names[id(value)] not in (*kept, "head")]
        cst, told = self.module.cst, {name: self._told(name) for name in kept if name not in given}
        spread: dict[int, dict[str, cst_nodes.BaseExpression]] = {}
        added: dict[str, cst_nodes.BaseExpression] = {}
        changed: dict[int, cst_nodes.BaseExpression] = {}
        for at, (argument, value) in enumerate(values):
            if names[id(value)] == "weight_column" and self.network.weights:
                changed[at] = code(self.network.weights)
            elif names[id(value)] == "head" and isinstance(argument, ast.keyword):
                spread[at] = told
            elif names[id(value)] == "head":
                doomed.append(at)
                added = told
        if doomed or spread or changed:
            call = with_arguments(cst.call(self.call), drop=doomed, spread=spread, add=added, values=changed)
            yield Replace(self.call, call)

    def _told(self, name: str) -> cst_nodes.BaseExpression:
        """An argument that its head had."""
        if name == "weight_column" and self.network.weights:
            return code(self.network.weights)
        return code(self.module.segment(self.network.given[name]))


class CannedClasses:
    """The classes of all canned Estimators of a program."""

    def __init__(self, project: Project, models: Mapping[ast.Call, CannedModel]) -> None:
        self.project, self.models = project, models
        self.made: dict[ast.Call, CannedClass] = {}

    def add(
        self, construction: Construction, optimizers: OptimizerArguments, tf: str, need: Callable[[str], str]
    ) -> CannedClass:
        """The class of one Estimator; those that would say the same are one. `need` says how its file calls a helper."""
        model, module = self.models[construction.call], construction.module
        beside = [other for other in self.made.values() if other.module is module]
        for other in beside:
            again = CannedClass(model, other.name, optimizers, tf, need)
            if again.writer.lines() == other.writer.lines():
                return self.made.setdefault(construction.call, again)
        name = _class_name(self.project, model.network, {other.name for other in beside})
        return self.made.setdefault(construction.call, CannedClass(model, name, optimizers, tf, need))

    def compiled(self, module: Module, renderer: Renderer, together: int) -> dict[ast.Call, Callable[[str], str]]:
        """What writes the statements that compile the models of a file."""
        return {call: each.compiled(renderer, together) for call, each in self.made.items() if each.module is module}

    def edits(self, module: Module, gone: Collection[ast.stmt]) -> list[Edit]:
        """The edits that write the classes of a file; statements that are `gone` go with them."""
        made = [each for each in self.made.values() if each.module is module]
        if not made:
            return []
        heads = [each.network.head.statement for each in made if each.network.head.statement is not None]
        before = _outermost(module, made[0].call, [*heads, *gone])
        new = Insert(definitions(self.text(module)), before=before, above=True, apart=True)
        return module.cst.apply([new, *map(Remove, heads)])

    def argument_edits(self, module: Module) -> list[Edit]:
        """The edits that take arguments from the calls of a file."""
        made = (each for each in self.made.values() if each.module is module)
        return module.cst.apply(change for each in made for change in each.argument_changes())

    def text(self, module: Module) -> str:
        """The classes of a file."""
        parts = [part for each in self.made.values() if each.module is module for part in each.writer.parts()]
        return polished("\n\n\n".join(dict.fromkeys(parts)), module, {})

    def texts(self) -> list[str]:
        """All that is written for it."""
        parts = [part for each in self.made.values() for part in each.writer.parts()]
        return [*parts, *(each.writer.compiled("", {}, 1) for each in self.made.values())]

    def remarks(self) -> Iterator[tuple[Module, ast.AST, str]]:
        """What the owner of a program should know of them."""
        for each in self.made.values():
            gone = ", ".join(each.model.gone)
            text = (
                f"of what an Estimator reports, the model leaves out {gone}, which Keras does not have" if gone else ""
            )
            yield from ((each.module, each.call, said) for said in (each.remark(), text) if said)


def _outermost(module: Module, node: ast.expr, gone: Collection[ast.stmt]) -> ast.stmt:
    """The function, or the statement of a file, that a node is in; the first of statements that are `gone` right above it, so
    that no blank lines are left of these."""
    outer = module.statement(node)
    for above in module.ancestors(outer):
        outer = above if isinstance(above, ast.stmt) else outer
    body = module.tree.body
    while (at := body.index(outer)) and body[at - 1] in gone:
        outer = body[at - 1]
    return outer


def _class_name(project: Project, network: Network, reserved: Set[str]) -> str:
    """``IrisClassifier``, after what the program is about, or ``LinearClassifier``."""
    module, kind = network.construction.module, _KIND[network.head.classifies]
    words = [word[:1].upper() + word[1:] for word in words_about(project, network.construction)]
    if words and words[-1].lower() in ("classifier", "regressor", "model"):
        words.pop()
    taken = module.bound_names | reserved
    short = f"{network.kind}{kind}"
    wanted = [f"{''.join(words)}{kind}", f"{''.join(words)}{short}"] if words else []
    wanted += [short, f"Keras{short}"]
    name = next((name for name in wanted if name not in taken), "")
    number = 2
    while not name:
        name, number = (f"{short}{number}" if f"{short}{number}" not in taken else ""), number + 1
    return name
