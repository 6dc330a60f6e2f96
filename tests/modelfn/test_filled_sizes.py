"""Lists of sizes that a loop fills for its own next turn."""

from __future__ import annotations

import ast
import importlib
import textwrap

import pytest
from modelfn.programs import method, model_fn
from modelfn.symbolic import assert_same

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

filled_sizes = importlib.import_module("migrator.rules.layers.filled_sizes")

CROSS = """
sizes = [3]
x = features["x"]
with tf.variable_scope("cross"):
    for i, n in enumerate([4, 5]):
        w = tf.get_variable("w%d" % i, [sizes[-1] * sizes[0], n])
        x = tf.matmul(tf.concat([x] * 3, 1), w)
        sizes.append(int(n))
predictions = x * sizes[-1]
"""


def filled(body: str) -> str:
    """The body of a function after one step."""
    source = "def f(a, units, use):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    module = Module("program.py", source)
    function = module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    edits = [change.edit for change in filled_sizes.expand.expand(Drafts(Project({})), module, function)]
    return textwrap.dedent(splice(module.source, edits).decode().partition(":\n")[2]).strip()


def test_weights_of_the_sizes_before() -> None:
    text = assert_same(model_fn(CROSS))
    made = method(text, "__init__", "Model")
    assert "sizes = [3] + [int(n) for n in [4, 5]]" in made and "sizes.append" not in text


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (
            "s = [a]\nfor i in range(len(units)):\n    use(s[-1])\n    s.append(units[i])\n    use(s[-1], s[0])",
            "s = [a] + [units[i] for i in range(len(units))]\nfor i in range(len(units)):\n"
            "    use(s[i])\n    use(s[i + 1], s[0])",
        ),
        (
            "s = [a, 2]\nfor i, n in enumerate(units):\n    use(s[-1], s[1])\n    s.append(n * 2)\nuse(s)",
            "s = [a, 2] + [n * 2 for n in units]\nfor i, n in enumerate(units):\n    use(s[i + 1], s[1])\nuse(s)",
        ),
    ],
)
def test_reads_of_the_last_size(body: str, wanted: str) -> None:
    assert filled(body) == wanted


LOOP = "s = [a]\nfor i, n in enumerate(units):\n    use(s[-1])\n    s.append(n)"


@pytest.mark.parametrize(
    "body",
    [
        LOOP.replace("use(s[-1])", "use(n)"),  # nothing reads what it fills
        LOOP.replace("use(s[-1])", "use(s)"),
        LOOP.replace("use(s[-1])", "use(s[-2])"),
        LOOP.replace("use(s[-1])", "use(s[1])"),  # an error in the first turn
        LOOP.replace("use(s[-1])", "use(len(s))"),
        LOOP.replace("use(s[-1])", "s[-1] = n"),
        LOOP.replace("use(s[-1])", "use(lambda: s[-1])"),
        LOOP.replace("use(s[-1])", "use(f'{s[-1]}')"),
        LOOP.replace("use(s[-1])", "n = use(s[-1])"),  # another value by then
        LOOP.replace("use(s[-1])", "x = use(s[-1])").replace("append(n)", "append(x)"),
        LOOP.replace("append(n)", "append(use(n))"),  # which may do something each time
        LOOP.replace("append(n)", "append(s[-1])"),
        LOOP.replace("    s.append(n)", "    if n:\n        s.append(n)"),
        LOOP.replace("    s.append(n)", "    if n:\n        break\n    s.append(n)"),
        LOOP.replace("enumerate(units)", "enumerate(units, 1)"),
        LOOP.replace("i, n in enumerate(units)", "n in units"),  # nothing counts the turns
        LOOP.replace("s = [a]\n", "s = [a]\nunits = use(units)\n"),
        LOOP.replace("s = [a]\n", "s = [a]\nuse(s[-1])\n"),
        LOOP.replace("s = [a]\n", "s = [a]\ns.append(a)\n"),
        LOOP.replace("s = [a]", "s = []"),
        LOOP.replace("s = [a]", "s = list(a)"),
        LOOP.replace("s = [a]\n", "s = [a]\nif a:\n    s = [2]\n"),
        "s = [a]\nif a:\n" + textwrap.indent(LOOP.partition("\n")[2], "    "),  # perhaps never filled
        "s = [a]\nfor _ in units:\n" + textwrap.indent(LOOP.partition("\n")[2], "    "),
        LOOP + "\nelse:\n    use(s)",
    ],
)
def test_left_alone(body: str) -> None:
    assert filled(body) == body
