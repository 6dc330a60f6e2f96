"""The rule that migrates whole Estimator programs."""

from __future__ import annotations

import ast
import functools
import os
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Union

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.engine.layout import laid_out
from migrator.engine.rule import ProgramRule
from migrator.normalise.draft.draft import Drafts
from migrator.normalise.names.optional_imports import settle_imports
from migrator.normalise.objects.derived import functions_of_classes
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Fix, Location, ProgramUnit, Severity

from ..bridge.bridge import BridgeRewrite
from ..bridge.graph_heads import own_head
from ..bridge.reached import reached
from ..canned.extended import fold_extenders
from ..desugar.device_filters import drop_device_filters
from ..desugar.gathered_arguments import spread_arguments
from ..desugar.handed_configs import unfold_configs
from ..desugar.held_estimators import hold_estimators
from ..desugar.named_estimators import name_estimators
from ..desugar.own_configs import plain_configs
from ..desugar.rebound_inputs import name_inputs
from ..desugar.replaced_configs import joined_configs
from ..desugar.returned_configs import inline_configs
from ..distribute import tpu
from ..distribute.chosen_strategy import choose_strategy, refuse_other_strategies
from ..distribute.distribution import only_trains_and_evaluates, speaks_of_several
from ..distribute.horovod import keep_horovod
from ..distribute.replication import refuse_horovod, refuse_replication
from ..distribute.tpu_facts import short_name
from ..distribute.without_tpu import settle_tpus
from ..estimator_calls.derived_configs import RUN_CONFIG, why_not_derived
from ..estimator_calls.estimator_kinds import KINDS, dialect_of
from ..estimator_calls.estimator_values import ESTIMATOR, Construction
from ..estimator_calls.leftovers import leftovers
from ..estimator_calls.sessions import refuse_hub_modules
from ..estimator_calls.unseen_receivers import refuse_unseen_receivers
from ..inputs.drawn_inputs import refuse_drawn_inputs
from ..inputs.fed_iterators import settle_fed_iterators
from ..inputs.queue_inputs import refuse_queues
from ..inputs.read_batches import refuse_read_batches, settle_read_batches
from ..model_fns.annotations import settle_annotations
from ..model_fns.gathered_specs import spread_specs
from ..model_fns.model_facts import chosen_facts
from ..symbols.private_keras import refuse_gone_methods, refuse_private_keras, settle_keras
from .groups import program_groups, speaks_of_estimators
from .library import is_mode_file, library_files, mode_files
from .mixed import Blame, MixedRewrite
from .obstacles import independent
from .preparing import prepared
from .rewrite import KeepsHelpers, ProgramRewrite
from .shared_programs import Results, Sharing, is_native, sharing_code
from .unused_code import inside_unused, unused_spans

if TYPE_CHECKING:
    from migrator.resolve.project import Project
    from migrator.vocabulary.settings import Settings

# Classes and functions that make Estimators, beside tf.estimator.Estimator itself.
_KINDS = re.compile(r"(Estimator|Classifier|Regressor|Ranker|Experiment)$|^model_to_estimator$|^learn_runner$")
_NO_MATCH = {
    "BoostedTrees": "boosted trees have no match in Keras, and other libraries for them are other algorithms; "
    "train such a model anew, with TensorFlow Decision Forests for example",
    "Experiment": "tf.contrib.learn.Experiment is not migrated: first write it as tf.estimator.train_and_evaluate with a "
    "TrainSpec and an EvalSpec, which TensorFlow 1 has from 1.4 on",
}
_OF_LEARN = (
    "first write it with tf.estimator, which TensorFlow 1 has from 1.3 on: fit() is train(), and arrays go in through "
    "tf.estimator.inputs.numpy_input_fn"
)
_SIGNATURE = "model_fn model_dir config params warm_start_from"


