"""Checkpoints, warm starts and the names of variables."""
