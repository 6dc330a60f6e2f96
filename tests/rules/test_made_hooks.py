"""Hooks that functions of a program make, written where a training is given them."""

from __future__ import annotations

import importlib
import textwrap

import pytest

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

MAKERS = """\
import functools

import tensorflow as tf


class Own(tf.train.SessionRunHook):
    def __init__(self, every):
        self.every = every


def steps(every=5):
    return tf.train.StepCounterHook(every)


def own(every):
    return Own(every)


def stop(every, last=100):
    "Stops."
    return tf.train.StopAtStepHook(last_step=last)


def chosen(every):
    if every > 3:
        return Own(every)
    return tf.train.StepCounterHook(every)


HOOKS = {
    "steps": steps,
    "own": own,
    "stop": stop,
    "soon": functools.partial(stop, last=10),
    "late": lambda every: tf.train.StopAtStepHook(last_step=1000),
}


def hooks_of(names, every):
    hooks = []
    for name in names:
        hooks.append(HOOKS[name](every))
    return hooks
"""


def written(hooks: str, above: str = "", makers: str = MAKERS) -> tuple[str, str]:
    """What a training is given, and what is left of the file of the makers."""
    head = "import tensorflow as tf\nfrom makers import HOOKS, Own, chosen, hooks_of, own, steps, stop\n\n\n"
    body = textwrap.indent(f"{textwrap.dedent(above)}estimator.train(fn, hooks={hooks})\n", "    ")
    source = f"{head}def main(estimator, every):\n{body}"
    files = {"makers.py": makers, "program.py": source}
    drafts = Drafts(Project({path: Module(path, text) for path, text in files.items()}))
    for idiom in importlib.import_module("migrator.rules.program.desugarings").PLAIN:
        idiom.expand(drafts, list(files))
    texts = [drafts.project.modules[path].text for path in files]
    return texts[1].partition("main(estimator, every):\n")[2].strip(), texts[0]


COUNTER, STOP = "tf.train.StepCounterHook", "tf.train.StopAtStepHook(last_step={})"


@pytest.mark.parametrize(
    ("hooks", "made"),
    [
        ("[steps()]", f"[{COUNTER}(5)]"),
        ("[steps(every=3)]", f"[{COUNTER}(3)]"),
        ("[own(every)]", "[Own(every)]"),
        ("[stop(every)]", f"[{STOP.format(100)}]"),
        ('[HOOKS["steps"](every)]', f"[{COUNTER}(every)]"),
        ('[HOOKS["soon"](every)]', f"[{STOP.format(10)}]"),
        ('[HOOKS["late"](every)]', f"[{STOP.format(1000)}]"),
        ('[HOOKS.get("none", steps)(every)]', f"[{COUNTER}(every)]"),
        ('[HOOKS[name](every) for name in ("own", "stop")]', f"[Own(every), {STOP.format(100)}]"),
        ('list(HOOKS[name](every) for name in ["own"])', "list([Own(every)])"),
        ('[make(every) for make in (own, steps)]', f"[Own(every), {COUNTER}(every)]"),
        ('[make(n) for make, n in ((own, 1), (steps, 2))]', f"[Own(1), {COUNTER}(2)]"),
        ('[own(every)] + ([steps(every)] if every else [])', f"[Own(every)] + ([{COUNTER}(every)] if every else [])"),
        ('[Own(every)]', "[Own(every)]"),
    ],
)  # fmt: skip
def test_hooks_in_a_list(hooks: str, made: str) -> None:
    assert written(hooks)[0] == f"estimator.train(fn, hooks={made})"


def test_all_of_a_table() -> None:
    text, makers = written("[make(every) for make in HOOKS.values()]")
    made = [f"{COUNTER}(every)", "Own(every)", *map(STOP.format, (100, 10, 1000))]
    assert text == f"estimator.train(fn, hooks=[{', '.join(made)}])"
    text, makers = written("[make(every) for name, make in sorted(HOOKS.items())]")
    assert "HOOKS" in text and "HOOKS = {" in makers


def test_a_list_that_statements_fill() -> None:
    above = """\
        hooks = []
        if every:
            hooks.append(steps(every))
        for name in ["own", "soon"]:
            hooks.append(HOOKS[name](every))
        hooks.extend([stop(every)])
        """
    text, makers = written("hooks", above)
    assert text == (
        f"hooks = []\n    if every:\n        hooks.append({COUNTER}(every))\n    hooks.append(Own(every))\n"
        f"    hooks.append({STOP.format(10)})\n    hooks.extend([{STOP.format(100)}])\n    estimator.train(fn, hooks=hooks)"
    )
    assert makers == MAKERS  # which `hooks_of` reads


def test_a_function_that_fills_a_list() -> None:
    text, makers = written('hooks_of(["own", "soon"], every)')
    assert text == (
        f"hooks = []\n    hooks.append(Own(every))\n    hooks.append({STOP.format(10)})\n    estimator.train(fn, hooks=hooks)"
    )
    assert makers.count("def ") == 2 and "def chosen" in makers and "HOOKS" not in makers


@pytest.mark.parametrize(
    ("hooks", "above"),
    [
        ("[HOOKS[name](every) for name in NAMES]", ""),
        ("[HOOKS[name](every) for name in names]", "names = ['own']\nnames.append(every)\n"),
        ("[HOOKS[name](every) for name in ('own', *NAMES)]", ""),
        ("[HOOKS[name](every) for name in ('own',) if every]", ""),
        ("[HOOKS[every](every)]", ""),
        ("[HOOKS['other'](every)]", ""),
        ("[other(every)]", ""),
        ("[stop(*every)]", ""),
        ("hooks", "hooks = []\nfor name in ('own', 'stop'):\n    hooks.append(other(name))\nelse:\n    print(3)\n"),
    ],
)  # fmt: skip
def test_what_is_not_seen_stays(hooks: str, above: str) -> None:
    text, makers = written(hooks, above)
    assert text.endswith(f"estimator.train(fn, hooks={hooks})")
    assert makers == MAKERS


def test_an_argument_that_is_computed_once() -> None:
    twice = MAKERS.replace("return Own(every)", "return Own(every + every)")
    text, _ = written("[own(load())]", makers=twice)
    assert text.count("load()") == 1
