"""Faults that can be planted in a migrated program, found by what its code says rather than by where it stands.

Each kind of fault is a function that is given a node of the program and says what takes its place there. A kind is planted once
for each program, at the first place that has it; `mode` is the mode of `migrate parity` that can see it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Union

Source = Callable[[ast.AST], str]
Planter = Callable[[ast.AST, Source], Union[tuple[ast.AST, str], None]]
"""Says which node becomes which text, if this is a place for its fault."""

_OPTIMIZERS = (
    "SGD Adam Adagrad Adadelta Adamax RMSprop Ftrl LazyMomentum LazyFtrl LazyAdam LazyRMSprop Momentum".split()
)
_SCHEDULES = "ExponentialDecay PolynomialDecay InverseTimeDecay PiecewiseConstantDecay CosineDecay".split()


@dataclass(frozen=True)
class Fault:
    """One fault in one program."""

    kind: str
    mode: str
    line: int
    text: str
    """The whole program with the fault."""
    stopping: str
    """The program, which stops where the fault would be, if it comes there at all."""


@dataclass(frozen=True)
class _Kind:
    name: str
    plant: Planter
    mode: str = "replay"
    within: tuple[str, ...] = ()
    """Functions and methods of which it is a fault; empty: any."""


def _called(node: ast.AST, *names: str) -> ast.Call | None:
    """A call of something with one of these names."""
    function = node.func if isinstance(node, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return node if isinstance(node, ast.Call) and name in names else None


def _argument(call: ast.Call, name: str, position: int = -1) -> ast.expr | None:
    """An argument by its name, or by its position."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return call.args[position] if named is None and 0 <= position < len(call.args) else named


def _scaled(factor: str, argument: str, position: int, *calls: str) -> Planter:
    """A number that is another one."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, *calls)
        value = _argument(call, argument, position) if call is not None else None
        if value is None or isinstance(value, ast.Call) or (isinstance(value, ast.Constant) and not value.value):
            return None
        number = isinstance(value, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript))
        return (value, f"{factor} * ({source(value)})") if number else None

    return plant


def _flipped(argument: str, *calls: str) -> Planter:
    """A switch that is off where it was on, and the other way round."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, *calls)
        value = _argument(call, argument) if call is not None else None
        return (value, str(not value.value)) if isinstance(value, ast.Constant) else None

    return plant


def _added(argument: str, *calls: str) -> Planter:
    """An argument that another default would be."""
    name = argument.partition("=")[0]

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, *calls)
        if call is None or _argument(call, name) is not None:
            return None
        text = source(call)
        return call, f"{text[:-1].rstrip().rstrip(',')}{', ' if call.args or call.keywords else ''}{argument})"

    return plant


def _left_out(argument: str, *calls: str) -> Planter:
    """An argument that is lost."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, *calls)
        found = next((k for k in call.keywords if k.arg == argument), None) if call is not None else None
        none = isinstance(found.value, ast.Constant) and found.value.value is None if found is not None else True
        return (found.value, "None") if found is not None and not none else None

    return plant


def _renamed(old: str, new: str) -> Planter:
    """Another function of the same module: ``tf.nn.relu`` becomes ``tf.nn.elu``."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return None
        text = source(node)
        return (node, text[: -len(old)] + new) if text == old or text.endswith("." + old) else None

    return plant


def _unwrapped(*calls: str) -> Planter:
    """A function that is not applied."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, *calls)
        return (call, f"({source(call.args[0])})") if call is not None and call.args else None

    return plant


def _chained(method: str, before: str) -> Planter:
    """A method of a dataset that another one comes before: ``.skip(1)``."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, method)
        if call is None or not isinstance(call.func, ast.Attribute):
            return None
        return call.func.value, source(call.func.value) + before

    return plant


