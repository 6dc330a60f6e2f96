"""All edits of one program: the model_fns, and everything that touches the Estimators made of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.planning import make_plan
from migrator.analyse.results.assertions import RUNS, bare_assertions
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.rewrite import Rename

from ..bridge.called_along import check_called
from ..canned.networks import is_extended
from ..distribute import without_tpu
from ..distribute.loops import why_not_after_all
from ..estimator_calls.checkpoint_readers import (
    read_elsewhere,
    reads_beside,
)
from ..estimator_calls.estimator_values import ESTIMATOR, Construction
from ..estimator_calls.keras_estimator import MODEL_TO_ESTIMATOR
from ..estimator_calls.other_estimators import OtherEstimators
from ..hooks.hook_makers import check_makers
from ..hooks.spec_hooks import take_over_classes, watched_names
from ..hooks.watched_heads import settle_watched
from ..inputs.preprocessing_columns import SHARED_COLUMNS, ColumnEdits
from ..loop.flow.pauses import check_pauses
from ..loop.loop import Loop
from ..loop.remarks import BY_EXAMPLES, of_cores, reports_loss
from ..loop.writing.writer import dropped
from ..model_fns.model_fns import (
    HandedOn,
    ModelFn,
    check_partial,
    is_partial,
    plans_of,
)
from ..model_fns.only_predicting import check_only_predicts
from ..model_fns.translations import is_refused
from ..program.idle_files import idle_spans
from .canned_models import CannedClasses
from .finding import ModelFnFinder
from .finishing import finished
from .outside import OutsideRewrite, is_part_of
from .outside_parts import rewrite_part
from .own_helpers import held_edits, settle_helpers
from .renaming import kept_functions, value_changes


class KeepsHelpers(Exception):
    """The loop of a program cannot be plain with the model that was written; its text says why."""


class EvaluatesApart(KeepsHelpers):
    """A cluster would not evaluate the model that was written amid a training as it has to be; calls of their own would."""


class ProgramRewrite(OutsideRewrite):
    """Works out the edits of a program; `run` raises Unsupported, with the module in `at`."""

    def __init__(
        self,
        drafts: Drafts,
        group: list[Module],
        constructions: list[Construction],
        features: str = "columns",
        several: bool | None = True,
        chosen: Mapping[str, bool] = MappingProxyType({}),
        alone: bool = False,
        asked: bool = False,
        apart: bool = False,
        why_not_plain: str = "",
    ) -> None:
        super().__init__(drafts, constructions, features, several, chosen)
        self.group = group
        self.alone = alone
        self.asked = asked
        self.apart = apart
        self.why_not_plain = self.why_not_plain or why_not_plain
        self.obstacles = Obstacles()
        self._columns = ColumnEdits(features)
        self._of: dict[int, list[ModelFn]] = {}
        self._classes = CannedClasses(self.project, {})
        """Those that take the places of canned Estimators."""
        self._handed_on = HandedOn()
        self._others = OtherEstimators(self.project, group, self._driver, self._renderer, features, several, chosen)
        self._unfolded: list[ast.expr] = []
        """References to `functools.partial` that go."""

    # -- work ---------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Work out all edits. Raises Unsupported, for the first of all obstacles."""
        obstacles = self.obstacles
        with obstacles:
            self._rewrite()
        obstacles.refuse()

    def _rewrite(self) -> None:
        self._find_model_fns()
        self._plan()
        self._choose_loop()
        self._construct_all()
        modules = self._edit_modules()
        self._write_models(modules)
        self._check_written()
        self._rewrite_parts()
        self._finish(modules)

    def _find_model_fns(self) -> None:
        """All else depends on which functions are model_fns."""
        found = ModelFnFinder(self.drafts, self.constructions, self.sublayers.reserved, self._handed_on, self.model_fns)
        for construction in self.constructions:
            self.at = construction.module
            if not self._becomes_layers(construction):
                continue
            with self.obstacles:
                if not construction.arguments:
                    raise Unsupported("the arguments of Estimator are not seen", construction.call)
                self._of[id(construction.call)] = found.of(construction)
        with self.obstacles:
            self._handed_on.check(self.project)
        self.obstacles.refuse()

    def _plan(self) -> None:
        """What each model_fn computes, and what is asked of all of them together."""
        for model in self.model_fns.values():
            self.at = model.definition.module
            assert isinstance(model.definition.node, ast.FunctionDef)
            with self.obstacles:
                model.plan = make_plan(
                    model.definition.module, model.definition.node, self._translations, self.sublayers
                )
        with self.obstacles:
            self.sublayers.values.check()
        with self.obstacles:
            self._check_starts()
        with self.obstacles:
            predicting = [c for c in self.constructions if self._only_predicts(c)]
            check_only_predicts(predicting, self.estimators.reads, len(self.constructions) == 1)
        self._keep_functions()
        self._share_tables()
        self._others.claim(self.constructions)

    def _keep_functions(self) -> None:
        """Let helpers stay for code that nothing names and that calls them."""
        self.kept = frozenset(kept_functions(self.sublayers, self.project, lambda m: idle_spans(self.project, m)))
        for definition in self.kept:
            self._driver(definition.module)
            span = definition.module.span(definition.node)
            self._helpers[definition.module.path].kept.append(span)

    def _choose_loop(self) -> None:
        """Plain calls of `fit` and its like, or methods of the helpers."""
        self.loop = self._loop()
        plans = [model.plan for model in self.model_fns.values() if model.plan is not None]
        check_pauses(self.loop, plans)
        if not isinstance(self.loop, Loop) and any(is_extended(c) for c in self.constructions):
            raise KeepsHelpers(self.loop.reason)
        self._columns.numbers &= isinstance(self.loop, Loop)
        if isinstance(self.loop, Loop):
            self._drop_idle_parameters()
            self._settle_loop(self.loop)  # before what is written of a file, of which each name has to be handled

    def _construct_all(self) -> None:
        """The edits where Estimators are made and used."""
        for construction in self.constructions:
            self.at = construction.module
            with self.obstacles:
                self._construct(construction)
            self._driver(construction.module).handled.add(construction.call.func)
        if isinstance(self.loop, Loop):
            self._tell_loop(self.loop)
        else:
            self._methods()
        for plan in (model.plan for model in self.model_fns.values() if model.plan is not None):
            take_over_classes(plan, self._driver)

    def _edit_modules(self) -> list[Module]:
        """The edits of all files outside of model_fns; the files."""
        modules: list[Module] = []
        while new := [module for module in self._modules() if module not in modules]:  # one may lead to others
            for module in new:
                self.at = module
                self._driver(module).plain = isinstance(self.loop, Loop)
                self._module(module)
            modules += new
        if isinstance(self.loop, Loop):
            self._write_loop(self.loop)
        return modules

    def _write_models(self, modules: list[Module]) -> None:
        """The classes that model_fns and their layers become."""
        with self.obstacles:
            for definition, text in check_makers(self.project, list(self._drivers.values())):
                self._driver(definition.module).remark(definition.node, text)
        self.is_read = read_elsewhere(self.project, self.group) or any(reads_beside(m, self._spans(m)) for m in modules)
        self._translations.watched = watched_names([m.plan for m in self.model_fns.values()], self._drivers)
        made = [model.definition for model in self.model_fns.values()] + [*self.sublayers.found]
        for definition in made:
            for call in bare_assertions(definition.module, definition.node):
                self._driver(definition.module).remark(call, RUNS)
        for model in self.model_fns.values():
            self.at = model.definition.module
            if model.plan is None:  # why is told already
                continue
            with self.obstacles:
                self._generate(model)
        for sublayer in self.sublayers.found.values():
            self.at = sublayer.definition.module
            if not sublayer.body.dynamic:  # it gets no tensor, which is told already
                continue
            with self.obstacles:
                self._generate_layer(sublayer)
        self.obstacles.refuse()

    def _check_written(self) -> None:
        """What only the text of the models tells. Raises EvaluatesApart, and KeepsHelpers where the loop cannot be
        plain with it."""
        texts = [model.generated.text for model in self.model_fns.values() if model.generated is not None]
        if isinstance(self.loop, Loop):
            if reason := why_not_after_all(self.loop, texts):
                told = self.loop.distribution
                if told is not None and told.on_cluster:
                    raise EvaluatesApart(reason)
                raise KeepsHelpers(reason)
            for model in self.model_fns.values():
                if model.plan is not None and model.generated is not None:
                    for module, node, text in of_cores(self.loop, model.plan, model.generated.text):
                        self._driver(module).remark(node, text)
        texts += self._classes.texts()
        if isinstance(self.loop, Loop) and (use := reports_loss(self.loop, texts)) is not None:
            self._driver(use.module).remark(use.call, BY_EXAMPLES)
        settle_watched(self._drivers.values(), texts, self.constructions, self._driver)

    def _rewrite_parts(self) -> None:
        """Optimizer classes, layer classes and makers of cells that stand outside of model_fns."""
        for part in self.sublayers.used_outside():
            self.at = part.definition.module
            driver, renderer = self._driver(self.at), self._renderer(self.at)
            rewrite_part(part, self.project, self._bodies, self._translations, driver, renderer)

    def _finish(self, modules: list[Module]) -> None:
        """What is left in each file, and the helpers and imports that it needs."""
        for module in modules:
            self.at = module
            with self.obstacles:
                driver, helpers = self._drivers[module.path], self._helpers[module.path]
                self._edits[module.path] = finished(module, driver, helpers, self._spans(module))
        settle_helpers(self._helpers.values())
        for module in modules:
            helpers, own = self._helpers[module.path], self._edits.get(module.path, [])
            self._edits[module.path] = [*own, *module.cst.apply(helpers.imports()), *held_edits(helpers, own)]
        with self.obstacles:
            self._edits.update(check_called(self.project, self._bodies, self.constructions, modules))

    @property
    def _bodies(self) -> list[Definition]:
        """The functions that become classes."""
        return [*self.model_fns, *self.sublayers.found]

    def _share_tables(self) -> None:
        """Let columns share a table, as one of the graph, where all layers that may read them are seen."""
        plans = [model.plan for model in self.model_fns.values() if model.plan is not None]
        if len(plans) < len(self.constructions):
            return
        self._columns.shared = True
        self._translations.refused = lambda name: name != SHARED_COLUMNS and is_refused(name)
        if self._columns.share(self.project, self.group):
            helpers = [site for helper in self.sublayers.found.values() for site in helper.body.sites]
            for plan in plans:
                sites = [site for site in (*plan.sites, *helpers) if site.layer.columns]
                plan.shares_tables = len(sites) > 1 or any(site.loops or site in helpers for site in sites)

    def _check_starts(self) -> None:
        """Refuse values out of a checkpoint that may be that of a canned Estimator here, whose layers have other names."""
        for model in self.model_fns.values() if len(self.constructions) > len(self._of) else ():
            if model.plan is not None and model.plan.starting:
                self.at = model.definition.module
                raise Unsupported(
                    f"`{model.definition.name}` starts from a checkpoint, which may be that of another Estimator of the program"
                )

    def _only_predicts(self, construction: Construction) -> bool:
        """Whether an Estimator is made with a model_fn that neither trains nor evaluates."""
        plans = [model.plan for model in self._of.get(id(construction.call), [])]
        return any(plan is not None and set(plan.specs) == {"infer"} for plan in plans)

    def _becomes_layers(self, construction: Construction) -> bool:
        """Whether the model_fn of an Estimator becomes a Keras model."""
        return construction.name == ESTIMATOR

    def _construct(self, construction: Construction) -> None:
        if construction.name != ESTIMATOR and isinstance(self.loop, Loop):
            if construction.name == MODEL_TO_ESTIMATOR:
                self._others.keep_model(construction)
            else:
                self._canned_class(construction)
            return
        if construction.name != ESTIMATOR:
            self._others.rewrite(construction)
            return
        models, module, node = self._of[id(construction.call)], construction.module, construction.arguments["model_fn"]
        model, plans = models[0], plans_of(models, construction.arguments)
        if not plans:  # why is told already
            return
        plain = isinstance(self.loop, Loop)
        params = [without_tpu.parameters(self._driver(module), construction, plan, plain) for plan in plans][0]
        partial = node if isinstance(node, ast.Call) and is_partial(module, node) else None
        node = partial.args[0] if partial is not None else node
        direct = len(models) == 1 and self.project.definition(module, node) == model.definition
        names: list[Rename] = []
        if direct and isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node, ast.Attribute) or node.id == model.definition.name:
                names.append(Rename(node, model.factory))
        else:
            names += (name for name in self._names(module) if is_part_of(module, name.target, node))
            if names or isinstance(node, ast.Call):
                values = value_changes(self.sublayers, module)
                names += (value for value in values if is_part_of(module, value.target, node))
            elif partial is not None:
                node, partial = partial, None
        if partial is not None and direct:
            check_partial(partial, plans[0])
            self._unfolded.append(partial.func)
        self._driver(module).construction(
            construction.call,
            node,
            names,
            "params" in plans[0].statics,
            construction.arguments,
            partial,
            params,
            dropped(construction) if isinstance(self.loop, Loop) else frozenset(),
        )

    def _canned_class(self, construction: Construction) -> None:
        """Let a class of the program take the place of a canned Estimator."""
        driver, optimizers = self._driver(construction.module), self._others.optimizers(construction, plain=True)
        driver.handled.add(construction.call.func)
        made = self._classes.add(
            construction, optimizers, driver.tensorflow(), lambda name: driver.need(name, construction.call)
        )
        if made.network.head.call is not None:
            driver.heads.add(made.network.head.call.func)
        for edit in made.call_edits():
            self._driver(self.project.modules[edit.path]).edits.append(edit)
        self._others.made.append((construction, made.name))
