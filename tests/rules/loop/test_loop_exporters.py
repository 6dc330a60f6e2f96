"""Exporters of an EvalSpec, where the program trains by `fit`: SavedModels after evaluations, or at the end."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import HELPERS, joined, migrate, migrate_all, run

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    score = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.losses.mean_squared_error(labels, score)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat(epochs).batch(2)


def serving_input_fn():
    features = {"x": tf.placeholder(tf.float32, [None, 1])}
    return tf.estimator.export.ServingInputReceiver(features, features)


"""
MAIN = """\
estimator = tf.estimator.Estimator(model_fn, CONFIG)
exporter = tf.estimator.FinalExporter("final", serving_input_fn)
eval_spec = tf.estimator.EvalSpec(input_fn, exporters=EXPORTERS)
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=20), eval_spec)
"""
EVERY = '"model", tf.estimator.RunConfig(save_checkpoints_steps=5)'
LATEST = MAIN.replace("FinalExporter", "LatestExporter")
BEST = MAIN.replace("FinalExporter", "BestExporter")
COMPARE = """\
def is_better(best_eval_result, current_eval_result):
    return current_eval_result["loss"] < best_eval_result["loss"]


"""
LAMBDA = 'lambda best_eval_result, current_eval_result: current_eval_result["loss"] < best_eval_result["loss"]'
FACTORY = """\
def better_by(key):
    def compare(best_eval_result, current_eval_result):
        return current_eval_result[key] > best_eval_result[key]

    return compare


"""
COMPARED = COMPARE + BEST.replace("serving_input_fn)", "serving_input_fn, compare_fn=is_better, exports_to_keep=2)")


def migrated(main: str = MAIN, config: str = '"model"', exporters: str = "exporter") -> str:
    return migrate(HEAD + textwrap.dedent(main).replace("CONFIG", config).replace("EXPORTERS", exporters))


SAVED = """\
    archive = tf.keras.export.ExportArchive()
    archive.add_endpoint("serving_default", model.predict_step, input_signature=[serving_input_fn()])
    archive.write_out(os.path.join("model", "export", "final", str(int(time.time()))))
"""


@pytest.mark.parametrize(
    ("main", "config", "exporters"),
    [
        (MAIN, '"model"', "exporter"),
        (MAIN, '"model"', "[exporter]"),
        (MAIN, EVERY, "[exporter]"),
        (LATEST, '"model"', "exporter"),  # after the one evaluation that there is
        (LATEST.replace("serving_input_fn)", "serving_input_fn, exports_to_keep=None)"), '"model"', "exporter"),
        (BEST, '"model"', "exporter"),
    ],
)
def test_a_model_is_saved_at_the_end(main: str, config: str, exporters: str) -> None:
    text = migrated(main, config, exporters)
    assert joined(text).endswith(SAVED) and "Exporter" not in text and "import os\nimport time\n" in text


@pytest.mark.parametrize("said", ["True", "False"])
def test_how_the_file_is_written_does_not_matter(said: str) -> None:
    assert migrated(MAIN.replace("serving_input_fn)", f"serving_input_fn, as_text={said})")) == migrated()


def test_a_name_that_is_no_text() -> None:
    named = "NAME = tf.flags.FLAGS.name\n" + MAIN.replace('"final"', "NAME")
    assert 'os.path.join("model", "export", NAME, str(int(time.time())))' in joined(migrated(named))
    later = named.replace("eval_spec =", 'NAME = "other"\neval_spec =', 1)
    assert "Exporter(NAME" in migrated(later) and ".fit(" not in migrated(later)


def test_one_that_is_made_in_place() -> None:
    made = 'tf.estimator.FinalExporter("final", serving_input_fn)'
    main = MAIN.replace(f"exporter = {made}\n", "")
    assert joined(migrated(main, exporters=made)).endswith(SAVED)


EXPORT = """\
exports = os.path.join("model", "export", "final")
archive = tf.keras.export.ExportArchive()
archive.add_endpoint("serving_default", model.predict_step, input_signature=[serving_input_fn()])
archive.write_out(os.path.join(exports, str(int(time.time()))))
for old in sorted(tf.io.gfile.glob(os.path.join(exports, "[0-9]" * 10)))[:-KEEP]:
    tf.io.gfile.rmtree(old)
"""
WAIT = "time.sleep(1)  # the next one is named after another second\n"


def test_exports_that_are_kept_are_counted() -> None:
    text = joined(migrated(LATEST.replace("serving_input_fn)", "serving_input_fn, exports_to_keep=2)")))
    assert text.endswith(textwrap.indent(EXPORT.replace("KEEP", "2"), "    "))


