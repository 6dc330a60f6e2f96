"""Registries that several files fill, and those that are objects."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, migrate, migrate_all, run, units

REGISTRY = """_NETS = {}


def register(name):
    def wrap(function):
        _NETS[name] = function
        return function

    return wrap


def get(name):
    if name not in _NETS:
        raise ValueError(name)
    return _NETS[name]
"""
END = "".join(f"    {line}\n" for line in f"{LOSS}\n{TRAIN_OP}\n{SPEC}".splitlines())


def net(name: str, units_: int, register: str = "register") -> str:
    head = "import tensorflow as tf\n\nfrom registry import register\n\n\n" if register == "register" else ""
    return (
        f'{head}@{register}("{name}")\ndef {name}(features, labels, mode, params):\n'
        f"    net = tf.layers.dense(features, {units_})\n    predictions = tf.layers.dense(net, 1)\n{END}"
    )


MAIN = """import sys

import tensorflow as tf

import deep
import registry
import wide

estimator = tf.estimator.Estimator(registry.get(sys.argv[1]), params={})
"""
FILES = {"registry.py": REGISTRY, "deep.py": net("deep", 8), "wide.py": net("wide", 9), "main.py": MAIN}


def test_the_place_that_reads_it_gets_a_table() -> None:
    after = migrate_all(FILES)
    table = 'NETS = {\n    "deep": deep.create_deep_model,\n    "wide": wide.create_wide_model,\n}\n'
    assert table in after["main.py"] and "NETS[sys.argv[1]](params={})" in after["main.py"]
    assert "register" not in after["deep.py"] and "_NETS" not in after["registry.py"]


OBJECT = """import sys

import tensorflow as tf


class Registry:
    def __init__(self, name):
        self.name = name
        self._items = {}

    def add(self, name):
        def wrap(function):
            self._items[name] = function
            return function

        return wrap

    def get(self, name):
        \"\"\"The one of a name.\"\"\"
        return self._items[name]


NETS = Registry("nets")


"""
USE = "\n\nestimator = tf.estimator.Estimator(NETS.get(sys.argv[1]), params={})\n"


def test_an_object_with_a_table() -> None:
    text = migrate(OBJECT + net("deep", 8, "NETS.add") + "\n\n" + net("wide", 9, "NETS.add") + USE)
    assert 'NETS = {\n    "deep": create_deep_model,\n    "wide": create_wide_model,\n}\n' in text
    assert "NETS[sys.argv[1]](params={})" in text and "NETS.add" not in text


def test_a_table_that_its_own_file_reads_below() -> None:
    program = f"import sys\n\nimport tensorflow as tf\n\n{REGISTRY}\n\n{net('deep', 8, 'register ')}"
    program = program.replace("@register (", "@register(")
    text = migrate(f"{program}\n\nestimator = tf.estimator.Estimator(get(sys.argv[1]), params={{}})\n")
    assert '_NETS = {"deep": create_deep_model}' in text


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("main.py", "estimator =", "print(registry.get('deep'))\nestimator ="),
        ("main.py", "estimator =", "print(list(registry._NETS))\nestimator ="),
        ("main.py", "estimator =", "registry._NETS['other'] = make()\nestimator ="),
        ("main.py", "estimator =", "keep(registry.register)\nestimator ="),
        ("deep.py", '@register("deep")', "@register(NAME)"),
        ("deep.py", '@register("deep")', '@traced\n@register("deep")'),
        ("deep.py", '@register("deep")', '@register("wide")'),
        ("registry.py", "        return function", "        return traced(function)"),
        ("registry.py", "    return _NETS[name]", "    return _NETS[name.lower()]"),
    ],
)
def test_what_is_more_than_that_stays(file: str, old: str, new: str) -> None:
    assert old in FILES[file]
    outcomes = run({**FILES, file: FILES[file].replace(old, new, 1)})
    assert (
        "_NETS[sys" not in outcomes["main.py"].after.decode() and "NETS = {" not in outcomes["main.py"].after.decode()
    )
    assert not [d for o in outcomes.values() for d in o.remaining if d.code.startswith("E0")] and units(outcomes)
