"""Ops that change variables, in methods of optimizer classes: which run, and whether the order they are written in is theirs.

A graph runs an op if what the method returns depends on it, in any order that control dependencies and data leave
open. TensorFlow 2 runs statements, in the order in which they are written. Both are the same where every change is
returned, and where nothing reads a variable behind a change that does not have to wait for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

_MODULES = "tensorflow.python."
_STATE = _MODULES + "ops.state_ops."
_RESOURCE = _MODULES + "ops.resource_variable_ops.resource_"
ASSIGN = ("assign", "assign_add", "assign_sub")
SCATTER = ("scatter_add", "scatter_sub", "scatter_update")
GROUPS = frozenset({"tensorflow.group", _MODULES + "ops.control_flow_ops.group"})
CONTROL = frozenset({"tensorflow.control_dependencies", _MODULES + "framework.ops.control_dependencies"})
PLACING = frozenset(
    {
        "tensorflow.colocate_with", _MODULES + "framework.ops.colocate_with", "tensorflow.init_scope",
        _MODULES + "framework.ops.init_scope", "tensorflow.name_scope", _MODULES + "framework.ops.name_scope",
    }
)  # fmt: skip
"""Contexts that say where ops are, and how they are called, not what they compute."""
_KERNELS = tuple(_MODULES + name for name in ("training.training_ops.", "training.gen_training_ops.", "ops.gen_"))
_UNFOLLOWED = frozenset(
    f"tensorflow.{name}"
    for name in "scatter_mul scatter_div scatter_min scatter_max scatter_nd_add scatter_nd_sub scatter_nd_update "
    "batch_scatter_update count_up_to py_func py_function get_variable Variable while_loop".split()
)


@dataclass(frozen=True)
class StateOp:
    """A change of a variable."""

    call: ast.Call
    target: ast.expr
    method: str
    """The method of a variable of TensorFlow 2 that does the same; empty where the call stays as it is."""
    value: ast.expr | None = None
    indices: ast.expr | None = None


def state_op(module: Module, call: ast.AST, scattering: Iterable[str] = ()) -> StateOp | None:
    """The change that a call makes; `scattering` are the names of functions that change their first argument.

    Raises Unsupported for changes that are not followed.
    """
    if not isinstance(call, ast.Call):
        return None
    if ast.unparse(call.func) in scattering and call.args:
        return StateOp(call, call.args[0], "")
    name = module.resolve(call.func) or ""
    if name.startswith(_KERNELS) or name in _UNFOLLOWED or name.startswith("tensorflow.raw_ops."):
        raise Unsupported(f"what `{ast.unparse(call.func)}` does to variables is not followed", call)
    short = name.rsplit(".", 1)[-1]
    if name in (f"tensorflow.{short}", _STATE + short):
        if short in ASSIGN:
            given = bind(call, f"ref value {'validate_shape ' if short == 'assign' else ''}use_locking name", name)
            return StateOp(call, given["ref"], short, given["value"])
        if short in SCATTER:
            given = bind(call, "ref indices updates use_locking name", name)
            return StateOp(call, given["ref"], short, given["updates"], given["indices"])
    if name.startswith(_RESOURCE) and (short := short[len("resource_") :]) in SCATTER:
        given = bind(call, "resource indices updates name", name)
        target = given["resource"]
        if not isinstance(target, ast.Attribute) or target.attr != "handle":
            raise Unsupported("a scatter into something else than the handle of a variable", call)
        return StateOp(call, target.value, short, given["updates"], given["indices"])
    function = call.func
    if not name and isinstance(function, ast.Attribute):
        if function.attr in ASSIGN:
            given = bind(call, "value use_locking name read_value", function.attr)
            return StateOp(call, function.value, function.attr, given["value"])
        if function.attr in SCATTER:
            return StateOp(call, function.value, "")
    return None


@dataclass
class _State:
    """What is known at a place of a method."""

    made: dict[str, frozenset[int]] = field(default_factory=dict)
    """Changes that the value of a name waits for."""
    variables: dict[str, str] = field(default_factory=dict)
    """Which variable a name stands for."""
    changed: dict[str, frozenset[int]] = field(default_factory=dict)
    """Changes of each variable."""

    def copy(self) -> _State:
        return _State(dict(self.made), dict(self.variables), dict(self.changed))

    def join(self, other: _State) -> None:
        for mine, its in ((self.made, other.made), (self.changed, other.changed)):
            for name, changes in its.items():
                mine[name] = mine.get(name, frozenset()) | changes
        self.variables.update(other.variables)


class RunOrder:
    """Checks one method.

    `variable` gives the key of the variable that an expression stands for, `scattering` are functions that change their
    first argument, `updating` methods that do what else an update does. `several` gives the variables that a call returns
    together. `after` is a parameter with ops that every change has to wait for.
    """

    def __init__(
        self,
        module: Module,
        variable: Callable[[ast.expr], str | None],
        scattering: Iterable[str],
        updating: Iterable[str],
        several: Callable[[ast.expr], list[ast.expr]],
        after: str = "",
    ) -> None:
        self.module, self.variable, self.several = module, variable, several
        self.scattering, self.updating = frozenset(scattering), frozenset(updating)
        self.after = after

    def check(self, method: ast.FunctionDef) -> None:
        """Raises Unsupported where the statements, run one after the other, may do something else than the graph did."""
        state = _State()
        for parameter in method.args.args[1:]:
            key = self.variable(ast.Name(parameter.arg, ast.Load()))
            if key is not None:
                state.variables[parameter.arg] = key
        if self.after:
            state.made[self.after] = frozenset({0})
        end = self._block(method.body, state, frozenset())
        if end is not None and any(end.changed.values()):
            raise self._lost(method)

    def _lost(self, node: ast.AST) -> Unsupported:
        return Unsupported("an optimizer class makes an op that changes a variable, and does not return it", node)

    def _block(self, body: list[ast.stmt], state: _State, control: frozenset[int]) -> _State | None:
        """The state behind statements; None where all ways return."""
        for statement in body:
            if isinstance(statement, ast.With):
                before = control
                for item in statement.items:
                    call = item.context_expr
                    name = self.module.resolve(call.func) if isinstance(call, ast.Call) else None
                    if isinstance(call, ast.Call) and name in CONTROL:
                        for argument in call.args:
                            before |= self._value(argument, state, control)
                    elif name not in PLACING or item.optional_vars is not None:
                        raise Unsupported("a `with` in a method of an optimizer class is not followed", statement)
                end = self._block(statement.body, state, before)
                if end is None:
                    return None
                state = end
            elif isinstance(statement, ast.If):
                self._value(statement.test, state, control)
                ends = [self._block(list(arm), state.copy(), control) for arm in (statement.body, statement.orelse)]
                left = [end for end in ends if end is not None]
                if not left:
                    return None
                state = left[0]
                for end in left[1:]:
                    state.join(end)
            elif isinstance(statement, ast.Return):
                done = self._value(statement.value, state, control) if statement.value is not None else control
                if any(changes - done for changes in state.changed.values()):
                    raise self._lost(statement)
                return None
            elif isinstance(statement, ast.Raise):
                return None
            else:
                self._simple(statement, state, control)
        return state

    def _simple(self, statement: ast.stmt, state: _State, control: frozenset[int]) -> None:
        if isinstance(statement, ast.Expr):
            value = statement.value
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.args:
                holder = value.func.value
                if isinstance(holder, ast.Name) and value.func.attr in ("append", "extend"):
                    made = self._value(value.args[0], state, control)
                    state.made[holder.id] = state.made.get(holder.id, frozenset()) | made
                    return
            self._value(value, state, control)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            key = self.variable(statement.value)
            if key is None and isinstance(statement.value, ast.Name):
                key = state.variables.get(statement.value.id)
            target = statement.targets[0]
            names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            owners = [self.variable(value) for value in self.several(statement.value)] or [key] * len(names)
            none = all(owner is not None for owner in owners) and len(owners) == len(names)
            made = frozenset[int]() if none else self._value(statement.value, state, control)
            for one, key in zip(names, owners):
                if not isinstance(one, ast.Name):
                    raise Unsupported("a method of an optimizer class keeps something on the way", statement)
                state.made[one.id] = made
                state.variables.pop(one.id, None)
                if key is not None:
                    state.variables[one.id] = key
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            made = self._value(statement.value, state, control)
            state.made[name] = state.made.get(name, frozenset()) | made
            state.variables.pop(name, None)
        elif not isinstance(statement, ast.Pass):
            raise Unsupported("a method of an optimizer class is not followed", statement)

    def _value(self, node: ast.expr, state: _State, control: frozenset[int]) -> frozenset[int]:
        """The changes that an expression waits for. Raises Unsupported where it reads what may have changed."""
        found = control
        changes: list[tuple[StateOp, str]] = []
        stack: list[ast.AST] = [node]
        while stack:
            one = stack.pop()
            if isinstance(one, ast.Lambda):
                if any(self._is_change(inner) for inner in walk(one.body)) and not self._handed(one):
                    raise Unsupported("a change of a variable inside of a lambda is not followed", one)
                continue
            key = self.variable(one) if isinstance(one, ast.expr) else None
            if isinstance(one, ast.Name):
                found |= state.made.get(one.id, frozenset())
                key = state.variables.get(one.id)
            if key is not None:
                if isinstance(one, ast.Name) and not self._reads(one):
                    continue
                if state.changed.get(key, frozenset()) - control:
                    raise Unsupported("an optimizer class updates variables in an order that matters", one)
                continue
            change = state_op(self.module, one, self.scattering)
            if change is not None:
                target = change.target
                owner = self.variable(target)
                if owner is None and isinstance(target, ast.Name):
                    owner = state.variables.get(target.id)
                if owner is None:
                    raise Unsupported("which variable an optimizer class changes is not seen", one)
                changes.append((change, owner))
            if isinstance(one, ast.Call) and ast.unparse(one.func) in self.updating and any(state.changed.values()):
                raise Unsupported("an optimizer class updates variables in an order that matters", one)
            stack += ast.iter_child_nodes(one)
        for change, owner in changes:
            if self.after and 0 not in control:
                raise Unsupported(
                    "`_finish` of an optimizer class changes a variable before the step is done", change.call
                )
            number = change.call.lineno * 1000 + change.call.col_offset + 1
            state.changed[owner] = state.changed.get(owner, frozenset()) | {number}
            found |= {number}
        return found

    def _is_change(self, node: ast.AST) -> bool:
        return state_op(self.module, node, self.scattering) is not None

    def _handed(self, node: ast.Lambda) -> bool:
        """Whether a function goes to a method that uses it to change its first argument."""
        call = self.module.parent(node)
        return isinstance(call, ast.Call) and ast.unparse(call.func) in self.updating

    def _reads(self, node: ast.Name) -> bool:
        """Whether a name of a variable stands for its value, or is changed; not ``var.dtype`` and its like."""
        parent = self.module.parent(node)
        return not (
            isinstance(parent, ast.Attribute)
            and parent.attr in ("dtype", "name", "shape", "get_shape", "device", "op", "graph")
        )
