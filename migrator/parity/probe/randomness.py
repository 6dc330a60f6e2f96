"""Random numbers of models that depend on nothing but their shape, so that both sides draw the same.

Each side has a generator of its own for each operation, and starts it anew at other times. What is drawn in a model_fn, or
while Keras traces the steps of a model, is computed instead; initial values and input pipelines draw as ever.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Callable

from .tf1 import sampling

SEED = (20161, 8)
NOTE = "random numbers of the model are equal on both sides: computed from their shape, the same at every step"
LOOSE = "random numbers of `{}` are not made equal: what depends on them may differ"
_LOOSE = ("random_gamma", "random_poisson_v2", "parameterized_truncated_normal")


class Draws:
    """Whether random numbers are those of a model, and what the report says of them."""

    def __init__(self, note: Callable[[str], None], active: bool) -> None:
        self.note, self.active = note, active
        self.noted: set[str] = set()

    def say(self, text: str) -> None:
        """Add a note to the report, once."""
        if text not in self.noted:
            self.noted.add(text)
            self.note(text)

    @contextlib.contextmanager
    def switched(self, active: bool) -> Iterator[None]:
        """Draw as a model does, or as ever; a strategy may call the model_fn in threads."""
        before, self.active = self.active, active
        try:
            yield
        finally:
            self.active = before

    def of_model(self) -> bool:
        """Whether what is drawn now belongs to a model that is being traced."""
        import tensorflow as tf

        if not self.active or tf.compat.v1.executing_eagerly():
            return False
        scope: str = tf.compat.v1.get_default_graph().get_name_scope()
        return "Initializer" not in scope.split("/")


def install(note: Callable[[str], None], active: bool) -> Draws:
    """Patch the operations of TensorFlow; `active`: also outside of `Draws.switched`."""
    from tensorflow.python.data.ops import dataset_ops
    from tensorflow.python.ops import gen_candidate_sampling_ops, gen_random_ops

    draws = Draws(note, active)
    for name, function in _functions().items():
        _patch(draws, gen_random_ops, name, function, NOTE)
    for name in _LOOSE:
        _patch(draws, gen_random_ops, name, getattr(gen_random_ops, name, None), LOOSE.format(name))
    for name, sampler in sampling.SAMPLERS.items():
        _patch(draws, gen_candidate_sampling_ops, name, sampler, NOTE)
    name = "learned_unigram_candidate_sampler"
    _patch(draws, gen_candidate_sampling_ops, name, getattr(gen_candidate_sampling_ops, name), LOOSE.format(name))

    wrapper: Any = getattr(dataset_ops, "StructuredFunctionWrapper", None)
    if wrapper is None:
        from tensorflow.python.data.ops import structured_function

        wrapper = structured_function.StructuredFunctionWrapper
    init = wrapper.__init__

    def traced(self: Any, *args: Any, **named: Any) -> None:
        with draws.switched(False):
            init(self, *args, **named)

    wrapper.__init__ = traced
    return draws


def _patch(draws: Draws, module: Any, name: str, function: Any, note: str) -> None:
    original = getattr(module, name, None)
    if original is None:
        return

    def draw(*args: Any, **named: Any) -> Any:
        if not draws.of_model():
            return original(*args, **named)
        draws.say(note)
        return function(*args, **named)

    setattr(module, name, draw)


def _functions() -> dict[str, Callable[..., Any]]:
    """What is computed instead, by the name of the operation, with its parameters."""
    import tensorflow as tf

    def standard_normal(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        return tf.random.stateless_normal(shape, SEED, dtype=dtype, name=name)

    def truncated_normal(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        return tf.random.stateless_truncated_normal(shape, SEED, dtype=dtype, name=name)

    def uniform(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        return tf.random.stateless_uniform(shape, SEED, dtype=dtype, name=name)

    def uniform_int(shape: Any, minval: Any, maxval: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        dtype = tf.convert_to_tensor(maxval).dtype
        return tf.random.stateless_uniform(shape, SEED, minval=minval, maxval=maxval, dtype=dtype, name=name)

    def multinomial(
        logits: Any, num_samples: Any, seed: int = 0, seed2: int = 0, output_dtype: Any = None, name: Any = None
    ) -> Any:
        return tf.random.stateless_categorical(logits, num_samples, SEED, dtype=output_dtype or tf.int64, name=name)

    def shuffle(value: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        order = tf.argsort(tf.random.stateless_uniform(tf.shape(value)[:1], SEED))
        return tf.gather(value, order, name=name)

    return {
        "random_standard_normal": standard_normal,
        "truncated_normal": truncated_normal,
        "random_uniform": uniform,
        "random_uniform_int": uniform_int,
        "multinomial": multinomial,
        "random_shuffle": shuffle,
    }
