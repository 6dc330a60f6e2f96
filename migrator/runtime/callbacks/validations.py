"""Evaluates amid an epoch, where nobody knows how many batches it has."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class ValidateEvery(tf.keras.callbacks.Callback):
    """Evaluates every so many steps of an epoch, and at its end; `callbacks` are told of that as of the end of an epoch."""

    def __init__(self, dataset: tf.data.Dataset, steps: int, folder: str | None = None, callbacks: Any = ()) -> None:
        super().__init__()
        self.dataset, self.steps, self.callbacks = dataset, steps, callbacks
        self.writer = tf.summary.create_noop_writer() if folder is None else tf.summary.create_file_writer(folder)

    def set_model(self, model: tf.keras.Model) -> None:
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)

    def on_train_begin(self, logs: Any = None) -> None:
        self.step = self.evaluated = int(self.model.optimizer.iterations.numpy())
        for callback in self.callbacks:
            callback.on_train_begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.step += 1
        if self.step == self.evaluated + self.steps:
            self.evaluate()

    def on_train_end(self, logs: Any = None) -> None:
        if self.step > self.evaluated:
            self.evaluate()

    def evaluate(self) -> None:
        self.evaluated = self.step
        results = self.model.evaluate(self.dataset, return_dict=True)
        self.model.reset_metrics()  # those of the training begin anew, as in another epoch
        with self.writer.as_default(self.step), tf.summary.record_if(True):  # whatever TensorBoard says
            for name, value in results.items():
                tf.summary.scalar(name, value)
        for callback in self.callbacks:
            logs = {f"val_{name}": value for name, value in results.items()}
            callback.on_epoch_end((self.step - 1) // self.steps, logs)
