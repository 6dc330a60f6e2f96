"""Optimizer classes that say how one variable is updated, in `_apply_dense` and its like: methods of a Keras optimizer."""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.analyse.training.stateops import RunOrder, state_op
from migrator.emit.render import Renderer
from migrator.resolve.syntax import walk
from migrator.rewrite import Remove, Replace, Statement, defined, spaced, statements

from ..estimator_calls.driver import Driver
from .applied_methods import DENSE, PROTOCOL, SPARSE, AppliedMethods
from .optimizer_constructors import TAKEN, rewrite_constructor
from .optimizer_methods import MethodText, joined
from .optimizer_slots import ASKS, read_slots

_BASE = "KernelOptimizer"
_SHAPED = "ShapedSlotsOptimizer"
"""The base of optimizers whose slots are not of the shapes of their variables."""
_DUPLICATES = ("_apply_sparse_duplicate_indices", "_resource_apply_sparse_duplicate_indices")
_STEPS = frozenset(
    {
        "tensorflow.train.get_global_step", "tensorflow.train.get_or_create_global_step",
        "tensorflow.python.training.training_util.get_global_step",
        "tensorflow.python.training.training_util.get_or_create_global_step",
    }
)  # fmt: skip
_CASTS = frozenset({"tensorflow.cast", "tensorflow.python.ops.math_ops.cast"})
_CONVERTS = frozenset({"tensorflow.convert_to_tensor", "tensorflow.python.framework.ops.convert_to_tensor"})
_OF_BASE = frozenset({"_call_if_callable", "get_slot", ASKS, "learning_rate"})


def applies(found: OptimizerClass) -> bool:
    """Whether the base of a class calls it for each variable."""
    return any(found.method(name) is not None for name in (*DENSE, *SPARSE))


