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


BOTH = f"{MODEL}\n\n{WIDE}\n\n"
FACTORY = """
def builder(model_fn, params):
    def build(settings):
        if settings.kind not in model_fn:
            raise ValueError(", ".join(model_fn.keys()))
        return tf.estimator.Estimator(model_fn=model_fn[settings.kind], params=params[settings.kind])

    return build


build_estimator = builder({SHOWN}, {"deep": {"units": 1}})
build_estimator(SETTINGS).train(input_fn, steps=3)
"""


@pytest.mark.parametrize(
    ("shown", "after"),
    [
        ('{"deep": model_fn, "wide": wide_model_fn}', '{"deep": create_model, "wide": create_wide_model}'),
        ("dict(deep=model_fn, wide=wide_model_fn)", "dict(deep=create_model, wide=create_wide_model)"),
        ('{**MORE, "deep": model_fn}', '{**MORE, "deep": create_model}'),
        ("TABLE", "TABLE"),
        ('{"ctr": TABLE}["ctr"]', '{"ctr": TABLE}["ctr"]'),
        ("TABLE if WIDE else MORE", "TABLE if WIDE else MORE"),
    ],
)
def test_a_table_that_a_closure_is_given(shown: str, after: str) -> None:
    tables = 'MORE = {"wide": wide_model_fn}\n' * ("MORE" in shown)
    tables += 'TABLE = {"deep": model_fn, "wide": wide_model_fn}\n' * ("TABLE" in shown)
    text = migrate(f"{BOTH}{tables}{FACTORY.replace('{SHOWN}', shown)}")
    assert f"build_estimator = builder({after}, {{" in text
    assert "        if settings.kind not in create_model:\n            raise ValueError(" in text
    assert "create_model[settings.kind](params=params[settings.kind])" in text


def test_a_table_that_another_file_gives_a_closure() -> None:
    head, tail = FACTORY.split("\n\nbuild_estimator")[:2]
    zoo = "from build import builder\nfrom nets import model_fn\n\nTABLE = {'deep': model_fn}\n\nbuild_estimator"
    files = {
        "zoo.py": zoo + tail.replace("{SHOWN}, ", "model_fn=TABLE, params=") + "\n",
        "build.py": "import tensorflow as tf\n\n" + head,
        "nets.py": MODEL,
        "main.py": "from zoo import build_estimator\n\nbuild_estimator(SETTINGS).train(input_fn, steps=3)\n",
    }
    after = migrate_all(files)
    assert "from nets import create_model\n" in after["zoo.py"]
    assert "builder(create_model=TABLE, params=" in after["zoo.py"]
    assert "create_model[settings.kind](params=params[settings.kind])" in after["build.py"]


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("model_fn in (deep_model_fn, wide_model_fn)", "model_fn in (create_deep_model, create_wide_model)"),
        ("net in [deep_model_fn]", "net in [create_deep_model]"),
        (
            'name, net in [("a", deep_model_fn), ("b", wide_model_fn)]',
            'name, net in [("a", create_deep_model), ("b", create_wide_model)]',
        ),
        ("name, net in TABLE.items()", "name, net in TABLE.items()"),
        ("net in TABLE.values()", "net in TABLE.values()"),
    ],
)
def test_each_of_several_in_turn(head: str, after: str) -> None:
    both = BOTH.replace("def model_fn", "def deep_model_fn")
    table = 'TABLE = {"a": deep_model_fn, "b": wide_model_fn}\n\n' * ("TABLE" in head)
    name = "model_fn" if head.startswith("model_fn") else "net"
    text = migrate(f"{both}{table}for {head}:\n    tf.estimator.Estimator({name}, params=P).train(input_fn, steps=3)\n")
    assert f"for {after}:\n" in text


def test_a_parameter_of_a_method_keeps_its_name() -> None:
    trainer = """
class Trainer:
    def __init__(self, model_fn):
        self.estimator = tf.estimator.Estimator(model_fn=model_fn, params=P)

    def other(self, model_fn):
        return tf.estimator.Estimator(model_fn=model_fn, params=P)


"""
    text = migrate(f"{BOTH}{trainer}trainer = Trainer(model_fn=model_fn)\ntrainer.other(model_fn=wide_model_fn)\n")
    assert "def __init__(self, model_fn):\n        self.estimator = model_fn(params=P)\n" in text
    assert "def other(self, model_fn):\n        return model_fn(params=P)\n" in text
    assert "Trainer(model_fn=create_model)\ntrainer.other(model_fn=create_wide_model)\n" in text


