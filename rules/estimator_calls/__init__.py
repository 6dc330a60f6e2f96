"""The code around a model_fn: Estimators, their configuration, training, evaluation, export."""
