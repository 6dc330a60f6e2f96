"""Exports of a program that trains by `fit`: an `ExportArchive`, with the signatures that serving clients call."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, migrate, run

HEAD = """\
import os

import tensorflow as tf

SIZES = {"wide": 3, "deep": 2}


def model_fn(features, labels, mode):
    net = tf.concat([features[name] for name in SIZES], axis=1)
    score = tf.layers.dense(net, 1)
    predictions = {"score": score, "positive": score > 0.0}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(labels, score)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    features = {name: [[1.0] * size] * 8 for name, size in SIZES.items()}
    return tf.data.Dataset.from_tensor_slices((features, [[1.0]] * 8)).batch(2)


"""
RAW = """\
def serving_input_fn():
    # What a client sends.
    wide = tf.placeholder(tf.float32, [None, 3], name="wide_input")
    features = {"wide": wide, "deep": tf.placeholder(dtype=tf.float32, shape=[None, 2])}
    return tf.estimator.export.ServingInputReceiver(features, features)


"""
MAIN = """\
estimator = tf.estimator.Estimator(model_fn, "model")
estimator.train(input_fn)
"""
EXPORT = 'estimator.export_saved_model("served", serving_input_fn)\n'
PARSED = """\
spec = {name: tf.FixedLenFeature([size], tf.float32) for name, size in SIZES.items()}
receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
estimator.export_savedmodel(os.path.join("model", "served"), receiver_fn, strip_default_attrs=True)
"""


def migrated(receiver: str = RAW, export: str = EXPORT, head: str = HEAD, main: str = MAIN) -> str:
    return migrate(head + receiver + main + textwrap.dedent(export))


def archived(folder: str, *endpoints: str) -> str:
    """The lines of an export; `endpoints` are the arguments of each."""
    added = "".join(f"archive.add_endpoint({endpoint})\n" for endpoint in endpoints)
    return f"archive = tf.keras.export.ExportArchive()\n{added}archive.write_out({folder})\n"


FOLDER = 'os.path.join("served", str(int(time.time())))'
SERVE = '"serving_default", model.predict_step, input_signature=[serving_input_fn()]'
CSV = """\
def serving_input_fn():
    rows = tf.placeholder(tf.string, [None])
    values = tf.decode_csv(rows, record_defaults=[[0.0]] * 5)
    features = {"wide": tf.stack(values[:3], axis=1), "deep": tf.stack(values[3:], axis=1)}
    return tf.estimator.export.ServingInputReceiver(features, {"csv_row": rows})


"""


@pytest.mark.parametrize(
    "given", ["dict(features), features", "features, features.copy()", "features.copy(), dict(features)"]
)
def test_copies_of_the_dict_are_that(given: str) -> None:
    assert migrated(RAW.replace("features, features)", f"{given})")) == migrated()


@pytest.mark.parametrize(
    "given", ["dict(features, more=1), features", "dict(features.items()), features", "pick(features), features"]
)
def test_what_else_is_made_of_the_dict_is_not_it(given: str) -> None:
    text = migrated(RAW.replace("features, features)", f"{given})"))
    assert "tf.TensorSpec" not in text


def test_features_are_fed_as_they_are() -> None:
    text = migrated()
    function = """
def serving_input_fn():
    # What a client sends.
    wide = tf.TensorSpec([None, 3], tf.float32, name="wide")
    features = {"wide": wide, "deep": tf.TensorSpec([None, 2], tf.float32, name="deep")}
    return features
