"""What programs use that Keras 3 does not have."""

from __future__ import annotations

import tensorflow as tf


def keras_2(use: str, otherwise: str = "") -> int:
    """The version of Keras, 2. Raises RuntimeError with Keras 3, which `use` does without; `otherwise` is said as well."""
    if hasattr(tf.keras, "ops"):
        raise RuntimeError(f"{use} need Keras 2: install tf_keras, and set TF_USE_LEGACY_KERAS=1{otherwise}.")
    return 2
