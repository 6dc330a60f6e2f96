"""Names of TensorFlow 1 and what they are called now."""
