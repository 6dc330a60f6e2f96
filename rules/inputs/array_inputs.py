"""`tf.estimator.inputs.numpy_input_fn` and `pandas_input_fn`: vendored functions with the same arguments."""

from __future__ import annotations

ARRAY_INPUTS = {
    "tensorflow.estimator.inputs.numpy_input_fn": "numpy_input_fn",
    "tensorflow.estimator.inputs.pandas_input_fn": "pandas_input_fn",
}
