"""Heads of Estimators, and how a loss is reduced."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Resolve, Value, bind, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.rewrite import Change, Replace, code, with_arguments
from migrator.vocabulary.diagnostics import Edit

if TYPE_CHECKING:
    import libcst as cst

# Names of tf.losses.Reduction and tf.keras.losses.Reduction, and their values as text.
_REDUCTIONS = {
    "SUM": "sum",
    "SUM_OVER_BATCH_SIZE": "sum_over_batch_size",
    "SUM_BY_NONZERO_WEIGHTS": "sum_by_nonzero_weights",
    "SUM_OVER_NONZERO_WEIGHTS": "sum_by_nonzero_weights",
    "MEAN": "mean",
    "AUTO": "sum_over_batch_size",
    "sum": "sum",
    "weighted_sum": "sum",
    "sum_over_batch_size": "sum_over_batch_size",
    "weighted_sum_over_batch_size": "sum_over_batch_size",
    "weighted_sum_by_nonzero_weights": "sum_by_nonzero_weights",
    "weighted_mean": "mean",
}
CONTRIB = "tensorflow.contrib.estimator."
ROOTS = ("tensorflow.python.estimator", "tensorflow_estimator.python.estimator", "tensorflow_estimator.estimator")
"""Where the private names of Estimators are found."""
_EITHER = "class_head"
"""Of two classes or more, as `n_classes` says."""
_PRIVATE = {
    "_binary_logistic_head_with_sigmoid_cross_entropy_loss": "BinaryClassHead",
    "_multi_class_head_with_softmax_cross_entropy_loss": "MultiClassHead",
    "_binary_logistic_or_multi_class_head": _EITHER,
    "_regression_head": "RegressionHead",
}
"""Functions behind canned Estimators of TensorFlow 1, and what they become."""
HEADS = {
    "tensorflow.estimator.BinaryClassHead": "BinaryClassHead",
    "tensorflow.estimator.MultiClassHead": "MultiClassHead",
    "tensorflow.estimator.RegressionHead": "RegressionHead",
    "tensorflow.estimator.MultiLabelHead": "MultiLabelHead",
    "tensorflow.estimator.PoissonRegressionHead": "poisson_regression_head",
    "tensorflow.estimator.LogisticRegressionHead": "logistic_regression_head",
    f"{CONTRIB}binary_classification_head": "BinaryClassHead",
    f"{CONTRIB}multi_class_head": "MultiClassHead",
    f"{CONTRIB}regression_head": "RegressionHead",
    f"{CONTRIB}multi_label_head": "MultiLabelHead",
    f"{CONTRIB}poisson_regression_head": "poisson_regression_head",
    f"{CONTRIB}logistic_regression_head": "logistic_regression_head",
    **{f"{root}.canned.head.{name}": helper for root in ROOTS for name, helper in _PRIVATE.items()},
}
"""Heads, and what they become."""
SEVERAL = frozenset({f"{CONTRIB}multi_head", "tensorflow.estimator.MultiHead"})
"""Heads that are made of others."""
SEVERAL_SIGNATURE = "heads head_weights"
_MULTI_LABEL = "classes_for_class_based_metrics name"
_SIGNATURES = {
    "BinaryClassHead": "weight_column thresholds label_vocabulary loss_reduction loss_fn name",
    "MultiClassHead": "n_classes weight_column label_vocabulary loss_reduction loss_fn name",
    "MultiLabelHead": f"n_classes weight_column thresholds label_vocabulary loss_reduction loss_fn {_MULTI_LABEL}",
    "RegressionHead": "label_dimension weight_column loss_reduction loss_fn inverse_link_fn name",
    "PoissonRegressionHead": "label_dimension weight_column loss_reduction compute_full_loss name",
    "regression_head": "weight_column label_dimension loss_reduction loss_fn inverse_link_fn name",
    "poisson_regression_head": "weight_column label_dimension loss_reduction compute_full_loss name",
    "logistic_regression_head": "weight_column loss_reduction name",
    "_regression_head": "weight_column label_dimension loss_reduction loss_fn inverse_link_fn name",
    "_binary_logistic_or_multi_class_head": "n_classes weight_column label_vocabulary loss_reduction",
}
_GONE = ("name", "inverse_link_fn")
"""Arguments that go where they are None; others ask for another helper."""
_NAMED = "named_head"
# What heads of TensorFlow 2 are told besides those of `tf.contrib`.
_OF_TENSORFLOW_2 = {
    "BinaryClassHead": ("interpolate_auc",),
    "MultiLabelHead": ("interpolate_auc", "predict_classes"),
}


def head_edits(module: Module, call: ast.Call, name: str, need: Callable[[str, ast.AST], str]) -> list[Edit]:
    """Edits of a call that makes the head called `name`, with each default written out. Raises Unsupported."""
    helper, given = bound_head(call, name)
    head, named = need(helper, call), not is_none(given.get("name"))
    first = {0: [code(head)]} if named else {}
    names = {id(value): parameter for parameter, value in _given(call, name).items()}
    doomed: list[int] = []
    called: dict[int, str] = {}
    for at, argument in enumerate(arguments(call)):
        parameter = names[id(argument.value if isinstance(argument, ast.keyword) else argument)]
        if parameter not in given or (parameter in _GONE and is_none(given[parameter])):
            doomed.append(at)
        elif isinstance(argument, ast.expr):
            called[at] = parameter
    added: dict[str, cst.BaseExpression] = {}
    changes: list[Change] = [Replace(call.func, need(_NAMED, call) if named else head)]
    if "loss_reduction" in given:
        new = code(loss_reduction(module.resolve, given["loss_reduction"]))
        changes.append(Replace(given["loss_reduction"], new))
    else:
        added["loss_reduction"] = code(f'"{default_reduction(name)}"')
    if of_tensorflow_2(name):
        added.update((each, code("True")) for each in _OF_TENSORFLOW_2.get(helper, ()))
    old = module.cst.call(call)
    changes.append(Replace(call, with_arguments(old, named=called, drop=doomed, insert=first, add=added)))
    return module.cst.apply(changes)


def heads_of(call: ast.Call, name: str) -> list[ast.expr]:
    """The heads that one is made of. Raises Unsupported where they are not seen."""
    heads = bind(call, SEVERAL_SIGNATURE, name.replace("tensorflow", "tf", 1)).get("heads")
    if not isinstance(heads, (ast.List, ast.Tuple)) or any(isinstance(head, ast.Starred) for head in heads.elts):
        raise Unsupported("the heads that one is made of are not seen", heads if heads is not None else call)
    return heads.elts


def head_arguments(call: ast.Call, name: str, resolve: Resolve) -> tuple[str, list[tuple[str, Value]]]:
    """The vendored head for a call that makes the head called `name` in a model_fn, and its arguments. Raises Unsupported."""
    helper, given = bound_head(call, name)
    values: dict[str, Value] = {**given}
    reduction = given.get("loss_reduction")
    said = f'"{default_reduction(name)}"' if reduction is None else loss_reduction(resolve, reduction)
    values["loss_reduction"] = said
    kept = [(key, value) for key, value in values.items() if key not in _GONE or not is_none(given[key])]
    more = _OF_TENSORFLOW_2.get(helper, ()) if of_tensorflow_2(name) else ()
    return helper, [*kept, *((key, "True") for key in more)]


def bound_head(call: ast.Call, name: str) -> tuple[str, dict[str, ast.expr]]:
    """The vendored head, and the arguments by parameter. Raises Unsupported."""
    helper, given = HEADS[name], _given(call, name)
    if helper == _EITHER:
        classes = given.get("n_classes")
        if not isinstance(classes, ast.Constant) or not isinstance(classes.value, int):
            raise Unsupported("the number of classes of a head is not seen", call)
        helper = "BinaryClassHead" if classes.value == 2 else "MultiClassHead"
        if classes.value == 2:
            del given["n_classes"]
    return helper if is_none(given.get("inverse_link_fn")) else "LinkedRegressionHead", given


def _given(call: ast.Call, name: str) -> dict[str, ast.expr]:
    """The arguments of a head, by parameter. Raises Unsupported."""
    signature = _SIGNATURES.get(name.rsplit(".", 1)[1]) or _SIGNATURES[HEADS[name]]
    return bind(call, signature, name.replace("tensorflow", "tf", 1))


def of_tensorflow_2(name: str) -> bool:
    """Whether a head is one of TensorFlow 2."""
    return name.startswith("tensorflow.estimator.")


def default_reduction(name: str) -> str:
    """How the head called `name` reduces its loss where it is not told."""
    return "sum" if name.rsplit(".", 1)[1] in _PRIVATE else "sum_over_batch_size"


def loss_reduction(resolve: Resolve, value: ast.expr) -> str:
    """The text of a reduction for the vendored heads. Raises Unsupported."""
    name = resolve(value)
    if isinstance(value, ast.Constant) and value.value in _REDUCTIONS:
        return f'"{_REDUCTIONS[value.value]}"'
    if name is not None and ".losses.Reduction." in name and name.rsplit(".", 1)[1] in _REDUCTIONS:
        return f'"{_REDUCTIONS[name.rsplit(".", 1)[1]]}"'
    raise Unsupported("`loss_reduction` is none of tf.losses.Reduction that is seen here", value)
