"""`tf.contrib.layers` (and slim, which is the same code) inside a model_fn.

Their defaults are not Keras's: `fully_connected` and `conv2d` end in a relu, padding is SAME. Each such default is written out.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Layer, Value, Writing, bind, is_none

from ..symbols.tensorflow_names import CONTRIB_LAYERS
from .normalization import RULES as NORMALIZATIONS
from .normalization import says_nothing

_TAIL = "reuse variables_collections outputs_collections trainable scope"
_WEIGHTS = (
    "activation_fn normalizer_fn normalizer_params weights_initializer weights_regularizer biases_initializer "
    f"biases_regularizer {_TAIL}"
)
FULLY_CONNECTED = f"inputs num_outputs {_WEIGHTS}"
CONV2D = f"inputs num_outputs kernel_size stride padding data_format rate {_WEIGHTS}"
_DROPOUT = "inputs keep_prob noise_shape is_training outputs_collections scope seed"
_FLATTEN = "inputs outputs_collections scope"
_KEYWORDS = {
    "weights_initializer": "kernel_initializer",
    "weights_regularizer": "kernel_regularizer",
    "biases_initializer": "bias_initializer",
    "biases_regularizer": "bias_regularizer",
    "trainable": "trainable",
}
_VARIABLES = (("weights", "kernel"), ("biases", "bias"))
Resolve = Callable[[ast.expr], "str | None"]


def _refuse(given: dict[str, ast.expr], what: str) -> None:
    for name in ("normalizer_fn", "normalizer_params", "variables_collections", "outputs_collections", "data_format"):
        if not says_nothing(name, given.get(name)):
            raise Unsupported(f"{what} with `{name}` is not migrated yet", given[name])


def _tail(given: dict[str, ast.expr]) -> list[tuple[str | None, Value]]:
    """Activation, initializers and regularizers."""
    found: list[tuple[str | None, Value]] = []
    if "activation_fn" not in given:
        found.append(("activation", '"relu"'))
    elif not is_none(given["activation_fn"]):
        found.append(("activation", given["activation_fn"]))
    if "biases_initializer" in given and is_none(given["biases_initializer"]):
        found.append(("use_bias", "False"))
    for old, new in _KEYWORDS.items():
        if not is_none(given.get(old)):
            found.append((new, given[old]))
    if not is_none(given.get("scope")):
        found.append(("name", given["scope"]))
    return found


def fully_connected(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Dense with a relu."""
    given = bind(call, FULLY_CONNECTED, "fully_connected")
    _refuse(given, "fully_connected")
    arguments = [(None, given["num_outputs"]), *_tail(given)]
    return Layer(
        "tf.keras.layers.Dense",
        tuple(arguments),
        ((None, given["inputs"]),),
        "fully_connected",
        given.get("scope"),
        _VARIABLES,
    )


def conv2d(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Conv2D with a relu and SAME padding."""
    given = bind(call, CONV2D, "conv2d")
    _refuse(given, "conv2d")
    arguments: list[tuple[str | None, Value]] = [(None, given["num_outputs"]), (None, given["kernel_size"])]
    if "stride" in given:
        arguments.append(("strides", given["stride"]))
    arguments.append(("padding", given.get("padding", '"same"')))
    if "rate" in given:
        arguments.append(("dilation_rate", given["rate"]))
    arguments += _tail(given)
    return Layer(
        "tf.keras.layers.Conv2D", tuple(arguments), ((None, given["inputs"]),), "Conv", given.get("scope"), _VARIABLES
    )


def dropout(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Dropout by what is kept; active unless told otherwise."""
    given = bind(call, _DROPOUT, "dropout")
    _refuse(given, "dropout")
    keep = given.get("keep_prob")
    if keep is None:
        rate: Value = "0.5"
    elif isinstance(keep, ast.Constant) and isinstance(keep.value, (int, float)):
        rate = repr(round(1 - keep.value, 12))
    else:
        rate = ast.BinOp(ast.Constant(1), ast.Sub(), keep)
    inputs: tuple[tuple[str | None, Value], ...] = (
        (None, given["inputs"]),
        ("training", given.get("is_training", "True")),
    )
    kept = tuple((name, given[name]) for name in ("noise_shape", "seed") if not is_none(given.get(name)))
    return Layer("tf.keras.layers.Dropout", ((None, rate), *kept), inputs, "Dropout", None, trains=True)


def flatten(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Flatten."""
    given = bind(call, _FLATTEN, "flatten")
    _refuse(given, "flatten")
    return Layer("tf.keras.layers.Flatten", (), ((None, given["inputs"]),), "Flatten")


def linear(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Dense; contrib writes it as a `fully_connected` without activation."""
    layer = fully_connected(call, name, resolve)
    if any(k.arg == "activation_fn" for k in call.keywords) or len(call.args) > 2:
        raise Unsupported("linear with an activation is not migrated yet", call)
    kept = tuple((n, v) for n, v in layer.arguments if n != "activation")
    return replace(layer, arguments=kept)


def softmax(call: ast.Call, writing: Writing) -> str:
    """Over the last axis, whatever the rank."""
    given = bind(call, "logits scope", "softmax")
    return f"{writing.tf}.nn.softmax({writing.text(given['logits'])})"


_RULES = {
    **NORMALIZATIONS,
    "linear": linear,
    "relu": fully_connected,
    "fully_connected": fully_connected,
    "conv2d": conv2d,
    "convolution2d": conv2d,
    "dropout": dropout,
    "flatten": flatten,
}
LAYERS = {prefix + short: rule for prefix in CONTRIB_LAYERS for short, rule in _RULES.items()}
EXPRESSIONS: dict[str, Expression] = {prefix + "softmax": softmax for prefix in CONTRIB_LAYERS}
