"""Recurrent cells and conditional random fields inside a model_fn."""