def _one_more(method: str, position: int, number: str) -> Planter:
    """A count that is off by one."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        call = _called(node, method)
        value = call.args[position] if call is not None and len(call.args) > position else None
        return (value, f"({source(value)}) {number}") if value is not None else None

    return plant


def _other_sign(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)) or _is_text(node):
        return None
    sign = "-" if isinstance(node.op, ast.Add) else "+"
    return node, f"(({source(node.left)}) {sign} ({source(node.right)}))"


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(n, (ast.List, ast.JoinedStr)) or isinstance(getattr(n, "value", 0), str) for n in ast.walk(node)
    )


def _product(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    return node, f"(1.1 * ({source(node)}))"


def _always_training(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
    if not isinstance(node, ast.keyword) or node.arg != "training" or not isinstance(node.value, ast.Name):
        return None
    return node.value, "True"


def _never_training(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
    found = _always_training(node, source)
    return (found[0], "False") if found is not None else None


def _labels_moved(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
    """Labels that are those of the example before."""
    call = _called(
        node, "update_state", "sigmoid_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits"
    )
    value = (_argument(call, "labels", 0) if call is not None else None) or None
    return (
        (value, f"tf.roll({source(value)}, 1, 0)") if value is not None and len(call.args + call.keywords) > 1 else None
    )


def _dropped(*calls: str) -> Planter:
    """A statement that is lost."""

    def plant(node: ast.AST, source: Source) -> tuple[ast.AST, str] | None:
        found = isinstance(node, ast.Expr) and _called(node.value, *calls) is not None
        return (node, "pass") if found else None

    return plant


KINDS = (
    _Kind("learning rate 1.1 times", _scaled("1.1", "learning_rate", 0, *_OPTIMIZERS)),
    _Kind("first rate of a schedule 1.1 times", _scaled("1.1", "initial_learning_rate", 0, *_SCHEDULES)),
    _Kind("decay half as fast", _scaled("2", "decay_steps", 1, *_SCHEDULES)),
    _Kind("staircase lost", _flipped("staircase", *_SCHEDULES)),
    _Kind("accumulators start at twice as much", _scaled("2", "initial_accumulator_value", -1, *_OPTIMIZERS)),
    _Kind("accumulators start elsewhere", _added("initial_accumulator_value=0.2", "Adagrad", "Ftrl", "LazyFtrl")),
    _Kind("momentum halved", _scaled("0.5", "momentum", 1, "SGD", "LazyMomentum", "Momentum", "RMSprop")),
    _Kind("Nesterov's momentum", _added("nesterov=True", "LazyMomentum")),
    _Kind("other beta_1", _added("beta_1=0.8", "Adam", "LazyAdam", "Adamax")),
    _Kind("other beta_2", _added("beta_2=0.9", "Adam", "LazyAdam", "Adamax")),
    _Kind("larger epsilon", _scaled("1e5", "epsilon", -1, "Adam", "LazyAdam", "RMSprop", "Adamax")),
    _Kind("L1 doubled", _scaled("2", "l1_regularization_strength", -1, *_OPTIMIZERS)),
    _Kind("L2 doubled", _scaled("2", "l2", 0, "l2", "L2", "l2_loss")),
    _Kind("gradients clipped at half", _scaled("0.5", "clip_norm", 1, "clip_by_global_norm", "clip_by_norm")),
    _Kind("gradients not clipped", _scaled("1e9", "clip_norm", 1, "clip_by_global_norm", "clip_by_norm")),
    _Kind("elu for relu", _renamed("nn.relu", "nn.elu")),
    _Kind("sigmoid for tanh", _renamed("tanh", "sigmoid")),
    _Kind(
        "logits taken for probabilities", _flipped("from_logits", "SparseCategoricalCrossentropy", "BinaryCrossentropy")
    ),
    _Kind("AUC of logits", _flipped("from_logits", "AUC")),
    _Kind("fewer thresholds", _added("num_thresholds=20", "AUC")),
    _Kind("sum for mean", _renamed("reduce_mean", "reduce_sum"), within=("compute_loss",)),
    _Kind("mean for sum", _renamed("reduce_sum", "reduce_mean"), within=("call", "compute_loss")),
    _Kind("absolute for squared errors", _renamed("MeanSquaredError", "MeanAbsoluteError")),
    _Kind("labels of other examples", _labels_moved),
    _Kind("plus for minus", _other_sign, within=("call", "compute_loss")),
    _Kind("product 1.1 times", _product, within=("call", "compute_loss")),
    _Kind("training is always on", _always_training, within=("call",)),
    _Kind("training is never on", _never_training, within=("call",)),
    _Kind("no bias", _added("use_bias=False", "Dense")),
    _Kind("activation lost", _left_out("activation", "Dense", "Conv1D", "Conv2D")),
    _Kind("regularizer lost", _left_out("kernel_regularizer", "Dense", "Conv1D", "Conv2D")),
    _Kind("initial values twice as wide", _scaled("2", "stddev", -1, "RandomNormal", "TruncatedNormal")),
    _Kind("initial values of Dense", _added("kernel_initializer='he_uniform'", "Dense")),
    _Kind("initial biases", _added("bias_initializer='ones'", "Dense", "Conv1D", "Conv2D")),
    _Kind("ones for zeros", _renamed("zeros_initializer", "ones_initializer")),
    _Kind("statistics forget faster", _added("momentum=0.5", "BatchNormalization")),
    _Kind("epsilon of a normalization", _added("epsilon=0.1", "BatchNormalization", "LayerNormalization")),
    _Kind("half of the dropout", _scaled("0.5", "rate", 0, "Dropout", "dropout")),
    _Kind("padding", _added("padding='same'", "Conv1D", "Conv2D")),
    _Kind("mean over another axis", _scaled("0", "axis", 1, "reduce_mean", "reduce_max"), within=("call",)),
    _Kind("least for most likely class", _renamed("argmax", "argmin")),
    _Kind("logits for probabilities", _unwrapped("sigmoid", "softmax"), within=("predict_step", "call")),
    _Kind("weights ignored by a metric", _left_out("sample_weight", "update_state")),
    _Kind("weights ignored by the loss", _left_out("sample_weight", "sparse_softmax_cross_entropy", "loss")),
    _Kind("another metric", _renamed("MeanAbsoluteError", "MeanSquaredError")),
    _Kind("a metric is not updated", _dropped("update_state"), within=("compute_metrics",)),
    _Kind("one step fewer", _one_more("take", 0, "- 1"), within=("main",)),
    _Kind("one epoch more", _scaled("2", "epochs", -1, "fit")),
    _Kind("longer epochs", _scaled("2", "steps_per_epoch", -1, "fit")),
    _Kind("no callbacks", _left_out("callbacks", "fit")),
    _Kind("a summary of twice the value", _scaled("2", "data", 1, "scalar")),
    _Kind("an example is left out", _chained("batch", ".skip(1)"), "live"),
    _Kind("batches one larger", _one_more("batch", 0, "+ 1"), "live"),
    _Kind("another order", _added("seed=77", "shuffle"), "live"),
    _Kind("cut off after ten", _chained("batch", ".take(10)"), "live"),
    _Kind("learning rate halved", _scaled("0.5", "learning_rate", 0, *_OPTIMIZERS), "free"),
    _Kind("initial values of zero", _added("kernel_initializer='zeros'", "Dense"), "free"),
    _Kind("initial values ten times as wide", _scaled("10", "stddev", -1, "RandomNormal", "TruncatedNormal"), "free"),
    _Kind("twice the dropout", _scaled("2", "rate", 0, "Dropout", "dropout"), "free"),
    _Kind("never shuffled", _scaled("1 + 0", "buffer_size", 0, "shuffle"), "free"),
)


def faults(text: str) -> Iterator[Fault]:
    """One fault of each kind that a program has a place for."""
    tree = ast.parse(text)
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    nodes = list(ast.walk(tree))
    owners: dict[ast.AST, str] = {}
    for function in (n for n in nodes if isinstance(n, ast.FunctionDef)):
        for node in ast.walk(function):
            owners[node] = function.name

    def span(node: ast.AST) -> slice:
        assert (
            isinstance(node, (ast.expr, ast.stmt)) and node.end_lineno is not None and node.end_col_offset is not None
        )
        return slice(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)

    def source(node: ast.AST) -> str:
        return data[span(node)].decode()

    for kind in KINDS:
        for node in nodes:
            planted = kind.plant(node, source) if not kind.within or owners.get(node) in kind.within else None
            if planted is not None:
                place = span(planted[0])
                stop = "raise SystemError" if isinstance(planted[0], ast.stmt) else "(1 / 0)"
                texts = (
                    (data[: place.start] + new.encode() + data[place.stop :]).decode() for new in (planted[1], stop)
                )
                yield Fault(kind.name, kind.mode, getattr(planted[0], "lineno", 0), *texts)
                break
