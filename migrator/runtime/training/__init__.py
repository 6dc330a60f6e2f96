"""Trains, evaluates and predicts with a compiled model, and says how it goes."""
