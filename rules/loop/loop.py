"""The training loop of a program, as data: its Estimators, and all that is done with them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from migrator.analyse.function.plan import Plan
from migrator.analyse.results.stepvalues import StepValue
from migrator.resolve.module import Module
from migrator.resolve.text import Spans

from ..callbacks.callback_classes import OwnHook
from ..estimator_calls.estimator_values import Construction
from ..exports.archives import archives
from ..exports.exports import Export
from ..exports.fed_features import Receiver
from ..exports.signatures import Signatures
from ..losses_metrics import step_summaries
from .data.arrays import ArrayInput
from .flow.building import Building
from .keras_3 import Remark
from .reads import STEP, Read
from .sources import Place, Source
from .use import Use
from .variables import NAMES, VALUE


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

    calls_evaluations: bool = False
    """Whether evaluations amid a training are calls at the ends of its epochs: the model computes its metrics itself, which
    parameter servers pass over in those of `fit`."""

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
    together: int
    """Steps that Keras runs in one call. For more than one it has to know the number of batches."""
    otherwise: tuple[Remark, ...]
    """Layers that Keras 3 computes otherwise, and places that go through all checkpoints."""
    buildings: Mapping[Source, tuple[Building, ...]]
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
        """Trainings that may reach the end of data of an unknown number, after which something counts on the step."""
        trainings = (use for use in self.uses if use.method == "train" and use.input.data.ends is not False)
        ended = (use for use in trainings if not use.measured)  # no step is begun where the data end
        told = (use for use in ended if trains_again(use, self.uses) or any(own.hook.session_reads for own in use.own))
        return [use for use in told if not use.input.data.counted]

    @property
    def evaluates_uncounted(self) -> bool:
        """Whether an evaluation may reach the end of data of an unknown number."""
        evaluated = [use.input.data for use in self.uses if use.method == "evaluate"]
        evaluated += [use.validation.input.data for use in self.uses if use.validation is not None]
        return any(data.ends is not False and not data.counted for data in evaluated)

    @property
    def evaluates_amid(self) -> bool:
        """Whether `fit` evaluates a model while it trains."""
        told = self.distribution
        if told is not None and told.calls_evaluations:
            return False
        validated = (use for use in self.uses if use.validation is not None)
        return any(told is None or not told.evaluates_behind(use) for use in validated)

    @property
    def validates(self) -> bool:
        """Whether a training evaluates its model."""
        return any(use.validation is not None or use.hooks.evaluators or use.listens for use in self.uses)

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
        return goes_on(use, self.uses)

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
    def reads_weights(self) -> bool:
        """Whether the program may read weights where a model holds them."""
        lines = [line for use in self.uses for line in (*use.logged, *use.logged_evaluations)]
        logged = [text for line in lines for _, text in line.pairs if text.startswith("{model}.")]
        asked = any(read.what in (NAMES, VALUE) for read in self.reads)
        return asked or bool(self.own_hooks) or any(not text.startswith("{model}.optimizer.") for text in logged)

    @property
    def listeners(self) -> dict[tuple[Module, ast.ClassDef], None]:
        """Classes of listeners of checkpoints, with their files."""
        return dict.fromkeys((use.module, definition) for use in self.uses for definition in use.listeners)

    def built(self, source: Source) -> tuple[Building, ...]:
        """What makes the weights of a model before they are restored; none: nothing does, or several devices share them."""
        return self.buildings.get(source, ()) if self.distribution is None else ()

    @property
    def restores_by_optimizers(self) -> bool:
        """Whether optimizers have all trainable weights when checkpoints are restored, or Keras 3 runs nothing of it."""
        saved = [source for source in self.sources if source.settings.directory is not None]
        made = (bool(self.built(source)) and all(each.has_slots for each in self.built(source)) for source in saved)
        return self.distribution is not None or all(made)

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


def goes_on(use: Use, uses: Collection[Use]) -> bool:
    """Whether the model may have been trained before a training, by another one or by an earlier run."""
    same = (each for each in uses if each.method == "train" and set(each.sources) & set(use.sources))
    return use.saves or use.repeated or use is not next(same, None)


def trains_again(use: Use, uses: Collection[Use]) -> bool:
    """Whether it is one of several trainings of a model."""
    others = (each for each in uses if each is not use and each.method == "train")
    return goes_on(use, uses) or any(set(each.sources) & set(use.sources) for each in others)
