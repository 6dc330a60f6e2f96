"""Turns a model_fn into a `keras.Model`: phases, binding times, emission. Knows Python, not TensorFlow: what is known
about TensorFlow's functions comes in through `translate.Translations`, which the rules fill."""
