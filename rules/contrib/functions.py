"""Functions of `tf.contrib.metrics` and `tf.contrib.losses` that are those of `tf.metrics` and `tf.losses` in another order.

What each of them calls is that of TensorFlow 1.15, contrib/metrics/python/ops/metric_ops.py and
contrib/losses/python/losses/loss_ops.py.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, expr, with_arguments

from ..symbols.tensorflow_names import PLAIN, VERSION_1, root_name, whole_name

_TAIL = "weights metrics_collections updates_collections name"
_PAIR = f"predictions labels {_TAIL}"
_AT = f"predictions labels thresholds {_TAIL}"
_AT_K = f"predictions labels k class_id {_TAIL}"
_PLAIN = (
    "true_positives true_negatives false_positives false_negatives accuracy precision recall mean_absolute_error "
    "mean_squared_error root_mean_squared_error"
).split()
# Name after `streaming_`: the function of `tf.metrics`, and the parameters of that of `tf.contrib`.
_STREAMING = {
    **{name: (name, _PAIR) for name in _PLAIN},
    "mean": ("mean", f"values {_TAIL}"),
    "mean_tensor": ("mean_tensor", f"values {_TAIL}"),
    "percentage_less": ("percentage_below", f"values threshold {_TAIL}"),
    "mean_relative_error": ("mean_relative_error", f"predictions labels normalizer {_TAIL}"),
    "mean_cosine_distance": ("mean_cosine_distance", f"predictions labels dim {_TAIL}"),
    "mean_iou": ("mean_iou", f"predictions labels num_classes {_TAIL}"),
    "auc": ("auc", "predictions labels weights num_thresholds metrics_collections updates_collections curve name"),
    "precision_at_thresholds": ("precision_at_thresholds", _AT),
    "recall_at_thresholds": ("recall_at_thresholds", _AT),
    "sparse_precision_at_k": ("precision_at_k", _AT_K),
    "sparse_recall_at_k": ("recall_at_k", _AT_K),
    "sparse_average_precision_at_k": ("average_precision_at_k", f"predictions labels k {_TAIL}"),
    **{
        f"{one}_at_{other}": (
            f"{one}_at_{other}",
            f"predictions labels {other} weights num_thresholds metrics_collections updates_collections name",
        )
        for one, other in (("sensitivity", "specificity"), ("specificity", "sensitivity"))
    },
}
# The function of `tf.losses`, and the parameters of that of `tf.contrib`, which is of the same name.
_LOSSES = {
    **{name: f"{name} predictions labels weights scope" for name in ("absolute_difference", "mean_squared_error")},
    "log_loss": "log_loss predictions labels weights epsilon scope",
    "cosine_distance": "cosine_distance predictions labels axis weights scope dim",
    "sigmoid_cross_entropy": "sigmoid_cross_entropy logits multi_class_labels weights label_smoothing scope",
    "softmax_cross_entropy": "softmax_cross_entropy logits onehot_labels weights label_smoothing scope",
    "sparse_softmax_cross_entropy": "sparse_softmax_cross_entropy logits labels weights scope",
    "compute_weighted_loss": "compute_weighted_loss losses weights scope",
    "add_loss": "add_loss loss loss_collection",
    "get_losses": "get_losses scope loss_collection",
    "get_regularization_losses": "get_regularization_losses scope",
    "get_total_loss": "get_total_loss add_regularization_losses name",
}
_OF_EXAMPLES = frozenset({"softmax_cross_entropy", "sparse_softmax_cross_entropy"})
_PACKAGES = ("tensorflow.contrib.", "tensorflow.contrib.slim.")


def successor(module: Module, call: ast.Call) -> tuple[str, dict[int, str]] | None:
    """The function that a call is of in truth, such as ``metrics.accuracy``, and the names of its arguments; None for
    other calls. Raises Unsupported where the arguments are hidden, or mean something else there."""
    package, _, short = (module.resolve(call.func) or "").rpartition(".")
    if package in [f"{start}metrics" for start in _PACKAGES] and short.startswith("streaming_"):
        name, signature = _STREAMING.get(short[len("streaming_") :], ("", ""))
        target = f"metrics.{name}"
    elif package in [f"{start}losses" for start in _PACKAGES]:
        name, _, signature = _LOSSES.get(short, "").partition(" ")
        target = f"losses.{name}"
    else:
        return None
    if not name:
        return None
    given = bind(call, signature, (module.resolve(call.func) or "").replace("tensorflow", "tf", 1))
    weights = given.get("weights")
    if target.startswith("losses.") and name not in _OF_EXAMPLES:
        if weights is not None and not isinstance(weights, ast.Constant):
            raise Unsupported("weights of tf.contrib.losses broadcast otherwise than those of tf.losses", weights)
    names = {id(value): parameter for parameter, value in given.items()}
    return target, {place: names[id(value)] for place, value in enumerate(call.args)}


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The call as one of `tf.metrics` or `tf.losses`; nothing for other calls. Raises Unsupported.

    ```python
    import tensorflow as tf


    def metrics(classes, labels):
        return {"accuracy": tf.contrib.metrics.streaming_accuracy(classes, labels)}
    ```
    becomes
    ```python
    import tensorflow as tf


    def metrics(classes, labels):
        return {"accuracy": tf.metrics.accuracy(predictions=classes, labels=labels)}
    ```
    """
    try:
        found = successor(module, call)
    except Unsupported as problem:
        raise Unsupported(problem.reason, call) from problem
    if found is None:
        return []
    name, named = found
    tf = whole_name(module)
    if tf is None and module.raw_names(root_name(call.func)) <= PLAIN | {VERSION_1}:
        tf = root_name(call.func).id
    if tf is None:
        raise Unsupported("the file has no name for TensorFlow as a whole", call)
    new = with_arguments(module.cst.call(call), named=named)
    return Change.of(module, Replace(call.func, expr(f"{tf}.{name}")), Replace(call, new))
