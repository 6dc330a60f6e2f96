"""Ways to change one place of a program: each is given a node, and says what takes its place there."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Union

Source = Callable[[ast.AST], str]
Planted = Union[tuple[ast.AST, str], None]
Planter = Callable[[ast.AST, Source], Planted]
"""Says which node becomes which text, if this is a place for its fault."""


def called(node: ast.AST, *names: str) -> ast.Call | None:
    """A call of something with one of these names."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return node if isinstance(node, ast.Call) and name in names else None


def argument_of(call: ast.Call, name: str, position: int = -1) -> ast.expr | None:
    """An argument by its name, or by its position."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return call.args[position] if named is None and 0 <= position < len(call.args) else named


def scaled(factor: str, argument: str, position: int, *calls: str) -> Planter:
    """A number that is another one."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        value = argument_of(call, argument, position) if call is not None else None
        if value is None or isinstance(value, ast.Call) or (isinstance(value, ast.Constant) and not value.value):
            return None
        number = isinstance(value, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript))
        return (value, f"{factor} * ({source(value)})") if number else None

    return plant


def flipped(argument: str, *calls: str) -> Planter:
    """A switch that is off where it was on, and the other way round."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        value = argument_of(call, argument) if call is not None else None
        return (value, str(not value.value)) if isinstance(value, ast.Constant) else None

    return plant


def added(argument: str, *calls: str) -> Planter:
    """An argument that another default would be."""
    name = argument.partition("=")[0]

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        if call is None or argument_of(call, name) is not None:
            return None
        text = source(call)
        return call, f"{text[:-1].rstrip().rstrip(',')}{', ' if call.args or call.keywords else ''}{argument})"

    return plant


def left_out(argument: str, *calls: str) -> Planter:
    """An argument that is lost."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        found = next((k for k in call.keywords if k.arg == argument), None) if call is not None else None
        none = isinstance(found.value, ast.Constant) and found.value.value is None if found is not None else True
        return (found.value, "None") if found is not None and not none else None

    return plant


def renamed(old: str, new: str) -> Planter:
    """Another function of the same module: ``tf.nn.relu`` becomes ``tf.nn.elu``."""

    def plant(node: ast.AST, source: Source) -> Planted:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        text = source(node)
        return (node, text[: -len(old)] + new) if text == old or text.endswith("." + old) else None

    return plant


def unwrapped(*calls: str) -> Planter:
    """A function that is not applied."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        return (call, f"({source(call.args[0])})") if call is not None and call.args else None

    return plant


def chained(method: str, before: str) -> Planter:
    """A method of a dataset that another one comes before: ``.skip(1)``."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, method)
        if call is None or not isinstance(call.func, ast.Attribute):
            return None
        return call.func.value, source(call.func.value) + before

    return plant


def one_more(method: str, position: int, number: str) -> Planter:
    """A count that is off by one."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, method)
        value = call.args[position] if call is not None and len(call.args) > position else None
        return (value, f"({source(value)}) {number}") if value is not None else None

    return plant


def other_sign(node: ast.AST, source: Source) -> Planted:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)) or is_text(node):
        return None
    sign = "-" if isinstance(node.op, ast.Add) else "+"
    return node, f"(({source(node.left)}) {sign} ({source(node.right)}))"


def is_text(node: ast.AST) -> bool:
    return any(
        isinstance(n, (ast.List, ast.JoinedStr)) or isinstance(getattr(n, "value", 0), str) for n in ast.walk(node)
    )


def product(node: ast.AST, source: Source) -> Planted:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    return node, f"(1.1 * ({source(node)}))"


def always_training(node: ast.AST, source: Source) -> Planted:
    if not isinstance(node, ast.keyword) or node.arg != "training" or not isinstance(node.value, ast.Name):
        return None
    return node.value, "True"


def never_training(node: ast.AST, source: Source) -> Planted:
    found = always_training(node, source)
    return (found[0], "False") if found is not None else None


def labels_moved(node: ast.AST, source: Source) -> Planted:
    """Labels that are those of the example before."""
    call = called(node, "update_state", "sigmoid_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits")
    value = (argument_of(call, "labels", 0) if call is not None else None) or None
    return (
        (value, f"tf.roll({source(value)}, 1, 0)") if value is not None and len(call.args + call.keywords) > 1 else None
    )


def dropped(*calls: str) -> Planter:
    """A statement that is lost."""

    def plant(node: ast.AST, source: Source) -> Planted:
        found = isinstance(node, ast.Expr) and called(node.value, *calls) is not None
        return (node, "pass") if found else None

    return plant


def changed(template: str, argument: str, position: int, *calls: str) -> Planter:
    """An argument that becomes what `template` says, with the argument as ``{}``."""

    def plant(node: ast.AST, source: Source) -> Planted:
        call = called(node, *calls)
        value = argument_of(call, argument, position) if call is not None else None
        none = isinstance(value, ast.Constant) and value.value is None
        return (value, template.format(source(value))) if value is not None and not none else None

    return plant


def clipped(node: ast.AST, source: Source, calls: tuple[str, ...] = ("Adam", "SGD", "Adagrad", "Ftrl")) -> Planted:
    """Gradients that are clipped where none were."""
    call = called(node, *calls)
    if call is None or any("clip" in (keyword.arg or "") for keyword in call.keywords):
        return None
    return added("clipnorm=1e-3", *calls)(node, source)


def concatenation_swapped(node: ast.AST, source: Source) -> Planted:
    """The first of several tensors comes last."""
    call = called(node, "concat", "stack", "concatenate")
    listed = call.args[0] if call is not None and call.args else None
    if not isinstance(listed, ast.List) or len(listed.elts) < 2:
        return None
    return listed, f"[{', '.join(map(source, [*listed.elts[1:], listed.elts[0]]))}]"


def key_renamed(node: ast.AST, source: Source) -> Planted:
    """The key of one output is another one."""
    key = node.keys[0] if isinstance(node, ast.Dict) and node.keys else None
    return (key, repr(key.value + "_")) if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def divided(node: ast.AST, source: Source) -> Planted:
    """Numbers that are scaled otherwise."""
    division = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant)
    return (node, f"(1.1 * ({source(node)}))") if division else None


def another_feature(node: ast.AST, source: Source) -> Planted:
    """One feature in the place of another, where two are handed over together."""
    call = node if isinstance(node, ast.Call) else None
    given = [each for each in (call.args if call is not None else ()) if isinstance(each, ast.Subscript)]
    texts = [source(each) for each in given]
    if len(given) < 2 or len(set(texts)) < 2 or len({text.partition("[")[0] for text in texts}) > 1:
        return None
    return given[0], texts[1]
