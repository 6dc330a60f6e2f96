"""Optimizers of Keras for tables that are looked up, which compute the same with Keras 2 and Keras 3."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class Adam(tf.keras.optimizers.Adam):
    """Adds up the gradients of an id that a batch has several times, as Keras 2 does. Keras 3 would square each of them."""

    def update_step(self, gradient: Any, variable: tf.Variable, *rate: Any) -> None:  # Keras 3 gives the rate
        super().update_step(tf.convert_to_tensor(gradient) if rate else gradient, variable, *rate)


class Adagrad(tf.keras.optimizers.Adagrad):
    """Adds up the gradients of an id that a batch has several times, as Keras 2 does. Keras 3 would square each of them."""

    def update_step(self, gradient: Any, variable: tf.Variable, *rate: Any) -> None:  # Keras 3 gives the rate
        super().update_step(tf.convert_to_tensor(gradient) if rate else gradient, variable, *rate)
