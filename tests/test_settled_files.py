"""A fix that says it settles a file must leave nothing to say about it: the engine does not look again."""

from __future__ import annotations

from itertools import chain

import pytest
from migrator.rules.symbols.symbol_rows import endpoints, rows

from migrator.discover.sources import decode
from migrator.engine.checking import Checker
from migrator.engine.engine import migrate_component
from migrator.engine.fixes import splice
from migrator.engine.registry import Registry, load
from migrator.engine.rule import Rule, run_rules
from migrator.resolve.module import Module
from migrator.vocabulary.settings import Settings

OLD = "import tensorflow.compat.v1 as tf\n"
RULES = load().file_rules
NAMES = sorted(set(chain(rows(), endpoints().same, endpoints().gone, endpoints().changed)))
FORMS = ["tf.{}", "tf.{}(a)", "tf.{}(a, b, c)", "tf.{}(*a)", "y = tf.{}", "tf.{}(a, name='n').b", "f(x=tf.{}([a]))"]


def settled(source: str) -> str | None:
    """The text after a fix that settles it, if the first round has that one finding only."""
    module = Module("p.py", source)
    found = run_rules(RULES, module)
    if len(found) != 1 or found[0].fix is None or found[0].fix.leaves is None:
        return None
    return splice(module.source, found[0].fix.edits).decode()


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_found_in_a_settled_file(form: str) -> None:
    looked_at = 0
    for name in NAMES:
        source = f"{OLD}{form.format(name)}\n"
        after = settled(source)
        if after is None:
            continue
        looked_at += 1
        module = Module("p.py", after)
        module.inherited_dialect = Module("p.py", source).module_dialect
        assert run_rules(RULES, module) == [], source
    assert looked_at > 1000 or form.startswith("y =")


@pytest.mark.parametrize(
    "lines",
    [
        "flags = tf.flags\nFLAGS = flags.FLAGS\nflags.DEFINE_string('a', '', '')\nprint(FLAGS.a)",
        "flags = tf.app.flags\nflags.DEFINE_bool('a', True, '')\nf(flags.FLAGS.a)\ntf.app.run()",
        "F = tf.flags.FLAGS\ntf.log(F.x)",
        "log = tf.logging\nlog.warn('a')\nlog.set_verbosity(log.INFO)",
        "logging = tf.logging\nlogging.info('a')\ntf.logging.set_verbosity(tf.logging.INFO)",
        "app = tf.app\nif a:\n  app.run()",
        "define = tf.flags.DEFINE_string\ndefine('a', '', '')",
        "def f():\n  flags = tf.flags\n  return flags.FLAGS.x",
    ],
)
def test_names_of_absl_are_looked_at_once(lines: str) -> None:
    source = decode("p.py", f"{OLD}{lines}\n".encode())
    quick = migrate_component([source], Settings())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checker, "skip", lambda *args: None)
        assert migrate_component([source], Settings()) == quick


@pytest.mark.parametrize(
    "source",
    [
        f"{OLD}gfile = tf.gfile\ngfile.MakeDirs(a)\n",
        f"{OLD}from tensorflow.contrib import layers\ntf.log(x)\n",
        f"{OLD}import tensorflow.compat.v2 as tf2\ntf.log(x)\n",
        f"{OLD}tf.reduce_sum(x, keep_dims=True)\n",
    ],
)
def test_files_with_aliases_or_other_parameters_are_looked_at_again(source: str) -> None:
    assert settled(source) is None


@pytest.mark.parametrize(
    "rest", ["tf.get_variable('v')", "tf.log(x)", "tf.layers.dense(x, 1)\ntf.to_float(x)", "", "import os"]
)
@pytest.mark.parametrize(
    "modes",
    [
        "f(tf.estimator.ModeKeys.TRAIN)",
        "f(tf.estimator.ModeKeys.TRAIN == mode, tf.contrib.learn.ModeKeys.EVAL)",
        "f(tf.estimator.\n  ModeKeys.TRAIN)",
        "M = tf.estimator.ModeKeys\ny = M.TRAIN, tf.estimator.ModeKeys.PREDICT",
        "from tensorflow.estimator import ModeKeys\ny = ModeKeys.TRAIN",
        "g = lambda mode: mode is tf.estimator.ModeKeys.TRAIN",
        "f(tf.estimator.ModeKeys.TRAIN)  # migrate: ignore[EST005]",
    ],
)
def test_what_is_left_to_say_of_a_file_with_modes(modes: str, rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for start in (OLD, "import tensorflow as tf\n", "import tensorflow.compat.v1 as tf  # migrate: ignore[EST005]\n"):
        source = decode("p.py", f"{start}{modes}\n{rest}\n".encode())
        quick = migrate_component([source], Settings())
        with monkeypatch.context() as patch:
            patch.setattr(Checker, "skip", lambda *args: None)
            assert migrate_component([source], Settings()) == quick


def test_a_file_with_modes_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = []
    monkeypatch.setattr(Checker, "skip", lambda self, module, left: skipped.append([str(d) for d in left]))
    migrate_component(
        [decode("p.py", f"{OLD}f(tf.estimator.ModeKeys.TRAIN)\ntf.get_variable('v')\n".encode())], Settings()
    )
    reason = "line 3 uses tf.get_variable, which TensorFlow 2 does not have"
    assert skipped == [[f"p.py:1:1: EST005 tf stays tensorflow.compat.v1: {reason}"]]


def test_rules_from_elsewhere_see_every_round() -> None:
    class Counting(Rule):
        """Counts the rounds."""

        code, name = "ABC001", "counting"
        rounds = 0

        def check_module(self, module: Module):  # type: ignore[no-untyped-def]
            Counting.rounds += 1
            return iter(())

    text = f"{OLD}tf.log(x)\n".encode()
    built_in = load()
    (alone,) = migrate_component([decode("p.py", text)], Settings(), built_in)
    both = Registry((*built_in.file_rules, Counting()), built_in.program_rules)
    (together,) = migrate_component([decode("p.py", text)], Settings(), both)
    assert alone.after == together.after == b"import tensorflow as tf\ntf.math.log(x)\n"
    assert Counting.rounds == 2
