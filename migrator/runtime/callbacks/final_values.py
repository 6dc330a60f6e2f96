"""The callback for what a FinalOpsHook did."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


class FinalValues(tf.keras.callbacks.Callback):
    """Keeps in `final_ops_values`, as arrays, what `final_values` of the model gives when a training ends."""

    final_ops_values: Any = None

    def on_train_end(self, logs: Any = None) -> None:
        self.final_ops_values = tf.nest.map_structure(
            lambda value: tf.convert_to_tensor(value).numpy(), self.model.final_values()
        )
