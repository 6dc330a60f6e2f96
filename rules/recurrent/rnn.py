"""Recurrent cells and the loops around them inside a model_fn.

A cell is a layer of Keras, made where the model is built, and vendored with TensorFlow 1's equations and variables (see
migrator/runtime/layers/rnn_cells.py). A loop is ``tf.keras.layers.RNN``, or a vendored layer where the state is more than read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Layer, Value, Writing, bind, format_call, is_none

Resolve = Callable[[ast.expr], "str | None"]

# Cell of TF1: vendored class, signature, arguments that are kept.
_CELLS: dict[str, tuple[str, str, str]] = {
    "BasicLSTMCell": (
        "LSTMCell",
        "num_units forget_bias state_is_tuple activation reuse name dtype",
        "num_units forget_bias activation",
    ),
    "LSTMCell": (
        "LSTMCell",
        "num_units use_peepholes cell_clip initializer num_proj proj_clip num_unit_shards num_proj_shards forget_bias "
        "state_is_tuple activation reuse name dtype",
        "num_units initializer forget_bias activation",
    ),
    "LSTMBlockCell": (
        "LSTMCell",
        "num_units forget_bias cell_clip use_peephole dtype reuse name",
        "num_units forget_bias",
    ),
    "GRUCell": (
        "GRUCell",
        "num_units activation reuse kernel_initializer bias_initializer name dtype",
        "num_units activation kernel_initializer bias_initializer",
    ),
    "BasicRNNCell": ("BasicRNNCell", "num_units activation reuse name dtype", "num_units activation"),
    "MultiRNNCell": ("tf.keras.layers.StackedRNNCells", "cells state_is_tuple", "cells"),
}
_PEEPHOLES = ("use_peepholes", "use_peephole")
_FIRST = frozenset({"num_units", "cells"})
MODULES = ("tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.")
_WRAPPERS = frozenset(module + "DropoutWrapper" for module in MODULES)
_KEEP = ("input_keep_prob", "output_keep_prob", "state_keep_prob")
_DROPOUT = f"cell {' '.join(_KEEP)} variational_recurrent input_size dtype seed dropout_state_filter_visitor"
_TAIL = "parallel_iterations swap_memory time_major scope"
LAYER, FORWARD, BACKWARD = (f"tensorflow.nn.dynamic_rnn.{mark}" for mark in ("layer", "forward", "backward"))
"""Marks of calls that stand for ``tf.keras.layers.RNN`` (see `plain_loops`), and of those in one of two directions."""
_LOOPS: dict[str, tuple[str, str, str, str]] = {
    "dynamic_rnn": (
        "DynamicRNN",
        f"cell inputs sequence_length initial_state dtype {_TAIL}",
        "cell",
        "sequence_length initial_state",
    ),
    "bidirectional_dynamic_rnn": (
        "BidirectionalRNN",
        f"cell_fw cell_bw inputs sequence_length initial_state_fw initial_state_bw dtype {_TAIL}",
        "cell_fw cell_bw",
        "sequence_length initial_state_fw initial_state_bw",
    ),
    "static_rnn": (
        "StaticRNN",
        "cell inputs initial_state dtype sequence_length scope",
        "cell",
        "sequence_length initial_state",
    ),
}
_STACKED = "stack_bidirectional_dynamic_rnn"
_LOOPS[_STACKED] = (
    "StackedBidirectionalRNN",
    "cells_fw cells_bw inputs initial_states_fw initial_states_bw dtype sequence_length parallel_iterations time_major scope "
    "swap_memory",
    "cells_fw cells_bw",
    "sequence_length initial_states_fw initial_states_bw",
)
LOOPS = {name: signature for name, (_, signature, _, _) in _LOOPS.items()}
"""Their parameters."""
ZERO_STATE = "tensorflow.nn.rnn_cell.zero_state"
_SCOPES = {"bidirectional_dynamic_rnn": "bidirectional_rnn", _STACKED: "stack_bidirectional_rnn"}


def cell(name: str) -> Expression:
    """The translation of a constructor of cells."""
    made, signature, kept = _CELLS[name]

    def translate(call: ast.Call, writing: Writing) -> str:
        given = bind(call, signature, name)
        for argument, node in given.items():
            if argument in kept.split() or argument in ("name", "num_unit_shards", "num_proj_shards"):
                continue
            if not _is_default(argument, node, writing.resolve) and not _is_on(argument, node):
                raise Unsupported(f"{name} with `{argument}` is not migrated yet", node)
        arguments: list[tuple[str | None, str]] = [
            (None if argument in _FIRST else argument, writing.text(given[argument]))
            for argument in kept.split()
            if argument in given and (argument in _FIRST or not is_none(given[argument]))
        ]
        if not is_none(given.get("name")):
            arguments.append(("name", writing.text(given["name"])))
        if made.startswith("tf."):
            return format_call(writing.tf + made[2:], arguments)
        peepholes = any(_is_on(argument, node) for argument, node in given.items())
        return format_call(writing.need("PeepholeLSTMCell" if peepholes else made), arguments)

    return translate


def is_standard(call: ast.Call, short: str) -> bool:
    """Whether an LSTM of TensorFlow 1 has no peepholes and the activation that it has by default."""
    try:
        given = bind(call, _CELLS[short][1], short)
    except Unsupported:
        return False
    return is_none(given.get("activation")) and not any(_is_on(argument, node) for argument, node in given.items())


def _is_on(argument: str, node: ast.expr) -> bool:
    """Whether an argument asks for peepholes, for sure."""
    return argument in _PEEPHOLES and isinstance(node, ast.Constant) and node.value is True


def _is_default(argument: str, node: ast.expr, resolve: Resolve) -> bool:
    """Whether an argument only says what holds anyway."""
    if is_none(node) or (argument == "dtype" and resolve(node) == "tensorflow.float32"):
        return True
    wanted = argument == "state_is_tuple"
    return isinstance(node, ast.Constant) and node.value is wanted


def state_tuple(call: ast.Call, writing: Writing) -> str:
    """``LSTMStateTuple(c, h)``."""
    given = bind(call, "c h", "LSTMStateTuple")
    return format_call(writing.need("LSTMStateTuple"), [(None, writing.text(given[name])) for name in ("c", "h")])


def keep_probabilities(call: ast.Call, resolve: Resolve) -> list[ast.expr]:
    """The probabilities that ``DropoutWrapper(cell, …)`` is given; none for other calls."""
    if (resolve(call.func) or "") not in _WRAPPERS:
        return []
    given = call.args[1:4] + [k.value for k in call.keywords if k.arg in _KEEP]
    return [node for node in given if not is_none(node)]


def dropout_wrapper(call: ast.Call, writing: Writing) -> str:
    """``DropoutWrapper(cell, …)``: active in training only, or always where the mode does not decide it."""
    given = bind(call, _DROPOUT, "DropoutWrapper")
    for argument, node in given.items():
        plain = is_none(node) or (isinstance(node, ast.Constant) and node.value is False)
        if argument not in ("cell", "input_size", "dtype", *_KEEP) and not plain:
            raise Unsupported(f"DropoutWrapper with `{argument}` is not migrated yet", node)
    arguments: list[tuple[str | None, str]] = [(None, writing.text(given["cell"]))]
    always: list[ast.expr] = []
    for argument in _KEEP:
        keep = given.get(argument)
        if keep is None or is_none(keep) or (isinstance(keep, ast.Constant) and keep.value == 1):
            continue
        text = writing.in_training(keep, 1.0)
        if text is None:
            always.append(keep)
        arguments.append((argument, text or writing.text(keep)))
    if always:
        if len(always) < len(arguments) - 1:
            raise Unsupported("DropoutWrapper drops something in training only, and something always", call)
        arguments.append(("only_in_training", "False"))
    return format_call(writing.need("DropoutWrapper"), arguments)


def residual_wrapper(call: ast.Call, writing: Writing) -> str:
    """``ResidualWrapper(cell)``."""
    given = bind(call, "cell residual_fn", "ResidualWrapper")
    if not is_none(given.get("residual_fn")):
        raise Unsupported("ResidualWrapper with `residual_fn` is not migrated yet", given["residual_fn"])
    return format_call(writing.need("ResidualWrapper"), [(None, writing.text(given["cell"]))])


def fused_lstm(call: ast.Call, writing: Writing) -> str:
    """``LSTMBlockFusedCell(num_units)``: a layer over whole sequences."""
    signature = "num_units forget_bias cell_clip use_peephole reuse dtype name"
    given = bind(call, signature, "LSTMBlockFusedCell")
    for argument in ("use_peephole", "reuse", "dtype"):
        node = given.get(argument)
        plain = isinstance(node, ast.Constant) and node.value is False
        if node is not None and not plain and not _is_default(argument, node, writing.resolve):
            raise Unsupported(f"LSTMBlockFusedCell with `{argument}` is not migrated yet", node)
    kept = ("num_units", "forget_bias", "cell_clip", "name")
    arguments: list[tuple[str | None, str]] = [
        (None if argument in _FIRST else argument, writing.text(given[argument]))
        for argument in kept
        if not is_none(given.get(argument))
    ]
    return format_call(writing.need("FusedLSTM"), arguments)


def time_reversed(call: ast.Call, writing: Writing) -> str:
    """``TimeReversedFusedRNN(cell)``."""
    given = bind(call, "cell", "TimeReversedFusedRNN")
    return format_call(writing.need("TimeReversedRNN"), [(None, writing.text(given["cell"]))])


def loop(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """``tf.nn.dynamic_rnn(cell, x)``: a layer that is made from the cell and applied at once."""
    short = name.rsplit(".", 1)[1]
    vendored, signature, cells, applied = _LOOPS[short]
    given = bind(call, signature, f"tf.nn.{short}")
    missing = [n for n in (*cells.split(), "inputs") if n not in given]
    if missing:
        raise Unsupported(f"tf.nn.{short} without `{missing[0]}`", call)
    if not is_none(given.get("dtype")) and resolve(given["dtype"]) != "tensorflow.float32":
        raise Unsupported(f"tf.nn.{short} with another type than float32 is not migrated yet", given["dtype"])
    scope = given.get("scope")
    literal = isinstance(scope, ast.Constant) and isinstance(scope.value, str)
    if not is_none(scope) and not literal and not isinstance(scope, ast.Name):  # a name may be that of a scope around
        raise Unsupported("the scope of a recurrent layer is not a literal", scope)
    made: list[tuple[str | None, Value]] = [(None, given[n]) for n in cells.split()]
    major = given.get("time_major")
    if not is_none(major) and not (isinstance(major, ast.Constant) and major.value is False):
        if not isinstance(major, ast.Constant):
            raise Unsupported(f"tf.nn.{short} with this `time_major` is not migrated yet", major)
        made.append(("time_major", "True"))
    inputs: list[tuple[str | None, Value]] = [(None, given["inputs"])]
    inputs += [(n, given[n]) for n in applied.split() if not is_none(given.get(n))]
    return Layer(
        vendored,
        tuple(made),
        tuple(inputs),
        _SCOPES.get(short, "rnn"),
        None if is_none(scope) else scope,
        vendored=True,
        recurrent=True,
    )


def plain_loop(call: ast.Call, name: str, resolve: Resolve) -> Layer:
    """``tf.nn.dynamic_rnn.layer(cell, x)``: Keras's own layer, or the one with a kernel for LSTMs. Behind the end of a sequence
    its outputs are zero."""
    given = bind(call, "cell inputs mask return_sequences return_state kernel scope", "tf.nn.dynamic_rnn")
    sequences, masked, kernel = "return_sequences" not in given, "mask" in given, "kernel" in given
    told = [
        ("return_sequences", sequences),
        ("return_state", "return_state" in given),
        ("go_backwards", name == BACKWARD),
        ("zero_output_for_mask", masked and sequences and not kernel),
    ]
    return Layer(
        "RNN" if kernel else "tf.keras.layers.RNN",
        ((None, given["cell"]), *((argument, "True") for argument, value in told if value)),
        ((None, given["inputs"]), *((n, given[n]) for n in ("mask",) if masked)),
        {FORWARD: "bidirectional_rnn/fw", BACKWARD: "bidirectional_rnn/bw"}.get(name, "rnn"),
        given.get("scope"),
        vendored=kernel,
        recurrent=True,
        attribute={FORWARD: "forward_rnn", BACKWARD: "backward_rnn"}.get(name),
    )


def first_state(call: ast.Call, writing: Writing) -> str:
    """``tf.nn.rnn_cell.zero_state(cell, batch_size, dtype)``, which stands for the method of the cell."""
    return format_call(writing.need("zero_state"), [(None, writing.text(value)) for value in call.args])


LAYERS = {
    **dict.fromkeys((LAYER, FORWARD, BACKWARD), plain_loop),
    **{f"tensorflow.nn.{short}": loop for short in _LOOPS if short != _STACKED},
    **{f"tensorflow.contrib.rnn.{short}": loop for short in ("static_rnn", _STACKED)},
}
EXPRESSIONS: dict[str, Expression] = {
    **{module + name: cell(name) for module in MODULES for name in _CELLS},
    **{module + "LSTMStateTuple": state_tuple for module in MODULES},
    **{module + "DropoutWrapper": dropout_wrapper for module in MODULES},
    **{module + "ResidualWrapper": residual_wrapper for module in MODULES},
    ZERO_STATE: first_state,
    "tensorflow.contrib.rnn.LSTMBlockFusedCell": fused_lstm,
    "tensorflow.contrib.rnn.TimeReversedFusedRNN": time_reversed,
}
CELLS = frozenset(EXPRESSIONS) - {ZERO_STATE}
