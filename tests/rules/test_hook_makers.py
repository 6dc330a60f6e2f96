"""Hooks that functions of a program make, in the same file or in others."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import PATH, manual_reason, migrate, migrate_all, run

CANNED = """\
import tensorflow as tf

{before}
e = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")])
tf.logging.set_verbosity("INFO")


def input_fn():
    return tf.data.Dataset.from_tensors(({{"x": [1.0]}}, [1]))


{use}
"""
NAMES = "'loss': 'linear/head/weighted_loss/Sum', 'mean': 'linear/head/truediv'"
FACTORY = """\
class Rate(tf.train.SessionRunHook):
    def __init__(self, every):
        self.every = every

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())


def stop_hook(steps=None, **kwargs):
    return tf.train.StopAtStepHook(steps)


def rate_hook(every=3, **kwargs):
    return Rate(every)


HOOKS = {"stop": stop_hook, "rate": rate_hook}


def get_hooks(names, **kwargs):
    if not names:
        return []
    hooks = []
    for name in names:
        make = HOOKS.get(name.lower())
        if make is None:
            raise ValueError("%s is none of %s" % (name, ", ".join(key for key in HOOKS)))
        hooks.append(make(**kwargs))
    return hooks

"""
CALLED = "hooks = get_hooks(['stop'], steps=3)\ne.train(input_fn, hooks=hooks)"


def program(before: str, use: str) -> str:
    """A program with a canned Estimator."""
    return CANNED.format(before=before, use=use)


def test_hooks_out_of_a_table_of_functions() -> None:
    text = migrate(program(FACTORY, CALLED))
    assert "    return StopAtStep(steps)\n" in text
    assert "    return HookCallback(Rate(every))\n" in text
    assert "class Rate(tf.compat.v1.train.SessionRunHook):" in text
    assert "hooks = get_hooks(['stop'], steps=3)\ntrain(e, input_fn, callbacks=hooks)" in text


def test_hooks_of_another_file() -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/hooks_helper.py": f"import tensorflow as tf\n\n{FACTORY}",
        "pkg/task.py": program("from pkg import hooks_helper\n", CALLED.replace("get_hooks", "hooks_helper.get_hooks")),
        "pkg/flags.py": "from pkg import hooks_helper\n\nnames = [key for key in hooks_helper.HOOKS]\n",
    }
    after = migrate_all(files)
    assert "    return HookCallback(Rate(every))\n" in after["pkg/hooks_helper.py"]
    assert after["pkg/flags.py"] == files["pkg/flags.py"]


def test_a_class_of_another_file() -> None:
    hook = FACTORY.split("\n\n\ndef stop_hook")[0]
    files = {
        "rates.py": f"import tensorflow as tf\n\n\n{hook}\n",
        "task.py": program(
            "import rates\n", "e.train(input_fn, hooks=[tf.train.ProfilerHook(save_secs=5), rates.Rate(3)])"
        ),
    }
    after = migrate_all(files)
    assert "callbacks=[StepProfiler(save_secs=5), HookCallback(rates.Rate(3))]" in after["task.py"]
    assert "class Rate(tf.compat.v1.train.SessionRunHook):" in after["rates.py"]


@pytest.mark.parametrize(
    "use",
    [
        "def run(model, hooks):\n    model.train(input_fn, hooks=hooks)\n\n\nrun(e, [tf.train.StopAtStepHook(3)])",
        "def run(model, hooks=None):\n    hooks = hooks or []\n    model.train(input_fn, hooks=hooks)\n\n\nrun(e)",
        "def run(hook):\n    e.train(input_fn, hooks=[hook])\n\n\nrun(tf.train.StopAtStepHook(3))",
        "def run(hooks):\n    s = tf.estimator.TrainSpec(input_fn, 3, hooks=hooks)\n\n\nrun([tf.train.StopAtStepHook(3)])",
    ],
)
def test_hooks_that_callers_give(use: str) -> None:
    text = migrate(program("", use))
    assert "train.StopAtStepHook" not in text
    assert ("StopAtStep(3)" in text) == ("StopAtStepHook(3)" in use)


SEEN_OTHERWISE = "what makes the hooks of a training is used for something else"


@pytest.mark.parametrize(
    ("before", "use", "reason"),
    [
        (FACTORY, f"{CALLED}\nprint(get_hooks(['rate']))  # HERE", SEEN_OTHERWISE),
        (FACTORY, f"{CALLED}\nprint(HOOKS['rate']())  # HERE", SEEN_OTHERWISE),
        (FACTORY.replace("def get_hooks", "@cached\ndef get_hooks"), CALLED, "`hooks` of Estimator.train"),
        (FACTORY.replace("return hooks", "yield hooks"), CALLED, "`hooks` of Estimator.train"),
        (FACTORY.replace("return Rate(every)", "return make_it(every)"), CALLED, "`hooks` of Estimator.train"),
        (FACTORY.replace('"rate": rate_hook}', '"rate": rate_hook, **MORE}'), CALLED, "`hooks` of Estimator.train"),
        (FACTORY.replace("return tf.train.StopAtStepHook(steps)", "return None"), CALLED, "`hooks` of Estimator.train"),
        (
            "def run(model, hooks):\n    model.train(input_fn, hooks=hooks)\n",
            "run(e, [tf.train.StopAtStepHook(3)])\nrun(e, HOOKS)",
            "`hooks` of Estimator.train",
        ),
        (
            "def run(model, hooks):\n    model.train(input_fn, hooks=hooks)\n",
            "run(e, [tf.train.StopAtStepHook(3)])\nRUNNERS = [run]",
            "`hooks` of Estimator.train",
        ),
    ],
)
def test_refused(before: str, use: str, reason: str) -> None:
    assert reason in manual_reason(program(before, use))


def test_a_test_of_the_functions_is_named() -> None:
    files = {
        "task.py": program(FACTORY, CALLED),
        "task_test.py": "import tensorflow as tf\nimport task\n\nassert len(task.get_hooks(['stop'])) == 1\n",
    }
    outcomes = run(files)
    assert outcomes["task_test.py"].after == outcomes["task_test.py"].before
    said = [d.message for d in outcomes["task.py"].remaining]
    assert "what this returns holds Keras callbacks now, also for task_test.py" in said


LOGGER = """\
class MetricLogger(tf.train.LoggingTensorHook):
    def __init__(self, tensors, every_n_iter=None, at_end=False):
        super().__init__(tensors=tensors, every_n_iter=every_n_iter, at_end=at_end)

    def begin(self):
        super().begin()
        self._step = tf.train.get_global_step()
        self._current_tensors[self._step.name] = self._step

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            print(run_values.results[self._step.name])
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            print(session.run(self._current_tensors))

