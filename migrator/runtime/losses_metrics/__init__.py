"""Losses and metrics that Keras lacks or computes otherwise."""
