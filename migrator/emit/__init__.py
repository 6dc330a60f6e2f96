"""Writes the class of a model and the function that compiles it."""
