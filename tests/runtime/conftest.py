"""Two logical processors, so that tests can train on two replicas; must be set before TensorFlow first computes."""

from __future__ import annotations

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
