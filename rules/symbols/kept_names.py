"""Names of `tf.compat.v1` that stay in programs for TensorFlow 2, and why: nothing that TensorFlow 2 has is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.engine.rule import Rule
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .tensorflow_names import VERSION_1, via_version_1_import

_FLAGS = "flags of absl are not read before they are parsed, as this program may do"
_LEVELS = "absl counts levels of logging otherwise, and ends a program at a fatal one"
_PIXELS = "tf.image.resize samples at the centres of pixels and gives other values"
_WHY = {
    "string_split": "tf.strings.split keeps empty parts, and splits at a whole text, not at each of its characters; where "
    "neither occurs, tf.strings.split(x, sep).to_sparse() is the same",
    "sparse_to_dense": "tf.sparse.to_dense wants a SparseTensor, with indices [n, rank] of int64",
    "saved_model.signature_def_utils.MethodNameUpdater": "nothing else says by which method clients of TensorFlow Serving call "
    "a signature; without such clients it may go",
    "train.SecondOrStepTimer": "the hooks that had such timers are gone; count steps in on_train_batch_end, where that will do",
    "div": "tf.math.divide and // give other results for numbers of some types",
    "Print": "tf.print prints at another time, and returns nothing",
    "image.resize_images": _PIXELS,
    "image.resize_bilinear": _PIXELS,
    "image.resize_bicubic": _PIXELS,
    "image.resize_nearest_neighbor": _PIXELS,
    "image.resize_area": _PIXELS,
    "sparse_merge": "nothing else joins ids and values to one SparseTensor",
    "flags": _FLAGS,
    "logging": _LEVELS,
}
"""Reasons, by the names below `tf.compat.v1` or the first part of those."""


def may_stay(name: str) -> bool:
    """Whether there is something to say of a name where it stays; without ``tensorflow.``."""
    return (
        name in _WHY or name.removeprefix("app.").partition(".")[0] in _WHY
    )  # `tf.app.flags` becomes `tf.compat.v1.flags`


class KeptName(Rule):
    """Say why a name of `tf.compat.v1` stays.

    ## What it does
    Tells, once for each file and name, what the name does that nothing of TensorFlow 2 does; it changes nothing.

    ## Why
    TensorFlow 2 has these names, and programs may keep them. An owner who knows more of the data may do without.

    ## Example
    ```python
    parts = tf.compat.v1.string_split(lines, ",")
    ```
    is told of, as `tf.strings.split` keeps empty parts.

    ## Fix safety
    There is no fix.
    """

    code = "EST014"
    name = "kept-name"

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each such name, at its first place."""
        told: set[str] = set()
        for node, name in module.references() if b"compat.v1." in module.source else ():
            short = name.partition(".")[2]
            key = short if short in _WHY else short.partition(".")[0]
            if key not in _WHY or key in told or not _is_spelled(module, node):
                continue
            told.add(key)
            message = f"tf.compat.v1.{short} stays: {_WHY[key]}"
            yield self.diagnostic(module, node, message, severity=Severity.INFO)


def _is_spelled(module: Module, node: ast.expr) -> bool:
    """Whether a reference says `compat.v1` itself."""
    whole = all(name.startswith(f"{VERSION_1}.") for name in module.raw_names(node))
    return whole and not via_version_1_import(module, node)