"""
    assert function in text and "serving_outputs" not in text
    assert text.endswith("\n" + archived(FOLDER, SERVE)) and "\nimport time\n" in text


@pytest.mark.parametrize(
    "tables",
    [
        "TABLE = tf.contrib.lookup.index_table_from_tensor(['a'])\n\n\n",
        "COLUMNS = [tf.feature_column.numeric_column('wide')]\n\n\n",
    ],
)
def test_models_that_may_hold_tables_are_saved_as_a_whole(tables: str) -> None:
    text = joined(migrated(RAW + tables))
    served = "serve = tf.function(model.predict_step, input_signature=[serving_input_fn()])\n"
    saved = f'tf.saved_model.save(model, {FOLDER}, signatures={{"serving_default": serve}})\n'
    assert text.endswith(served + saved)
    outcomes = run(HEAD + RAW + tables + MAIN + EXPORT)
    assert "with Keras 3 TensorFlow Serving" in str([d.message for o in outcomes.values() for d in o.remaining])


def test_names_of_tables_are_those_of_libraries() -> None:
    text = migrated(RAW + "def lookup(features):\n    return tf.nn.embedding_lookup(features, [0])\n\n\n")
    assert "ExportArchive()" in text
    outcomes = run(HEAD + RAW + MAIN + EXPORT)
    assert "TensorFlow Serving" not in str([d.message for o in outcomes.values() for d in o.remaining])


@pytest.mark.parametrize("said", ["True", "False"])
def test_how_the_file_is_written_does_not_matter(said: str) -> None:
    assert migrated(export=EXPORT.replace("input_fn)", f"input_fn, as_text={said})")) == migrated()


def test_examples_are_parsed() -> None:
    text = " ".join(migrated("", PARSED).split())
    assert "receiver_fn" not in text and "tf.io.FixedLenFeature" in text
    parsed = "lambda examples: model.predict_step(tf.io.parse_example(examples, spec))"
    signature = 'input_signature=[tf.TensorSpec([None], tf.string, name="examples")]'
    assert parsed in text and signature in text and 'os.path.join("model", "served", str(int(time.time())))' in text


def test_a_raw_receiver_that_is_built() -> None:
    receiver = """\
def serving_input_fn():
    features = {name: tf.placeholder(tf.float32, [None, size]) for name, size in SIZES.items()}
    return tf.estimator.export.build_raw_serving_input_receiver_fn(features)()


"""
    text = migrated(receiver)
    assert "{name: tf.TensorSpec([None, size], tf.float32, name=name) for name, size" in text
    assert "    return features\n" in text


BUILT = "tf.estimator.export.build_raw_serving_input_receiver_fn"
PLACEHOLDERS = (
    '{"wide": tf.placeholder(tf.float32, [None, 3]), "deep": tf.placeholder(tf.float32, [None, 2], name="d")}'
)
SPECS = '{"wide": tf.TensorSpec([None, 3], tf.float32, name="wide"), "deep": tf.TensorSpec([None, 2], tf.float32, name="deep")}'


@pytest.mark.parametrize(
    ("before", "given", "after", "fed"),
    [
        ("", f"{BUILT}({PLACEHOLDERS})", "", SPECS),
        (f"fed = {PLACEHOLDERS}\n", f"{BUILT}(fed)", f"fed = {SPECS}\n", "fed"),
        (f"fed = {PLACEHOLDERS}\nreceiver_fn = {BUILT}(fed)\n", "receiver_fn", f"fed = {SPECS}\n", "fed"),
        (f"receiver_fn = {BUILT}({PLACEHOLDERS})\n", "receiver_fn", "", SPECS),
    ],
)
def test_a_raw_receiver_that_the_code_around_an_export_builds(before: str, given: str, after: str, fed: str) -> None:
    text = joined(migrated("", before + EXPORT.replace("serving_input_fn", given)))
    text = text.replace(",\n)", ")").replace("\n}", "}")
    added = f'archive.add_endpoint("serving_default", model.predict_step, input_signature=[{fed}])\n'
    assert f"{after}archive = tf.keras.export.ExportArchive()\n{added}" in text
    assert "receiver_fn" not in text and "placeholder" not in text


@pytest.mark.parametrize(
    "more", ["print(fed)\n", 'fed["more"] = tf.placeholder(tf.float32, [None])\n', "receiver_fn = None\n"]
)
def test_raw_receivers_of_what_is_used_elsewhere_stay(more: str) -> None:
    before = f"fed = {PLACEHOLDERS}\nreceiver_fn = {BUILT}(fed)\n"
    text = migrated("", before + more + EXPORT.replace("serving_input_fn", "receiver_fn"))
    assert "export_saved_model(" in text and ".fit(" not in text


def test_exports_in_a_loop_wait_for_another_second() -> None:
    text = migrated(RAW, f"for _ in range(2):\n    {EXPORT}")
    assert text.endswith("    time.sleep(1)  # the next one is named after another second\n")
    assert "sleep" not in migrated()


SIGNATURES = """\
        outputs = {KEYS}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
