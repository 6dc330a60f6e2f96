"""Variables beside the weights that a train op adds gradients to, step by step, and clears when it has applied them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.gradientsums import Sums
from migrator.analyse.variables.variablechoices import in_list

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.writing import FunctionWriting

_VARIABLE, _GET = "tensorflow.Variable", "tensorflow.get_variable"
_OF_VARIABLE = (
    "initial_value trainable collections validate_shape caching_device name variable_def dtype expected_shape "
    "import_scope constraint use_resource synchronization aggregation shape"
)
_OF_GET = (
    "name shape dtype initializer regularizer trainable collections caching_device partitioner validate_shape use_resource "
    "custom_getter constraint synchronization aggregation"
)
_ZEROS = frozenset(
    f"tensorflow.{name}"
    for name in ("zeros_initializer", "initializers.zeros", "keras.initializers.zeros", "keras.initializers.Zeros")
)
_ASSIGNMENTS = frozenset({"tensorflow.assign", "tensorflow.assign_add"})


@dataclass(frozen=True)
class Change:
    """An op that adds to the variables of `sums`, or clears them; of no sums, one that gives weights values of their own, or
    a variable that counts (`counter`) another one."""

    node: ast.expr
    at: Leaf
    sums: str
    clears: bool
    counter: Leaf | None = None
    """The statement that makes the variable."""


def sums_text(sums: Sums, writer: FunctionWriting) -> str:
    """The statement that makes sums, once."""
    weights = writer.text(sums.loop.iter)
    if bare(sums.loop.target) != sums.like:
        weights = f"[{sums.like} for {bare(sums.loop.target)} in {weights}]"
    return f'{sums.name} = {writer.need("zeros_like_weights")}(self, "{sums.name}", {weights})'


def find_sums(body: Body) -> dict[str, Sums]:
    """The sums that a function makes for its train op, by the names of their lists."""
    found = {}
    for leaf in body.flow.leaves:
        node = leaf.node
        if "train" not in leaf.modes or not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Name) or not isinstance(value, (ast.ListComp, ast.List)):
            continue
        made = _in_comprehension(body, leaf, target.id) or _in_loop(body, leaf, target.id)
        if made is not None:
            found[target.id] = made
    return found


def makes_sums(body: Body, leaf: Leaf) -> bool:
    """Whether a statement helps to make sums."""
    return any(leaf in sums.leaves for sums in body.sums.values())


def nodes_of_sums(body: Body) -> Iterator[ast.AST]:
    """What makes sums; names of weights that it reads give the sums their names only."""
    for sums in body.sums.values():
        for part in (*(leaf.node for leaf in sums.leaves), sums.loop):
            yield from ast.walk(part)


def names_of_sums(body: Body) -> Iterator[tuple[str, str]]:
    """Pairs of TF1 variable name and attribute path for sums that TF1 does not name after the weights."""
    for sums in body.sums.values():
        for call in (node for leaf in sums.leaves for node in ast.walk(leaf.node) if isinstance(node, ast.Call)):
            if body.module.resolve(call.func) == _VARIABLE and not sums.leaves[-1].scopes:
                name = bind(call, _OF_VARIABLE, "a variable").get("name", ast.Constant("Variable"))
                if isinstance(name, ast.Constant):
                    yield f"{name.value!s}*", f"{sums.name}.variables.*"


def _in_comprehension(body: Body, leaf: Leaf, name: str) -> Sums | None:
    """``totals = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]``."""
    value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
    if not isinstance(value, ast.ListComp) or len(value.generators) != 1 or value.generators[0].ifs:
        return None
    like = _like(body, value.elt)
    return Sums(name, like, value.generators[0], (leaf,)) if _binds(value.generators[0].target, like) else None


def _in_loop(body: Body, leaf: Leaf, name: str) -> Sums | None:
    """``totals = []``, then ``totals.append(tf.get_variable(…))`` in a loop that does nothing else."""
    value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
    if not isinstance(value, ast.List) or value.elts:
        return None
    appends = [other for other in body.flow.leaves if other is not leaf and name in other.defs]
    if len(appends) != 1 or len(appends[0].loops) != 1 or len(appends[0].arms) != len(leaf.arms) + 1:
        return None
    loop = appends[0].loops[0]
    within = [other for other in body.flow.leaves if loop in other.loops]
    call = appends[0].node.value if isinstance(appends[0].node, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"{name}.append" or len(call.args) != 1:
        return None
    made: ast.expr = call.args[0]
    rest = [other for other in within if other is not appends[0]]
    if rest:
        first = rest[0].node
        named = isinstance(first, ast.Assign) and len(first.targets) == 1 and ast.unparse(first.targets[0])
        if len(rest) > 1 or not isinstance(first, ast.Assign) or named != ast.unparse(made):
            return None
        made = first.value
    like = _like(body, made)
    return Sums(name, like, loop, (leaf, *within)) if _binds(loop.target, like) else None


def _binds(target: ast.expr, name: str) -> bool:
    return bool(name) and any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))


def _like(body: Body, node: ast.expr) -> str:
    """The name of the weight that a variable not to be trained is as large as, where it begins at zero; else empty."""
    name = body.module.resolve(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or name not in (_VARIABLE, _GET):
        return ""
    try:
        given = bind(node, _OF_VARIABLE if name == _VARIABLE else _OF_GET, "a variable")
    except Unsupported:
        return ""
    trained = given.get("trainable")
    if not isinstance(trained, ast.Constant) or trained.value is not False:
        return ""
    if name == _VARIABLE:
        return _zeros(body, given.get("initial_value"))
    initial = given.get("initializer")
    shape = given.get("shape")
    if is_none(shape):
        return _zeros(body, initial)
    called = initial.func if isinstance(initial, ast.Call) else initial
    if called is None or body.module.resolve(called) not in _ZEROS:
        return ""
    return _shape_of(shape)


def _zeros(body: Body, node: ast.expr | None) -> str:
    """The weight that ``tf.zeros_like(v.initialized_value())`` or ``tf.zeros(v.shape)`` is as large as."""
    if not isinstance(node, ast.Call) or not node.args:
        return ""
    name, argument = body.module.resolve(node.func), node.args[0]
    if name == "tensorflow.zeros":
        return _shape_of(argument)
    if name != "tensorflow.zeros_like":
        return ""
    if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute) and not argument.args:
        if argument.func.attr in ("initialized_value", "read_value", "value"):
            argument = argument.func.value
    return argument.id if isinstance(argument, ast.Name) else ""


def _shape_of(node: ast.expr | None) -> str:
    """``v`` of ``v.shape``, ``v.get_shape().as_list()`` and the like."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        if node.func.attr not in ("as_list", "get_shape"):
            return ""
        node = node.func.value if node.func.attr == "as_list" else ast.Attribute(node.func.value, "shape", ast.Load())
    if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
        return node.value.id
    return ""


