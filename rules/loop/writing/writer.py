"""The edits that write a loop with `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import MappingProxyType

from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.text import Spans, within
from migrator.vocabulary.diagnostics import Edit

from ...callbacks.callback_writer import CallbackWriter
from ...callbacks.functions import Functions
from ...distribute import tpu_facts
from ...distribute.spread import Spread
from ...distribute.task_reads import resolver_of, task_text
from ...estimator_calls.estimator_values import Construction
from ...exports.exportwriter import ExportWriter
from ..comments import comments, of_lost_times
from ..flow.handed import Handed
from ..flow.restores import Restores
from ..loop import Loop
from ..page import Page
from ..places import line_above
from ..reads import EVAL_DIR, Read
from ..use import Use
from ..variables import NAMES, VALUE
from .data import DataWriter
from .making import made
from .names import Names
from .predictions import PredictionWriter
from .scopes import Compiled, is_held, strategies
from .trainings import TrainingWriter


class LoopWriter:
    """Writes what one file has of a loop. `renderer` writes parts of the file, with the edits of their names; for `compiled`
    see `making.made`."""

    def __init__(
        self,
        loop: Loop,
        module: Module,
        renderer: Renderer,
        tf: str,
        compiled: Compiled = MappingProxyType({}),
        need: Callable[[str], str] = str,
    ) -> None:
        self.loop = loop
        self.compiled = compiled
        self.module = module
        self.page = Page(module, renderer, tf, need)
        self.names = Names(loop, self.page)
        self.data = DataWriter(loop, self.page)
        told = loop.distribution
        shared = told is not None and told.has_workers
        self.restores = Restores(loop, self.page, self.names)
        self.exports = ExportWriter(self.page, self.names, shared, loop.archives, self.restores)
        self.callbacks = CallbackWriter(
            loop, self.page, self.names, self.exports, self.data.written, self.data.validated
        )
        self.spread = Spread(told, loop, self.page, self._called, self.data.written) if told is not None else None
        self.trainings = TrainingWriter(
            loop, self.page, self.names, self.data, self.callbacks, self.exports, self.spread
        )

    def _called(self, use: Use | None) -> str:
        """What a model is called at a use, or else where it is made."""
        if use is None:
            return self.names.model(self.loop.first)
        return self.names.receiver(use.sources[0], use.receiver)

    def edits(self) -> Iterator[Edit]:
        """All edits, but for those of the constructions."""
        module, predictions = self.module, PredictionWriter(self.page)
        for use in (use for use in self.loop.uses if use.module is module):
            if use.limit is not None and use.fraction:
                whole = f"{self.page.library('math')}.ceil({self.page.text(use.limit)})"  # as StopAtStepHook counts
                self.page.known[use.limit] = whole
        reads = [read for read in self.loop.reads if read.module is module]
        self.page.known.update((read.node, self._read(read)) for read in reads)
        renamed: list[Handed] = []
        for settings in (source.settings for source in self.loop.sources if source.module is module):
            self.page.known.update((node, self.page.text(value)) for node, value in settings.reads)
            if settings.handed is not None and settings.handed not in renamed:
                renamed.append(settings.handed)
                yield from self.page.change(*settings.handed.renamed)
                self.page.known.update(self._handed(settings.handed, settings.fields["model_dir"]))
            if settings.statement is not None:
                resolver = resolver_of(module, settings.statement)
                self.page.known.update((node, task_text(module, node, resolver)) for node in settings.tasks)
        yield from strategies(self.loop, self.page, self.compiled)
        yield from self.restores.function()
        for export in (export for export in self.loop.exports if export.module is module):
            self.page.known.update((call, module.segment(call.func).rpartition(".")[0]) for call in export.decoded)
        for where, fed in self.loop.fed:
            self.page.known.update(self.exports.known(fed) if where is module else ())
        yield from made(self.loop, self.page, self.names, self.data.written, self.spread, self.compiled)
        self.exports.name_choices(self.loop.receivers)
        yield from self.exports.edits(self.loop.exports)
        yield from self.exports.choices(self.loop.receivers, self.loop.first.signatures)
        for use in (use for use in self.loop.uses if use.module is module):
            model = self.names.receiver(use.sources[0], use.receiver)
            self.page.asides = use.asides
            yield from self._of_strategy(use, model)
            statement, data, begun = module.statement(use.call), self.data.written(use.input), list[str]()
            if use.starts(self.loop.uses):
                name = self.page.free(use.call, "data", "train_data")
                begun, data = [f"{name} = {data}"], name
            above, late = self.restores.above(use, model, data)
            if begun:
                first = late if above is statement else []
                begun, late = [*begun, *first, *self.restores.begun(use, model, data)], late[len(first) :]
            if late and (use.method != "train" or above is not statement):
                yield from self.page.above(above or statement, late)
                late = []
            yield from self._comments(use)
            yield from self._specs(use)
            yield from self._restored(use, model)
            yield from self._hooks(use)
            yield from self.exports.exporters(use)
            if begun:
                yield from self.page.above(statement, begun)
            if use.method == "train":
                lines = self.trainings.lines(use, model, data)
                apart = [""] if late and lines[0].startswith("def ") else []
                yield from self.page.instead(statement, [*late, *apart, *lines])
            elif use.method == "evaluate":
                on_cluster = self.spread is not None and self.spread.distribution.on_cluster
                data = self.spread.evaluation(use, data) if self.spread and on_cluster else data + self.data.taken(use)
                functions = Functions(self.page, use.call)
                callbacks = self.callbacks.evaluated(use, model, functions)
                if functions.lines:
                    yield from self.page.above(module.statement(use.call), functions.lines, apart=True)
                unread = isinstance(module.parent(use.call), ast.Expr) and not module.path.endswith(".ipynb")
                named = "" if unread else ", return_dict=True"  # a cell shows what it ends with
                yield from self.page.replaced(use.call, f"{model}.evaluate({data}{callbacks}{named})")
            else:
                yield from predictions.edits(use, model, data)
        for array in (array for array in self.loop.arrays if array.module is module):
            yield from array.edits(self.page)
        written = Spans(module.span(node) for node in self._rewritten())
        for node, text in self.page.known.items():
            if not written.hold(module.span(node)):
                yield from self.page.replaced(node, text)
        yield from self.page.import_edits()

    def _restored(self, use: Use, model: str) -> Iterator[Edit]:
        """The lines around a use that reads another checkpoint than the newest one."""
        statement, (above, below) = line_above(self.module, use.call), self.restores.other(use, model)
        if statement is not None and above:
            yield from self.page.above(statement, above)
        if below:
            yield from self.page.below(self.module.statement(use.call), below)

    def _handed(self, parameter: Handed, folder: ast.expr) -> Iterator[tuple[ast.AST, str]]:
        """What takes the place of a configuration that a function gets: the folder."""
        yield from ((node, self.page.text(folder)) for node in parameter.given)
        for read in parameter.reads:
            if isinstance(read, ast.Attribute) and read.attr == "model_dir":
                yield read, parameter.name

    def _rewritten(self) -> Iterator[ast.AST]:
        """What is written as a whole, with the expressions in it."""
        for use in (use for use in self.loop.uses if use.module is self.module):
            yield use.call
            yield from use.hooks.statements
            specs = use.validation.specs if use.validation is not None else ()
            yield from (spec.statement for spec in specs if spec.statement is not None)
        yield from (array.call for array in self.loop.arrays if array.module is self.module)
        yield from (export.call for export in self.loop.exports if export.module is self.module)
        yield from (fed.statement for where, fed in self.loop.fed if where is self.module and fed.statement is not None)
        for source in (source for source in self.loop.sources if source.module is self.module):
            construction = source.construction
            yield from (construction.arguments[name] for name in dropped(construction))
            if is_held(self.loop, source):
                yield construction.arguments["params"]
            if source.settings.statement is not None:
                yield source.settings.statement

    def _specs(self, use: Use) -> Iterator[Edit]:
        """Statements that hold specs go; their comments stay."""
        for spec in use.validation.specs if use.validation is not None else ():
            if spec.statement is not None:
                kept = self._kept(use)
                found = comments(self.module, *self.module.span(spec.statement))
                found = ((at, text) for at, text in found if not of_lost_times(self.module, at))
                lines = [text for at, text in found if not within((at, at + 1), kept)]
                yield from self.page.instead(spec.statement, lines)

    def _hooks(self, use: Use) -> Iterator[Edit]:
        """Statements that hold hooks go; their comments stay."""
        for statement in use.hooks.statements:
            lines = [text for _, text in comments(self.module, *self.module.span(statement))]
            yield from self.page.instead(statement, lines)

    def _read(self, read: Read) -> str:
        """What takes the place of what is read of an Estimator."""
        if read.what == "config" and read.value is not None:
            return self.page.text(read.value)
        source = read.sources[0]
        model = self.names.receiver(source, read.receiver)
        checkpoints = self.names.checkpoints(source, model)
        if read.what == "global_step":
            return f"{model}.optimizer.iterations.numpy()"
        if read.what == "params":
            return self.page.closed(source.construction.arguments["params"])
        if read.what in (NAMES, VALUE):
            return self._weights(read, model)
        if read.what == "latest_checkpoint":
            return f"{checkpoints}.latest_checkpoint"
        folder = f"{checkpoints}.directory" if read.folder is None else self.page.text(read.folder)
        return self.page.eval_folder(folder, read.value) if read.what == EVAL_DIR else folder

    def _weights(self, read: Read, model: str) -> str:
        """Weights that are read by their names, or these."""
        variables = read.sources[0].variables
        if read.value is None:
            return f"list({model}.named_weights())" if read.by_names else f"[weight.name for weight in {model}.weights]"
        found = variables.value(read.module, read.value, model, self.page.text) if variables is not None else ""
        return found or f"{model}.named_weights()[{self.page.text(read.value)}].numpy()"

    def _comments(self, use: Use) -> Iterator[Edit]:
        """Comments between the arguments of a call, above its statement."""
        module, (start, end) = self.module, self.module.span(use.call)
        if b"#" not in module.source[start:end]:
            return
        kept = self._kept(use)
        found = ((at, text) for at, text in comments(module, start, end) if not of_lost_times(module, at))
        lines = [text for at, text in found if not within((at, at + 1), kept)]
        if lines:
            yield from self.page.above(module.statement(use.call), lines)

    def _of_strategy(self, use: Use, model: str) -> Iterator[Edit]:
        """The lines above a use that its strategy asks for."""
        if self.spread is None:
            return
        lines = self.spread.above(use)
        if self.spread.restored(use):
            lines = [self.trainings.means(use, model), *lines]
        if lines:
            yield from self.page.above(self.module.statement(use.call), lines)

    def _kept(self, use: Use) -> list[tuple[int, int]]:
        """Where those parts of a call lie that are written anew."""
        limits = [value for name, value in use.arguments.items() if name in ("steps", "max_steps")]
        parts = [*use.input.parts(self.module), *limits]
        if use.validation is not None:
            parts += [*use.validation.input.parts(self.module), *use.validation.parts]
        return [self.module.span(node) for node in parts]


def dropped(construction: Construction) -> frozenset[str]:
    """Arguments of an Estimator that are written elsewhere."""
    elsewhere = {"config", "model_dir", "warm_start_from", *(tpu_facts.ARGUMENTS.split() if construction.tpu else ())}
    return frozenset(elsewhere & set(construction.arguments))
