"""`tf.layers`, `get_variable` and Keras layers inside a model_fn: what is made once and what is applied to data.

The functions of `tf.layers` are Keras layers since TF 1.12: same variables, same numerics (measured: outputs within 2.4e-7,
gradients within 3e-8). What differs are defaults of the call: `training=False` for dropout and batch normalization.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value, bind, is_none

from ..contrib.layers import LAYERS as CONTRIB
from ..inputs.feature_columns import LAYERS as COLUMNS
from ..inputs.feature_columns import PREPROCESSED, SEQUENCES
from ..recurrent.rnn import LAYERS as RECURRENT
from .graph_variables import VARIABLE, from_value, variable, weight
from .keras_layers import TRAINING_OFF, is_keras_object, keras_layer

_COMMON = "activity_regularizer kernel_constraint bias_constraint trainable name reuse"
_KERNEL = "kernel_initializer bias_initializer kernel_regularizer bias_regularizer"
_SEPARABLE = (
    "inputs filters kernel_size strides padding data_format dilation_rate depth_multiplier activation use_bias "
    "depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer pointwise_regularizer "
    "bias_regularizer activity_regularizer depthwise_constraint pointwise_constraint bias_constraint trainable name reuse"
)
_CONV = f"inputs filters kernel_size strides padding data_format dilation_rate activation use_bias {_KERNEL} {_COMMON}"
_TRANSPOSE = f"inputs filters kernel_size strides padding data_format activation use_bias {_KERNEL} {_COMMON}"
_POOL = "inputs pool_size strides padding data_format name"
_NORM = (
    "inputs axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
    "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint training trainable "
    "name reuse renorm renorm_clipping renorm_momentum fused virtual_batch_size adjustment"
)
_TENSORS = frozenset({"tensorflow.convert_to_tensor", "tensorflow.constant"})
_DROPOUT = "inputs rate noise_shape seed training name"
_KERNEL_BIAS = (("kernel", "kernel"), ("bias", "bias"))
_MOMENTS = tuple((n, n) for n in ("gamma", "beta", "moving_mean", "moving_variance"))

BY_HAND = "kernel_name bias_name"
"""What `dense` and `conv2d` are told of the variables that a program made for such a layer itself; see `layers_by_hand`."""

# Function of tf.layers: signature, Keras class, positional arguments of its constructor, arguments of its call.
FUNCTIONS: dict[str, tuple[str, str, str, str]] = {
    "dense": (f"inputs units activation use_bias {_KERNEL} {_COMMON} {BY_HAND}", "Dense", "units", "inputs"),
    "conv1d": (_CONV, "Conv1D", "filters kernel_size", "inputs"),
    "conv2d": (f"{_CONV} {BY_HAND}", "Conv2D", "filters kernel_size", "inputs"),
    "conv3d": (_CONV, "Conv3D", "filters kernel_size", "inputs"),
    "separable_conv1d": (_SEPARABLE, "SeparableConv1D", "filters kernel_size", "inputs"),
    "separable_conv2d": (_SEPARABLE, "SeparableConv2D", "filters kernel_size", "inputs"),
    "conv2d_transpose": (_TRANSPOSE, "Conv2DTranspose", "filters kernel_size", "inputs"),
    "conv3d_transpose": (_TRANSPOSE, "Conv3DTranspose", "filters kernel_size", "inputs"),
    **{
        f"{kind}_pooling{n}d": (
            _POOL,
            f"{'Max' if kind == 'max' else 'Average'}Pooling{n}D",
            "pool_size strides",
            "inputs",
        )
        for kind in ("max", "average")
        for n in (1, 2, 3)
    },
    "flatten": ("inputs name data_format", "Flatten", "", "inputs"),
    "dropout": (_DROPOUT, "Dropout", "rate", "inputs training"),
    "batch_normalization": (_NORM, "BatchNormalization", "", "inputs training"),
}
_CLASSES = {spec[1]: (spec[0].replace("inputs ", "", 1), name) for name, spec in FUNCTIONS.items()}
_ALIASES = {"MaxPool2D": "MaxPooling2D", "AvgPool2D": "AveragePooling2D", "Conv2DTranspose": "Conv2DTranspose"}
_REFUSED = ("renorm", "virtual_batch_size", "adjustment")
_SCOPES = {"separable_conv1d": "separable_conv1d", "flatten": "flatten"}


def _variables(name: str) -> tuple[tuple[str, str], ...]:
    if name == "batch_normalization":
        return _MOMENTS
    if name.startswith("separable"):
        return (("depthwise_kernel", "depthwise_kernel"), ("pointwise_kernel", "pointwise_kernel"), ("bias", "bias"))
    return _KERNEL_BIAS if name == "dense" or name.startswith("conv") else ()


def function(call: ast.Call, name: str, resolve: Callable[[ast.expr], str | None]) -> Layer | None:
    """``tf.layers.dense(x, 10)``: a layer that is made and applied at once."""
    short = name.rsplit(".", 1)[1]
    signature, keras, positional, applied = FUNCTIONS[short]
    given = bind(call, signature, f"tf.layers.{short}")
    if "inputs" not in given:
        raise Unsupported(f"tf.layers.{short} without inputs", call)
    if short == "batch_normalization" and not _is_true(given.get("trainable")):
        raise Unsupported("`trainable` stops Keras from using the batch, but not tf.layers", given["trainable"])
    inputs: list[tuple[str | None, Value]] = [(None, given["inputs"])]
    if "training" in applied.split():
        inputs.append(("training", _flag(given["training"], resolve) if "training" in given else "False"))
    return Layer(
        f"tf.keras.layers.{keras}",
        _arguments(given, positional, applied, short),
        tuple(inputs),
        _SCOPES.get(short, short),
        given.get("name", given.get("kernel_name")),
        _variables(short) if "kernel_name" not in given else (("", "kernel"), ("", "bias")),
        trains="training" in applied.split(),
        moving="momentum" if short == "batch_normalization" else None,
        bias_name=given.get("bias_name", given.get("kernel_name")),
    )


def _flag(node: ast.expr, resolve: Callable[[ast.expr], str | None]) -> ast.expr:
    """What says whether a layer trains, as Keras takes it: a bool need be no tensor."""
    while isinstance(node, ast.Call) and resolve(node.func) in _TENSORS and len(node.args) == 1 and not node.keywords:
        node = node.args[0]
    return node


def class_(call: ast.Call, name: str, resolve: Callable[[ast.expr], str | None]) -> Layer | None:
    """``tf.layers.Dense(10)``: the object that is applied later."""
    short = name.rsplit(".", 1)[1]
    keras = _ALIASES.get(short, short)
    signature, function_name = _CLASSES[keras]
    given = bind(call, signature.replace(" training", ""), f"tf.layers.{short}")
    if function_name == "batch_normalization" and not _is_true(given.get("trainable")):
        raise Unsupported("`trainable` stops Keras from using the batch, but not tf.layers", given["trainable"])
    positional = FUNCTIONS[function_name][2]
    phased = function_name in ("dropout", "batch_normalization")
    return Layer(
        f"tf.keras.layers.{keras}",
        _arguments(given, positional, "", function_name),
        None,
        function_name,
        given.get("name"),
        _variables(function_name),
        moving="momentum" if function_name == "batch_normalization" else None,
        applied=TRAINING_OFF if phased else (),
    )


def _is_true(node: ast.expr | None) -> bool:
    return node is None or (isinstance(node, ast.Constant) and node.value is True)


def _arguments(
    given: dict[str, ast.expr], positional: str, applied: str, short: str
) -> tuple[tuple[str | None, Value], ...]:
    found: list[tuple[str | None, Value]] = []
    if short == "dropout" and "rate" not in given:
        found.append((None, "0.5"))
    leading = True
    for name in positional.split():
        leading = leading and name in given
        if leading and not is_none(given[name]):
            found.append((None if name != "strides" else "strides", given[name]))
    for name, value in given.items():
        if name in positional.split() and any(v is value for _, v in found):
            continue
        if name in ("inputs", "reuse", *BY_HAND.split(), *applied.split()) or (is_none(value) and name != "activation"):
            continue
        if name in _REFUSED and isinstance(value, ast.Constant) and value.value is False:
            continue
        if name in _REFUSED:
            raise Unsupported(f"`{name}` has no counterpart in Keras", value)
        if name == "fused" and not (isinstance(value, ast.Constant) and value.value is False):
            continue  # fused where possible is what Keras does
        if name == "activation" and is_none(value):
            continue
        found.append((name, value))
    return tuple(found)


_GET_VARIABLE = (
    "name shape dtype initializer regularizer trainable collections caching_device partitioner validate_shape "
    "use_resource custom_getter constraint synchronization aggregation"
)


def get_variable(call: ast.Call, name: str, resolve: Callable[[ast.expr], str | None]) -> Layer | None:
    """``tf.get_variable("w", [3, 4])``: a weight of the model."""
    given = bind(call, _GET_VARIABLE, "tf.get_variable")
    for refused in ("collections", "custom_getter", "caching_device"):
        if not is_none(given.get(refused)):
            raise Unsupported(f"get_variable with `{refused}` is not migrated yet", given[refused])
    kept = ("name", "shape", "dtype", "regularizer", "trainable", "constraint")
    settings: list[tuple[str | None, Value]] = [(key, given[key]) for key in kept if not is_none(given.get(key))]
    initializer = given.get("initializer")
    if not is_none(given.get("shape")):
        settings += [("initializer", initializer)] if initializer is not None and not is_none(initializer) else []
        return weight("self.add_weight", settings, given.get("name"))
    if initializer is None or is_none(initializer):  # a variable that exists already
        return weight("self.add_weight", settings, given.get("name"))
    return from_value(initializer, settings, given.get("name"), resolve)


class LayerTable:
    """Layer rules by qualified name; `features` says what layers on feature columns become."""

    def __init__(self, features: str = "columns") -> None:
        self.columns = PREPROCESSED if features == "preprocessing" else {**COLUMNS, **SEQUENCES}

    def get(self, name: str | None) -> Callable[..., Layer | None] | None:
        """The rule for a callable, None if it makes no layer."""
        if name is None:
            return None
        if name in CONTRIB:
            return CONTRIB[name]
        if name in RECURRENT:
            return RECURRENT[name]
        if name in self.columns:
            return self.columns[name]
        if name == "tensorflow.get_variable":
            return get_variable
        if name == VARIABLE:
            return variable
        if name.startswith("tensorflow.layers."):
            short = name.rsplit(".", 1)[1]
            if short in FUNCTIONS:
                return function
            return class_ if _ALIASES.get(short, short) in _CLASSES else None
        return keras_layer if is_keras_object(name) else None

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


LAYERS = LayerTable()
"""What makes layers, on whichever feature columns."""
