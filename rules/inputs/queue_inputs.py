"""Inputs that queues and their threads feed: nothing runs these in TensorFlow 2, so such programs are refused, with advice."""

from __future__ import annotations

import ast
from collections.abc import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module

from ..estimator_calls.sessions import on_own_graph
from ..hooks.fed_hooks import is_fed

_BATCHES = "dataset.batch(batch_size)"
_SHUFFLED = "dataset.shuffle(capacity).batch(batch_size)"
_ADVICE = {
    "train.string_input_producer": "tf.data.Dataset.from_tensor_slices(filenames)",
    "train.input_producer": "tf.data.Dataset.from_tensor_slices(tensor)",
    "train.slice_input_producer": "tf.data.Dataset.from_tensor_slices(tensors)",
    "train.range_input_producer": "tf.data.Dataset.range(limit)",
    "train.limit_epochs": "dataset.repeat(num_epochs)",
    "train.batch": _BATCHES,
    "train.maybe_batch": _BATCHES,
    "train.batch_join": _BATCHES,
    "train.shuffle_batch": _SHUFFLED,
    "train.maybe_shuffle_batch": _SHUFFLED,
    "train.shuffle_batch_join": _SHUFFLED,
    "train.start_queue_runners": "a dataset, which needs no threads",
    "train.add_queue_runner": "a dataset, which needs no threads",
    "train.QueueRunner": "tf.data.Dataset.from_generator",
    "TextLineReader": "tf.data.TextLineDataset(filenames)",
    "TFRecordReader": "tf.data.TFRecordDataset(filenames)",
    "FixedLengthRecordReader": "tf.data.FixedLengthRecordDataset(filenames, record_bytes)",
    "WholeFileReader": "dataset.map(tf.io.read_file)",
    "IdentityReader": "the dataset itself",
    "LMDBReader": "tf.data.Dataset.from_generator",
}


def refuse_queues(module: Module, called: Callable[[Module, ast.expr], bool]) -> None:
    """Raise Unsupported at the first part of a queue that the program uses; `called` says whether any code gets there."""
    for node, name in module.references():
        short = name[len("tensorflow.") :] if name.startswith("tensorflow.") else ""
        if short == "train.FeedFnHook" and not is_fed(module, node):
            raise Unsupported(
                "tf.train.FeedFnHook feeds placeholders of a graph, which an input_fn does not make in TensorFlow 2: "
                "first let the input_fn return a tf.data.Dataset of what is fed",
                node,
            )
        if short in _ADVICE and not on_own_graph(module, node) and called(module, node):
            raise Unsupported(
                f"tf.{short} feeds queues, which nothing runs in TensorFlow 2: first write the input_fn with tf.data, "
                f"which TensorFlow 1 has from 1.4 on, here {_ADVICE[short]}",
                node,
            )
