"""Classes derived from LoggingTensorHook: the hook of the library, and one for what the program adds."""

from __future__ import annotations

import textwrap
from importlib import import_module

import pytest
from modelfn.programs import model_fn, run, units

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project

INIT = """\
def __init__(self, name, tensors, every=10):
    super().__init__(tensors, every_n_iter=every)
    self.name = name
"""
BEGIN = "def begin(self):\n    super(H, self).begin()\n    print(self.name)\n"
USE = 'H("a", {"loss": loss}, 5)'
LOGS = 'tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=5)'


def program(body: str, use: str = f"return [{USE}]") -> str:
    methods = "\n".join(textwrap.indent(part, "    ") for part in body.split("\n\n"))
    lines = textwrap.indent(use, "    ")
    return f"import tensorflow as tf\n\n\nclass H(tf.train.LoggingTensorHook):\n{methods}\n\n\ndef hooks_of(loss):\n{lines}\n"


def written(source: str, **more: str) -> str:
    files = {"program.py": source, **{f"{name}.py": text for name, text in more.items()}}
    drafts = Drafts(Project({path: Module(path, text) for path, text in files.items()}))
    import_module("migrator.rules.hooks.logging_classes").expand.expand(drafts, list(files))
    return drafts.project.modules["program.py"].text


def body_of(text: str) -> str:
    return textwrap.dedent(text.partition("def hooks_of(loss):\n")[2]).strip()


@pytest.mark.parametrize(
    ("use", "after"),
    [
        (f"return [{USE}]", f'return [{LOGS}, H("a")]'),
        (f"return [other, {USE}]", f'return [other, {LOGS}, H("a")]'),
        (f"return ({USE},)", f'return ({LOGS}, H("a"),)'),
        (f"hooks = []\nhooks.append({USE})", f'hooks = []\nhooks.append({LOGS})\nhooks.append(H("a"))'),
        (f"hook = {USE}\nreturn [hook]", f'logger = {LOGS}\nhook = H("a")\nreturn [logger, hook]'),
        ('return [H(tensors=["x"], name="a")]', 'return [tf.train.LoggingTensorHook(["x"], every_n_iter=10), H(name="a")]'),
    ],
)  # fmt: skip
def test_two_hooks(use: str, after: str) -> None:
    text = written(program(INIT + "\n" + BEGIN, use))
    assert body_of(text) == after
    assert "class H(tf.train.SessionRunHook):\n    def __init__(self, name):\n        self.name = name\n" in text
    assert "    def begin(self):\n        print(self.name)\n" in text and "super" not in text


def test_a_class_that_only_says_what_is_logged_goes() -> None:
    init = 'def __init__(self, loss):\n    """Logs."""\n    super(H, self).__init__({"l": loss}, every_n_iter=3)\n'
    text = written(program(init, "return [H(loss)]"))
    assert "class" not in text and body_of(text) == 'return [tf.train.LoggingTensorHook({"l": loss}, every_n_iter=3)]'


def test_a_class_without_a_constructor() -> None:
    text = written(program("def end(self, session):\n    print(1)\n", "return [H(['loss'], 3)]"))
    assert body_of(text) == "return [tf.train.LoggingTensorHook(['loss'], 3), H()]"


def test_a_class_of_another_file() -> None:
    other = program(INIT + "\n" + BEGIN).partition("\n\n\ndef")[0] + "\n"
    source = f"import tensorflow as tf\nfrom other import H\n\n\ndef hooks_of(loss):\n    return [{USE}]\n"
    assert body_of(written(source, other=other)) == f'return [{LOGS}, H("a")]'


@pytest.mark.parametrize(
    ("body", "use"),
    [
        (INIT + "\ndef before_run(self, run_context):\n    return super().before_run(run_context)\n", f"return [{USE}]"),
        (INIT + "\ndef after_run(self, run_context, run_values):\n    print(run_values)\n", f"return [{USE}]"),
        (INIT + "\ndef begin(self):\n    print(self._tensors)\n    super().begin()\n", f"return [{USE}]"),
        (INIT + "\ndef begin(self):\n    if self.name:\n        super().begin()\n", f"return [{USE}]"),
        (INIT + "\ndef _log_tensors(self, values):\n    print(values)\n", f"return [{USE}]"),
        (INIT.replace("every_n_iter=every", "every_n_iter=load(self)"), f"return [{USE}]"),
        (INIT.replace("=every)", "=every, at_end=True)") + "\ndef end(self, session):\n    pass\n", f"return [{USE}]"),
        (INIT, f"return {USE}"),
        (INIT, f"hook = {USE}\nprint(hook)\nreturn [hook]"),
        (INIT, f"return [{USE}, H]"),
        (INIT, 'return [H(*given)]'),
        (INIT + "    self.tensors = tensors\n", f"return [{USE}]"),
        (INIT, f"class I(H):\n    pass\nreturn [{USE}]"),
    ],
)  # fmt: skip
def test_what_does_more_stays(body: str, use: str) -> None:
    source = program(body, use)
    assert written(source) == source


MODEL = """

def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[H("a", {"loss": loss}, 5)])


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat()


tf.estimator.Estimator(model_fn).train(input_fn, steps=3)
"""


def test_hooks_of_a_spec() -> None:
    source = program(INIT + "\n" + BEGIN).partition("\n\n\ndef")[0] + "\n" + MODEL
    outcomes = run(source)
    text = outcomes["program.py"].after.decode()
    assert [unit.tier for unit in units(outcomes)] == ["native"]
    assert "class H(tf.keras.callbacks.Callback):" in text and "if batch % 5 == 0:" in text and ".fit(" in text


def test_a_class_that_nothing_makes_does_not_stand_in_the_way() -> None:
    body = model_fn("predictions = tf.layers.dense(features, 1)", after="").partition("def model_fn")[2]
    unused = f"import tensorflow as tf\n\n\nclass Unused(tf.train.LoggingTensorHook):\n{textwrap.indent(INIT, '    ')}"
    use = (
        "def inputs():\n    return tf.data.Dataset.from_tensors(([[1.0]], [[2.0]]))\n\n\n"
        "estimator = tf.estimator.Estimator(model_fn, params={})\nestimator.train(inputs, steps=1)\n"
    )
    outcomes = run(f"{unused}\n\ndef model_fn{body}\n\n{use}")
    text = outcomes["program.py"].after.decode()
    assert [unit.tier for unit in units(outcomes)] == ["native"] and "model.fit(" in text
    assert "class Unused(tf.compat.v1.train.LoggingTensorHook):" in text and len(outcomes) == 1
