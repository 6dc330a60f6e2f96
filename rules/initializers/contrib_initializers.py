"""Initializers of tf.contrib.layers whose Keras counterpart depends on an argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of, is_literal
from migrator.resolve.module import Module
from migrator.resolve.signatures import Signatures, carried_over
from migrator.rewrite import Replace
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from ..symbols.tensorflow_names import tensorflow_root

_XAVIER = ("uniform", "seed", "dtype")
_SCALING = ("factor", "mode", "uniform", "seed", "dtype")
# Both draw from a normal distribution cut off at two standard deviations, and widen it by a factor that makes up for
# that: contrib takes 1.3 for the variance, Keras divides the deviation by 0.87962566103423978.
_WIDER = 1.3 * 0.87962566103423978**2
_MODES = {"FAN_IN": '"fan_in"', "FAN_OUT": '"fan_out"', "FAN_AVG": '"fan_avg"'}


class ContribInitializers(Rule):
    """Replace the initializers of `tf.contrib.layers` by those of Keras.

    ## What it does
    `xavier_initializer` becomes `GlorotUniform` or, with `uniform=False`, `VarianceScaling`, as
    `variance_scaling_initializer` does, with its TensorFlow 1 defaults written out. Where the values are normal, the scale
    is a little larger: contrib widens the truncated normal by the rounded factor 1.3, Keras by the exact one.

    ## Why
    TensorFlow 2 has no `tf.contrib`.

    ## Example
    ```python
    tf.contrib.layers.xavier_initializer(seed=1)
    tf.contrib.layers.variance_scaling_initializer(uniform=True)
    ```
    becomes
    ```python
    tf.keras.initializers.GlorotUniform(seed=1)
    tf.keras.initializers.VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform")
    ```

    ## Fix safety
    Safe: the distribution is the same.
    """

    code = "EST102"
    name = "contrib-initializers"
    needs_tensorflow_2 = True
    symbols = tuple(
        f"tensorflow.contrib.{package}.{initializer}"
        for package in ("layers", "slim")
        for initializer in ("xavier_initializer", "xavier_initializer_conv2d", "variance_scaling_initializer")
    )

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each initializer."""
        old = "tf." + name[len("tensorflow.") :]
        xavier = "xavier" in name
        call = call_of(module, node)
        bound = bind(call, _XAVIER if xavier else _SCALING) if call is not None else None
        if call is None or bound is None:
            yield self.diagnostic(module, node, f"{old} is gone, and its arguments cannot be seen here")
            return
        uniform = _flag(bound.get("uniform"), default=xavier)
        found = tensorflow_root(module, node)
        signatures = _signatures(xavier, bound, bool(uniform))
        if uniform is None or found is None or signatures is None:
            yield self.diagnostic(module, node, f"{old} is gone; which Keras initializer fits depends on its arguments")
            return
        root, imports = found
        arguments = carried_over(module, call, signatures)
        if isinstance(arguments, str):
            yield self.diagnostic(module, node, f"{old} is gone and left as it is: {arguments}")
            return
        kind = "GlorotUniform" if xavier and uniform else "VarianceScaling"
        changes = [*imports, Replace(node, f"{root}.keras.initializers.{kind}"), *arguments]
        message = f"{old} is tf.keras.initializers.{kind} in TensorFlow 2"
        yield self.diagnostic(module, node, message, changes=changes, severity=Severity.INFO)


def _signatures(xavier: bool, bound: dict[str, ast.expr], uniform: bool) -> Optional[Signatures]:
    if xavier and uniform:
        return Signatures(_XAVIER, ("seed",), drop={"uniform": (True, False), "dtype": ()}, named=("seed",))
    if xavier:
        defaults = {"scale": f"{_WIDER:.10}", "mode": '"fan_avg"', "distribution": '"truncated_normal"'}
        dropped = {"uniform": (True, False), "dtype": ()}
        return Signatures(_XAVIER, ("seed",), drop=dropped, defaults=defaults, named=("seed",))
    mode = bound.get("mode")
    known = next((new for old, new in _MODES.items() if mode is not None and is_literal(mode, old)), None)
    if mode is not None and known is None:
        return None
    distribution = '"uniform"' if uniform else '"truncated_normal"'
    return Signatures(
        _SCALING,
        ("scale", "seed"),
        {"factor": "scale"},
        {"mode": (), "uniform": (True, False), "dtype": ()},
        {} if uniform else {"factor": f"{_WIDER:.10} * {{}}"},
        defaults={
            "scale": "2.0" if uniform else f"{2 * _WIDER:.10}",
            "mode": known or '"fan_in"',
            "distribution": distribution,
        },
        named=_SCALING,
    )


def _flag(node: Optional[ast.expr], default: bool) -> Optional[bool]:
    if node is None:
        return default
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, bool) else None
