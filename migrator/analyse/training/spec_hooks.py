"""Hooks of an EstimatorSpec: the callbacks that they become, and the tensors that the model hands to those by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.translate import HookCall, Writing, format_call, is_empty
from migrator.analyse.layers.weight_reads import weight_of
from migrator.analyse.results.opnames import short_name
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.conditions import Choice, Conditions, check_static, conditions_of, either, overwritten
from migrator.analyse.statements.flow import Frame, Leaf
from migrator.analyse.statements.names import reads
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan

STEP_LOGS = "step_logs"
"""The attribute of a model with what its steps have for callbacks, beside the logs of Keras."""

# The mode in which the hooks of each field run.
FIELDS = {
    "training_hooks": "train",
    "training_chief_hooks": "train",
    "evaluation_hooks": "eval",
    "prediction_hooks": "infer",
}


@dataclass(frozen=True)
class SpecHook:
    """A hook of the spec of `mode`, made at `at`; its tensors by tag have the `names` that the model hands them out by."""

    mode: str
    call: ast.Call
    at: Leaf
    made: HookCall
    names: tuple[tuple[str, str], ...] = ()
    conditions: Conditions = ()
    """Under which the spec has the hook."""

    def reads(self) -> set[str]:
        """Names that the arguments of the callback read."""
        names = set().union(*(reads(value) for value in self._given()))
        return names - set().union(*(reads(value) for _, value in self.made.tensors)) if self.made.own else names

    def read_at(self) -> Iterator[tuple[str, Leaf]]:
        """Names that the arguments and the conditions read, with the statements where they do."""
        for name in sorted(self.reads()):
            yield name, self.at
        for condition in self.conditions:
            for name in sorted(reads(condition.test)):
                yield name, condition.at

    def _given(self) -> list[ast.expr]:
        own = [] if self.made.own is None else [self.made.own]
        return [*own, *(value for _, value in self.made.arguments if not isinstance(value, str))]

    def values(self) -> list[ast.expr]:
        """What the callback is made from, and what decides on it."""
        return [*self._given(), *(condition.test for condition in self.conditions)]

    def quoted(self) -> dict[int, str]:
        """Tensors that a hook is made from, by identity, as the names that it reads them by."""
        pairs = zip(self.made.tensors, self.names) if self.made.own is not None else ()
        return {id(value): f'"{name}"' for (_, value), (_, name) in pairs}

    def text(self, writing: Writing, true: list[str]) -> str:
        """The construction of the callback; the arguments `true` are True. Raises Unsupported."""
        if self.made.of_fit:
            raise Unsupported(
                f"a hook of an EstimatorSpec works on its graph: {ast.unparse(self.call.func)}", self.call
            )
        plain = all(tag == name for tag, name in self.names)
        parts = [f'"{name}"' if plain else f'{_quoted(tag)}: "{name}"' for tag, name in self.names]
        tensors = f"[{', '.join(parts)}]" if plain else f"{{{', '.join(parts)}}}"
        given: list[tuple[str | None, str]] = [(None, tensors)] if self.names else []
        if self.made.own is not None:
            given = [(None, writing.text(self.made.own))]
        given += [(name, writing.text(value)) for name, value in self.made.arguments]
        given += [(name, "True") for name in true]
        return format_call(writing.need(self.made.callback), given)


class SpecHooks:
    """The hooks of all specs of a model_fn. Their tensors become statements of the flow, which `watched` names.

    Hooks that work on the graph go to `obstacles`.
    """

    def __init__(self, plan: Plan, obstacles: Obstacles) -> None:
        self._plan = plan
        self.hooks: list[SpecHook] = []
        self.watched: dict[Leaf, str] = {}
        self.named: dict[str, ast.expr] = {}
        """Names of ops that hooks read, and where they say so."""
        self.checks_loss = False
        """Whether one of them ends a training whose loss is not a number."""
        self.in_logs = False
        """Whether the model hands tensors out among the logs of a step."""
        for field, mode in FIELDS.items():
            with obstacles:
                node = plan.field(mode, field)
                for choice in self._items(node, plan.specs[mode].leaf, mode) if node is not None else ():
                    with obstacles:
                        self._add(mode, choice)

    def become_logs(self) -> None:
        """Leave the hooks to what trains the model, which reads their tensors among the logs of a step."""
        self.in_logs = True
        self.hooks.clear()
        self.named.clear()

    def of(self, mode: str) -> list[SpecHook]:
        """The hooks of one mode."""
        return [hook for hook in self.hooks if hook.mode == mode]

    def _items(self, node: ast.expr, at: Leaf, mode: str) -> list[Choice]:
        """The hooks of a list, which may be built up in several steps, some of them under conditions."""
        if isinstance(node, ast.Name):
            return self._named(node, at, mode)
        if isinstance(node, (ast.List, ast.Tuple)):
            found = []
            for element in node.elts:
                call, where = self._plan.followed_in(element, at, mode)
                if not isinstance(call, ast.Call):
                    raise Unsupported("a hook of an EstimatorSpec is not seen", element)
                found.append(Choice(call, where))
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [*self._items(node.left, at, mode), *self._items(node.right, at, mode)]
        arms = either(self._plan, node, at, mode)
        if arms is not None:
            return [choice.under(conditions) for arm, conditions in arms for choice in self._items(arm, at, mode)]
        if not is_empty(node):
            raise Unsupported("the hooks of an EstimatorSpec are not seen", node)
        return []

    def _named(self, node: ast.Name, at: Leaf, mode: str) -> list[Choice]:
        """The hooks in the list of a name: what it is given, and what statements add to it."""
        steps = self._plan.slicer.reaching(node.id, at.index, mode, at)[::-1]
        if not steps:
            raise Unsupported("the hooks of an EstimatorSpec are not seen", node)
        found: list[Choice] = []
        for step in steps:
            around = conditions_of(self._plan, step, mode, "a hook of an EstimatorSpec")
            value, adds = _given(node.id, step.node)
            if not adds:
                found = overwritten(found, around)
            found += [choice.under(around) for choice in self._items(value, step, mode)]
        return found

    def _add(self, mode: str, choice: Choice) -> None:
        plan, call, at = self._plan, choice.node, choice.at
        assert isinstance(call, ast.Call)
        name = plan.module.resolve(call.func)
        rule = plan.translations.hooks.get(name) if name is not None and mode != "infer" else None
        project, evaluated = plan.sublayers.project, mode == "eval"
        own = plan.translations.own_hooks(project, plan.module, call, evaluated) if mode != "infer" else None
        if own is None and (rule is None or (mode == "eval" and name not in plan.translations.evaluation_hooks)):
            raise Unsupported(f"a hook of an EstimatorSpec works on its graph: {ast.unparse(call.func)}", call)
        if at.loops:
            raise Unsupported("a hook of an EstimatorSpec is made in a loop", call)
        if own is not None:
            made = own
        else:
            assert rule is not None
            made = rule(call, plan.module.resolve, lambda node: plan.followed_in(node, at, mode)[0] or node)
        self.named.update(made.names)
        if made.loss is not None:
            loss = plan.field(mode, "loss")
            if loss is None or plan.followed_in(loss, plan.specs[mode].leaf, mode) != plan.followed_in(
                made.loss, at, mode
            ):
                raise Unsupported("a hook of an EstimatorSpec checks a tensor that is not the loss", made.loss)
            self.checks_loss = True
            return  # every training of the helpers does
        names = tuple((tag, self._name(tag, value, at, mode)) for tag, value in made.tensors)
        self.hooks.append(SpecHook(mode, call, at, made, names, choice.conditions))

    def _name(self, tag: str, value: ast.expr, at: Leaf, mode: str) -> str:
        """The name that the model hands a tensor out by."""
        plan = self._plan
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            name = short_name(value.value)
            self.named[name] = value
            return name
        for leaf, name in self.watched.items():
            if name == _word(tag) and not plan.is_step(value) and self._same(leaf, value, at, mode):
                leaf.modes, leaf.guard = leaf.modes | {mode}, leaf.guard | {mode}
                return name
        if any(isinstance(node, ast.Call) and self._plan.is_maker(node) for node in walk(value)):
            raise Unsupported("a hook of an EstimatorSpec reads a layer or a metric that nothing else reads", value)
        taken = {*self.watched.values(), *self.named}
        name, number = _word(tag), 1
        while name in taken:
            number += 1
            name = f"{_word(tag)}_{number}"
        node = ast.copy_location(ast.Expr(value), value)
        leaf = Leaf(at.index, node, at.modes & {mode}, at.guard & {mode}, self._frames(value, at, mode))
        if self._is_step(leaf, mode):
            leaf.uses = frozenset()
        self.watched[leaf] = name
        self._plan.flow.leaves.insert(at.index, leaf)
        self._plan.flow.renumber()
        return name

    def _frames(self, value: ast.expr, at: Leaf, mode: str) -> tuple[Frame, ...]:
        """What stands around the statement that hands a tensor out: not the conditions on the hook, where there is nothing
        to compute but what is there anyway."""
        plain = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
        if not all(isinstance(node, plain) for node in walk(value)):
            return at.frames
        needed = [leaf for name in reads(value) for leaf in self._plan.slicer.reaching(name, at.index, mode, at)]
        return tuple(f for f in at.frames if f not in at.arms or any(f in leaf.frames for leaf in needed))

    def _same(self, leaf: Leaf, value: ast.expr, at: Leaf, mode: str) -> bool:
        """Whether the value that `leaf` hands out is the one that `value` is at `at`."""
        if not isinstance(leaf.node, ast.Expr) or ast.dump(leaf.node.value) != ast.dump(value):
            return False
        reaching = self._plan.slicer.reaching
        return all(reaching(n, leaf.index, mode, leaf) == reaching(n, at.index, mode, at) for n in reads(value))

    def _is_step(self, leaf: Leaf, mode: str) -> bool:
        """Whether a hook reads the global step as it is, without a cast."""
        assert isinstance(leaf.node, ast.Expr)
        call = self._plan.followed_in(leaf.node.value, leaf, mode)[0]
        return isinstance(call, ast.Call) and self._plan.module.resolve(call.func) in self._plan.translations.steps

    def check(self) -> None:
        """Refuse to hand out what is no tensor, and to make a callback from one."""
        plan = self._plan
        for leaf in self.watched:
            assert isinstance(leaf.node, ast.Expr)
            read = plan.followed(leaf.node.value, next(iter(leaf.modes)))[0] if leaf.modes else None
            if plan.time(leaf) is Time.STATIC and (read is None or weight_of(plan, read) is None):
                raise Unsupported("a hook of an EstimatorSpec reads what is known before, or a variable", leaf.node)
        for hook in self.hooks:
            check_static(plan, hook.conditions, "a hook of an EstimatorSpec")
            for name in hook.reads():
                if plan.times.name(name) is not Time.STATIC:
                    raise Unsupported(f"a hook of an EstimatorSpec is made from `{name}`, a tensor", hook.call)

    def text(self, leaf: Leaf, writing: Writing) -> str | None:
        """The statement that hands a tensor out, if the leaf is one."""
        if leaf not in self.watched:
            return None
        assert isinstance(leaf.node, ast.Expr)
        name = self.watched[leaf]
        if self.in_logs:
            return f'self.{STEP_LOGS}["{name}"] = {writing.text(leaf.node.value)}'
        if not leaf.uses:
            before = "train" not in leaf.modes or self._plan.translations.step_before(self._plan.module)
            value = f"self.optimizer.iterations{'' if before else ' + 1'}"
        else:
            value = writing.text(leaf.node.value)
        if name in self._plan.translations.watched:
            raise Unsupported(f"two hooks read different tensors by the name {name}", leaf.node)
        return f'{writing.need("watch")}(self, "{name}", {value})'


def _given(name: str, node: ast.stmt) -> tuple[ast.expr, bool]:
    """The list that a statement gives to a name, and whether it adds to what is there. Raises Unsupported."""
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.value, False
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.value, True
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        if call.func.attr in ("append", "extend") and not call.keywords:
            return call.args[0] if call.func.attr == "extend" else ast.List(call.args, ast.Load()), True
    raise Unsupported("the hooks of an EstimatorSpec are not seen", node)


def _word(tag: str) -> str:
    """A tag as the name of a tensor."""
    return re.sub(r"[^\w.-]+", "_", tag)


def _quoted(text: str) -> str:
    return f'"{text}"' if not re.search(r"[\"\\\n]", text) else repr(text)
