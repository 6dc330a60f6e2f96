"""Hooks that read the head of a canned Estimator by name see in Keras what they saw in TensorFlow 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from both_sides import new_program, old_program

pytestmark = pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")

PROGRAM = """\
import numpy as np
import tensorflow as tf

RANDOM = np.random.RandomState(3)
X, W, Y = RANDOM.rand(40, 2), RANDOM.choice([0.5, 2.0], (40, 1)), RANDOM.randint(0, 2, (40, 1))
SEEN, FOLDER, KIND = [], "{folder}", "{kind}"


class Recorder(tf.train.LoggingTensorHook):
    def __init__(self, tensors, every_n_iter, at_end=False):
        super().__init__(tensors=tensors, every_n_iter=every_n_iter, at_end=at_end)

    def begin(self):
        super().begin()
        self._step = tf.train.get_global_step()
        self._current_tensors[self._step.name] = self._step

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._timer.update_last_triggered_step(self._iter_count)
            SEEN.append({{tag: np.array(run_values.results[tag]) for tag in self._tag_order}})
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            SEEN.append(session.run(self._current_tensors))


def recorder(tensors, every_n_iter, **kwargs):
    return Recorder(tensors, every_n_iter)


HOOKS = {{"recorder": recorder}}


def make_hooks(names, **kwargs):
    hooks = []
    for name in names:
        hooks.append(HOOKS.get(name)(**kwargs))
    return hooks


def input_fn():
    features = {{"x": X, "w": W}}
    return tf.data.Dataset.from_tensor_slices((features, Y)).repeat().batch(8)


columns = [tf.feature_column.numeric_column("x", 2)]
if KIND == "classifier":
    estimator = tf.estimator.LinearClassifier(columns, FOLDER, weight_column="w")
else:
    estimator = tf.estimator.LinearRegressor(columns, FOLDER)
prefix = {{"classifier": "linear/", "regressor": "linear/"}}.get(KIND, "")
names = {{"loss": "{{}}head/weighted_loss/Sum", "mean": "{{}}head/truediv"}}
if KIND == "classifier":
    names["p"] = "{{}}head/predictions/probabilities"
names = {{tag: name.format(prefix) for tag, name in names.items()}}
estimator.train(input_fn, steps=7, hooks=make_hooks(["recorder"], tensors=names, every_n_iter=3))
"""


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_logging_hook_of_the_program(kind: str, tmp_path: Path) -> None:
    old = old_program(PROGRAM.format(folder=tmp_path / "old", kind=kind), tmp_path)
    new = new_program(PROGRAM.format(folder=tmp_path / "new", kind=kind), tmp_path)
    assert len(old.SEEN) == len(new.SEEN) == 3
    for before, after in zip(old.SEEN, new.SEEN):
        assert before.keys() == after.keys()
        for tag, value in before.items():
            np.testing.assert_allclose(after[tag], value, rtol=1e-6, err_msg=tag)


def test_a_name_that_the_model_does_not_have(tmp_path: Path) -> None:
    source: Any = PROGRAM.format(folder=tmp_path / "new", kind="classifier").replace("head/truediv", "head/other")
    with pytest.raises(ValueError, match="no 'other' to `watch`, but: Sum, logistic, probabilities, truediv"):
        new_program(source, tmp_path)
