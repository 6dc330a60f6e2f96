"""Understands a model_fn: phases, binding times, layers, training. Knows Python, not TensorFlow: what is known
about TensorFlow's functions comes in through `function.translate.Translations`, which the rules fill."""
