"""The bridge: a program whose model_fn native cannot hold keeps it, as a TF1 graph inside a Keras model.

The model_fn and its helpers change in names only: what TensorFlow 2 lacks becomes `tf.compat.v1.X`. All else of the
program, such as input, training loop and configuration, moves as in any other program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.emit.render import Renderer
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.reasons import reason_at
from migrator.resolve.text import spans_of
from migrator.vocabulary.diagnostics import Edit, ProgramUnit

from ..distribute import tpu
from ..distribute.strategies import trains_on_tpu
from ..estimator_calls import warm_starts
from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import ESTIMATOR, Construction
from ..hooks.prediction_hooks import predicts_with_hooks
from ..hooks.watched_heads import settle_watched
from ..inputs.symbolic_inputs import functions_of_specs, refuse_symbolic_inputs
from ..loop.loop import Loop, NotPlain
from ..loop.plan import loop_of, of_one_device
from ..loop.remarks import ALONE
from ..model_fns.model_fns import model_fn_behind, refuse_unseen_module
from ..rewriting.helpers import Helpers
from ..rewriting.rewrite import ProgramRewrite
from ..symbols.compat_v1 import SWITCHES
from . import graph_loops
from .graph_code import GraphCode
from .reached import reached
from .skipped_steps import skipped_steps

_ELSEWHERE = ("config", "model_dir", "warm_start_from")
"""Arguments of an Estimator that the model around its model_fn has no use for, where `fit` trains it."""


class BridgeRewrite(ProgramRewrite):
    """A rewrite that keeps the model_fns; `reasons` say what stands in the way of the native tier, and where."""

    keeps_graphs = True

    def __init__(
        self,
        drafts: Drafts,
        group: list[Module],
        constructions: list[Construction],
        reasons: list[str],
        several: bool | None = True,
        alone: bool = False,
    ) -> None:
        super().__init__(drafts, group, constructions, several=several, alone=alone)
        self.reasons = reasons

    @property
    def first(self) -> Construction:
        """The first Estimator that has a model_fn."""
        return next(c for c in self.constructions if c.name == ESTIMATOR)

    def class_names(self) -> list[str]:
        """The one class that runs all model_fns, and the functions that make other models."""
        return ["a GraphModel around its model_fn", *super().class_names()]

    def units(self) -> Iterator[ProgramUnit]:
        """One unit for each Estimator."""
        yield from super().units()
        files = tuple(sorted(self._drivers))
        for construction in self.constructions:
            if construction.name != ESTIMATOR:
                continue
            node = construction.arguments["model_fn"]
            location = construction.module.location(construction.call)
            reason, others = self.reasons[0], tuple(self.reasons[1:])
            name, why = construction.module.segment(node), self.why_helpers
            yield ProgramUnit(name, location, "bridge", reason, files, others=others, helpers=why)

    def _rewrite(self) -> None:
        obstacles = self.obstacles
        for construction in self.constructions:
            self.at = construction.module
            if construction.name != ESTIMATOR:
                continue
            with obstacles:
                if "model_fn" not in construction.arguments:
                    raise Unsupported("the arguments of Estimator are not seen", construction.call)
                refuse_unseen_module(construction.module, construction.arguments["model_fn"])
                if (at := trains_on_tpu(self.project.modules.values())) is not None:
                    raise Unsupported("a model_fn that stays a graph does not train on TPUs", at)
        self.loop, model = self._loop(), graph_loops.model_of(self.project, self._reached())
        for construction in self.constructions:
            self.at = construction.module
            if construction.name != ESTIMATOR or "model_fn" not in construction.arguments:  # which is told above
                continue
            with obstacles:
                driver = self._driver(construction.module)
                if isinstance(self.loop, Loop):
                    driver.graph_model(construction.call, construction.arguments, model, _ELSEWHERE)
                elif self._skipped is not None:
                    self._skipping(driver, construction)
                elif construction.tpu:
                    tpu.construction(driver, construction.call, construction.arguments)
                else:
                    warm_starts.graph_model(driver, construction.call, construction.arguments)
        obstacles.refuse()
        if isinstance(self.loop, Loop):
            self._settle_loop(self.loop)
            self._tell_loop(self.loop)
        else:
            self._methods()
        reached = self._reached()
        with obstacles:
            refuse_symbolic_inputs(functions_of_specs(reached))
        beside = [c for c in self.constructions if c.name != ESTIMATOR]
        with obstacles:
            self._others.rewrite_beside(beside, reached)
        for construction in beside:
            self._driver(construction.module).handled.add(construction.call.func)
        for module in reached:
            self.at = module
            driver = self._driver(module)
            with obstacles:
                self._code(module).specs()
            driver.plain = isinstance(self.loop, Loop)
            self._module(module)
        if isinstance(self.loop, Loop):
            self._write_loop(self.loop)
        for module in reached:
            self.at = module
            self._edits[module.path] = self._finished(module, self._driver(module), self._helpers[module.path])
        obstacles.refuse()
        settle_watched(self._drivers.values(), [], [], self._driver)

    @cached_property
    def _skipped(self) -> tuple[Module, ast.Call] | None:
        """A train op that counts the step with some batches only."""
        return skipped_steps(self.project, self._reached())

    def _skipping(self, driver: Driver, construction: Construction) -> None:
        """A model that trains until its steps are done, however many batches that takes."""
        assert self._skipped is not None
        warm = not is_none(construction.arguments.get("warm_start_from"))
        if construction.tpu or warm or self.distributed:
            what = "on a TPU" if construction.tpu else "from a checkpoint" if warm else "on several devices or machines"
            raise Unsupported(
                f"the global step counts some of the batches only, in a training {what}", self._skipped[1]
            )
        driver.graph_model(construction.call, construction.arguments, "skipping_graph_model", ("warm_start_from",))

    def _loop(self) -> Loop | NotPlain:
        """How the program trains, if nothing in it asks for the sessions of its graphs."""
        for other in (each for each in self.constructions if each.name != ESTIMATOR or each.tpu):
            name = ast.unparse(other.call.func)
            return NotPlain(reason_at(f"it makes a {name}", other.module, other.call.func))
        if self._skipped is not None:
            if self.alone and self.distributed:
                self._train_alone(self.first)
            return NotPlain(reason_at("the global step counts some of the batches only", *self._skipped))
        if self.distributed and not self.alone:
            return NotPlain("it may train on several devices or machines")
        modules = self._reached()
        kind = graph_loops.kind_of_graphs(modules, self._is_hooked)
        kinds = {construction.call: kind for construction in self.constructions}
        loop = loop_of(self.project, modules, self.constructions, kinds, self.estimators, {})
        if not isinstance(loop, Loop):
            return loop
        reason = graph_loops.why_not(loop, modules, self._is_hooked) or (of_one_device(loop) if self.alone else "")
        if reason:
            return NotPlain(reason)
        if self.alone and self.distributed:
            self._train_alone(loop.first.construction)
        return loop

    def _train_alone(self, made: Construction) -> None:
        """Has the program train on the device of one machine, which it says nothing against."""
        self._driver(made.module).remark(made.call, ALONE)
        self.several = False

    def _compiled(self, module: Module, renderer: Renderer, loop: Loop) -> dict[ast.Call, Callable[[str], str]]:
        calls = (construction.call for construction in self.constructions if construction.module is module)
        return dict.fromkeys(calls, graph_loops.compiled(1 if self._is_hooked else loop.together))

    @property
    def _is_hooked(self) -> bool:
        """Whether hooks are called around steps."""
        return graph_loops.model_of(self.project, self._reached()) != graph_loops.MODEL

    def _driver(self, module: Module) -> Driver:
        driver = super()._driver(module)
        if not driver.graph and self._predicts_with_hooks:
            driver.readers = {**driver.readers, "predict": "predict_with_hooks"}
        driver.graph = True
        return driver

    @cached_property
    def _predicts_with_hooks(self) -> bool:
        return predicts_with_hooks(self.project)

    def _reached(self) -> list[Module]:
        """The modules of the program, with those of a model_fn that its Estimator gets from elsewhere."""
        start = [*self.group, *(self.project.modules[path] for path in self._drivers)]
        own = [c for c in self.constructions if c.name == ESTIMATOR and "model_fn" in c.arguments]
        handed = any(model_fn_behind(self.project, c.module, c.arguments["model_fn"]) is None for c in own)
        return reached(self.project, start, handed)

    def _base_edits(self, module: Module) -> list[Edit]:
        return [edit for fix in self._code(module).fixes() for edit in fix.edits]

    def _code(self, module: Module) -> GraphCode:
        return GraphCode(self.project, self._driver(module), self.obstacles)

    def _finished(self, module: Module, driver: Driver, helpers: Helpers) -> list[Edit]:
        switches = [node for node, name in module.references() if name[len("tensorflow.") :] in SWITCHES]
        own = dict.fromkeys([*driver.edits, *(module.delete_statement(module.statement(node)) for node in switches)])
        taken = spans_of(own)
        code = self._code(module)
        for fix in code.fixes():
            if not any(taken.touch((edit.start, edit.end)) for edit in fix.edits):
                for edit in fix.edits:
                    own[edit] = None
                    taken.add((edit.start, edit.end))
        return [*own, *code.left(taken), *module.cst.apply(helpers.imports())]
