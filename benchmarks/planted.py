"""Faults that can be planted in a migrated program, found by what its code says rather than by where it stands.

Each kind of fault is a function that is given a node of the program and says what takes its place there. A kind is planted once
for each program, at the first place that has it; `mode` is the mode of `migrate parity` that can see it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

from planters import (
    Planter,
    added,
    always_training,
    another_feature,
    chained,
    changed,
    clipped,
    concatenation_swapped,
    divided,
    dropped,
    flipped,
    key_renamed,
    labels_moved,
    left_out,
    never_training,
    one_more,
    other_sign,
    product,
    renamed,
    scaled,
    unwrapped,
)

_OPTIMIZERS = (
    "SGD Adam Adagrad Adadelta Adamax RMSprop Ftrl LazyMomentum LazyFtrl LazyAdam LazyRMSprop Momentum".split()
)
_LOSSES = (
    "SparseCategoricalCrossentropy BinaryCrossentropy CategoricalCrossentropy "
    "sparse_categorical_crossentropy binary_crossentropy categorical_crossentropy"
).split()
_METRICS = "in each evaluation"
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
    told: str = ""
    """What a note says of an equal program that had nothing to show such a fault by."""


@dataclass(frozen=True)
class _Kind:
    name: str
    plant: Planter
    mode: str = "replay"
    within: tuple[str, ...] = ()
    """Functions and methods of which it is a fault, with wildcards; empty: any."""
    told: str = ""
    """What a note says of an equal program that had nothing to show such a fault by."""

    def holds(self, owner: str | None) -> bool:
        """Whether it is a fault in the function `owner`; None: outside of all."""
        return not self.within or (owner is not None and any(fnmatch(owner, each) for each in self.within))


KINDS = (
    _Kind("learning rate 1.1 times", scaled("1.1", "learning_rate", 0, *_OPTIMIZERS)),
    _Kind("first rate of a schedule 1.1 times", scaled("1.1", "initial_learning_rate", 0, *_SCHEDULES)),
    _Kind("decay half as fast", scaled("2", "decay_steps", 1, *_SCHEDULES)),
    _Kind("staircase lost", flipped("staircase", *_SCHEDULES)),
    _Kind("accumulators start at twice as much", scaled("2", "initial_accumulator_value", -1, *_OPTIMIZERS)),
    _Kind("accumulators start elsewhere", added("initial_accumulator_value=0.2", "Adagrad", "Ftrl", "LazyFtrl")),
    _Kind("momentum halved", scaled("0.5", "momentum", 1, "SGD", "LazyMomentum", "Momentum", "RMSprop")),
    _Kind("Nesterov's momentum", added("nesterov=True", "LazyMomentum")),
    _Kind("other beta_1", added("beta_1=0.8", "Adam", "LazyAdam", "Adamax")),
    _Kind("other beta_2", added("beta_2=0.9", "Adam", "LazyAdam", "Adamax")),
    _Kind("larger epsilon", scaled("1e5", "epsilon", -1, "Adam", "LazyAdam", "RMSprop", "Adamax")),
    _Kind("L1 doubled", scaled("2", "l1_regularization_strength", -1, *_OPTIMIZERS)),
    _Kind("L2 doubled", scaled("2", "l2", 0, "l2", "L2", "l2_loss"), told="regularizers are at most"),
    _Kind(
        "gradients clipped at half",
        scaled("0.5", "clip_norm", 1, "clip_by_global_norm", "clip_by_norm"),
        told="clipped",
    ),
    _Kind(
        "gradients not clipped", scaled("1e9", "clip_norm", 1, "clip_by_global_norm", "clip_by_norm"), told="clipped"
    ),
    _Kind("elu for relu", renamed("nn.relu", "nn.elu")),
    _Kind("sigmoid for tanh", renamed("tanh", "sigmoid")),
    _Kind("logits taken for probabilities", flipped("from_logits", *_LOSSES)),
    _Kind("AUC of logits", flipped("from_logits", "AUC"), told=_METRICS),
    _Kind("fewer thresholds", added("num_thresholds=20", "AUC"), told=_METRICS),
    _Kind("sum for mean", renamed("reduce_mean", "reduce_sum"), within=("compute_loss",)),
    _Kind("mean for sum", renamed("reduce_sum", "reduce_mean"), within=("call", "compute_loss")),
    _Kind("absolute for squared errors", renamed("MeanSquaredError", "MeanAbsoluteError")),
    _Kind("labels of other examples", labels_moved, told=_METRICS),
    _Kind("plus for minus", other_sign, within=("call", "compute_loss")),
    _Kind("product 1.1 times", product, within=("call", "compute_loss")),
    _Kind("training is always on", always_training, within=("call",)),
    _Kind("training is never on", never_training, within=("call",)),
    _Kind("no bias", added("use_bias=False", "Dense")),
    _Kind("activation lost", left_out("activation", "Dense", "Conv1D", "Conv2D")),
    _Kind(
        "regularizer lost", left_out("kernel_regularizer", "Dense", "Conv1D", "Conv2D"), told="regularizers are at most"
    ),
    _Kind("initial values twice as wide", scaled("2", "stddev", -1, "RandomNormal", "TruncatedNormal")),
    _Kind("initial values of Dense", added("kernel_initializer='he_uniform'", "Dense")),
    _Kind("initial biases", added("bias_initializer='ones'", "Dense", "Conv1D", "Conv2D")),
    _Kind("ones for zeros", renamed("zeros_initializer", "ones_initializer")),
    _Kind("statistics forget faster", added("momentum=0.5", "BatchNormalization")),
    _Kind("epsilon of a normalization", added("epsilon=0.1", "BatchNormalization", "LayerNormalization")),
    _Kind("half of the dropout", scaled("0.5", "rate", 0, "Dropout", "dropout")),
    _Kind("padding", added("padding='same'", "Conv1D", "Conv2D")),
    _Kind("mean over another axis", scaled("0", "axis", 1, "reduce_mean", "reduce_max"), within=("call",)),
    _Kind("least for most likely class", renamed("argmax", "argmin"), told=_METRICS),
    _Kind("logits for probabilities", unwrapped("sigmoid", "softmax"), within=("predict_step", "call")),
    _Kind("weights ignored by a metric", left_out("sample_weight", "update_state"), told=_METRICS),
    _Kind("weights ignored by the loss", left_out("sample_weight", "sparse_softmax_cross_entropy", "loss")),
    _Kind("another metric", renamed("MeanAbsoluteError", "MeanSquaredError"), told=_METRICS),
    _Kind("a metric is not updated", dropped("update_state"), within=("compute_metrics",), told=_METRICS),
    _Kind("one step fewer", one_more("take", 0, "- 1"), within=("main",)),
    _Kind("one epoch more", scaled("2", "epochs", -1, "fit")),
    _Kind("longer epochs", scaled("2", "steps_per_epoch", -1, "fit")),
    _Kind("no callbacks", left_out("callbacks", "fit"), told="not compared: summ"),
    _Kind("a summary of twice the value", scaled("2", "data", 1, "scalar"), told="not compared: summ"),
    _Kind("Adamax for Adam", renamed("optimizers.Adam", "optimizers.Adamax")),
    _Kind("RMSprop for SGD", renamed("optimizers.SGD", "optimizers.RMSprop")),
    _Kind("SGD for Ftrl", renamed("optimizers.Ftrl", "optimizers.SGD")),
    _Kind("weights decay", added("weight_decay=0.01", "Adam", "SGD", "Adagrad", "Ftrl", "RMSprop")),
    _Kind("other power of Ftrl", added("learning_rate_power=-0.4", "Ftrl", "LazyFtrl")),
    _Kind("other rho", added("rho=0.8", "RMSprop", "LazyRMSprop", "Adadelta")),
    _Kind("rates one step late", changed("({}) + 1", "decay_steps", 1, *_SCHEDULES)),
    _Kind("boundaries one step late", changed("[each + 1 for each in {}]", "boundaries", 0, "PiecewiseConstantDecay")),
    _Kind("rate does not fall", changed("1.0", "decay_rate", 2, "ExponentialDecay", "InverseTimeDecay")),
    _Kind("clipped where none were", clipped),
    _Kind("norm of clipping halved", scaled("0.5", "global_clipnorm", -1, *_OPTIMIZERS), told="clipped"),
    _Kind("norm of clipping lost", left_out("global_clipnorm", *_OPTIMIZERS), told="clipped"),
    _Kind("a frozen layer", added("trainable=False", "Dense", "Conv1D", "Conv2D")),
    _Kind("a frozen table", added("trainable=False", "Embedding", "add_weight")),
    _Kind("a frozen normalization", added("trainable=False", "BatchNormalization", "LayerNormalization")),
    _Kind("rate of what is kept", changed("1 - ({})", "rate", 0, "Dropout", "dropout")),
    _Kind("smoothed labels", added("label_smoothing=0.1", "BinaryCrossentropy", "binary_crossentropy")),
    _Kind("parts in another order", concatenation_swapped, within=("call", "compute_*", "*input_fn", "input_layer")),
    _Kind("a feature for another", another_feature),
    _Kind("lengths ignored", left_out("sequence_length", "rnn", "bidirectional_rnn", "dynamic_rnn")),
    _Kind("steps behind the end run", left_out("mask", "rnn", "forward_rnn", "backward_rnn")),
    _Kind("outputs behind the end", left_out("zero_output_for_mask", "RNN")),
    _Kind("forwards twice", left_out("go_backwards", "RNN")),
    _Kind("lengths one more", changed("({}) + 1", "lengths", 0, "sequence_mask")),
    _Kind("mask lost", changed("tf.ones_like({})", "mask", -1, "update_state", "loss", "call")),
    _Kind(
        "another combiner", changed("'sum' if {0} != 'sum' else 'mean'", "combiner", -1, "embedding_column", "Embed")
    ),
    _Kind("one bucket more", changed("({}) + 1", "hash_bucket_size", 1, "categorical_column_with_hash_bucket")),
    _Kind("one bucket more of a cross", changed("({}) + 1", "hash_bucket_size", 1, "crossed_column")),
    _Kind(
        "words in another order",
        changed("list(reversed({}))", "vocabulary_list", 1, "categorical_column_with_vocabulary_list", "StringLookup"),
    ),
    _Kind("boundaries moved", changed("[each * 1.1 for each in {}]", "boundaries", 1, "bucketized_column")),
    _Kind("another curve", added("curve='PR'", "AUC"), told=_METRICS),
    _Kind("another sum of AUC", added("summation_method='majoring'", "AUC"), told=_METRICS),
    _Kind("another threshold", added("thresholds=0.7", "Precision", "Recall"), told=_METRICS),
    _Kind(
        "one class fewer at the top", changed("({}) - 1", "k", -1, "TopK", "in_top_k", "SparseTopKCategoricalAccuracy")
    ),
    _Kind("fewer evaluation steps", changed("({}) - 1", "steps", -1, "evaluate", "EvalSpec")),
    _Kind("another output", key_renamed, within=("predict_step", "serving*")),
    _Kind("outputs are logits", unwrapped("sigmoid", "softmax"), within=("predict_step", "serving*")),
    _Kind("another input of a signature", key_renamed, within=("*serving_input*",)),
    _Kind(
        "other defaults of lines", changed("[[7.0 for _ in each] for each in {}]", "record_defaults", 1, "decode_csv")
    ),
    _Kind("asked for otherwise", dropped("replace_method_name")),
    _Kind("stops later", changed("({}) + 1", "patience", -1, "EarlyStopping"), told="early stopping never stopped"),
    _Kind(
        "a checkpoint is not read",
        dropped("restore", "assert_existing_objects_matched", "load_weights", "assert_consumed"),
    ),
    _Kind("not warm", changed("None", "warm_start_from", -1, "begin_warm", "create_model", "make_sentiment")),
    _Kind("fewer checkpoints", scaled("2", "save_checkpoints_steps", -1, "RunConfig")),
    _Kind("another seed", changed("({}) + 1", "tf_random_seed", -1, "RunConfig")),
    _Kind("one step more", changed("({}) + 1", "max_steps", -1, "train", "TrainSpec")),
    _Kind("other weights of examples", changed("2 * ({})", "sample_weight", -1, "update_state", "loss"), told=_METRICS),
    _Kind("clipped values", scaled("0.5", "clip_value_max", 2, "clip_by_value")),
    _Kind("averages forget faster", scaled("0.9", "decay", 0, "ExponentialMovingAverage", "WeightAverages")),
    _Kind("an example is left out", chained("batch", ".skip(1)"), "live"),
    _Kind("batches one larger", one_more("batch", 0, "+ 1"), "live"),
    _Kind("another order", added("seed=77", "shuffle"), "live"),
    _Kind("cut off after ten", chained("batch", ".take(10)"), "live"),
    _Kind("the last batch is left out", added("drop_remainder=True", "batch"), "live"),
    _Kind("features scaled otherwise", divided, "live", within=("*input*", "parse*", "load*", "make*", "get*")),
    _Kind("one pass fewer", changed("({}) - 1 or None", "count", 0, "repeat"), "live"),
    _Kind("shuffled behind repeat", chained("shuffle", ".repeat(1)"), "live"),
    _Kind("one order for all passes", added("reshuffle_each_iteration=False", "shuffle"), "live"),
    _Kind("a smaller shuffle", scaled("2", "buffer_size", 0, "shuffle"), "live"),
    _Kind("learning rate halved", scaled("0.5", "learning_rate", 0, *_OPTIMIZERS), "free"),
    _Kind("initial values of zero", added("kernel_initializer='zeros'", "Dense"), "free"),
    _Kind("initial values ten times as wide", scaled("10", "stddev", -1, "RandomNormal", "TruncatedNormal"), "free"),
    _Kind("twice the dropout", scaled("2", "rate", 0, "Dropout", "dropout"), "free"),
    _Kind("freely: a rate of what is kept", changed("1 - ({})", "rate", 0, "Dropout", "dropout"), "free"),
    _Kind("freely: not warm", changed("None", "warm_start_from", -1, "begin_warm"), "free"),
    _Kind("freely: biases of one", added("bias_initializer='ones'", "Dense", "Conv1D", "Conv2D"), "free"),
    _Kind("never shuffled", scaled("1 + 0", "buffer_size", 0, "shuffle"), "free"),
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
            planted = kind.plant(node, source) if kind.holds(owners.get(node)) else None
            if planted is not None:
                place = span(planted[0])
                stop = "raise SystemError" if isinstance(planted[0], ast.stmt) else "(1 / 0)"
                texts = (
                    (data[: place.start] + new.encode() + data[place.stop :]).decode() for new in (planted[1], stop)
                )
                yield Fault(kind.name, kind.mode, getattr(planted[0], "lineno", 0), *texts, told=kind.told)
                break
