"""`tf.losses.*` inside a model_fn.

The default reduction of TF1 divides by the number of weights that are not zero. Without weights that is the plain mean, which is
what a Keras loss object computes; with weights Keras divides by all elements, so the reduction is written out.
"""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Expression, Writing, bind, format_call, is_none

_TAIL = "weights scope loss_collection reduction"
# Function: signature, labels argument, predictions argument, Keras class and its arguments, text of one loss per element.
_LOSSES: dict[str, tuple[str, str, str, str, str]] = {
    "sparse_softmax_cross_entropy": (
        f"labels logits {_TAIL}", "labels", "logits", "SparseCategoricalCrossentropy(from_logits=True)",
        "{tf}.keras.losses.sparse_categorical_crossentropy({y}, {p}, from_logits=True)",
    ),
    "softmax_cross_entropy": (
        "onehot_labels logits weights label_smoothing scope loss_collection reduction", "onehot_labels", "logits",
        "CategoricalCrossentropy(from_logits=True{smoothing})",
        "{tf}.keras.losses.categorical_crossentropy({y}, {p}, from_logits=True{smoothing})",
    ),
    "sigmoid_cross_entropy": (
        "multi_class_labels logits weights label_smoothing scope loss_collection reduction", "multi_class_labels",
        "logits", "BinaryCrossentropy(from_logits=True{smoothing})",
        "{tf}.nn.sigmoid_cross_entropy_with_logits(labels={tf}.cast({y}, {tf}.float32), logits={p})",
    ),
    "mean_squared_error": (
        f"labels predictions {_TAIL}", "labels", "predictions", "MeanSquaredError()",
        "{tf}.math.squared_difference({p}, {tf}.cast({y}, {tf}.float32))",
    ),
    "absolute_difference": (
        f"labels predictions {_TAIL}", "labels", "predictions", "MeanAbsoluteError()",
        "{tf}.abs({p} - {tf}.cast({y}, {tf}.float32))",
    ),
    "huber_loss": (
        "labels predictions weights delta scope loss_collection reduction", "labels", "predictions",
        "Huber({delta})", "{huber}({y}, {p}{delta_after})",
    ),
    "hinge_loss": (
        f"labels logits {_TAIL}", "labels", "logits", "Hinge()",
        "{tf}.nn.relu(1.0 - (2.0 * {tf}.cast({y}, {tf}.float32) - 1.0) * {p})",
    ),
    "log_loss": (
        "labels predictions weights epsilon scope loss_collection reduction", "labels", "predictions", "",
        "{log}({y}, {p}{epsilon})",
    ),
    "cosine_distance": (
        "labels predictions axis weights scope loss_collection reduction dim", "labels", "predictions", "",
        "1.0 - {tf}.reduce_sum({y} * {p}, axis={axis}, keepdims=True)",
    ),
}  # fmt: skip


def loss(short: str) -> Expression:
    """The translation of one function of `tf.losses`."""

    def translate(call: ast.Call, writing: Writing) -> str | None:
        signature, labels, predictions, keras, element = _LOSSES[short]
        given = bind(call, signature, f"tf.losses.{short}")
        if labels not in given or predictions not in given:
            raise Unsupported(f"tf.losses.{short} without {labels} or {predictions}", call)
        smoothing = given.get("label_smoothing")
        smooth = not (smoothing is None or isinstance(smoothing, ast.Constant) and smoothing.value == 0)
        delta = writing.text(given["delta"]) if "delta" in given else ""
        parts = {
            "tf": writing.tf,
            "y": writing.text(given[labels]),
            "p": writing.text(given[predictions]),
            "smoothing": f", label_smoothing={writing.text(smoothing)}" if smooth and smoothing is not None else "",
            "delta": f"delta={delta}" if delta else "",
            "delta_after": f", {delta}" if delta else "",
            "epsilon": f", {writing.text(given['epsilon'])}" if "epsilon" in given else "",
            "axis": writing.text(given.get("axis", given.get("dim", "-1"))),
            "huber": "elementwise_huber_loss",
            "log": "elementwise_log_loss",
        }
        reduction = _reduction(given.get("reduction"), writing)
        weights = given.get("weights")
        plain = weights is None or isinstance(weights, ast.Constant) and weights.value in (1, 1.0)
        if plain and keras and reduction in ("SUM_BY_NONZERO_WEIGHTS", "MEAN", "SUM_OVER_BATCH_SIZE"):
            return f"{writing.tf}.keras.losses.{keras.format(**parts)}({parts['y']}, {parts['p']})"
        if short == "sigmoid_cross_entropy" and smooth:
            raise Unsupported("sigmoid_cross_entropy with weights and label_smoothing is not migrated yet", call)
        for key in ("huber", "log"):
            if "{" + key + "}" in element:
                writing.need(parts[key])
        return _reduced(
            element.format(**parts), None if plain or weights is None else writing.text(weights), reduction, writing
        )

    return translate


def _reduced(losses: str, weights: str | None, reduction: str, writing: Writing) -> str:
    tf = writing.tf
    if weights is None:
        by_name = {"SUM": f"{tf}.reduce_sum({losses})", "NONE": losses}
        return by_name.get(reduction, f"{tf}.reduce_mean({losses})")
    if reduction in ("SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_NONZERO_WEIGHTS"):
        return format_call(writing.need("mean_by_nonzero_weights"), [(None, losses), (None, weights)])
    if reduction == "MEAN":
        return format_call(writing.need("mean_by_total_weight"), [(None, losses), (None, weights)])
    weighted = f"({losses}) * {weights}" if losses.startswith("1.0 -") else f"{losses} * {weights}"
    if reduction == "NONE":
        return weighted
    return f"{tf}.{'reduce_sum' if reduction == 'SUM' else 'reduce_mean'}({weighted})"


def _reduction(node: ast.expr | None, writing: Writing) -> str:
    if is_none(node) or node is None:
        return "SUM_BY_NONZERO_WEIGHTS"
    name = writing.resolve(node) or ""
    if ".Reduction." not in name:
        raise Unsupported("the reduction of a loss is not seen", node)
    return name.rsplit(".", 1)[1]


def regularization_loss(call: ast.Call, writing: Writing) -> str:
    """The sum of what the layers' regularizers ask for."""
    return f"{writing.tf}.add_n(self.losses)" if writing.fact("regularized") else "0.0"


def regularization_losses(call: ast.Call, writing: Writing) -> str:
    """The list of regularization terms."""
    return "self.losses"


def collection(call: ast.Call, writing: Writing) -> str:
    """``tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)``; other collections have no counterpart."""
    key = call.args[0] if call.args else None
    name = (writing.resolve(key) or "") if key is not None else ""
    literal = key.value if isinstance(key, ast.Constant) else None
    if name.endswith(".REGULARIZATION_LOSSES") or literal == "regularization_losses":
        return "self.losses"
    raise Unsupported("this graph collection has no counterpart in Keras", call)


EXPRESSIONS: dict[str, Expression] = {
    **{f"tensorflow.losses.{short}": loss(short) for short in _LOSSES},
    "tensorflow.losses.get_regularization_loss": regularization_loss,
    "tensorflow.losses.get_regularization_losses": regularization_losses,
    "tensorflow.get_collection": collection,
}