def test_an_export_after_each_evaluation() -> None:
    text = joined(migrated(LATEST, EVERY))
    body = textwrap.indent(EXPORT.replace("KEEP", "5") + WAIT, "        ")
    assert f"    def export_latest(epoch, logs):\n{body}\n    model.fit(" in text
    assert "LambdaCallback(on_epoch_end=export_latest), " in text and "Exporter" not in text


@pytest.mark.parametrize(
    ("main", "head", "keep"),
    [
        (
            BEST,
            """\
    if not best or best["val_loss"] > logs["val_loss"]:
        best.update(logs)
""",
            "5",
        ),
        (
            COMPARED,
            """\
    result = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
    if not best or is_better(best_eval_result=best, current_eval_result=result):
        best.update(result)
""",
            "2",
        ),
        (
            COMPARED.replace("compare_fn=is_better", f"compare_fn={LAMBDA}"),
            """\
    if not best or logs["val_loss"] < best["val_loss"]:
        best.update(logs)
""",
            "2",
        ),
        (
            COMPARED.replace("compare_fn=is_better", "compare_fn=lambda current_eval_result, best_eval_result=0: f()"),
            """\
    result = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
    if not best or (lambda current_eval_result, best_eval_result=0: f())(best_eval_result=best, current_eval_result=result):
        best.update(result)
""",
            "2",
        ),
        (
            FACTORY + COMPARED.replace("compare_fn=is_better", 'compare_fn=better_by("loss")'),
            """\
    result = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
    if not best or better_by("loss")(best_eval_result=best, current_eval_result=result):
        best.update(result)
""",
            "2",
        ),
    ],
)
def test_an_export_after_each_evaluation_that_is_the_best_one(main: str, head: str, keep: str) -> None:
    text = joined(migrated(main, EVERY))
    lines = "best = {}\n\ndef export_best(epoch, logs):\n" + head
    lines += textwrap.indent(EXPORT.replace("KEEP", keep) + WAIT, "        ")
    assert textwrap.indent(lines, "    ") + "\n    model.fit(" in text and "Exporter" not in text


def test_several_exporters_of_one_function_in_a_list_that_grows() -> None:
    listed = """\
exporters = [exporter]
exporters.append(tf.estimator.LatestExporter("latest", serving_input_fn, exports_to_keep=None))
exporters.append(tf.estimator.BestExporter("a", serving_input_fn))
exporters.append(tf.estimator.BestExporter("b", serving_input_fn))
eval_spec ="""
    text = joined(migrated(MAIN.replace("eval_spec =", listed), EVERY, "exporters"))
    assert text.count("tf.TensorSpec(") == 1 and "Exporter" not in text
    assert [f"def {name}(" in text for name in ("export_latest", "export_best", "export_best_")] == [True] * 3
    assert "best_ = {}" in text and 'best_["val_loss"] > logs["val_loss"]' in text
    assert text.count("_end=export_") == 3 and joined(SAVED) in text


def test_an_exporter_of_the_best_has_a_name() -> None:
    text = joined(migrated(BEST.replace('"final", ', "serving_input_receiver_fn="), EVERY, "exporter"))
    assert 'os.path.join("model", "export", "best_exporter")' in text and "Exporter(" not in text


def test_exporters_that_keep_several_numbers_of_one_function() -> None:
    listed = """\
exporters = [exporter]
exporters.append(tf.estimator.LatestExporter("latest", serving_input_fn))
exporters.append(tf.estimator.BestExporter("best", serving_input_fn, exports_to_keep=1))
eval_spec ="""
    text = joined(migrated(MAIN.replace("eval_spec =", listed), EVERY, "exporters"))
    assert "def export(exports, kept):\n" in text and '"[0-9]" * 10)))[:-kept]:' in text
    assert '"export", "latest"), 5)' in text and '"export", "best"), 1)' in text
    assert text.count("ExportArchive()") == 2  # here, and at the end of the training


FINAL = 'exporter = tf.estimator.FinalExporter("final", serving_input_fn)\n'
PARSING = """\
receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([1], tf.float32)})
exporters = [tf.estimator.LatestExporter("latest", receiver_fn), tf.estimator.BestExporter("best", receiver_fn)]
eval_spec ="""


def parsing(listed: str) -> str:
    """What becomes of a program that exports for serialized examples alone."""
    main = MAIN.replace(FINAL, "").replace("eval_spec =", listed)
    program = HEAD.partition("def serving_input_fn")[0] + main.replace("CONFIG", EVERY)
    return migrate(program.replace("EXPORTERS", "exporters"))


