"""Functions that make layers and are handed around: parameters, names with several values, `functools.partial`.

The function that a name stands for becomes a class, and so the name stands for a class: ``block_fn(inputs, 64)`` is split
into ``self.block = block_fn(64)`` and ``self.block(inputs)``, whichever of the classes it is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.functions.partials import PARTIAL
from migrator.normalise.values.possible_values import PossibleValues, handed
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.sublayers import Sublayers


@dataclass(frozen=True)
class Made:
    """A helper that a value stands for, and the reference that names it."""

    definition: Definition
    module: Module
    reference: ast.expr
    partial: ast.Call | None = None
    """The ``functools.partial(…)`` that fills in some of its arguments."""

    @property
    def values(self) -> list[tuple[str, ast.expr]]:
        """The arguments that the partial gives, by parameter."""
        keywords = self.partial.keywords if self.partial is not None else ()
        return [(keyword.arg, keyword.value) for keyword in keywords if keyword.arg is not None]

    def is_like(self, other: Made) -> bool:
        """Whether the same function is meant, to which the same parameters are left."""
        names, others = ({name for name, _ in made.values} for made in (self, other))
        return self.definition == other.definition and names == others


def definitions_called(project: Project, module: Module, call: ast.Call) -> list[Definition]:
    """The functions of the program that a call may call, by name or through a name that stands for one of several."""
    definition = project.definition(module, call.func)
    if definition is not None:
        return [definition] if isinstance(definition.node, ast.FunctionDef) else []
    way = handed(project, module, call.func) if isinstance(call.func, (ast.Name, ast.Subscript)) else None
    values = [(other, _reference(other, value)) for other, value in way.values] if way is not None else []
    found = [project.definition(other, value) for other, value in values]
    return [each for each in found if each is not None and isinstance(each.node, ast.FunctionDef)]


class FunctionValues:
    """What is known of functions as values, over all bodies of a program."""

    def __init__(self, sublayers: Sublayers) -> None:
        self._sublayers = sublayers
        self._given: dict[tuple[ast.AST, str], list[Made]] = {}
        """What the calls of helpers give for parameters, by function and parameter."""
        self._settled: set[ast.AST] = set()
        """Functions whose bodies are known: nothing new may be given to them."""
        self._ways: list[tuple[Module, PossibleValues]] = []
        self._read: set[ast.expr] = set()
        self.references: dict[ast.expr, Made] = {}
        """References that become those of classes."""

    def behind(self, body: Body, node: ast.expr) -> list[Made]:
        """The helpers that an expression of a body may stand for; none where it is no such value."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.IfExp, ast.Subscript)):
            return []
        module = body.module
        own = self._own(module, node)
        if own is not None:
            return [own]
        if isinstance(node, ast.Name) and self._is_parameter(body, node):
            found = self._given.get((body.function, node.id), [])
            if found:
                self._hold(body, node)
                return found
        way = handed(self._sublayers.project, module, node)
        if way is None:
            return []
        values = [(other, value) for other, value in way.values if not _is_none(value)]
        made = [self._own(other, value) for other, value in values]
        if any(each is not None for each in made):  # the others are layers without weights
            made = [each or self._without_weights(*place) for each, place in zip(made, values)]
        known = [each for each in made if each is not None]
        if known and len(known) == len(made):
            self._ways.append((module, way))
            self._read |= way.read
            return known
        if known:
            raise Unsupported("only some of the functions that this may be make layers", node)
        return []

    def _own(self, module: Module, node: ast.expr) -> Made | None:
        """The helper that a reference or a partial names itself."""
        reference = _reference(module, node)
        partial = node if isinstance(node, ast.Call) and reference is not node else None
        if isinstance(reference, ast.Call):
            return None
        definition = self._sublayers.project.definition(module, reference)
        if definition is None or not isinstance(definition.node, ast.FunctionDef):
            return None
        if not self._sublayers.makes_layers(definition):
            return None
        if partial is not None and (len(partial.args) > 1 or any(k.arg is None for k in partial.keywords)):
            raise Unsupported("a partial helper with positional arguments is not followed", partial)
        return Made(definition, module, reference, partial)

    def _without_weights(self, module: Module, node: ast.expr) -> Made | None:
        """A function that makes no layers, and that nothing calls by its name: it becomes a layer beside others."""
        project = self._sublayers.project
        found = project.definition(module, node)
        if (
            found is None
            or not isinstance(found.node, ast.FunctionDef)
            or not isinstance(node, (ast.Name, ast.Attribute))
        ):
            return None
        scope = found.module.scope(found.module.parent(found.node) or found.node)
        if any(call_of(*place) is not None for place in project.readers.of(found.module, scope, found.name)):
            return None
        self._sublayers.makes(found)
        return Made(found, module, node)

    @staticmethod
    def _is_parameter(body: Body, node: ast.Name) -> bool:
        holder = body.module.scope(node).lookup(node.id)
        bound = body.module.bindings(node)
        return holder is not None and holder.node is body.function and [type(b.node) for b in bound] == [ast.arg]

    def _hold(self, body: Body, node: ast.Name) -> None:
        """Note a parameter, so that all reads of it are looked at."""
        scope = body.module.scope(node).lookup(node.id)
        assert scope is not None
        self._ways.append((body.module, PossibleValues([], {node}, [(body.module, scope, node.id)])))
        self._read.add(node)

    def called(self, made: list[Made]) -> None:
        """Note that what was found is called as a layer is: the functions' references become those of classes."""
        self.references.update({each.reference: each for each in made})

    def give(self, body: Body, definition: Definition, name: str, value: ast.expr) -> None:
        """Note what a call of a helper gives for a parameter, if that makes layers. Raises Unsupported."""
        found = self.behind(body, value)
        if not found:
            return
        self._read.add(value)
        self.called(found)
        known = self._given.setdefault((definition.node, name), [])
        new = [made for made in found if not any(map(made.is_like, known))]
        if new and definition.node in self._settled:
            raise Unsupported(f"`{name}` is another function in each call of a helper", value)
        known += new

    def settle(self, definition: Definition) -> None:
        """Note that the body of a helper is being looked at."""
        self._settled.add(definition.node)

    def check(self) -> None:
        """Refuse what reads such a function for more than to call it. Raises Unsupported."""
        for _, way in self._ways:
            self._compared(way)
            for module, node in way.strangers(self._sublayers.project, self._read):
                if not _asks_for_none(module, node):
                    raise Unsupported("a function that makes layers is used for more than a call", node)

    def _compared(self, way: PossibleValues) -> None:
        """Let the functions become classes with which values are compared: ``block_fn is bottleneck``."""
        project = self._sublayers.project
        for module, node in (place for holder in way.holders for place in project.readers.of(*holder)):
            around = module.parent(node)
            test = module.parent(around) if isinstance(around, ast.Subscript) else around
            if isinstance(test, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in test.ops):
                made = [self._own(module, other) for other in test.comparators]
                self.called([each for each in made if each is not None and each.definition in self._sublayers.found])


def _reference(module: Module, node: ast.expr) -> ast.expr:
    """What names the function of a partial; anything else itself."""
    is_partial = isinstance(node, ast.Call) and module.resolve(node.func) == PARTIAL and bool(node.args)
    return node.args[0] if isinstance(node, ast.Call) and is_partial else node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _asks_for_none(module: Module, node: ast.expr) -> bool:
    """``if block_fn:``, ``block_fn is not None``."""
    parent = module.parent(node)
    if isinstance(parent, ast.Compare):
        return _is_none(parent.comparators[0]) and parent.left is node
    return isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node
