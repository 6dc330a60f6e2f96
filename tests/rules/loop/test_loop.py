"""Loops of `train`, `evaluate` and `predict` that become `fit`, `evaluate` and `predict` of the Keras model."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

import pytest
from modelfn.programs import HELPERS, LOSS, TRAIN_OP, migrate, run

from migrator.vocabulary.diagnostics import Outcome

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], params["units"])
    {LOSS}
    {TRAIN_OP}
    outputs = {{"score": predictions, "class": tf.argmax(predictions, 1)}}
    return tf.estimator.EstimatorSpec(mode, predictions=outputs, loss=loss, train_op=train_op)


def make_input_fn(count, epochs):
    def input_fn():
        return tf.data.Dataset.from_tensor_slices(({{"x": [[1.0]] * count}}, [[1.0]] * count)).repeat(epochs).batch(2)

    return input_fn


"""
ESTIMATOR = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1})\n'
HEAD = 'model = create_model(params={"units": 1})\n'


def loop(before: str) -> str:
    """What becomes of the code behind the functions."""
    text = migrate(MODEL + ESTIMATOR + textwrap.dedent(before))
    return text[text.index(HEAD) + len(HEAD) :]


def kept(before: str, model: str = MODEL + ESTIMATOR) -> str:
    """A program whose loop stays with helpers."""
    text = migrate(model + textwrap.dedent(before))
    assert ".fit(" not in text and "import" in text and ("configure(" in text or "configure_distributed(" in text)
    return text


def test_steps_are_taken() -> None:
    assert (
        loop("estimator.train(make_input_fn(8, None), steps=20)\n") == "model.fit(make_input_fn(8, None)().take(20))\n"
    )


def test_nothing_is_vendored_for_it() -> None:
    files = run(MODEL + ESTIMATOR + "estimator.train(make_input_fn(8, None), steps=20)\n")
    assert HELPERS not in files


def test_training_to_the_end_of_the_data() -> None:
    assert loop("estimator.train(make_input_fn(8, 3))\n") == "model.fit(make_input_fn(8, 3)())\n"


def test_a_lambda_becomes_its_body() -> None:
    after = 'print(model.evaluate(make_input_fn(8, 1)(), return_dict=True)["loss"])\n'
    before = 'estimator.train(make_input_fn(8, 1))\nprint(estimator.evaluate(lambda: make_input_fn(8, 1)())["loss"])\n'
    assert loop(before).endswith(after)


def test_a_partial_becomes_a_call() -> None:
    program = MODEL.replace("import tensorflow as tf", "import functools\n\nimport tensorflow as tf")
    program += "def read(count, epochs=None):\n    return make_input_fn(count, epochs)()\n\n\n" + ESTIMATOR
    text = migrate(program + "estimator.train(functools.partial(read, 8, epochs=2), max_steps=5)\n")
    assert text.endswith("model.fit(read(8, epochs=2).take(5))\n")


GIVEN = """\
import functools


def read(mode, count=8, params=None):
    training = mode == tf.estimator.ModeKeys.TRAIN
    return make_input_fn(params["count"], None if training else 1)()


PARAMS = {"units": 1, "count": 4}
estimator = tf.estimator.Estimator(model_fn, params=PARAMS)
"""


@pytest.mark.parametrize(
    "before, after",
    [
        ("estimator.train(read, steps=3)", 'model.fit(read(mode="train", params=PARAMS).take(3))'),
        ("estimator.evaluate(read)", 'model.evaluate(read(mode="eval", params=PARAMS))'),
        (
            "estimator.train(lambda mode, params: read(mode, 2, params), steps=3)",
            'model.fit(read("train", 2, PARAMS).take(3))',
        ),
        (
            "estimator.train(functools.partial(read, count=2), steps=3)",
            'model.fit(read(count=2, mode="train", params=PARAMS).take(3))',
        ),
        (
            "print([p['score'] for p in estimator.predict(read)])",
            "print([score for score in model.predict(read(mode=\"infer\", params=PARAMS), verbose=0)['score']])",
        ),
    ],
)
def test_what_an_estimator_gives_to_its_input_is_given(before: str, after: str) -> None:
    assert migrate(MODEL + GIVEN + before + "\n").endswith(f"\n{after}\n")


