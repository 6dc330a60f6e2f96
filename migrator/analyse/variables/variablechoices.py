"""Choices of trainable variables: which names of TensorFlow 1 a list of them has."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.statements.flow import Leaf

_PLAIN = re.compile(r"[\w/]*")
_COLLECTION = "tensorflow.get_collection"
_SEARCHES: dict[str, Callable[[str, str], object]] = {
    "match": re.match, "search": re.search, "fullmatch": re.fullmatch
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What a list of variables holds."""

    has: Callable[[str], bool]
    """Whether it has the variable of this name in TF1, ``:0`` included."""
    between: Callable[[str, str], bool | None]
    """Whether it has the variables whose names begin and end so; None where that depends on what stands between."""

    def __call__(self, name: str) -> bool:
        """See `has`."""
        return self.has(name)


EVERY = Choice(lambda name: True, lambda start, end: True)


Part = Callable[[str], str]
"""What an expression gives of the name of a variable."""


def _every(name: str) -> str:
    return name


def _of_op(name: str) -> str:
    return name[:-2]


def _starting(text: str, part: Part = _every) -> Choice:
    def between(start: str, end: str) -> bool | None:
        return True if start.startswith(text) else None if text.startswith(start) else False

    return Choice(lambda name: part(name).startswith(text), between)


def _ending(text: str, part: Part) -> Choice:
    def between(start: str, end: str) -> bool | None:
        return True if part(end).endswith(text) else None if text.endswith(part(end)) else False

    return Choice(lambda name: part(name).endswith(text), between)


def _in_scope(pattern: str) -> Choice:
    if _PLAIN.fullmatch(pattern):
        return _starting(pattern)
    return _whole(lambda name: re.match(pattern, name) is not None, _every)


def _whole(test: Callable[[str], bool], part: Part) -> Choice:
    """A question about all of a name."""
    return Choice(lambda name: test(part(name)), lambda start, end: None)


def _holding(text: str, wanted: bool, part: Part) -> Choice:
    def between(start: str, end: str) -> bool | None:
        return wanted if text in start or text in part(end) else None

    return Choice(lambda name: (text in part(name)) is wanted, between)


def inverted(choice: Choice) -> Choice:
    """All variables but those of a choice."""

    def between(start: str, end: str) -> bool | None:
        found = choice.between(start, end)
        return None if found is None else not found

    return Choice(lambda name: not choice(name), between)


def _both(choices: Sequence[Choice]) -> Choice:
    def between(start: str, end: str) -> bool | None:
        found = [choice.between(start, end) for choice in choices]
        return False if False in found else None if None in found else True

    return Choice(lambda name: all(choice(name) for choice in choices), between)


def _either(choices: Sequence[Choice]) -> Choice:
    return inverted(_both([inverted(choice) for choice in choices]))


def listed(plan: Body, node: ast.AST | None) -> Choice | None:
    """The variables that a call lists: all, or those of a scope; None for any other call. Raises Unsupported."""
    if not isinstance(node, ast.Call):
        return None
    name = plan.module.resolve(node.func)
    arguments = list(node.args)
    if name == _COLLECTION:
        key = arguments.pop(0) if arguments else next((k.value for k in node.keywords if k.arg == "key"), None)
        if _collection_name(plan, key) != "trainable_variables":
            return None
    elif name not in plan.translations.variables:
        return None
    scope = arguments[0] if arguments else next((k.value for k in node.keywords if k.arg == "scope"), None)
    if scope is None or is_none(scope):
        return EVERY
    if not isinstance(scope, ast.Constant) or not isinstance(scope.value, str):
        raise Unsupported("variables are listed for a scope that is not a literal", scope)
    return _in_scope(scope.value)


def _collection_name(plan: Body, key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant):
        return str(key.value)
    return (plan.module.resolve(key) or "").rsplit(".", 1)[-1].lower() if key is not None else ""


def chosen(plan: Body, node: ast.AST | None, at: Leaf) -> Choice | None:
    """The variables that ``[v for v in tf.trainable_variables() if "head" in v.name]`` chooses; None for other nodes."""
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return None
    generator = node.generators[0]
    target = generator.target
    if not isinstance(target, ast.Name) or ast.unparse(node.elt) != target.id or not generator.ifs:
        return None
    source, where = plan.followed_in(generator.iter, at, "train")
    every = in_list(plan, source, where)
    tests = [_Test(plan, at, target.id).choice(test) for test in generator.ifs]
    known = [test for test in tests if test is not None]
    return _both([every, *known]) if every is not None and len(known) == len(tests) else None


def in_list(plan: Body, node: ast.expr | None, at: Leaf) -> Choice | None:
    """The variables of a list that is made in any of these ways, or added up of such; None for other nodes."""
    node, at = plan.followed_in(node, at, "train")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [in_list(plan, part, at) for part in (node.left, node.right)]
        known = [part for part in parts if part is not None]
        return _either(known) if len(known) == 2 else None
    return listed(plan, node) or chosen(plan, node, at)


