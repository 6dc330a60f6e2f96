"""Messages go where the program shows them: to the logger of TensorFlow, or to that of absl."""

from __future__ import annotations

import absl.logging
import pytest
import tensorflow as tf

from migrator.runtime.training.messages import log_info


@pytest.mark.parametrize(("of_tensorflow", "name"), [("INFO", "tensorflow"), ("WARNING", "absl"), ("ERROR", "absl")])
def test_the_logger(of_tensorflow: str, name: str, caplog: pytest.LogCaptureFixture) -> None:
    before, verbosity = tf.get_logger().level, absl.logging.get_verbosity()
    try:
        tf.get_logger().setLevel(of_tensorflow)
        absl.logging.set_verbosity(absl.logging.INFO)
        log_info("step %d", 3)
        assert [(r.name, r.getMessage()) for r in caplog.records if r.name in ("tensorflow", "absl")] == [
            (name, "step 3")
        ]
    finally:
        tf.get_logger().setLevel(before)
        absl.logging.set_verbosity(verbosity)
