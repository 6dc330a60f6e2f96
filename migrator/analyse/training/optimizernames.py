"""Optimizers of the program's own classes that choose variables by name: whether they choose the same ones in Keras."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.analyse.training.optimizervalues import class_of_optimizer, values_of
from migrator.analyse.variables.nameuses import OUTPUT, check_uses
from migrator.analyse.variables.variables import snake, variable_names
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body


def check_optimizer(plan: Body, node: ast.expr, at: Leaf, class_name: str) -> None:
    """Refuse an optimizer whose tests on the names of variables choose others in the model `class_name`."""
    found = class_of_optimizer(plan, node, at)
    if found is None:
        _check_pairs(plan, class_name, _texts(plan, node, at))
        return
    own, call = found
    method = own.method("apply_gradients")
    if method is None or not any(isinstance(n, ast.Attribute) and n.attr == "name" for n in walk(method)):
        return
    check_uses(own, method)
    _check_pairs(plan, class_name, _tests(own, own.given(call), plan, at))


def _texts(plan: Body, node: ast.expr, at: Leaf) -> Iterator[tuple[list[str], bool, ast.expr]]:
    """Texts that an optimizer of the library looks for in names. Raises Unsupported."""
    for value, where in values_of(plan, node, at):
        name = plan.module.resolve(value.func) if isinstance(value, ast.Call) else None
        if not isinstance(value, ast.Call) or name not in plan.translations.name_texts:
            continue
        given = plan.translations.name_texts[name](value)
        texts, _ = plan.followed_in(given, where, "train")
        if texts is not None and not is_none(texts):
            yield [re.escape(text) for text in _literals(texts, texts)], True, value


def _check_pairs(plan: Body, class_name: str, tests: Iterable[tuple[list[str], bool, ast.expr]]) -> None:
    pairs = list(variable_names(plan, "", snake(class_name) + "/", {}))
    for patterns, together, place in tests:
        for old, new in pairs:
            answers = [(_found(p, old), _found(p, new)) for p in patterns]
            if together:
                answers = [(_any([a for a, _ in answers]), _any([b for _, b in answers]))]
            if any(one is None or one != other for one, other in answers):
                shown = f"{old} and {new}".replace("\0", "?")
                raise Unsupported(f"an optimizer asks for names of variables that differ in Keras: {shown}", place)


def _found(pattern: str, name: str) -> bool | None:
    """Whether a pattern is found in a name; None if that hangs on a part which is not known."""
    try:
        found = re.search(pattern, name.replace("*", "0")) is not None
    except re.error:
        return None
    return None if not found and "\0" in name else found


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _tests(
    own: OptimizerClass, given: dict[str, ast.expr], body: Body, at: Leaf
) -> Iterator[tuple[list[str], bool, ast.expr]]:
    """Patterns that are searched in names, and whether only their alternative counts. Raises Unsupported."""
    for call in [n for n in walk(own.node) if isinstance(n, ast.Call)]:
        if own.module.resolve(call.func) not in ("re.search", "re.match"):
            continue
        pattern = call.args[0] if call.args else None
        if isinstance(pattern, ast.Constant) and pattern.value == OUTPUT:
            continue
        if own.module.resolve(call.func) == "re.match" or not isinstance(pattern, ast.Name):
            raise Unsupported("what an optimizer asks of the names of variables is not followed", call)
        loop = own.module.nearest(call, ast.For)
        target = loop.target if loop is not None else None
        if loop is None or not isinstance(target, ast.Name) or target.id != pattern.id:
            raise Unsupported("what an optimizer asks of the names of variables is not followed", call)
        together = [type(s) for s in loop.body] == [ast.If] and not loop.orelse
        for parameter in _parameters_behind(own, loop.iter):
            node = given.get(parameter)
            value, _ = body.followed_in(node, at, "train") if node is not None else (None, at)
            if isinstance(value, ast.Constant) and value.value is None:
                continue
            yield _literals(value, node or loop.iter), together, value or loop.iter


def _literals(value: ast.expr | None, place: ast.expr) -> list[str]:
    """The texts of a literal list. Raises Unsupported for anything else."""
    if not isinstance(value, (ast.List, ast.Tuple)):
        raise Unsupported("the names that an optimizer leaves out are not a literal list", place)
    if not all(isinstance(e, ast.Constant) and isinstance(e.value, str) for e in value.elts):
        raise Unsupported("the names that an optimizer leaves out are not a literal list", value)
    return [str(e.value) for e in value.elts if isinstance(e, ast.Constant)]


def _parameters_behind(own: OptimizerClass, node: ast.expr) -> list[str]:
    """The parameters of the constructor that an attribute may hold."""
    constructor = own.method("__init__")
    assert constructor is not None
    stores = [
        statement.value
        for statement in walk(constructor)
        if isinstance(statement, ast.Assign) and any(ast.unparse(t) == ast.unparse(node) for t in statement.targets)
    ]
    names = [store.id for store in stores if isinstance(store, ast.Name) and store.id in own.parameters]
    if not stores or len(names) < len(stores):
        raise Unsupported("where the names that an optimizer leaves out come from is not seen", node)
    return names
