"""`tf.contrib.estimator.forward_features` for old programs on TensorFlow 2.15, which does not have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def forward_features(estimator: Any, keys: str | Iterable[str] | None = None) -> Any:
    """An Estimator whose predictions, and signatures that serve all of them, hold features (None: all) as well."""
    import tensorflow as tf

    export = tf.compat.v1.estimator.export

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        names = list(features) if keys is None else [keys] if isinstance(keys, str) else list(keys)
        forwarded = {name: features[name] for name in names}
        spec.predictions.update(forwarded)
        for key in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, export.PredictOutput):
                output.outputs.update(forwarded)
        return spec

    return tf.compat.v1.estimator.Estimator(model_fn, estimator.model_dir, estimator.config)