"""
LOG = f"e.train(input_fn, hooks=[MetricLogger({{{NAMES}}}, 2)])"


def test_a_class_derived_from_a_logging_hook() -> None:
    text = migrate(program(LOGGER, LOG))
    assert "class MetricLogger(tf.compat.v1.train.LoggingTensorHook):" in text
    assert "self._step = tf.compat.v1.train.get_global_step()" in text
    assert f"callbacks=[HookCallback(MetricLogger({{{NAMES}}}, 2))]" in text
    assert "e = watch_head(linear_classifier(" in "".join(text.split("\n    "))


@pytest.mark.parametrize(
    ("before", "use", "reason"),
    [
        (LOGGER, LOG.replace(", 2)", ", 2, at_end=True)"), "that logs at the end"),
        (LOGGER.replace("at_end=at_end", "at_end=FLAG"), LOG, "that logs at the end"),
        (LOGGER.replace("at_end=at_end", "**kwargs"), LOG, "what a LoggingTensorHook is made with is not seen"),
        (LOGGER.replace("if self._log_at_end", "if self.x"), LOG, "uses its `session`"),
        (LOGGER.replace("self._step.name]\n", "self._step.name]\n", 1).replace("print(run", "print(self._step, run"), LOG,
         "computes with the tensor of the global step"),
        (LOGGER.replace("def after_run", "def before_run(self, run_context):\n        pass\n\n    def after_run"), LOG,
         "with a `before_run` of its own"),
        (LOGGER, LOG.replace("truediv", "other"), "no tensor of a canned Estimator that can be watched has the name other"),
    ],
)  # fmt: skip
def test_logging_hooks_that_are_refused(before: str, use: str, reason: str) -> None:
    assert reason in manual_reason(program(before, use))


def test_names_that_are_only_known_when_it_runs() -> None:
    use = "e.train(input_fn, hooks=[tf.train.LoggingTensorHook({'a': PREFIX + 'head/truediv'}, 5)])"
    text = migrate(program("PREFIX = 'linear/'", use))
    assert "e = watch_head(linear_classifier(" in "".join(text.split("\n    "))


def test_nothing_is_watched_that_nobody_reads() -> None:
    assert "watch_head" not in migrate(program("", "e.train(input_fn, hooks=[tf.train.StopAtStepHook(3)])"))


def test_a_model_fn_out_of_a_table_by_get() -> None:
    source = """\
        import tensorflow as tf


        def {name}(features, labels, mode):
            logits = tf.layers.dense(features["x"], 1)
            loss = tf.losses.mean_squared_error(labels, logits)
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


        MODELS = {{"a": {name}}}
        model_fn = MODELS.get(NAME)
        e = tf.estimator.Estimator(model_fn)
        """
    text = migrate_all({PATH: textwrap.dedent(source).format(name="line_fn")})[PATH]
    assert "Estimator" not in text
