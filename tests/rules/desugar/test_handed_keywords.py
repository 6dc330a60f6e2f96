"""Keywords that a function gathers and hands on."""

from __future__ import annotations

import pytest
from desugared import MODEL, TRAIN, below
from modelfn.programs import manual_reason

BUILD = """def build(params, **kwargs):
    return tf.estimator.Estimator(model_fn, params=params, **kwargs)


"""
USE = 'estimator = build({"units": 1}, model_dir="m")\n'
CLASS = """class Line(tf.estimator.Estimator):
    def __init__(self, units, **kwargs):
        super(Line, self).__init__(model_fn, params={"units": units}, **kwargs)

    def fit(self, input_fn):
        return self.train(input_fn, steps=20)


line = Line(1, model_dir="m", config=tf.estimator.RunConfig(save_checkpoints_steps=10))
line.fit(make_input_fn(8, None))
"""


def test_a_function() -> None:
    text = below(MODEL + BUILD + USE + TRAIN)
    assert "def build(params, model_dir):" in text and "build(" in text and "**" not in text


def test_a_class() -> None:
    text = below(MODEL + CLASS)
    assert "def __init__(self, units, " in text and "**" not in text and "return" not in text


def test_what_a_dict_is_updated_with() -> None:
    config = """def make_config(model_dir, **overrides):
    options = {"model_dir": model_dir, "save_checkpoints_steps": 20}
    options.update(overrides)
    return tf.estimator.RunConfig(**options)


"""
    main = """def main():
    config = make_config("m", keep_checkpoint_max=2)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"units": 1})
    estimator.train(make_input_fn(8, None), steps=20)


main()
"""
    text = below(MODEL + config + main)
    assert "max_to_keep=2" in text and "RunConfig" not in text and "**" not in text


def test_a_function_that_is_called_without_any() -> None:
    text = below(MODEL + BUILD + 'estimator = build({"units": 1})\n' + TRAIN)
    assert "**" not in text


@pytest.mark.parametrize(
    "program",
    [
        BUILD + USE + 'other = build({"units": 1})\n' + TRAIN,  # which gives none
        BUILD + USE.replace('model_dir="m"', "**load()") + TRAIN,
        BUILD.replace("    return", "    print(kwargs)\n    return") + USE + TRAIN,
        BUILD.replace("    return", "    model_dir = 3\n    return") + USE + TRAIN,
        "@traced\n" + BUILD + USE + TRAIN,
        BUILD + "keep(build)\n" + USE + TRAIN,
    ],
)
def test_what_is_left_alone(program: str) -> None:
    assert "arguments of Estimator are not seen" in manual_reason(MODEL + program)


def test_a_class_that_another_is_derived_from() -> None:
    assert "def __init__(self, units, model_dir):" in below(MODEL + CLASS + "\n\nclass Other(Line):\n    pass\n")
    other = "class Other(Line):\n    pass\n\n\nline = Other("
    assert "def __init__(self, units, model_dir):" in below(MODEL + CLASS.replace("line = Line(", other))


@pytest.mark.parametrize(
    "more",
    [
        "class Other(Line):\n    def __init__(self):\n        super().__init__(3)\n",  # which gives none
        "class Other(Line):\n    def __init__(self, **kwargs):\n        super().__init__(3, **kwargs)\n",
        "@traced\nclass Other(Line):\n    pass\n",
        "keep(Line)\n",
    ],
)
def test_a_class_of_which_not_all_is_seen(more: str) -> None:
    assert manual_reason(MODEL + CLASS + "\n\n" + more)


def test_a_function_that_trains() -> None:
    train = "def fit(model, **kwargs):\n    model.train(make_input_fn(8, None), **kwargs)\n\n\n"
    text = below(MODEL + train + 'estimator = build({"units": 1})\nfit(estimator, steps=20)\n'.join([BUILD, ""]))
    assert "def fit(model, steps):" in text and "make_input_fn(8, None)().take(steps)" in text and "**" not in text


def test_a_function_with_several_calls() -> None:
    made = BUILD.replace(
        "    return", "    if load():\n        return tf.estimator.Estimator(model_fn, params={}, **kwargs)\n    return"
    )
    assert "def build(params, model_dir):" in below(MODEL + made + USE + TRAIN)


TABLE = """def sgd(rate):
    return tf.train.GradientDescentOptimizer(rate)


def momentum(rate):
    return tf.train.MomentumOptimizer(rate, 0.9)


MAKERS = {"sgd": sgd, "momentum": momentum}


def create(name, **kwargs):
    return MAKERS[name](**kwargs)


"""


def test_a_function_that_calls_an_entry_of_a_table() -> None:
    model = MODEL.replace("tf.train.GradientDescentOptimizer(0.1)", 'create("sgd", rate=0.1)')
    assert "create(" in model
    text = below(model.replace("def model_fn", f"{TABLE}def model_fn") + USE.join([BUILD, TRAIN]))
    assert "**" not in text and "MAKERS" not in text


OPTIONS = """class Options(object):
    def __init__(self, name, **kwargs):
        self.name, self.units = name, 1
        {call}

    def {method}(self, kwargs):
        for key, value in kwargs.items():
            setattr(self, key, value)


options = Options("a")
estimator = tf.estimator.Estimator(model_fn, "m", params={{"units": options.units}})
"""


@pytest.mark.parametrize(
    ("call", "method"),
    [("self.update(kwargs)", "update"), ("name.update(kwargs)", "update"), ("self.update(kwargs)", "other")],
)
def test_a_method_of_the_program_is_no_update_of_a_dict(call: str, method: str) -> None:
    text = below(MODEL + OPTIONS.format(call=call, method=method) + TRAIN)
    assert "def __init__(self, name, **kwargs):" in text and f"        {call}\n" in text
