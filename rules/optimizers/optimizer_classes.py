"""Classes of the program that derive from `tf.train.Optimizer`: they become Keras optimizers, with the same formulas, slots
and names.

Some update each variable in a loop of `apply_gradients`, which becomes `update` here. Others say in methods that the base
calls how one variable is updated: `applied_optimizers.py`.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.emit.render import Renderer
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, Row, Statement, defined, rows, spaced, trimmed
from migrator.vocabulary.unsupported import UsedElsewhere

from ..estimator_calls.driver import Driver
from .applied_optimizers import AppliedRewrite, applies
from .optimizer_constructors import TAKEN, rewrite_constructor

BASES = frozenset({"tensorflow.train.Optimizer", "tensorflow.python.training.optimizer.Optimizer"})
_BASE = "KernelOptimizer"
_GET_VARIABLE = "tensorflow.get_variable"
_VARIABLE = "name shape dtype initializer regularizer trainable"
_ASSIGN = frozenset({"assign", "assign_add", "assign_sub"})
_ZEROS = frozenset({"tensorflow.zeros_initializer", "tensorflow.initializers.zeros"})
_SHAPES = ("{0}.shape.as_list()", "{0}.shape", "{0}.get_shape()", "{0}.get_shape().as_list()")


def rewrite_optimizer(
    found: OptimizerClass, project: Project, bodies: list[Definition], driver: Driver, renderer: Renderer
) -> None:
    """Write a class as a Keras optimizer. Raises Unsupported where its methods do more, or other code uses it."""
    _check_used_here(found, project, bodies)
    node = found.node
    if len(node.bases) != 1 or node.keywords or node.decorator_list:
        raise Unsupported("an optimizer class with several bases or a decorator is not migrated yet", node)
    if applies(found):
        AppliedRewrite(found, driver, renderer).run()
    else:
        _ClassRewrite(found, driver, renderer).run()


def _check_used_here(found: OptimizerClass, project: Project, bodies: list[Definition]) -> None:
    functions = {id(body.node) for body in bodies}
    for module in project.modules.values():
        for node in project.uses(found.definition, module):
            around = list(module.ancestors(node))
            if found.node in around or any(id(a) in functions for a in around):
                continue
            raise UsedElsewhere("an optimizer class is used outside of the model_fn", node)


class _ClassRewrite:
    """The edits of one class."""

    def __init__(self, found: OptimizerClass, driver: Driver, renderer: Renderer) -> None:
        self.found, self.driver, self.renderer = found, driver, renderer
        self.module = found.module
        self.rate = ""
        """The attribute that holds the learning rate."""
        self.slots: dict[str, str] = {}

    def run(self) -> None:
        """All edits. Raises Unsupported."""
        node = self.found.node
        for statement in node.body:
            name = statement.name if isinstance(statement, ast.FunctionDef) else ""
            if name.startswith(("_prepare", "_create_slots", "_finish")) or name in TAKEN:
                if name != "apply_gradients":
                    raise Unsupported(f"an optimizer class with a method `{name}` is not migrated yet", statement)
        method = self.found.method("apply_gradients")
        if method is None:
            raise Unsupported("an optimizer class without `apply_gradients` is not migrated yet", node)
        self.rate = rewrite_constructor(self.found, self.driver, self.renderer).rate
        self._check_rate()
        methods = self._update(method)
        self.driver.replace(node.bases[0], self.driver.need(_BASE, node))
        self.driver.handled.update(n for n in walk(method) if isinstance(n, ast.expr))
        self.driver.change(Replace(method, methods))

    def _check_rate(self) -> None:
        for node in walk(self.found.node):
            if isinstance(node, ast.Attribute) and node.attr == self.rate and isinstance(node.value, ast.Name):
                around = [a.name for a in self.module.ancestors(node) if isinstance(a, ast.FunctionDef)]
                if around[:1] not in (["__init__"], ["apply_gradients"]):
                    raise Unsupported("an optimizer class reads its learning rate in a method of its own", node)

    # -- apply_gradients ----------------------------------------------------------------------------------------------

    def _update(self, method: ast.FunctionDef) -> list[Statement]:
        """The methods `initial_slots` and `update`."""
        names = [a.arg for a in method.args.args]
        docstring = ast.get_docstring(method, clean=False) is not None
        body = method.body[1:] if docstring else method.body
        if len(names) < 2 or len(body) != 3:
            raise self._unseen(method)
        start, loop, end = body
        if not isinstance(start, ast.Assign) or not isinstance(start.targets[0], ast.Name):
            raise self._unseen(start)
        if not isinstance(start.value, ast.List) or start.value.elts:
            raise self._unseen(start)
        if not isinstance(loop, ast.For) or loop.orelse or ast.unparse(loop.iter) != names[1]:
            raise self._unseen(loop)
        if not isinstance(loop.target, ast.Tuple) or len(loop.target.elts) != 2:
            raise self._unseen(loop)
        grad, param = (ast.unparse(element) for element in loop.target.elts)
        updates = start.targets[0].id
        self._check_return(end, updates)
        self._check_names(method)
        written = trimmed(self._statements(loop, grad, param, updates))
        this = names[0]
        if docstring:
            written[:0] = rows([f'"""Update one variable; see {_BASE}."""'])
        update = defined(f"def update({this}, {param}, {grad}, learning_rate)", written)
        if not self.slots:
            return [update]
        slots = ", ".join(f'"{name}": {value}' for name, value in self.slots.items())
        return [defined(f"def initial_slots({this})", rows([f"return {{{slots}}}"])), *spaced([update])]

    def _check_names(self, method: ast.FunctionDef) -> None:
        """Refuse what binds a name that the new method needs."""
        for node in walk(method):
            if isinstance(node, ast.Name) and node.id == "learning_rate" and isinstance(node.ctx, ast.Store):
                raise Unsupported("`learning_rate` is a name that the generated method needs", node)

    def _check_return(self, node: ast.stmt, updates: str) -> None:
        call = node.value if isinstance(node, ast.Return) else None
        if not isinstance(call, ast.Call) or self.module.resolve(call.func) != "tensorflow.group":
            raise self._unseen(node)
        if [ast.unparse(a) for a in call.args] != [f"*{updates}"] or any(k.arg != "name" for k in call.keywords):
            raise self._unseen(node)

    def _statements(self, loop: ast.For, grad: str, param: str, updates: str) -> list[Row]:
        method = self.module.parent(loop)
        assert isinstance(method, ast.FunctionDef)
        this = method.args.args[0].arg
        variables = {param}
        found: list[Row] = []
        ended = False

        def transform(node: ast.AST) -> str | None:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if node.value.id == this and node.attr == self.rate:
                    return "learning_rate"
                if node.value.id == param and node.attr == "name":
                    return f"{self.driver.need('variable_path', self.found.node)}({param})"
                if node.value.id == param and node.attr == "op":
                    raise Unsupported("variables have no `op` in TensorFlow 2: use `.name`", node)
            if isinstance(node, ast.Call) and self.module.resolve(node.func) == _GET_VARIABLE:
                raise Unsupported("a slot that is made on some ways only is not migrated yet", node)
            return None

        for statement in loop.body:
            if _skips_none(statement, grad, param):
                continue
            assigned = self._assigned(statement, updates)
            if assigned is None and ended:
                raise Unsupported("an optimizer class computes on after it has updated a variable", statement)
            if assigned is not None:
                ended = True
                self._check_order(assigned, variables)
                found += self._lead(statement)
                found += rows([self.renderer.expression(call, transform) for call in assigned])
                continue
            slot = self._slot(statement, param)
            if slot is not None:
                variables.add(slot)
                text = f'{slot} = {this}.slot("{list(self.slots)[-1]}", {param})'
                found += [*self._lead(statement), *rows([text])]
                continue
            if any(isinstance(n, ast.Name) and n.id == updates for n in walk(statement)):
                raise self._unseen(statement)
            if any(isinstance(n, (ast.Continue, ast.Return)) for n in walk(statement)):
                raise self._unseen(statement)
            found += rows(self.renderer.statement(statement, transform, ""))
        if not ended:
            raise self._unseen(loop)
        return found

    def _lead(self, statement: ast.stmt) -> list[Row]:
        """The comments and blank lines above a statement."""
        return rows(self.renderer.statement(statement, lambda node: "pass", "")[:-1])

    def _slot(self, statement: ast.stmt, param: str) -> str | None:
        """The name that holds a slot: ``m = tf.get_variable(name=param_name + "/adam_m", …)``."""
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or self.module.resolve(call.func) != _GET_VARIABLE:
            return None
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        given = bind(call, _VARIABLE, "tf.get_variable")
        name, shape, initializer = given.get("name"), given.get("shape"), given.get("initializer")
        if not isinstance(target, ast.Name) or len(statement.targets) > 1:
            raise self._unseen(statement)
        if shape is None or ast.unparse(shape) not in [form.format(param) for form in _SHAPES]:
            raise Unsupported("a slot that is not of the shape of its variable is not migrated yet", call)
        trainable = given.get("trainable")
        if not isinstance(trainable, ast.Constant) or trainable.value is not False:
            raise Unsupported("a slot that is trained itself is not migrated yet", call)
        suffix = name.right if isinstance(name, ast.BinOp) and isinstance(name.op, ast.Add) else None
        if not isinstance(suffix, ast.Constant) or not str(suffix.value).startswith("/"):
            raise Unsupported("the name of a slot is not that of its variable with an ending", call)
        made = initializer.func if isinstance(initializer, ast.Call) and not initializer.args else initializer
        if made is None or self.module.resolve(made) not in _ZEROS or not is_none(given.get("regularizer")):
            raise Unsupported("a slot that does not start as zeros is not migrated yet", call)
        dtype = given.get("dtype")
        if dtype is not None and self.module.resolve(dtype) != "tensorflow.float32":
            raise Unsupported("a slot of another type than float32 is not migrated yet", call)
        slot = str(suffix.value)[1:]
        if not slot.isidentifier() or slot in self.slots:
            raise Unsupported("the name of a slot is not that of its variable with an ending", call)
        self.slots[slot] = "0.0"
        return target.id

    def _assigned(self, statement: ast.stmt, updates: str) -> list[ast.Call] | None:
        """The updates that a statement adds to the list of them: ``assignments.extend([param.assign(…), …])``."""
        value: ast.expr | None = None
        if isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == updates:
            value = statement.value
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            call = statement.value
            if ast.unparse(call.func) in (f"{updates}.extend", f"{updates}.append") and len(call.args) == 1:
                value = call.args[0]
        if value is None:
            return None
        elements = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        calls = [e for e in elements if isinstance(e, ast.Call)]
        if len(calls) < len(elements):
            raise self._unseen(statement)
        return calls

    def _check_order(self, calls: list[ast.Call], variables: set[str]) -> None:
        """Refuse updates that read a variable which another one may have moved already."""
        moved: list[str] = []
        for call in calls:
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr not in _ASSIGN:
                raise self._unseen(call)
            target = ast.unparse(function.value)
            if target not in variables or target in moved:
                raise self._unseen(call)
            moved.append(target)
        for call in calls:
            assert isinstance(call.func, ast.Attribute)
            own = ast.unparse(call.func.value)
            read = {n.id for a in call.args for n in walk(a) if isinstance(n, ast.Name)} & variables
            if read - {own}:
                raise Unsupported("an optimizer class updates variables in an order that matters", call)

    @staticmethod
    def _unseen(node: ast.AST) -> Unsupported:
        return Unsupported("what `apply_gradients` of an optimizer class does is not followed", node)


def _skips_none(node: ast.stmt, grad: str, param: str) -> bool:
    """Whether a statement leaves out variables without a gradient, as Keras does."""
    if not isinstance(node, ast.If) or node.orelse or [type(s) for s in node.body] != [ast.Continue]:
        return False
    return ast.unparse(node.test) in (
        f"{grad} is None or {param} is None",
        f"{param} is None or {grad} is None",
        f"{grad} is None",
    )
