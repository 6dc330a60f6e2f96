"""Writes a loop: what stands around a model that is made, and its trainings, evaluations and predictions."""
