"""Losses of labels and logits as `compile` takes them: the mean, or the sum, of a loss that Keras computes alike.

Labels may go without what Keras does to them by itself: it casts them, and gives labels [n] and outputs [n, 1] one rank.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.results.compiled import CompiledLoss, Reading

_TAIL = "weights scope loss_collection reduction"
_SMOOTHED = "weights label_smoothing scope loss_collection reduction"
_WITH_LOGITS = "_sentinel labels logits"
# Function: its signature, the arguments with labels and output, the loss of Keras.
_REDUCED: dict[str, tuple[str, str, str, str]] = {
    "sparse_softmax_cross_entropy": (f"labels logits {_TAIL}", "labels", "logits", "SparseCategoricalCrossentropy"),
    "softmax_cross_entropy": (
        f"onehot_labels logits {_SMOOTHED}", "onehot_labels", "logits", "CategoricalCrossentropy",
    ),
    "sigmoid_cross_entropy": (
        f"multi_class_labels logits {_SMOOTHED}", "multi_class_labels", "logits", "BinaryCrossentropy",
    ),
    "mean_squared_error": (f"labels predictions {_TAIL}", "labels", "predictions", "mse"),
    "absolute_difference": (f"labels predictions {_TAIL}", "labels", "predictions", "mae"),
    "huber_loss": (
        "labels predictions weights delta scope loss_collection reduction", "labels", "predictions", "Huber",
    ),
}  # fmt: skip
_ELEMENTS: dict[str, tuple[str, str]] = {
    "sparse_softmax_cross_entropy_with_logits": (f"{_WITH_LOGITS} name", "SparseCategoricalCrossentropy"),
    "softmax_cross_entropy_with_logits": (f"{_WITH_LOGITS} dim name axis", "CategoricalCrossentropy"),
    "softmax_cross_entropy_with_logits_v2": ("labels logits axis name dim", "CategoricalCrossentropy"),
    "sigmoid_cross_entropy_with_logits": (f"{_WITH_LOGITS} name", "BinaryCrossentropy"),
}
_MEANS = frozenset({"SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_NONZERO_WEIGHTS", "SUM_OVER_BATCH_SIZE", "MEAN"})
_PER_EXAMPLE = frozenset({"SparseCategoricalCrossentropy", "CategoricalCrossentropy"})
"""Losses with one value for each example. Of the others Keras takes the mean over the last axis first, also for a sum."""
_ON_LOGITS = _PER_EXAMPLE | {"BinaryCrossentropy"}


def compiled_loss(given: Reading) -> CompiledLoss | None:
    """The loss for `compile` that an expression stands for."""
    given = given.behind()
    node = given.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for loss, term in ((node.left, node.right), (node.right, node.left)):
            found = compiled_loss(given.part(loss))
            if found is not None and not found.regularized and _is_penalty(given.part(term)):
                return replace(found, regularized=True)
        return None
    if not isinstance(node, ast.Call):
        return None
    package, _, short = (given.function or "").rpartition(".")
    try:
        if package == "tensorflow.losses" and short in _REDUCED:
            return _reduced(given, node, short)
        if package in ("tensorflow", "tensorflow.math") and short in ("reduce_mean", "reduce_sum"):
            values = bind(node, "input_tensor axis keepdims name", short)
            if not set(values) <= {"input_tensor", "name"}:
                return None
            return loss_of_elements(given.part(values["input_tensor"]).behind(), short == "reduce_sum")
    except Unsupported:
        return None
    return None


def _is_penalty(term: Reading) -> bool:
    """Whether a term is the sum of what the layers keep; it is noted only then which statements it comes from."""
    behind = term.apart().behind()
    if not behind.sums_regularizers:
        return False
    term.behind()
    return True


def _reduced(given: Reading, call: ast.Call, short: str) -> CompiledLoss | None:
    """A function of ``tf.losses``."""
    signature, labels, output, keras = _REDUCED[short]
    values = bind(call, signature, short)
    weights, reduction = values.get("weights"), values.get("reduction")
    if not (weights is None or isinstance(weights, ast.Constant) and weights.value in (1, 1.0)):
        return None
    name = "MEAN" if is_none(reduction) or reduction is None else (given.resolve(reduction) or "").rpartition(".")[2]
    if name not in _MEANS | {"SUM"} or "loss_collection" in values or not {labels, output} <= set(values):
        return None
    options: dict[str, ast.expr] = {key: values[key] for key in ("label_smoothing", "delta") if key in values}
    return _loss(given.part(values[labels]), given.part(values[output]), keras, name == "SUM", options)


def loss_of_elements(given: Reading, summed: bool = False) -> CompiledLoss | None:
    """The losses of all elements, of which the program takes the mean or the sum. Raises Unsupported."""
    package, _, short = (given.function or "").rpartition(".")
    if package != "tensorflow.nn" or short not in _ELEMENTS or not isinstance(given.node, ast.Call):
        return None
    signature, keras = _ELEMENTS[short]
    values = bind(given.node, signature, short)
    if not set(values) <= {"labels", "logits", "name"} or not {"labels", "logits"} <= set(values):
        return None
    return _loss(given.part(values["labels"]), given.part(values["logits"]), keras, summed, {})


def _loss(
    labels: Reading, output: Reading, keras: str, summed: bool, options: dict[str, ast.expr]
) -> CompiledLoss | None:
    """The loss, where it is one of the labels and of what `call` returns."""
    output = output.behind()
    if not output.is_output or (summed and keras not in _PER_EXAMPLE):
        return None
    if keras in _ON_LOGITS and output.comes_from_activation():
        return None
    if not all(labels.part(value).is_fixed for value in options.values()):
        return None
    plain = {name: value for name, value in options.items() if not _is_default(name, value)}
    if keras == "CategoricalCrossentropy" and not plain:
        numbers = _one_hot(labels)
        if numbers is not None:
            labels, keras = numbers, "SparseCategoricalCrossentropy"
    if not are_labels(labels, whole=keras == "SparseCategoricalCrossentropy"):
        return None
    logits = [("from_logits", ast.Constant(True))] if keras in _ON_LOGITS else []
    return CompiledLoss(keras, (*logits, *plain.items()), summed)


def _is_default(name: str, value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == {"label_smoothing": 0, "delta": 1}[name]


def _one_hot(labels: Reading) -> Reading | None:
    """The classes of which the labels are the one-hot rows, in single precision."""
    labels = _uncast(labels, ("float32",))
    if labels.function != "tensorflow.one_hot" or not isinstance(labels.node, ast.Call):
        return None
    values = bind(labels.node, "indices depth on_value off_value axis dtype name", "one_hot")
    kind = values.get("dtype")
    if kind is not None and labels.resolve(kind) != "tensorflow.float32":
        return None
    if not set(values) <= {"indices", "depth", "dtype", "name"} or "indices" not in values:
        return None
    return labels.part(values["indices"])


def _uncast(value: Reading, kinds: tuple[str, ...]) -> Reading:
    """What is cast to one of these types, which Keras does by itself."""
    value = value.behind()
    while isinstance(value.node, ast.Call) and value.node.args:
        name, target = value.function, next((k.value for k in value.node.keywords if k.arg == "dtype"), None)
        if name in ("tensorflow.cast", "tensorflow.saturate_cast"):
            target = value.node.args[1] if len(value.node.args) > 1 else target
            kind = (value.resolve(target) or "").rpartition(".")[2] if target is not None else ""
        else:
            kind = {
                "tensorflow.to_float": "float32",
                "tensorflow.to_int32": "int32",
                "tensorflow.to_int64": "int64",
            }.get(name or "", "")
        if kind not in kinds:
            break
        value = value.part(value.node.args[0]).behind()
    return value


def are_labels(value: Reading, whole: bool) -> bool:
    """Whether a value is the labels but for their type and a last axis of one; `whole`: numbers of classes."""
    kinds = ("int32", "int64") if whole else ("float32",)
    for _ in range(4):
        value = _uncast(value, kinds)
        if value.is_labels:
            return True
        if not isinstance(value.node, ast.Call):
            return False
        short = (value.function or "").rpartition(".")[2]
        if value.function not in ("tensorflow.expand_dims", "tensorflow.reshape", "tensorflow.squeeze"):
            return False
        values = bind(
            value.node, {"reshape": "tensor shape name"}.get(short, "input axis name squeeze_dims dim"), short
        )
        changed = next(iter(values.values()))
        last = next((ast.unparse(values[key]) for key in ("axis", "dim", "squeeze_dims", "shape") if key in values), "")
        wanted = {
            ("expand_dims", False): ("1", "-1"),
            ("reshape", False): ("[-1, 1]", "(-1, 1)"),
            ("reshape", True): ("[-1]", "-1", "(-1,)"),
            ("squeeze", True): ("1", "-1", "[1]", "[-1]"),
        }.get((short, whole), ())
        if last not in wanted or (short == "reshape" and value.output_may_be_flattened):
            return False
        value = value.part(changed)
    return False
