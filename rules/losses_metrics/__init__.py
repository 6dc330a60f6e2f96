"""Losses, metrics and summaries inside a model_fn."""
