"""What the rewrite of a program gives: edits, files of helpers, and what is said about it."""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import os
from collections.abc import Iterator, Mapping

from migrator.analyse.function.body import Body
from migrator.analyse.function.plan import Plan
from migrator.analyse.function.translate import Translations
from migrator.analyse.layers.sparselookups import sparse_tables
from migrator.analyse.layers.sublayers import Sublayers
from migrator.analyse.variables.startvalues import started_elsewhere
from migrator.discover.sources import Unusable, load
from migrator.emit.methods.variabletags import renamed_tags
from migrator.engine.spacing import spaced
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.reasons import place_of
from migrator.vendor import vendoring
from migrator.vendor.vendored_runtime import CLUSTER_MODULE, TRAINING_MODULE, module_of
from migrator.vocabulary.diagnostics import Edit, Location, NewFile, ProgramUnit

from ..distribute.strategies import trains_on_replicas, trains_with_horovod
from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import ESTIMATOR, METHODS, Construction, Values
from ..estimator_calls.other_estimators import OtherEstimators
from ..loop.flow.executions import MOST_TOGETHER
from ..loop.keras_3 import sparse_lookups
from ..loop.loop import Loop, NotPlain
from ..losses_metrics.metrics import AUC, KERAS_AUC, OF_CURVES
from ..model_fns.model_facts import model_facts, reached_bodies
from ..model_fns.model_fns import ModelFn
from ..model_fns.translations import translations
from ..program.settled import estimator_values
from .helpers import Helpers


