"""Programs some of whose model_fns become layers, while others stay graphs: each Estimator moves by itself where it can."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cached_property

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_empty
from migrator.normalise.draft.draft import Drafts, Origin
from migrator.resolve.module import Module
from migrator.resolve.text import Spans, spans_of, within
from migrator.vocabulary.diagnostics import Edit, ProgramUnit

from ..bridge.graph_code import GraphCode
from ..distribute.strategies import trains_on_tpu
from ..estimator_calls import warm_starts
from ..estimator_calls.driver import METHODS, SPECS, Driver
from ..estimator_calls.estimator_values import ESTIMATOR, PREFIX, Construction
from ..estimator_calls.variable_readers import OF_GRAPHS
from ..hooks.prediction_hooks import predicts_with_hooks
from ..inputs.symbolic_inputs import refuse_symbolic_inputs
from ..model_fns.model_fns import whole_span
from ..rewriting.rewrite import ProgramRewrite
from .named_code import NamedCode, Place
from .settled import estimator_values

Reasons = Mapping[int, list[str]]
"""Why model_fns stay graphs, by the number of their Estimator in the program."""


class MixedRewrite(ProgramRewrite):
    """A rewrite that keeps the model_fns of the Estimators in `kept`, for the reasons given."""

    why_not_plain = "some of its model_fns stay graphs"

    def __init__(
        self,
        drafts: Drafts,
        group: list[Module],
        constructions: list[Construction],
        features: str,
        kept: Reasons,
        several: bool | None,
        chosen: Mapping[str, bool],
    ) -> None:
        super().__init__(drafts, group, constructions, features, several, chosen)
        self._kept = {constructions[number]: found for number, found in kept.items()}
        self.reasons = list(dict.fromkeys(reason for found in kept.values() for reason in found))
        self._graph_edits: dict[str, list[Edit]] = {}

    def class_names(self) -> list[str]:
        """The generated classes, and the one that runs the other model_fns."""
        named = (f"a GraphModel around `{c.module.segment(c.arguments['model_fn'])}`" for c in self._kept)
        return [*super().class_names(), *dict.fromkeys(named)]

    def units(self) -> Iterable[ProgramUnit]:  # type: ignore[override]
        """Those of the model_fns that become layers, and one for each Estimator whose model_fn stays."""
        yield from super().units()
        files = tuple(sorted({module.path for module, _ in self._graph_places} | {c.module.path for c in self._kept}))
        for construction, (reason, *others) in self._kept.items():
            name = construction.module.segment(construction.arguments["model_fn"])
            location = self.drafts.location(construction.module, construction.call)
            yield ProgramUnit(name, location, "bridge", reason, files, others=tuple(others), helpers=self.why_helpers)

    # -- work ---------------------------------------------------------------------------------------------------------

    def _rewrite(self) -> None:
        self._check_possible()
        super()._rewrite()
        self._check_apart()

    def _becomes_layers(self, construction: Construction) -> bool:
        return super()._becomes_layers(construction) and construction not in self._kept

    def _construct(self, construction: Construction) -> None:
        if construction in self._kept:
            warm_starts.graph_model(self._driver(construction.module), construction.call, construction.arguments)
        else:
            super()._construct(construction)

    def _modules(self) -> list[Module]:
        paths = {module.path for module in super()._modules()} | {module.path for module, _ in self._graph_places}
        return [self.project.modules[path] for path in sorted(paths)]

    def _module(self, module: Module) -> None:
        """Names of TensorFlow 1 in what runs in a graph stay, as members of ``tf.compat.v1``."""
        driver = self._driver(module)
        code = GraphCode(self.project, driver, self.obstacles, self._graph_spans(module))
        before = len(driver.edits)
        with self.obstacles:
            code.specs()
        own = driver.edits[before:]
        super()._module(module)
        before = len(driver.edits)
        driver.edits += [edit for fix in code.objects() for edit in fix.edits]
        driver.edits += code.left(spans_of([*driver.edits, *(edit for fix in code.fixes() for edit in fix.edits)]))
        self._graph_edits[module.path] = [*own, *driver.edits[before:]]

    def _method(self, driver: Driver, node: ast.expr, attribute: ast.Attribute, text: str) -> None:
        graph, layers = node in self._graph_reads, node in self._layer_reads
        call = driver.module.parent(attribute)
        if graph and isinstance(call, ast.Call) and call.func is attribute and attribute.attr in METHODS:
            given = bind(call, METHODS[attribute.attr], f"Estimator.{attribute.attr}")
            if not is_empty(given.get("hooks")):
                raise Unsupported("hooks of one of several Estimators are not migrated yet", given["hooks"])
        readers = driver.readers
        if graph and not layers:
            driver.readers = OF_GRAPHS
        super()._method(driver, node, attribute, text)
        driver.readers = readers

    # -- what runs in a graph -----------------------------------------------------------------------------------------

    @cached_property
    def _graph_places(self) -> list[Place]:
        """The model_fns that stay, with all that they name."""
        return [place for construction in self._kept for place in named_by(self.drafts, construction)]

    def _graph_spans(self, module: Module) -> Spans:
        return Spans(whole_span(module, node) for other, node in self._graph_places if other is module)

    @cached_property
    def _graph_reads(self) -> set[ast.expr]:
        """Where an Estimator is read whose model_fn stays."""
        return {node for _, node in estimator_values(self.project, list(self._kept)).reads}

    @cached_property
    def _layer_reads(self) -> set[ast.expr]:
        others = [construction for construction in self.constructions if construction not in self._kept]
        return {node for _, node in estimator_values(self.project, others).reads}

    # -- what stands in the way ---------------------------------------------------------------------------------------

    def _check_possible(self) -> None:
        """Refuse what the two kinds of models take in ways of their own. Raises Unsupported."""
        modules = list(self.project.modules.values())
        if any(c.name != ESTIMATOR or c.tpu for c in self.constructions) or predicts_with_hooks(self.project):
            raise Unsupported("Estimators of several kinds do not move one by one")
        if (at := trains_on_tpu(modules)) is not None:
            raise Unsupported("a model_fn that stays a graph does not train on TPUs", at)
        for module in self._modules():
            for node, name in module.references():
                call = module.parent(node)
                short = name[len(PREFIX) :]
                if name.startswith(PREFIX) and short in SPECS and isinstance(call, ast.Call) and call.func is node:
                    hooks = bind(call, SPECS[short], short).get("hooks")
                    if not is_empty(hooks):
                        raise Unsupported("hooks of one of several Estimators are not migrated yet", hooks)
        refuse_symbolic_inputs(self._graph_places)

    def _check_apart(self) -> None:
        """Refuse functions that would be one thing for layers, and another one for a graph. Raises Unsupported."""
        staying = {node for _, node in self._graph_places}
        code = NamedCode(self.project)
        for definition in (*self.model_fns, *self.sublayers.found, *self.sublayers.outside()):
            if definition.node in staying:
                self.at = definition.module
                raise Unsupported(
                    f"`{definition.name}` becomes layers, and belongs to a model_fn that stays a graph", definition.node
                )
            code.follow(definition.module, definition.node)
        for module, node in code.places():
            edits = self._graph_edits.get(module.path, ()) if node in staying else ()
            if any(within((edit.start, edit.end), [whole_span(module, node)]) for edit in edits):
                self.at = module
                raise Unsupported("a function of graphs is called by a model of layers as well", node)


def named_by(drafts: Drafts, construction: Construction) -> list[Place]:
    """The code that the model_fn of an Estimator is, and that it names, with what else it starts from."""
    code = NamedCode(drafts.project)
    for name in ("model_fn", "warm_start_from"):
        node = construction.arguments.get(name)
        if node is not None:
            code.follow(construction.module, node)
    return list(code.places())


class Blame:
    """Which Estimators of a program are concerned by what stands in the way of it."""

    def __init__(self, drafts: Drafts, constructions: list[Construction]) -> None:
        self._lines = [_lines(drafts, c) if c.name == ESTIMATOR else set() for c in constructions]
        self._exclude_shared(drafts, constructions)

    def _exclude_shared(self, drafts: Drafts, constructions: list[Construction]) -> None:
        """Let an Estimator answer for the calls of its methods that no other one shares."""
        reads = [{(m, n) for m, n in estimator_values(drafts.project, [c]).reads} for c in constructions]
        for number, own in enumerate(reads):
            others = set().union(*(found for other, found in enumerate(reads) if other != number))
            for module, node in own - others:
                parent = module.parent(node)
                if isinstance(parent, ast.Attribute):
                    self._lines[number].add(drafts.origin(module, parent.end_lineno or parent.lineno))

    def of(self, rewrite: ProgramRewrite, problem: Unsupported) -> set[int]:
        """The numbers of the Estimators whose model_fn an obstacle lies in."""
        node = problem.node
        module = next((m for m in rewrite.project.modules.values() if node is not None and _holds(m, node)), None)
        if module is None or node is None or not hasattr(node, "lineno"):
            return set()
        origin = rewrite.drafts.origin(module, node.lineno)
        return {number for number, lines in enumerate(self._lines) if origin in lines}


def _holds(module: Module, node: ast.AST) -> bool:
    return module.parent(node) is not None


def _lines(drafts: Drafts, construction: Construction) -> set[Origin]:
    found: set[Origin] = set()
    for module, node in named_by(drafts, construction):
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
        found |= {drafts.origin(module, line) for line in range(first, (last or first) + 1)}
    return found
