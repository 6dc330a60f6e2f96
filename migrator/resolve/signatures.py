"""How a call of one function becomes a call of another."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from migrator.rewrite import Change, Replace, expr, with_arguments

from .calls import has_stars, is_literal
from .module import Module

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class Signatures:
    """Parameters of the old and of the new function.

    `keywords` maps old parameters to new ones. `drop` names parameters that the new function lacks, with the literal values
    for which they may go (none: any value). `wrap` puts text around a value, at ``{}``. `extra` are new parameters with
    their source, `defaults` the same but always passed by keyword. `named` old parameters are passed by keyword afterwards.
    """

    old: Sequence[str]
    new: Sequence[str]
    keywords: Mapping[str, str] = field(default_factory=dict)
    drop: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    wrap: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    named: Sequence[str] = ()


@dataclass
class _Plan:
    """What happens to the arguments, which are known by their places."""

    doomed: set[int] = field(default_factory=set)
    named: dict[int, str] = field(default_factory=dict)
    rename: dict[str, str] = field(default_factory=dict)
    wrapped: dict[int, tuple[ast.expr, str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    in_place: int = 0
    """How many positional arguments stay what they are."""


def carried_over(module: Module, call: ast.Call, signatures: Signatures) -> Union[list[Change], str]:
    """Changes of the arguments of a call, or the reason why they cannot be carried over, as a phrase.

    Positional arguments whose place changed get their keyword. Raises Unprintable.
    """
    if has_stars(call):
        same = list(signatures.old) == list(signatures.new)
        if same and not (signatures.wrap or signatures.extra or signatures.defaults):
            return []
        return "arguments passed with * or ** cannot be seen"
    plan = _plan(call, signatures)
    if isinstance(plan, str):
        return plan
    added = {**signatures.extra, **signatures.defaults}
    missing = {name: text for name, text in added.items() if name not in plan.used}
    if not (missing or plan.doomed or plan.named or plan.rename or plan.wrapped):
        return []
    insert, add = _placed(call, signatures, plan, missing)
    values = {place: _wrapped(module, *wrapped) for place, wrapped in plan.wrapped.items()}
    new = with_arguments(
        module.cst.call(call),
        rename=plan.rename,
        named=plan.named,
        values=values,
        drop=plan.doomed,
        insert=insert,
        add=add,
    )
    return [Replace(call, new)]


def _plan(call: ast.Call, signatures: Signatures) -> Union[_Plan, str]:
    old, new, plan = signatures.old, signatures.new, _Plan()
    if len(call.args) > len(old):
        return "it has more positional arguments than the TensorFlow 1 function takes"
    given = [(old[place], value) for place, value in enumerate(call.args)]
    given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    for place, (name, value) in enumerate(given):
        by_keyword = place >= len(call.args)
        target = signatures.keywords.get(name, name)
        if target not in new:
            if _droppable(signatures.drop, name, value):
                plan.doomed.add(place)
            elif not (by_keyword and _takes_any(new) and _takes_any(old)):  # for a base class, say
                return f"TensorFlow 2 has no argument `{name}`"
            continue
        if target in plan.used:
            return f"`{target}` is given twice"
        plan.used.add(target)
        if by_keyword:
            if target != name:
                plan.rename[name] = target
        elif place == plan.in_place < len(new) and new[place] == target and name not in signatures.named:
            plan.in_place += 1
        else:
            plan.named[place] = target
        if name in signatures.wrap:
            plan.wrapped[place] = value, signatures.wrap[name]
    return plan


def _placed(
    call: ast.Call, signatures: Signatures, plan: _Plan, missing: Mapping[str, str]
) -> tuple[dict[int, cst.BaseExpression], dict[str, cst.BaseExpression]]:
    """New arguments by place, those that come right behind positional ones, and by keyword."""
    insert: dict[int, cst.BaseExpression] = {}
    add: dict[str, cst.BaseExpression] = {}
    in_place, left = plan.in_place, len(plan.doomed) < len(call.args) + len(call.keywords)
    for name, text in missing.items():
        fits = left and name in signatures.extra and 0 < in_place < len(signatures.new)
        if fits and signatures.new[in_place] == name:
            insert[in_place] = expr(text)
            in_place += in_place == len(call.args) and not call.keywords
        else:
            add[name] = expr(text)
    return insert, add


def _wrapped(module: Module, value: ast.expr, pattern: str) -> cst.BaseExpression:
    """A value with a pattern around it; ``1 - (1 - x)`` is ``x``."""
    if pattern == "1 - {}" and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub):
        if is_literal(value.left, 1, 1.0):
            return module.cst.expression(value.right)
    return expr(pattern.replace("{}", "{value}"), value=module.cst.expression(value))


def _droppable(drop: Mapping[str, tuple[object, ...]], name: str, value: ast.expr) -> bool:
    return name in drop and (not drop[name] or is_literal(value, *drop[name]))


def _takes_any(parameters: Sequence[str]) -> bool:
    return any(name.startswith("**") for name in parameters)
