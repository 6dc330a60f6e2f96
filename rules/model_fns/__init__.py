"""The model_fns of a program and what is known about them as a whole."""
