"""Evaluates a model while it trains, without a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.training.training import evaluate


class InMemoryEvaluator(tf.keras.callbacks.Callback):
    """Evaluates the weights as they are: before the first step, after every `every_n_iter` steps, and at the end.

    The other arguments are those of `evaluate`. ValueError if `every_n_iter` is not positive.
    """

    def __init__(
        self,
        model: tf.keras.Model,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        callbacks: Sequence[tf.keras.callbacks.Callback] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        super().__init__()
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"every_n_iter must be positive, given: {every_n_iter}")
        self.evaluated, self.input_fn, self.every_n_iter = model, input_fn, every_n_iter
        self.arguments: dict[str, Any] = {"steps": steps, "name": name, "callbacks": callbacks or ()}

    def on_train_begin(self, logs: Any = None) -> None:
        self.count = 0
        self.evaluate()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.count += 1
        if self.count % self.every_n_iter == 0:
            self.evaluate()

    def on_train_end(self, logs: Any = None) -> None:
        self.evaluate()

    def evaluate(self) -> None:
        evaluate(self.evaluated, self.input_fn, **self.arguments)
