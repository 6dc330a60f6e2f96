"""Optimizers, schedules and train ops inside a model_fn, and optimizer classes of a program."""
