"""Names of `tf.contrib` in a model_fn that stays a graph: what holds each of them there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import bind, is_none
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Change, Replace, expr, with_arguments
from migrator.vocabulary.diagnostics import Edit

from ..contrib.functions import successor
from ..symbols.tensorflow_names import tensorflow_root

if TYPE_CHECKING:
    import libcst as cst

_PREFIX = "tensorflow.contrib."
_SUMMARY = f"{_PREFIX}summary."
_VALUES = ("scalar", "histogram")
_MODULES = frozenset({"layers", "slim", "framework", "rnn", "crf"})
_LAYERS = {
    **{
        name: f"contrib_{name}"
        for name in (
            "fully_connected linear conv2d conv2d_transpose batch_norm dropout flatten max_pool2d avg_pool2d "
            "embed_sequence one_hot_encoding repeat stack separable_conv2d apply_regularization"
        ).split()
    },
    **{name: name for name in ("layer_norm", "arg_scope", "add_arg_scope", "optimize_loss", "dense_to_sparse")},
    "learning.create_train_op": "slim_create_train_op",
    "convolution2d": "contrib_conv2d",
    "convolution2d_transpose": "contrib_conv2d_transpose",
    "separable_convolution2d": "contrib_separable_conv2d",
    "relu": "contrib_fully_connected",
}
_CRF = (
    "crf_log_likelihood crf_sequence_score crf_unary_score crf_binary_score crf_log_norm crf_decode viterbi_decode"
).split()
_METRICS = ("streaming_covariance", "streaming_pearson_correlation")
_RNN = {
    **{name: name for name in ("LSTMBlockFusedCell", "TimeReversedFusedRNN", "stack_bidirectional_dynamic_rnn")},
    "LSTMBlockCell": "lstm_block_cell",
}
# Where TensorFlow 2 keeps what contrib had.
_CELLS = "BasicLSTMCell LSTMCell GRUCell BasicRNNCell MultiRNNCell DropoutWrapper ResidualWrapper DeviceWrapper RNNCell"
_MOVED = {
    **{f"rnn.{name}": f"compat.v1.nn.rnn_cell.{name}" for name in (*_CELLS.split(), "LSTMStateTuple")},
    "rnn.static_rnn": "compat.v1.nn.static_rnn",
    "rnn.static_bidirectional_rnn": "compat.v1.nn.static_bidirectional_rnn",
    "layers.softmax": "nn.softmax",
    "slim.softmax": "nn.softmax",
    "framework.get_or_create_global_step": "compat.v1.train.get_or_create_global_step",
    "framework.get_global_step": "compat.v1.train.get_global_step",
    "slim.get_or_create_global_step": "compat.v1.train.get_or_create_global_step",
}


def contrib_helper(module: Module, node: ast.expr, name: str) -> str | None:
    """The vendored function or class that stands for a name of `tf.contrib` in a graph."""
    package, _, short = name[len(_PREFIX) :].partition(".")
    if not name.startswith(_PREFIX):
        return None
    if package in ("layers", "slim") or (package == "framework" and "arg_scope" in short):
        return _LAYERS.get(short)
    if (package, short) in (("feature_column", "sequence_input_layer"), ("seq2seq", "sequence_loss")):
        return short
    if package == "training" and short == "create_train_op":
        return short
    if package == "metrics" and short in _METRICS:
        return short
    if package == "opt" and short == "LazyAdamOptimizer":
        return "GraphLazyAdamOptimizer"
    if package == "crf" and short in _CRF:
        call = module.parent(node)
        if short == "crf_log_likelihood" and not (isinstance(call, ast.Call) and _transitions(call)):
            return "crf_log_likelihood_of_scope"
        return short
    return _RNN.get(short) if package == "rnn" else None


def runs_on_gpus_only(module: Module, node: ast.expr, name: str) -> bool:
    """Whether a name, of layers that TensorFlow 1 had for GPUs only, stands where the program may go without: under a
    condition, or in a function that is called under one."""
    if not name.startswith(_PREFIX + "cudnn_rnn."):
        return False
    function = module.nearest(node, ast.FunctionDef)
    places: list[ast.AST] = [node]
    if function is not None:
        places += [call for call in module.nodes(ast.Call) if ast.unparse(call.func) == function.name]
    around = (module.nearest(place, (ast.If, ast.IfExp, ast.FunctionDef)) for place in places)
    return any(isinstance(node, (ast.If, ast.IfExp)) for node in around)


def _transitions(call: ast.Call) -> bool:
    """Whether a call of `crf_log_likelihood` gives the transitions, which are a new variable otherwise."""
    given = call.args[3] if len(call.args) > 3 else None
    given = next((k.value for k in call.keywords if k.arg in ("transition_params", None)), given)
    return not is_none(given)


def contrib_edits(module: Module, node: ast.expr, name: str) -> list[Edit] | None:
    """The edits for a reference to `tf.contrib` that no helper stands for; None if nothing is known of it."""
    if is_module_alias(module, node, name):
        return []
    call = module.parent(node)
    same = successor(module, call) if isinstance(call, ast.Call) and call.func is node else None
    target = _MOVED.get(name[len(_PREFIX) :])
    new: cst.BaseExpression | None = None
    if same is not None and isinstance(call, ast.Call):
        target, new = f"compat.v1.{same[0]}", with_arguments(module.cst.call(call), named=same[1])
    if target is None and name.startswith(_SUMMARY) and isinstance(call, ast.Call) and call.func is node:
        target, new = _summary(module, call, name[len(_SUMMARY) :])
    if target == "nn.softmax":
        if not (isinstance(call, ast.Call) and len(call.args) == 1 and all(k.arg == "scope" for k in call.keywords)):
            return None
        new = with_arguments(module.cst.call(call), drop=["scope"])  # which names operations only
    found = tensorflow_root(module, node) if target else None
    if found is None:
        return None
    root, imports = found
    changes: list[Change] = [*imports, Replace(node, f"{root}.{target}")]
    if new is not None and call is not None:
        changes.append(Replace(call, new))
    return module.cst.apply(changes)


def _summary(module: Module, call: ast.Call, short: str) -> tuple[str | None, cst.BaseExpression | None]:
    """What a call of `tf.contrib.summary` is in TensorFlow 2, and the call where that changes; None where it has no match."""
    named = {keyword.arg for keyword in call.keywords}
    if short == "create_file_writer" and None not in named:
        return "summary.create_file_writer", None
    if short in ("always_record_summaries", "never_record_summaries") and not call.args + call.keywords:
        told = {0: expr(str(short.startswith("always")))}
        return "summary.record_if", with_arguments(module.cst.call(call), insert=told)
    if short == "record_summaries_every_n_global_steps" and None not in named:
        changed = _every_n_steps(module, call)
        return ("summary.record_if", changed) if changed is not None else (None, None)
    if short == "all_summary_ops" and not call.args + call.keywords:
        return "compat.v1.summary.all_v2_summary_ops", None
    if short in _VALUES and len(call.args) < 3 and named <= {"name", "tensor", "step"}:
        return f"summary.{short}", with_arguments(module.cst.call(call), rename={"tensor": "data"})
    return None, None


def _every_n_steps(module: Module, call: ast.Call) -> cst.BaseExpression | None:
    """The call `record_summaries_every_n_global_steps(n, global_step)` with a condition.

    None where they hold a name of TensorFlow, which others rewrite.
    """
    given = bind(call, "n global_step", "record_summaries_every_n_global_steps")
    root = tensorflow_root(module, call.func)
    inside = {node for value in given.values() for node in walk(value)}
    if "n" not in given or root is None or any(node in inside for node, _ in module.references()):
        return None
    tf, _ = root
    step = expr("{tf}.compat.v1.train.get_or_create_global_step()", tf=tf)
    if not is_none(given.get("global_step")):
        step = module.cst.expression(given["global_step"])
    function, every = module.cst.expression(call.func), module.cst.expression(given["n"])
    return expr("{function}({tf}.equal({step} % {every}, 0))", function=function, tf=tf, step=step, every=every)


def is_module_alias(module: Module, node: ast.expr, name: str) -> bool:
    """Whether a reference is ``slim = tf.contrib.slim``, which goes when nothing reads it."""
    statement = module.statement(node)
    return name[len(_PREFIX) :] in _MODULES and isinstance(statement, ast.Assign) and statement.value is node
