"""Functions that fill a dict with what a SavedModel is fed among names of their own, and compute features of it then."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined
from test_loop_exports import migrated

MADE = """\
def make_serving_input_fn(sizes, factor):
    def serving_input_fn():
        fed = {}
        for name in sizes:
            if not sizes[name]:
                continue
            fed[name] = tf.placeholder(tf.float32, shape=[None, sizes[name]], name="in_" + name)
        # as it was trained
        features = {name: value * factor for name, value in fed.items()}
        return tf.estimator.export.ServingInputReceiver(features, fed)

    return serving_input_fn


"""
SPLIT = """\
            fed[name] = tf.TensorSpec([None, sizes[name]], tf.float32, name=name)

        def features_of(fed):
            # as it was trained
            features = {name: value * factor for name, value in fed.items()}
            return features

        return features_of, fed

    return serving_input_fn
"""
MAIN = """\
estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(input_fn)
"""
CALL = "make_serving_input_fn(SIZES, 2.0)"
SERVED = """\
archive = tf.keras.export.ExportArchive()
archive.add_endpoint(
    "serving_default", lambda inputs: model.predict_step(features_of(inputs)), input_signature=[inputs]
)
"""


def exported(receiver: str = MADE, export: str = f'estimator.export_saved_model("served", {CALL})\n') -> str:
    return migrated(receiver, export, main=MAIN)


def test_what_a_function_makes_says_what_is_fed_and_how_features_are_computed() -> None:
    text = exported()
    assert SPLIT in text
    assert f"features_of, inputs = {CALL}()\n{SERVED}" in text


def test_a_name_holds_what_is_made() -> None:
    text = exported(export=f'serving = {CALL}\nestimator.export_saved_model("served", serving)\n')
    assert SPLIT in text and f"serving = {CALL}\n" in text
    assert f"features_of, inputs = serving()\n{SERVED}" in text


def test_an_exporter_is_given_what_is_made() -> None:
    train = "tf.estimator.TrainSpec(input_fn, max_steps=9)"
    evaluate = "tf.estimator.EvalSpec(input_fn, exporters=exporter)"
    export = f'exporter = tf.estimator.FinalExporter("final", {CALL})\n'
    export += f"tf.estimator.train_and_evaluate(estimator, {train}, {evaluate})\n"
    text = migrated(MADE, export, main=MAIN.partition("estimator.train")[0])
    assert f"    features_of, inputs = {CALL}()\n" in text and SPLIT in text and "Exporter" not in text


def test_a_function_in_the_one_that_exports() -> None:
    body = textwrap.indent(MADE.replace("def make_serving_input_fn(sizes, factor)", "def main(sizes, factor)"), "")
    body = body.replace("    return serving_input_fn\n", "")
    body += textwrap.indent(MAIN + 'estimator.export_saved_model("served", serving_input_fn)\n', "    ")
    text = migrated(body + "\n\n", "main(SIZES, 2.0)\n", main="")
    assert (
        SPLIT.partition("\n    return serving")[0] in text and "    features_of, inputs = serving_input_fn()\n" in text
    )


def test_a_dict_that_a_comprehension_makes() -> None:
    filled = MADE.partition("        fed = {}")[0] + textwrap.indent(
        "fed = {name: tf.placeholder(tf.float32, [None, size]) for name, size in sizes.items()}\n", " " * 8
    )
    given = '        return tf.estimator.export.ServingInputReceiver({"wide": fed["wide"], "deep": fed["deep"]}, fed)\n'
    text = exported(filled + given + "\n    return serving_input_fn\n\n\n")
    assert "{name: tf.TensorSpec([None, size], tf.float32, name=name) for name, size in sizes.items()}" in text
    inner = 'def features_of(fed):\n            return {"wide": fed["wide"], "deep": fed["deep"]}\n'
    assert inner in text and "        return features_of, fed\n" in text


def test_what_a_library_is_given_it_only_reads() -> None:
    text = exported(MADE.replace("{name: value * factor for name, value in fed.items()}", "LIBRARY.transform(fed)"))
    assert "features = LIBRARY.transform(fed)\n            return features\n" in text


def test_one_text_among_names_of_the_function() -> None:
    receiver = """\
