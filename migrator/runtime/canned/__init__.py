"""The canned Estimators as Keras models, and their heads."""
