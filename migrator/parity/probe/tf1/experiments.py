"""`tf.contrib.learn.Experiment` of TensorFlow 1.15 with an Estimator of `tf.estimator`, on one machine.

Which checkpoints an Experiment evaluates amid a training depends on the clock: it looks for a new one every 5 seconds. Here it
evaluates each, and does not wait before evaluations.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional


class ExportStrategy(NamedTuple):
    """How a model is exported."""

    name: str
    export_fn: Callable[..., Any]
    strip_default_attrs: Optional[bool] = None


def make_export_strategy(
    serving_input_fn: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: Optional[int] = 5,
    strip_default_attrs: Optional[bool] = None,
) -> ExportStrategy:
    """Exports to ``export/Servo``."""
    if default_output_alternative_key is not None:
        raise ValueError("default_output_alternative_key is not supported in core Estimator.")

    def export_fn(estimator: Any, folder: str) -> Any:
        return estimator.export_saved_model(folder, serving_input_fn, assets_extra, as_text)

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


class Experiment:
    """What trains and evaluates an Estimator."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: Optional[int] = None,
        eval_steps: Optional[int] = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: Optional[int] = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: Optional[int] = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: Optional[int] = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        if eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`.")
        if checkpoint_and_export:
            raise NotImplementedError("`checkpoint_and_export` of an Experiment: give the old side a TensorFlow 1.15")
        self.estimator = estimator
        self.eval_metrics = eval_metrics
        self.train_steps = train_steps
        self.eval_steps = eval_steps
        self._inputs = train_input_fn, eval_input_fn
        self._hooks = list(train_monitors or []), list(eval_hooks or [])
        self._amid = 1 if min_eval_frequency is None else min_eval_frequency
        self._locally = local_eval_frequency
        self._listeners = saving_listeners
        single = isinstance(export_strategies, ExportStrategy)
        self._strategies: Iterable[ExportStrategy] = [export_strategies] if single else list(export_strategies or [])

    def train(self, delay_secs: Any = None) -> Any:
        """Trains to the last step."""
        return self.estimator.train(
            self._inputs[0], self._hooks[0], max_steps=self.train_steps, saving_listeners=self._listeners
        )

    def evaluate(self, delay_secs: Any = None, name: Optional[str] = None) -> Any:
        """Evaluates the newest checkpoint."""
        return self._evaluated(name or "one_pass")

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates amid the training and at its end, and exports."""
        import tensorflow as tf

        if self._amid:
            spec = tf.estimator.TrainSpec(self._inputs[0], self.train_steps, self._hooks[0], self._listeners)
            limit = self.eval_steps
            evaluating = tf.estimator.EvalSpec(
                self._inputs[1], limit, hooks=self._hooks[1], start_delay_secs=0, throttle_secs=0
            )
            result = tf.estimator.train_and_evaluate(self.estimator, spec, evaluating)[0]
        else:
            self.train()
            result = self._evaluated(None)
        return result, self._exported()

    def local_run(self) -> Any:
        """As its old name has it."""
        self._amid = self._locally or 0
        return self.train_and_evaluate()

    def test(self) -> Any:
        """One step of each."""
        self.estimator.train(self._inputs[0], self._hooks[0], steps=1, saving_listeners=self._listeners)
        result = self.estimator.evaluate(self._inputs[1], steps=1, name="one_pass")
        self._exported()
        return result

    def _evaluated(self, name: Optional[str]) -> Any:
        return self.estimator.evaluate(self._inputs[1], self.eval_steps, self._hooks[1], name=name)

    def _exported(self) -> list[Any]:
        folder = os.path.join(self.estimator.model_dir, "export")
        return [each.export_fn(self.estimator, os.path.join(folder, each.name)) for each in self._strategies]


def _run(
    experiment_fn: Any,
    output_dir: Any = None,
    schedule: Optional[str] = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    if (output_dir is None) == (run_config is None):
        raise ValueError("Must set value for one of `output_dir` and `run_config`")
    if run_config is not None:
        made = experiment_fn(run_config, hparams)
    else:
        made = experiment_fn(output_dir=output_dir)
    method = schedule or "train_and_evaluate"
    if method not in ("train", "evaluate", "train_and_evaluate", "local_run", "test"):
        raise ValueError(f"Schedule references non-existent task {method}")
    return getattr(made, method)()


learn_runner = types.SimpleNamespace(run=_run)
saved_model_export_utils = types.SimpleNamespace(make_export_strategy=make_export_strategy)
utils = types.SimpleNamespace(
    make_export_strategy=make_export_strategy, saved_model_export_utils=saved_model_export_utils
)
ModeKeys = types.SimpleNamespace(TRAIN="train", EVAL="eval", INFER="infer")
