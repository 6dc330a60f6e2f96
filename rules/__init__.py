"""What is known about TensorFlow: one module per API family, imported as `migrator.rules`."""
