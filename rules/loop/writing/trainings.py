"""The lines of trainings: `fit`, in one epoch or by epochs, with what stands above and below it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator

from ...callbacks.callback_writer import CallbackWriter
from ...callbacks.functions import BATCH, EPOCH, Functions
from ...distribute.spread import Spread
from ...exports.exportwriter import ExportWriter
from ..flow.pauses import is_new, until
from ..loop import Loop
from ..page import Page
from ..places import counter_of, is_simple
from ..remarks import of_what_is_gone
from ..use import Use
from .data import DataWriter
from .names import Names


class TrainingWriter:
    """Writes the trainings of a file, on the devices of `spread` if there is one."""

    def __init__(
        self,
        loop: Loop,
        page: Page,
        names: Names,
        data: DataWriter,
        callbacks: CallbackWriter,
        exports: ExportWriter,
        spread: Spread | None,
    ) -> None:
        self.loop, self.page, self.names, self.data = loop, page, names, data
        self.callbacks, self.exports, self.spread = callbacks, exports, spread

    def lines(self, use: Use, model: str, data: str) -> list[str]:
        """A training on `data`, with what the program reads of it."""
        lines = self._trained(use, model, self.spread.data(use) if self.spread is not None else data)
        if use.result is None:
            return lines
        guarded = self.loop.goes_on(use) and (use.by_epochs or use.to_step)
        return use.result.around(lines, guarded, self._unused(use))

    def means(self, use: Use, model: str) -> str:
        """The line that gives all replicas the means of their moving statistics."""
        newest = f"{self._checkpoints(use, model)}.latest_checkpoint"
        restored = f"{self.names.restored(use.sources[0], model)}.restore({newest})"
        return f"{restored}  # which has means of replicas' moving averages"

    def _trained(self, use: Use, model: str, data: str) -> list[str]:
        """The lines that train."""
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
            steps = self.page.module.unused_name("steps", use.call)
            text = (
                f"({self.page.text(limit)} or {self.page.library('sys')}.maxsize)"
                if use.unlimited
                else self.page.operand(limit)
            )
            lines.append(f"{steps} = {text} - {model}.optimizer.iterations.numpy()")
            lines.append(f"if {steps} > 0:")
            data += self._limited(use, steps)
        elif limit is not None:
            data += self._limited(use, self.data.number(limit, use.unlimited))
        elif self.spread is not None:
            data += self._limited(use, self.spread.steps(use, self.data.written(use.input)))
        behind = []
        if self.spread is not None and use.validation is not None:
            behind = self.spread.behind(use, self.data.written(use.validation.input), self.means(use, model))
        data += "" if behind else self._validation(use)
        functions = Functions(self.page, use.call)
        callbacks = self._callbacks(use, model, functions, ends)
        inner = [*functions.lines, *self.callbacks.recording(use, model), *of_what_is_gone(use)]
        made = [source.construction.call for source in use.sources]
        epoch = counter_of(self.page.module, use.call, made) if use.saves else None
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
        last = known[0] if known else self.page.module.unused_name("max_steps", use.call)
        epochs = f"-(-{last} // {every})" if use.divided is None else str(use.divided)
        done, first = "", ""
        if goes_on:
            done = self.page.module.unused_name("done", use.call)
            first = f"initial_epoch={done} // {every}, "
        counted = []
        if use.measured:
            fed = self.page.module.unused_name("train_data", use.call)
            counted, data = [f"{fed} = {data}", f"{last} = {self._counted(use, fed, done)}"], fed
        functions, parts = Functions(self.page, use.call), []
        if use.stops(goes_on):
            stop, ends = f"{model}.stop_training = True", f"{steps}.numpy() >= {last}"
            parts.append(functions.add(BATCH, "stop_at_last_step", [stop], ends))
        saved = [f"{self._checkpoints(use, model)}.save({steps})"] if use.saves and not use.listens else []
        counted_steps, evaluated = self._amid(use)
        if evaluated:
            name = "save_and_evaluate" if saved else "evaluate"
            parts.append(functions.add(EPOCH, name, [*saved, *evaluated]))
        elif saved:
            parts.append(f"on_epoch_end=lambda epoch, logs: {saved[0]}")
        told = f"steps_per_epoch={every}, {first}epochs={epochs}{self._validation(use)}"
        callbacks = self.callbacks.called(use, model, parts, functions)
        inner = [
            *counted_steps,
            *([""] if counted_steps else []),
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
        data += self.data.taken(use)
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
                name = self.page.module.unused_name(name, use.call)
                lines.append(f"{name} = {text}")
            found.append(text if is_simple(value) else name)
        return found, lines

    def _amid(self, use: Use) -> tuple[list[str], list[str]]:
        """The lines above a training, and at the ends of its epochs, by which a cluster evaluates it; see `Spread.amid`."""
        if self.spread is None or use.validation is None:
            return [], []
        return self.spread.amid(use, self.data.validated(use.validation))

    def _validation(self, use: Use) -> str:
        """The argument of `fit` for the data of evaluations."""
        if any(self._amid(use)):
            return ""
        return "" if use.validation is None or use.whole else f", validation_data={self.data.validated(use.validation)}"

    def _callbacks(self, use: Use, model: str, functions: Functions, ends: str = "") -> str:
        """The callbacks of a training in one epoch, that may end it."""
        interval, parts = use.interval, []
        if interval is not None and use.counted and not use.listens:
            every = self.page.closed(interval) if isinstance(interval, ast.expr) else str(interval)
            checkpoints, step = self._checkpoints(use, model), f"{model}.optimizer.iterations"
            above, when = [], f"(batch + 1) % {every} == 0"
            if use.pauses:
                name = self.page.module.unused_name("step", use.call)
                above, when = [f"{name} = {step}.numpy()"], is_new(name, every, checkpoints)
            parts.append(functions.add(BATCH, "save_checkpoint", [f"{checkpoints}.save({step})"], when, above))
        return self.callbacks.called(use, model, parts, functions, ends)

    def _own_folder(self, use: Use, model: str) -> str:
        """The folder that a process writes SavedModels to: of several workers the first one alone to that of the checkpoints."""
        shared = self.spread is not None and self.spread.distribution.has_workers
        return f"{self._checkpoints(use, model)}.directory" if shared else self.callbacks.folder(use, model)

    def _checkpoints(self, use: Use, model: str) -> str:
        return self.names.checkpoints(use.sources[0], model)

    def _unused(self, use: Use) -> Callable[[str], str]:
        return functools.partial(self.page.module.unused_name, at=use.call)
