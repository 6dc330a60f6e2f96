"""What the methods of an Experiment do with its Estimator.

As TensorFlow 1.15 has it (contrib/learn/python/learn/experiment.py), for an Estimator of `tf.estimator` on one machine. Waits
before trainings and evaluations are left out.
"""

from __future__ import annotations

from collections.abc import Collection

PARAMETERS = (
    "estimator train_input_fn eval_input_fn eval_metrics train_steps eval_steps train_monitors eval_hooks "
    "local_eval_frequency eval_delay_secs continuous_eval_throttle_secs min_eval_frequency delay_workers_by_global_step "
    "export_strategies train_steps_per_iteration checkpoint_and_export saving_listeners check_interval_secs"
).split()
SCHEDULES = ("train", "evaluate", "train_and_evaluate", "test")
"""Those that a run may choose from."""
ALONE = ("local_run",)
"""Those that a program names itself."""
NAMED = 'name="one_pass"'
_FOLDER = '{estimator}.model_dir + "/export/Servo"'
_AT_ONCE = ("start_delay_secs=0", "throttle_secs=0")


def lines(schedule: str, given: Collection[str], tf: str, named: str = NAMED) -> list[str]:
    """The statements of a method, each a template whose holes are parameters.

    Args:
      schedule: the method.
      given: parameters that have a value; ``at_the_end`` where evaluations amid a training are not wanted, and ``serving``,
        ``assets_extra`` and ``as_text`` where the model is exported.
      tf: what the file calls TensorFlow.
      named: the argument by which `evaluate` names its evaluation.
    """
    training = _given(given, "train_input_fn", hooks="train_monitors", saving_listeners="saving_listeners")
    steps = _given(given, max_steps="train_steps")
    evaluating = _given(given, "eval_input_fn", hooks="eval_hooks")
    batches = _given(given, steps="eval_steps")
    all_batches = batches or ["steps=100"]
    served = ["{serving}", *_given(given, assets_extra="assets_extra", as_text="as_text")] if "serving" in given else []
    # not as a FinalExporter, which exports only where a training reaches its `max_steps`
    export = [_call("{estimator}.export_saved_model", _FOLDER, *served)] if served else []
    if schedule == "train":
        return [_call("{estimator}.train", *training, *steps)]
    if schedule == "evaluate":
        return [_call("{estimator}.evaluate", *evaluating, *all_batches, named)]
    if schedule == "test":
        evaluate = _call("{estimator}.evaluate", *_given(given, "eval_input_fn"), "steps=1", NAMED)
        return [_call("{estimator}.train", *training, "steps=1"), evaluate, *export]
    if "at_the_end" in given or (schedule == "local_run" and "local_eval_frequency" not in given):
        evaluate = _call("{estimator}.evaluate", *evaluating, *all_batches)
        return [_call("{estimator}.train", *training, *steps), evaluate, *export]
    train_spec = _call(f"{tf}.estimator.TrainSpec", *training, *steps)
    eval_spec = _call(f"{tf}.estimator.EvalSpec", *evaluating, *batches, *_AT_ONCE)
    return [_call(f"{tf}.estimator.train_and_evaluate", "{estimator}", train_spec, eval_spec), *export]


def _call(function: str, *given: str) -> str:
    return f"{function}({', '.join(given)})"


def _given(given: Collection[str], *first: str, **named: str) -> list[str]:
    """Arguments that parameters go to, as far as these have values."""
    found = [f"{{{each}}}" for each in first if each in given]
    return found + [f"{name}={{{parameter}}}" for name, parameter in named.items() if parameter in given]


def chosen(schedule: str, given: Collection[str], tf: str) -> list[str]:
    """The statements of a run that does what a name says."""
    found: list[str] = []
    for each in SCHEDULES:
        test = f'{schedule} in (None, "{each}")' if each == "train_and_evaluate" else f'{schedule} == "{each}"'
        found.append(f"{'elif' if found else 'if'} {test}:")
        found += [f"    {line}" for line in lines(each, given, tf)]
    return [*found, "else:", f'    raise ValueError("Schedule references non-existent task %s" % {schedule})']