class AppliedRewrite:
    """The edits of one class."""

    def __init__(self, found: OptimizerClass, driver: Driver, renderer: Renderer) -> None:
        self.found, self.driver, self.renderer, self.module = found, driver, renderer, found.module
        self.methods = AppliedMethods(found)
        self.rate = ""
        self.prepared: dict[str, ast.expr] = {}
        self.variable_of: dict[str, str] = {}
        """The parameter of a method that is the variable which it updates."""

    def run(self) -> None:
        """All edits. Raises Unsupported."""
        node = self.found.node
        for name, method in self.methods.by_name.items():
            if name in TAKEN or name in _DUPLICATES or name in ("compute_gradients", "get_slot", "get_slot_names"):
                raise Unsupported(f"an optimizer class with a method `{name}` is not migrated yet", method)
        dense, sparse = self.methods.chosen(DENSE), self.methods.chosen(SPARSE)
        if dense is None:
            raise Unsupported("an optimizer class without an update of dense gradients is not migrated yet", node)
        entries = [method for method in (dense, sparse) if method is not None]
        updating = self.methods.updating(entries)
        helpers = self.methods.helpers(entries, updating)
        finish = self.methods.method("_finish")
        self.prepared = self._read_prepare()
        slots = read_slots(self.found, self.renderer)
        if clash := set(slots.own) & {*self.methods.by_name, *TAKEN}:
            raise Unsupported(f"`{min(clash)}` means something else to a Keras optimizer", node)
        made = [
            f'self.{name} = self.add_variable(shape=(), dtype="float32", '
            f'initializer={self._tf}.keras.initializers.Constant({value}), name="{name}")'
            for name, value in slots.own.items()
        ]
        constructor = rewrite_constructor(self.found, self.driver, self.renderer, self.prepared, made)
        self.rate = constructor.rate
        self.known = constructor.stored | set(self.methods.by_name) | _OF_BASE
        for method in [*updating, *helpers]:
            self._check_order(method, updating, helpers)
            self._check_reads(method)
        written = {m: [MethodText(self, m, m in updating).statement()] for m in [*updating, *helpers]}
        if finish is not None:
            self._check_finish(finish)
            head = f"def finish_step({finish.args.args[0].arg})"
            written[finish] = [MethodText(self, finish, True).statement(head)]
        if slots.method is not None and (creating := self.methods.method("_create_slots")) is not None:
            written[creating] = [slots.method]
        if sparse is None:
            written[dense] = [MethodText(self, dense, True).statement(self._head_of_update(dense))]
        else:
            start = min((m for m in written if m in entries), key=lambda m: m.lineno)
            written[start] = [self._update(dense, sparse), *spaced(written[start])]
        self._write(written)
        self.driver.replace(node.bases[0], self.driver.need(_SHAPED if slots.shaped else _BASE, node))

    @property
    def _tf(self) -> str:
        return self.driver.tensorflow()

    # -- checks -------------------------------------------------------------------------------------------------------

    def _check_order(
        self, method: ast.FunctionDef, updating: list[ast.FunctionDef], helpers: list[ast.FunctionDef]
    ) -> None:
        this = method.args.args[0].arg
        if method in helpers:
            if not self.methods.changes(method):
                return
            if not self.methods.scatters(method):
                raise Unsupported("a method of an optimizer class changes variables on the way", method)
            own = method.args.args[1].arg
        else:
            own = self.methods.variable(method)
        names = [f"{this}.{other.name}" for other in updating]
        order = RunOrder(
            self.module, lambda node: self._key(node, own), self.methods.scattering(method), names, self.methods.several
        )
        order.check(method)

    def _check_reads(self, method: ast.FunctionDef) -> None:
        """Refuse functions outside of the class that do more than compute, and questions about the learning rate."""
        rates = (self.rate, *self._rated())
        for node in walk(method):
            if isinstance(node, (ast.If, ast.IfExp, ast.While)) and any(self._reads(node.test, rate) for rate in rates):
                raise Unsupported("an optimizer class asks how large its learning rate is", node.test)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not method:
                raise Unsupported("a function inside of a method of an optimizer class is not followed", node)
            outside = self.driver.project.definition(self.module, node.func) if isinstance(node, ast.Call) else None
            if outside is None or outside.node in self.methods.by_name.values():
                continue
            for inner in walk(outside.node):
                name = outside.module.resolve(inner.func) if isinstance(inner, ast.Call) else None
                if name in _STEPS or state_op(outside.module, inner) is not None:
                    raise Unsupported("a function that an optimizer class calls does more than compute", node)

    def _check_finish(self, method: ast.FunctionDef) -> None:
        after = method.args.args[1].arg
        for node in walk(method):
            if self._is_step(node):
                raise Unsupported("`_finish` of an optimizer class reads the step", node)
            if isinstance(node, ast.Attribute) and node.attr in (self.rate, *self._rated()):
                raise Unsupported("`_finish` of an optimizer class reads the learning rate", node)
        RunOrder(self.module, lambda node: self._key(node, ""), (), (), self.methods.several, after).check(method)

    def _key(self, node: ast.expr, own: str) -> str | None:
        """What tells the variables of a method apart."""
        if isinstance(node, ast.Name):
            return "variable" if node.id == own else None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            if node.func.attr == "get_slot" and len(node.args) == 2 and isinstance(node.args[1], ast.Constant):
                return f"slot {node.args[1].value!s}"
            if node.func.attr == ASKS and node.args and isinstance(node.args[0], ast.Constant):
                return f"own {node.args[0].value!s}"
        return None

    def _rated(self) -> list[str]:
        """Attributes that `_prepare` makes of the learning rate."""
        return [name for name, value in self.prepared.items() if self._reads(value, self.rate)]

    @staticmethod
    def _reads(node: ast.AST, attribute: str) -> bool:
        return any(isinstance(n, ast.Attribute) and n.attr == attribute for n in walk(node))

    def _is_step(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.module.resolve(node.func) in _STEPS

    # -- _prepare -----------------------------------------------------------------------------------------------------

    def _read_prepare(self) -> dict[str, ast.expr]:
        """What each attribute that `_prepare` sets is computed from."""
        method = self.methods.method("_prepare")
        found: dict[str, ast.expr] = {}
        local: dict[str, ast.expr] = {}
        for statement in method.body if method is not None else []:
            if isinstance(statement, ast.Pass) or (
                isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            ):
                continue
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
                raise self._unprepared(statement)
            if isinstance(target, ast.Name):
                local[target.id] = self._called(statement.value)
                continue
            if not isinstance(target, ast.Attribute) or target.attr in found:
                raise self._unprepared(statement)
            value = self._called(statement.value)
            if isinstance(value, ast.Call) and self.module.resolve(value.func) in _CONVERTS and value.args:
                given = self._called(value.args[0])
                given = local.get(given.id, given) if isinstance(given, ast.Name) else given
                if any(k.arg != "name" for k in value.keywords) or len(value.args) > 1:
                    raise self._unprepared(statement)
                if not isinstance(given, ast.Attribute):
                    raise self._unprepared(statement)
                found[target.attr] = given
            elif isinstance(value, ast.Attribute):
                found[target.attr] = value
            else:
                raise self._unprepared(statement)
        return found

    @staticmethod
    def _called(node: ast.expr) -> ast.expr:
        """An argument without ``self._call_if_callable(…)``."""
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "_call_if_callable"
        ):
            return node.args[0]
        return node

    @staticmethod
    def _unprepared(node: ast.AST) -> Unsupported:
        return Unsupported("what `_prepare` of an optimizer class does is not followed", node)

    # -- text ---------------------------------------------------------------------------------------------------------

    def transform(self, node: ast.AST, scattering: list[str], own: str, this: str) -> str | None:
        """The text of an expression in TensorFlow 2."""

        def again(inner: ast.AST) -> str | None:
            return self.transform(inner, scattering, own, this)

        def text(inner: ast.AST) -> str:
            return joined(self.renderer.expression(inner, again))

        if isinstance(node, ast.Call):
            change = state_op(self.module, node, scattering)
            if change is not None and change.method and change.value is not None:
                value = text(change.value)
                if change.indices is not None:
                    value = f"{self._tf}.IndexedSlices({value}, {text(change.indices)})"
                return f"{text(change.target)}.{change.method}({value})"
            if self._is_step(node):
                return f"{this}.iterations"
            function = node.func
            if (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id == this
            ):
                key = self._key(node, "") or ""
                if function.attr == "get_slot":
                    if not key:
                        raise Unsupported("which slot an optimizer class reads is not seen", node)
                    return f'{this}.slot("{key[5:]}", {text(node.args[0])})'
                if function.attr == ASKS:
                    if not key:
                        raise Unsupported("which variable an optimizer class reads is not seen", node)
                    return f"{this}.{key[4:]}"
                if function.attr == "_call_if_callable":
                    return text(node.args[0])
            if self.module.resolve(function) in _CASTS and node.args:
                kept = node.args[0]
                if isinstance(kept, ast.Attribute) and kept.attr in self.prepared:
                    source = self._source(kept, this)
                    rest = "".join(
                        f", {joined(self.renderer.expression(n, again))}" for n in [*node.args[1:], *node.keywords]
                    )
                    return f"{self.renderer.expression(function, again)}({source}{rest})"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == this:
                return self._attribute(node, this)
            if node.value.id == own and node.attr in ("name", "op"):
                raise Unsupported("what an optimizer does with the names of variables is not followed", node)
        return None

    def _source(self, node: ast.Attribute, this: str) -> str:
        """What `_prepare` made a tensor of."""
        value = self.prepared[node.attr]
        assert isinstance(value, ast.Attribute)
        return f"{this}.learning_rate" if value.attr == self.rate else f"{this}.{value.attr}"

    def _attribute(self, node: ast.Attribute, this: str) -> str | None:
        if node.attr == self.rate:
            return f"{this}.learning_rate"
        if node.attr in self.prepared:
            source = self._source(node, this)
            return source if source.endswith(".learning_rate") else f"{self._tf}.convert_to_tensor({source})"
        if node.attr not in self.known:
            raise Unsupported(f"`{node.attr}` of the base of an optimizer class is not migrated yet", node)
        return None

    @staticmethod
    def _head_of_update(dense: ast.FunctionDef) -> str:
        this, grad, var = (a.arg for a in dense.args.args[:3])
        return f"def update({this}, {var}, {grad}, learning_rate)"

    def _update(self, dense: ast.FunctionDef, sparse: ast.FunctionDef) -> Statement:
        """The method that tells both kinds of gradients apart."""
        this, grad, var = (a.arg for a in dense.args.args[:3])
        given = f"{grad}, {var}" if len(sparse.args.args) == 3 else f"{grad}.values, {var}, {grad}.indices"
        body = f"""
            if isinstance({grad}, {self._tf}.IndexedSlices):
                {this}.{sparse.name}({given})
            else:
                {this}.{dense.name}({grad}, {var})
            """
        return defined(self._head_of_update(dense), statements(body))

    def _write(self, written: dict[ast.FunctionDef, list[Statement]]) -> None:
        """Put the new methods in the place of the old ones, and take away those that nothing calls any more."""
        for method in self.methods.by_name.values():
            if method.name == "__init__":
                continue
            if method in written:
                self.driver.handled.update(n for n in walk(method) if isinstance(n, ast.expr))
                self.driver.change(Replace(method, written[method]))
            elif method.name in PROTOCOL:
                self.driver.handled.update(n for n in walk(method) if isinstance(n, ast.expr))
                self.driver.change(Remove(method, apart=True))


__all__ = ["AppliedRewrite", "applies"]
