"""Writes the callbacks that `fit` and `evaluate` are given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Optional

from migrator.analyse.function.translate import is_none

from ..exports.exportwriter import ExportWriter
from ..loop.inputs import Input
from ..loop.loop import Loop
from ..loop.page import Page
from ..loop.places import is_simple
from ..loop.specs import Validation
from ..loop.use import Use
from ..loop.writing.names import Names
from .early_stops import EarlyStop, epochs
from .elements import Condition
from .evaluators import EVALUATES, SELDOM, VALIDATES, Asked, Evaluator
from .functions import BATCH, END, EPOCH, EVALUATED, Functions
from .logged_values import Logged, line_text
from .savers import SAVES

_Entry = tuple[str, Optional[Condition]]
"""A callback, and what has to hold for it."""


class CallbackWriter:
    """Writes those of one file; `data` writes the dataset of an input function, `validated` that of evaluations amid a
    training."""

    def __init__(
        self,
        loop: Loop,
        page: Page,
        names: Names,
        exports: ExportWriter,
        data: Callable[[Input], str],
        validated: Callable[[Validation], str],
    ) -> None:
        self.loop, self.page, self.names, self.exports = loop, page, names, exports
        self.data, self.validated = data, validated
        self.keras = f"{page.tf}.keras.callbacks"

    def called(self, use: Use, model: str, parts: list[str], functions: Functions, ends: str = "") -> str:
        """The argument of `fit`: a LambdaCallback of `parts`, what its hooks became, when it ends, and the summaries of a
        folder."""
        hooks, found = use.hooks, [", ".join(parts)] if parts else []
        exports = self.exports.called(use, model, self.folder(use, model), functions)
        stops = [self._stop(use, stop, model, functions) for stop in hooks.stops]
        found += [] if use.whole else exports
        entries: list[_Entry] = [(f"{self.keras}.LambdaCallback({part})", None) for part in found]
        if use.whole:
            told = [*(f"{self.keras}.LambdaCallback({part})" for part in exports), *stops]
            entries.append((self._validating(use, told, model), None))
        entries += [(text, None) for text in self._saving(use, model)]
        lines = [line for line in use.logged if line.pairs]
        always = [line for line in lines if hooks.condition(line) is None]
        for some in ([always] if always else []) + [[line] for line in lines if line not in always]:
            entries.append((self._logging(use, some, model, functions), hooks.condition(some[0])))
        entries += [*self._logging_evaluations(use, model, functions), *self._own(use)]
        entries += [(self._asked(use, each, model, functions), hooks.condition(each)) for each in hooks.asked]
        entries += [(self._evaluator(use, each, model), hooks.condition(each)) for each in hooks.evaluators]
        behind = [] if use.whole else stops
        if use.last_step is not None:
            last = f"{model}.optimizer.iterations.numpy() >= {self.page.closed(use.last_step)}"
            ends = f"{ends} or {last}" if ends else last
        if ends:
            called = functions.add(BATCH, "stop_at_last_step", [f"{model}.stop_training = True"], ends)
            behind.append(f"{self.keras}.LambdaCallback({called})")
        behind += [f"{self.keras}.TerminateOnNaN()"] if use.terminates else []
        behind += self._board(use, model)
        return self._argument([*entries, *((text, None) for text in behind)], functions)

    def evaluated(self, use: Use, model: str, functions: Functions) -> str:
        """The argument of `evaluate`."""
        return self._argument([*self._own(use), *self._logging_evaluations(use, model, functions)], functions)

    def _logging_evaluations(self, use: Use, model: str, functions: Functions) -> list[_Entry]:
        """What logs in evaluations."""
        lines = (line for line in use.logged_evaluations if line.pairs)
        written = ((self._logging(use, [line], model, functions, EVALUATED), line) for line in lines)
        return [(text, use.hooks.condition(line)) for text, line in written]

    def recording(self, use: Use, model: str) -> list[str]:
        """The lines above `fit` that tell a model without a folder where a hook writes its summaries."""
        shown = use.sources[0].hooks.summaries
        if use.saves or not use.sources[0].recorded:
            return []
        folder, every = self.page.text(shown["output_dir"]), self.page.text(shown["save_steps"])
        written = f"{model}.summary_writer = {self.page.tf}.summary.create_file_writer({folder})"
        return [written, f"{model}.summary_steps = {every}"]

    def folder(self, use: Use, model: str) -> str:
        """The folder of the checkpoints; nothing where there is none."""
        node = use.fields.get("model_dir")
        if node is None:
            return ""
        known = len(use.sources) == 1 and not use.sources[0].settings.temporary
        simple = is_simple(node) and known and self.loop.is_local(use.sources[0])
        return self.page.text(node) if simple else f"{self._checkpoints(use, model)}.directory"

    def _checkpoints(self, use: Use, model: str) -> str:
        return self.names.checkpoints(use.sources[0], model)

    def _argument(self, entries: Sequence[_Entry], functions: Functions) -> str:
        """The list of callbacks: in the call, or above it where conditions say what is in it."""
        if not entries:
            return ""
        always = ", ".join(text for text, condition in entries if condition is None)
        if all(condition is None for _, condition in entries):
            return f", callbacks=[{always}]"
        name, before = functions.name("callbacks"), None
        functions.lines.append(f"{name} = [{always}]")
        for text, condition in entries:
            if condition is None:
                continue
            same = before is not None and before.node is condition.node
            if not same or before is None:
                test = self.page.text(condition.node)
                negated = self.page.closed(condition.node) if condition.negated else test
                functions.lines.append(f"if {'not ' * condition.negated}{negated}:")
            elif before.negated != condition.negated:
                functions.lines.append("else:")
            functions.lines.append(f"{self.page.unit}{name}.append({text})")
            before = condition
        return f", callbacks={name}"

    def _own(self, use: Use) -> list[_Entry]:
        """Callbacks of classes of the program; those of a list that stays are taken from there."""
        found: dict[str, Condition | None] = {}
        for own in use.own:
            text = (
                f"*{self.page.text(own.held)}" if own.held is not None else self.page.text(own.node, dict(own.instead))
            )
            condition = use.hooks.condition(own)
            if isinstance(own.node, ast.Name) or own.held is not None:
                found.setdefault(text, condition)  # one object, which is told of everything once
            else:
                found[f"{text}{' ' * len(found)}"] = condition
        return [(text.rstrip(), condition) for text, condition in found.items()]

    def _saving(self, use: Use, model: str) -> list[str]:
        """The callback that saves, and tells listeners of it."""
        if use.saver is None or use.saver.listeners is None:
            return []
        steps = use.saves_by
        often = self.page.text(steps) if isinstance(steps, ast.expr) else str(steps)
        told = f"{self._checkpoints(use, model)}, {often}, {self.page.text(use.saver.listeners)}"
        return [f"{self.page.helper(SAVES)}({told})"]

    def _board(self, use: Use, model: str) -> list[str]:
        """What shows how a training goes."""
        shown = use.sources[0].hooks.summaries
        if use.fields.get("model_dir") is None and "output_dir" in shown:
            told = f"{self.page.text(shown['output_dir'])}, update_freq={self.page.text(shown['save_steps'])}"
            return [f"{self.keras}.TensorBoard({', '.join([told, *use.hooks.options(self.page)])})"]
        if use.fields.get("model_dir") is None:
            return use.hooks.board(self.page, f"{self.keras}.TensorBoard")
        every = use.fields.get("save_summary_steps")
        frequency = "100" if every is None else self.page.text(every)
        often = [] if _are_epochs_short(use) else [f"update_freq={frequency}"]
        options = [self.folder(use, model), *often, *use.hooks.options(self.page)]
        return [f"{self.keras}.TensorBoard({', '.join(options)})"]

    def _stop(self, use: Use, stop: EarlyStop, model: str, functions: Functions) -> str:
        """The callback that ends a training by its evaluations."""
        assert use.every is not None
        limit = self.page.closed(stop.limit)
        if stop.mode in "<>":
            ends = f'logs["val_{stop.metric}"] {stop.mode} {limit}'
            if stop.first is not None:
                ends = f"{model}.optimizer.iterations.numpy() >= {self.page.closed(stop.first)} and {ends}"
            called = functions.add(EPOCH, "stop_early", [f"{model}.stop_training = True"], ends)
            return f"{self.keras}.LambdaCallback({called})"
        every = self.page.closed(use.every)
        told = [f'monitor="val_{stop.metric}", mode="{stop.mode}"']
        told.append(f"patience={epochs(stop.limit, use.every, limit, every)}")
        if stop.first is not None:
            told.append(f"start_from_epoch={epochs(stop.first, use.every, self.page.closed(stop.first), every, 1)}")
        return f"{self.keras}.EarlyStopping({', '.join(told)})"

    def _asked(self, use: Use, asked: Asked, model: str, functions: Functions) -> str:
        """The callback that ends a training where a function says so."""
        step = "batch" if use.every is None else f"({model}.optimizer.iterations.numpy() - 1)"
        every = self.page.closed(asked.every) if asked.every is not None else str(SELDOM)
        function = asked.function
        plain = isinstance(function, ast.Lambda)
        asks = self.page.closed(function.body) if plain else f"{self.page.closed(function)}()"  # type: ignore[attr-defined]
        ends = f"{step} % {every} == 0 and {asks}"
        called = functions.add(BATCH, "stop_early", [f"{model}.stop_training = True"], ends)
        return f"{self.keras}.LambdaCallback({called})"

    def _evaluator(self, use: Use, evaluator: Evaluator, model: str) -> str:
        """The callback that evaluates every so many steps."""
        data, page = self.data(evaluator.input), self.page
        data += f".take({page.text(evaluator.steps)})" if evaluator.steps is not None else ""
        every = "100" if evaluator.every is None else page.text(evaluator.every)
        return f"{page.helper(EVALUATES)}({data}, {every}{self._eval_folder(use, evaluator.label, model)})"

    def _validating(self, use: Use, told: Sequence[str], model: str) -> str:
        """The callback that evaluates amid the one epoch of a training, and tells others of it."""
        assert use.validation is not None and use.every is not None
        data, every = self.validated(use.validation), self.page.text(use.every)
        folder = self.folder(use, model)  # as TensorBoard has it for `fit`
        folder = f', {self.page.library("os")}.path.join({folder}, "validation")' if folder else ""
        others = f", callbacks=[{', '.join(told)}]" if told else ""
        return f"{self.page.helper(VALIDATES)}({data}, {every}{folder}{others})"

    def _eval_folder(self, use: Use, name: ast.expr | None, model: str) -> str:
        """The argument for the folder that evaluations of a name write to; nothing where there are no checkpoints."""
        folder = self.folder(use, model)
        return f", {self.page.eval_folder(folder, name)}" if folder else ""

    def _logging(self, use: Use, lines: Sequence[Logged], model: str, functions: Functions, moment: str = BATCH) -> str:
        """A LambdaCallback that logs every so many steps, from the first one on where each is seen."""
        called = []
        often = [line for line in lines if line.every is not None]
        tests = [self._is_due(line) for line in often]
        texts = [self._line(use, line, model) for line in often]
        name = "log_progress" if moment == BATCH else "log_evaluation"
        if len(set(tests)) == 1:
            called.append(functions.add(moment, name, texts, tests[0]))
        elif often:
            unit, body = self.page.unit, list[str]()
            for test, text in zip(tests, texts):
                body += [f"if {test}:", f"{unit}{text}"] if test else [text]
            called.append(functions.add(moment, name, body))
        last = [self._line(use, line, model) for line in lines if line.at_end]
        if last:
            called.append(functions.add(END, "log_at_end", last))
        return f"{self.keras}.LambdaCallback({', '.join(called)})"

    def _is_due(self, line: Logged) -> str:
        """The condition on which a step logs a line; none where each does."""
        step = "(batch + 1)" if self.loop.together > 1 else "batch"
        each = isinstance(line.every, ast.Constant) and line.every.value == 1
        assert line.every is not None
        return "" if each else f"{step} % {self.page.closed(line.every)} == 0"

    def _line(self, use: Use, line: Logged, model: str) -> str:
        """The call that logs."""
        formatter = self.page.closed(line.formatter) if line.formatter is not None else ""
        return line_text(line, model, self.page.info(use.call), formatter)


def _are_epochs_short(use: Use) -> bool:
    """Whether the ends of epochs show as much as summaries did: they count on in the next run, steps between them do not."""
    every = use.fields.get("save_summary_steps", ast.Constant(100))
    if is_none(every):
        return True
    if use.whole:
        return False
    known = [node.value if isinstance(node, ast.Constant) else None for node in (use.every, every)]
    epoch, summary = (value if isinstance(value, int) else None for value in known)
    return epoch is not None and summary is not None and 0 < epoch <= summary
