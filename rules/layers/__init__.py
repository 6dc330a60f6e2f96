"""Layers and variables inside a model_fn."""
