"""Goes into programs whose layers for feature columns Keras 3 lacks, so that these say so when they start."""

from __future__ import annotations

from migrator.runtime.training.keras_versions import keras_2

KERAS_OF_COLUMNS = keras_2("Feature columns", ", or migrate with --features preprocessing")
