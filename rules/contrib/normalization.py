"""Normalization, pooling and embedding of `tf.contrib.layers` (and slim, which is the same code) inside a model_fn."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value, bind, is_none
from migrator.resolve.calls import is_literal

Resolve = Callable[[ast.expr], "str | None"]

_BATCH_NORM = (
    "inputs decay center scale epsilon activation_fn param_initializers param_regularizers updates_collections is_training "
    "reuse variables_collections outputs_collections trainable batch_weights fused data_format zero_debias_moving_mean "
    "scope renorm renorm_clipping renorm_decay adjustment"
)
_LAYER_NORM = (
    "inputs center scale activation_fn reuse variables_collections outputs_collections trainable begin_norm_axis "
    "begin_params_axis scope"
)
_POOL = "inputs kernel_size stride padding data_format outputs_collections scope"
_EMBED = "ids vocab_size embed_dim unique initializer regularizer trainable scope reuse"
_MOMENTS = tuple((name, name) for name in ("beta", "gamma", "moving_mean", "moving_variance"))


def says_nothing(name: str, node: ast.expr | None) -> bool:
    """Whether an argument is what it is without being given."""
    return (
        node is None
        or is_none(node)
        or is_literal(node, False)
        or (name, ast.unparse(node)) == ("data_format", "'NHWC'")
    )


def _only(given: dict[str, ast.expr], kept: str, what: str) -> None:
    """Refuse arguments beside `kept` that say more than nothing."""
    for name, node in given.items():
        if name in kept.split() or says_nothing(name, node):
            continue
        raise Unsupported(f"{what} with `{name}` is not migrated yet", node)


def _taken(given: dict[str, ast.expr], names: dict[str, str]) -> list[tuple[str | None, Value]]:
    """Arguments of the new constructor, in the order of the old ones."""
    return [(new, given[old]) for old, new in names.items() if not is_none(given.get(old))]


def _variables(given: dict[str, ast.expr], default_scale: bool) -> tuple[tuple[str, str], ...]:
    off = {"beta": _is_off(given.get("center"), True), "gamma": _is_off(given.get("scale"), default_scale)}
    return tuple(pair for pair in _MOMENTS if not off.get(pair[0]))


def _is_off(node: ast.expr | None, default: bool) -> bool:
    return not default if node is None else isinstance(node, ast.Constant) and not node.value


def batch_norm(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Active unless told otherwise, without a factor, and fused for matrices as well."""
    given = bind(call, _BATCH_NORM, "batch_norm")
    _only(
        given,
        "inputs decay center scale epsilon activation_fn updates_collections is_training trainable fused scope",
        "batch_norm",
    )
    trainable = given.get("trainable")
    if trainable is not None and not (isinstance(trainable, ast.Constant) and trainable.value is True):
        raise Unsupported(
            "batch_norm with `trainable`, which stops Keras from using the batch, is not migrated yet", trainable
        )
    names = {
        "decay": "momentum",
        "center": "center",
        "scale": "scale",
        "epsilon": "epsilon",
        "activation_fn": "activation",
    }
    arguments = _taken(given, names)
    if not is_none(given.get("scope")):
        arguments.append(("name", given["scope"]))
    fused = given.get("fused")
    if fused is not None and isinstance(fused, ast.Constant) and fused.value is False:
        arguments.append(("fused", fused))
    collection = given.get("updates_collections")
    at_once = collection is not None and is_none(collection)
    if not at_once and collection is not None and not (resolve(collection) or "").endswith(".GraphKeys.UPDATE_OPS"):
        raise Unsupported("batch_norm with a collection of its own is not migrated yet", collection)
    return Layer(
        "ContribBatchNorm",
        tuple(arguments),
        ((None, given["inputs"]), ("training", given.get("is_training", "True"))),
        "BatchNorm",
        given.get("scope"),
        _variables(given, default_scale=False),
        trains=True,
        moving=None if at_once else "momentum",
        vendored=True,
    )


def layer_norm(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """Over all axes but the first, unless told otherwise; over the last one it is that of Keras."""
    given = bind(call, _LAYER_NORM, "layer_norm")
    _only(given, "inputs center scale activation_fn trainable begin_norm_axis begin_params_axis scope", "layer_norm")
    begin = given.get("begin_params_axis")
    if begin is not None and ast.unparse(begin) != "-1":
        raise Unsupported("layer_norm with parameters of more than the last axis is not migrated yet", begin)
    axis = given.get("begin_norm_axis")
    plain = axis is not None and ast.unparse(axis) == "-1" and is_none(given.get("activation_fn"))
    kept = {"center": "center", "scale": "scale", "trainable": "trainable", "scope": "name"}
    more = {} if plain else {"begin_norm_axis": "begin_norm_axis", "activation_fn": "activation"}
    epsilon: list[tuple[str | None, Value]] = [("epsilon", "1e-12")] if plain else []
    return Layer(
        "tf.keras.layers.LayerNormalization" if plain else "ContribLayerNorm",
        (*epsilon, *_taken(given, {**more, **kept})),
        ((None, given["inputs"]),),
        "LayerNorm",
        given.get("scope"),
        _variables(given, default_scale=True)[:2],
        vendored=not plain,
    )


def pool(keras: str) -> Callable[[ast.Call, str, Resolve], Layer]:
    """Pooling by steps of two and without padding, unless told otherwise."""

    def rule(call: ast.Call, name: str, resolve: Resolve) -> Layer:
        short = name.rsplit(".", 1)[1]
        given = bind(call, _POOL, short)
        _only(given, "inputs kernel_size stride padding scope", short)
        arguments: list[tuple[str | None, Value]] = [
            (None, given["kernel_size"]),
            ("strides", given.get("stride", "2")),
            *_taken(given, {"padding": "padding"}),
        ]
        scope = {"max_pool2d": "MaxPool2D", "avg_pool2d": "AvgPool2D"}[short]
        return Layer(
            f"tf.keras.layers.{keras}", tuple(arguments), ((None, given["inputs"]),), scope, given.get("scope")
        )

    return rule


def embed_sequence(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """An embedding whose table starts like any variable."""
    given = bind(call, _EMBED, "embed_sequence")
    _only(given, "ids vocab_size embed_dim initializer regularizer trainable scope", "embed_sequence")
    if is_none(given.get("vocab_size")) or is_none(given.get("embed_dim")):
        raise Unsupported("embed_sequence without vocab_size and embed_dim finds its variable by name", call)
    initializer: Value = '"glorot_uniform"' if is_none(given.get("initializer")) else given["initializer"]
    arguments: list[tuple[str | None, Value]] = [
        (None, given["vocab_size"]),
        (None, given["embed_dim"]),
        ("embeddings_initializer", initializer),
        *_taken(given, {"regularizer": "embeddings_regularizer", "trainable": "trainable", "scope": "name"}),
    ]
    return Layer(
        "tf.keras.layers.Embedding",
        tuple(arguments),
        ((None, given["ids"]),),
        "EmbedSequence",
        given.get("scope"),
        (("embeddings", "embeddings"),),
    )


RULES = {
    "batch_norm": batch_norm,
    "layer_norm": layer_norm,
    "max_pool2d": pool("MaxPooling2D"),
    "avg_pool2d": pool("AveragePooling2D"),
    "embed_sequence": embed_sequence,
}