"""
RETURN = "        return tf.estimator.EstimatorSpec(mode, predictions=predictions)\n"
PREDICTED = "tf.estimator.export.PredictOutput(predictions)"
DEFAULT = "tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY"


@pytest.mark.parametrize(
    ("outputs", "endpoints"),
    [
        (f'{{"scores": {PREDICTED}}}', ['"serving_default", serve', '"scores", serve']),
        (f'{{{DEFAULT}: {PREDICTED}, "b": {PREDICTED}}}', ['"serving_default", serve', '"b", serve']),
        (f"{{{DEFAULT}: {PREDICTED}}}", [SERVE]),
    ],
)
def test_signatures_keep_their_names(outputs: str, endpoints: list[str]) -> None:
    text = joined(migrated(head=HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", outputs))))
    served = "serve = tf.function(model.predict_step, input_signature=[serving_input_fn()])\n"
    assert text.endswith((served if len(endpoints) > 1 else "\n") + archived(FOLDER, *endpoints))


OTHER = 'tf.estimator.export.PredictOutput({"doubled": 2.0 * score})'


@pytest.mark.parametrize(
    ("outputs", "method", "endpoints"),
    [
        (f"{{{DEFAULT}: {OTHER}}}", "serve", {"serving_default": "serve"}),
        (f'{{"doubled": {OTHER}}}', "doubled", {"serving_default": "", "doubled": ""}),
        (f'{{"predict": {OTHER}}}', "serve_predict", {"serving_default": "", "predict": ""}),
        (f'{{{DEFAULT}: {PREDICTED}, "b": {OTHER}}}', "b", {"serving_default": "predict_step", "b": "b"}),
        (f'{{{DEFAULT}: {OTHER}, "b": {PREDICTED}}}', "serve", {"serving_default": "serve", "b": "predict_step"}),
        (
            f'{{{DEFAULT}: {OTHER}, "serve": {OTHER}}}',
            "serve_serve",
            {"serving_default": "serve", "serve": "serve_serve"},
        ),
    ],
)
def test_signatures_of_other_outputs_are_methods(outputs: str, method: str, endpoints: dict[str, str]) -> None:
    text = joined(migrated(head=HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", outputs))))
    written = f"    def {method}(self, features):\n        score = self(features)\n        return {{"
    assert f'{written}"doubled": 2.0 * score}}\n' in text and ".fit(" in text
    given = "input_signature=[serving_input_fn()]"
    added = [f'"{key}", ' + (f"model.{of}, {given}" if of else method) for key, of in endpoints.items()]
    above = "" if all(endpoints.values()) else f"{method} = tf.function(model.{method}, {given})\n"
    assert text.endswith(above + archived(FOLDER, *added))


@pytest.mark.parametrize(
    "tensor", ["tf.exp(score)", "score * 2.0 + 1.0", "-score", "score > 0.5", "score[:, 0]", "score[1:]"]
)
def test_a_signature_of_one_tensor_has_an_output_of_its_name(tensor: str) -> None:
    outputs = f"{{{DEFAULT}: tf.estimator.export.PredictOutput({tensor})}}"
    text = migrated(head=HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", outputs)))
    assert f'        return {{"output": {tensor}}}\n' in text


CLASSIFIED = (
    f"{{{DEFAULT}: {PREDICTED}, "
    '"sure": tf.estimator.export.ClassificationOutput(scores=score, classes=tf.as_string(score)), '
    '"value": tf.estimator.export.RegressionOutput(score)}'
)
ONE_TEXT = """\
def serving_input_fn():
    features = {"wide": tf.placeholder(tf.string, [None])}
    return tf.estimator.export.ServingInputReceiver(features, features)


