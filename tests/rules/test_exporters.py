"""Exporters, receivers and export_outputs."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, method, migrate, migrate_all

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3)
    scores = tf.nn.softmax(logits)
    predictions = {{"class": tf.argmax(logits, 1), "scores": scores}}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, export_outputs={exports}
    )


def input_fn():
    return tf.data.Dataset.from_tensors(1)


def receiver_fn():
    {receiver}


e = tf.estimator.Estimator(model_fn)
{use}
"""
USE = "e.export_saved_model('out', receiver_fn)"
RECEIVER = "return tf.estimator.export.TensorServingInputReceiver(*make())"
EXPORT = "tf.estimator.export"


def program(use: str = USE, exports: str = "None", receiver: str = RECEIVER) -> str:
    return PROGRAM.format(use=use, exports=exports, receiver=receiver)


def used(use: str) -> str:
    """The last lines after migration."""
    return migrate(program(use)).split("e = create_model()\n")[1].strip()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("e.export_saved_model('out', receiver_fn)", "export_saved_model(e, 'out', receiver_fn)"),
        ("e.export_savedmodel('out', receiver_fn, None)", "export_saved_model(e, 'out', receiver_fn, None)"),
        (
            "e.export_savedmodel('out', receiver_fn, strip_default_attrs=True)",
            "export_saved_model(e, 'out', receiver_fn)",
        ),
        ("e.export_saved_model('out', receiver_fn, as_text=False)", "export_saved_model(e, 'out', receiver_fn)"),
        (
            "d = e.export_savedmodel('out', receiver_fn, None, True, 'c')",
            "d = export_as_text(e, 'out', receiver_fn, None, 'c')",
        ),
        (
            "x = tf.estimator.FinalExporter('f', receiver_fn, as_text=True)",
            "x = exported_as_text(FinalExporter('f', receiver_fn))",
        ),
        (
            "e.export_savedmodel('out', receiver_fn, None, False, 'c')",
            "export_saved_model(e, 'out', receiver_fn, None, 'c')",
        ),
        (
            "d = e.export_saved_model(export_dir_base='out', serving_input_receiver_fn=lambda: receiver_fn())",
            "d = export_saved_model(e, export_dir_base='out', serving_input_receiver_fn=lambda: receiver_fn())",
        ),
        ("x = tf.estimator.FinalExporter('f', receiver_fn, None, False)", "x = FinalExporter('f', receiver_fn, None)"),
        (
            "x = tf.estimator.LatestExporter('f', receiver_fn, None, False, 2)",
            "x = LatestExporter('f', receiver_fn, None, 2)",
        ),
        (
            "x = tf.estimator.BestExporter(compare_fn=better, serving_input_receiver_fn=receiver_fn)",
            "x = BestExporter(compare_fn=better, serving_input_receiver_fn=receiver_fn)",
        ),
        (
            "s = tf.estimator.EvalSpec(input_fn, exporters=[])\n"
            "t = tf.estimator.EvalSpec(input_fn, None, None, None, X)",
            "s = EvalSpec(input_fn)\nt = EvalSpec(input_fn, None, None, exporters=X)",
        ),
    ],
)
def test_exports(old: str, new: str) -> None:
    assert used(old) == new


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("e.export_saved_model('out', receiver_fn, as_text=FLAGS.text)", "`as_text`"),
        ("e.export_saved_model('out', receiver_fn, experimental_mode='eval')", "`experimental_mode`"),
        ("e.export_saved_model(*args)", "hidden behind"),
        ("f = e.export_saved_model", "`.export_saved_model` of an Estimator"),
        ("e.experimental_export_all_saved_models('out', {})", "`.experimental_export_all_saved_models`"),
        ("x = tf.estimator.FinalExporter('f', receiver_fn, None, TEXT)", "`as_text` of tf.estimator.FinalExporter"),
        ("x = tf.estimator.FinalExporter", "FinalExporter is not migrated yet"),
    ],
)
def test_refused(use: str, reason: str) -> None:
    assert reason in manual_reason(program(use))


@pytest.mark.parametrize(
    ("use", "named"),
    [
        ("e.export_savedmodel('out', serving_fn)", "Estimator.export_savedmodel comes from lib.serving_fn"),
        ("x = tf.estimator.LatestExporter('f', lib.make(SPEC))", "tf.estimator.LatestExporter comes from lib.make"),
        (
            "x = tf.estimator.BestExporter(serving_input_receiver_fn=functools.partial(serving_fn, 1))",
            "tf.estimator.BestExporter comes from lib.serving_fn",
        ),
    ],
)
def test_receivers_that_nobody_sees_are_refused(use: str, named: str) -> None:
    source = program(use).replace(
        "import tensorflow", "import functools\nimport lib\nfrom lib import serving_fn\nimport tensorflow", 1
    )
    assert f"`serving_input_receiver_fn` of {named}, which is in none of the given files" in manual_reason(source)


