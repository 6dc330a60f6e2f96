"""The class of Keras models that a canned Estimator becomes."""
