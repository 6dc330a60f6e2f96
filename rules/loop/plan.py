"""How a program trains, evaluates and predicts, as data: all uses of its Estimators, or why they stay as they are."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from migrator.analyse.function.plan import Plan
from migrator.analyse.results.stepvalues import StepValue
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reasons import reason_at
from migrator.resolve.text import Spans

from ..callbacks.callback_classes import BATCH_LOSS, OwnHook, of_own_hooks
from ..callbacks.functions import of_functions
from ..callbacks.keras_callbacks import is_known, is_listener, of_hooks
from ..distribute.tpu_facts import describes_tpu
from ..estimator_calls.checkpoint_readers import READERS, reading_modules
from ..estimator_calls.estimator_values import PREFIX, Construction, Values
from ..estimator_calls.following import Follower
from ..estimator_calls.keras_estimator import has_one_output
from ..estimator_calls.warm_starts import STARTS
from ..exports.archives import archives, has_tables
from ..exports.exporters import NAMES as EXPORTERS
from ..exports.exports import Export, export_of, of_exports
from ..exports.receivers import NAMES as RECEIVERS
from ..exports.receivers import Receiver, of_receivers
from ..exports.signatures import Signatures
from ..hooks.session_hooks import is_of_protocol
from ..losses_metrics import step_summaries
from .arrays import ArrayInput, array_inputs
from .data.datasets import Reader
from .flow.building import Building, building_of, is_shared_generator
from .flow.lifetimes import of_folders
from .flow.order import of_paths, of_starts
from .inputs import given_parts
from .keras_3 import Remark, otherwise
from .places import has_its_line, is_simple
from .reads import STEP, Read, read_of, steps_read
from .rows import is_one
from .sources import Kind, Place, Source, sources_of
from .specs import NAMES
from .use import Use
from .uses import use_of
from .variables import VALUE

_NEUTRAL_NAMES = ("ModeKeys", "EstimatorSpec", "Estimator", "inputs.numpy_input_fn", "inputs.pandas_input_fn")
"""Names of the library that stand for nothing else in a program whose loop is understood."""

_LOOKED_AT = NAMES | RECEIVERS | EXPORTERS
"""Names whose references have to be those of uses that are understood."""


@dataclass(frozen=True)
class Distribution:
    """The devices and machines that a program trains on."""

    strategy: ast.expr | None = None
    """What its configuration asks for; None: TF_CONFIG decides, where the model is made."""
    nones: tuple[ast.expr, ...] = ()
    """Parts of that, or values of names in it, by which it asks for none."""
    evened: bool = False
    """Whether replicas have moving statistics of their own, which a checkpoint has the means of."""
    servers: bool = False
    """Whether a cluster is one of parameter servers, since there is a partitioner."""

    @property
    def has_workers(self) -> bool:
        """Whether workers of TF_CONFIG may keep equal variables: all of them save then, the first one for good."""
        return self.strategy is None and not self.servers

    @property
    def on_cluster(self) -> bool:
        """Whether TF_CONFIG decides."""
        return self.strategy is None

    def evaluates_behind(self, use: Use) -> bool:
        """Whether a cluster evaluates a training at its end alone, so that this may be a call of its own."""
        return self.on_cluster and use.validation is not None and use.every is None


@dataclass(frozen=True)
class Loop:
    """The training loop of a program, of which everything is understood."""

    sources: tuple[Source, ...]
    """Its Estimators."""
    uses: tuple[Use, ...]
    """In the order of the files, and of their lines."""
    reads: tuple[Read, ...]
    """What else is read of them."""
    arrays: tuple[ArrayInput, ...]
    """Input functions of arrays that become datasets."""
    draws: bool
    """Whether the program draws from the generators of Python or NumPy."""
    grouped: bool
    """Whether Keras may run several steps in one call: it has to know the number of batches."""
    otherwise: tuple[Remark, ...]
    """Layers that Keras 3 computes otherwise."""
    building: Mapping[Source, Building]
    """What makes the weights of models before they are restored."""
    exports: tuple[Export, ...] = ()
    tables: bool = False
    """Whether models may hold lookup tables."""
    distribution: Distribution | None = None
    """None: it trains on one device."""

    @property
    def places(self) -> list[Use | Export | Read]:
        """Wherever something is done with its Estimators."""
        return [*self.uses, *self.exports, *self.reads]

    @property
    def fed(self) -> Iterator[tuple[Module, Receiver]]:
        """What its SavedModels are fed."""
        for module, fed in self.receivers:
            yield from fed.choices or [(module, fed)]

    @property
    def receivers(self) -> list[tuple[Module, Receiver]]:
        """The same, where one of several is chosen as a whole."""
        exporters = ((use.module, exporter.fed) for use in self.uses for exporter in use.exporters)
        return [*((export.module, export.fed) for export in self.exports), *exporters]

    def archives(self, fed: Receiver, signatures: Signatures) -> bool:
        """Whether an `ExportArchive` of Keras exports what is fed so. It saves moving statistics of one replica alone."""
        replicated = self.on_tpu or (self.distribution is not None and not self.distribution.servers)
        chosen = {choice.function for _, receiver in self.receivers for _, choice in receiver.choices}
        return not replicated and archives(fed, signatures, self.tables, chosen)

    def readers(self, place: Place) -> list[Place]:
        """What may need the weights, or the step, that were there before a place."""
        names = (VALUE, STEP) if isinstance(place, Export) else (VALUE,)  # steps are those of evaluations
        return [*self.uses, *self.exports, *(read for read in self.reads if read.what in names)]

    @property
    def tasks(self) -> dict[str, Spans]:
        """Where fields of its configurations are read that tell of the cluster, by file."""
        found: dict[str, list[tuple[int, int]]] = {}
        for source in self.sources:
            spans = map(source.module.span, source.settings.tasks)
            found.setdefault(source.module.path, []).extend(spans)
        return {path: Spans(spans) for path, spans in found.items()}

    @property
    def uncounted(self) -> list[Use]:
        """Trainings that may reach the end of data of an unknown number, and are not the only ones of their model."""
        trainings = (use for use in self.uses if use.method == "train" and use.input.data.ends is not False)
        ended = (use for use in trainings if not use.measured)  # no step is begun where the data end
        return [use for use in ended if not use.input.data.counted and _trains_again(use, self.uses)]

    @property
    def on_tpu(self) -> bool:
        """Whether it trains on a TPU, if it is told so."""
        return any(source.settings.tpu.use is not None for source in self.sources)

    @property
    def modules(self) -> list[Module]:
        """The files that make its Estimators or use them."""
        fed = (module for module, _ in self.fed)
        return list(dict.fromkeys([*(s.module for s in self.sources), *(place.module for place in self.places), *fed]))

    @property
    def first(self) -> Source:
        """The Estimator that stands for the program where one place is named."""
        return self.sources[0]

    def goes_on(self, use: Use) -> bool:
        """Whether the model may have been trained before a training."""
        return _goes_on(use, self.uses)

    def records(self, plan: Plan) -> bool:
        """Whether the model that a model_fn becomes writes summaries of its own."""
        own = step_summaries.written(plan) if step_summaries.recorded(plan) else frozenset()
        return any(source.recorded and source.summaries & own for source in self.sources)

    def wanted(self, plan: Plan) -> dict[str, StepValue]:
        """Tensors of a model_fn that its model hands out for callbacks, by their keys."""
        leaves = set(plan.flow.leaves)
        return {key: value for use in self.uses for key, value in use.wanted if value.leaf in leaves}

    @property
    def own_hooks(self) -> dict[ast.ClassDef, list[OwnHook]]:
        """Hooks of classes of the program, by these."""
        found: dict[ast.ClassDef, list[OwnHook]] = {}
        for own in (own for use in self.uses for own in use.own):
            found.setdefault(own.hook.definition, []).append(own)
        return found

    @property
    def listeners(self) -> dict[tuple[Module, ast.ClassDef], None]:
        """Classes of listeners of checkpoints, with their files."""
        return dict.fromkeys((use.module, definition) for use in self.uses for definition in use.listeners)

    def source(self, construction: Construction) -> Source:
        """The Estimator that is made at a place."""
        return next(source for source in self.sources if source.construction is construction)

    def is_local(self, source: Source) -> bool:
        """Whether all that is done with an Estimator reads the name that it is assigned to, beside which others may stand."""
        return source.name is not None and all(place.by_name for place in self.places if source in place.sources)


@dataclass(frozen=True)
class NotPlain:
    """Why the loop of a program stays with the helpers."""

    reason: str


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
        reason = of_hooks(modules, inside, told.union(*(use.names for use in loop.uses))) or _of_logs(loop.uses)
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
        for node, name in module.references():
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
            if describes_tpu(name):  # and goes with its configuration
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
        or _of_names(modules, [*uses, *exported])
        or of_starts(uses)
    )
    reason = reason or of_folders([*uses, *exported, *(read for read in reads if read.needs_checkpoint)], uses)
    reason = reason or of_exports(exported)
    steps = steps_read(modules, uses, exported, inside)
    if reason or isinstance(steps, str):
        return NotPlain(reason or str(steps))
    arrays = tuple(array_inputs(project, uses))
    grouped = all(data.counted for use in uses for data in use.data) and _divides(uses)
    layers = tuple(otherwise(modules))
    tables = has_tables(project.modules.values())
    needing = [*uses, *exported, *(read for read in reads if read.what in (NAMES, VALUE, STEP))]
    begun = ((source, building_of(project, source, needing)) for source in sources)
    building = {source: found for source, found in begun if found is not None}
    all_reads, saved = (*reads, *steps), tuple(exported)
    loop = Loop(tuple(sources), tuple(uses), all_reads, arrays, draws, grouped, layers, building, saved, tables)
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
            told = [use.fields.get(name) for name in ("save_checkpoints_steps", "save_summary_steps")]
            told += [part for each in use.inputs for part in given_parts(each.given)]
            if not all(value is None or _is_everywhere(use, value) for value in told):
                return reason_at("settings of an Estimator that is used elsewhere", use.module, use.call)
        several = use.saves or use.to_step or use.validation is not None
        if several and not is_simple(use.receiver):
            return reason_at("an Estimator in an expression that is not simple", use.module, use.call)
    return ""


def _is_everywhere(use: Use, node: ast.expr) -> bool:
    """Whether an expression of the code that makes an Estimator means the same where it is used."""
    if isinstance(node, ast.Constant):
        return True
    module = use.sources[0].module
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or use.module is not module or any(s.module is not module for s in use.sources):
        return False
    scope = module.scope(root).lookup(root.id)
    here = module.scope(use.receiver).lookup(root.id)
    return scope is not None and scope is here and scope.kind == "module" and len(module.bindings(root)) == 1


def _goes_on(use: Use, uses: Collection[Use]) -> bool:
    """Whether the model may have been trained before a training, by another one or by an earlier run."""
    same = (each for each in uses if each.method == "train" and set(each.sources) & set(use.sources))
    return use.saves or use.repeated or use is not next(same, None)


def _divides(uses: list[Use]) -> bool:
    """Whether callbacks see each step that they wait for, where they are called every hundred steps."""
    if any(use.stops(_goes_on(use, uses)) or use.single for use in uses):
        return False  # one waits for the last step
    for use in (use for use in uses if use.method == "train"):
        numbers = [
            *(line.every for line in use.logged),
            *([use.interval, use.fields.get("save_summary_steps")] if use.saves else []),
            use.every,
        ]
        known = [n.value if isinstance(n, ast.Constant) else n for n in numbers if n is not None]
        if not all(isinstance(number, int) and number % 100 == 0 for number in known):
            return False
    return True


def _of_names(modules: list[Module], uses: Sequence[Use | Export]) -> str:
    """Why `train_and_evaluate`, exports and what they are given stay."""
    known = {name for use in uses for name in use.names}
    for module in modules:
        for node, name in module.references():
            if name in _LOOKED_AT and node not in known:
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


def _trains_again(use: Use, uses: Collection[Use]) -> bool:
    """Whether it is one of several trainings of a model."""
    others = (each for each in uses if each is not use and each.method == "train")
    return _goes_on(use, uses) or any(set(each.sources) & set(use.sources) for each in others)


def _of_trainings(uses: list[Use]) -> str:
    """Why several trainings are not what as many calls of `fit` do."""
    for use in uses:
        if use.method != "train":
            continue
        goes_on = _trains_again(use, uses)
        reason = ""
        lines = use.saves or (goes_on and use.to_step)
        if use.limit is None and use.input.data.ends is False:
            reason = "a training without an end"
        elif lines and not has_its_line(use.module, use.call):
            reason = "a training in the line of another statement"
        if reason:
            return reason_at(reason, use.module, use.call)
    return ""