CHOICE = """
def choose(name):
    \"\"\"By name.\"\"\"
    print("chosen", name)
    if name == "deep":
        return model_fn
    elif name == "wide":
        return wide_model_fn
    raise ValueError(name)


"""


@pytest.mark.parametrize("use", ["choose(NAME)", "chosen"])
def test_a_function_that_chooses(use: str) -> None:
    named = "chosen = choose(NAME)\n" if use == "chosen" else ""
    text = migrate(f"{BOTH}{CHOICE}{named}estimator = tf.estimator.Estimator({use}, params=P)\n")
    assert "        return create_model\n" in text and "        return create_wide_model\n" in text
    assert f"estimator = {use}(params=P)\n" in text


def test_an_argument_beside_those_that_are_spread() -> None:
    text = migrate(f"{MODEL}{RUN}\n\nrun(model_fn=model_fn, **MORE)\n")
    assert "run(create_model=create_model, **MORE)\n" in text


CACHED = CHOICE.replace("def choose", "@cached\ndef choose")
REFUSED = [
    (BOTH + FACTORY.replace("{SHOWN}", "load()"), "what the table holds is not seen"),
    (BOTH + FACTORY.replace("{SHOWN}", "{'deep': model_fn}") + "\nwrap(builder)\n", "the function is handed around"),
    (
        BOTH + "T = {'deep': model_fn}\nT.update(MORE)  # HERE\n" + FACTORY.replace("{SHOWN}", "T"),
        "more than an Estimator",
    ),
    (
        BOTH
        + FACTORY.replace("{SHOWN}", "{'deep': model_fn}").replace(
            "    return build", "    model_fn['a'] = 1  # HERE\n    return build"
        ),
        "used for more than an Estimator",
    ),
    (
        BOTH
        + FACTORY.replace("{SHOWN}", "{'deep': model_fn}").replace(
            "    return build", "    log(model_fn)  # HERE\n    return build"
        ),
        "used for more than an Estimator",
    ),
    (
        f"{BOTH}{CHOICE}estimator = tf.estimator.Estimator(choose(NAME), params=P)\nchoose('deep')(1, 2, 3, {{}})  # HERE\n",
        "used for more than an Estimator",
    ),
    (
        f"{BOTH}{CHOICE}estimator = tf.estimator.Estimator(choose(NAME), params=P)\nregister(choose)  # HERE\n",
        "more than",
    ),
    (
        f"{BOTH}{CHOICE.replace('return model_fn', 'return load(name)')}estimator = tf.estimator.Estimator(choose(NAME))\n",
        "not found",
    ),
    (f"{BOTH}{CACHED}estimator = tf.estimator.Estimator(choose(NAME))\n", "not found"),
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
    (f"{BOTH}for f in [model_fn, *MORE]:\n    estimator = tf.estimator.Estimator(f)  # HERE\n", "not found"),
    (f"{BOTH}for f in load():\n    estimator = tf.estimator.Estimator(f)  # HERE\n", "not found"),
    (f"{BOTH}L = [model_fn]\nfor f in L:\n    estimator = tf.estimator.Estimator(f)  # HERE\n", "not found"),
    (
        f"{BOTH}for f in (model_fn, wide_model_fn):\n    tf.estimator.Estimator(f, f.__name__)  # HERE\n",
        "more than an Estimator",
    ),
    (
        f"{BOTH}for f in (model_fn, wide_model_fn):\n    tf.estimator.Estimator(f)\n    f(1, 2, 3, {{}})  # HERE\n",
        "more than",
    ),
    (
        f"{BOTH}T = {{'a': model_fn}}\nfor name, f in T.items():\n    tf.estimator.Estimator(f, name)\n"
        "for f in T.values():\n    f(1, 2, 3, 4)\n",
        "the model_fn is not found",
    ),
    (
        f"{BOTH}T = {{'a': model_fn}}\nfor name, f in T.items():\n    tf.estimator.Estimator(f, name)\n"
        "for g in T.values():  # HERE\n    g(1, 2, 3, 4)\n",
        "more than an Estimator",
    ),
]


@pytest.mark.parametrize(("source", "reason"), REFUSED)
def test_left_alone(source: str, reason: str) -> None:
    assert reason in manual_reason(source)


def test_one_that_is_trained_where_it_is_made() -> None:
    data = 'def input_fn():\n    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat()\n'
    use = (
        "for each in (model_fn, wide_model_fn):\n    tf.estimator.Estimator(each, params=P).train(input_fn, steps=3)\n"
    )
    text = migrate(f"{MODEL}\n\n{WIDE}\n\nP = load()\n\n\n{data}\n\n{use}")
    assert "    each(params=P).fit(input_fn().take(3))\n" in text
