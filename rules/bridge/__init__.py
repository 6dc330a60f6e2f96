"""Programs whose model_fn stays a graph of TensorFlow 1."""
