"""Experiments of `tf.contrib.learn`: what they are made of, with the places that run them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import is_none
from migrator.resolve.calls import bind, is_literal
from migrator.resolve.module import Module
from migrator.resolve.reaching import read_once
from migrator.resolve.syntax import walk
from migrator.rewrite import Statement, expr, statements
from migrator.vocabulary.unsupported import Unsupported

from ..loop.places import acts, moves
from . import schedules

if TYPE_CHECKING:
    import libcst as cst

EXPERIMENT = "tensorflow.contrib.learn.Experiment"
_LEARN = "tensorflow.contrib.learn."
_STRATEGY = (
    "serving_input_fn default_output_alternative_key assets_extra as_text exports_to_keep strip_default_attrs".split()
)
_WITHOUT_EFFECT = frozenset(
    "eval_delay_secs continuous_eval_throttle_secs delay_workers_by_global_step train_steps_per_iteration "
    "check_interval_secs".split()
)
"""Parameters that say how long to wait, or are for methods that are not followed."""
_NEEDED = ("estimator", "train_input_fn", "eval_input_fn")
_MAKING = (ast.Call, ast.Await, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr)


@dataclass
class Experiment:
    """One call that makes an Experiment."""

    module: Module
    call: ast.Call
    tf: str
    values: dict[str, ast.expr]
    """By the names of `schedules`; those that have no effect are left out."""
    gone: list[ast.stmt] = field(default_factory=list)
    """Statements that only make what is read no more."""
    names: dict[str, str] = field(default_factory=dict)
    """What stands for values that are made before, once."""

    def filled(self, templates: Sequence[str]) -> list[Statement]:
        """Statements from templates whose holes are parameters."""
        text = "\n".join(templates)
        return statements(text, **self._holes(text))

    def expression(self, template: str) -> cst.BaseExpression:
        """An expression from such a template."""
        return expr(template, **self._holes(template))

    def _holes(self, text: str) -> Mapping[str, str]:
        file = self.module.cst
        return {
            name: self.names.get(name) or file.expression(value)  # type: ignore[misc]
            for name, value in self.values.items()
            if f"{{{name}}}" in text
        }

    def keep(self, templates: Sequence[str]) -> list[Statement]:
        """Gives names to values that have to be made once, in their order, and returns the statements that do."""
        text = "\n".join(templates)
        used = sorted((name for name in self.values if f"{{{name}}}" in text), key=lambda n: text.index(f"{{{n}}}"))
        kept = [name for name in self.values if name in used or _acts(self.module, self.values[name])]
        made = [name for name in kept if not _is_pure(self.values[name])]
        in_order = made == [name for name in used if name in made]
        found: list[Statement] = []
        for name in made:
            value = self.values[name]
            once = text.count(f"{{{name}}}") == 1
            if once and (in_order or isinstance(value, ast.Lambda)):
                continue
            self.names[name] = self.module.unused_name(name, self.module.statement(self.call))
            found += statements("{name} = {value}", name=self.names[name], value=self.module.cst.expression(value))
        return found

    def last(self, made: ast.stmt, places: Iterable[ast.AST]) -> None:
        """Raises Unsupported where a value may be another one at one of the places."""
        values = [value for name, value in self.values.items() if name not in self.names]
        reads = [node for value in values for node in walk(value) if isinstance(node, ast.Name)]
        if all(len(self.module.bindings(node)) <= 1 for node in reads):
            return
        for place in places:
            if not moves(self.module, made, place, values):
                raise Unsupported("what an Experiment is made of may change before it runs", self.call)


def experiment_of(module: Module, call: ast.Call, tf: str, handed: ast.expr | None = None) -> Experiment:
    """An Experiment, with the ExportStrategies that its caller hands in, if any. Raises Unsupported."""
    given = bind(call, schedules.PARAMETERS)
    if given is None:
        raise Unsupported("the arguments of an Experiment are not seen", call)
    unknown = sorted(set(given) - set(schedules.PARAMETERS))
    if unknown:
        raise Unsupported(f"`{unknown[0]}` of an Experiment", call)
    for name in _NEEDED:
        if name not in given:
            raise Unsupported(f"an Experiment without `{name}`", call)
    for name in ("eval_metrics", "checkpoint_and_export"):
        if name in given and not is_none(given[name]) and not is_literal(given[name], False):
            raise Unsupported(f"`{name}` of an Experiment is not followed", given[name])
    values = {name: value for name, value in given.items() if name == "eval_steps" or not is_none(value)}
    strategies = values.pop("export_strategies", None) if handed is None else handed
    values.pop("export_strategies", None)
    rarely = values.pop("min_eval_frequency", None)
    for name in (*_WITHOUT_EFFECT, "eval_metrics", "checkpoint_and_export"):
        values.pop(name, None)
    if rarely is not None and is_literal(rarely, 0):
        values["at_the_end"] = rarely
    if strategies is not None:
        gone: list[ast.stmt] = []
        values.update(_exports(module, strategies, gone))
        return Experiment(module, call, tf, values, gone)
    return Experiment(module, call, tf, values)


def _exports(module: Module, strategies: ast.expr, gone: list[ast.stmt]) -> dict[str, ast.expr]:
    """What the one ExportStrategy of an Experiment is made of; `gone` gets the statements that hold it."""
    found = _held(module, strategies, gone)
    if isinstance(found, (ast.List, ast.Tuple)) and not found.elts:
        return {}
    if isinstance(found, (ast.List, ast.Tuple)) and len(found.elts) == 1:
        found = _held(module, found.elts[0], gone)
    name = (module.resolve(found.func) or "") if isinstance(found, ast.Call) else ""
    if not isinstance(found, ast.Call) or not (name.startswith(_LEARN) and name.endswith(".make_export_strategy")):
        raise Unsupported("the ExportStrategies of an Experiment are not seen", strategies)
    given = bind(found, _STRATEGY)
    if given is None or "serving_input_fn" not in given:
        raise Unsupported("the arguments of an ExportStrategy are not seen", found)
    if not is_none(given.get("default_output_alternative_key")):
        raise Unsupported("an Estimator of tf.estimator takes no `default_output_alternative_key`", found)
    kept = {"serving": given["serving_input_fn"]}
    return kept | {name: given[name] for name in ("assets_extra", "as_text") if not is_none(given.get(name))}


def _held(module: Module, node: ast.expr, gone: list[ast.stmt]) -> ast.expr:
    """What a name stands for that is read nowhere else; what binds it is among the `gone`."""
    made = read_once(module, node) if isinstance(node, ast.Name) else None
    if made is None:
        return node
    gone.append(made)
    return made.value


def _is_pure(value: ast.expr) -> bool:
    """Whether an expression may be written several times."""
    return not isinstance(value, ast.Lambda) and not any(isinstance(node, _MAKING) for node in walk(value))


def _acts(module: Module, value: ast.expr) -> bool:
    return any(acts(module, node) for node in walk(value))
