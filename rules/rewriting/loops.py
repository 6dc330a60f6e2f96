"""How a program trains: whether by `fit` alone, and what is written for that."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from dataclasses import replace

from migrator.analyse.function.translate import is_none
from migrator.analyse.results.stepvalues import StepValues, settle_step_values
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from ..bridge.reached import reached
from ..callbacks.callback_classes import OwnHook
from ..callbacks.class_writer import CallbackClass
from ..callbacks.model_hooks import ModelHooks
from ..callbacks.savers import LISTENER, listener_changes
from ..canned.canned_models import canned_models
from ..canned.classes.steps import SLOTS
from ..canned.networks import Network, is_network, network_of, takes_numbers
from ..distribute import tpu
from ..distribute.distribution import speaks_of_tpus, understood_words
from ..distribute.loops import distributed
from ..distribute.trained import SPOKEN, of_network, of_plan
from ..estimator_calls.checkpoint_readers import (
    read_elsewhere,
)
from ..estimator_calls.keras_estimator import MODEL_TO_ESTIMATOR
from ..exports.signatures import Served, Signatures
from ..inputs.preprocessing_columns import ColumnEdits
from ..loop.flow.rates import rates_of_calls
from ..loop.flow.weights import Weights
from ..loop.loop import Loop, NotPlain
from ..loop.plan import loop_of, of_one_device
from ..loop.remarks import ALONE, OF_METRICS, remarks
from ..loop.sources import Kind, kind_of, kind_of_keras
from ..loop.writing.writer import LoopWriter
from ..model_fns.model_fns import (
    ModelFn,
)
from .canned_models import CannedClasses
from .files import FileRewrite


class LoopRewrite(FileRewrite):
    """A rewrite that knows how its program trains."""

    group: list[Module]
    alone: bool
    """Whether nothing but `train_and_evaluate` speaks for several machines."""
    asked: bool
    """Whether the cluster of TF_CONFIG is asked for, whatever the program speaks of."""
    apart: bool
    """Whether a cluster evaluates models amid a training by calls of their own."""
    why_not_plain = ""
    """Why programs whose loop is understood do not train by `fit` itself; empty if they do."""
    _of: dict[int, list[ModelFn]]
    _classes: CannedClasses
    _columns: ColumnEdits

    @property
    def is_spread(self) -> bool:
        """Whether its loop is understood, and that of several devices or machines."""
        return isinstance(self.loop, Loop) and (self.loop.distribution is not None or self.loop.on_tpu)

    @property
    def may_keep_helpers(self) -> bool:
        """Whether a model that cannot be written for such a loop can be for the helpers: it hands out tensors, or is spread."""
        wanted = isinstance(self.loop, Loop) and any(use.wanted for use in self.loop.uses)
        return wanted or self.is_spread

    def _loop(self) -> Loop | NotPlain:
        """How the program trains, if all of it is understood."""
        if self.why_not_plain:
            return NotPlain(self.why_not_plain)
        modules = reached(self.project, self.group, False)
        inside = {module.path: self._spans(module) for module in modules}
        networks = {c.call: network_of(self.project, c, self.features) for c in self.constructions if is_network(c)}
        known = {call: network for call, network in networks.items() if not isinstance(network, str)}
        for network in known.values():
            network.construction.arguments.update(network.settings)
        written = dict(self._kinds())
        kinds = {**written, **{call: _kind_of(network) for call, network in networks.items()}}
        keras = [c for c in self.constructions if c.name == MODEL_TO_ESTIMATOR]
        kinds.update((construction.call, kind_of_keras(self.project, construction)) for construction in keras)
        loop = loop_of(self.project, modules, self.constructions, kinds, self.estimators, inside)
        if not isinstance(loop, Loop):
            return loop
        if not loop.first.starts and read_elsewhere(self.project, self.group):
            return NotPlain("another program begins with its checkpoints")
        if keras and self.distributed and not self.alone:
            return NotPlain(SPOKEN)
        if self.features == "columns" and len(known) == len(self.constructions) and takes_numbers(known, modules):
            self._columns.numbers = True
            known = {call: replace(network, numbers=True) for call, network in known.items()}
        models = canned_models(known, loop)
        if isinstance(models, str):
            return NotPlain(models)
        self._classes = CannedClasses(self.project, models)
        for module in self.group if networks else ():
            self._driver(module).early_strategy = ""
        reason = of_one_device(loop, {*written, *known}) if self.alone or not self.distributed else ""
        if reason or not self.distributed:
            return NotPlain(reason) if reason else loop
        if self.alone:
            self._driver(loop.first.module).remark(loop.first.construction.call, ALONE)
        else:
            trained = [of_plan(model.plan) for model in self.model_fns.values() if model.plan is not None]
            trained += [of_network(network) for network in known.values()]
            on_tpu = any(construction.tpu for construction in self.constructions)
            words = understood_words(self.project.modules.values(), on_tpu, loop.tasks)
            before = self.drafts.originals
            alone = speaks_of_tpus(before) and not self.asked and understood_words(before, on_tpu) == frozenset()
            if words != frozenset() or not alone:
                loop = distributed(loop, trained, words, self.asked, self.apart)
        if isinstance(loop, Loop):
            self.several = False
        if isinstance(loop, Loop) and loop.distribution is not None:  # in which Keras 3 restores nothing
            models = canned_models(known, loop)
            assert not isinstance(models, str)
            self._classes = CannedClasses(self.project, models)
        return loop

    def _kinds(self) -> Iterator[tuple[ast.Call, Kind]]:
        """What is known of the models that Estimators become, by the calls that make these."""
        for construction in self.constructions:
            plans = [model.plan for model in self._of.get(id(construction.call), []) if model.plan is not None]
            if plans:
                yield construction.call, kind_of(plans)

    def _drop_idle_parameters(self) -> None:
        """Let models go without `params` that they do not read, where the program gives none."""
        for construction in self.constructions:
            models = self._of.get(id(construction.call), [])
            by_name = isinstance(construction.arguments.get("model_fn"), (ast.Name, ast.Attribute))
            if len(models) > 1 or not by_name or not is_none(construction.arguments.get("params")):
                continue
            for plan in (model.plan for model in models if model.plan is not None):
                if not any(isinstance(node, ast.Name) and node.id == "params" for node in walk(plan.function)):
                    plan.statics = [name for name in plan.statics if name != "params"]

    def _settle_loop(self, loop: Loop) -> None:
        """What is taken over from a loop that is understood: names of the library that it handles among it."""
        shown = all(source.hooks.values.shown for source in loop.sources)
        for plan in (model.plan for model in self.model_fns.values() if model.plan is not None):
            for summary in settle_step_values(plan, loop.wanted(plan), shown):
                if any(use.saves for use in loop.uses):
                    self._driver(plan.module).remark(summary, OF_METRICS)
        for hooks in loop.own_hooks.values():
            self._callback_class(hooks)
        for module, definition in loop.listeners:
            driver = self._driver(module)
            base = self._helpers[module.path].need(LISTENER, definition)
            driver.change(*listener_changes(module, definition, base))
        for source in loop.sources:
            driver = self._driver(source.module)
            driver.handled.update([*source.settings.calls, *source.settings.tasks])
            for value in source.settings.tpu.dropped:
                tpu.drop_names(source.module, driver, value)
        for use in loop.uses:
            self._driver(use.module).handled.update(use.names)
        for array in loop.arrays:
            self._driver(array.module).handled.add(array.call.func)
        for module, fed in loop.fed:
            placeholders = (node for call in fed.placeholders for node in walk(call))
            self._driver(module).handled.update([*fed.names, *placeholders])

    def _tell_loop(self, loop: Loop) -> None:
        """What a loop, and the models that take the places of canned Estimators, leave to say."""
        for module, node, text in (*remarks(loop), *self._classes.remarks()):
            self._driver(module).remark(node, text)

    def _compiled(self, module: Module, renderer: Renderer, loop: Loop) -> dict[ast.Call, Callable[[str], str]]:
        """What writes the statements that compile models which are made in a file, by the calls that make them."""
        return self._classes.compiled(module, renderer, loop.together)

    def _callback_class(self, hooks: list[OwnHook]) -> None:
        """Let the class of hooks become one of callbacks."""
        module = hooks[0].hook.module
        driver = self._driver(module)
        evaluates = any(own.evaluated for own in hooks)
        trains = any(not own.evaluated for own in hooks)
        written = CallbackClass(hooks[0], driver.tensorflow(), trains, evaluates)
        driver.handled.update(written.references)
        driver.spell(written.kept)
        driver.change(*written.changes())

    def _write_loop(self, loop: Loop) -> None:
        """The edits of a loop that is understood. Those of names in it are part of them."""
        for module in loop.modules:
            self.at = module
            driver, helpers = self._driver(module), self._helpers[module.path]
            made = [module.span(source.construction.call) for source in loop.sources if source.module is module]
            within = {e for e in driver.edits if any(start < e.start == e.end < end for start, end in made)}
            inner = list(dict.fromkeys(e for e in driver.edits if e.start < e.end or e in within))
            changed = Spans((e.start, e.end) for e in inner)
            base = [e for e in self._base_edits(module) if not changed.touch((e.start, e.end))]
            arguments = self._classes.argument_edits(module)
            whole = arguments if loop.distribution is not None else []  # calls that are written as wholes
            renderer = Renderer(module, [*base, *inner, *whole])
            compiled = self._compiled(module, renderer, loop)
            first = next((s.construction.call for s in loop.sources if s.module is module), None)
            need = functools.partial(helpers.need, at=first)
            written = list(LoopWriter(loop, module, renderer, helpers.tensorflow(), compiled, need).edits())
            gone = [s.settings.statement for s in loop.sources if s.settings.statement is not None]
            written += [*self._classes.edits(module, gone), *([] if whole else arguments)]
            replaced = Spans((e.start, e.end) for e in written if e.start < e.end)
            driver.edits = [
                e for e in driver.edits if (e.start == e.end and e not in within) or not replaced.hold((e.start, e.end))
            ] + written


def _kind_of(network: Network | str) -> Kind:
    """What is to be known of the model of a canned Estimator; a text says why it is none."""
    if isinstance(network, str):
        return Kind(refused=network)
    head = network.head.call
    names = frozenset[ast.AST]() if head is None else frozenset[ast.AST]({head.func})
    signatures = Signatures((Served('"predict"'),), of_head=True, by_text=network.head.by_text, takes_dicts=True)
    hooks = ModelHooks(StepValues(keys=frozenset(network.evaluated)))
    first = network.construction.dialect == "v1"  # those of TensorFlow 2 may be classes of Keras 2 alone
    weights = Weights(labelled=True, stepped=first)
    weights = replace(weights, slots=SLOTS) if network.combined else weights
    known = network.variables
    rates = rates_of_calls(network.construction.module, network.optimizers)
    return Kind(
        compiled=True,
        signatures=signatures,
        hooks=hooks,
        variables=known,
        names=names,
        weights=weights,
        rates=rates,
        partitioner=network.partitioner,
    )
