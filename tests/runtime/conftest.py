"""Two logical processors, so that tests can train on two replicas; must be set before TensorFlow first computes."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)


@pytest.fixture(autouse=True)
def random_numbers_of_its_own(request: pytest.FixtureRequest) -> None:
    """Each test draws the same numbers, whichever tests of its file ran before it in the process."""
    random = getattr(request.module, "RANDOM", None)
    if isinstance(random, np.random.RandomState):
        random.seed(0)
