"""`tf.Variable(initial_value)` inside a model_fn: a weight of the model, with the initializer that the value stands for.

A value is computed once when a TF1 session starts; `add_weight` asks an initializer of the same distribution for it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Optional

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value, bind, is_none

VARIABLE = "tensorflow.Variable"
Resolve = Callable[[ast.expr], Optional[str]]

_SIGNATURE = (
    "initial_value trainable collections validate_shape caching_device name variable_def dtype expected_shape "
    "import_scope constraint use_resource synchronization aggregation shape"
)
_KEPT = frozenset({"initial_value", "trainable", "name", "dtype", "constraint", "use_resource"})
# Function that draws the value: signature, initializer, and its defaults in TF1 where Keras has others.
_DRAWN: dict[str, tuple[str, str, dict[str, str]]] = {
    **dict.fromkeys(
        ("random_normal", "random.normal"),
        ("shape mean stddev dtype seed name", "RandomNormal", {"stddev": "1.0"}),
    ),
    **dict.fromkeys(
        ("truncated_normal", "random.truncated_normal"),
        ("shape mean stddev dtype seed name", "TruncatedNormal", {"stddev": "1.0"}),
    ),
    **dict.fromkeys(
        ("random_uniform", "random.uniform"),
        ("shape minval maxval dtype seed name", "RandomUniform", {"minval": "0.0", "maxval": "1.0"}),
    ),
}
# Functions that make a tensor of a value, and their parameters.
_CONVERTED = {
    "tensorflow.constant": "value dtype shape name verify_shape",
    "tensorflow.convert_to_tensor": "value dtype name",
}
_READ = frozenset(f"tensorflow.{package}.load_variable" for package in ("train", "contrib.framework"))
"""Functions that read an array of a checkpoint."""
_FILLED = {"zeros": '"zeros"', "ones": '"ones"'}
VALUES = frozenset({"tensorflow.constant", *(f"tensorflow.{name}" for name in (*_DRAWN, *_FILLED))})
"""Functions whose values variables begin with."""


def variable(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """``tf.Variable(tf.random_normal([3, 4]), name="w")``: a weight of the model."""
    given = bind(call, _SIGNATURE, "tf.Variable")
    for argument, node in given.items():
        if argument not in _KEPT and not is_none(node):
            raise Unsupported(f"tf.Variable with `{argument}` is not migrated yet", node)
    settings: list[tuple[str | None, Value]]
    settings = [(key, given[key]) for key in ("trainable", "constraint") if not is_none(given.get(key))]
    named: list[tuple[str | None, Value]] = [] if is_none(given.get("name")) else [("name", given["name"])]
    if _counts(given):
        dtype: Value = "tf.int32" if is_none(given.get("dtype")) else given["dtype"]
        start = f"tf.constant_initializer({ast.unparse(given['initial_value'])})"
        arguments = (*named, ("shape", "()"), ("dtype", dtype), ("initializer", start), *settings)
        return Layer("self.add_weight", arguments, None, "variable", given.get("name"), weight=True)
    _check_float(given.get("dtype"), resolve)
    if "initial_value" not in given:
        raise Unsupported("tf.Variable without an initial value", call)
    try:
        shape, initializer = _initial(given["initial_value"], resolve)
    except Unsupported:
        first = given["initial_value"]
        function = (resolve(first.func) or "") if isinstance(first, ast.Call) else ""
        if isinstance(first, ast.Constant) or (
            function.startswith("tensorflow.") and function not in {*_CONVERTED, *_READ}
        ):
            raise  # an integer, which Keras does not train, or a tensor
        value = _value(first, resolve)
        if not is_none(given.get("dtype")) and len(value) == 1:
            value.append(("dtype", given["dtype"]))
        made = ((None, "self"), *value, *named, *settings)
        return Layer("weight_from_value", made, None, "variable", given.get("name"), vendored=True, weight=True)
    arguments = (*named, ("shape", shape), ("initializer", initializer), *settings)
    return Layer("self.add_weight", arguments, None, "variable", given.get("name"), weight=True)


def weight(
    constructor: str, arguments: list[tuple[str | None, Value]], name: ast.expr | None, vendored: bool = False
) -> Layer:
    """A variable that TF1 calls by the name of its scope and its own."""
    return Layer(constructor, tuple(arguments), None, "variable", name, (("", ""),), vendored=vendored, weight=True)


def from_value(
    value: ast.expr, settings: list[tuple[str | None, Value]], name: ast.expr | None, resolve: Resolve
) -> Layer:
    """``tf.get_variable(name, initializer=value)``: a variable that has the shape and the type of its first value."""
    kept = [(key, node) for key, node in settings if key != "dtype"]  # the value has it
    try:
        shape, initializer = _initial(value, resolve)
        shaped: list[tuple[str | None, Value]] = [("shape", shape), ("initializer", initializer)]
        first = sum(key == "name" for key, _ in kept)
        return weight("self.add_weight", [*kept[:first], *shaped, *kept[first:]], name)
    except Unsupported:
        return weight("weight_from_value", [(None, "self"), *_value(value, resolve), *kept], name, vendored=True)


def _value(node: ast.expr, resolve: Resolve) -> list[tuple[str | None, Value]]:
    """A value that is known when the model is built, and its type."""
    function = resolve(node.func) if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or function is None or not function.startswith("tensorflow."):
        return [(None, node)]
    if function in _READ:
        return [(None, node)]
    if function not in _CONVERTED:
        raise Unsupported("the initial value of this variable is not migrated yet", node)
    given = bind(node, _CONVERTED[function], function.replace("tensorflow", "tf"))
    if not is_none(given.get("shape")) or "value" not in given:
        raise Unsupported("the initial value of this variable is not migrated yet", node)
    dtype: list[tuple[str | None, Value]] = [] if is_none(given.get("dtype")) else [("dtype", given["dtype"])]
    return [(None, given["value"]), *dtype]


def _initial(node: ast.expr, resolve: Resolve) -> tuple[Value, Value]:
    """Shape and initializer of the variable that begins with a value."""
    if _is_float(node):
        return "()", f"tf.constant_initializer({ast.unparse(node)})"
    if not isinstance(node, ast.Call):
        raise Unsupported("the initial value of a tf.Variable is not seen", node)
    short = (resolve(node.func) or "").replace("tensorflow.", "", 1)
    if short in _DRAWN:
        return _drawn(node, short, resolve)
    if short in _FILLED:
        given = bind(node, "shape dtype name", f"tf.{short}")
        _check_float(given.get("dtype"), resolve)
        return _shape(given, node), _FILLED[short]
    if short == "constant":
        given = bind(node, "value dtype shape name verify_shape", "tf.constant")
        _check_float(given.get("dtype"), resolve)
        value = given.get("value")
        if value is not None and _is_float(value):
            return given.get("shape", "()"), f"tf.constant_initializer({ast.unparse(value)})"
        if (
            isinstance(value, ast.List)
            and is_none(given.get("shape"))
            and value.elts
            and all(map(_is_float, value.elts))
        ):
            return f"[{len(value.elts)}]", f"tf.constant_initializer({ast.unparse(value)})"
    raise Unsupported("the initial value of this tf.Variable is not migrated yet", node)


def _drawn(node: ast.Call, short: str, resolve: Resolve) -> tuple[Value, Value]:
    signature, initializer, defaults = _DRAWN[short]
    given = bind(node, signature, f"tf.{short}")
    _check_float(given.get("dtype"), resolve)
    settings: dict[str, ast.expr] = {argument: ast.Constant(float(value)) for argument, value in defaults.items()}
    for argument in ("mean", "stddev", "minval", "maxval", "seed"):
        value = given.get(argument)
        if value is not None and not is_none(value):
            settings[argument] = value
    keywords = [ast.keyword(argument, value) for argument, value in settings.items()]
    made = ast.Call(ast.Name(f"tf.keras.initializers.{initializer}", ast.Load()), [], keywords)
    return _shape(given, node), made


def _shape(given: dict[str, ast.expr], node: ast.Call) -> ast.expr:
    if "shape" not in given:
        raise Unsupported("the initial value of a tf.Variable has no shape", node)
    return given["shape"]


def _counts(given: dict[str, ast.expr]) -> bool:
    """Whether a variable begins with an integer, and is not to be trained."""
    value, trained = given.get("initial_value"), given.get("trainable")
    whole = isinstance(value, ast.Constant) and type(value.value) is int
    return whole and isinstance(trained, ast.Constant) and trained.value is False


def _is_float(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _check_float(node: ast.expr | None, resolve: Resolve) -> None:
    """Refuse types other than the one that `add_weight` gives a variable."""
    if not is_none(node) and node is not None and resolve(node) not in ("tensorflow.float32", "numpy.float32"):
        raise Unsupported("a tf.Variable of another type than float32 is not migrated yet", node)
