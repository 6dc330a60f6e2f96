"""Nested functions that read attributes of an object of the program."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, model_fn, run, units

EXTRACTOR = """
class Extractor:
    def __init__(self, is_training, units):
        self.is_training = is_training
        self.units = units

    def __call__(self, x):
        def normal(x, name):
            x = tf.layers.dense(x, self.units, name=name)
            return tf.layers.batch_normalization(x, training=self.is_training)

        return tf.layers.dense(normal(normal(x, "a"), "b"), 1)
"""
BODY = """
predictions = Extractor(mode == tf.estimator.ModeKeys.TRAIN, 3)(features["x"])
"""


def test_a_layer_is_told_what_it_reads() -> None:
    text = joined(migrate(model_fn(BODY, before=EXTRACTOR)))
    assert "def __init__(self, name, units):" in text and 'self.a = Normal("a", units=3)' in text
    assert "self.b(self.a(x, training=training), training=training)" in text


@pytest.mark.parametrize("more", ["self.count = 3", "print(self)", "self.show()"])
def test_an_object_that_more_is_done_with_is_handed_whole(more: str) -> None:
    before = EXTRACTOR.replace("            return tf", f"            {more}\n            return tf")
    unit = units(run(model_fn(BODY, before=before), style="auto"))[0]
    assert unit.tier in ("bridge", "manual")
