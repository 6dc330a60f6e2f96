"""Arguments in dicts of the program: `EstimatorSpec(mode, **spec)`, `TrainSpec(**settings)`, `Estimator(**arguments)`."""

from __future__ import annotations

import textwrap

import pytest
from desugared import BODY, ESTIMATOR, INPUT, MODEL, TRAIN, below, plain
from modelfn.programs import joined, migrate, run, units

WHOLE = migrate(MODEL + ESTIMATOR + TRAIN).partition("class ")[2].partition("def make_input_fn")[0]
SPECS = [
    'spec = {"mode": mode, "predictions": predictions, "loss": loss, "train_op": train_op}\n'
    "return tf.estimator.EstimatorSpec(**spec)",
    'spec = {}\nspec["predictions"] = predictions\nspec.update(loss=loss, train_op=train_op)\n'
    "return tf.estimator.EstimatorSpec(mode, **spec)",
    "spec = dict(predictions=predictions)\nif mode != tf.estimator.ModeKeys.PREDICT:\n    spec['loss'] = loss\n"
    "if mode == tf.estimator.ModeKeys.TRAIN:\n    spec.update({'train_op': train_op})\n"
    "return tf.estimator.EstimatorSpec(mode=mode, **spec)",
    'return tf.estimator.EstimatorSpec(mode, **{"predictions": predictions, "loss": loss, "train_op": train_op})',
    "return tf.estimator.EstimatorSpec(**{}, mode=mode, predictions=predictions, loss=loss, train_op=train_op)",
    "more = {}\n"
    "return tf.estimator.EstimatorSpec(mode, predictions=predictions, **more, loss=loss, train_op=train_op, **{})",
    'spec = {"loss": loss, "predictions": predictions}\n'
    'spec["train_op"] = tf.train.GradientDescentOptimizer(0.1).minimize(spec["loss"], tf.train.get_global_step())\n'
    "return tf.estimator.EstimatorSpec(mode, **spec)",
    'spec = {"loss": loss, "predictions": predictions}\n'
    'spec.update(train_op=tf.train.GradientDescentOptimizer(0.1).minimize(spec["loss"], tf.train.get_global_step()))\n'
    "return tf.estimator.EstimatorSpec(mode, **spec)",
]


def with_spec(spec: str) -> str:
    """A program whose model_fn ends otherwise."""
    body = textwrap.indent(BODY + spec, "    ")
    if "GradientDescent" in spec:
        body = body.replace(textwrap.indent(BODY.splitlines()[-1], "    ") + "\n", "")
    return f"import tensorflow as tf\n\n\ndef model_fn(features, labels, mode, params):\n{body}\n\n\n{INPUT}"


@pytest.mark.parametrize("spec", SPECS)
def test_specs(spec: str) -> None:
    text = plain(with_spec(spec) + ESTIMATOR + TRAIN)
    assert text.partition("class ")[2].partition("def make_input_fn")[0] == joined(WHOLE)


FIT = "model.fit(make_input_fn(8, None)().take(20))"


@pytest.mark.parametrize(
    "made",
    [
        'estimator = tf.estimator.Estimator(**{"model_fn": model_fn, "params": {"units": 1}})\n',
        'arguments = dict(model_fn=model_fn, params={"units": 1})\nestimator = tf.estimator.Estimator(**arguments)\n',
        'ARGUMENTS = {"params": {"units": 1}}\nestimator = tf.estimator.Estimator(model_fn, **ARGUMENTS)\n',
    ],
)
def test_estimators(made: str) -> None:
    assert below(MODEL + made + TRAIN).endswith(FIT) and "units" in migrate(MODEL + made + TRAIN)


def test_settings_by_conditions() -> None:
    made = (
        "arguments = {'model_fn': model_fn, 'params': {'units': 1}}\nif load():\n    arguments['model_dir'] = 'here'\n"
    )
    text = migrate(MODEL + made + "estimator = tf.estimator.Estimator(**arguments)\n" + TRAIN)
    assert "arguments" not in text and "model_dir = None\nif load():\n    model_dir = 'here'\n" in text