def test_evaluation_of_some_batches() -> None:
    before = (
        "estimator.train(make_input_fn(8, 1))\nresult = estimator.evaluate(make_input_fn(8, None), 4, name='test')\n"
    )
    assert loop(before).endswith("result = model.evaluate(make_input_fn(8, None)().take(4), return_dict=True)\n")


def test_the_loss_is_that_of_batches_and_the_factory_makes_no_more_than_the_model() -> None:
    text = migrate(MODEL + ESTIMATOR + "estimator.train(make_input_fn(8, None), steps=1000)\n")
    assert 'self.loss_metric = tf.keras.metrics.Mean(name="loss")' in text
    assert "def create_model(params):\n" in text
    assert "steps_per_execution=100)  # steps in a call: for speed alone\n    return model\n" in text


@pytest.mark.parametrize(
    ("before", "steps", "together"),
    [
        ("", "199", 1),
        ("", "None", 1),
        ("", "200", 100),
        ("", "750", 50),
        ("", "1240", 20),
        ("", "1230", 10),
        ("", "1234", 100),
        ("STEPS = 1000\n", "STEPS", 100),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--steps', default=20000)\na = p.parse_args()\n",
            "a.steps",
            100,
        ),
        (
            "import argparse\np = argparse.ArgumentParser()\np.add_argument('--steps', default=100)\na = p.parse_args()\n",
            "a.steps",
            1,
        ),
    ],
)
def test_steps_are_grouped_where_a_training_is_long(before: str, steps: str, together: int) -> None:
    data = "make_input_fn(8, 1)" if steps == "None" else "make_input_fn(8, None)"
    text = migrate(MODEL + before + ESTIMATOR + f"estimator.train({data}, steps={steps})\n")
    assert _together(text) == together and "model.fit(" in text


def _together(text: str) -> int:
    """How many steps a program runs in one call."""
    found = re.search(r"steps_per_execution=(\d+)", text)
    return int(found[1]) if found else 1


@pytest.mark.parametrize(
    ("every", "together"), [("500", 100), ("100", 100), ("150", 50), ("40", 20), ("30", 10), ("25", 1), ("every", 1)]
)
def test_groups_end_where_checkpoints_are_saved(every: str, together: int) -> None:
    config = f"config = tf.estimator.RunConfig('logs', save_checkpoints_steps={every}, save_summary_steps=None)\n"
    made = ESTIMATOR.replace("model_fn,", "model_fn, config=config,")
    assert made != ESTIMATOR
    text = migrate(
        MODEL
        + "every = 7\n" * (every == "every")
        + config
        + made
        + "estimator.train(make_input_fn(8, None), steps=3000)\n"
    )
    assert _together(text) == together and "model.fit(" in text


def test_steps_are_not_grouped_where_the_number_of_batches_is_not_known() -> None:
    program = MODEL.replace(".batch(2)", ".filter(lambda x, y: True).batch(2)")
    text = migrate(program + ESTIMATOR + "estimator.train(make_input_fn(8, 1))\n")
    assert "steps_per_execution" not in text and "model.fit(make_input_fn(8, 1)())" in text


@pytest.mark.parametrize(
    "name, after", [("classifier", "model"), ("ranker", "ranker"), ("model", "model"), ("est", "model")]
)
def test_a_name_that_says_estimator_says_model(name: str, after: str) -> None:
    before = f'{name} = tf.estimator.Estimator(model_fn, params={{"units": 1}})\n{name}.train(make_input_fn(8, 1))\n'
    assert migrate(MODEL + before).endswith(f"{after}.fit(make_input_fn(8, 1)())\n")


def test_a_name_that_is_taken_stays() -> None:
    before = "def show(model):\n    print(model)\n\n\n" + ESTIMATOR + "estimator.train(make_input_fn(8, 1))\nshow(1)\n"
    assert "estimator.fit(make_input_fn(8, 1)())" in migrate(MODEL + before)


