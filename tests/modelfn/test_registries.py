"""Networks that decorators enter into a table, and functions that look them up."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, method, migrate, migrate_all, model_fn

NETWORKS = """
{one}
def wide(x, units):
    return tf.layers.dense(x, units, name="wide")


{other}
def deep(x, units):
    x = tf.layers.dense(x, 4)
    return tf.layers.dense(x, units)
"""
BY_NAME = '''
MODELS = {}


def register(name):
    """Decorator."""

    def decorator(function):
        if name in MODELS:
            raise ValueError(name)
        MODELS[name] = function
        return function

    return decorator

''' + NETWORKS.format(one='@register("a")', other='@register(name="b")')
BY_FUNCTION = """
MODELS = dict()


def register(function):
    MODELS[function.__name__] = function
    return function

""" + NETWORKS.format(one="@register", other="@register")
TABLE = """
MODELS = {"wide": wide, "deep": deep}
"""
PLAIN = NETWORKS.format(one="", other="") + TABLE
GETTER = '''

def get_model(name):
    """The network of that name."""
    if name not in MODELS:
        raise ValueError("unknown: %s" % name)
    return MODELS[name]
'''
CHOSEN = 'predictions = MODELS[params["model"]](features["x"], params["units"])'


@pytest.mark.parametrize(
    ("before", "table"),
    [(BY_NAME, 'MODELS = {"a": Wide, "b": Deep}\n'), (BY_FUNCTION, 'MODELS = {"wide": Wide, "deep": Deep}\n')],
)
def test_a_registry_becomes_a_table(before: str, table: str) -> None:
    text = migrate(model_fn(CHOSEN, before=before))
    assert text.count("MODELS = ") == 1 and f"\n\n\n{table}" in text
    assert "register" not in text
    assert 'MODELS[params["model"]](params["units"])' in method(text, "__init__", of="Model")


@pytest.mark.parametrize("before", [PLAIN + GETTER, BY_NAME + GETTER, BY_FUNCTION + GETTER])
@pytest.mark.parametrize(
    "body",
    [
        'predictions = get_model(params["model"])(features["x"], params["units"])',
        'network = get_model(params["model"])\npredictions = network(features["x"], params["units"])',
    ],
)
def test_a_function_that_looks_networks_up_stays(before: str, body: str) -> None:
    text = migrate(model_fn(body, before=before))
    assert 'raise ValueError("unknown: %s" % name)\n    return MODELS[name]' in method(text, "get_model")
    assert 'get_model(params["model"])' in method(text, "__init__", of="Model")
    assert "class Wide(tf.keras.layers.Layer)" in text and "class Deep(tf.keras.layers.Layer)" in text


def test_a_registry_of_another_file() -> None:
    network = 'predictions = networks.get_model(params["model"])(features["x"], params["units"])'
    files = {
        PATH: model_fn(network, before="import networks\n"),
        "networks.py": "import tensorflow as tf\n" + BY_NAME + GETTER,
    }
    after = migrate_all(files)
    assert 'MODELS = {"a": Wide, "b": Deep}' in after["networks.py"] and "register" not in after["networks.py"]
    assert 'networks.get_model(params["model"])(params["units"])' in after[PATH]


@pytest.mark.parametrize(
    "before",
    [
        BY_NAME.replace('@register("a")', '@register("b")'),
        BY_NAME.replace('@register("a")', "@register(NAME)"),
        BY_NAME.replace('@register("a")', '@other\n@register("a")'),
        BY_NAME.replace("        return function\n", "        print(name)\n        return function\n"),
        BY_NAME.replace("MODELS[name] = function", "MODELS[name.lower()] = function"),
        BY_NAME.replace("MODELS = {}", "MODELS = {'c': None}"),
        BY_NAME + "\nregister('c')(deep)\n",
        BY_NAME + "\nMODELS['c'] = deep\n",
        BY_NAME + "\n__all__ = ['register']\n",
        BY_FUNCTION.replace("function.__name__", "function.__name__[1:]"),
        BY_FUNCTION.replace("    return function\n", "    return lambda *args: function(*args)\n"),
        BY_FUNCTION.replace("MODELS[function", "OTHERS[function").replace("MODELS = ", "OTHERS = {}\nMODELS = "),
    ],
)
def test_other_registries_are_left(before: str) -> None:
    manual_reason(model_fn(CHOSEN, before=before))


def test_a_registry_that_other_files_import_is_left() -> None:
    files = {
        PATH: model_fn(CHOSEN.replace("MODELS", "networks.MODELS"), before="import networks\nimport more\n"),
        "networks.py": "import tensorflow as tf\n" + BY_NAME,
        "more.py": "import tensorflow as tf\nfrom networks import register\n",
    }
    manual_reason(files)


def test_a_function_that_says_what_it_chooses() -> None:
    getter = GETTER.replace("return MODELS[name]", "print(name)\n    return MODELS[name]")
    body = 'predictions = get_model(params["model"])(features["x"], params["units"])'
    text = migrate(model_fn(body, before=PLAIN + getter))
    assert "    print(name)\n    return MODELS[name]\n" in text


@pytest.mark.parametrize(
    "getter",
    [
        GETTER.replace("return MODELS[name]", "return OTHERS[name]"),
        GETTER.replace("return MODELS[name]", "yield MODELS[name]"),
        GETTER.replace("def get_model", "@cached\ndef get_model"),
    ],
)
def test_other_functions_are_left(getter: str) -> None:
    body = 'predictions = get_model(params["model"])(features["x"], params["units"])'
    manual_reason(model_fn(body, before=PLAIN + getter))