def test_one_dict_for_several_calls() -> None:
    settings = 'SETTINGS = {"save_summary_steps": 7, "keep_checkpoint_max": 2}\n'
    made = 'one = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig("here", **SETTINGS))\n'
    made += made.replace("one", "two").replace("here", "there")
    train = TRAIN.replace("estimator", "one") + TRAIN.replace("estimator", "two")
    text = plain(MODEL + settings + made.replace("model_fn,", 'model_fn, params={"units": 1},') + train)
    assert text.count("max_to_keep=2") == 2 and text.count("update_freq=7") == 2


@pytest.mark.parametrize(
    "made",
    [
        "arguments = load()\nestimator = tf.estimator.Estimator(**arguments)\n",
        "arguments = dict(load(), model_fn=model_fn)\nestimator = tf.estimator.Estimator(**arguments)\n",
        "arguments = {'model_fn': model_fn}\nload(arguments)\nestimator = tf.estimator.Estimator(**arguments)\n",
        "arguments = {'model_fn': model_fn}\nfor key in load():\n    arguments[key] = load()\n"
        "estimator = tf.estimator.Estimator(**arguments)\n",
        "if load():\n    arguments = {'model_fn': model_fn}\nelse:\n    arguments = {}\n"
        "estimator = tf.estimator.Estimator(**arguments)\n",
    ],
)
def test_dicts_that_are_not_seen_stay(made: str) -> None:
    outcomes = run(MODEL + made + TRAIN)
    assert [unit.tier for unit in units(outcomes)] == ["manual"]
    assert outcomes["program.py"].after.decode() == MODEL + made + TRAIN


def test_values_that_change_in_between_become_variables() -> None:
    made = "name = 'a'\narguments = {'model_dir': name + '/b', 'params': {'units': 1}}\nname = 'c'\n"
    text = plain(MODEL + made + "estimator = tf.estimator.Estimator(model_fn, **arguments)\n" + TRAIN + "print(name)\n")
    assert "model_dir = name + '/b'\nparams = {'units': 1}\nname = 'c'\n" in text


def test_a_value_of_several_lines_within_parentheses() -> None:
    made = "arguments = {'params': {'units': 1}, 'model_dir': (load()\n    or 'here')}\nprint(arguments['model_dir'])\n"
    text = migrate(MODEL + made + "estimator = tf.estimator.Estimator(model_fn, **arguments)\n" + TRAIN)
    assert "model_dir = (load()\n    or 'here')\n" in text and "print(model_dir)\n" in text


def configured(entry: str) -> str:
    """A program with a setting by a condition."""
    made = f"settings = {{'model_dir': 'here'}}\nif load():\n    settings['{entry}'] = 7\n"
    made += "config = tf.estimator.RunConfig(**settings)\n"
    return MODEL + made + 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config)\n' + TRAIN


def test_settings_that_are_left_out_are_as_they_are_by_default() -> None:
    text = migrate(configured("save_summary_steps"))
    assert "save_summary_steps = 100\nif load():\n    save_summary_steps = 7\n" in text
    assert "tf_random_seed = None\n" in migrate(configured("tf_random_seed"))


def test_settings_whose_default_says_more_are_not_left_out() -> None:
    program = configured("save_checkpoints_steps")
    assert run(program)["program.py"].after.decode() == program


ASKED = ["STEPS", "STEPS is not None", "STEPS > 0"]


