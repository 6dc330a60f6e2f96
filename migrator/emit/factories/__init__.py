"""The function that makes and compiles a model."""
