"""`_create_slots` of optimizer classes: the state of a Keras optimizer, for each variable and beside them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.emit.render import Renderer, Transform
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, Statement, defined, opened, rows, with_else

_ZEROS = frozenset({"tensorflow.zeros_like", "tensorflow.zeros"})
_ONES = frozenset({"tensorflow.ones_like", "tensorflow.ones"})
_FILLS = {
    "tensorflow.zeros_initializer": "0.0",
    "tensorflow.initializers.zeros": "0.0",
    "tensorflow.ones_initializer": "1.0",
    "tensorflow.initializers.ones": "1.0",
}
_CONSTANTS = frozenset({"tensorflow.constant_initializer", "tensorflow.initializers.constant"})
_OPS = "tensorflow.python.ops."
_MAKES = {
    "_zeros_slot": "var slot_name op_name",
    "_get_or_make_slot": "var val slot_name op_name",
    "_get_or_make_slot_with_initializer": "var initializer shape dtype slot_name op_name",
}
OWN = "_create_non_slot_variable"
ASKS = "_get_non_slot_variable"


@dataclass
class Slots:
    """The state of an optimizer class."""

    method: Statement | None = None
    """The method that says what is kept for each variable; none where nothing is."""
    shaped: bool = False
    """Whether they depend on the variable."""
    own: dict[str, str] = field(default_factory=dict)
    """Variables that belong to no other one, and the number that each starts with."""


def read_slots(found: OptimizerClass, renderer: Renderer) -> Slots:
    """What `_create_slots` makes. Raises Unsupported where that is not seen."""
    method = found.method("_create_slots")
    return _Reader(found, method, renderer).read() if method is not None else Slots()


class _Reader:
    def __init__(self, found: OptimizerClass, method: ast.FunctionDef, renderer: Renderer) -> None:
        self.found, self.method, self.renderer, self.module = found, method, renderer, found.module
        self.this, self.list = (a.arg for a in method.args.args[:2])
        self.result = Slots()
        self.variables: set[str] = set()
        self.made: list[tuple[str, str]] = []
        """Names of slots, each with the text of its first value."""
        self.fixed = True
        """Whether all variables have the same slots, whatever the arguments of the optimizer are."""
        self.asked = False
        """Whether a variable is asked which slots it has."""

    def read(self) -> Slots:
        """All slots. Raises Unsupported."""
        found = self._block(self.method.body, False)
        if not self.made:
            return self.result
        if self.fixed:
            pairs = ", ".join(f'"{name}": {text}' for name, text in self.made)
            self.result.method = defined(f"def initial_slots({self.this})", rows([f"return {{{pairs}}}"]))
            return self.result
        name, variable = "initial_slots", ""
        if self.asked:
            if len(self.variables) > 1:
                raise self._unseen(self.method)
            self.result.shaped = True
            name, variable = "slots_of", f", {next(iter(self.variables))}"
        body = [*rows(["slots = {}"]), *found, *rows(["return slots"])]
        self.result.method = defined(f"def {name}({self.this}{variable})", body)
        return self.result

    def _block(self, body: list[ast.stmt], looped: bool, outer: bool = True) -> list[Row]:
        """The rows of a block; `outer` is that of the method, or of a loop in it."""
        found: list[Row] = []
        for statement in body:
            value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
            if isinstance(statement, ast.Expr) and isinstance(value, ast.Constant):
                continue
            if isinstance(statement, ast.For) and not statement.orelse:
                if ast.unparse(statement.iter) != self.list or not isinstance(statement.target, ast.Name) or looped:
                    raise self._unseen(statement)
                self.variables.add(statement.target.id)
                found += self._block(statement.body, True, outer)
            elif isinstance(value, ast.Call) and (made := self._made(value)) is not None:
                if isinstance(statement, ast.Assign) or not looped:
                    raise self._unseen(statement)
                self.fixed &= not self.renderer.comments(statement, "") or not found
                self.made.append(made)
                found += rows([f'slots["{made[0]}"] = {made[1]}'])
            elif isinstance(value, ast.Call) and self._is_own(value, OWN):
                if looped or not outer:
                    raise self._unseen(statement)
                self._own(value)
            elif isinstance(statement, ast.If):
                found += self._condition(statement, looped)
            elif isinstance(statement, ast.With) and not looped:
                raise self._unseen(statement)
            elif isinstance(statement, ast.Assign) and not looped:
                continue  # names of the graph; what else is read is refused below
            elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self.fixed = False
                self._asks(statement.value)
                found += rows(self.renderer.statement(statement, self._transform, ""))
            elif not isinstance(statement, ast.Pass):
                raise self._unseen(statement)
        return found

    def _condition(self, statement: ast.If, looped: bool) -> list[Row]:
        makes = [n for n in walk(statement) if isinstance(n, ast.Call) and self._is_own(n, OWN)]
        slots = [n for n in walk(statement) if isinstance(n, ast.Call) and self._made(n) is not None]
        if makes and not slots and not looped:
            self._guard(statement)
            if any(not isinstance(s, ast.Expr) or s.value not in makes for s in statement.body) or statement.orelse:
                raise self._unseen(statement)
            for call in makes:
                self._own(call)
            return []
        if not slots and not looped:
            self._guard(statement)
            return []
        self.fixed = False
        self._asks(statement.test)
        head = self.renderer.header(statement, self._transform, "")
        *above, found = opened(head, self._arm(statement.body, looped))
        return [*above, with_else(found, self._arm(statement.orelse, looped), False) if statement.orelse else found]

    def _arm(self, body: list[ast.stmt], looped: bool) -> list[Row]:
        return self._block(body, looped, outer=False) or rows(["pass"])

    def _guard(self, statement: ast.If) -> None:
        """Refuse a condition that asks for more than whether a graph has these variables already."""
        for node in walk(statement.test):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.this:
                if node.attr != ASKS:
                    raise self._unseen(statement)

    def _asks(self, node: ast.expr) -> None:
        """Note whether an expression reads the variable, and refuse other names than its own."""
        given = {n.id for s in walk(self.method) if isinstance(s, ast.For) for n in self._assigned(s)}
        for name in [n for n in walk(node) if isinstance(n, ast.Name)]:
            if name.id in self.variables or name.id in given:
                self.asked = True
            elif name.id == self.list:
                raise self._unseen(name)

    @staticmethod
    def _assigned(loop: ast.For) -> list[ast.Name]:
        targets = [s.targets[0] for s in walk(loop) if isinstance(s, ast.Assign)]
        return [target for target in targets if isinstance(target, ast.Name)]

    def _is_own(self, call: ast.Call, *names: str) -> bool:
        function = call.func
        own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.attr in names
        return own and ast.unparse(function).startswith(f"{self.this}.")

    def _made(self, call: ast.Call) -> tuple[str, str] | None:
        """The name and the first value of the slot that a call makes."""
        if not self._is_own(call, *_MAKES):
            return None
        assert isinstance(call.func, ast.Attribute)
        given = bind(call, _MAKES[call.func.attr], call.func.attr)
        name, variable = given.get("slot_name"), given.get("var")
        if not isinstance(name, ast.Constant) or not isinstance(variable, ast.Name):
            raise self._unseen(call)
        if call.func.attr == "_zeros_slot":
            return str(name.value), "0.0"
        if call.func.attr == "_get_or_make_slot":
            return str(name.value), self._value(given["val"], variable.id)
        initializer, shape = given["initializer"], ast.unparse(given["shape"])
        if shape not in (f"{variable.id}.shape", f"{variable.id}.get_shape()"):
            raise Unsupported("a slot that is not of the shape of its variable is not migrated yet", call)
        made = initializer.func if isinstance(initializer, ast.Call) else initializer
        kind = self._resolved(made)
        if kind in _CONSTANTS and isinstance(initializer, ast.Call) and len(initializer.args) == 1:
            return str(name.value), self.renderer.expression(initializer.args[0], self._transform)
        if kind not in _FILLS:
            raise Unsupported("what a slot starts as is not seen", call)
        return str(name.value), _FILLS[kind]

    def _value(self, node: ast.expr, variable: str) -> str:
        kind = self._resolved(node.func) if isinstance(node, ast.Call) else ""
        whole = isinstance(node, ast.Call) and node.args and ast.unparse(node.args[0]).replace(".as_list()", "") in (
            variable, f"{variable}.shape", f"{variable}.get_shape()"
        )  # fmt: skip
        if whole and kind in _ZEROS:
            return "0.0"
        if whole and kind in _ONES:
            return "1.0"
        self.fixed = False
        self.asked = True
        self._asks(node)
        return self.renderer.expression(node, self._transform)

    def _resolved(self, node: ast.expr) -> str:
        """The public name of a function."""
        name = self.module.resolve(node) or ""
        if name.startswith(_OPS):
            name = f"tensorflow.{name.rsplit('.', 1)[-1]}"
        return name

    def _own(self, call: ast.Call) -> None:
        given = bind(call, "initial_value name colocate_with", OWN)
        name, value = given.get("name"), given["initial_value"]
        if not isinstance(name, ast.Constant) or not str(name.value).isidentifier():
            raise self._unseen(call)
        kept = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == self.this
        if not kept and not (isinstance(value, ast.Constant) and isinstance(value.value, float)):
            raise Unsupported("what a variable of an optimizer class starts as is not seen", value)
        self.result.own[str(name.value)] = self.module.segment(value)

    def _transform(self, node: ast.AST) -> str | None:
        return None

    def _unseen(self, node: ast.AST) -> Unsupported:
        return Unsupported("what `_create_slots` of an optimizer class makes is not followed", node)


__all__ = ["ASKS", "Slots", "Transform", "read_slots"]
