"""The start of a training with Horovod, whose processes all take the variables of one."""

from __future__ import annotations

import horovod.tensorflow
import tensorflow as tf


class BroadcastVariables(tf.keras.callbacks.Callback):
    """Lets the processes of Horovod begin with the variables of one of them, those of the optimizer included.

    `train` calls `on_restore` when it has read the newest checkpoint, which is that of the process `root_rank` only. The
    callback of Horovod comes after the first step, which each process takes from first values of its own.
    """

    def __init__(self, root_rank: int, device: str = "") -> None:
        super().__init__()
        self.root_rank, self.device = root_rank, device

    def on_restore(self, model: tf.keras.Model) -> None:
        """Overwrites all variables by those of the process `root_rank`."""
        with tf.device(self.device):
            horovod.tensorflow.broadcast_variables([*model.variables, *model.optimizer.variables], self.root_rank)
