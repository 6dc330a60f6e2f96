"""The text around the code: comments, indentation, line ends, long lines, strings, other alphabets."""

from __future__ import annotations

import ast

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, method, migrate, model_fn
from modelfn.symbolic import assert_same

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"


def test_docstring_goes_to_the_class() -> None:
    text = migrate(model_fn(f'"""A network.\n\n    With two lines.\n    """\n{DENSE}'))
    (model,) = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)]
    assert ast.get_docstring(model) == "A network.\n\nWith two lines."


def test_comments_above_and_behind_statements() -> None:
    body = """
    # to the same scale
    x = tf.nn.relu(features["x"])  # positive
    # first of two lines
    # second of two lines
    predictions = tf.layers.dense(x, 1)  # the head
    """
    call = method(migrate(model_fn(body)), "call")
    assert '    # to the same scale\n    x = tf.nn.relu(features["x"])  # positive\n' in call
    assert (
        "    # first of two lines\n    # second of two lines\n    predictions = self.predictions(x)  # the head\n"
        in call
    )


def test_comments_of_the_loss() -> None:
    end = f"# squared\n{LOSS}  # mean\n{TRAIN_OP}\n{SPEC}"
    loss = method(migrate(model_fn(DENSE, end=end)), "compute_loss")
    assert "    # squared\n    loss = tf.reduce_mean(tf.square(y - y_pred))  # mean\n" in loss


def test_comments_above_scopes() -> None:
    body = """
    # the weights
    w = tf.get_variable("w", [4, 3])
    # lower part
    with tf.variable_scope("a"):
        x = tf.matmul(features["x"], w)
    # upper part
    with tf.variable_scope("b"), tf.name_scope("c"):
        for units in (3, 2):  # narrower
            x = tf.layers.dense(x, units)
    predictions = tf.layers.dense(x, 1)
    """
    text = assert_same(model_fn(body))
    assert '    # the weights\n    self.w = self.add_weight(name="w"' in method(text, "__init__")
    call = method(text, "call")
    assert '    # lower part\n    x = tf.matmul(features["x"], self.w)\n' in call
    assert "\n    # upper part\n    for dense in self.dense_layers:" in call
    assert [text.count(word) for word in ("the weights", "lower part", "upper part")] == [1, 1, 1]


def test_an_argument_keeps_no_parentheses_of_its_own() -> None:
    body = f"""
    x = tf.layers.dropout(features["x"], training=({TRAINING}))
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    predictions = net(x, training=({TRAINING}))
    """
    call = method(migrate(model_fn(body)), "call")
    assert "training=training)" in call and "(training)" not in call


def test_comments_inside_branches() -> None:
    body = """
    x = features["x"]
    if params["a"]:  # wide
        # deep
        x = tf.layers.dense(x, 3)
    else:
        # flat
        x = x * 2.0
    predictions = tf.layers.dense(x, 1)
    """
    call = method(assert_same(model_fn(body), a=True), "call")
    assert "        # deep\n        x = self.dense(x)\n" in call
    assert "    else:\n        # flat\n        x = x * 2.0\n" in call


def test_the_rest_of_the_file_stays() -> None:
    before = '''"""Module text."""
# first
import os  # for os

CONSTANT = {  # odd   spacing
  "a":1,
}
'''
    source = model_fn(DENSE, before="").replace("import tensorflow as tf\n", before + "import tensorflow as tf  # TF\n")
    text = migrate(source + "\nprint ( 'a'   )  # odd   too\n")
    assert text.startswith('"""Module text."""\n# first\nimport os  # for os\n')
    assert 'CONSTANT = {  # odd   spacing\n  "a":1,\n}\n' in text
    assert "import tensorflow as tf  # TF\n" in text
    assert text.endswith("\nprint ( 'a'   )  # odd   too\n")


def test_two_blanks_of_indentation() -> None:
    source = model_fn(f"x = 1.0\nif params['a']:\n    x = tf.layers.dense(features['x'], 2)\n{DENSE} * x")
    source = source.replace("    ", "  ")
    text = migrate(source)
    assert "\n  def call(self, features):\n    " in text
    assert "\n  with make_strategy(config).scope():\n    model = Model(" in text
    assert "        " not in method(text, "call")


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_line_ends(newline: str) -> None:
    source = model_fn(f"# comment\n{DENSE}").replace("\n", newline).encode()
    outcome = next(iter(migrate_component([decode("program.py", source)], Settings(style="native"))))
    assert outcome.status == "changed"
    lines = outcome.after.split(b"\n")
    assert all(line.endswith(b"\r") == (newline == "\r\n") for line in lines[:-1])
    ast.parse(outcome.after)


