"""Messages about the progress of a training."""

from __future__ import annotations

import logging
from typing import Any

import absl.logging
import tensorflow as tf


def log_info(message: str, *values: Any) -> None:
    """Logs what an Estimator logged: to TensorFlow's logger, or to absl's, which ``tf.logging`` became, if only that one
    shows it."""
    logger = tf.get_logger()
    (logger if logger.isEnabledFor(logging.INFO) else absl.logging).info(message, *values)
