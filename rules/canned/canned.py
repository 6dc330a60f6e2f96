"""Canned Estimators: `tf.estimator.DNNClassifier(…)` becomes a call of `dnn_classifier(…)`, with every default written out.

TensorFlow 1 and 2 have classes of the same names with other defaults: TensorFlow 1 adds the losses of a batch up,
TensorFlow 2 averages them; a DNN is trained by Adagrad at 0.05 in the one and at 0.001 in the other.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, with_arguments, with_function
from migrator.vocabulary.diagnostics import Edit

from ..estimator_calls.estimator_values import PREFIX, Construction
from ..inputs.foreign_columns import refuse_foreign_columns
from .canned_heads import CONTRIB, loss_reduction
from .canned_optimizers import OptimizerArguments

if TYPE_CHECKING:
    import libcst as cst

_CLASSIFIER = "model_dir n_classes weight_column label_vocabulary"
_REGRESSOR = "model_dir label_dimension weight_column"
_NETWORK = "optimizer activation_fn dropout input_layer_partitioner config warm_start_from"
_LINEAR = "optimizer config partitioner warm_start_from loss_reduction sparse_combiner"
_WIDE_DEEP = (
    "model_dir linear_feature_columns linear_optimizer dnn_feature_columns dnn_optimizer dnn_hidden_units "
    "dnn_activation_fn dnn_dropout"
)
_WIDE_DEEP_END = "input_layer_partitioner config warm_start_from loss_reduction batch_norm linear_sparse_combiner"
PARTITIONERS = ("input_layer_partitioner", "partitioner")


@dataclass(frozen=True)
class Canned:
    """One canned Estimator."""

    factory: str
    """The vendored function."""
    signature: str
    """Parameters of the class of TensorFlow 1; that of TensorFlow 2 has no partitioners."""
    optimizers: tuple[tuple[str, str, float, float | None], ...]
    """Argument, its default, and the learning rate of an optimizer given by name, in TensorFlow 1 and 2 (None: its own)."""


_DNN = (("optimizer", "Adagrad", 0.05, None),)
_FTRL = (("optimizer", "Ftrl", 0.2, 0.2),)
_BOTH = (("linear_optimizer", "Ftrl", 0.005, 0.005), ("dnn_optimizer", "Adagrad", 0.001, 0.001))
_BASELINE = (("optimizer", "Ftrl", 0.3, 0.3),)

CANNED: dict[str, Canned] = {
    PREFIX + name: Canned(*row)
    for name, row in {
        "DNNClassifier": (
            "dnn_classifier",
            f"hidden_units feature_columns {_CLASSIFIER} {_NETWORK} loss_reduction batch_norm",
            _DNN,
        ),
        "DNNRegressor": (
            "dnn_regressor",
            f"hidden_units feature_columns {_REGRESSOR} {_NETWORK} loss_reduction batch_norm",
            _DNN,
        ),
        "DNNEstimator": (
            "dnn_estimator",
            f"head hidden_units feature_columns model_dir {_NETWORK} batch_norm",
            _DNN,
        ),
        "LinearClassifier": ("linear_classifier", f"feature_columns {_CLASSIFIER} {_LINEAR}", _FTRL),
        "LinearRegressor": ("linear_regressor", f"feature_columns {_REGRESSOR} {_LINEAR}", _FTRL),
        "LinearEstimator": (
            "linear_estimator",
            "head feature_columns model_dir optimizer config partitioner sparse_combiner warm_start_from",
            _FTRL,
        ),
        "DNNLinearCombinedClassifier": (
            "dnn_linear_combined_classifier",
            f"{_WIDE_DEEP} n_classes weight_column label_vocabulary {_WIDE_DEEP_END}",
            _BOTH,
        ),
        "DNNLinearCombinedRegressor": (
            "dnn_linear_combined_regressor",
            f"{_WIDE_DEEP} label_dimension weight_column {_WIDE_DEEP_END}",
            _BOTH,
        ),
        "DNNLinearCombinedEstimator": (
            "dnn_linear_combined_estimator",
            f"head {_WIDE_DEEP} input_layer_partitioner config batch_norm linear_sparse_combiner",
            _BOTH,
        ),
        "BaselineClassifier": ("baseline_classifier", f"{_CLASSIFIER} optimizer config loss_reduction", _BASELINE),
        "BaselineRegressor": ("baseline_regressor", f"{_REGRESSOR} optimizer config loss_reduction", _BASELINE),
        "BaselineEstimator": ("baseline_estimator", "head model_dir optimizer config", _BASELINE),
    }.items()
}
CANNED.update(
    {CONTRIB + name: CANNED[PREFIX + name] for name in ("DNNEstimator", "LinearEstimator", "BaselineEstimator")}
)
CANNED[CONTRIB + "DNNLinearCombinedEstimator"] = CANNED[PREFIX + "DNNLinearCombinedEstimator"]


def arguments_of(call: ast.Call, name: str, dialect: str) -> dict[str, ast.expr]:
    """The arguments by parameter. Raises Unsupported."""
    signature = CANNED[name].signature
    if dialect == "v2":
        signature = " ".join(word for word in signature.split() if word not in PARTITIONERS)
    return bind(call, f"{signature} more_metrics forwarded", "tf." + name.split(".", 1)[1])


def replaced(construction: Construction) -> Iterator[ast.AST]:
    """What stands in arguments that go or become text."""
    for keyword in construction.call.keywords:
        if keyword.arg in (*PARTITIONERS, "loss_reduction"):
            yield from walk(keyword.value)


def rewrite(
    construction: Construction,
    optimizers: OptimizerArguments,
    need: Callable[[str, ast.AST], str],
    remark: Callable[[ast.AST, str], None],
) -> list[Edit]:
    """The edits of one construction. Raises Unsupported."""
    module, call, dialect = construction.module, construction.call, construction.dialect
    kind = CANNED[construction.name]
    given = arguments_of(call, construction.name, dialect)
    short = construction.name.rsplit(".", 1)[1]
    refuse_foreign_columns(optimizers.project, module, given)
    warm = not is_none(given.get("warm_start_from"))
    factory = need(kind.factory, call)
    edits: list[Edit] = []
    added: dict[str, cst.BaseExpression] = {}
    doomed: list[int] = []
    named: dict[int, str] = {}
    names = {id(value): name for name, value in given.items()}
    for at, argument in enumerate(arguments(call)):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        name = names[id(value)]
        if (name == "warm_start_from" and not warm) or name in PARTITIONERS:
            doomed.append(at)
            if not is_none(value):
                remark(
                    value,
                    f"{name} is dropped, as it changes no number: parameter servers share tables of 64 MiB and more",
                )
        elif isinstance(argument, ast.expr):
            named[at] = name
    said = []
    for name, default, rate_1, rate_2 in kind.optimizers:
        if short.startswith("DNNLinear") and is_none(given.get(name.replace("optimizer", "feature_columns"))):
            continue
        rate = rate_2 if dialect == "v2" else rate_1
        part = "linear" if name.startswith("linear") or short.startswith("Linear") else "dnn"
        part = "baseline" if short.startswith("Baseline") else part
        if name not in given:
            added[name] = code(optimizers.by_name(default, rate, part))
            said.append(f"{default} at {optimizers.rate_of(default, rate)}")
        else:
            edits += optimizers.edits(module, given[name], f"`{name}` of {short}", rate, part)
    if "loss_reduction" in kind.signature.split():
        if "loss_reduction" in given:
            reduction = code(loss_reduction(module.resolve, given["loss_reduction"]))
            edits += module.cst.apply([Replace(given["loss_reduction"], reduction)])
        else:
            added["loss_reduction"] = code('"sum_over_batch_size"' if dialect == "v2" else '"sum"')
            said.append("losses averaged over the batch" if dialect == "v2" else "losses summed over the batch")
    else:
        edits += optimizers.head_edits(module, given.get("head"), f"`head` of {short}")
    if dialect == "v2" and "n_classes" in kind.signature.split() and _may_be_binary(given.get("n_classes")):
        added["interpolate_auc"] = code("True")
    if dialect == "v2" and (not short.startswith("Baseline") or {"head", "loss_reduction"} & given.keys()):
        added["summary_tags"] = code('"v2"')
    if said:
        remark(call, told_dialect(construction, said))
    made = with_function(module.cst.call(call), need("with_warm_start", call) if warm else factory)
    new = with_arguments(made, named=named, drop=doomed, insert={0: factory} if warm else {}, add=added)
    return [*module.cst.apply([Replace(call, new)]), *edits]


def told_dialect(construction: Construction, said: list[str]) -> str:
    """Which TensorFlow the defaults are of that a construction takes, and what these say."""
    short, dialect, reason = construction.name.rsplit(".", 1)[1], construction.dialect, construction.dialect_reason
    return f"{short} is that of TensorFlow {dialect[1]}, as {reason}: {', '.join(said)}"


def _may_be_binary(n_classes: ast.expr | None) -> bool:
    return not (isinstance(n_classes, ast.Constant) and n_classes.value != 2)
