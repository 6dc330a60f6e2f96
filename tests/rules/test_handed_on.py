"""model_fns that reach their Estimator through parameters, tables and names with several values."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, migrate_all

MODEL = """import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], params["units"])
    loss = tf.reduce_mean(tf.square(labels - predictions))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
WIDE = MODEL.split("\n\n\n")[1].replace("model_fn", "wide_model_fn").replace("tf.square", "tf.abs")
NO_PARAMS = WIDE.replace(", params)", ")").replace('params["units"]', "3")
RUN = """

def run(model_fn, input_fn, model_dir=None):
    estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir=model_dir, params={"units": 1})
    estimator.train(input_fn, steps=3)
"""


def test_a_parameter() -> None:
    text = migrate(MODEL + RUN + "\n\nrun(model_fn, None)\n")
    assert "def run(create_model, input_fn, model_dir=None):\n" in text
    assert '    estimator = create_model(model_dir=model_dir, params={"units": 1})\n' in text
    assert text.endswith("run(create_model, None)\n")


def test_a_parameter_of_a_function_of_another_file() -> None:
    main = "import model\nfrom loop import run\n\n\ndef main():\n    run(model_fn=model.model_fn, input_fn=None)\n"
    files = {"model.py": MODEL, "loop.py": "import tensorflow as tf\n" + RUN, "main.py": main}
    after = migrate_all(files)
    assert "    run(create_model=model.create_model, input_fn=None)\n" in after["main.py"]
    assert "estimator = create_model(model_dir=model_dir" in after["loop.py"]


def test_a_parameter_that_is_handed_on_twice() -> None:
    outer = "\n\ndef main(network_fn):\n    run(network_fn, None)\n\n\nmain(model_fn)\n"
    text = migrate(MODEL + RUN + outer)
    assert "def main(network_fn):\n    run(network_fn, None)\n" in text
    assert text.endswith("main(create_model)\n")


def test_two_model_fns_of_one_function() -> None:
    text = migrate(f"{MODEL}\n\n{WIDE}{RUN}\n\nrun(model_fn, None)\nrun(wide_model_fn, None, 'wide')\n")
    assert "class Model(tf.keras.Model)" in text and "class WideModel(tf.keras.Model)" in text
    assert text.endswith("run(create_model, None)\nrun(create_wide_model, None, 'wide')\n")


@pytest.mark.parametrize("key", ["FLAGS.model", '"deep"', "name"])
def test_a_table(key: str) -> None:
    table = '\nMODELS = {"deep": model_fn, "wide": wide_model_fn}\nassert name in MODELS, sorted(MODELS)\n'
    use = f'estimator = tf.estimator.Estimator(MODELS[{key}], "here", params=PARAMS)\n'
    text = migrate(f"{MODEL}\n\n{WIDE}\n{table}{use}")
    assert 'MODELS = {"deep": create_model, "wide": create_wide_model}\n' in text
    assert f'estimator = MODELS[{key}](model_dir="here", params=PARAMS)\n' in text


def test_a_table_of_another_file() -> None:
    table = f'{MODEL}\n\n{WIDE}\n\nMODELS = {{"deep": model_fn, "wide": wide_model_fn}}\n'
    task = "import tensorflow as tf\nfrom zoo import MODELS\n\nestimator = tf.estimator.Estimator(MODELS[NAME], params=P)\n"
    after = migrate_all({"zoo.py": table, "task.py": task})
    assert '{"deep": create_model, "wide": create_wide_model}' in after["zoo.py"]
    assert "estimator = MODELS[NAME](params=P)\n" in after["task.py"]


def test_one_of_two() -> None:
    use = "\n\nchosen = wide_model_fn if WIDE else model_fn\nestimator = tf.estimator.Estimator(chosen, params=P)\n"
    text = migrate(f"{MODEL}\n\n{WIDE}{use}")
    assert "chosen = create_wide_model if WIDE else create_model\nestimator = chosen(params=P)\n" in text


