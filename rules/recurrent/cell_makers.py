"""Functions of the program that make recurrent cells, outside of its model_fns: the cells in them become the new ones."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import Value, Writing
from migrator.analyse.layers.makers import Maker
from migrator.emit.render import Renderer
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code
from migrator.vocabulary.unsupported import UsedElsewhere

from ..estimator_calls.driver import Driver
from .rnn import EXPRESSIONS


def rewrite_maker(found: Maker, project: Project, bodies: list[Definition], driver: Driver, renderer: Renderer) -> None:
    """Write the new cells into a function. Raises Unsupported where other code than `bodies` uses it as well."""
    definition, module = found.definition, found.definition.module
    _check_used_here(found, project, bodies)
    writing = _Writing(found, driver, renderer)
    for node in walk(definition.node):
        if isinstance(node, ast.Call) and module.resolve(node.func) in EXPRESSIONS and node not in writing.written:
            text = renderer.expression(node, writing.transform)
            driver.change(Replace(node, code(text)))
            driver.handled.update(child for child in walk(node) if isinstance(child, ast.expr))


def _check_used_here(found: Maker, project: Project, bodies: list[Definition]) -> None:
    """Refuse a function that is also used where cells stay those of TensorFlow 1."""
    functions = {id(body.node) for body in bodies}
    for module in project.modules.values():
        for node in project.uses(found.definition, module):
            call = module.parent(node)
            called = isinstance(call, ast.Call) and call.func is node
            if not called or not any(id(around) in functions for around in module.ancestors(node)):
                raise UsedElsewhere("a function that makes recurrent cells is used outside of the model_fn", node)


class _Writing(Writing):
    """A function outside of a model_fn, as the rules of cells see it."""

    where = "init"

    def __init__(self, found: Maker, driver: Driver, renderer: Renderer) -> None:
        self.found, self.driver, self.renderer = found, driver, renderer
        self.module: Module = found.definition.module
        self.tf = driver.tensorflow()
        self.written: set[ast.AST] = set()

    def transform(self, node: ast.AST) -> str | None:
        """A cell in the words of the new library."""
        name = self.module.resolve(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or name not in EXPRESSIONS or name is None:
            return None
        self.written.update(walk(node))
        return EXPRESSIONS[name](node, self)

    def text(self, value: Value) -> str:
        return value if isinstance(value, str) else self.renderer.expression(value, self.transform)

    def need(self, helper: str) -> str:
        return self.driver.need(helper, self.found.definition.node)

    def resolve(self, node: ast.expr) -> str | None:
        return self.module.resolve(node)

    def is_static(self, node: ast.expr) -> bool:
        return True

    def is_step(self, node: ast.expr) -> bool:
        return False

    def followed(self, node: ast.expr) -> ast.expr:
        return node

    def may_come_from(self, node: ast.expr, words: tuple[str, ...]) -> bool:
        return False

    def may_be_none(self, node: ast.expr) -> bool:
        return False

    def in_training(self, node: ast.expr, neutral: float) -> str | None:
        return self.text(node) if self.found.drops and self.found.only_in_training else None

    def collected(self, call: ast.Call, key: str) -> list[str]:
        return []

    def kept(self) -> frozenset[str]:
        return frozenset()

    def fact(self, name: str) -> bool:
        return False
