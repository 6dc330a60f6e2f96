"""Predictors of SavedModels."""

from __future__ import annotations

import pytest

from tools import check_noop, check_transformed, rules_of

RULES = rules_of("exports.loaded_models")
MADE = 'predict = tf.contrib.predictor.from_saved_model("export", "scores")'
LOADED = 'saved_model = tf.saved_model.load("export")\npredict = saved_model.signatures["scores"]'


def _program(text: str) -> str:
    return f"import tensorflow as tf\n{text}\n"


def test_what_it_returns_is_kept() -> None:
    before = _program(f'{MADE}\nrows = predict({{"text": ["one", "two"]}})')
    after = _program(
        f'{LOADED}\nrows = predict(text=tf.constant(["one", "two"]))\n'
        "rows = {name: tensor.numpy() for name, tensor in rows.items()}"
    )
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("folder", '"serving_default"'),
        ("export_dir=folder", '"serving_default"'),
        ("signature_def_key=KEY, export_dir=folder", "KEY"),
    ],
)
def test_arguments(given: str, key: str) -> None:
    before = _program(f"p = tf.contrib.predictor.from_saved_model({given})")
    after = _program(f"saved_model = tf.saved_model.load(folder)\np = saved_model.signatures[{key}]")
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    ("use", "new"),
    [
        ('predict({"x": [0.5]})["y"]', 'predict(x=tf.constant([0.5]))["y"].numpy()'),
        (
            'predict({"x": [1], "z": v})["y"]',
            'predict(x=tf.constant([1], predict.structured_input_signature[1]["x"].dtype), '
            'z=tf.constant(v, predict.structured_input_signature[1]["z"].dtype))["y"].numpy()',
        ),
        (
            "f(predict(rows))",
            "f({name: tensor.numpy() for name, tensor in predict(**{name: tf.constant(value, "
            "predict.structured_input_signature[1][name].dtype) for name, value in rows.items()}).items()})",
        ),
        (
            'predict({"a b": [1.0]})["y"]',
            "predict(**{name: tf.constant(value, predict.structured_input_signature[1][name].dtype) "
            'for name, value in {"a b": [1.0]}.items()})["y"].numpy()',
        ),
    ],
)
def test_calls(use: str, new: str) -> None:
    check_transformed(_program(f"{MADE}\nprint({use})"), _program(f"{LOADED}\nprint({new})"), RULES)


def test_several_have_models_of_their_own() -> None:
    before = _program('p = tf.contrib.predictor.from_saved_model("a")\nq = tf.contrib.predictor.from_saved_model("b")')
    after = _program(
        'p_model = tf.saved_model.load("a")\np = p_model.signatures["serving_default"]\n'
        'q_model = tf.saved_model.load("b")\nq = q_model.signatures["serving_default"]'
    )
    check_transformed(before, after, RULES)


def test_a_function_and_a_name_that_is_taken() -> None:
    before = (
        "import tensorflow as tf\n\ndef f(saved_model):\n    p = tf.contrib.predictor.from_saved_model(saved_model)\n"
    )
    after = (
        "import tensorflow as tf\n\ndef f(saved_model):\n    saved_model_ = tf.saved_model.load(saved_model)\n"
        '    p = saved_model_.signatures["serving_default"]\n'
    )
    check_transformed(before, after, RULES)


@pytest.mark.parametrize(
    "text",
    [
        "return_ = [tf.contrib.predictor.from_saved_model(d)]",
        "p = q = tf.contrib.predictor.from_saved_model(d)",
        "p = tf.contrib.predictor.from_saved_model(d, tags='gpu')",
        "p = tf.contrib.predictor.from_saved_model(*given)",
        "p = tf.contrib.predictor.from_saved_model()",
        "p = tf.contrib.predictor.from_saved_model(d)\nserve(p)",
        "p = tf.contrib.predictor.from_saved_model(d)\nprint(p.session)",
        "p = tf.contrib.predictor.from_saved_model(d)\np(*rows)",
        "p = tf.contrib.predictor.from_saved_model(d)\np(input_dict=rows)",
        "p = tf.contrib.predictor.from_saved_model(d)\np = None",
        "self.p = tf.contrib.predictor.from_saved_model(d)",
        "make = tf.contrib.predictor.from_saved_model",
        "p = from_saved_model(d)",
    ],
)
def test_left_alone(text: str) -> None:
    check_noop(_program(text), RULES)