"""


@pytest.mark.parametrize(
    ("receiver", "export", "made", "shape"),
    [
        ("", PARSED, "tf.io.parse_example(inputs, spec)", "[None]"),
        (CSV, EXPORT, "serving_input_fn(inputs)", "[None]"),
        (ONE_TEXT, EXPORT, '{"wide": inputs}', "[None]"),
    ],
)
def test_what_classifies_is_sent_serialized_examples(receiver: str, export: str, made: str, shape: str) -> None:
    text = joined(migrated(receiver, export, HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", CLASSIFIED))))
    assert '        return {"scores": score, "classes": tf.as_string(score)}\n' in text
    assert '        return {"outputs": score}\n' in text
    for method, verb in (("sure", "classify"), ("value", "regress")):
        signature = f'input_signature=[tf.TensorSpec({shape}, tf.string, name="inputs")]'
        served = f'archive.add_endpoint("{method}", lambda inputs: model.{method}({made}), {signature})\n'
        assert "".join(served.split()) in "".join(text.split()).replace(",)", ")")
        assert f'methods.replace_method_name("{method}", "tensorflow/serving/{verb}")\n' in text
    saved = "archive.write_out(path)\n"
    assert f"{saved}methods = tf.compat.v1.saved_model.signature_def_utils.MethodNameUpdater(path)\n" in text


def test_what_classifies_is_left_out_where_features_are_fed() -> None:
    text = migrated(head=HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", CLASSIFIED)))
    assert text.endswith(archived(FOLDER, SERVE)) and "replace_method_name" not in text
    assert "def sure(" not in text and "def value(" not in text


def test_a_path_that_becomes_text_is_one() -> None:
    text = joined(migrated(export=f"folder = {EXPORT}print(folder.decode('utf-8'))\n"))
    made = 'folder = os.path.join("served", str(int(time.time())))\n'
    assert f"{made}{archived('folder', SERVE)}print(folder)\n" in text


@pytest.mark.parametrize("read", ["print(folder)\n", "print(folder.decode(), len(folder))\n", "folder = b''\n"])
def test_a_path_that_is_read_as_bytes_stays_so(read: str) -> None:
    text = joined(migrated(export=f"folder = {EXPORT}{read}"))
    made = 'path = os.path.join("served", str(int(time.time())))\n'
    assert made + archived("path", SERVE) + "folder = path.encode()\n" + read in text


def test_a_path_that_is_returned() -> None:
    main = "def export(folder):\n    estimator = tf.estimator.Estimator(model_fn, 'model')\n"
    main += "    estimator.train(input_fn)\n    return estimator.export_saved_model(folder, serving_input_fn)\n"
    text = joined(migrated(main=main, export=""))
    assert "    path = os.path.join(folder, str(int(time.time())))\n" in text
    assert text.endswith("    archive.write_out(path)\n    return path.encode()\n")


def test_a_path_that_a_call_is_given() -> None:
    text = joined(migrated(export=f"print('to', {EXPORT.strip()})\n"))
    made = 'path = os.path.join("served", str(int(time.time())))\n'
    assert text.endswith(f"{made}{archived('path', SERVE)}print('to', path.encode())\n")


EARLY = EXPORT.replace(")", ', checkpoint_path="model/model.ckpt-2")')
RESTORED = 'checkpoint.restore("model/model.ckpt-2").assert_existing_objects_matched()\n'
NEWEST = "checkpoint.restore(checkpoints.latest_checkpoint)\n"


def test_an_early_checkpoint_is_restored_for_an_export() -> None:
    assert joined(migrated(export=EARLY)).endswith(RESTORED + archived(FOLDER, SERVE))


@pytest.mark.parametrize("more", ["estimator.train(input_fn)\n", "print(estimator.evaluate(input_fn))\n"])
def test_the_newest_checkpoint_is_restored_where_something_reads_the_model_later(more: str) -> None:
    text = joined(migrated(export=EARLY + more))
    assert f"{RESTORED}{archived(FOLDER, SERVE)}{NEWEST}" in text


def test_the_name_of_a_path_that_the_program_has_itself() -> None:
    text = joined(migrated(export=f"path = {EXPORT}print(path)\n"))
    assert "export_path = os.path.join(" in text and "path = export_path.encode()\n" in text


def test_exports_read_the_newest_checkpoint_after_an_evaluation_of_another_one() -> None:
    text = joined(migrated(export='estimator.evaluate(input_fn, checkpoint_path="model/model.ckpt-2")\n' + EXPORT))
    assert text.endswith(f"model.evaluate(input_fn())\n{NEWEST}{archived(FOLDER, SERVE)}")


def test_the_step_of_an_evaluation_is_that_of_the_newest_checkpoint() -> None:
    main = MAIN + "result = estimator.evaluate(input_fn)\n"
    text = joined(migrated(main=main, export=EARLY + 'print(result["global_step"])\n'))
    assert f"{archived(FOLDER, SERVE)}{NEWEST}" in text


def test_imports_are_those_of_the_file() -> None:
    text = migrated(head=HEAD.replace("import os\n", "import os\nimport time\n"))
    assert text.count("import time\n") == 1
    text = migrated(head=HEAD.replace("import os\n\n", ""))
    assert text.startswith("import os\nimport time\n")
    text = migrated(RAW + "time = 3.0\n\n\n")
    assert "import time as time_\n" in text and "int(time_.time())" in text


@pytest.mark.parametrize(
    ("receiver", "export"),
    [
        (RAW, f"print({EXPORT.strip()}.decode())\n"),
        (RAW, f"print(next(input_fn()), {EXPORT.strip()})\n"),
        (RAW, f"folder = place = {EXPORT}"),
        (RAW, f"folder, more = {EXPORT.strip()}, 1\n"),
        (RAW, f"exports = [{EXPORT.strip()} for _ in range(2)]\n"),
        (RAW, EXPORT * 2),
        (RAW, EXPORT.replace(")", ', assets_extra={"a": "b"})')),
        (RAW.replace("(features, features)", '(features, {"fed": wide})'), EXPORT),
        (RAW.replace("    features =", "    wide = tf.sqrt(wide)\n    features ="), EXPORT),
        (RAW.replace("    features =", "    more = tf.placeholder(tf.float32, [None])\n    features ="), EXPORT),
        (RAW + "print(serving_input_fn)\n", EXPORT),
        (CSV.replace("tf.placeholder(tf.string, [None])", "tf.placeholder(tf.string)"), EXPORT),
        (CSV.replace("    rows =", "    dtype = tf.string\n    rows =").replace("(tf.string", "(dtype"), EXPORT),
        (CSV.replace("    features =", "    more = tf.placeholder(tf.float32, [None])\n    features ="), EXPORT),
        (CSV.replace("Receiver(features,", "Receiver(change(features),"), EXPORT),
        (RAW.replace("    return", '    features["wide"] = tf.sqrt(wide)\n    return'), EXPORT),
        ("", PARSED.replace("receiver_fn(spec)", "receiver_fn(spec, 8)")),
        ("", PARSED.replace("receiver_fn =", "spec, receiver_fn = {},")),
    ],
)
def test_exports_that_stay_with_helpers(receiver: str, export: str) -> None:
    text = migrated(receiver, export)
    assert "export_saved_model(" in text and ".fit(" not in text


@pytest.mark.parametrize(
    "outputs",
    [
        f'{{"a": {PREDICTED}, "b": {PREDICTED}}}',  # an Estimator refuses it, too
        '{"a": tf.estimator.export.PredictOutput(dict(score=score))}',
        '{"a": tf.estimator.export.PredictOutput({"score": score} | {})}',
        '{"a": tf.estimator.export.RegressionOutput(score)}',  # which no features that are fed as they are have
        '{"a/b": tf.estimator.export.PredictOutput({"score": score})}',
    ],
)
def test_signatures_that_stay_with_helpers(outputs: str) -> None:
    text = migrated(head=HEAD.replace(RETURN, SIGNATURES.replace("{KEYS}", outputs)))
    assert "export_saved_model(" in text and ".fit(" not in text


@pytest.mark.parametrize(
    ("main", "said"),
    [
        (MAIN, False),
        (MAIN.replace("estimator.train", "if TRAINS:\n    estimator.train"), True),
        (MAIN.replace("estimator.train(input_fn)\n", "estimator.evaluate(input_fn)\n"), True),
    ],
)
def test_an_export_that_may_find_no_checkpoint_is_told(main: str, said: bool) -> None:
    outcomes = run(HEAD + RAW + main + EXPORT).values()
    messages = [d.message for outcome in outcomes for d in (*outcome.applied, *outcome.remaining)]
    assert any("exports the initial weights" in message for message in messages) is said