def test_several_trainings_of_steps_go_on() -> None:
    before = """\
        for _ in range(3):
            estimator.train(make_input_fn(8, None), steps=5)
            print(estimator.evaluate(make_input_fn(4, 1)))
        """
    after = """\
        for _ in range(3):
            model.fit(make_input_fn(8, None)().take(5))
            print(model.evaluate(make_input_fn(4, 1)(), return_dict=True))
        """
    assert loop(before) == textwrap.dedent(after)


def test_the_last_step_counts_those_of_earlier_trainings() -> None:
    before = """\
        for n in (5, 9):
            estimator.train(make_input_fn(8, None), max_steps=n)
        """
    after = """\
        for n in (5, 9):
            steps = n - model.optimizer.iterations.numpy()
            if steps > 0:
                model.fit(make_input_fn(8, None)().take(steps))
        """
    assert loop(before) == textwrap.dedent(after)


@pytest.mark.parametrize("loss, said", [("tf.losses.mean_squared_error(labels, predictions)", True), ("", False)])
def test_another_mean_of_the_loss_is_said(loss: str, said: bool) -> None:
    model = MODEL.replace(LOSS, f"loss = {loss}" if loss else f"{LOSS} + tf.reduce_sum(predictions * labels) ** 3")
    use = "estimator.train(make_input_fn(8, 1))\nprint(estimator.evaluate(make_input_fn(8, 1)))\n"
    outcome = run(model + ESTIMATOR + use)["program.py"]
    messages = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert ("mean over examples" in messages) is said


def test_comments_between_arguments_stay() -> None:
    before = """\
        if True:
            estimator.train(
                # the first half
                input_fn=lambda: make_input_fn(
                    8,  # examples
                    None)(),
                steps=20,  # enough
            )
        """
    after = """\
        if True:
            # the first half
            # enough
            model.fit(make_input_fn(
                8,  # examples
                None)().take(20))
        """
    assert [line.strip() for line in loop(before).split("\n")] == [line.strip() for line in after.split("\n")]


def test_names_of_the_library_in_calls_are_replaced_with_them() -> None:
    program = MODEL + textwrap.dedent(
        """\
        def read(mode):
            data = make_input_fn(8, 1)()
            return data.repeat() if mode == tf.estimator.ModeKeys.TRAIN else data


        """
    )
    text = migrate(
        program
        + ESTIMATOR
        + textwrap.dedent(
            """\
            estimator.train(lambda: read(tf.estimator.ModeKeys.TRAIN), steps=5)
            print(estimator.evaluate(lambda: read(tf.estimator.ModeKeys.EVAL)))
            """
        )
    )
    assert text.endswith('model.fit(read("train").take(5))\nprint(model.evaluate(read("eval"), return_dict=True))\n')
    assert 'if mode == "train" else' in text and "ModeKeys" not in text


def test_parameters_that_are_written_into_the_call_get_a_name() -> None:
    before = "def read(count, params):\n    return make_input_fn(count, params['units'])()\n\n\n"
    text = migrate(MODEL + before + ESTIMATOR + "estimator.train(lambda params: read(8, params), steps=3)\n")
    after = 'params = {"units": 1}\nmodel = create_model(params=params)\nmodel.fit(read(8, params).take(3))\n'
    assert text.endswith(after)


@pytest.mark.parametrize(
    "read",
    [
        "    return {'x': [[1.0]]}, [[1.0]]\n",
        "    features = {'x': tf.constant([[1.0]])}\n    labels = np.ones([1, 1])\n    return features, labels\n",
    ],
)
def test_one_batch_that_is_read_again_and_again(read: str) -> None:
    before = f"import numpy as np\n\n\ndef read():\n{read}\n\n"
    use = "estimator.train(read, steps=3)\nestimator.evaluate(lambda: ({'x': [[2.0]]}, [[1.0]]), steps=1)\n"
    assert migrate(MODEL + before + ESTIMATOR + use).endswith(
        "model.fit(tf.data.Dataset.from_tensors(read()).repeat().take(3))\n"
        "model.evaluate(tf.data.Dataset.from_tensors(({'x': [[2.0]]}, [[1.0]])).repeat().take(1))\n"
    )


