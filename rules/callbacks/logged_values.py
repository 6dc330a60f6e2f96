"""What a LoggingTensorHook logs, as values that callbacks of Keras see after a step."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.results.stepvalues import LOSS, MANY, METRIC, RATE, STEP, TENSOR, WEIGHT, StepValue, StepValues
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..hooks.hooks import HOOKS, LOGGING
from ..hooks.logged_names import logged_pairs

STEPS = 100
"""How often a line is logged that waited for some time: every so many steps, as by default."""


@dataclass(frozen=True)
class Logged:
    """The line that one hook logs every so many steps."""

    at: ast.expr
    """Where the hook is made."""
    every: ast.expr | None
    """None: at the end of the training alone."""
    pairs: tuple[tuple[str, str], ...]
    """What the values are called, and the text that reads each, with `{model}` for the model."""
    formatter: ast.expr | None = None
    wanted: tuple[tuple[str, StepValue], ...] = ()
    """Tensors that the model hands out for it, by their keys."""
    left: tuple[str, ...] = ()
    """What is not logged any more: tensors of many numbers."""
    tensors: ast.expr | None = None
    """What lists its tensors, by their names."""
    at_end: bool = False
    timed: bool = False
    """Whether the hook logs every so many seconds, which callbacks do not count."""

    @property
    def averaged(self) -> list[str]:
        """What is called as before, and is the mean of an epoch now."""
        return [tag for tag, text in self.pairs if text.startswith("logs[") and text[6:-2] not in dict(self.wanted)]

    @property
    def parts(self) -> tuple[ast.expr, ...]:
        """Expressions that are written elsewhere."""
        return tuple(part for part in (self.every, self.formatter) if part is not None)


def logged(
    tensors: Iterable[tuple[str, str, StepValue | None]],
    given: Mapping[str, ast.expr],
    values: StepValues,
    at: ast.expr,
) -> Logged | str:
    """The line of a hook with these arguments, or why it is not understood; `tensors` are what values are called, their names
    and what is known of them."""
    told = {name: value for name, value in given.items() if not is_none(value) and not _is_false(value)}
    every, ends = told.pop("every_n_secs", None), told.pop("at_end", None)
    if ends is not None and not (isinstance(ends, ast.Constant) and ends.value is True):
        return "a LoggingTensorHook that may log at the end"
    often = [node for node in (told.pop("every_n_iter", None), every) if node is not None]
    if len(often) > 1 or not (often or ends) or set(told) - {"formatter"}:
        return "a LoggingTensorHook whose steps are not seen"
    pairs, wanted, left = [], [], []
    for tag, name, value in tensors:
        if value is None:
            return "a tensor that is logged, and is not seen"
        if value.kind == MANY:
            left.append(tag)
            continue
        key = log_key(name, value, values)
        wanted += [(key, value)] if value.kind == TENSOR else []
        pairs.append((tag, reading(key, value)))
    steps = ast.copy_location(ast.Constant(STEPS), at) if every is not None else next(iter(often), None)
    line = Logged(at, steps, tuple(pairs), told.get("formatter"), tuple(wanted), tuple(left))
    return replace(line, timed=every is not None, at_end=ends is not None)


def log_key(name: str, value: StepValue, values: StepValues) -> str:
    """The key of a value among the logs."""
    if value.kind in (LOSS, METRIC):
        return value.key if value.kind == METRIC else "loss"
    return f"batch_{name}" if name in values.keys else name


def reading(key: str, value: StepValue) -> str:
    """The text that reads a value in a callback."""
    if value.kind == RATE:
        return "{model}.optimizer.learning_rate.numpy()"
    if value.kind == WEIGHT:
        return f"{{model}}.{value.key}.numpy()"
    return "{model}.optimizer.iterations.numpy()" if value.kind == STEP else f'logs["{key}"]'


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def logged_of_call(project: Project, module: Module, call: ast.Call, values: StepValues) -> Logged | str:
    """The line of a hook that a training is given: its tensors are named."""
    try:
        given = bind(call, HOOKS[LOGGING].signature, LOGGING)
        tensors = given.pop("tensors", None)
        named = logged_pairs(project, module, tensors, call)
    except Unsupported as problem:
        return problem.reason
    found = logged(((tag, name, values.named.get(name)) for tag, name in named.items()), given, values, call)
    return found if isinstance(found, str) else replace(found, tensors=tensors)


def line_text(line: Logged, model: str, info: str, formatter: str) -> str:
    """The call that logs; `formatter` is the text of what makes the line, if something does."""
    pairs = [(tag, text.format(model=model)) for tag, text in line.pairs]
    if formatter:
        return f"{info}({formatter}({{{', '.join(f'{_quoted(tag)}: {text}' for tag, text in pairs)}}}))"
    parts = [f"{tag.replace('%', '%%')} = {_format(text)}" for tag, text in pairs]
    return f"{info}({', '.join([_quoted(', '.join(parts)), *(text for _, text in pairs)])})"


def _format(text: str) -> str:
    """How a value is shown: the number of a step, any other number, or those of a weight."""
    if text.endswith(".iterations.numpy()"):
        return "%d"
    return "%.6g" if text.startswith("logs[") or text.endswith(".learning_rate.numpy()") else "%s"


def _quoted(text: str) -> str:
    plain = not any(mark in text for mark in '"\\\n')
    return f'"{text}"' if plain else repr(text)
