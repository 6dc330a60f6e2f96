"""Moves TensorFlow 1 Estimator programs to Keras and tf.distribute, and proves that they train to the same losses."""

__version__ = "0.1.0"
