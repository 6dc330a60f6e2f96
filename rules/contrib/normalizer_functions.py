"""`normalizer_fn` of layers of `tf.contrib.layers`: a layer without biases, the normalization, and the activation.

As TensorFlow 1.15 has it in contrib/layers/python/layers/layers.py.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr, with_arguments

from ..symbols.tensorflow_names import CONTRIB_LAYERS, whole_name
from .layers import CONV2D, FULLY_CONNECTED

if TYPE_CHECKING:
    import libcst as cst

_SIGNATURES = {
    "fully_connected": FULLY_CONNECTED,
    "relu": FULLY_CONNECTED,
    "conv2d": CONV2D,
    "convolution2d": CONV2D,
}
LAYERS = {prefix + short: signature for prefix in CONTRIB_LAYERS for short, signature in _SIGNATURES.items()}
_SCOPES = {
    **{f"{prefix}batch_norm": ("scope", "BatchNorm") for prefix in CONTRIB_LAYERS},
    **{f"{prefix}layer_norm": ("scope", "LayerNorm") for prefix in CONTRIB_LAYERS},
    "tensorflow.layers.batch_normalization": ("name", "batch_normalization"),
}
"""What each normalization is told of its scope, and how that is called below the one of the layer."""


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The edits that call the normalization, and the activation after it; none where that is another function, or where the
    layer gets its scope by a number.

    ```python
    from tensorflow.contrib import slim


    def network(net):
        return slim.relu(net, 8, tf.tanh, normalizer_fn=slim.layer_norm, scope="fc")
    ```
    becomes
    ```python
    from tensorflow.contrib import slim


    def network(net):
        return tf.tanh(slim.layer_norm(slim.relu(net, 8, None, scope="fc", biases_initializer=None), scope="fc/LayerNorm"))
    ```
    """
    signature = LAYERS.get(module.resolve(call.func) or "")
    if signature is None:
        return []
    try:
        given = bind(call, signature, "the layer")
    except Unsupported:
        return []
    normalizer, scope, tf = given.get("normalizer_fn"), given.get("scope"), whole_name(module)
    known = _SCOPES.get(module.resolve(normalizer) or "") if normalizer is not None else None
    if normalizer is None or known is None or scope is None or is_none(scope) or given.get("reuse") is not None:
        return []
    told = _told(module, given.get("normalizer_params"))
    activation = given.get("activation_fn")
    if told is None or known[0] in told or (activation is None and tf is None):
        return []
    told_of_both = {name: _place(call, signature, name) for name in ("activation_fn", "biases_initializer")}
    gone = {name: _place(call, signature, name) for name in ("normalizer_fn", "normalizer_params")}
    places = {**told_of_both, **{name: at for name, at in gone.items() if at is not None and at < len(call.args)}}
    bare = with_arguments(
        module.cst.call(call),
        values={at: expr("None") for at in places.values() if at is not None},
        drop=[name for name, at in gone.items() if at is not None and at >= len(call.args)],
        add={name: expr("None") for name, at in told_of_both.items() if at is None},
    )
    told[known[0]] = _below(module, scope, known[1])
    rest = ", ".join(f"{name}={{{name}}}" for name in told if name != _REST) + (", **{rest}" if _REST in told else "")
    text = f"{{function}}({{bare}}, {rest})"
    result = expr(text, function=module.cst.expression(normalizer), bare=bare, **told)
    if activation is None:
        result = expr("{tf}.nn.relu({result})", tf=tf or "", result=result)
    elif not is_none(activation):
        result = expr("{function}({result})", function=module.cst.expression(activation), result=result)
    return Change.of(module, Replace(call, result))


_REST = "rest"


def _place(call: ast.Call, signature: str, name: str) -> int | None:
    """Which argument of a call this one is; None where it is not given."""
    place = signature.split().index(name)
    keywords = [keyword.arg for keyword in call.keywords]
    if name in keywords:
        return len(call.args) + keywords.index(name)
    return place if place < len(call.args) else None


def _told(module: Module, params: ast.expr | None) -> dict[str, cst.BaseExpression] | None:
    """The keywords that `normalizer_params` are; None where they have other keys than texts."""
    if params is None or is_none(params):
        return {}
    if isinstance(params, ast.Call) and isinstance(params.func, ast.Name) and params.func.id == "dict":
        plain = not params.args and all(k.arg is not None for k in params.keywords) and not module.bindings(params.func)
        return {str(k.arg): module.cst.expression(k.value) for k in params.keywords} if plain else None
    if not isinstance(params, ast.Dict):
        return {_REST: module.cst.expression(params)}
    found = {}
    for key, value in zip(params.keys, params.values):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or not key.value.isidentifier():
            return None
        found[key.value] = module.cst.expression(value)
    return found


def _below(module: Module, scope: ast.expr, name: str) -> cst.BaseExpression:
    """The scope of the normalization in that of the layer."""
    if isinstance(scope, ast.Constant) and isinstance(scope.value, str):
        return expr(_quoted(f"{scope.value}/{name}"))
    if isinstance(scope, ast.BinOp) and isinstance(scope.op, ast.Mod) and isinstance(scope.left, ast.Constant):
        text = _quoted(f"{scope.left.value!s}/{name}")
        return expr(f"{text} % {{values}}", values=module.cst.expression(scope.right))
    return expr(f'{{scope}} + "/{name}"', scope=module.cst.expression(scope))


def _quoted(text: str) -> str:
    return repr(text).replace("'", '"')
