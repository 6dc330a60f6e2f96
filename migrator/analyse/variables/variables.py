"""The list of all trainable variables, and whether a choice by name chooses the same ones in Keras."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.loggers import is_message
from migrator.analyse.training.sums import nodes_of_sums
from migrator.analyse.training.updates import is_method
from migrator.analyse.variables.namepatterns import Patterns, literal_pattern
from migrator.analyse.variables.scopes import (
    counted_by,
    given_names,
    is_false,
    is_named,
    scope_prefix,
    variable_pairs,
)
from migrator.analyse.variables.variablechoices import EVERY, chosen, listed, needs_attributes
from migrator.analyse.variables.variablelists import is_trained, written
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

_UNKNOWN = "\0"
"""Stands for a part of a name that the source does not tell."""
_PLAIN = frozenset({"list", "len", "zip", "enumerate", "reversed", "sorted", "print", "tuple"})


def trainable_variables(plan: Body, where: str, class_name: str, call: ast.Call) -> str:
    """The text of a call that lists all trainable variables. Raises Unsupported where Keras would choose others.

    `where` is the function that is written, of the class `class_name`.
    """
    if where not in ("loss", "train"):
        raise Unsupported("the list of trainable variables is used outside of the loss and the train op", call)
    leaf = plan.flow.first_of(call)
    if leaf is None or any(is_trained(site) for site in plan.sites if site.leaf.index > leaf.index):
        raise Unsupported("the trainable variables are listed before all of them are made", call)
    if call.args or call.keywords:
        choice = listed(plan, call)
        assert choice is not None
        columns = [site for site in plan.sites if site.layer.columns]
        if columns and choice is not EVERY or not all(choice(f"{name}:0") for name, _, _ in variable_pairs(plan)):
            return written(plan, choice, call)
    prefix = snake(class_name) + "/"
    names = list(variable_names(plan, "", prefix, {}))
    explicit = {
        id(part)
        for node in walk(plan.function)
        if isinstance(node, ast.ListComp) and chosen_by_attributes(plan, class_name, node) is not None
        for part in walk(node)
    }
    explicit |= set(map(id, (*_named_as_before(plan), *nodes_of_sums(plan))))
    for test, literal, node in _tests(plan, call, explicit):
        for old, new in names:
            if _answer(test, literal, old) != _answer(test, literal, new) or _answer(test, literal, old) is None:
                shown = f"{old} and {new}".replace(_UNKNOWN, "?")
                raise Unsupported(f"variables are chosen by name, and Keras may name them otherwise: {shown}", node)
    return "self.trainable_variables"


def _named_as_before(plan: Body) -> Iterator[ast.AST]:
    """Nodes that see the names of TF1, as they only serve to read a checkpoint."""
    for leaf in plan.flow.leaves:
        if leaf.starting:
            yield from walk(leaf.node)
            for loop in leaf.loops:
                if all(other.starting for other in plan.flow.leaves if loop in other.loops):
                    yield from walk(loop.iter)


def chosen_by_attributes(plan: Body, class_name: str, node: ast.ListComp) -> str | None:
    """A choice of variables by name, written as the attributes that hold them where Keras names them otherwise."""
    leaf = plan.flow.leaf_of(node)
    choice = chosen(plan, node, leaf) if leaf is not None else None
    if choice is None:
        return None
    names = list(variable_names(plan, "", snake(class_name) + "/", {}))
    if not needs_attributes(node) and all(_UNKNOWN not in a + b and choice(a) == choice(b) for a, b in names):
        return None  # the names in Keras give the same answers
    return written(plan, choice, node)


def named_by_path(plan: Body, class_name: str) -> frozenset[ast.AST]:
    """Reads of ``v.name`` that are written as a path: names of Keras 3 leave out the layers around a variable.

    Where the tests on a name get the same answers without these, the name stays.
    """
    names = list(variable_names(plan, "", snake(class_name) + "/", {}))
    found: set[ast.AST] = set()
    for call in (node for node in walk(plan.function) if isinstance(node, ast.Call)):
        try:
            reads = list(_reads(plan, call, set())) if listed(plan, call) is not None else []
            reads = [read for read in reads if not _only_shown(plan, read)]
            if not all(_same_without_layers(_tests_of(plan, read), names) for read in reads):
                found |= set(reads)
        except Unsupported:  # which is said where this is written, if it is
            continue
    return frozenset(found)


def _same_without_layers(tests: Iterator[tuple[str, str, ast.expr]], names: list[tuple[str, str]]) -> bool:
    asked = [(test, literal) for test, literal, _ in tests]
    ends = [(old, new.rpartition("/")[2][: -len(":0")]) for old, new in names]
    return bool(asked) and all(_answer(*test, old) == _answer(*test, end) for test in asked for old, end in ends)


def variable_names(plan: Body, scope: str, prefix: str, known: Patterns) -> Iterator[tuple[str, str]]:
    """Names of the variables in TF1 and in Keras 2, and once more where the path in Keras 3 is another; ``*`` is a running
    number.
    """
    for site in plan.sites:
        own = literal_pattern(site.layer.name, known) if is_named(site, known) else site.layer.scope
        around = scope_prefix(plan, site.leaf, known)
        old = scope + (around if around is not None else _UNKNOWN)
        if site.layer.helper is not None:
            inner = given_names(site, known)
            stem = snake(site.layer.constructor.rsplit(".", 1)[-1])
            own = literal_pattern(ast.Name("name"), inner) or stem
            yield from variable_names(site.layer.helper, old, f"{prefix}{own}/", inner)
            continue
        scoped = "" if around is None or ("*" in around and not counted_by(plan, site)) else around.replace("/", "_")
        bias = literal_pattern(site.layer.bias_name, known)
        yield from _names_of(site, own, bias, old, prefix, scoped, is_named(site, known))


def _names_of(
    site: Site, own: str | None, bias: str | None, old: str, prefix: str, scoped: str, named: bool
) -> Iterator[tuple[str, str]]:
    layer = site.layer
    if site.embedding:
        yield f"{old}{own}:0", f"{prefix}{scoped}{own}/embeddings:0"
        return
    if layer.weight:
        name = own if own is not None and layer.variables else _UNKNOWN  # name scopes name a tf.Variable too
        flat = name.replace("/", "_")
        yield f"{old}{name}:0", f"{scoped}{flat}:0"
        yield (
            f"{old}{name}:0",
            f"{prefix.split('/')[-2]}/{scoped}{flat}:0",
        )  # Keras 3 has the name of the layer in front
        return
    new = own
    if not named or layer.bias_name is not None:
        new = snake(layer.constructor.rsplit(".", 1)[-1])
    pairs = layer.variables or (("", ""),)  # a Keras layer names its variables alike on both sides
    unbiased = any(name == "use_bias" and is_false(value) for name, value in layer.arguments)
    for tf1, keras in pairs:
        if keras == "bias" and unbiased:
            continue
        called = bias if keras == "bias" and layer.bias_name is not None else own
        parts = (called if called is not None else _UNKNOWN, tf1), (new if new is not None else _UNKNOWN, keras)
        first, second = ("/".join(p for p in part if p) for part in parts)
        yield f"{old}{first}:0", f"{prefix}{second}:0"


def _answer(test: str, literal: str, name: str) -> bool | None:
    """The answer of a test on a name; None if it hangs on what is not known."""
    filled = name.replace("*", "0")
    if test == "end":
        last = filled.rsplit(_UNKNOWN, 1)[-1]
        return last.endswith(literal) if len(last) >= len(literal) or _UNKNOWN not in name else None
    if literal in filled:
        return True
    return None if _UNKNOWN in name else False


def _tests(plan: Body, call: ast.Call, known: set[int]) -> Iterator[tuple[str, str, ast.expr]]:
    """Tests on the names of listed variables: kind, literal, place. Raises Unsupported for any other use of a name.

    Nodes in `known` need no test: they become lists of attributes.
    """
    for read in _reads(plan, call, known):
        yield from _tests_of(plan, read)


def _reads(plan: Body, call: ast.Call, known: set[int]) -> Iterator[ast.Attribute]:
    """Where the names of listed variables are read. Raises Unsupported if that is not seen."""
    lists = {id(call)}
    holders = _holders(plan, call)
    for node in walk(plan.function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in holders:
            lists.add(id(node))
    for node in walk(plan.function):
        if id(node) in lists and id(node) not in known and id(plan.module.parent(node)) not in known:
            yield from _uses(plan, node)


def _holders(plan: Body, call: ast.Call) -> set[str]:
    statement = plan.module.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        return {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return set()


def _uses(plan: Body, listed: ast.AST) -> Iterator[ast.Attribute]:
    parent = plan.module.parent(listed)
    if isinstance(parent, ast.Call) and listed is not parent.func:
        function = parent.func
        if isinstance(function, ast.Name) and function.id in _PLAIN:
            yield from _uses(plan, parent)
        elif is_method(parent, "compute_gradients", "apply_gradients", "minimize"):
            pass
        elif not (plan.module.resolve(function) or "").startswith("tensorflow."):
            raise Unsupported("the variables are handed to a function", parent)
        return
    if isinstance(parent, ast.comprehension):
        owner = plan.module.parent(parent)
        assert owner is not None
        yield from _reads_of_name(plan, parent.target, owner)
    elif isinstance(parent, ast.For):
        yield from _reads_of_name(plan, parent.target, parent)


def _reads_of_name(plan: Body, target: ast.expr, owner: ast.AST) -> Iterator[ast.Attribute]:
    bound = {n.id for n in walk(target) if isinstance(n, ast.Name)}
    for node in walk(owner):
        if not isinstance(node, ast.Attribute) or node.attr not in ("name", "op"):
            continue
        if isinstance(node.value, ast.Name) and node.value.id in bound:
            outer = plan.module.parent(node)
            if node.attr == "op" and isinstance(outer, ast.Attribute) and outer.attr == "name":
                raise Unsupported("variables have no `op` in TensorFlow 2: use `.name`", node)
            yield node


def _tests_of(plan: Body, read: ast.expr) -> Iterator[tuple[str, str, ast.expr]]:
    """What is asked of one name."""
    if _only_shown(plan, read):
        return
    parent = plan.module.parent(read)
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and parent.comparators[0] is read:
        if isinstance(parent.ops[0], (ast.In, ast.NotIn)):
            for literal in _literals(plan, parent.left, read):
                yield "in", literal, read
            return
    if isinstance(parent, ast.Attribute) and parent.attr == "endswith":
        ends = plan.module.parent(parent)
        if isinstance(ends, ast.Call) and len(ends.args) == 1:
            for literal in _literals(plan, ends.args[0], read):
                yield "end", literal, read
            return
    if isinstance(parent, ast.Call) and read in parent.args and not parent.keywords:
        if (plan.module.resolve(parent.func) or "").startswith("tensorflow.summary."):
            return
        definition = plan.sublayers.project.definition(plan.module, parent.func)
        if definition is not None and isinstance(definition.node, ast.FunctionDef) and definition.module is plan.module:
            arguments = definition.node.args
            if len(arguments.args) == len(parent.args) == 1 and not arguments.vararg:
                name = arguments.args[0].arg
                for node in walk(definition.node):
                    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                        yield from _tests_of(plan, node)
                return
    raise Unsupported("what is asked of the name of a variable is not followed", read)


def _only_shown(plan: Body, read: ast.expr) -> bool:
    """Whether a statement prints or logs a name, and does nothing else."""
    statement = plan.module.statement(read)
    message = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(message, ast.Call) and is_message(plan.module, message)


def _literals(plan: Body, node: ast.expr, read: ast.expr) -> list[str]:
    """The strings that an expression may be: a literal, a tuple of them, or a name that runs through a list of them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [literal for element in node.elts for literal in _literals(plan, element, read)]
    if isinstance(node, ast.Name):
        for outer in plan.module.ancestors(node):
            for generator in getattr(outer, "generators", []):
                if isinstance(generator.target, ast.Name) and generator.target.id == node.id:
                    return _literals(plan, generator.iter, read)
        values = [b.node for b in plan.module.bindings(node)]
        statements = [plan.module.statement(value) for value in values if value is not None]
        if len(statements) == 1 and isinstance(statements[0], ast.Assign):
            return _literals(plan, statements[0].value, read)
    raise Unsupported("variables are chosen by a name that is not a literal", read)


def snake(name: str) -> str:
    """How Keras names an object after its class: ``BatchNormalization`` becomes ``batch_normalization``."""
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
