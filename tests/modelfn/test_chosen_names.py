"""Model_fns that a program finds by a name made at run time: a table holds what they become."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate_all

NET = """\
def {name}(features, labels, mode):
    logits = tf.layers.dense(features["x"], {units})
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)
"""
TF = "import tensorflow as tf\n\n\n"
DEEP, WIDE = NET.format(name="deep", units=3), NET.format(name="wide", units=1)
NETS = f"{TF}{DEEP}\n\n{WIDE}\n\ndef _hidden(features, mode):\n    pass\n\n\ndef net(features, mode):\n    return features\n"
MAIN = """\
import importlib
import sys

import tensorflow as tf
{head}

# Trains.
def main(name):
    {lines}


main(sys.argv[1])
"""


def _main(expression: str, head: str = "", *lines: str) -> str:
    return MAIN.format(
        head=head, lines="\n    ".join([*lines, f"return tf.estimator.Estimator({expression}, 'folder')"])
    )


TABLE = """\
MODELS = {{
    "deep": {0}create_deep_model,
    "wide": {0}create_wide_model,
}}


# Trains.
def main(name):
"""


@pytest.mark.parametrize(
    ("head", "lines", "expression"),
    [
        ("import nets", (), "getattr(nets, name)"),
        ("import nets as nets", (), "getattr(nets, name)"),
        ("import nets", ("chosen = getattr(nets, name)",), "chosen"),
    ],
)
def test_functions_of_a_module(head: str, lines: tuple[str, ...], expression: str) -> None:
    text = migrate_all({PATH: _main(expression, head, *lines), "nets.py": NETS})[PATH]
    assert TABLE.format("nets.") in text and "getattr" not in text
    assert "MODELS[name]" in text


def test_functions_of_the_file_itself() -> None:
    text = migrate_all({PATH: _main("globals()[name]", f"\n\n{DEEP}\n\n{WIDE}")})[PATH]
    assert TABLE.format("") in text and "    return MODELS[name](model_dir='folder')\n" in text


@pytest.mark.parametrize(
    ("lines", "expression"),
    [
        ((), 'importlib.import_module("nets." + name).model_fn'),
        ((), 'importlib.import_module("nets.%s" % name).model_fn'),
        ((), 'importlib.import_module("nets.{}".format(name)).model_fn'),
        ((), 'importlib.import_module(f"nets.{name}").model_fn'),
        (('chosen = importlib.import_module("nets." + name)',), "chosen.model_fn"),
    ],
)
def test_modules_of_a_package(lines: tuple[str, ...], expression: str) -> None:
    files = {PATH: _main(expression, "", *lines), "nets/__init__.py": "", "nets/other.py": "import tensorflow as tf\n"}
    files |= {f"nets/{name}.py": TF + NET.format(name="model_fn", units=1) for name in ("deep", "wide")}
    text = migrate_all(files)[PATH]
    assert '    "deep": deep.create_model,\n    "wide": wide.create_wide_model,\n}' in text
    assert "from nets import deep\nfrom nets import wide\n" in text and "importlib" not in text
    assert "    return MODELS[name](model_dir='folder')\n" in text


@pytest.mark.parametrize(
    ("head", "expression"),
    [
        ("", "{'deep': deep, 'wide': wide}[name].model_fn"),
        ("NETS = {'deep': deep, 'wide': wide}", "NETS[name].model_fn"),
    ],
)
def test_a_table_of_modules(head: str, expression: str) -> None:
    files = {PATH: _main(expression, f"from nets import deep, wide\n{head}"), "nets/__init__.py": ""}
    files |= {f"nets/{name}.py": TF + NET.format(name="model_fn", units=1) for name in ("deep", "wide")}
    text = migrate_all(files)[PATH]
    assert "MODELS = {\n    'deep': deep.create_model,\n    'wide': wide.create_wide_model,\n}" in text


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({PATH: _main("importlib.import_module(name).model_fn")}, "which module is imported is known at run time only"),
        ({PATH: _main("getattr(nets, name)", "from elsewhere import nets")}, "the model_fn is not found"),
        ({PATH: _main("getattr(nets, name, None)", "import nets"), "nets.py": NETS}, "the model_fn is not found"),
        ({PATH: _main("getattr(nets, name)", "import nets"), "nets.py": TF}, "no function that it may be is seen"),
        (
            {
                PATH: _main("getattr(nets, name)", "import nets"),
                "nets.py": NETS.replace("def deep", "@cached\ndef deep"),
            },
            "a decorated model_fn is not followed",
        ),
        (
            {PATH: _main("getattr(nets, name)", "import nets\n\n\ndef getattr(a, b):\n    return a"), "nets.py": NETS},
            "the model_fn is not found",
        ),
        ({PATH: _main("globals()[name]") + f"\n\n{DEEP}"}, "a function that it may be stands below"),
    ],
)
def test_what_is_not_seen_is_left(files: dict[str, str], reason: str) -> None:
    assert reason in manual_reason(files)