class Rewritten:
    """A program with what was worked out about it so far."""

    _others: OtherEstimators

    def __init__(
        self,
        drafts: Drafts,
        constructions: list[Construction],
        features: str,
        several: bool | None,
        chosen: Mapping[str, bool],
    ) -> None:
        self.features = features
        self.chosen = chosen
        """What the settings say, as facts about every model."""
        self.several = several
        """Whether the program is for several devices or machines; None: its use of its Estimators tells."""
        self.drafts = drafts
        self.project = project = drafts.project
        self.constructions = constructions
        self.at: Module | None = None
        self.reasons: list[str] = []
        """What stands in the way of native layers, and where, if model_fns stay graphs."""
        self.loop: Loop | NotPlain = NotPlain("it is not looked at yet")
        """How the program trains: with `fit`, or why with helpers."""
        self.is_read = False
        """Whether code outside of the model_fns, or another program, may read its checkpoints by names of variables."""
        self.model_fns: dict[Definition, ModelFn] = {}
        self._drivers: dict[str, Driver] = {}
        self._helpers: dict[str, Helpers] = {}
        self._edits: dict[str, list[Edit]] = {}
        self._alone: dict[str, str] = {}
        """By folder, the text of a file that has all helpers."""
        self._translations: Translations = translations(features)
        updates_run = any(b"UPDATE_OPS" in m.source or b"update_ops" in m.source for m in project.modules.values())
        self.sublayers = Sublayers(project, self._translations, updates_run)

    @property
    def first(self) -> Construction:
        """The Estimator that stands for the program where one place is named."""
        return self.constructions[0]

    def edits(self) -> Iterator[Edit]:
        """All edits, without repetitions."""
        for path, edits in self._edits.items():
            yield from spaced(self.project.modules[path].source, dict.fromkeys(edits))

    @functools.cached_property
    def estimators(self) -> Values:
        """Where the program holds its Estimators."""
        return estimator_values(self.project, self.constructions)

    @functools.cached_property
    def used(self) -> set[str]:
        """Methods and properties of its Estimators that it reads."""
        parents = [(module.parent(node), node) for module, node in self.estimators.reads]
        return {owner.attr for owner, node in parents if isinstance(owner, ast.Attribute) and owner.value is node}

    @property
    def distributed(self) -> bool:
        """Whether the program may train on several devices or machines: as it says, or as others do who use its Estimators."""
        return not self.used & METHODS if self.several is None else self.several

    def module_of(self, name: str, folder: str) -> str:
        """The module of a folder that has a helper, or is to have it."""
        if folder not in self._alone:
            self._alone[folder] = self._one_file(os.path.join(folder, vendoring.FILE_NAME))
        held = vendoring.held_alone(self._alone[folder])
        return TRAINING_MODULE if name in held else module_of(name, self.distributed)

    def _one_file(self, path: str) -> str:
        """The text of a file of helpers that has those for clusters, too, whether or not the program imports it; else nothing."""
        known, text = self.project.modules.get(path), ""
        if known is not None:
            text = known.text
        elif os.path.isfile(path):
            with contextlib.suppress(Unusable):  # told where helpers are written
                text = load(path).text
        return text if vendoring.held_alone(text) else ""

    def new_files(self) -> Iterator[NewFile]:
        """The files of vendored helpers."""
        folders: dict[str, list[Helpers]] = {}
        for helpers in self._helpers.values():
            folders.setdefault(helpers.folder, []).append(helpers)
        for folder, users in sorted(folders.items()):
            paths = {name: os.path.join(folder, name) for name in vendoring.FILE_NAMES}
            alone = self._alone.get(folder)  # others are merged where they are written
            existing = {vendoring.FILE_NAME: alone} if alone else {}
            names = sorted({name for helpers in users for name in helpers.vendored})
            prefixes = {"." if helpers.prefix else "" for helpers in users if CLUSTER_MODULE in helpers.modules}
            files = vendoring.vendor(names, existing, self.features, self.distributed, prefixes)
            yield from (NewFile(paths[name], text) for name, text in files.items())

    def _planned(self) -> list[Body]:
        """The functions of which models and layers are made."""
        planned: list[Body] = [model.plan for model in self.model_fns.values() if model.plan]
        return planned + [sublayer.body for sublayer in self.sublayers.found.values()]

    def class_names(self) -> list[str]:
        """Names of the generated classes, and of the functions that make other models."""
        chained = [m.generated is not None and m.generated.chained for m in self.model_fns.values()]
        names = [
            "`tf.keras.Sequential`" if plain else f"`{m.class_name}`"
            for m, plain in zip(self.model_fns.values(), chained)
        ]
        return list(dict.fromkeys(names + [f"`{factory}(…)`" for _, factory in self._others.made]))

    def remarks(self) -> Iterator[tuple[Module, ast.AST, str]]:
        """What the owner should know about the rewrite."""
        called = self.used.union(*(helpers.names for helpers in self._helpers.values()))
        trains = isinstance(self.loop, Loop) and any(use.method == "train" for use in self.loop.uses)
        if not trains and not called & {*METHODS, "train_and_evaluate", "export_saved_model", "export_savedmodel"}:
            text = "no given file trains this Estimator: what does gets a Keras model now, so migrate it together with this"
            yield self.first.module, self.first.call, text
        for driver in self._drivers.values():
            for node, text in driver.remarks:
                yield driver.module, node, text
        for body in self._planned():
            for site in body.sites:
                if site.layer.moving is not None and not body.updates_run:
                    text = "the program never runs UPDATE_OPS, so the moving statistics never move; momentum=1.0 keeps that"
                    yield body.module, site.call, text
        generated = [m.generated.text for m in self.model_fns.values() if m.generated is not None]
        if generated:
            given = {call for body in self._planned() for call in sparse_tables(body).values()}
            yield from sparse_lookups(self.project.modules.values(), given)
        if not self.chosen.get("exact") and any(KERAS_AUC in text for text in generated):
            found = ((m, node) for m in self.project.modules.values() for node, name in m.references() if name == AUC)
            yield from ((module, node, OF_CURVES) for module, node in itertools.islice(found, 1))
        for model in self.model_fns.values():
            spec = model.plan.specs.get("infer") if model.plan is not None else None
            if model.plan is not None and spec is not None and "export_outputs" in spec.fields and not self._exports:
                text = "export_outputs has no effect any more: the program exports nothing"
                yield model.definition.module, spec.fields["export_outputs"], text
            said = [*started_elsewhere(model.plan), *renamed_tags(model.plan)] if model.plan is not None else []
            for node, text in said:
                yield model.definition.module, node, text

    def programs(self) -> Iterator[tuple[str, Module, ast.AST]]:
        """Name and place of each model_fn, and of each Estimator that has none or whose model_fn was not found."""
        for construction in self.constructions:
            if not self.model_fns or construction.name != ESTIMATOR:
                yield construction.name.rsplit(".", 1)[1], construction.module, construction.call
        for definition in self.model_fns:
            yield definition.name, definition.module, definition.node

    def files(self) -> set[str]:
        """Paths of the program's files."""
        return {c.module.path for c in self.constructions} | {d.module.path for d in self.model_fns}

    def units(self) -> Iterator[ProgramUnit]:
        """One unit for each model_fn and each Estimator without one."""
        files = tuple(sorted(self.files()))
        for definition, model in self.model_fns.items():
            assert model.generated is not None
            location = self.drafts.location(definition.module, definition.node)
            variables = model.generated.variables
            yield ProgramUnit(definition.name, location, "native", "", files, variables, helpers=self.why_helpers)
        for construction, _ in self._others.made:
            name = construction.name.rsplit(".", 1)[1]
            location = self.drafts.location(construction.module, construction.call)
            yield ProgramUnit(name, location, "native", "", files, helpers=self.why_helpers)

    @property
    def why_helpers(self) -> str:
        """What asks for helpers around the training, with its place; empty if nothing does."""
        if isinstance(self.loop, Loop):
            return ""
        place = place_of(self.loop.reason) or (self.first.module, self.first.call)
        return f"{self.loop.reason} ({self.drafts.location(*place)})"

    def place(self, node: ast.AST | None) -> Location:
        """Where an obstacle stands: its own place if it has one, else that of the first Estimator."""
        first = self.constructions[0]
        if node is None or not hasattr(node, "lineno"):
            return self.drafts.location(first.module, first.call)
        module = self.at or first.module
        if module.parent(node) is None:
            module = next((m for m in self.project.modules.values() if m.parent(node) is not None), module)
        return self.drafts.location(module, node)

    @property
    def _exports(self) -> bool:
        """Whether the program writes SavedModels."""
        fed = isinstance(self.loop, Loop) and any(True for _ in self.loop.fed)
        return fed or any(driver.exports for driver in self._drivers.values())

    @property
    def _together(self) -> int:
        """Steps that Keras runs in one call. Helpers look themselves how many these may be."""
        return self.loop.together if isinstance(self.loop, Loop) else MOST_TOGETHER

    def _facts(self, model: Plan | None = None) -> dict[str, bool]:
        """What translations may ask about a model and its helpers; without one, over all models of the program."""
        plans = [m.plan for m in self.model_fns.values() if m.plan]
        bodies: list[Body] = [*plans, *(s.body for s in self.sublayers.found.values())]
        if model is not None:
            bodies = reached_bodies(model, bodies)
        replicated = trains_on_replicas(self.project.modules.values())
        # Another model of the program, or code elsewhere, may look for the weights of this one by their names.
        started = any(plan.warm is not None or plan.starting for plan in plans)
        facts = model_facts(bodies, self._translations)
        facts.update(exported=self._exports, replicated=replicated, distributed=self.distributed)
        facts.update(started=started, read=self.is_read)
        facts["plain"] = isinstance(self.loop, Loop)
        facts["classified"] = not isinstance(self.loop, Loop) or any(fed.text for _, fed in self.loop.fed)
        if isinstance(self.loop, Loop):  # whose model computes nothing but its loss and metrics on replicas
            told = self.loop.distribution
            facts.update(replicated=False, distributed=self.loop.on_tpu or told is not None and not told.servers)
            facts["cluster"] = told is not None and told.strategy is None
            facts["servers"] = told is not None and told.servers
            facts["evaluated"] = self.loop.evaluates_amid
        facts["grouped"] = self._together > 1
        facts["recorded"] = isinstance(self.loop, Loop) and model is not None and self.loop.records(model)
        facts["uncounted"] = (
            isinstance(self.loop, Loop) and self.loop.distribution is None and bool(self.loop.uncounted)
        )
        facts["evaluates_uncounted"] = (
            isinstance(self.loop, Loop) and self.loop.distribution is None and self.loop.evaluates_uncounted
        )
        facts["validated"] = isinstance(self.loop, Loop) and self.loop.validates
        facts["stepped"] = not isinstance(self.loop, Loop) or self.loop.restores_by_optimizers
        facts["addressed"] = isinstance(self.loop, Loop) and self.loop.reads_weights
        facts["horovod"] = trains_with_horovod(self.project.modules.values())
        facts.update(self.chosen)
        return facts
