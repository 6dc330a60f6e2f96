"""A model_fn that stays a graph of TensorFlow 1 inside a Keras model."""
