"""Ways of writing what stands around a model_fn, brought into one before the program is looked at."""