@pytest.mark.parametrize(
    "use",
    [
        "s = tf.estimator.EvalSpec(f, exporters=exporter)",
        "s = tf.estimator.EvalSpec(f, exporters=[lib.make(e)])",
        "every = (lib.make(e), exporter)\ns = tf.estimator.EvalSpec(f, 1, None, (), every)",
    ],
)
def test_exporters_that_nobody_sees_are_refused(use: str) -> None:
    source = program(use).replace("import tensorflow", "import lib\nfrom lib import exporter\nimport tensorflow", 1)
    assert "`exporters` of tf.estimator.EvalSpec comes from lib." in manual_reason(source)


def test_exporters_that_are_seen_or_handed_on_stay() -> None:
    use = "def f(exporters):\n    return tf.estimator.EvalSpec(g, exporters=exporters)\n"
    use += "def g():\n    mine = make(lib.NAME)\n    return f([mine]), tf.estimator.EvalSpec(g, exporters=None)"
    source = program(use).replace("import tensorflow", "import lib\nimport tensorflow", 1)
    assert "EvalSpec(g, exporters=[mine])" in migrate(source)


def test_receivers_of_another_file_and_of_parameters() -> None:
    files = {
        "task.py": program(
            "e.export_savedmodel('out', serving_fn)\ndef f(fn):\n    e.export_savedmodel('out', fn)"
        ).replace("import tensorflow", "from serving import serving_fn\nimport tensorflow", 1),
        "serving.py": "import tensorflow as tf\nserving_fn = tf.estimator.export.build_raw_serving_input_receiver_fn({})\n",
    }
    assert "export_saved_model(e, 'out', serving_fn)" in migrate_all(files)["task.py"]


def test_placeholders_of_a_receiver_stay_as_it_runs_in_a_graph() -> None:
    receiver = (
        "text = tf.placeholder(tf.string, [None])\n"
        "    return tf.estimator.export.ServingInputReceiver(parse(text), {'text': text})"
    )
    text = migrate(program(receiver=receiver))
    assert "    text = tf.compat.v1.placeholder(tf.string, [None])\n" in text
    assert "    return ServingInputReceiver(parse(text), {'text': text})\n" in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{'x': tf.placeholder(tf.float32, [None, 2])}", "{'x': tf.TensorSpec([None, 2], tf.float32)}"),
        (
            "dict(x=tf.placeholder(shape=S, dtype=tf.int64, name='x'))",
            "dict(x=tf.TensorSpec(S, tf.int64, name='x'))",
        ),
        ("{k: tf.placeholder(tf.string, [None]) for k in KEYS}", "{k: tf.TensorSpec([None], tf.string) for k in KEYS}"),
    ],
)
def test_placeholders_of_a_raw_receiver_become_specs(old: str, new: str) -> None:
    receiver = f"return tf.estimator.export.build_raw_serving_input_receiver_fn({old})()"
    assert f"return build_raw_serving_input_receiver_fn({new})()" in migrate(program(receiver=receiver))


RAW = "tf.estimator.export.build_raw_serving_input_receiver_fn"
FED = "x = tf.placeholder(tf.float32, [2])\n    "


def test_a_placeholder_with_a_name_becomes_a_spec() -> None:
    text = migrate(program(receiver=f"{FED}return {RAW}({{'x': x}})()"))
    assert "    return build_raw_serving_input_receiver_fn({'x': tf.TensorSpec([2], tf.float32)})()\n" in text


@pytest.mark.parametrize(
    "receiver",
    [
        f"return {RAW}({{'x': 2 * tf.placeholder(tf.float32, [2])}})()",
        f"{FED}return {RAW}({{'x': x, 'y': x * 2}})()",
        f"{FED}x = tf.abs(x)\n    return {RAW}({{'x': x}})()",
        f"y = {FED}return {RAW}({{'x': x}})()",
        f"{FED}return {RAW}(features(x))()",
    ],
)
def test_other_placeholders_are_refused(receiver: str) -> None:
    assert "a placeholder outside of a receiver" in manual_reason(program(receiver=receiver))


@pytest.mark.parametrize(
    "exports",
    [
        "None",
        f"{{'serving_default': {EXPORT}.PredictOutput(predictions)}}",
        f"{{tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: {EXPORT}.PredictOutput(predictions)}}",
    ],
)
def test_predictions_need_no_method(exports: str) -> None:
    assert "serving_outputs" not in migrate(program(exports=exports))


def test_a_program_that_exports_nothing_needs_no_method() -> None:
    exports = f"{{'serving_default': {EXPORT}.PredictOutput(scores)}}"
    assert "serving_outputs" not in migrate(program("e.train(input_fn)", exports))