def test_input_functions_that_a_function_gets() -> None:
    work = "def work(read):\n    " + ESTIMATOR + "    estimator.train(read)\n\n\nwork(make_input_fn(8, 1))\n"
    assert "    model.fit(read())\n" in migrate(MODEL + work)


def test_data_without_a_limit() -> None:
    epochs = 'import json\n\nepochs = json.load(open("settings.json"))["epochs"]\n'
    text = loop(epochs + "estimator.train(make_input_fn(8, epochs))\n")
    assert text.endswith("model.fit(make_input_fn(8, epochs)())\n")  # Keras refuses data without an end
    kept("estimator.train(make_input_fn(8, None))\n")


def test_a_semicolon_at_the_end_of_a_line() -> None:
    saving = ESTIMATOR.replace("model_fn,", 'model_fn, "model",')
    train = "estimator.train(make_input_fn(8, None), max_steps=20)"
    text = migrate(MODEL + saving + train + ";  # shows nothing\n")
    assert "    model.fit(" in text and "# shows nothing" in text and ";" not in text
    kept(f"{train}; print(1)\n", MODEL + saving)
    kept(f"print(1); {train};\n", MODEL + saving)


def test_a_name_of_the_modes_goes_where_strings_take_its_place() -> None:
    read = "def read(mode):\n    return make_input_fn(8, None if mode == Modes.TRAIN else 1)()\n\n\n"
    use = "estimator.train(lambda: read(Modes.TRAIN), steps=5)\n"
    modes = MODEL.replace("import tensorflow as tf\n", "import tensorflow as tf\n\nModes = tf.estimator.ModeKeys\n")
    text = migrate(modes + read + ESTIMATOR + use)
    assert "Modes" not in text and text.endswith('model.fit(read("train").take(5))\n')


@pytest.mark.parametrize(
    "before",
    [
        'estimator.train(make_input_fn(8, 1))\nprint(estimator.evaluate(make_input_fn(8, 1))["global_step"])\n',
        "estimator.train(make_input_fn(8, 1))\nprint('{global_step}'.format(**estimator.evaluate(make_input_fn(8, 1))))\n",
        "estimator.train(make_input_fn(8, 1))\nprint('step %(global_step)d' % estimator.evaluate(make_input_fn(8, 1)))\n",
        "estimator.train(make_input_fn(8, 1))\nprint(estimator.model_dir)\n",
        "estimator.train(make_input_fn(8, 1))\nprint(list(estimator.predict(make_input_fn(8, 1), KEYS)))\n",
        "def read():\n    x = {}\n    x['x'] = load()\n    return x, [[1.0]]\n\n\nestimator.train(read, steps=3)\n",
        "def read():\n    return {'x': [[1.0]]}, [[1.0]]\n\n\nestimator.train(read)\n",
        "def read(config):\n    return make_input_fn(8, 1)()\n\n\nestimator.train(read, steps=3)\n",
        "import others\n\nestimator.train(others.read, steps=3)\n",
        "if 1: estimator.train(make_input_fn(8, 1),  # eight\n                      steps=3)\n",
    ],
)
def test_what_is_not_understood_stays_with_helpers(before: str) -> None:
    kept(before)


@pytest.mark.parametrize("more", ["config=CONFIG"])
def test_settings_stay_with_helpers(more: str) -> None:
    made = f'estimator = tf.estimator.Estimator(model_fn, params={{"units": 1}}, {more})\n'
    kept("estimator.train(make_input_fn(8, 1))\n", MODEL + made)


def said(outcomes: Mapping[str, Outcome]) -> str:
    """All messages of one run."""
    return " ".join(d.message for outcome in outcomes.values() for d in (*outcome.applied, *outcome.remaining))


COLUMNS = MODEL.replace(
    'tf.layers.dense(features["x"]',
    'tf.layers.dense(tf.feature_column.input_layer(features, [tf.feature_column.numeric_column("x")])',
)


