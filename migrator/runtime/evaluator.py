"""The checkpoints of a training that goes on in other processes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import tensorflow as tf


def new_checkpoints(
    model: tf.keras.Model, max_steps: int | None, start_delay_secs: float, throttle_secs: float
) -> Iterator[int]:
    """Yields the step of each checkpoint that is the newest in `model_dir`, `throttle_secs` apart, to `max_steps`.

    Without `max_steps` it goes on until the process is ended.
    """
    tf.get_logger().info("Waiting %g secs before the first evaluation.", start_delay_secs)
    time.sleep(start_delay_secs)
    done, last = 0, None
    while max_steps is None or done < max_steps:
        started, path = time.time(), tf.train.latest_checkpoint(model.run_config.model_dir)
        if path not in (None, last):
            last, done = path, int(path.rpartition("-")[2])
            yield done
        if max_steps is None or done < max_steps:
            time.sleep(max(0.1, started + throttle_secs - time.time()))
