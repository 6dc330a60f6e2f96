"""A program as one process of a cluster: nobody waits for long, and only what is comparable is recorded."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from .recorded.batches import tensors

EVERY_SECONDS = 1.0
"""How often evaluators look for a checkpoint, and how long workers wait for their chief."""


def job() -> str:
    """What this process is, such as ``worker``."""
    return str(json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {}).get("type", "worker"))


def hasten_estimators(steps: int, mirrored: bool) -> None:
    """End `train_and_evaluate` after `steps` (0: as the program does); let its processes start at once."""
    import tensorflow as tf
    from tensorflow_estimator.python.estimator import training

    executor: Any = training._TrainingExecutor
    init = executor.__init__

    def hastened(self: Any, estimator: Any, train_spec: Any, eval_spec: Any, *args: Any, **named: Any) -> None:
        if steps:
            train_spec = train_spec._replace(max_steps=min(steps, train_spec.max_steps or steps))
        eval_spec = eval_spec._replace(start_delay_secs=EVERY_SECONDS, throttle_secs=EVERY_SECONDS)
        estimator._config._experimental_max_worker_delay_secs = EVERY_SECONDS
        estimator._config._keep_checkpoint_max = None  # all: evaluators may be slow
        init(self, estimator, train_spec, eval_spec, *args, **named)

    executor.__init__ = hastened
    manager = tf.compat.v1.train.SessionManager
    create = manager.__init__

    def impatient(self: Any, *args: Any, **named: Any) -> None:
        if len(args) < 5:
            named.setdefault("recovery_wait_secs", EVERY_SECONDS)
        create(self, *args, **named)

    manager.__init__ = impatient
    if mirrored and job() == "evaluator" and hasattr(tf.compat.v1, "disable_eager_execution"):
        tf.compat.v1.disable_eager_execution()  # else the Estimator fails to copy its strategy


def hasten(function: Any, steps: int) -> Any:
    """The same for `train_and_evaluate(model, train_spec, eval_spec)` of a migrated program."""

    def train_and_evaluate(model: Any, train_spec: Any, eval_spec: Any, *args: Any, **named: Any) -> Any:
        if steps:
            train_spec = dataclasses.replace(train_spec, max_steps=min(steps, train_spec.max_steps or steps))
        eval_spec = dataclasses.replace(eval_spec, start_delay_secs=EVERY_SECONDS, throttle_secs=EVERY_SECONDS)
        model.run_state.checkpoints.manager._max_to_keep = None
        return function(model, train_spec, eval_spec, *args, **named)

    return train_and_evaluate


def batches_from_file(path: str, batches: Any, features: Any, labels: Any) -> Any:
    """An endless Dataset of `batches`, nested arrays of the specs of both, by way of a file that workers can read."""
    import tensorflow as tf

    spec = (features,) if labels is None else (features, labels)
    components = tf.nest.flatten(spec, expand_composites=True)
    with tf.io.TFRecordWriter(path) as writer:
        for batch in batches:
            flat = tf.nest.flatten(tensors(batch), expand_composites=True)
            texts = [tf.io.serialize_tensor(part).numpy() for part in flat]
            feature = {"parts": tf.train.Feature(bytes_list=tf.train.BytesList(value=texts))}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

    def read(record: Any) -> Any:
        parts = tf.io.parse_single_example(record, {"parts": tf.io.FixedLenFeature([len(components)], tf.string)})
        flat = [tf.io.parse_tensor(parts["parts"][i], one.dtype) for i, one in enumerate(components)]
        flat = [tf.ensure_shape(part, one.shape) for part, one in zip(flat, components)]
        return tf.nest.pack_sequence_as(spec, flat, expand_composites=True)

    return tf.data.TFRecordDataset(path).map(read).repeat()


def of_an_earlier_run(folder: str, started: float) -> bool:
    """Whether `folder` holds a checkpoint that is no one's of this run, which has `started` then."""
    index = os.path.join(folder, "checkpoint")
    return os.path.exists(index) and os.path.getmtime(index) < started