@pytest.mark.parametrize(("count", "told"), [("2", False), ("COUNT", True)])
def test_data_of_which_all_may_be_left_out(count: str, told: bool) -> None:
    evaluate = f"estimator.evaluate(lambda: make_input_fn(8, 1)().skip({count}))\n"
    assert ("Keras ends it with an error" in said(run(MODEL + ESTIMATOR + evaluate))) is told


@pytest.mark.parametrize(
    "layer, text",
    [
        ('tf.layers.batch_normalization(tf.layers.conv2d(features["x"], 3, 3))', "the variance of a batch of images"),
        ('tf.layers.batch_normalization(tf.layers.dense(features["x"], 3))', ""),
        ('tf.layers.dense(features["x"], 3, activation=tf.keras.activations.hard_sigmoid)', "hard_sigmoid, also"),
        ('tf.keras.layers.LSTM(3)(features["x"])', "hard_sigmoid, also"),
        ('tf.keras.layers.LSTM(3, recurrent_activation="sigmoid")(features["x"])', ""),
        ('tf.nn.embedding_lookup_sparse(tf.get_variable("t", [4, 3]), features["x"], None)', ""),
        ('tf.nn.embedding_lookup(tf.get_variable("t", [4, 3]), features["x"])', ""),
    ],
)
def test_layers_that_keras_3_computes_otherwise_are_told(layer: str, text: str) -> None:
    model = MODEL.replace("    predictions =", f"    net = {layer}\n    predictions =").replace(
        'dense(features["x"], params', "dense(net, params"
    )
    files = run(model + ESTIMATOR + "estimator.train(make_input_fn(8, 1))\n")
    assert ".fit(" in files["program.py"].after.decode() and text in said(files)
    assert text or "Keras 3" not in said(files)


def test_a_layer_on_columns_stands_in_the_program_and_needs_no_version_of_keras() -> None:
    files = run(COLUMNS + ESTIMATOR + "estimator.train(make_input_fn(8, 1))\n")
    assert HELPERS not in files and "Keras" not in said(files).replace("to Keras", "")
    assert "\nclass InputFeatures(tf.keras.layers.Layer):" in files["program.py"].after.decode()


@pytest.mark.parametrize(
    "after, shown",
    [
        ("print({evaluate})\n", True),
        ("result = {evaluate}\nprint('{{loss}}'.format(**result))\n", True),
        ("print({evaluate}['loss'])\n", False),
        ("result = {evaluate}\nprint(result['loss'])\n", False),
        ("{evaluate}\n", False),
    ],
)
def test_results_that_lack_the_step_are_told(after: str, shown: bool) -> None:
    evaluate = after.format(evaluate="estimator.evaluate(make_input_fn(8, 1))")
    assert ("no global_step any more" in said(run(MODEL + ESTIMATOR + evaluate))) is shown


def test_numbers_of_python_that_keras_draws_too_are_told() -> None:
    program = "import random\n\n" + MODEL + "random.seed(1)\n" + ESTIMATOR + "estimator.train(make_input_fn(8, 1))\n"
    assert "draws seeds from Python's `random`" in said(run(program))


def test_a_list_of_predictions_becomes_arrays_where_one_loop_reads_it() -> None:
    before = 'rows = list(estimator.predict(make_input_fn(8, 1)))\nprint(sum(row["score"][0] for row in rows))\n'
    after = 'rows = model.predict(make_input_fn(8, 1)(), verbose=0)\nprint(sum(score[0] for score in rows["score"]))\n'
    assert loop(before) == after
    two = loop(before + "print(len(rows))\n")
    assert "rows = [dict(zip(predictions, row)) for row in zip(*predictions.values())]\n" in two


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# Create the Estimator", "# Create the model"),
        ("# Build an estimator, and train it", "# Build a model, and train it"),
        (
            "# Our custom TPUEstimator: in two lines\n# of the estimator",
            "# Our custom model: in two lines\n# of the model",
        ),
        ("# As tf.estimator.Estimator has it", "# As tf.estimator.Estimator has it"),
        ("# The estimators of before", "# The estimators of before"),
        ("# the Estimator\n", "# the Estimator\n"),
    ],
)
def test_the_comment_above_what_made_an_estimator(comment: str, expected: str) -> None:
    text = migrate(f"{MODEL}{comment}\n{ESTIMATOR}estimator.train(make_input_fn(8, None), steps=20)\n")
    assert f"\n{expected}\n{HEAD}" in text


