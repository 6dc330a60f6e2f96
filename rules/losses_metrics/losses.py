"""`tf.losses.*` inside a model_fn: the loss of each element, and its reduction written out.

The default reduction of TF1 divides by the number of weights that are not zero; without weights that is the plain mean.
Keras loss objects divide a weighted loss by all elements, and refuse to run under a strategy outside of `compile`.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, format_call, is_none, operand

_TAIL = "weights scope loss_collection reduction"
# Function: signature, labels argument, predictions argument, text of one loss per element.
_LOSSES: dict[str, tuple[str, str, str, str]] = {
    "sparse_softmax_cross_entropy": (
        f"labels logits {_TAIL}", "labels", "logits",
        "{tf}.keras.losses.sparse_categorical_crossentropy({y}, {p}, from_logits=True)",
    ),
    "softmax_cross_entropy": (
        "onehot_labels logits weights label_smoothing scope loss_collection reduction", "onehot_labels", "logits",
        "{tf}.nn.softmax_cross_entropy_with_logits(labels={y}, logits={p})",
    ),
    "sigmoid_cross_entropy": (
        "multi_class_labels logits weights label_smoothing scope loss_collection reduction", "multi_class_labels",
        "logits", "{tf}.nn.sigmoid_cross_entropy_with_logits(labels={y}, logits={p})",
    ),
    "mean_squared_error": (
        f"labels predictions {_TAIL}", "labels", "predictions", "{tf}.math.squared_difference({p}, {y})",
    ),
    "absolute_difference": (f"labels predictions {_TAIL}", "labels", "predictions", "{tf}.abs({p} - {y})"),
    "huber_loss": (
        "labels predictions weights delta scope loss_collection reduction", "labels", "predictions",
        "{tf}.keras.losses.huber({tf}.expand_dims({y}, -1), {tf}.expand_dims({p}, -1){delta})",  # of each element
    ),
    "hinge_loss": (f"labels logits {_TAIL}", "labels", "logits", "{tf}.nn.relu(1.0 - (2.0 * {y} - 1.0) * {p})"),
    "log_loss": (
        "labels predictions weights epsilon scope loss_collection reduction", "labels", "predictions",
        "{log}({y}, {p}{epsilon})",
    ),
    "cosine_distance": (
        "labels predictions axis weights scope loss_collection reduction dim", "labels", "predictions",
        "1.0 - {tf}.reduce_sum({y} * {p}, axis={axis}, keepdims=True)",
    ),
}  # fmt: skip
_TO_FLOAT = frozenset(
    {"softmax_cross_entropy", "sigmoid_cross_entropy", "mean_squared_error", "absolute_difference", "hinge_loss"}
)
_SMOOTHED = {
    "softmax_cross_entropy": "{tf}.keras.losses.categorical_crossentropy({y}, {p}, from_logits=True, label_smoothing={s})",
    "sigmoid_cross_entropy": (
        "{tf}.nn.sigmoid_cross_entropy_with_logits(labels={y} * (1.0 - {s}) + 0.5 * {s}, logits={p})"
    ),
}


def loss(short: str) -> Expression:
    """The translation of one function of `tf.losses`."""

    def translate(call: ast.Call, writing: Writing) -> str | None:
        signature, labels, predictions, element = _LOSSES[short]
        given = bind(call, signature, f"tf.losses.{short}")
        if labels not in given or predictions not in given:
            raise Unsupported(f"tf.losses.{short} without {labels} or {predictions}", call)
        smoothing = given.get("label_smoothing")
        if smoothing is not None and not (isinstance(smoothing, ast.Constant) and smoothing.value == 0):
            element = _SMOOTHED[short]
        if short == "sparse_softmax_cross_entropy" and writing.may_come_from(given[predictions], ("softmax",)):
            # The Keras function would look through the softmax; TF1 takes it twice.
            element = "{tf}.nn.sparse_softmax_cross_entropy_with_logits(labels={y}, logits={p})"
        y = operand(given[labels], writing)
        if short in _TO_FLOAT and not _is_float(given[labels], writing):
            y = f"{writing.tf}.cast({writing.text(given[labels])}, {writing.tf}.float32)"
        if short == "huber_loss" and _is_mean(given, writing):
            element = "{tf}.keras.losses.huber({y}, {p}{delta})"  # of each row, which leaves the mean of all as it is
        parts = {"y": y, "p": operand(given[predictions], writing)}
        if short == "huber_loss":  # they are arguments
            parts = {"y": writing.text(given[labels]), "p": writing.text(given[predictions])}
        losses = element.format(
            tf=writing.tf,
            **parts,
            s=_smoothing(smoothing, short, writing),
            delta=f", {writing.text(given['delta'])}" if "delta" in given else "",
            epsilon=f", {writing.text(given['epsilon'])}" if "epsilon" in given else "",
            axis=writing.text(given.get("axis", given.get("dim", "-1"))),
            log=writing.need("elementwise_log_loss") if short == "log_loss" else "",
        )
        drops_axis = short == "sparse_softmax_cross_entropy"
        return _reduced(losses, given.get("weights"), _reduction(given.get("reduction"), writing), writing, drops_axis)

    return translate


def _is_mean(given: dict[str, ast.expr], writing: Writing) -> bool:
    """Whether a loss is the plain mean over all elements."""
    weights = given.get("weights")
    one = weights is None or (isinstance(weights, ast.Constant) and weights.value in (1, 1.0))
    return one and _reduction(given.get("reduction"), writing) not in ("SUM", "NONE")


def _smoothing(node: ast.expr | None, short: str, writing: Writing) -> str:
    if node is None:
        return ""
    return operand(node, writing) if short == "sigmoid_cross_entropy" else writing.text(node)


def compute_weighted_loss(call: ast.Call, writing: Writing) -> str:
    """The reduction of losses that the program computed itself."""
    given = bind(call, f"losses {_TAIL}", "tf.losses.compute_weighted_loss")
    if "losses" not in given:
        raise Unsupported("tf.losses.compute_weighted_loss without losses", call)
    return _reduced(
        operand(given["losses"], writing), given.get("weights"), _reduction(given.get("reduction"), writing), writing
    )


def mean_pairwise_squared_error(call: ast.Call, writing: Writing) -> str:
    """A loss without a reduction."""
    name = "mean_pairwise_squared_error"
    given = bind(call, "labels predictions weights scope loss_collection", f"tf.losses.{name}")
    if "labels" not in given or "predictions" not in given:
        raise Unsupported(f"tf.losses.{name} without labels or predictions", call)
    arguments = [(None, writing.text(given[n])) for n in ("labels", "predictions")]
    weights = [("weights", writing.text(given["weights"]))] if "weights" in given else []
    return format_call(writing.need(name), [*arguments, *weights])


def dense_to_sparse(call: ast.Call, writing: Writing) -> str:
    """The sparse labels of `tf.contrib.layers`."""
    given = bind(call, "tensor eos_token outputs_collections scope", "dense_to_sparse")
    if "outputs_collections" in given:
        raise Unsupported("dense_to_sparse with collections is not migrated yet", given["outputs_collections"])
    arguments: list[tuple[str | None, str]] = [(None, writing.text(given["tensor"]))]
    arguments += [("eos_token", writing.text(given["eos_token"]))] if "eos_token" in given else []
    return format_call(writing.need("dense_to_sparse"), arguments)


def sequence_loss(call: ast.Call, writing: Writing) -> str:
    """The loss of `tf.contrib.seq2seq`."""
    signature = (
        "logits targets weights average_across_timesteps average_across_batch sum_over_timesteps sum_over_batch "
        "softmax_loss_function"
    )
    given = bind(call, f"{signature} name", "sequence_loss")
    given.pop("name", None)
    positional = {id(a) for a in call.args}
    arguments = [(None if id(node) in positional else name, writing.text(node)) for name, node in given.items()]
    return format_call(writing.need("sequence_loss"), arguments)


def _is_float(node: ast.expr, writing: Writing) -> bool:
    """Whether labels are seen to be floats: ``tf.one_hot(…)``, ``tf.cast(…, tf.float32)``."""
    node = writing.followed(node)
    if not isinstance(node, ast.Call):
        return False
    name = writing.resolve(node.func) or ""
    if name == "tensorflow.one_hot":
        return not any(k.arg == "dtype" for k in node.keywords) and len(node.args) <= 5
    if name == "tensorflow.cast":
        target = (
            node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "dtype"), None)
        )
        return target is not None and writing.resolve(target) == "tensorflow.float32"
    return name == "tensorflow.to_float"


def _reduced(losses: str, given: ast.expr | None, reduction: str, writing: Writing, drops_axis: bool = False) -> str:
    """The losses of the elements, weighted and reduced; `drops_axis`: weights of one rank more lose their last axis."""
    tf = writing.tf
    if given is None or (isinstance(given, ast.Constant) and given.value in (1, 1.0)):
        alone = f"({losses})" if losses.startswith("1.0 -") else losses
        by_name = {"SUM": f"{tf}.reduce_sum({losses})", "NONE": alone}
        return by_name.get(reduction, f"{tf}.reduce_mean({losses})")
    if reduction in ("SUM_BY_NONZERO_WEIGHTS", "SUM_OVER_NONZERO_WEIGHTS") and not _is_number(given):
        return format_call(writing.need("mean_by_nonzero_weights"), [(None, losses), (None, writing.text(given))])
    if reduction == "MEAN":
        return format_call(writing.need("mean_by_total_weight"), [(None, losses), (None, writing.text(given))])
    weights = operand(given, writing)
    if drops_axis and not isinstance(given, ast.Constant):
        weights = format_call(writing.need("broadcast_weights"), [(None, losses), (None, writing.text(given))])
    weighted = f"({losses}) * {weights}" if losses.startswith("1.0 -") else f"{losses} * {weights}"
    if reduction == "NONE":
        return f"({weighted})"
    return f"{tf}.{'reduce_sum' if reduction == 'SUM' else 'reduce_mean'}({weighted})"


def _is_number(weight: ast.expr) -> bool:
    """Whether each element has one weight, which is not zero: the mean of these is that of all."""
    return isinstance(weight, ast.Constant) and isinstance(weight.value, (int, float)) and bool(weight.value)


def _reduction(node: ast.expr | None, writing: Writing) -> str:
    if is_none(node) or node is None:
        return "SUM_BY_NONZERO_WEIGHTS"
    name = writing.resolve(node) or ""
    if ".Reduction." not in name:
        raise Unsupported("the reduction of a loss is not seen", node)
    return name.rsplit(".", 1)[1]


EXPRESSIONS: dict[str, Expression] = {
    **{f"tensorflow.losses.{short}": loss(short) for short in _LOSSES},
    "tensorflow.losses.compute_weighted_loss": compute_weighted_loss,
    "tensorflow.losses.mean_pairwise_squared_error": mean_pairwise_squared_error,
    "tensorflow.contrib.layers.dense_to_sparse": dense_to_sparse,
    "tensorflow.contrib.seq2seq.sequence_loss": sequence_loss,
}
