"""What computes in Keras 3 something else than in Keras 2, and than TensorFlow 1 did, or does not run."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Container, Iterable, Iterator

from migrator.analyse.layers.sparselookups import LOOKUPS
from migrator.resolve.module import Module

Remark = tuple[Module, ast.AST, str]
_CONVOLUTION = re.compile(r"conv(?=\d|\w*_\dd|olution|_transpose)")
_VARIANCE = (
    "Keras 3 keeps the variance of a batch of images as it is, where Keras 2, as TensorFlow 1, multiplies it by n / (n - 1) "
    "for n pixels of the batch: evaluations differ by that"
)
_HARD_SIGMOID = (
    "hard_sigmoid, also where it is the recurrent activation by default, is clip(x / 6 + 0.5) with Keras 3, "
    "clip(0.2 x + 0.5) with Keras 2 and TensorFlow 1: install tf_keras, and set TF_USE_LEGACY_KERAS=1"
)
_SPARSE = "tf.nn.embedding_lookup_sparse takes no weights of Keras 3: install tf_keras, and set TF_USE_LEGACY_KERAS=1"
_RECURRENT = frozenset({"lstm", "gru", "lstmcell", "grucell", "convlstm2d"})


def otherwise(modules: Iterable[Module]) -> Iterator[Remark]:
    """What to know of the layers of a program, each where it is named first."""
    modules = list(modules)
    named = [
        (module, node, name.rpartition(".")[2].lower()) for module in modules for node, name in module.references()
    ]
    for module, node, name in named:
        if name == "hard_sigmoid" or (name in _RECURRENT and _is_hard(module, node)):
            yield module, node, _HARD_SIGMOID
            break
    if any(_CONVOLUTION.search(name) for _, _, name in named):
        normalized = ((m, node) for m, node, name in named if "batch_norm" in name or "batchnorm" in name)
        for module, node in normalized:
            yield module, node, _VARIANCE
            return


def sparse_lookups(modules: Iterable[Module], given: Container[ast.AST]) -> Iterator[Remark]:
    """Where weights may be looked up by sparse ids, first of all, which ends in an error, but for calls that are `given`
    variables of TensorFlow."""
    lookups = ((m, node) for m in modules for node, name in m.references() if name in LOOKUPS)
    told = ((module, node, _SPARSE) for module, node in lookups if module.parent(node) not in given)
    yield from itertools.islice(told, 1)


def _is_hard(module: Module, node: ast.AST) -> bool:
    """Whether a recurrent layer of Keras has the recurrent activation that it has in TensorFlow 1 by default."""
    name, call = module.resolve(node) or "", module.parent(node)
    if not name.startswith("tensorflow.keras.") or not isinstance(call, ast.Call) or call.func is not node:
        return False
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "recurrent_activation"), None)
    return given is None or (isinstance(given, ast.Constant) and given.value == "hard_sigmoid")