@pytest.mark.parametrize("test", ASKED)
def test_steps_between_checkpoints_by_a_condition(test: str) -> None:
    program = configured("save_checkpoints_steps").replace("if load()", f"if {test}").replace("= 7", "= STEPS")
    text = plain(program)
    assert f"save_checkpoints_steps = 1000\nif {test}:\n    save_checkpoints_steps = STEPS\n" in text
    assert "(batch + 1) % save_checkpoints_steps == 0" in text
    said = [d.message for d in run(program)["program.py"].remaining]
    assert any("saves every 10 minutes where it is told no number of steps: every 1000 steps now" in s for s in said)


@pytest.mark.parametrize("test", ["OTHER", "STEPS is None", "STEPS < 9", "load(STEPS)"])
def test_steps_that_may_be_none_stay(test: str) -> None:
    program = configured("save_checkpoints_steps").replace("if load()", f"if {test}").replace("= 7", "= STEPS")
    assert run(program)["program.py"].after.decode() == program


def test_steps_beside_seconds_stay() -> None:
    program = configured("save_checkpoints_steps").replace("if load()", "if STEPS").replace("= 7", "= STEPS")
    program = program.replace("'model_dir': 'here'", "'model_dir': 'here', 'save_checkpoints_secs': None")
    assert run(program)["program.py"].after.decode() == program


@pytest.mark.parametrize(
    "train",
    [
        "settings = {'steps': 20}\nestimator.train(make_input_fn(8, None), **settings)\n",
        "estimator.train(make_input_fn(8, None), **{'steps': 20})\n",
        "estimator.train(**dict(input_fn=make_input_fn(8, None), steps=20))\n",
    ],
)
def test_trainings(train: str) -> None:
    assert below(MODEL + ESTIMATOR + train).endswith(FIT)


def test_trainings_and_evaluations_by_conditions() -> None:
    train = (
        "settings = {}\nif load():\n    settings['steps'] = 20\nestimator.train(make_input_fn(8, None), **settings)\n"
    )
    evaluate = (
        "given = {}\nif load():\n    given.update(name='test')\nestimator.evaluate(make_input_fn(8, 1), **given)\n"
    )
    text = plain(MODEL + ESTIMATOR + train)
    assert "steps = None\nif load():\n    steps = 20\n" in text and "take(-1 if steps is None else steps)" in text
    assert "name = None\nif load():\n    name = 'test'\n" in migrate(MODEL + ESTIMATOR + evaluate)


def test_what_is_no_estimator_stays() -> None:
    other = "trainer = load()\nsettings = {'steps': 20}\ntrainer.train(load(), **settings)\n"
    assert other in migrate(MODEL + ESTIMATOR + TRAIN + other)


def test_a_seed_that_may_be_none_seeds_nothing() -> None:
    text = plain(configured("tf_random_seed"))
    assert "if tf_random_seed is not None:\n    tf.keras.utils.set_random_seed(tf_random_seed)\n" in text


def test_literals_that_stay_need_no_variable() -> None:
    text = plain(configured("tf_random_seed").replace("'here'", "'here', 'save_summary_steps': 7"))
    assert "update_freq=7" in text and "save_summary_steps" not in text and "model_dir" not in text


EARLY = """spec = {"predictions": predictions}
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, **spec)
spec["loss"] = loss
spec["train_op"] = train_op
return tf.estimator.EstimatorSpec(mode=mode, **spec)"""


def test_a_spec_that_is_returned_early() -> None:
    assert "**" not in plain(with_spec(EARLY) + ESTIMATOR + TRAIN)


def test_a_dict_that_is_spread_in_a_loop_stays() -> None:
    made = 'given = {}\nfor name in "ab":\n    estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, **given)\n'
    made += f"    {TRAIN}    given['model_dir'] = name\nother = tf.estimator.Estimator(model_fn, **given)\n"
    assert [unit.tier for unit in units(run(MODEL + made))] == ["manual"]


def test_an_entry_by_a_condition_is_left_out_where_it_is_not_met() -> None:
    made = (
        'model_dir = load()\narguments = {"params": {"units": 1}}\nif load():\n    arguments["model_dir"] = model_dir\n'
    )
    text = migrate(MODEL + made + "estimator = tf.estimator.Estimator(model_fn, **arguments)\n" + TRAIN)
    assert "model_dir_ = None\nif load():\n    model_dir_ = model_dir\n" in text


