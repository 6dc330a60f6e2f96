"""Trains to step 40 with summaries of each loss; with a second argument, ends itself by SIGKILL after that step."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np
import tensorflow as tf

from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.training import configure, train


class Kill(tf.keras.callbacks.Callback):
    """Ends the process as a machine that fails would."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch + 1 == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)


def input_fn() -> Any:
    """The same batch at every step: where the data stand is not saved, as it was not by an Estimator."""
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    return tf.data.Dataset.from_tensors((x, np.sin(3 * x))).repeat()


def main() -> None:
    """Train."""
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
    model.compile(AdamOptimizer(0.05), "mse")
    config = RunConfig(model_dir=sys.argv[1], save_checkpoints_steps=10, save_summary_steps=1)
    train(configure(model, config), input_fn, max_steps=40, callbacks=[Kill()] if len(sys.argv) > 2 else [])


if __name__ == "__main__":
    main()