def test_a_name_with_two_values() -> None:
    use = (
        "\n\ndef main(kind):\n    if kind == 'wide':\n        model_fn = wide_model_fn\n    else:\n"
        "        model_fn = deep_model_fn\n    return tf.estimator.Estimator(model_fn, params={})\n"
    )
    deep = MODEL.replace("def model_fn", "def deep_model_fn")
    text = migrate(f"{deep}\n\n{WIDE}{use}")
    assert "        create_model = create_wide_model\n    else:\n        create_model = create_deep_model\n" in text
    assert "    return create_model(params={})\n" in text


def test_a_partial_and_a_default() -> None:
    partial = MODEL.replace("mode, params)", "mode, params, rate)").replace("Optimizer(0.1)", "Optimizer(rate)")
    run = RUN.replace("model_fn, input_fn", "input_fn, model_fn=model_fn").replace("None):", "None):  # a default")
    text = migrate(
        f"import functools\n{partial}\n\n{WIDE}{run.replace('=model_fn,', '=wide_model_fn,', 1)}\n\n"
        "run(None)\nrun(None, functools.partial(model_fn, rate=0.5))\n"
    )
    assert "def run(input_fn, create_model=create_wide_model, model_dir=None):  # a default\n" in text
    assert "run(None, functools.partial(create_model, rate=0.5))\n" in text


def test_a_method_and_a_lambda() -> None:
    own = "run(lambda features, labels, mode, params: model_fn(features, labels, mode, params), None)\n"
    text = migrate(f"{MODEL}{RUN}\n\n{own}")
    assert "class Model(" in text and "lambda features" not in text


def test_a_name_that_would_hide_the_factory() -> None:
    run = RUN.replace("(model_fn,", "(model_function,").replace("=model_fn,", "=model_function,")
    text = migrate(f"{MODEL}{run}\n\nrun(model_fn, None)\n")
    assert "def run(model_function, input_fn, model_dir=None):\n    estimator = model_function(model_dir" in text


REFUSED = [
    (f"{MODEL}{RUN}\n\nrun(model_fn, None)\nprint(run)\n", "the model_fn is not found"),
    (f"{MODEL}{RUN}", "the model_fn is not found"),
    (f"{MODEL}{RUN}\n\nrun(*ARGS)\n", "the model_fn is not found"),
    (f"{MODEL}{RUN}\n\nrun(model_fn, None)\nrun(other, None)\n", "the model_fn is not found"),
    (f"{MODEL}{RUN}    print(model_fn.__name__)  # HERE\n\n\nrun(model_fn, None)\n", "used for more than"),
    (f"{MODEL}{RUN}    again(model_fn)  # HERE\n\n\nrun(model_fn, None)\n", "used for more than"),
    (
        f"{MODEL}\n\n{NO_PARAMS}{RUN.replace('model_fn=model_fn,', 'model_fn,')}\n\n"
        "run(model_fn, None)\nrun(wide_model_fn, None)\n",
        "only some of the model_fns that this may be take params",
    ),
    (f"{MODEL}\n\nT = {{**OTHERS, 'a': model_fn}}\nestimator = tf.estimator.Estimator(T['a'])\n", "not found"),
    (
        f"{MODEL}\n\nT = {{'a': model_fn}}\nT['b'] = 1  # HERE\nestimator = tf.estimator.Estimator(T['a'])\n",
        "more than",
    ),
    (
        f"{MODEL}\n\nT = {{'a': model_fn}}\nT['a'](1, 2, 3)  # HERE\nestimator = tf.estimator.Estimator(T['a'])\n",
        "more",
    ),
    (f"{MODEL}\n\nfor f in [model_fn]:\n    estimator = tf.estimator.Estimator(f)  # HERE\n", "not found"),
]


@pytest.mark.parametrize(("source", "reason"), REFUSED)
def test_left_alone(source: str, reason: str) -> None:
    assert reason in manual_reason(source)