@pytest.mark.parametrize("condition", ["load()", "PARAMS and load()"])
def test_an_entry_by_a_condition_whose_value_is_made_below_the_dict(condition: str) -> None:
    made = f'arguments = {{"params": {{"units": 1}}}}\nmodel_dir = load()\nif {condition}:\n'
    made += '    arguments["model_dir"] = model_dir\n'
    text = migrate(MODEL + made + "estimator = tf.estimator.Estimator(model_fn, **arguments)\n" + TRAIN)
    assert f"model_dir_ = None\nmodel_dir = load()\nif {condition}:\n    model_dir_ = model_dir\n" in text


def test_metrics_by_a_condition_that_are_made_below_the_dict() -> None:
    spec = 'spec = {"mode": mode, "predictions": predictions}\nspec["loss"] = loss\nspec["train_op"] = train_op\n'
    spec += 'eval_metric_ops = {"mae": tf.metrics.mean_absolute_error(labels, predictions)}\n'
    spec += (
        'if params["log"]:\n    spec["eval_metric_ops"] = eval_metric_ops\nreturn tf.estimator.EstimatorSpec(**spec)'
    )
    estimator = 'estimator = tf.estimator.Estimator(model_fn, params={"log": False})\n'
    text = run(with_spec(spec) + estimator + TRAIN)["program.py"].after.decode()
    assert 'metrics=[tf.keras.metrics.MeanAbsoluteError(name="mae")]' not in text and 'if params["log"]' in text


def test_a_variable_that_is_made_where_it_is_stored_keeps_its_name() -> None:
    made = 'arguments = {"params": {"units": 1}}\nif load():\n    model_dir = load()\n'
    made += '    arguments["model_dir"] = model_dir\n'
    text = migrate(MODEL + made + "estimator = tf.estimator.Estimator(model_fn, **arguments)\n" + TRAIN)
    assert "model_dir = None\nif load():\n    model_dir = load()\n" in text and "model_dir_" not in text


@pytest.mark.parametrize(
    "other",
    [
        "from program import ARGUMENTS\n",
        "from program import ARGUMENTS as given\n\ngiven['model_dir'] = 'there'\n",
        "import program\n\nprint(program.ARGUMENTS)\n",
        "from program import *\n\nARGUMENTS.update(model_dir='there')\n",
    ],
)
def test_a_dict_that_another_file_has_stays(other: str) -> None:
    made = 'ARGUMENTS = {"model_dir": "here"}\n\n\ndef build():\n'
    made += '    return tf.estimator.Estimator(model_fn, params={"units": 1}, **ARGUMENTS)\n\n\nestimator = build()\n'
    outcomes = run({"program.py": MODEL + made + TRAIN, "other.py": other})
    text = outcomes["program.py"].after.decode()
    assert 'ARGUMENTS = {"model_dir": "here"}\n' in text and "**ARGUMENTS" in text


@pytest.mark.parametrize(
    "made",
    [
        "arguments = {\n    # of each night\n    'model_dir': 'here',\n}\n"
        "estimator = tf.estimator.Estimator(model_fn, **arguments)\n",
        "arguments = {}\narguments.update(\n    model_dir='here',  # of each night\n)\n"
        "estimator = tf.estimator.Estimator(model_fn, **arguments)\n",
        "estimator = tf.estimator.Estimator(\n    model_fn,\n"
        "    **{\n        # of each night\n        'model_dir': 'here',\n    },\n)\n",
    ],
)
def test_dicts_with_comments_stay(made: str) -> None:
    text = run(MODEL + made + TRAIN)["program.py"].after.decode()
    assert "# of each night" in text and made.partition("\n")[0] in text
