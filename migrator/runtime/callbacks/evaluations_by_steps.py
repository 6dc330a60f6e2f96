"""Evaluates while a training runs."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class EvaluateEvery(tf.keras.callbacks.Callback):
    """Evaluates at the start, every `every_n_steps` and at the end of a training; `folder` gets summaries of the metrics."""

    def __init__(self, dataset: tf.data.Dataset, every_n_steps: int = 100, folder: str | None = None) -> None:
        super().__init__()
        self.dataset, self.every_n_steps = dataset, every_n_steps
        self.writer = tf.summary.create_noop_writer() if folder is None else tf.summary.create_file_writer(folder)

    def on_train_begin(self, logs: Any = None) -> None:
        self.evaluate()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.step() >= self.evaluated + self.every_n_steps:
            self.evaluate()

    def on_train_end(self, logs: Any = None) -> None:
        if self.step() > self.evaluated:
            self.evaluate()

    def step(self) -> int:
        return int(self.model.optimizer.iterations.numpy())

    def evaluate(self) -> None:
        self.evaluated = self.step()
        results = self.model.evaluate(self.dataset, return_dict=True)
        with self.writer.as_default(self.evaluated), tf.summary.record_if(True):  # whatever TensorBoard says
            for name, value in results.items():
                tf.summary.scalar(name, value)
