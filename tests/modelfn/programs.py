"""Runs the whole codemod over programs that are written as text, without files and without TensorFlow."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Mapping
from typing import Any

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.diagnostics import Outcome, ProgramUnit
from migrator.vocabulary.settings import Settings

PATH = "program.py"
HELPERS = "tf2_training.py"

TRAIN_OP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())"
LOSS = "loss = tf.reduce_mean(tf.square(labels - predictions))"
SPEC = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
USE = "\n\nestimator = tf.estimator.Estimator(model_fn{params})\n"


def joined(text: str) -> str:
    """Code without the line breaks at its brackets, and in chains of calls."""
    text = re.sub(r"\)\n\s+\.(?=\w)", ").", text)
    return re.sub(r",\n\s+", ", ", re.sub(r"(?<=[(\[{])\n\s+|,?\n\s+(?=[)\]}])", "", text))


def model_fn(body: str, *, end: str = f"{LOSS}\n{TRAIN_OP}\n{SPEC}", before: str = "", after: str | None = None) -> str:
    """A program whose model_fn holds `body`, then `end`; `before` and `after` stand around it in the file."""
    inner = textwrap.indent(f"{textwrap.dedent(body).strip()}\n{textwrap.dedent(end).strip()}\n", "    ")
    before = textwrap.dedent(before)
    after = USE.format(params=", params=PARAMS") if after is None else "\n\n" + textwrap.dedent(after)
    head = "import tensorflow as tf\n" if "import tensorflow" not in before else ""
    return f"{head}{before}\n\ndef model_fn(features, labels, mode, params):\n{inner}{after}"


def run(source: str | Mapping[str, str], style: str = "native", **settings: Any) -> dict[str, Outcome]:
    """What becomes of each file, new ones included, by path."""
    files = {PATH: source} if isinstance(source, str) else source
    sources = [decode(path, text.encode()) for path, text in files.items()]
    return {outcome.path: outcome for outcome in migrate_component(sources, Settings(style=style, **settings))}


def units(outcomes: Mapping[str, Outcome]) -> list[ProgramUnit]:
    """The programs of a run, each once."""
    return list(dict.fromkeys(unit for outcome in outcomes.values() for unit in outcome.units))


def migrate_all(files: Mapping[str, str], **settings: Any) -> dict[str, str]:
    """All files after migration. Every program must have become native, parse, and survive a second run as it is."""
    outcomes = run(files, **settings)
    problems = [str(d) for o in outcomes.values() for d in o.remaining if d.code.startswith("E0")]
    assert not problems, problems
    found = units(outcomes)
    assert found and all(unit.tier == "native" for unit in found), [(u.name, u.tier, u.reason) for u in found]
    after = {path: outcome.after.decode() for path, outcome in outcomes.items()}
    for text in after.values():
        assert_python_3_9(text)
    again = {path: outcome.after.decode() for path, outcome in run(after, **settings).items()}
    assert again == after, "a second run changes the result"
    return after


@functools.lru_cache(maxsize=64)
def assert_python_3_9(text: str) -> None:
    """Fails where it does not parse; programs that need the same helpers have equal files of them."""
    ast.parse(text, feature_version=(3, 9))


def migrate(source: str, **settings: Any) -> str:
    """One file after migration; see `migrate_all`."""
    return migrate_all({PATH: source}, **settings)[PATH]


def manual_reason(source: str | Mapping[str, str]) -> str:
    """Why a program is left alone. All files must stay byte for byte as they are, and nothing may be added.

    Where a line of the program ends in ``# HERE``, the reason must be placed on that line.
    """
    files = {PATH: source} if isinstance(source, str) else dict(source)
    outcomes = run(files)
    assert {path: outcome.after.decode() for path, outcome in outcomes.items()} == files
    found = units(outcomes)
    assert found and all(unit.tier == "manual" for unit in found), [(u.name, u.tier) for u in found]
    said = [d for o in outcomes.values() for d in o.remaining if d.code == "EST100"]
    assert said, "no diagnostic says why"
    marked = [
        (path, number)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.endswith("# HERE")
    ]
    places = [(d.location.path, d.location.line) for d in said]
    assert not marked or set(marked) <= set(places), f"marked {marked}, reported {places}: {said[0].message}"
    return "; ".join(d.message for d in said)


def untouched(source: str | Mapping[str, str]) -> None:
    """The tool sees no Estimator program here and changes nothing."""
    files = {PATH: source} if isinstance(source, str) else dict(source)
    outcomes = run(files)
    assert {path: outcome.after.decode() for path, outcome in outcomes.items()} == files
    assert not any(unit.tier == "native" for unit in units(outcomes))


def method(text: str, name: str, of: str = "") -> str:
    """The source of one method or function of a migrated file, dedented; the first of that name (in the class `of`)."""
    tree = ast.parse(text)
    within = next((n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == of), tree)
    for node in ast.walk(within):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
            return textwrap.dedent("\n".join(lines)) + "\n"
    raise AssertionError(f"no {name} in\n{text}")