def make_serving_input_fn(defaults):
    def serving_input_fn():
        fed = {"csv_row": tf.placeholder(tf.string, [None])}
        values = tf.decode_csv(fed["csv_row"], record_defaults=defaults)
        features = {"wide": tf.stack(values[:3], axis=1), "deep": tf.stack(values[3:], axis=1)}
        return tf.estimator.export.ServingInputReceiver(features, fed)

    return serving_input_fn


"""
    export = 'estimator.export_saved_model("served", make_serving_input_fn([[0.0]] * 5))\n'
    text = joined(exported(receiver, export))
    assert "    def serving_input_fn(fed):\n        values = tf.io.decode_csv(fed[" in text
    assert "lambda fed: model.predict_step(make_serving_input_fn([[0.0]] * 5)(fed)), input_signature=[{" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# as it was trained", 'fed["wide"] = fed["wide"] + 1.0'),
        ("# as it was trained", "fed.clear()"),
        ("# as it was trained", "change(fed)"),
        ("# as it was trained", "name = fed['wide'].name"),
        ("# as it was trained", "name = str(name)"),
        ("# as it was trained", "global SIZES"),
        ("# as it was trained", "if not factor:\n            return None"),
        ("fed[name] = tf.placeholder", "print(fed)\n            fed[name] = tf.placeholder"),
        ("fed[name] = tf.placeholder", "fed[sizes.pop(name)] = tf.placeholder"),
        ("fed[name] = tf.placeholder", "fed[name] = other = tf.placeholder"),
        ("fed = {}", 'fed = {"more": tf.zeros([1])}'),
        ("fed = {}", "fed = NAMES"),
        ("    return serving_input_fn\n", "    return functools.wraps(factor)(serving_input_fn)\n"),
        ("def make_serving", "@cached\ndef make_serving"),
    ],
)
def test_functions_that_stay(old: str, new: str) -> None:
    text = exported(MADE.replace(old, new))
    assert "ServingInputReceiver(" in text and ".fit(" not in text


@pytest.mark.parametrize(
    "export",
    [
        f'serving = {CALL}\nestimator.export_saved_model("served", serving)\nprint(serving)\n',
        f'serving = {CALL}\nserving = wrapped(serving)\nestimator.export_saved_model("served", serving)\n',
        f'estimator.export_saved_model("served", {CALL})\nprint(make_serving_input_fn)\n',
        'estimator.export_saved_model("served", MAKERS["csv"](SIZES, 2.0))\n',
    ],
)
def test_what_else_reads_them_keeps_them(export: str) -> None:
    text = exported(export=export)
    assert ".fit(" not in text and "ServingInputReceiver(" in text


def test_a_method_of_the_program_may_change_what_it_is_given() -> None:
    own = "class Scaler:\n    def scale(self, fed):\n        fed['wide'] *= 2.0\n        return fed\n\n\nSCALER = Scaler()\n\n\n"
    text = exported(own + MADE.replace("{name: value * factor for name, value in fed.items()}", "SCALER.scale(fed)"))
    assert ".fit(" not in text and "features_of" not in text


def test_functions_that_are_understood_as_they_are_are_not_split() -> None:
    receiver = """\
def serving_input_fn():
    fed = {name: tf.placeholder(tf.float32, [None, size]) for name, size in SIZES.items()}
    features = {name: value * 2.0 for name, value in fed.items()}
    return tf.estimator.export.ServingInputReceiver(features, fed)


"""
    assert "features_of" not in exported(receiver, 'estimator.export_saved_model("served", serving_input_fn)\n')
