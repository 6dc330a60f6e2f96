"""The edits that write a loop with `fit`, `evaluate` and `predict`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType

from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.text import Spans, within
from migrator.vocabulary.diagnostics import Edit

from ..callbacks.callback_writer import CallbackWriter
from ..callbacks.functions import BATCH, Functions
from ..distribute import tpu_facts
from ..distribute.spread import Spread
from ..distribute.task_reads import resolver_of, task_text
from ..estimator_calls.estimator_values import Construction
from ..exports.exportwriter import ExportWriter
from .comments import comments, of_lost_times
from .flow.handed import Handed
from .flow.pauses import is_new, until
from .flow.restores import Restores
from .inputs import Input
from .loop import Loop
from .making import Compiled, Names, is_held, made, strategies
from .page import Page
from .places import counter_of, is_simple, line_above
from .predictions import PredictionWriter
from .reads import EVAL_DIR, Read
from .remarks import of_what_is_gone
from .specs import Validation
from .use import Use
from .variables import NAMES, VALUE


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
        told = loop.distribution
        shared = told is not None and told.has_workers
        self.restores = Restores(loop, self.page, self.names)
        self.exports = ExportWriter(self.page, self.names, shared, loop.archives, self.restores)
        self.callbacks = CallbackWriter(loop, self.page, self.names, self.exports, self._data, self._validated)
        self.spread = Spread(told, loop, self.page, self.names.model(loop.first)) if told is not None else None

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
        yield from strategies(self.loop, self.page)
        yield from self.restores.function()
        for export in (export for export in self.loop.exports if export.module is module):
            self.page.known.update((call, module.segment(call.func).rpartition(".")[0]) for call in export.decoded)
        for where, fed in self.loop.fed:
            self.page.known.update(self.exports.known(fed) if where is module else ())
        yield from made(self.loop, self.page, self.names, self._data, self.spread, self.compiled)
        self.exports.name_choices(self.loop.receivers)
        yield from self.exports.edits(self.loop.exports)
        yield from self.exports.choices(self.loop.receivers, self.loop.first.signatures)
        for use in (use for use in self.loop.uses if use.module is module):
            model = self.names.receiver(use.sources[0], use.receiver)
            self.page.asides = use.asides
            yield from self._of_strategy(use, model)
            statement, data, begun = module.statement(use.call), self._data(use.input), list[str]()
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
                lines = self._training(use, model, self.spread.data(use) if self.spread is not None else data)
                if use.result is not None:
                    guarded = self.loop.goes_on(use) and (use.by_epochs or use.to_step)
                    lines = use.result.around(lines, guarded, self._unused(use))
                apart = [""] if late and lines[0].startswith("def ") else []
                yield from self.page.instead(statement, [*late, *apart, *lines])
            elif use.method == "evaluate":
                on_cluster = self.spread is not None and self.spread.distribution.on_cluster
                data = self.spread.evaluation(use, data) if self.spread and on_cluster else data + self._taken(use)
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

    def _data(self, data: Input) -> str:
        """The dataset that an input function returns."""
        for array in self.loop.arrays:
            if data.function in array.functions:
                return array.name or array.written(self.page)
        return data.written(self.module, self.page.text, tf=self.page.tf)

    # -- trainings ----------------------------------------------------------------------------------------------------

    def _checkpoints(self, use: Use, model: str) -> str:
        return self.names.checkpoints(use.sources[0], model)

    def _training(self, use: Use, model: str, data: str) -> list[str]:
        """The lines of a training."""
        limit, goes_on = use.limit, self.loop.goes_on(use)
        if use.by_epochs:
            return self._epochs(use, model, data, goes_on)
        lines: list[str] = []
        steps, ends = "", ""
        if limit is not None and use.pauses:
            (last,), lines = self._numbers(use, max_steps=limit) if use.to_step else (["last_step"], [])
            above, ends, endless = until(use, model, self.page.operand(limit), last, goes_on)
            lines, data = [*lines, *above], data + endless
        elif limit is not None and use.to_step and goes_on:
            steps = self.module.unused_name("steps", use.call)
            text = (
                f"({self.page.text(limit)} or {self.page.library('sys')}.maxsize)"
                if use.unlimited
                else self.page.operand(limit)
            )
            lines.append(f"{steps} = {text} - {model}.optimizer.iterations.numpy()")
            lines.append(f"if {steps} > 0:")
            data += self._limited(use, steps)
        elif limit is not None:
            data += self._limited(use, self._number(limit, use.unlimited))
        elif self.spread is not None:
            data += self._limited(use, self.spread.steps(use, self._data(use.input)))
        behind = []
        if self.spread is not None and use.validation is not None:
            behind = self.spread.behind(use, self._data(use.validation.input), self._means(use, model))
        data += "" if behind else self._validation(use)
        functions = Functions(self.page, use.call)
        callbacks = self._callbacks(use, model, functions, ends)
        inner = [*functions.lines, *self.callbacks.recording(use, model), *of_what_is_gone(use)]
        made = [source.construction.call for source in use.sources]
        epoch = counter_of(self.module, use.call, made) if use.saves else None
        told = f", initial_epoch={epoch}, epochs={epoch} + 1" if epoch is not None else ""  # one axis for TensorBoard
        inner += self._fitted(use, model, f"{model}.fit({data}{told}{callbacks})")
        if use.saves and not use.listens:
            inner.append(f"{self._checkpoints(use, model)}.save({model}.optimizer.iterations)")
        inner += behind
        if use.saves:
            inner += self.exports.exported(use, model, self._own_folder(use, model))
        return [*lines, *(self._inside(inner) if lines and lines[-1].endswith(":") else inner)]

    def _fitted(self, use: Use, model: str, fit: str) -> list[str]:
        """A call of `fit`, and what the program reads of it."""
        return [fit] if use.result is None else use.result.fitted(model, fit, self._unused(use))

    def _unused(self, use: Use) -> Callable[[str], str]:
        return functools.partial(self.module.unused_name, at=use.call)

    def _inside(self, lines: Iterable[str]) -> Iterator[str]:
        """Lines of a block."""
        return (f"{self.page.unit}{line}" if line else "" for line in lines)

    def _limited(self, use: Use, steps: str) -> str:
        """What ends a training after so many steps, each of which is one batch of each replica."""
        # Keras 2 begins another step where it does not know the number of batches, and counts it.
        counted = use.input.data.counted and not use.sources[0].takes_batches
        taken = self.spread is None and (counted or use.unlimited)
        return f".take({steps})" if taken else f", steps_per_epoch={steps}"

    def _epochs(self, use: Use, model: str, data: str, goes_on: bool) -> list[str]:
        """The lines of a training with an evaluation after every so many steps."""
        assert use.every is not None
        limits = {"max_steps": use.limit} if use.limit is not None and not use.measured else {}
        (every, *known), computed = self._numbers(use, save_steps=use.every, **limits)
        steps = f"{model}.optimizer.iterations"
        last = known[0] if known else self.module.unused_name("max_steps", use.call)
        epochs = f"-(-{last} // {every})" if use.divided is None else str(use.divided)
        done, first = "", ""
        if goes_on:
            done = self.module.unused_name("done", use.call)
            first = f"initial_epoch={done} // {every}, "
        counted = []
        if use.measured:
            fed = self.module.unused_name("train_data", use.call)
            counted, data = [f"{fed} = {data}", f"{last} = {self._counted(use, fed, done)}"], fed
        functions, parts = Functions(self.page, use.call), []
        if use.stops(goes_on):
            stop, ends = f"{model}.stop_training = True", f"{steps}.numpy() >= {last}"
            parts.append(functions.add(BATCH, "stop_at_last_step", [stop], ends))
        if use.saves and not use.listens:
            parts.append(f"on_epoch_end=lambda epoch, logs: {self._checkpoints(use, model)}.save({steps})")
        told = f"steps_per_epoch={every}, {first}epochs={epochs}{self._validation(use)}"
        callbacks = self.callbacks.called(use, model, parts, functions)
        inner = [
            *functions.lines,
            *of_what_is_gone(use),
            *self._fitted(use, model, f"{model}.fit({data}, {told}{callbacks})"),
            *self.exports.exported(use, model, self._own_folder(use, model)),
        ]
        if not done:
            computed += counted
            return [*computed, *([""] if computed and functions.lines else []), *inner]
        inner = [f"if {done} < {last}:", *self._inside(inner)]
        return [*computed, f"{done} = {steps}.numpy()", *counted, *inner]

    def _counted(self, use: Use, data: str, done: str) -> str:
        """The step at which the data end, or the limit before."""
        data += self._taken(use)
        count = (
            f"{data}.cardinality()" if use.input.data.counted else f"{data}.reduce(0, lambda batches, _: batches + 1)"
        )
        last = f"{done} + {count}.numpy()" if done else f"{count}.numpy()"
        return f"min({self.page.closed(use.limit)}, {last})" if use.limit is not None and done else last

    def _numbers(self, use: Use, **numbers: ast.expr) -> tuple[list[str], list[str]]:
        """How to write each of some numbers several times, and the lines that compute them before."""
        found, lines = [], []
        for name, value in numbers.items():
            text = self.page.text(value)
            if not is_simple(value):
                name = self.module.unused_name(name, use.call)
                lines.append(f"{name} = {text}")
            found.append(text if is_simple(value) else name)
        return found, lines

    def _validation(self, use: Use) -> str:
        """The argument of `fit` for the data of evaluations."""
        return "" if use.validation is None or use.whole else f", validation_data={self._validated(use.validation)}"

    def _validated(self, validation: Validation) -> str:
        """The data of evaluations."""
        limit, data = validation.limit, self._data(validation.input)
        number = self._number(limit, validation.unlimited) if isinstance(limit, ast.expr) else limit
        return f"{data}{'' if limit is None else f'.take({number})'}"

    def _specs(self, use: Use) -> Iterator[Edit]:
        """Statements that hold specs go; their comments stay."""
        for spec in use.validation.specs if use.validation is not None else ():
            if spec.statement is not None:
                kept = self._kept(use)
                found = comments(self.module, *self.module.span(spec.statement))
                found = ((at, text) for at, text in found if not of_lost_times(self.module, at))
                lines = [text for at, text in found if not within((at, at + 1), kept)]
                yield from self.page.instead(spec.statement, lines)

    def _callbacks(self, use: Use, model: str, functions: Functions, ends: str = "") -> str:
        """The callbacks of a training in one epoch, that may end it."""
        interval, parts = use.interval, []
        if interval is not None and use.counted and not use.listens:
            every = self.page.closed(interval) if isinstance(interval, ast.expr) else str(interval)
            checkpoints, step = self._checkpoints(use, model), f"{model}.optimizer.iterations"
            above, when = [], f"(batch + 1) % {every} == 0"
            if use.pauses:
                name = self.module.unused_name("step", use.call)
                above, when = [f"{name} = {step}.numpy()"], is_new(name, every, checkpoints)
            parts.append(functions.add(BATCH, "save_checkpoint", [f"{checkpoints}.save({step})"], when, above))
        return self.callbacks.called(use, model, parts, functions, ends)

    def _own_folder(self, use: Use, model: str) -> str:
        """The folder that a process writes SavedModels to: of several workers the first one alone to that of the checkpoints."""
        shared = self.spread is not None and self.spread.distribution.has_workers
        return f"{self._checkpoints(use, model)}.directory" if shared else self.callbacks.folder(use, model)

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

    # -- all uses -----------------------------------------------------------------------------------------------------

    def _taken(self, use: Use) -> str:
        """At most so many batches."""
        if use.limit is None:
            return ""
        number = self._number(use.limit, use.unlimited)
        return f", steps={number}" if use.sources[0].takes_batches and not use.unlimited else f".take({number})"

    def _number(self, node: ast.expr, unlimited: bool) -> str:
        """How many elements a dataset gives, all of them where the number is None."""
        text = self.page.text(node)
        return f"-1 if {text} is None else {text}" if unlimited else text

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
            lines = [self._means(use, model), *lines]
        if lines:
            yield from self.page.above(self.module.statement(use.call), lines)

    def _means(self, use: Use, model: str) -> str:
        """The line that gives all replicas the means of their moving statistics."""
        newest = f"{self._checkpoints(use, model)}.latest_checkpoint"
        restored = f"{self.names.checkpoint(self.loop.first)}.restore({newest})"
        return f"{restored}  # which has means of replicas' moving averages"

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
