"""Optimizers and schedules with the numbers of TensorFlow 1."""
