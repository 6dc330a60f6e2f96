"""How a program trains, evaluates and predicts, as data: all uses of its Estimators, or why they stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from migrator.analyse.results.stepvalues import StepValue
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at
from migrator.resolve.text import Spans

from ..callbacks.callback_classes import BATCH_LOSS, of_own_hooks
from ..callbacks.functions import of_functions
from ..callbacks.keras_callbacks import is_known, is_listener, of_hooks
from ..canned.head_specs import unread_head
from ..distribute.tpu_facts import describes_tpu
from ..estimator_calls.checkpoint_readers import READERS, reading_modules
from ..estimator_calls.estimator_values import PREFIX, Construction, Values
from ..estimator_calls.following import Follower
from ..estimator_calls.keras_estimator import has_one_output
from ..estimator_calls.warm_starts import STARTS
from ..exports.archives import has_tables
from ..exports.exporters import NAMES as EXPORTERS
from ..exports.exports import Export, export_of, of_exports
from ..exports.fed_features import NAMES as RECEIVERS
from ..exports.receivers import of_receivers
from ..hooks.session_hooks import is_of_protocol
from ..losses_metrics import step_summaries
from ..program.idle_files import idle_spans
from ..program.unused_code import inside_unused
from .data.arrays import array_inputs
from .data.datasets import Reader
from .flow.building import buildings_of, is_shared_generator
from .flow.executions import steps_together
from .flow.held import NUMBERS, stands
from .flow.lifetimes import of_folders
from .flow.listed_checkpoints import FIRST, lists_checkpoints
from .flow.order import of_paths, of_starts
from .inputs import given_parts
from .keras_3 import otherwise
from .loop import Loop, NotPlain, trains_again
from .places import has_its_line, is_simple
from .reads import STEP, read_of, steps_read
from .rows import is_one
from .sources import Kind, Source, sources_of
from .specs import NAMES
from .use import Use
from .uses import use_of
from .variables import NAMES as OF_WEIGHTS
from .variables import VALUE

_OUTPUTS = ("export.PredictOutput", "export.ClassificationOutput", "export.RegressionOutput")
_NEUTRAL_NAMES = (
    "ModeKeys",
    "EstimatorSpec",
    "Estimator",
    "inputs.numpy_input_fn",
    "inputs.pandas_input_fn",
    *_OUTPUTS,
)
"""Names of the library that stand for nothing else in a program whose loop is understood."""

_LOOKED_AT = NAMES | RECEIVERS | EXPORTERS
"""Names whose references have to be those of uses that are understood."""


def loop_of(
    project: Project,
    modules: list[Module],
    constructions: Sequence[Construction],
    kinds: Mapping[ast.Call, Kind],
    values: Values,
    inside: Mapping[str, Spans],
) -> Loop | NotPlain:
    """The loop of a program; `modules` are its files, `inside` the spans of its model_fns by file.

    `kinds` says of each call that makes an Estimator what model takes its place, whatever makes that one: a Keras model that
    `compile` was called for. The loop knows nothing else of models, so another kind of Estimator needs no more than an entry.
    """
    for other in (construction for construction in constructions if construction.call not in kinds):
        name = f"tf.{other.name.split('.', 1)[1]}"
        return NotPlain(reason_at(f"it makes a {name}", other.module, other.call.func))
    if values.lost:
        module, node, why = values.lost[0]
        return NotPlain(reason_at(f"an Estimator goes out of sight: {why}", module, node))
    sources = sources_of(project, constructions, kinds)
    if isinstance(sources, str):
        return NotPlain(sources)
    told = frozenset().union(*(kind.names for kind in kinds.values()))
    reason = _of_files(project, modules, inside, sources, told)
    if reason:
        return NotPlain(reason)
    draws = any(is_shared_generator(name) for module in modules for _, name in module.references())
    loop = _followed(project, modules, sources, inside, draws)
    if isinstance(loop, Loop):
        reason = of_hooks(project, modules, inside, told.union(*(use.names for use in loop.uses))) or _of_logs(
            loop.uses
        )
        reason = reason or of_own_hooks(project, [own for use in loop.uses for own in use.own])
        reason = reason or _of_evaluated_hooks(loop)
    return NotPlain(reason) if reason else loop


def _of_evaluated_hooks(loop: Loop) -> str:
    """Why a class cannot be that of callbacks: what `fit` is given is called in its evaluations, too."""
    for hooks in loop.own_hooks.values():
        both = len({own.evaluated for own in hooks}) > 1
        if both and any(use.validation is not None and any(own in hooks for own in use.own) for use in loop.uses):
            return "a class of hooks for trainings and for evaluations beside train_and_evaluate"
    return ""


def _of_logs(uses: Sequence[Use]) -> str:
    """Why callbacks cannot read what hooks log."""
    values: dict[str, StepValue] = {}
    for key, value in (pair for use in uses for pair in use.wanted):
        if key != BATCH_LOSS and values.setdefault(key, value).node is not value.node:
            return "two tensors of one name that hooks read"
    return ""


def _of_files(
    project: Project,
    modules: list[Module],
    inside: Mapping[str, Spans],
    sources: list[Source],
    told: frozenset[ast.AST],
) -> str:
    """What of the code around the model_fns asks for more, beside what models are `told`."""
    keep_names = all(source.named for source in sources)
    for module in reading_modules(project, READERS) if not keep_names else ():
        node = next(node for node, name in module.references() if name in READERS)
        return reason_at("checkpoints that are read by names", module, node)
    calls = told | {call for source in sources for call in (source.construction.call.func, *source.settings.calls)}
    written = {node for source in sources for node in source.summaries}
    saves = any(source.settings.directory is not None or source.hooks.summaries for source in sources)
    for module in modules:
        spans = inside.get(module.path, Spans())
        unused = idle_spans(project, module)
        for node, name in module.references():
            if inside_unused(module, node, unused) is not None and not spans.hold(module.span(node)):
                continue
            if spans.hold(module.span(node)):
                if name.startswith(step_summaries.PREFIX) and saves and node not in written:
                    return reason_at("summaries of its layers, or of metrics", module, node)
                continue
            if (
                node in calls or is_known(name) or is_listener(name) or is_of_protocol(name) or name in _LOOKED_AT
            ):  # what `_followed` looks at
                continue
            if name in STARTS:  # which models keep
                continue
            if describes_tpu(name) or unread_head(project, module, node, name):  # which go
                continue
            if name.startswith(PREFIX) and not name[len(PREFIX) :].startswith(_NEUTRAL_NAMES):
                return reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
            if name.startswith("tensorflow.") and name.endswith("Hook"):
                return reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
    return ""


def _followed(
    project: Project, modules: list[Module], sources: list[Source], inside: Mapping[str, Spans], draws: bool
) -> Loop | NotPlain:
    """The loop, from all places that read its Estimators."""
    reader, uses, reads, exported = Reader(project), [], [], []
    for module, node, found in _reads(project, sources):
        read = read_of(module, node, found)
        if isinstance(read, str):
            return NotPlain(reason_at(read, module, node))
        if read is not None:
            reads.append(read)
            continue
        use = export_of(project, module, node, found) or use_of(reader, module, node, found)
        if isinstance(use, str):
            return NotPlain(reason_at(use, module, node))
        if isinstance(use, Export):
            exported.append(use)
        elif use is not None:
            uses.append(use)
    if not uses:
        return NotPlain("nothing uses its Estimator")
    uses.sort(key=lambda use: (use.module.path, use.module.span(use.call)))
    reason = (
        _of_rows(project, uses)
        or _of_trainings(uses)
        or of_functions(uses)
        or _of_settings(uses)
        or _of_names(project, modules, [*uses, *exported])
        or of_starts(uses)
    )
    reason = reason or of_folders([*uses, *exported, *(read for read in reads if read.needs_checkpoint)], uses)
    reason = reason or of_exports(exported)
    steps = steps_read(project, modules, uses, exported, inside)
    if reason or isinstance(steps, str):
        return NotPlain(reason or str(steps))
    arrays = tuple(array_inputs(project, uses))
    together = steps_together(project, uses)
    listed = lists_checkpoints(modules) if any(source.settings.directory is not None for source in sources) else ()
    layers = (*otherwise(modules), *((module, node, FIRST) for module, node in listed))
    tables = has_tables(project.modules.values())
    needing = [*uses, *exported, *(read for read in reads if read.what in (OF_WEIGHTS, VALUE, STEP))]
    buildings = {source: buildings_of(project, source, needing) for source in sources}
    all_reads, saved = (*reads, *steps), tuple(exported)
    loop = Loop(tuple(sources), tuple(uses), all_reads, arrays, draws, together, layers, buildings, saved, tables)
    reason = of_receivers(project, loop.fed) or of_paths([*loop.uses, *loop.exports], loop.readers)
    if any(fed.choices for _, fed in loop.receivers) and len({source.signatures for source in sources}) > 1:
        reason = reason or "one of several Estimators that serve differently"
    chosen = [fed for _, fed in loop.receivers if len(fed.choices) > 1]
    if any(each.verb != "predict" for fed in chosen for each in sources[0].signatures.given(fed.text)):
        reason = reason or "signatures that classify, of one of several functions"
    return NotPlain(reason) if reason else loop


def _reads(project: Project, sources: list[Source]) -> Iterator[tuple[Module, ast.expr, tuple[Source, ...]]]:
    """Each place that reads Estimators, with those that it may read."""
    found: dict[ast.expr, tuple[Module, list[Source]]] = {}
    for source in sources:
        for module, node in Follower(project, [source.construction]).run().reads:
            _, known = found.setdefault(node, (module, []))
            if source not in known:
                known.append(source)
    for node, (module, known) in found.items():
        if not (isinstance(node, ast.Call) and isinstance(module.parent(node), ast.Expr)):  # what `train` returns
            yield module, node, tuple(known)


def _of_settings(uses: list[Use]) -> str:
    """Why settings of an Estimator cannot be written where it is used."""
    for use in uses:
        if not use.by_name:
            told = [use.fields.get(name) for name in NUMBERS]
            told += [part for each in use.inputs for part in given_parts(each.given)]
            if not all(value is None or stands(use, value) for value in told):
                return reason_at("settings of an Estimator that is used elsewhere", use.module, use.call)
        several = use.saves or use.to_step or use.validation is not None
        if several and not is_simple(use.receiver):
            return reason_at("an Estimator in an expression that is not simple", use.module, use.call)
    return ""


def _of_names(project: Project, modules: list[Module], uses: Sequence[Use | Export]) -> str:
    """Why `train_and_evaluate`, exports and what they are given stay."""
    known = {name for use in uses for name in use.names}
    for module in modules:
        unused = idle_spans(project, module)
        for node, name in module.references():
            if name in _LOOKED_AT and node not in known and inside_unused(module, node, unused) is None:
                return reason_at(f"tf.{name.split('.', 1)[1]}", module, node)
    return ""


def _of_rows(project: Project, uses: list[Use]) -> str:
    """Why predictions of a Keras model, which an Estimator gives by the names of its outputs, cannot be arrays."""
    found = [use for use in uses if use.method == "predict" and use.sources[0].model is not None]
    if not all(is_one(use.module, use.call) for use in found) or (found and not has_one_output(project)):
        return "predictions of a Keras model by the names of its outputs"
    return ""


def of_one_device(loop: Loop, written: Collection[ast.Call] = ()) -> str:
    """Why trainings that end with their data are not what as many calls of `fit` do.

    Keras counts one step too many there, unless the model has a `train_step` of its own, as those have that are `written` for
    calls.
    """
    for use in loop.uncounted:
        if loop.on_tpu or any(source.construction.call not in written for source in use.sources):
            return reason_at("several trainings on data of an unknown number", use.module, use.call)
    return ""


def _of_trainings(uses: list[Use]) -> str:
    """Why several trainings are not what as many calls of `fit` do."""
    for use in uses:
        if use.method != "train":
            continue
        goes_on = trains_again(use, uses)
        reason = ""
        lines = use.saves or (goes_on and use.to_step)
        if use.limit is None and use.input.data.ends is False:
            reason = "a training without an end"
        elif lines and not has_its_line(use.module, use.call):
            reason = "a training in the line of another statement"
        if reason:
            return reason_at(reason, use.module, use.call)
    return ""
