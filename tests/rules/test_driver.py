"""The code around a model_fn: RunConfig, specs, train, evaluate, predict, ModeKeys."""

from __future__ import annotations

import ast

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, run

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode{{extra}}):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


def input_fn():
    return read_examples(1)


"""
ESTIMATOR = "e = tf.estimator.Estimator(model_fn)\n"


def program(use: str, extra: str = "") -> str:
    """A program that ends in the statements `use`."""
    return MODEL.format(extra=extra) + use + "\n"


def migrated(use: str, extra: str = "") -> str:
    """The statements `use` after migration."""
    text = migrate(program(use, extra))
    return text.split("return read_examples(1)\n")[1].strip()


def statement(line: str) -> str:
    """A statement that uses the Estimator `e`, after migration."""
    return migrated(ESTIMATOR + line).split("\n", 1)[1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Estimator(model_fn)", "create_model()"),
        ("Estimator(model_fn=model_fn)", "create_model()"),
        ("Estimator(model_fn, None)", "create_model(model_dir=None)"),
        ("Estimator(model_fn, 'dir', CONFIG)", "create_model(model_dir='dir', config=CONFIG)"),
        ("Estimator(model_fn, model_dir='dir')", "create_model(model_dir='dir')"),
        ("Estimator(config=CONFIG, model_fn=model_fn)", "create_model(config=CONFIG)"),
        ("Estimator(model_fn, warm_start_from=None)", "create_model()"),
        ("Estimator(model_fn, 'dir', CONFIG, {'a': 1})", "create_model(model_dir='dir', config=CONFIG)"),
    ],
)
def test_construction(old: str, new: str) -> None:
    assert migrated(f"e = tf.estimator.{old}") == f"e = {new}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Estimator(model_fn, 'dir', CONFIG, {'a': 1})",
            "create_model(model_dir='dir', config=CONFIG, params={'a': 1})",
        ),
        ("Estimator(model_fn, params=PARAMS)", "create_model(params=PARAMS)"),
        ("Estimator(params=vars(FLAGS), model_fn=model_fn)", "create_model(params=vars(FLAGS))"),
    ],
)
def test_construction_with_params(old: str, new: str) -> None:
    assert migrated(f"e = tf.estimator.{old}", ", params") == f"e = {new}"


def test_a_model_fn_without_params_argument_gets_an_empty_dict() -> None:
    text = migrate(program(ESTIMATOR, ", params"))
    assert "e = create_model(params={})" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("e.train(input_fn)", "train(e, input_fn)"),
        ("e.train(input_fn=input_fn, steps=10)", "train(e, input_fn=input_fn, steps=10)"),
        ("e.train(input_fn, None, 10)", "train(e, input_fn, 10)"),
        ("e.train(input_fn, [], None, 10)", "train(e, input_fn, None, 10)"),
        ("e.train(input_fn, hooks=None, max_steps=10)", "train(e, input_fn, max_steps=10)"),
        ("e.train(max_steps=10, input_fn=input_fn)", "train(e, max_steps=10, input_fn=input_fn)"),
        ("e.train(lambda: input_fn(), steps=N)", "train(e, lambda: input_fn(), steps=N)"),
        ("r = e.evaluate(input_fn, 5)", "r = evaluate(e, input_fn, 5)"),
        ("r = e.evaluate(input_fn, steps=None, name='a')", "r = evaluate(e, input_fn, steps=None, name='a')"),
        ("r = e.evaluate(input_fn, 5, None, 'c', 'n')", "r = evaluate(e, input_fn, 5, checkpoint_path='c', name='n')"),
        ("print(e.evaluate(input_fn)['loss'])", "print(evaluate(e, input_fn)['loss'])"),
        ("for p in e.predict(input_fn):\n    print(p)", "for p in predict(e, input_fn):\n    print(p)"),
        ("p = next(e.predict(input_fn, ['a']))", "p = next(predict(e, input_fn, ['a']))"),
        (
            "p = list(e.predict(input_fn, None, None, 'c', False))",
            "p = list(predict(e, input_fn, None, 'c', False))",
        ),
        ("d = e.model_dir", "d = e.run_config.model_dir"),
        ("p = e.latest_checkpoint()", "p = tf.train.latest_checkpoint(e.run_config.model_dir)"),
        ("d = e.eval_dir()", "d = eval_dir(e)"),
        ("d = e.eval_dir(name='dev')", "d = eval_dir(e, name='dev')"),
        ("d = e.config.save_summary_steps", "d = e.run_config.save_summary_steps"),
    ],
)
def test_methods(old: str, new: str) -> None:
    assert statement(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c = tf.estimator.RunConfig()", "c = RunConfig()"),
        ("c = tf.estimator.RunConfig('dir', 1, 2)", "c = RunConfig('dir', 1, 2)"),
        (
            "c = tf.estimator.RunConfig(model_dir='d', keep_checkpoint_max=3)",
            "c = RunConfig(model_dir='d', keep_checkpoint_max=3)",
        ),
        (
            "c = tf.contrib.learn.RunConfig(gpu_memory_fraction=0.5, tf_random_seed=7, save_checkpoints_secs=9)",
            "c = RunConfig(tf_random_seed=7, save_checkpoints_secs=9)",
        ),
        (
            "c = tf.estimator.RunConfig(session_config=None, save_checkpoints_steps=10)",
            "c = RunConfig(save_checkpoints_steps=10)",
        ),
        ("c = tf.estimator.RunConfig(train_distribute=None, device_fn=None)", "c = RunConfig()"),
        (
            "c = tf.estimator.RunConfig('d', 1, 2, 3, None, None, 4)",
            "c = RunConfig('d', 1, 2, 3, None, keep_checkpoint_max=4)",
        ),
        ("c = tf.estimator.RunConfig().replace(tf_random_seed=1)", "c = RunConfig(tf_random_seed=1)"),
        ("s = tf.estimator.TrainSpec(input_fn, 100)", "s = TrainSpec(input_fn, 100)"),
        (
            "s = tf.estimator.TrainSpec(input_fn=input_fn, hooks=[], max_steps=9)",
            "s = TrainSpec(input_fn=input_fn, max_steps=9)",
        ),
        ("s = tf.estimator.EvalSpec(input_fn, 10, 'n')", "s = EvalSpec(input_fn, 10, 'n')"),
        (
            "s = tf.estimator.EvalSpec(input_fn, 10, 'n', None, None, 1, 2)",
            "s = EvalSpec(input_fn, 10, 'n', start_delay_secs=1, throttle_secs=2)",
        ),
        ("s = tf.estimator.EvalSpec(input_fn, None, throttle_secs=3)", "s = EvalSpec(input_fn, None, throttle_secs=3)"),
        ("tf.estimator.train_and_evaluate(e, TRAIN, EVAL)", "train_and_evaluate(e, TRAIN, EVAL)"),
        (
            "tf.estimator.train_and_evaluate(estimator=e, eval_spec=EVAL, train_spec=TRAIN)",
            "train_and_evaluate(model=e, eval_spec=EVAL, train_spec=TRAIN)",
        ),
        ("m = tf.estimator.ModeKeys.TRAIN", "m = ModeKeys.TRAIN"),
        ("m = {tf.estimator.ModeKeys.PREDICT: 1}", "m = {ModeKeys.PREDICT: 1}"),
    ],
)
def test_configuration_and_specs(old: str, new: str) -> None:
    assert statement(old) == new


def test_dropped_session_options_are_remarked() -> None:
    source = program("c = tf.estimator.RunConfig(session_config=SESSION)\n" + ESTIMATOR)
    (outcome, *_) = run(source).values()
    said = [d for d in (*outcome.remaining, *outcome.applied) if "session_config" in d.message]
    assert len(said) == 1 and "is dropped" in said[0].message
    assert said[0].location.line == source[: source.index("SESSION")].count("\n") + 1


def test_everything_in_one_expression() -> None:
    use = (
        "tf.estimator.train_and_evaluate(\n"
        "    tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig('d', session_config=None)),\n"
        "    tf.estimator.TrainSpec(input_fn, max_steps=10, hooks=None),  # train\n"
        "    tf.estimator.EvalSpec(input_fn),\n"
        ")"
    )
    assert migrated(use) == (
        "estimator = create_model(config=RunConfig('d'))\n"
        "train_and_evaluate(\n"
        "    estimator,\n"
        "    TrainSpec(input_fn, max_steps=10),  # train\n"
        "    EvalSpec(input_fn),\n"
        ")"
    )


def test_comments_between_arguments() -> None:
    use = "e = tf.estimator.Estimator(\n    model_fn=model_fn,  # the net\n    # where\n    model_dir='d',\n)"
    text = migrated(use)
    assert "    # where\n    model_dir='d',\n)" in text


def test_calls_over_several_lines_parse() -> None:
    use = ESTIMATOR + "e.train(\n    # data\n    input_fn=lambda: input_fn(),\n    steps=10,  # ten\n)"
    text = migrated(use)
    assert "    # data\n" in text and "steps=10,  # ten" in text


def test_own_functions_of_the_same_names_stay() -> None:
    use = (
        "def train():\n"
        "    e = tf.estimator.Estimator(model_fn)\n"
        "    e.train(input_fn)\n"
        "    return e\n\n\n"
        "def evaluate(predict):\n"
        "    return train().evaluate(input_fn)"
    )
    text = migrate(program(use))
    assert "    tf2_training.train(e, input_fn)\n" in text
    assert "    return tf2_training.evaluate(train(), input_fn)" in text
    assert "import tf2_training\n" in text


def test_helpers_are_imported_once_and_only_where_needed() -> None:
    text = migrate(program(ESTIMATOR + "e.train(input_fn)\ne.train(input_fn)\ne.evaluate(input_fn)\n"))
    imports = [n for n in ast.parse(text).body if isinstance(n, ast.ImportFrom) and n.module == "tf2_training"]
    (names,) = [[alias.name for alias in n.names] for n in imports]
    assert names == ["BatchMean", "configure", "evaluate", "train"]


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (ESTIMATOR + "e.train(input_fn, hooks=[HOOK])  # HERE", "`hooks` of Estimator.train"),
        (ESTIMATOR + "e.train(input_fn, [HOOK])  # HERE", "`hooks` of Estimator.train"),
        (ESTIMATOR + "e.train(input_fn, hooks=make_hooks())  # HERE", "`hooks` of Estimator.train"),
        (
            ESTIMATOR + "e.train(input_fn, saving_listeners=[L])  # HERE",
            "a listener of a CheckpointSaverHook is not seen",
        ),
        (ESTIMATOR + "e.evaluate(input_fn, hooks=[HOOK])  # HERE", "`hooks` of Estimator.evaluate"),
        (ESTIMATOR + "e.train(*ARGS)  # HERE", "hidden behind * or **"),
        (ESTIMATOR + "e.train(**ARGS)  # HERE", "hidden behind * or **"),
        (ESTIMATOR + "e.train(input_fn, unknown=3)  # HERE", "no argument `unknown`"),
        (ESTIMATOR + "c = tf.estimator.RunConfig(**ARGS)  # HERE", "hidden behind * or **"),
        (ESTIMATOR + "s = tf.estimator.TrainSpec(input_fn, hooks=[HOOK])  # HERE", "`hooks`"),
        (ESTIMATOR + "make = tf.estimator.RunConfig  # HERE", "RunConfig is not migrated yet"),
        (ESTIMATOR + "fn = tf.estimator.inputs.csv_input_fn({}, 1)  # HERE", "csv_input_fn"),
        (
            "e = tf.estimator.Estimator(model_fn, warm_start_from=tf.estimator.WarmStartSettings('d', ['a']))  # HERE",
            "as a list",
        ),
    ],
)
def test_left_alone(use: str, reason: str) -> None:
    assert reason in manual_reason(program(use))


UNSAVED = "saves no checkpoint"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("save_checkpoints_secs=None", True),
        ("save_checkpoints_secs=None, save_checkpoints_steps=None", True),
        ("save_checkpoints_secs=None, save_checkpoints_steps=5", False),
        ("save_checkpoints_steps=STEPS", False),
        ("keep_checkpoint_max=None", False),
    ],
)
def test_a_run_that_saves_no_checkpoint_is_told_of(given: str, said: bool) -> None:
    (outcome, *_) = run(program(f"c = tf.estimator.RunConfig({given})\n{ESTIMATOR}")).values()
    assert (UNSAVED in str([d.message for d in (*outcome.remaining, *outcome.applied)])) is said


def test_a_run_whose_hook_saves_checkpoints_is_not_told_so() -> None:
    hook = "tf.estimator.CheckpointSaverHook('m', save_steps=5)"
    train = f"c = tf.estimator.RunConfig(save_checkpoints_secs=None)\n{ESTIMATOR}e.train(input_fn, hooks=[{hook}])\n"
    (outcome, *_) = run(program(train)).values()
    assert UNSAVED not in str([d.message for d in (*outcome.remaining, *outcome.applied)])
