"""Loops over the keys of dicts that a function fills under texts."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import joined, method, migrate, model_fn

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

turns_of_keys = importlib.import_module("migrator.normalise.names.turns_of_keys")
FILLED = "d = {'b': x}\nd['a'] = y\n"
MADE = "    y = tf.layers.dense(d[k], 2)"


def turned(body: str) -> str:
    """The body of a function after one step."""
    source = "import tensorflow as tf\n\ndef f(x, y):\n" + textwrap.indent(body.strip("\n"), "    ") + "\n"
    module = Module("program.py", source)
    function = module.tree.body[1]
    edits = [change.edit for change in turns_of_keys.expand.expand(Drafts(Project({})), module, function)]
    return textwrap.dedent(splice(module.source, edits).decode().partition("y):\n")[2]).strip()


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        ("d", '["b", "a"]'),
        ("d.keys()", '["b", "a"]'),
        ("sorted(d)", '["a", "b"]'),
        ("sorted(d.keys())", '["a", "b"]'),
        ("list(d)", '["b", "a"]'),
    ],
)
def test_keys_are_written_in_their_order(read: str, wanted: str) -> None:
    assert f"for k in {wanted}:" in turned(f"{FILLED}for k in {read}:\n{MADE}")
    assert f"for i, k in enumerate({wanted}):" in turned(f"{FILLED}for i, k in enumerate({read}):\n{MADE}")


@pytest.mark.parametrize(
    "body",
    [
        f"{FILLED}d[y] = x\nfor k in d:\n{MADE}",
        f"{FILLED}d.update(y)\nfor k in d:\n{MADE}",
        f"{FILLED}f(d)\nfor k in d:\n{MADE}",
        f"{FILLED}del d['a']\nfor k in d:\n{MADE}",
        f"{FILLED}if y:\n    d['c'] = x\nfor k in d:\n{MADE}",
        f"{FILLED}for k in d:\n{MADE}\n    d['c'] = y",
        f"{FILLED}for k in sorted(d, reverse=True):\n{MADE}",
        f"{FILLED}for k in d.values():\n{MADE}",
        f"d = y\n{FILLED}for k in d:\n{MADE}",
        f"{FILLED}for k in d:\n    print(k)",
        f"sorted = y\n{FILLED}for k in sorted(d):\n{MADE}",
        "d = {'%d': x}\nfor k in d:\n" + MADE,
    ],
)
def test_others_are_left_alone(body: str) -> None:
    assert turned(body) == body.strip()


def test_layers_of_the_turns_are_a_list() -> None:
    body = """
        maps = {}
        maps["low"] = tf.layers.dense(features["x"], 3)
        maps["high"] = tf.layers.dense(maps["low"], 3)
        found = []
        for name in sorted(maps):
            found.append(tf.layers.dense(maps[name], 1))
        predictions = tf.add_n(found)
    """
    init = joined(method(migrate(model_fn(body)), "__init__", "Model"))
    assert "for _ in" in init or "for name in" in init