class EstimatorProgram(ProgramRule):
    """Turn an Estimator program into a Keras model that is trained with `Model.fit`.

    ## What it does
    Each model_fn becomes a `keras.Model`: layers and variables are made in `__init__`, the tensor statements become `call`,
    the loss `compute_loss`, `eval_metric_ops` become Keras metrics, and `train_op` the optimizer that a factory function
    compiles the model with. `Estimator(...)` becomes a call of that factory. Where all uses of the Estimators are seen, `train`,
    `evaluate` and `predict` become `fit`, `evaluate` and `predict` of the model, `train_and_evaluate` becomes `fit` with
    `validation_data`, and settings go where they are used; under a strategy of the program, or in a cluster of `TF_CONFIG` by a
    `make_strategy()` that is written into the program, if the data are seen to be endless or counted. Else they, `RunConfig`,
    `TrainSpec` and `EvalSpec` become small functions and dataclasses of the same name, copied into `tf2_training.py` beside the
    program, those for several devices and machines into `tf2_cluster.py`. All files of a program change together, or none does.
    In files of a library that make no Estimator, `ModeKeys` become the strings that they are; whatever else speaks of Estimators
    stays.

    Helpers for clusters and several devices come along where the program may train there; `--strategy` gives them to others,
    too. It may not if it calls `train`, `evaluate` or `predict` itself, never `train_and_evaluate`, which alone starts the
    servers of `TF_CONFIG`, and names no strategy, cluster, partitioner, TPU or Horovod; nor if it names none of these and
    `train_and_evaluate` becomes `fit`, which a message says.

    ## Why
    `tf.estimator` is gone since TensorFlow 2.16.

    ## Example
    ```python
    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        loss = tf.losses.mean_squared_error(labels, logits)
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(lambda: tf.data.Dataset.from_tensor_slices(examples).repeat().batch(32), steps=100)
    ```
    becomes
    ```python
    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.logits = tf.keras.layers.Dense(1)
            self.loss_metric = tf.keras.metrics.Mean(name="loss")

        def call(self, features, training=False):
            logits = self.logits(features["x"])
            return logits

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            loss = tf.reduce_mean(tf.math.squared_difference(y_pred, tf.cast(y, tf.float32)))
            self.loss_metric.update_state(loss)
            return loss

    def create_model():
        model = Model()
        model.compile(optimizer=tf.keras.optimizers.Adam(0.01, epsilon=1e-8), steps_per_execution=100)
        return model

    model = create_model()
    model.fit(tf.data.Dataset.from_tensor_slices(examples).repeat().batch(32).take(100))
    ```

    ## Fix safety
    Safe: each default that differs is written out, and what could train differently is refused with the reason and the
    line. The order of random numbers (initial values, dropout, shuffling) differs between TensorFlow versions.
    """

    code = "EST100"
    name = "estimator-program"
    words = ("stimator", "contrib.learn", "contrib import learn")

    @classmethod
    def looks_around(cls, module: Module) -> bool:
        """A file that knows no more than the names of the modes is the same in any program that cannot reach it."""
        return not is_mode_file(module)

    def check_program(self, project: Project, settings: Settings) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """One fix for each group of files that share Estimators; one unit for each Estimator."""
        programs: list[list[Module]] = []
        libraries: list[list[Module]] = []
        made: dict[str, Location] = {}
        for group in program_groups(project):
            if not any(module.path in project.editable for module in group):
                continue
            drafts = _started(project, group)
            constructions = self._in(drafts, group)
            made.update({c.module.path: drafts.location(c.module, c.call) for c in constructions})
            called = functools.partial(_is_called, drafts.project)
            other = [x for module in group for x in self._not_yet(drafts, drafts.project.modules[module.path])]
            other = [x for x in other if not constructions or called(x[0], x[1])]
            if constructions and not any(c.module.path in project.editable for c in constructions):
                yield self._elsewhere(drafts, group, constructions[0])
                yield from mode_files(self, group)
            elif other:
                yield from self._left(drafts, group, constructions, other)
            else:
                (programs if constructions else libraries).append(group)
        moved: set[str] = set()
        for result in self._programs(project, programs, settings):
            if isinstance(result, Diagnostic) and result.fix is not None:
                moved.update(edit.path for edit in result.fix.edits)
            yield result
        for group in libraries:
            yield from library_files(self, project, [module for module in group if module.path not in moved], made)

    def _programs(
        self, project: Project, programs: list[list[Module]], settings: Settings
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """All programs, each native only if no other one misses what its fix takes away."""
        results = [list(self._program(project, group, settings)) for group in programs]
        if settings.style != "bridge":
            self._join(project, programs, results, replace(settings, style="native"))
        sharing = Sharing(project, results)
        while conflicts := list(sharing.conflicts()):  # each takes a program out of the native ones
            for number, reason in conflicts:
                results[number] = list(self._program(project, programs[number], settings, reason))
            sharing = Sharing(project, results)
        yield from sharing.merged(results)

    def _join(self, project: Project, programs: list[list[Module]], results: list[Results], settings: Settings) -> None:
        """Makes one of programs that share code, where not all are native side by side, but are native together.

        What one takes apart, such as a function that makes the train op, has to stay as long as the other calls it.
        """
        apart = {number for number, _ in Sharing(project, results).conflicts()}
        for numbers in sharing_code(project, programs):
            if apart.isdisjoint(numbers) and all(is_native(results[number]) for number in numbers):
                continue
            group = sorted({m.path: m for number in numbers for m in programs[number]}.values(), key=lambda m: m.path)
            together = list(self._program(project, group, settings))
            if is_native(together):
                first, *others = numbers
                programs[first], results[first] = group, together
                for number in reversed(others):
                    del programs[number], results[number]
                return self._join(project, programs, results, settings)

    def _not_yet(self, drafts: Drafts, module: Module) -> Iterator[tuple[Module, ast.expr, str]]:
        """Estimators of a kind that is not migrated yet: where they are made, and what they are."""
        for node, name in module.references():
            if not speaks_of_estimators(name):
                continue
            if short_name(name) == "TPUEstimator" and isinstance(module.parent(node), ast.Call):
                continue
            parent = module.parent(node)
            short = name.rsplit(".", 1)[-1]
            if isinstance(parent, ast.Call) and name in KINDS:
                continue
            if isinstance(parent, ast.Call) and parent.func is node and _KINDS.search(short):
                what = f"tf.{name.split('.', 1)[1]} is not migrated"
                general = f"{what}: {_OF_LEARN}" if name.startswith("tensorflow.contrib.learn.") else f"{what} yet"
                yield module, node, _NO_MATCH.get(short[:12], general)
            elif own_head(module, node, name):
                continue
            elif isinstance(parent, ast.ClassDef) and node in parent.bases and short != "SessionRunHook":
                why = (
                    why_not_derived(drafts.project, module, node)
                    if name == RUN_CONFIG
                    else drafts.obstacle(module, node)
                )
                if name == RUN_CONFIG and why is None:
                    continue
                reason = f"a class derived from tf.{name.split('.', 1)[1]} is not migrated yet"
                yield module, node, f"{reason}: {why}" if why else reason

    def _elsewhere(self, drafts: Drafts, group: list[Module], construction: Construction) -> ProgramUnit:
        """A program that is worked on where its Estimator is made: it is too large to move as a whole."""
        reason = "its files are too many to be looked at as a whole"
        files = tuple(module.path for module in group if not is_mode_file(module))
        location = drafts.location(construction.module, construction.call)
        return ProgramUnit("Estimator", location, "manual", reason, files)

    def _left(
        self,
        drafts: Drafts,
        group: list[Module],
        constructions: list[Construction],
        other: list[tuple[Module, ast.expr, str]],
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What is left as it is, with the reason: one unit for each Estimator."""
        files = tuple(module.path for module in group if not is_mode_file(module))
        yield from mode_files(self, group)
        found = [f"{reason} ({drafts.location(module, node).line_text})" for module, node, reason in other]
        places = [(module, node, reason, [own]) for (module, node, reason), own in zip(other, found)]
        places += [(c.module, c.call, found[0], found) for c in constructions]
        for module, node, said, reasons in places:
            location = drafts.location(module, node)
            message = f"this Estimator program is left as it is: {said}"
            yield Diagnostic(self.code, message, location, None, Severity.WARNING, self.name, self.url)
            name = module.segment(node.func if isinstance(node, ast.Call) else node)
            reason, *others = dict.fromkeys(reasons)
            blocked = tuple(sorted({where.path for where, _, _ in other}))
            yield ProgramUnit(name, location, "manual", reason, files, others=tuple(others), blocked=blocked)

    def _program(
        self, project: Project, group: list[Module], settings: Settings, shared: str = ""
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What becomes of one program; `shared` says why it cannot be native, whatever it looks like by itself."""
        style = settings.style
        drafts = _started(project, group)
        said = [drafts.project.modules.get(path, module) for path, module in project.modules.items()]
        several = speaks_of_several(said, settings.strategy)
        chosen = chosen_facts(settings)
        alone = only_trains_and_evaluates(said, settings.strategy)
        asked = settings.strategy == "parameter_server"
        native = functools.partial(
            ProgramRewrite,
            features=settings.features,
            several=several,
            chosen=chosen,
            alone=alone,
            asked=asked,
        )
        rewrite = self._rewrite(native, drafts, group)
        reasons = [""]
        try:
            choose_strategy(drafts, rewrite.group, settings.strategy, several)
            if drafts.changed:
                rewrite = self._rewrite(native, drafts, group)
            for module in rewrite.group:
                rewrite.at = module  # where a refusal stands
                refuse_replication(module)
                refuse_queues(module, functools.partial(_is_called, drafts.project))
                refuse_drawn_inputs(drafts.project, module)
                refuse_unseen_receivers(drafts.project, module)
                if re.search(rb"\r(?!\n)", module.source):
                    raise Unsupported(
                        "the file mixes lone carriage returns with other line ends: make them all the same"
                    )
                if settings.strategy != "auto":
                    refuse_other_strategies(module)
            rewrite.at = None
            refuse_read_batches(drafts.project, rewrite.group)
            try:
                if style == "bridge":
                    raise Unsupported("--style bridge", None)
                if shared:
                    raise Unsupported(shared)
                keep_horovod(drafts, [module.path for module in rewrite.group])
                around = reached(project, group, False)
                for module in around:
                    refuse_hub_modules(module, functools.partial(_is_called, project))
                    refuse_private_keras(drafts.project.modules[module.path])
                settle_tpus(drafts, [module.path for module in around])
                settle_annotations(drafts, [module.path for module in around])
                prepared(drafts, lambda: self._in(drafts, group))
                kept, drafts = drafts, drafts.copy()
                fold_extenders(drafts, [module.path for module in around])
                folded = drafts.project is not kept.project
                if drafts.changed:
                    rewrite = self._rewrite(native, drafts, group)
                try:
                    rewrite.run()
                except (KeepsHelpers, Unsupported) as problem:
                    drafts = kept
                    if isinstance(problem, Unsupported) and not (folded or rewrite.may_keep_helpers):
                        raise
                    why = problem.reason if isinstance(problem, Unsupported) else str(problem)
                    rewrite = self._rewrite(functools.partial(native, why_not_plain=why), drafts, group)
                    rewrite.run()
            except Unsupported as obstacle:
                if style == "native" or all(c.name != ESTIMATOR for c in rewrite.constructions):
                    raise  # the bridge is about model_fns
                reasons = [_placed(rewrite, each) for each in _independent(rewrite, obstacle)]
                mixed = self._mixed(project, group, settings, rewrite, obstacle) if style == "auto" else None
                if mixed is not None:
                    drafts, rewrite = mixed.drafts, mixed
                else:
                    drafts = _started(project, group)
                    choose_strategy(drafts, group, settings.strategy, several)
                    bridge = functools.partial(BridgeRewrite, reasons=reasons, several=several, alone=alone)
                    rewrite = self._rewrite(bridge, drafts, group)
                    for module in rewrite.group:
                        rewrite.at = module
                        refuse_horovod(module)
                        refuse_gone_methods(drafts.project, module)
                    rewrite.at = None
                    rewrite.run()
        except Unsupported as problem:
            yield from self._manual(
                rewrite, group, problem, "" if style == "bridge" else reasons[0], problem.reason == shared
            )
            return
        except Exception as error:  # a bug of ours must not leave a program half moved
            where = traceback.extract_tb(error.__traceback__)[-1]
            bug = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
            yield from self._manual(rewrite, group, Unsupported(f"migrate has a bug, please report it: {bug}"))
            return
        first = rewrite.first
        location = drafts.location(first.module, first.call)
        edits = tuple(laid_out(project.modules, drafts.final(rewrite.edits())))
        fix = Fix("migrate the Estimator program to Keras", edits, new_files=tuple(rewrite.new_files()))
        message = f"tf.{first.name.split('.', 1)[1]} becomes {' and '.join(rewrite.class_names())}, a keras.Model"
        if rewrite.reasons:
            message += f", as native layers cannot hold it: {'; '.join(rewrite.reasons)}"
        yield Diagnostic(self.code, message, location, fix, Severity.WARNING, self.name, self.url)
        remarks = [(drafts.location(module, node), text) for module, node, text in rewrite.remarks()]
        for place, text in (*drafts.remarks, *remarks):
            yield Diagnostic(self.code, text, place, None, Severity.INFO, self.name, self.url)
        for module, node, text in leftovers(project.modules, edits):
            yield Diagnostic(self.code, text, module.location(node), None, Severity.INFO, self.name, self.url)
        yield from rewrite.units()

    def _mixed(
        self,
        project: Project,
        group: list[Module],
        settings: Settings,
        rewrite: ProgramRewrite,
        obstacle: Unsupported,
    ) -> MixedRewrite | None:
        """The rewrite that keeps the model_fns only in which obstacles lie; None if that is all of them, or does not do.

        `obstacle` stood in the way of `rewrite`, which keeps none.
        """
        first = _started(project, group)
        constructions = self._in(first, group)
        if len(constructions) < 2:
            return None
        blame, kept = Blame(first, constructions), dict[int, list[str]]()
        while True:
            known = set(kept)
            for each in _independent(rewrite, obstacle):
                for number in blame.of(rewrite, each) - known:
                    kept.setdefault(number, []).append(_placed(rewrite, each))
            if set(kept) == known or len(kept) == len(constructions):
                return None
            drafts = _started(project, group)
            choose_strategy(drafts, group, settings.strategy, rewrite.several)
            made = functools.partial(
                MixedRewrite, features=settings.features, kept=kept, several=rewrite.several, chosen=rewrite.chosen
            )
            try:
                prepared(drafts, lambda: [c for n, c in enumerate(self._in(drafts, group)) if n not in kept])
                if len(self._in(drafts, group)) != len(constructions):  # by whose numbers they are known
                    return None
                rewrite = self._rewrite(made, drafts, group)
                for module in rewrite.group:
                    rewrite.at = module
                    refuse_horovod(module)
                rewrite.at = None
                rewrite.run()
                assert isinstance(rewrite, MixedRewrite)
                return rewrite
            except Unsupported as found:
                obstacle = found

    def _rewrite(self, make: Callable[..., ProgramRewrite], drafts: Drafts, group: list[Module]) -> ProgramRewrite:
        """A rewrite of the present state of a group."""
        return make(drafts, [drafts.project.modules[module.path] for module in group], self._in(drafts, group))

    def _in(self, drafts: Drafts, group: list[Module]) -> list[Construction]:
        """The Estimators that the present state of a group makes."""
        return [c for module in group for c in self._constructions(drafts.project.modules[module.path], group)]

    def _constructions(self, module: Module, group: list[Module]) -> Iterator[Construction]:
        for node, name in module.references() if b"stimator" in module.source else ():
            on_tpu = short_name(name) == "TPUEstimator"
            parent = module.parent(node) if name in KINDS or on_tpu else None
            if not isinstance(parent, ast.Call) or parent.func is not node:
                continue
            if name == ESTIMATOR or on_tpu:
                try:
                    given = bind(parent, tpu.ESTIMATOR if on_tpu else _SIGNATURE, "Estimator")
                except Unsupported:
                    given = {}
                yield Construction(module, parent, given, tpu=on_tpu)
            else:
                yield Construction(module, parent, {}, name, *dialect_of(module, node, group))

    def _manual(
        self, rewrite: ProgramRewrite, group: list[Module], problem: Unsupported, native: str = "", shared: bool = False
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What is left as it is for a `problem`; `native` says why it does not become native layers, if that differs;
        `shared`, that nothing but another program is in the way."""
        files = tuple(sorted(rewrite.files()))
        yield from mode_files(self, [module for module in group if module.path not in files])
        found = list(_independent(rewrite, problem))
        for each in found:
            location = rewrite.place(each.node)
            message = f"this Estimator program is left as it is: {each.reason}"
            if each is problem and native and native != f"{each.reason} ({location.line_text})":
                message += f"; and Keras layers cannot hold it: {native}"
            yield Diagnostic(self.code, message, location, None, Severity.WARNING, self.name, self.url)
        reason, *others = (f"{each.reason} ({rewrite.place(each.node).line_text})" for each in found)
        blocked = () if shared else tuple(sorted({rewrite.place(each.node).path for each in found}))
        for name, where, node in rewrite.programs():
            place = rewrite.drafts.location(where, node)
            yield ProgramUnit(name, place, "manual", reason, files, others=tuple(others), blocked=blocked)


def _is_called(project: Project, module: Module, node: ast.AST) -> bool:
    """Whether a place is in code of the program that its Estimators may reach."""
    return inside_unused(module, node, unused_spans(project.modules.values(), module)) is None


def _independent(rewrite: ProgramRewrite, problem: Unsupported) -> Iterator[Unsupported]:
    return independent(problem, list(rewrite.drafts.project.modules.values()), rewrite.place)


def _placed(rewrite: ProgramRewrite, problem: Unsupported) -> str:
    """An obstacle with its line, if it has one."""
    return problem.reason + (f" ({rewrite.place(problem.node).line_text})" if problem.node is not None else "")


def _started(project: Project, group: list[Module]) -> Drafts:
    """The files of a program, with one TensorFlow, and functions that make what derived classes said how to make."""
    drafts = Drafts(project)
    paths = [module.path for module in group]
    settle_keras(drafts, sorted({*paths, *(module.path for module in reached(project, group, False))}))
    settle_imports(drafts, paths)
    spread_specs(drafts, paths)
    spread_arguments(drafts, paths)
    plain_configs(drafts, paths)
    drop_device_filters(drafts, paths)
    inline_configs(drafts, paths)
    joined_configs(drafts, paths)
    functions_of_classes(drafts, paths, KINDS.__contains__)
    hold_estimators(drafts, paths)
    unfold_configs(drafts, paths)
    name_estimators(drafts, paths)
    name_inputs(drafts, paths)
    settle_fed_iterators(drafts, paths)
    settle_read_batches(drafts, paths)
    return drafts
