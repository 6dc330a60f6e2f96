"""Modules of TensorFlow that functions and classes are given as arguments."""

from __future__ import annotations

from importlib import import_module

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

handed_imports = import_module("migrator.rules.program.handed_imports")

HEAD = "import tensorflow as tf\nfrom tensorflow.contrib.layers.python.layers import initializers\n"
NETS = """import tensorflow as tf


class Net:
    def __init__(self, x, initializers=None, units=3):
        self.x, self.units = x, units
        self.initializers = initializers

    def weights(self):
        return tf.get_variable("w", [3, self.units], initializer=self.initializers.xavier_initializer())
"""
FUNCTION = """

def weights(inits, units):
    return tf.get_variable("w", [3, units], initializer=inits.xavier_initializer())


w = weights(initializers, 3)
"""
CLASS = """

class Net:
    def __init__(self, inits):
        self.inits = inits

    def weights(self):
        return self.inits.xavier_initializer()


w = Net(initializers).weights()
"""


def expanded(**texts: str) -> dict[str, str]:
    """What becomes of the files of a program."""
    modules = {f"{name}.py": Module(f"{name}.py", text) for name, text in texts.items()}
    drafts = Drafts(Project(modules))
    handed_imports.expand.expand(drafts, list(modules))
    return {path[: -len(".py")]: module.text for path, module in drafts.project.modules.items()}


def test_a_function() -> None:
    after = expanded(program=HEAD + FUNCTION)["program"]
    assert "def weights(units):" in after and "initializer=initializers.xavier" in after and "weights(3)" in after


def test_a_class_of_another_file_gets_the_import() -> None:
    main = HEAD + "from nets import Net\n\nw = Net(1.0, initializers=initializers, units=2).weights()\n"
    after = expanded(program=main, nets=NETS)
    assert "w = Net(1.0, units=2).weights()" in after["program"]
    assert "from tensorflow.contrib.layers.python.layers import initializers" in after["nets"]
    assert "def __init__(self, x, units=3):" in after["nets"] and "self.initializers" not in after["nets"]
    assert "initializer=initializers.xavier_initializer()" in after["nets"]


def test_tensorflow_itself() -> None:
    text = "import tensorflow as tf\n\n\ndef f(tf, x):\n    return tf.nn.relu(x)\n\n\nf(tf, 1.0)\nf(x=2.0, tf=tf)\n"
    assert expanded(program=text)["program"].endswith("def f(x):\n    return tf.nn.relu(x)\n\n\nf(1.0)\nf(x=2.0)\n")


@pytest.mark.parametrize(
    "text",
    [
        FUNCTION + "v = weights(other, 2)\n",
        FUNCTION + "table = [weights]\n",
        FUNCTION.replace("    return", "    inits = choose(inits)\n    return"),
        FUNCTION.replace("    return", "    show(inits)\n    return"),
        FUNCTION.replace("    return", "    print(inits.__name__)\n    return"),
        FUNCTION.replace("    return", "    initializers = 1\n    return"),
        FUNCTION.replace("inits.xavier_initializer()", "None"),
        FUNCTION.replace("def weights", "@traced\ndef weights"),
        FUNCTION.replace("w = weights(initializers, 3)", "w = weights(*[initializers, 3])"),
        CLASS + "Net(initializers).inits = other\n",
        CLASS + "print(Net(initializers).inits)\n",
        CLASS + "\n\nclass Wide(Net):\n    pass\n",
        CLASS.replace("self.inits.xavier", "getattr(self.inits, 'x').xavier"),
        CLASS.replace("self.inits = inits", "if inits:\n            self.inits = inits"),
        CLASS + "v = Net(None)\n",
    ],
)
def test_other_uses_stay(text: str) -> None:
    assert expanded(program=HEAD + text)["program"] == HEAD + text