def test_a_byte_order_mark_stays() -> None:
    source = b"\xef\xbb\xbf" + model_fn(DENSE).encode()
    (outcome, *_) = migrate_component([decode("program.py", source)], Settings(style="native"))
    assert outcome.status == "changed" and outcome.after.startswith(b"\xef\xbb\xbf")


def test_statements_over_several_lines() -> None:
    body = """
    x = tf.concat(
        [
            features["x"],  # one
            features["w"],
        ],
        1,
    )
    predictions = tf.layers.dense(
        x,
        units=4,  # four
        activation=tf.nn.relu)
    predictions = predictions \\
        * 2.0
    """
    text = assert_same(model_fn(body))
    call = method(text, "call")
    assert '            features["x"],  # one\n' in call
    assert "predictions = predictions \\\n        * 2.0\n" in call


def test_strings_over_several_lines_stay_as_they_are() -> None:
    body = '''
    note = """one
      two
        three"""
    predictions = tf.layers.dense(features["x"], 1) * len(note)
    '''
    source = model_fn(body)
    before, after = (
        {n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and "two" in str(n.value)}
        for text in (source, assert_same(source))
    )
    assert before == after and len(before) == 1


def test_statements_on_one_line() -> None:
    body = """
    a = features["x"]; b = a * 2.0; predictions = tf.layers.dense(b, 1)
    if params["a"]: predictions = predictions * 3.0
    """
    assert_same(model_fn(body), a=True)


def test_other_alphabets() -> None:
    body = """
    # größer als ü
    größe = params["größe"]  # √
    x = features["x"] * größe
    predictions = tf.layers.dense(x, größe, name="schön") * len("日本語")
    """
    text = assert_same(model_fn(body), größe=4)
    assert "    # größer als ü\n    größe = self.params" in method(text, "call")
    assert 'name="schön"' in text and '"日本語"' in text


def test_f_strings() -> None:
    body = """
    width = params["width"]
    predictions = tf.layers.dense(features["x"], width, name=f"out_{width}_{params['kind']}")
    """
    text = migrate(model_fn(body))
    assert "name=f\"out_{width}_{params['kind']}\"" in method(text, "__init__")


def test_annotations() -> None:
    source = model_fn(f"x: 'tf.Tensor' = features['x']  # type: ignore\n{DENSE}").replace(
        "def model_fn(features, labels, mode, params):",
        "def model_fn(features: dict, labels: tf.Tensor, mode: str, params: dict) -> tf.estimator.EstimatorSpec:",
    )
    text = migrate(source)
    assert "estimator" not in text.replace("estimator = create_model", "")


def test_parentheses_and_blank_lines() -> None:
    body = """

    x = (features["x"]
         + features["w"])


    predictions = (tf.layers.dense(
        (x), (4)))

    """
    assert_same(model_fn(body))


def test_star_expressions_and_walrus_free_code_of_new_pythons() -> None:
    body = """
    sizes = [*params["sizes"], 2]
    first, *rest = sizes
    x = tf.layers.dense(features["x"], first)
    for size in rest:
        x = tf.layers.dense(x, size)
    predictions = x
    """
    assert_same(model_fn(body), sizes=[5, 6])


def test_classes_and_factories_are_named_after_the_model_fn() -> None:
    for name, model, factory in (
        ("model_fn", "Model", "create_model"),
        ("my_model_fn", "Model", "create_model"),
        ("cnn_model_fn", "CnnModel", "create_cnn_model"),
        ("_deep_fm_model_fn", "DeepFmModel", "create_deep_fm_model"),
        ("network", "NetworkModel", "create_network_model"),
    ):
        text = migrate(model_fn(DENSE).replace("model_fn", name))
        assert f"class {model}(tf.keras.Model):" in text, name
        assert f"estimator = {factory}(params=PARAMS)" in text, name


def test_names_that_are_taken() -> None:
    text = migrate(model_fn(DENSE, before="class Model:\n    pass\n\n\ndef create_model():\n    pass\n"))
    assert "class KerasModel(tf.keras.Model):" in text
    assert "class Model:\n    pass" in text
    assert "estimator = build_model(params=PARAMS)" in text


def test_a_comment_behind_a_function_stands_once() -> None:
    before = """
    def head(x):
        x = tf.layers.dense(x, 1)  # [B, 1]
        return tf.squeeze(x, axis=1)  # [B]


    """
    text = migrate(model_fn('predictions = head(features["x"])', before=before))
    assert text.count("# [B, 1]") == 1 and text.count("# [B]") == 1