# -- ops on them ------------------------------------------------------------------------------------------------------


def change_of(body: Body, node: ast.expr, at: Leaf) -> Change | None:
    """The change of sums, or of weights, that an op, or a list of them, makes; None for other nodes."""
    elements: dict[str, str] = {}
    call = node
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        if len(node.generators) != 1 or node.generators[0].ifs:
            return None
        elements, call = _elements(node.generators[0].target, node.generators[0].iter), node.elt
    parts = _assignment(body, call)
    if parts is None:
        return None
    variable, value, adds = parts
    held = elements.get(variable.id) if isinstance(variable, ast.Name) else None
    if isinstance(variable, ast.Subscript) and isinstance(variable.value, ast.Name):
        held = variable.value.id
    if held is None or held not in body.sums:
        counter = _counter(body, variable, at) if call is node else None
        bounds = counter is None and not adds and _bounds_weights(body, node, variable, value, at)
        return Change(node, at, "", False, counter) if bounds or counter is not None else None
    return Change(node, at, held, not adds and _is_zero(body, value, variable))


def _counter(body: Body, variable: ast.expr, at: Leaf) -> Leaf | None:
    """The statement that makes a variable of the program which is no weight to be trained, nor in a loop."""
    made, where = body.followed_in(variable, at, "train")
    name = body.module.resolve(made.func) if isinstance(made, ast.Call) else None
    if not isinstance(variable, ast.Name) or not isinstance(made, ast.Call) or name not in (_VARIABLE, _GET):
        return None
    given = bind(made, _OF_VARIABLE if name == _VARIABLE else _OF_GET, "a variable")
    trained = given.get("trainable")
    return where if isinstance(trained, ast.Constant) and trained.value is False and not where.loops else None