@pytest.mark.parametrize(
    ("exports", "method_text"),
    [
        (f"{{'classify': {EXPORT}.PredictOutput(predictions)}}", "    return {'classify': self.predict_step(x)}\n"),
        (
            f"{{'a': {EXPORT}.PredictOutput({{'s': scores}}), 'serving_default': {EXPORT}.RegressionOutput(value=scores)}}",
            "    y_pred = self(x)\n"
            "    scores = tf.nn.softmax(y_pred)\n"
            "    return {'a': {'s': scores}, \"serving_default\": RegressionOutput(value=scores)}\n",
        ),
        (
            f"{{'serving_default': {EXPORT}.ClassificationOutput(scores, tf.as_string(logits))}}",
            "    y_pred = self(x)\n"
            "    scores = tf.nn.softmax(y_pred)\n"
            "    return {\n"
            '        "serving_default": ClassificationOutput(scores=scores, classes=tf.as_string(y_pred)),\n'
            "    }\n",
        ),
    ],
)
def test_export_outputs_become_a_method(exports: str, method_text: str) -> None:
    text = method(migrate(program(exports=exports)), "serving_outputs")
    assert text == (
        'def serving_outputs(self, x):\n    """What a SavedModel computes, by signature."""\n' + method_text
    )


@pytest.mark.parametrize(
    ("exports", "reason"),
    [
        ("make_exports(scores)", "export_outputs are not written as a dict"),
        ("{'a': head.output(scores)}", "an entry of export_outputs is none that is known"),
        ("{**more}", "an entry of export_outputs is none that is known"),
        (f"{{'a': {EXPORT}.PredictOutput(tf.layers.dense(logits, 2))}}", "a layer is applied for export_outputs"),
        (f"{{'a': {EXPORT}.PredictOutput(labels)}}", "export_outputs depend on the labels"),
    ],
)
def test_export_outputs_that_are_not_followed(exports: str, reason: str) -> None:
    assert reason in manual_reason(program(exports=exports))


def filled(lines: str) -> str:
    """A program whose export_outputs have a name, and are filled by statements."""
    return program(exports="exports").replace(
        "    return tf.estimator.EstimatorSpec(\n",
        f"{textwrap.indent(lines, '    ')}\n    return tf.estimator.EstimatorSpec(\n",
        1,
    )


def test_export_outputs_that_are_filled_entry_by_entry() -> None:
    lines = f"""exports = {{"scores": {EXPORT}.PredictOutput({{"s": scores}})}}
exports["serving_default"] = {EXPORT}.PredictOutput(predictions)
"""
    text = method(migrate(filled(lines)), "serving_outputs")
    written = '{"scores": {"s": scores}, "serving_default": self.predict_step(x)}'
    assert text.endswith(f"    y_pred = self(x)\n    scores = tf.nn.softmax(y_pred)\n    return {written}\n")


@pytest.mark.parametrize(
    "line",
    [
        f"if FLAGS.more:\n    exports['b'] = {EXPORT}.PredictOutput(predictions)",
        f"for key in KEYS:\n    exports[key] = {EXPORT}.PredictOutput(predictions)",
        "exports.update(more)",
        f"exports['b'] = last = {EXPORT}.PredictOutput(predictions)",
    ],
)
def test_export_outputs_that_are_filled_otherwise(line: str) -> None:
    source = filled(f'exports = {{"a": {EXPORT}.PredictOutput(predictions)}}\n{line}')
    assert "export_outputs are not written as a dict" in manual_reason(source)


OWN = """


class Copier(tf.estimator.Exporter):
    def __init__(self, name="best"):
        self._name = name

    @property
    def name(self):
        return self._name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        print(checkpoint_path, eval_result["loss"], BODY)
"""
TRAIN = """\
spec = tf.estimator.EvalSpec(input_fn, exporters=[Copier()])
tf.estimator.train_and_evaluate(e, tf.estimator.TrainSpec(input_fn, max_steps=3), spec)"""


def own(body: str = "is_the_final_export") -> str:
    text = program(TRAIN)
    return text.replace("\n\ne = ", OWN.replace("BODY", body) + "\n\ne = ", 1)


def test_an_exporter_of_the_program() -> None:
    text = migrate(own())
    assert "class Copier(object):" in text and "exporters=[Copier()]" in text
    inner = own("self.inner.export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)")
    assert "class Copier(object):" in migrate(inner)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (own("estimator.model_dir"), "its `export` uses the Estimator (line"),
        (own().replace("eval_result,", "result,"), "its `export` has other parameters"),
        (own().replace("def export(", "def write("), "it has no `export`"),
    ],
)
def test_an_exporter_of_the_program_that_is_not_followed(source: str, reason: str) -> None:
    assert f"a class derived from tf.estimator.Exporter is not migrated yet: {reason}" in manual_reason(source)
