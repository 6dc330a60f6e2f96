"""Hooks of training, evaluation and prediction."""
