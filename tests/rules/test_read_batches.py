"""Callers of an input_fn that returns a dataset from now on: they become functions over that, or the program stays."""

from __future__ import annotations

import importlib
import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, migrate_all

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


estimator = tf.estimator.Estimator(model_fn)


"""
READ = """def read(path, size=4):
    data = tf.data.TFRecordDataset(path).batch(size)
    features, labels = data.make_one_shot_iterator().get_next()
    return features, labels


"""
MAKE = """def make_input_fn(path):
    def input_fn():
        return tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next()

    return input_fn


"""
ARRAYS = "arrays = tf.estimator.inputs.numpy_input_fn({'x': X}, Y, shuffle=False)\n"


def inputs(body: str) -> str:
    """A second input_fn."""
    return "def inputs(path):\n" + textwrap.indent(textwrap.dedent(body).strip() + "\n", "    ")


def test_unpacked_and_returned() -> None:
    text = migrate(
        MODEL
        + READ
        + inputs(
            """
            features, labels = read(path, size=8)
            features["y"] = tf.square(features["x"])
            return features, labels - 1
            """
        )
    )
    assert method(text, "inputs") == inputs(
        """
        dataset = read(path, size=8)

        def transform(features, labels):
            features["y"] = tf.square(features["x"])
            return features, labels - 1

        return dataset.map(transform)
        """
    )


@pytest.mark.parametrize(
    "before, after",
    [
        ("features, labels = read(path)\nreturn features, labels", "dataset = read(path)\nreturn dataset"),
        ("batch = read(path)\nfeatures, labels = batch\nreturn features, labels", "batch = read(path)\nreturn batch"),
        ("return read(path)", "return read(path)"),
        ("return read(path).prefetch(1)", "return read(path).prefetch(1)"),
        ("batch = read(path)\nreturn batch", "batch = read(path)\nreturn batch"),
    ],
)
def test_passed_on(before: str, after: str) -> None:
    assert method(migrate(MODEL + READ + inputs(before)), "inputs") == inputs(after)


def test_a_dict_in_a_name() -> None:
    text = migrate(MODEL + READ + inputs("row = read(path)\nlabels = row.pop('y')\nreturn row, labels"))
    assert "    dataset = read(path)\n\n    def transform(row):\n        labels = row.pop('y')\n" in text


def test_one_after_another() -> None:
    second = inputs("features, labels = read(path)\nreturn features, labels + 1")
    third = "\n\ndef more():\n    features, labels = inputs('a')\n    return features, labels * 2\n"
    text = migrate(MODEL + READ + second + third)
    assert (
        "    dataset = inputs('a')\n\n    def transform(features, labels):\n        return features, labels * 2\n"
        in text
    )


def test_a_function_that_is_made() -> None:
    text = migrate(MODEL + MAKE + inputs("features, labels = make_input_fn(path)()\nreturn features, labels + 1"))
    assert "    dataset = make_input_fn(path)()\n\n    def transform(features, labels):\n" in text


def test_arrays() -> None:
    text = migrate(MODEL + ARRAYS + inputs("features, labels = arrays()\nreturn features, labels + 1"))
    assert "    dataset = arrays()\n\n    def transform(features, labels):\n" in text


def test_another_file() -> None:
    files = {
        "read.py": f"import tensorflow as tf\n\n\n{READ}",
        "task.py": MODEL.replace("as tf\n", "as tf\nfrom read import read\n", 1)
        + inputs("features, labels = read(path)\nreturn features, labels + 1")
        + "\n\nestimator.train(lambda: inputs('a'))\n",
    }
    assert "    dataset = read(path)\n\n    def transform(features, labels):\n" in migrate_all(files)["task.py"]


@pytest.mark.parametrize(
    "use, told",
    [
        ("features, target = read('a')\nprint(tf.shape(target))\n", "read('a')"),
        ("features, target = read('a')\nprint(features.pop('x'))\n", "read('a')"),
        ("features, target = read('a')\nprint(target.name)\n", "read('a')"),
        ("features, target = read('a')\nprint([row for row in features])\n", "read('a')"),
        ("for _ in range(2):\n    print(kept)\n    kept, _ = read('a')\n    kept = tf.stack(kept)\n", "read('a')"),
        ("def show():\n    print(tf.size(target))\n\n\nfeatures, target = read('a')\nshow()\n", "read('a')"),
        ("if FIRST:\n    features, target = read('a')\nprint(tf.size(target))\n", "read('a')"),
        ("def shape():\n    return read('a')[0].shape\n", "read('a')"),
        ("for part in read('a'):\n    print(part)\n", "read('a')"),
        ("def show(batch):\n    print(batch[0])\n\n\nshow(read('a'))\n", "batch"),
        ("def inputs():\n    return tf.stack(read('a'))\n", "read('a')"),
        (
            "def inputs():\n    a, b = read('a')\n    c, d = read('b')\n    return a + c, b + d\n",
            "read('a')",
        ),
        ("def inputs():\n    a, b = read('a')\n    return a, b\n\n\nx, y = inputs()\nx.eval()\n", "inputs()"),
        ("read_all = read\nx, y = read_all('a')\nx.eval()\n", "read_all('a')"),
    ],
)
def test_other_uses_keep_the_program(use: str, told: str) -> None:
    reason = manual_reason(MODEL + READ + use)
    assert f": `{told}` is a batch that is used here" in reason


def test_a_batch_of_arrays() -> None:
    assert "`arrays()` is a batch" in manual_reason(MODEL + ARRAYS + "x, y = arrays()\ny.eval()\n")


@pytest.mark.parametrize(
    "looks",
    [
        "print('Features: {}'.format(list(features.keys())))\nprint('Target: {}'.format(target))",
        "print(f'{features} {target.dtype}', 'of %s' % target, '%s %s' % (len(features), target.shape))",
        "for name in sorted(features):\n    print(name, features[name].shape)",
        "for name in features:\n    print(name, features[name])",
        "features",
        "features = tf.constant(1)\ntf.size(features)",
        "def show():\n    print(target)",
    ],
)
def test_a_batch_that_is_only_looked_at_is_described(looks: str) -> None:
    text = migrate(MODEL + READ + f"features, target = read('a')\n{looks}\n")
    assert f"features, target = read('a').element_spec\n{looks}\n" in text


def test_a_batch_is_looked_at_in_a_function() -> None:
    body = "features, labels = read(path)\nprint(features)"
    assert method(migrate(MODEL + READ + inputs(body)), "inputs") == inputs(body.replace(")", ").element_spec", 1))


def test_a_value_that_the_name_has_elsewhere_may_be_used() -> None:
    other = "features, target = make()\ntarget.eval()\n"
    text = migrate(MODEL + READ + f"{other}features, target = read('a')\nprint(target)\n{other}")
    assert f"{other}features, target = read('a').element_spec\nprint(target)\n{other}" in text


def test_files_that_there_may_be_none_of_are_not_listed_to_look_at_a_batch() -> None:
    """A dataset lists them at once."""
    read = READ.replace("TFRecordDataset(path)", "Dataset.list_files(path)")
    assert "`read('')` is a batch" in manual_reason(MODEL + read + "features, target = read('')\nprint(target)\n")
    looked = migrate(MODEL + read + "features, target = read('a*')\nprint(target)\n")
    assert "features, target = read('a*').element_spec\n" in looked


def test_what_returns_a_dataset_already_may_be_taken_apart() -> None:
    """Its callers know what they get."""
    before = "def read(path):\n    return tf.data.TFRecordDataset(path)\n\n\nx, y = read('a')\n"
    assert "x, y = read('a')\n" in migrate(MODEL + before)


def test_batches_that_go_too_many_ways_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = importlib.import_module("migrator.rules.inputs.read_batches")
    source = MODEL + READ + inputs("batch = read(path)\nfeatures, labels = batch\nreturn features, labels")
    assert "ways" not in migrate(source)
    monkeypatch.setattr(limit, "_PLACES", 1)
    assert "too many ways to be followed" in manual_reason(source)


def test_a_name_that_holds_something_else_is_not_taken() -> None:
    text = migrate(
        MODEL
        + """class Images(object):
    def __init__(self, path):
        self.path = path

    def make_batch(self):
        dataset = tf.data.TFRecordDataset(self.path).batch(4)
        image, label = dataset.make_one_shot_iterator().get_next()
        return image, label


"""
        + inputs("dataset = Images(path)\nimage, label = dataset.make_batch()\nreturn image, label")
    )
    assert (
        method(text, "inputs")
        == "def inputs(path):\n    dataset = Images(path)\n    batches = dataset.make_batch()\n    return batches\n"
    )
