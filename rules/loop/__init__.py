"""The loop of a program: `fit`, `evaluate` and `predict` of its Keras model, where all uses of its Estimator are understood."""
