"""Files that speak of Estimators, and whose programs are elsewhere."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run

from migrator.vocabulary.diagnostics import Outcome, Severity

HELPER = """import tensorflow as tf


def noise(x, mode):
    if mode == tf.estimator.ModeKeys.TRAIN:
        x = tf.log(x)
    return x
"""
MODEL_FN = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}
"""


def outcome(text: str) -> Outcome:
    """What becomes of one file."""
    return run({"layers.py": text})["layers.py"]


def after(text: str) -> str:
    return outcome(text).after.decode()


def moved(files: dict[str, str]) -> dict[str, str]:
    """All files after migration; a second run leaves them as they are."""
    result = {path: found.after.decode() for path, found in run(files).items()}
    assert {path: found.after.decode() for path, found in run(result).items()} == result
    return result


def test_modes_become_strings() -> None:
    found = outcome(HELPER)
    assert found.after.decode() == HELPER.replace("tf.estimator.ModeKeys.TRAIN", '"train"').replace(".log", ".math.log")
    assert found.units == () and not [item for item in found.remaining if item.severity > Severity.INFO]


@pytest.mark.parametrize(
    ("imports", "mode"),
    [
        ("import tensorflow as tf", "tf.estimator.ModeKeys.EVAL"),
        ("import tensorflow.compat.v1 as tf", "tf.estimator.ModeKeys.EVAL"),
        ("import tensorflow.compat.v2 as tf", "tf.estimator.ModeKeys.EVAL"),
        ("from tensorflow import estimator", "estimator.ModeKeys.EVAL"),
        ("from tensorflow.estimator import ModeKeys", "ModeKeys.EVAL"),
        ("import tensorflow as tf\nModes = tf.estimator.ModeKeys", "Modes.EVAL"),
    ],
)
def test_import_styles(imports: str, mode: str) -> None:
    text = after(f"{imports}\n\n\ndef f(mode={mode}):\n    return mode in (None, {mode})\n")
    assert text.endswith('def f(mode="eval"):\n    return mode in (None, "eval")\n')
    assert "odeKeys" not in text


def test_predicting_has_its_own_string() -> None:
    assert '{"a": "infer"}' in after('import tensorflow as tf\nMODES = {"a": tf.estimator.ModeKeys.PREDICT}\n')


def test_a_local_name_of_a_mode_stays() -> None:
    text = after("import tensorflow as tf\n\n\ndef f(g):\n    mode = tf.estimator.ModeKeys.TRAIN\n    return g(mode)\n")
    assert text.endswith('    mode = "train"\n    return g(mode)\n')


@pytest.mark.parametrize(
    "use",
    [
        "if f(mode) is tf.estimator.ModeKeys.TRAIN: pass",
        "print(f'{tf.estimator.ModeKeys.TRAIN}')",
        "print(tf.estimator.ModeKeys)",
        "print(tf.estimator.ModeKeys.SERVE)",
        "print(tf.estimator.ModeKeys.TRAIN, tf.estimator.RunConfig)",
        "spec = tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.TRAIN)",
    ],
)
def test_files_with_anything_else_stay(use: str) -> None:
    text = f"import tensorflow as tf\nx = tf.log(1.0)\n{use}\n"
    found = outcome(text)
    assert found.after.decode() == text and found.units == ()
    (item,) = [item for item in found.remaining if item.severity > Severity.INFO]
    assert "no Estimator is made in the given files" in item.message and item.location.line == 3


def test_a_model_fn_without_an_estimator_stays_and_its_helper_moves() -> None:
    files = {"layers.py": HELPER, "model.py": MODEL_FN.replace("features[", "noise(features, mode)[")}
    files["model.py"] = files["model.py"].replace("\n\n\n", "\nfrom layers import noise\n\n\n", 1)
    result = moved(files)
    assert result["model.py"] == files["model.py"] and '"train"' in result["layers.py"]


def test_what_a_program_calls_moves_with_the_program() -> None:
    layer = HELPER.replace("tf.log(x)", "tf.layers.dense(x, 2)")
    task = MODEL_FN.replace('features["x"]', 'noise(features["x"], mode)') + "\n\ntf.estimator.Estimator(model_fn)\n"
    result = moved({"layers.py": layer, "task.py": task.replace("as tf\n", "as tf\nfrom layers import noise\n", 1)})
    assert "stimator" not in result["task.py"] and "class Noise(tf.keras.layers.Layer)" in result["layers.py"]


def test_helpers_of_a_program_that_stays_still_work_for_it() -> None:
    stuck = MODEL_FN.replace("mode):", "mode):\n    tf.while_loop(lambda: 1, tf.Session().run, [])")
    task = stuck.replace('features["x"]', 'noise(features["x"], mode)') + "\n\ntf.estimator.Estimator(model_fn)\n"
    files = {"layers.py": HELPER, "task.py": task.replace("as tf\n", "as tf\nfrom layers import noise\n", 1)}
    result = moved(files)
    assert result["task.py"] == files["task.py"] and 'mode == "train"' in result["layers.py"]


def test_a_second_run_changes_nothing() -> None:
    text = after(HELPER)
    assert after(text) == text


def test_a_class_that_a_program_reaches_is_no_library() -> None:
    base = f"""import tensorflow as tf


class Base:
    def model_fn(self, features, labels, mode):
        predictions = {{"y": tf.layers.dense(features["x"], 1)}}
        if mode == tf.estimator.ModeKeys.PREDICT:
            outputs = {{"serving_default": tf.estimator.export.PredictOutput(predictions)}}
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
        {LOSS.replace("predictions", 'predictions["y"]')}
        {TRAIN_OP}
        {SPEC}


MODELS = {{"base": Base}}
"""
    main = "import tensorflow as tf\nfrom base import MODELS\n\nmodel = MODELS[name]()\n"
    main += "estimator = tf.estimator.Estimator(model.model_fn)\nestimator.train(input_fn)\n"
    outcomes = run({"base.py": base, "main.py": main}, style="auto")
    assert "tf.estimator" not in outcomes["base.py"].after.decode()
    remarks = [d.message for outcome in outcomes.values() for d in outcome.remaining]
    assert remarks == ["export_outputs has no effect any more: the program exports nothing"]
