"""What becomes of one program: layers of Keras, in part or as a whole, the bridge, or what it was."""

from __future__ import annotations

import functools
import os
import re
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Union

from migrator.analyse.function.errors import Unsupported
from migrator.engine.layout import laid_out
from migrator.engine.rule import ProgramRule
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Fix, ProgramUnit, Severity
from migrator.vocabulary.unsupported import UsedElsewhere

from ..bridge.bridge import BridgeRewrite
from ..bridge.reached import reached
from ..canned.extended import fold_extenders
from ..distribute.chosen_strategy import choose_strategy, refuse_other_strategies
from ..distribute.distribution import only_trains_and_evaluates, speaks_of_several
from ..distribute.horovod import keep_horovod
from ..distribute.replaced_replication import leave_out_towers
from ..distribute.replication import refuse_horovod, refuse_replication
from ..distribute.without_tpu import settle_tpus
from ..estimator_calls.estimator_values import ESTIMATOR
from ..estimator_calls.leftovers import leftovers
from ..estimator_calls.sessions import refuse_hub_modules
from ..estimator_calls.unseen_receivers import refuse_unseen_receivers
from ..inputs.drawn_inputs import refuse_drawn_inputs
from ..inputs.queue_inputs import refuse_queues
from ..inputs.read_batches import refuse_read_batches
from ..loop.loop import NotPlain
from ..model_fns.annotations import settle_annotations
from ..model_fns.model_facts import chosen_facts
from ..rewriting.rewrite import EvaluatesApart, KeepsHelpers, ProgramRewrite
from ..symbols.column_classes import column_classes, refuse_column_classes
from ..symbols.private_keras import refuse_gone_methods, refuse_private_keras, settle_keras
from .desugarings import FILES, PLACED, PLAIN, REACHED
from .estimators import estimators_in, is_called
from .library import mode_files
from .mixed import Blame, MixedRewrite
from .obstacles import independent
from .outlined_turns import outlined
from .preparing import prepared

if TYPE_CHECKING:
    from migrator.resolve.project import Project
    from migrator.vocabulary.settings import Settings