def _bounds_weights(body: Body, node: ast.expr, variable: ast.expr, value: ast.expr, at: Leaf) -> bool:
    """Whether each weight of a list gets a value that is made of it and of numbers: ``tf.clip_by_value(v, -0.1, 0.1)``."""
    if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or not isinstance(variable, ast.Name):
        return False
    loop = node.generators[0]
    if ast.unparse(loop.target) != variable.id or in_list(body, loop.iter, at) is None:
        return False
    return all(body.times.name(name) is Time.STATIC for name in reads(value) - {variable.id})


def _assignment(body: Body, node: ast.expr) -> tuple[ast.expr, ast.expr, bool] | None:
    """Variable, value, and whether it is added, of ``v.assign_add(x)`` or ``tf.assign(v, x)``."""
    if not isinstance(node, ast.Call):
        return None
    name = body.module.resolve(node.func)
    if name in _ASSIGNMENTS:
        given = bind(node, "ref value validate_shape use_locking name", name)
        variable = given.get("ref")
    elif isinstance(node.func, ast.Attribute) and node.func.attr in ("assign", "assign_add"):
        given = bind(node, "value use_locking name read_value", node.func.attr)
        variable = node.func.value
    else:
        return None
    value = given.get("value")
    if variable is None or value is None:
        return None
    return variable, value, ast.unparse(node.func).endswith("assign_add")


def _is_zero(body: Body, value: ast.expr, variable: ast.expr) -> bool:
    """Whether a value is ``tf.zeros_like(variable)``, or zeros of its shape."""
    if not isinstance(value, ast.Call) or not value.args:
        return False
    text = {"tensorflow.zeros_like": "{}", "tensorflow.zeros": "{}.shape"}.get(body.module.resolve(value.func) or "")
    return text is not None and ast.unparse(value.args[0]) == text.format(ast.unparse(variable))


def _elements(target: ast.expr, source: ast.expr) -> dict[str, str]:
    """The names of a loop's targets by the lists that they walk: of ``for i, (a, g) in enumerate(zip(totals, pairs))``."""
    if isinstance(target, ast.Name) and isinstance(source, ast.Name):
        return {target.id: source.id}
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        return {}
    if not isinstance(target, (ast.Tuple, ast.List)):
        return {}
    if source.func.id == "enumerate" and len(target.elts) == 2 and len(source.args) == 1:
        return _elements(target.elts[1], source.args[0])
    found: dict[str, str] = {}
    if source.func.id == "zip" and len(target.elts) == len(source.args):
        for part, argument in zip(target.elts, source.args):
            found.update(_elements(part, argument))
    return found


def bare(target: ast.expr) -> str:
    """The target of a loop without parentheses around all of it."""
    return ", ".join(map(ast.unparse, target.elts)) if isinstance(target, ast.Tuple) else ast.unparse(target)


def change_lines(writer: FunctionWriting, change: Change) -> list[str]:
    """The lines that make a change."""
    node, inner = change.node, ""
    head = []
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        loop = node.generators[0]
        head = [f"for {bare(loop.target)} in {writer.text(loop.iter)}:"]
        node, inner = node.elt, writer.unit
    parts = _assignment(writer.plan, node)
    assert parts is not None
    variable, value, adds = parts
    method = "assign_add" if adds else "assign"
    return [*head, f"{inner}{writer.text(variable)}.{method}({writer.text(value)})"]