def test_exporters_of_one_function_with_a_name() -> None:
    text = joined(parsing(PARSING))
    assert 'feature_spec = {"x": tf.io.FixedLenFeature([1], tf.float32)}\n' in text and "receiver_fn" not in text
    assert text.count("tf.io.parse_example(examples, feature_spec)") == 1
    assert "def export(exports):\n" in text and text.count("time.sleep(1)") == 1
    lines = [line.strip() for line in text.splitlines()]
    for above, name in (("def export_latest(epoch, logs):", "latest"), ("best.update(logs)", "best")):
        assert lines[lines.index(above) + 1] == f'export(os.path.join("model", "export", "{name}"))'


def test_an_exporter_and_an_export_of_one_function_with_a_name() -> None:
    spec = '{"x": tf.FixedLenFeature([1], tf.float32)}'
    listed = f"wanted = {spec}\n{PARSING.replace(spec, 'wanted')}"
    main = MAIN.replace(FINAL, "").replace("eval_spec =", listed) + 'estimator.export_saved_model("out", receiver_fn)\n'
    program = HEAD.partition("def serving_input_fn")[0] + main.replace("CONFIG", EVERY)
    text = joined(migrate(program.replace("EXPORTERS", "exporters")))
    assert "receiver_fn" not in text and text.count("tf.io.parse_example(examples, wanted)") == 2
    assert "feature_spec" not in text and ".fit(" in text


def test_exporters_that_keep_different_numbers_share_a_function() -> None:
    listed = PARSING.replace('"latest", receiver_fn', '"latest", receiver_fn, exports_to_keep=2')
    text = joined(parsing(listed))
    assert text.count("time.sleep(1)") == 1 and "def export(exports, kept):" in text


def test_a_function_that_something_else_reads_stays_with_helpers() -> None:
    listed = PARSING.replace("eval_spec", "print(receiver_fn)\neval_spec")
    assert ".fit(" not in parsing(listed)


@pytest.mark.parametrize(
    ("main", "config", "exporters"),
    [
        (COMPARED.replace("best_eval_result", "best"), EVERY, "exporter"),
        (COMPARED.replace('best_eval_result["loss"]', 'best_eval_result["global_step"]'), EVERY, "exporter"),
        (COMPARED.replace("compare_fn=is_better", "compare_fn=lambda *results: True"), EVERY, "exporter"),
        (
            COMPARED.replace("compare_fn=is_better", f"compare_fn=({LAMBDA}) if __name__ else is_better"),
            EVERY,
            "exporter",
        ),
        (
            COMPARED.replace("compare_fn=is_better", f"compare_fn={LAMBDA.replace('loss', 'global_step')}"),
            EVERY,
            "exporter",
        ),
        (COMPARED.replace("compare_fn=is_better", "compare_fn=made_elsewhere()"), EVERY, "exporter"),
        (COMPARED.replace("exports_to_keep=2", "exports_to_keep=len(__name__)"), EVERY, "exporter"),
        (COMPARED.replace("exports_to_keep=2", "exports_to_keep=0"), EVERY, "exporter"),
        (LATEST + "print(serving_input_fn())\n", EVERY, "exporter"),  # which returns something else then
        (LATEST.replace("eval_spec =", "exporters = [exporter]\nprint(exporters)\neval_spec ="), EVERY, "exporters"),
        (LATEST.replace("tf.estimator.train_", "if True: tf.estimator.train_"), EVERY, "exporter"),
        (MAIN.replace("serving_input_fn)", 'serving_input_fn, assets_extra={"a": "b"})'), '"model"', "exporter"),
        (MAIN + "print(exporter)\n", '"model"', "exporter"),
        (MAIN.replace("(model_fn, CONFIG)", "(model_fn)"), "", "exporter"),
    ],
)
def test_exporters_that_stay_with_helpers(main: str, config: str, exporters: str) -> None:
    text = migrated(main, config, exporters)
    assert ".fit(" not in text and "Exporter(" in text


def test_a_function_that_another_file_reads_stays_with_helpers() -> None:
    program = HEAD + MAIN.replace("CONFIG", EVERY).replace("EXPORTERS", "exporter")
    other = "from program import serving_input_fn\n\nprint(serving_input_fn().features)\n"
    after = migrate_all({"program.py": program, "other.py": other})
    assert ".fit(" not in after["program.py"]


def test_exports_amid_a_training_on_several_machines_stay_with_helpers() -> None:
    program = HEAD + LATEST.replace("CONFIG", EVERY).replace("EXPORTERS", "exporter")
    assert HELPERS in run(f'import os\nos.environ["TF_CONFIG"] = "{{}}"\n{program}', strategy="multi_worker")