class Attempts:
    """Tries one way after the other, for a rule."""

    def __init__(self, rule: ProgramRule) -> None:
        self.rule = rule

    def program(
        self, project: Project, group: list[Module], begun: Drafts, settings: Settings, shared: str = ""
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What becomes of one program, of which `started` gave the drafts that it was `begun` with; `shared` says why it cannot
        be native, whatever it looks like by itself."""
        style = settings.style
        drafts = begun.copy()
        if settings.strategy == "auto":
            leave_out_towers(drafts, [module.path for module in group])
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
                refuse_queues(module, functools.partial(is_called, drafts.project))
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
                    refuse_hub_modules(module, functools.partial(is_called, project))
                    refuse_private_keras(drafts.project.modules[module.path])
                    refuse_column_classes(drafts.project.modules[module.path])
                settle_tpus(drafts, [module.path for module in around])
                settle_annotations(drafts, [module.path for module in around])
                prepared(drafts, lambda: estimators_in(drafts, group))
                turned = drafts.copy()
                ways = [turned, drafts] if outlined(turned, lambda: estimators_in(turned, group)) else [drafts]
                apart = False
                for kept in ways:
                    drafts = kept.copy()
                    fold_extenders(drafts, [module.path for module in around])
                    for idiom in PLAIN:
                        idiom.expand(drafts, [module.path for module in around])
                    before = drafts.project
                    PLACED.expand(drafts, [module.path for module in around])
                    placed = drafts.project is not before
                    folded = drafts.project is not kept.project
                    if drafts.changed or kept is not ways[0] or apart:
                        rewrite = self._rewrite(functools.partial(native, apart=apart), drafts, group)
                    try:
                        rewrite.run()
                        if placed and isinstance(rewrite.loop, NotPlain):
                            raise KeepsHelpers(rewrite.loop.reason)
                        break
                    except EvaluatesApart:
                        apart = True
                        ways.insert(ways.index(kept), kept)  # the same way once more
                    except (KeepsHelpers, Unsupported) as problem:
                        told = (problem, *problem.others) if isinstance(problem, Unsupported) else ()
                        if any(isinstance(each, UsedElsewhere) for each in told):
                            raise  # which no other way changes
                        drafts = kept
                        if isinstance(problem, Unsupported) and kept is not ways[-1]:
                            continue
                        if isinstance(problem, Unsupported) and not (folded or rewrite.may_keep_helpers):
                            raise
                        why = problem.reason if isinstance(problem, Unsupported) else str(problem)
                        rewrite = self._rewrite(functools.partial(native, why_not_plain=why), drafts, group)
                        rewrite.run()
                        break
            except Unsupported as obstacle:
                if style == "native" or all(c.name != ESTIMATOR for c in rewrite.constructions):
                    raise  # the bridge is about model_fns
                reasons = [_placed(rewrite, each) for each in _independent(rewrite, obstacle)]
                mixed = self._mixed(begun, group, settings, rewrite, obstacle) if style == "auto" else None
                if mixed is not None:
                    drafts, rewrite = mixed.drafts, mixed
                else:
                    drafts = begun.copy()
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
        yield Diagnostic(self.rule.code, message, location, fix, Severity.WARNING, self.rule.name, self.rule.url)
        remarks = [(drafts.location(module, node), text) for module, node, text in rewrite.remarks()]
        for place, text in (*drafts.remarks, *remarks):
            yield Diagnostic(self.rule.code, text, place, None, Severity.INFO, self.rule.name, self.rule.url)
        for module, node, text in leftovers(project.modules, edits):
            yield Diagnostic(
                self.rule.code, text, module.location(node), None, Severity.INFO, self.rule.name, self.rule.url
            )
        yield from rewrite.units()

    def _mixed(
        self,
        begun: Drafts,
        group: list[Module],
        settings: Settings,
        rewrite: ProgramRewrite,
        obstacle: Unsupported,
    ) -> MixedRewrite | None:
        """The rewrite that keeps the model_fns only in which obstacles lie; None if that is all of them, or does not do.

        `obstacle` stood in the way of `rewrite`, which keeps none.
        """
        constructions = estimators_in(begun, group)
        if len(constructions) < 2:
            return None
        blame, kept = Blame(begun, constructions), dict[int, list[str]]()
        while True:
            known = set(kept)
            for each in _independent(rewrite, obstacle):
                for number in blame.of(rewrite, each) - known:
                    kept.setdefault(number, []).append(_placed(rewrite, each))
            if set(kept) == known or len(kept) == len(constructions):
                return None
            drafts = begun.copy()
            choose_strategy(drafts, group, settings.strategy, rewrite.several)
            made = functools.partial(
                MixedRewrite, features=settings.features, kept=kept, several=rewrite.several, chosen=rewrite.chosen
            )
            try:
                prepared(drafts, lambda: [c for n, c in enumerate(estimators_in(drafts, group)) if n not in kept])
                if len(estimators_in(drafts, group)) != len(constructions):  # by whose numbers they are known
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
        """A rewrite of the present state of a group. Raises Unsupported."""
        constructions = estimators_in(drafts, group)
        if not constructions:  # `first` and all places are by them
            raise Unsupported("the call that makes the Estimator is not found any more where its class is written out")
        return make(drafts, [drafts.project.modules[module.path] for module in group], constructions)

    def _manual(
        self, rewrite: ProgramRewrite, group: list[Module], problem: Unsupported, native: str = "", shared: bool = False
    ) -> Iterator[Union[Diagnostic, ProgramUnit]]:
        """What is left as it is for a `problem`; `native` says why it does not become native layers, if that differs;
        `shared`, that nothing but another program is in the way."""
        files = tuple(sorted(rewrite.files()))
        yield from mode_files(self.rule, [module for module in group if module.path not in files])
        found = list(_independent(rewrite, problem))
        for each in found:
            location = rewrite.place(each.node)
            message = f"this Estimator program is left as it is: {each.reason}"
            if each is problem and native and native != f"{each.reason} ({location.line_text})":
                message += f"; and Keras layers cannot hold it: {native}"
            yield Diagnostic(self.rule.code, message, location, None, Severity.WARNING, self.rule.name, self.rule.url)
        reason, *others = (f"{each.reason} ({rewrite.place(each.node).line_text})" for each in found)
        blocked = () if shared else tuple(sorted({rewrite.place(each.node).path for each in found}))
        for name, where, node in rewrite.programs():
            place = rewrite.drafts.location(where, node)
            yield ProgramUnit(name, place, "manual", reason, files, others=tuple(others), blocked=blocked)


def _independent(rewrite: ProgramRewrite, problem: Unsupported) -> Iterator[Unsupported]:
    return independent(problem, list(rewrite.drafts.project.modules.values()), rewrite.place)


def _placed(rewrite: ProgramRewrite, problem: Unsupported) -> str:
    """An obstacle with its line, if it has one."""
    return problem.reason + (f" ({rewrite.place(problem.node).line_text})" if problem.node is not None else "")


def started(project: Project, group: list[Module]) -> Drafts:
    """The files of a program, with one TensorFlow, and functions that make what derived classes said how to make."""
    drafts = Drafts(project)
    paths = [module.path for module in group]
    around = sorted({*paths, *(module.path for module in reached(project, group, False))})
    settle_keras(drafts, around)
    drafts.settle(around, column_classes)
    for idioms, reach in ((REACHED, around), (FILES, paths)):
        for idiom in idioms:
            idiom.expand(drafts, reach)
    return drafts