def test_comments_on_an_estimator_that_keeps_the_helpers_stay() -> None:
    text = kept("estimator.train(make_input_fn(8, None))\n", f"{MODEL}# The Estimator\n{ESTIMATOR}")
    assert "# The Estimator\n" in text


@pytest.mark.parametrize(
    ("comment", "stays"),
    [
        ("# A RunConfig, to save often", False),
        ("# a tf.estimator.RunConfig\n# in two lines", False),
        ("# every tenth step, as on the cluster", True),
        ("# As RunConfigs have it", True),
        ("# RunConfig\n", True),
    ],
)
def test_a_comment_on_a_configuration_that_goes(comment: str, stays: bool) -> None:
    config = "config = tf.estimator.RunConfig(save_checkpoints_steps=10)\n"
    estimator = ESTIMATOR.replace("params=", "config=config, params=")
    text = migrate(f"{MODEL}{comment}\n{config}{estimator}estimator.train(make_input_fn(8, None), steps=20)\n")
    assert "tf.estimator.RunConfig(" not in text and (comment in text) is stays


@pytest.mark.parametrize("steps", ["steps", "max_steps"])
def test_steps_on_batches_of_an_unknown_number(steps: str) -> None:
    """Keras 2 counts one step too many where such data end, be it by `take`."""
    filtered = MODEL.replace(".repeat(epochs)", ".repeat(epochs).filter(keep)")
    text = migrate(f"{filtered}{ESTIMATOR}estimator.train(make_input_fn(4, None), {steps}=7)\n")
    assert "model.fit(make_input_fn(4, None)(), steps_per_epoch=7)" in text
    text = migrate(f"{MODEL}{ESTIMATOR}estimator.train(make_input_fn(4, None), {steps}=7)\n")
    assert "model.fit(make_input_fn(4, None)().take(7))" in text


@pytest.mark.parametrize("steps", ["20 / 3", "per_period", "2 * (20 / 3)"])
def test_a_number_of_steps_that_is_no_whole_one(steps: str) -> None:
    text = migrate(MODEL + ESTIMATOR + f"per_period = 20 / 3\nestimator.train(make_input_fn(8, None), steps={steps})\n")
    assert "import math\n" in text and f"make_input_fn(8, None)().take(math.ceil({steps}))" in text
    assert "math" not in loop("steps = 20 // 3\nestimator.train(make_input_fn(8, None), steps=steps)\n")
    assert "math" not in loop("steps = int(20 / 3)\nestimator.train(make_input_fn(8, None), steps=steps)\n")


def test_a_configuration_that_the_model_fn_deletes_is_not_needed() -> None:
    text = migrate(MODEL.replace("mode, params):\n", "mode, params, config):\n    del config\n") + ESTIMATOR + TRAINING)
    assert ".fit(" in text and "config" not in text


def test_a_configuration_that_the_model_fn_reads_keeps_helpers() -> None:
    model = MODEL.replace("mode, params):\n", "mode, params, config):\n    print(config.model_dir)\n    del config\n")
    kept(TRAINING, model + ESTIMATOR)


TRAINING = "estimator.train(make_input_fn(8, None), steps=20)\n"


@pytest.mark.parametrize(("directory", "plain"), [("FLAGS.dir", True), ("FLAGS.other", False)])
def test_a_folder_that_is_said_twice(directory: str, plain: bool) -> None:
    made = (
        "config = tf.estimator.RunConfig(model_dir=FLAGS.dir)\n"
        f"estimator = tf.estimator.Estimator(model_fn, model_dir={directory}, params={{'units': 1}}, config=config)\n"
    )
    assert (".fit(" in migrate(MODEL + made + TRAINING)) is plain
