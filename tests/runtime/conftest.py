"""Two logical processors, so that tests can train on two replicas; must be set before TensorFlow first computes.

Operations do not remember where they were made: no test asks, and beneath pytest that is a fifth of the time of a graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.util import tf_stack

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

PLACE = tf_stack.extract_stack()


def same_place(stacklevel: int = 1) -> Any:
    return PLACE


tf_stack.extract_stack = same_place


@pytest.fixture(autouse=True)
def random_numbers_of_its_own(request: pytest.FixtureRequest) -> None:
    """Each test draws the same numbers, whichever tests of its file ran before it in the process."""
    random = getattr(request.module, "RANDOM", None)
    if isinstance(random, np.random.RandomState):
        random.seed(0)