def needs_attributes(node: ast.ListComp) -> bool:
    """Whether the tests of a choice mean something else in Keras: they ask for an `op`, for a whole name, or whether a
    variable is in a list, which tensors do not answer."""
    target = ast.unparse(node.generators[0].target)
    for part in (part for test in node.generators[0].ifs for part in ast.walk(test)):
        if isinstance(part, ast.Compare) and (
            ast.unparse(part.left) == target or isinstance(part.ops[0], (ast.Eq, ast.NotEq))
        ):
            return True
        if isinstance(part, ast.Attribute) and part.attr in ("op", "endswith", "split", *_SEARCHES):
            return True
    return False


def asks_for_variable(plan: Body, node: ast.Compare, at: Leaf) -> bool:
    """Whether a comparison asks if two variables are one, or if one is in a list."""
    if not isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
        return False
    sides = [node.left, *node.comparators]
    lists = [part for part in sides if not isinstance(part, ast.Constant)]
    for part in sides:
        if isinstance(part, ast.Name):
            for around in plan.module.ancestors(node):
                loops = getattr(around, "generators", [around] if isinstance(around, ast.For) else [])
                lists += [loop.iter for loop in loops if ast.unparse(loop.target) == part.id]
    return any(in_list(plan, part, at) is not None for part in lists)


@dataclass(frozen=True)
class _Test:
    """Questions about one variable, by its name or by lists that have it."""

    plan: Body
    at: Leaf
    variable: str

    def choice(self, node: ast.expr) -> Choice | None:
        """``"head" in v.name``, ``v.name.startswith("head")``, ``v not in others`` and the like; None for other questions."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.choice(node.operand)
            return None if inner is None else inverted(inner)
        if isinstance(node, ast.BoolOp):
            parts = [self.choice(value) for value in node.values]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return _both(known) if isinstance(node.op, ast.And) else _either(known)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node.left, node.ops[0], node.comparators[0])
        return self._called(node) if isinstance(node, ast.Call) else None

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Choice | None:
        if isinstance(operator, (ast.In, ast.NotIn)):
            wanted = isinstance(operator, ast.In)
            if isinstance(left, ast.Name) and left.id == self.variable:
                others = in_list(self.plan, right, self.at)
                return others if others is None or wanted else inverted(others)
            part, text = self._part(right), _text(left)
            if part is None or text is None:
                return None
            if part in _ENTIRE:
                return _holding(text, wanted, part)
            return _whole(lambda name: (str(text) in name) is wanted, part)
        if isinstance(operator, (ast.Eq, ast.NotEq)):
            part, text = self._part(left), _text(right)
            if part is None or text is None:
                return None
            same = _whole(lambda name: name == text, part)
            return same if isinstance(operator, ast.Eq) else inverted(same)
        return None

    def _called(self, node: ast.Call) -> Choice | None:
        if not isinstance(node.func, ast.Attribute):
            return None
        method, holder = node.func.attr, node.func.value
        part, text = self._part(holder), _text(node.args[0]) if len(node.args) == 1 else None
        if part is not None and text is not None and method in ("startswith", "endswith"):
            if part in _ENTIRE:
                return _starting(text, part) if method == "startswith" else _ending(text, part)
            return _whole(lambda name: getattr(name, method)(text) is True, part)
        if method not in _SEARCHES or node.keywords:
            return None
        if self.plan.module.resolve(node.func) == f"re.{method}" and len(node.args) == 2:
            pattern, asked = _text(node.args[0]), node.args[1]
        else:
            made, _ = self.plan.followed_in(holder, self.at, "train")
            compiled = isinstance(made, ast.Call) and self.plan.module.resolve(made.func) == "re.compile"
            if not compiled or not isinstance(made, ast.Call) or len(made.args) != 1 or len(node.args) != 1:
                return None
            pattern, asked = _text(made.args[0]), node.args[0]
        part = self._part(asked)
        if pattern is None or part is None:
            return None
        return _whole(lambda name: _SEARCHES[method](str(pattern), name) is not None, part)

    def _part(self, node: ast.expr) -> Part | None:
        """What an expression gives of the name of the variable, ``v.name.split("/")[0]``; None if it gives nothing of it."""
        split = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Subscript) and isinstance(split, ast.Call) and isinstance(split.func, ast.Attribute):
            at, whole = _number(node.slice), self._part(split.func.value)
            by = _text(split.args[0]) if len(split.args) == 1 and not split.keywords else None
            if split.func.attr != "split" or at is None or whole is None or not by:
                return None
            return functools.partial(_piece, whole, by, at)
        return {f"{self.variable}.name": _every, f"{self.variable}.op.name": _of_op}.get(ast.unparse(node))


_ENTIRE: tuple[Part, ...] = (_every, _of_op)


def _piece(whole: Part, by: str, at: int, name: str) -> str:
    """One of the pieces of a name; nothing where it has fewer."""
    pieces = whole(name).split(by)
    return pieces[at] if -len(pieces) <= at < len(pieces) else ""


def _number(node: ast.expr) -> int | None:
    """A literal number, which may count from the end."""
    back = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    literal = node.operand if isinstance(node, ast.UnaryOp) and back else node
    if not isinstance(literal, ast.Constant) or type(literal.value) is not int:
        return None
    return -literal.value if back else literal.value


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
