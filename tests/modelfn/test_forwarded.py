"""Methods that hand on all that they are given."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, migrate, migrate_all, model_fn, run, units

NET = '''
class Net:
    def __init__(self, units):
        self._units = units

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def call(self, features, scale=2.0):
        """A layer."""
        return scale * tf.layers.dense(features["x"], self._units)
'''


def program(net: str = NET, call: str = "Net(3)(features)") -> str:
    return model_fn(f"predictions = {call}", before=f"import tensorflow as tf\n\n{net}")


@pytest.mark.parametrize(
    ("call", "scale"),
    [("Net(3)(features)", "2.0"), ("Net(3)(features, 4.0)", "4.0"), ("Net(3)(features, scale=4.0)", "4.0")],
)
def test_a_call_that_is_handed_on(call: str, scale: str) -> None:
    text = migrate(program(call=call))
    assert "tf.keras.layers.Dense(3)" in text and "*args" not in text and "_units" not in text
    assert scale in text and {"2.0": "4.0", "4.0": "2.0"}[scale] not in text


@pytest.mark.parametrize(
    "net",
    [
        NET.replace("return self.call(*args", "print(args)\n        return self.call(*args"),
        NET.replace("return self.call(*args", "return self.call(*args[::-1]"),
        NET.replace("features, scale=2.0", "features, *scales, scale=2.0"),
        NET.replace("scale=2.0", "scale=SCALE"),
        NET.replace("return self.call(*args, **kwargs)", "return self.call(*args, **kwargs) * 2.0"),
    ],
)
def test_what_does_more_is_left(net: str) -> None:
    (unit,) = units(run(program(net.replace("class Net", "SCALE = 2.0\n\n\nclass Net"))))
    assert unit.tier == "manual" and "in a method that is not followed" in unit.reason


PARTS = """

class Parts:
    def __init__(self, units):
        self.units = units

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def call(self, x):
        self.parts = []
        for units in self.units:
            self.parts.append(tf.layers.dense(x, units))
        return tf.add_n(self.parts)


class Net:
    def __init__(self, units):
        self.units = units

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)

    def call(self, x):
        parts = Parts(self.units)
        return parts(x) + tf.concat(parts.parts, axis=1)
"""


def test_an_object_whose_class_has_the_methods_of_another_one() -> None:
    """Those of the outer class go where they are written out; those of the inner one are called without being named."""
    text = migrate(model_fn("predictions = Net([1, 1])(features['x'])", before=PARTS))
    assert "tf.keras.layers.Dense(units) for units in" in text and "Parts" not in text


@pytest.mark.parametrize(
    "use",
    ["parts = [Parts([1])]\nx = parts[0](x)", "x = run(Parts([1]), x)", "self.inner = Parts([1])\nx = self.inner(x)"],
)
def test_an_object_that_is_handed_around_keeps_what_calls_run(use: str) -> None:
    lines = "\n        ".join(use.split("\n"))
    before = PARTS.replace(
        "parts = Parts(self.units)\n        return parts(x) + tf.concat(parts.parts, axis=1)",
        f"{lines}\n        return x",
    )
    source = model_fn(
        "predictions = Net([1, 1])(features['x'])", before=before + "\n\ndef run(layer, x):\n    return layer(x)\n"
    )
    text = run(source)[PATH].after.decode()
    assert "Parts" not in text or "def __call__" in text


def test_a_function_of_another_file_that_a_variable_is_named_like() -> None:
    parts = (
        "import tensorflow.compat.v1 as tf\n\n\ndef parts(x):\n    return tf.square(x)\n"
        + PARTS.partition("class Net")[0]
    )
    parts = parts.replace("tf.add_n(self.parts)", "parts(tf.add_n(self.parts))")
    source = model_fn(
        "predictions = Parts([1, 1])(features['x'])", before="import tensorflow as tf\nfrom layers import Parts\n"
    )
    text = migrate_all({PATH: source, "layers.py": parts})[PATH]
    assert "from layers import parts as parts_2\n" in text and "return parts_2(tf.add_n(parts))" in text


def test_code_of_version_1_that_comes_to_a_file_that_says_no_version() -> None:
    parts = """import tensorflow.compat.v1 as tf


def parts(x):
    return tf.square(x)


class Parts:
    def __init__(self, units):
        self.units = units

    def __call__(self, x):
        self.kept = tf.nn.dropout(tf.layers.dense(x, self.units), 0.9)
        return parts(self.kept)
"""
    net = """import tensorflow as tf
from parts import Parts


class Net:
    def __call__(self, x):
        parts = Parts(1)
        return tf.nn.relu(parts(x)) + parts.kept
"""
    source = model_fn("predictions = Net()(features['x'])", before="import tensorflow as tf\nfrom net import Net\n")
    texts = migrate_all({PATH: source, "parts.py": parts, "net.py": net})
    assert "tf.nn.dropout(" in texts["net.py"] and "rate=1 - 0.9)" in texts["net.py"]
