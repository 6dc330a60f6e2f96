"""Keras layers and models that a model_fn makes for itself: the same objects, made once.

Two things differ. In a TF1 graph, a layer that is not told `training` asks for the learning phase, which is off unless the
program sets it; in a Keras model it does what the outer call does. And TensorFlow 1's `LSTM` and `GRU` have defaults of
their own.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value
from migrator.resolve.syntax import walk

Resolve = Callable[[ast.expr], "str | None"]

KERAS = "tensorflow.keras.layers."
_MODELS = frozenset(f"tensorflow.keras.{name}" for name in ("Sequential", "Model", "models.Sequential", "models.Model"))
_NOT_MADE = frozenset({"Input", "InputSpec", "InputLayer", "Layer", "DenseFeatures"})
_REMOVED = frozenset({"CuDNNLSTM", "CuDNNGRU"})
_KERNEL_BIAS = (("kernel", "kernel"), ("bias", "bias"))
_CELL = tuple((name, f"cell.{name}") for name in ("kernel", "recurrent_kernel", "bias"))
_MOMENTS = tuple((name, name) for name in ("gamma", "beta", "moving_mean", "moving_variance"))
_VARIABLES = {
    **dict.fromkeys(("Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"), _KERNEL_BIAS),
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN"), _CELL),
    "BatchNormalization": _MOMENTS,
    "LayerNormalization": _MOMENTS[:2],
    "Embedding": (("embeddings", "embeddings"),),
}
# Layers that do something else in training; recurrent ones only with dropout, containers if something in them does.
_PHASED = frozenset(
    """Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianNoise GaussianDropout AlphaDropout
    BatchNormalization""".split()
)
_RECURRENT = frozenset({"LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "ConvLSTM2D"})
_CONTAINERS = frozenset(
    {"Sequential", "Model", "Bidirectional", "TimeDistributed", "RNN", "StackedRNNCells", "Wrapper"}
)
TRAINING_OFF = (("training", "False"),)


def is_keras_object(name: str) -> bool:
    """Whether calling `name` makes a layer or a model of Keras."""
    if name in _MODELS:
        return True
    short = name.rpartition(".")[2]
    return name.startswith(KERAS) and name.count(".") == 3 and short[:1].isupper() and short not in _NOT_MADE


def is_phased(node: ast.AST, resolve: Resolve) -> bool:
    """Whether what is made anywhere below `node` may do something else in training."""
    for call in walk(node):
        if not isinstance(call, ast.Call):
            continue
        name = resolve(call.func)
        short = name.rsplit(".", 1)[1] if name is not None and is_keras_object(name) else ""
        given = [*call.args, *(k.value for k in call.keywords)]
        if short in _PHASED or (short in _RECURRENT and any("dropout" in (k.arg or "dropout") for k in call.keywords)):
            return True
        # A container of layers that are made elsewhere.
        elements = [e for a in given for e in (a.elts if isinstance(a, (ast.List, ast.Tuple)) else [a])]
        if short in _CONTAINERS and (not given or any(not isinstance(e, (ast.Call, ast.Constant)) for e in elements)):
            return True
    return False


def _check_defaults(node: ast.AST, resolve: Resolve) -> None:
    """Refuse layers in layers whose defaults TensorFlow 2 changed, and those that it does not have any more."""
    for call in walk(node):
        name = resolve(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or name is None or not name.startswith(KERAS):
            continue
        short = name.rsplit(".", 1)[1]
        if short in _REMOVED:
            raise Unsupported(f"TensorFlow 2 has no {short}", call)
        if call is not node and old_defaults(short, {k.arg for k in call.keywords}):
            raise Unsupported(
                f"{short} inside another layer has defaults that TensorFlow 2 changed: write them out", call
            )


def old_defaults(short: str, given: set[str | None]) -> tuple[tuple[str, str], ...]:
    """Arguments of a recurrent layer whose default differs in TensorFlow 1, where they are not given."""
    wanted: list[tuple[str, str]] = []
    if short in ("LSTM", "GRU", "LSTMCell", "GRUCell"):
        wanted.append(("recurrent_activation", '"hard_sigmoid"'))
    if short in ("GRU", "GRUCell"):
        wanted.append(("reset_after", "False"))
    return tuple((name, value) for name, value in wanted if name not in given)


def keras_layer(call: ast.Call, name: str, resolve: Resolve) -> Layer | None:
    """``tf.keras.layers.Dense(10)`` inside a model_fn."""
    short = name.rsplit(".", 1)[1]
    if any(isinstance(a, ast.Starred) for a in call.args):
        raise Unsupported("the arguments of a layer are hidden behind *", call)
    _check_defaults(call, resolve)
    arguments: list[tuple[str | None, Value]] = [(None, a) for a in call.args]
    for keyword in call.keywords:
        if keyword.arg is None:
            raise Unsupported("the arguments of a layer are hidden behind **", keyword.value)
        arguments.append((keyword.arg, keyword.value))
    return Layer(
        "tf." + name[len("tensorflow.") :],
        tuple(arguments),
        None,
        keras_name(short),
        next((k.value for k in call.keywords if k.arg == "name"), None),
        _VARIABLES.get(short, ()),
        moving="momentum" if short == "BatchNormalization" else None,
        keras=True,
        applied=TRAINING_OFF if is_phased(call, resolve) else (),
        old_defaults=old_defaults(short, {n for n, _ in arguments}),
    )


def keras_name(short: str) -> str:
    """What Keras calls a layer of class `short`: ``BatchNormalization`` is ``batch_normalization``."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", short)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
