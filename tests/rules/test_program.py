"""Whole programs: import styles, several files, Estimators that travel, and programs that stay as they are."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import (
    HELPERS,
    LOSS,
    SPEC,
    TRAIN_OP,
    manual_reason,
    migrate,
    migrate_all,
    model_fn,
    run,
    units,
    untouched,
)

DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    {DENSE}
    {LOSS}
    {TRAIN_OP}
    {SPEC}
"""
INPUT = """import tensorflow as tf


def input_fn():
    return tf.data.experimental.load("examples")
"""
TASK = """import tensorflow as tf

from inputs import input_fn
from model import model_fn


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir="here")
    estimator.train(input_fn, steps=10)
    print(estimator.evaluate(input_fn)["loss"])


if __name__ == "__main__":
    main()
"""
FILES = {"model.py": MODEL, "inputs.py": INPUT, "task.py": TASK}


def use(after: str) -> str:
    """A program whose model_fn is followed by `after`."""
    return MODEL + "\n\n" + after


# -- import styles ----------------------------------------------------------------------------------------------------


def with_names(imports: str, tf: str, estimator: str, spec: str = "") -> str:
    spec = spec or f"{estimator}.EstimatorSpec"
    return f"""{imports}

def model_fn(features, labels, mode):
    predictions = {tf}.layers.dense(features["x"], 1)
    loss = {tf}.reduce_mean({tf}.square(labels - predictions))
    train_op = {tf}.train.GradientDescentOptimizer(0.1).minimize(loss, {tf}.train.get_global_step())
    return {spec}(mode, predictions=predictions, loss=loss, train_op=train_op)


classifier = {estimator}.Estimator(model_fn)
classifier.train(lambda: None, steps=1)
"""


@pytest.mark.parametrize(
    ("imports", "tf", "estimator"),
    [
        ("import tensorflow as tf\n", "tf", "tf.estimator"),
        ("import tensorflow\n", "tensorflow", "tensorflow.estimator"),
        ("import tensorflow as t\n", "t", "t.estimator"),
        ("import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n", "tf", "tf.estimator"),
        ("import tensorflow as tf\nimport tensorflow.compat.v1 as tf1\n", "tf1", "tf1.estimator"),
        ("import tensorflow as tf\ntfe = tf.estimator\n", "tf", "tfe"),
        ("import tensorflow as tf\nfrom tensorflow import estimator as est\n", "tf", "est"),
        ("import tensorflow as tf\nfrom tensorflow import estimator\n", "tf", "estimator"),
        ("from tensorflow.compat import v1 as tf\n", "tf", "tf.estimator"),
    ],
)
def test_import_styles(imports: str, tf: str, estimator: str) -> None:
    text = migrate(with_names(imports, tf, estimator))
    assert ".keras.Model):" in text and "classifier = create_model()" in text
    assert "train(classifier, lambda: None, steps=1)" in text
    assert "EstimatorSpec" not in text and "disable_v2_behavior" not in text


def test_classes_imported_one_by_one() -> None:
    imports = "import tensorflow as tf\nfrom tensorflow.estimator import Estimator, EstimatorSpec, ModeKeys\n"
    source = with_names(imports, "tf", "X", "EstimatorSpec").replace("X.Estimator(", "Estimator(")
    source = source.replace(
        "    loss =", "    if mode == ModeKeys.PREDICT:\n        return EstimatorSpec(mode, predictions)\n    loss ="
    )
    text = migrate(source)
    assert "classifier = create_model()" in text


def test_import_inside_a_function() -> None:
    source = f"""def main():
    import tensorflow as tf

    def model_fn(features, labels, mode):
        {DENSE}
        {LOSS}
        {TRAIN_OP}
        {SPEC}

    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(lambda: None, steps=1)
"""
    assert "does not import tensorflow as a whole" in manual_reason(source)


# -- several files ----------------------------------------------------------------------------------------------------


def test_all_files_of_a_program_move_together() -> None:
    after = migrate_all(FILES)
    assert set(after) == {*FILES, HELPERS}
    assert "from model import create_model\n" in after["task.py"]
    assert 'estimator = create_model(model_dir="here")' in after["task.py"]
    assert "train(estimator, input_fn, steps=10)" in after["task.py"]
    assert 'print(evaluate(estimator, input_fn)["loss"])' in after["task.py"]
    assert "class Model(tf.keras.Model):" in after["model.py"]
    assert after["inputs.py"] == INPUT


@pytest.mark.parametrize(
    ("line", "call", "imported"),
    [
        ("import model", "model.model_fn", "import model\n"),
        ("import model as m", "m.model_fn", "import model as m\n"),
        ("from model import model_fn as network", "network", "from model import create_model as network\n"),
    ],
)
def test_ways_to_import_the_model_fn(line: str, call: str, imported: str) -> None:
    task = TASK.replace("from model import model_fn", line).replace("Estimator(model_fn,", f"Estimator({call},")
    after = migrate_all({**FILES, "task.py": task})["task.py"]
    assert imported in after
    factory = call.replace("model_fn", "create_model")
    assert f'estimator = {factory}(model_dir="here")' in after


def test_relative_imports_in_a_package() -> None:
    task = TASK.replace("from inputs", "from .inputs").replace("from model", "from .model")
    files = {"trainer/__init__.py": "", "trainer/model.py": MODEL, "trainer/inputs.py": INPUT, "trainer/task.py": task}
    after = migrate_all(files)
    assert "from .model import create_model" in after["trainer/task.py"]
    assert "from .tf2_training import" in after["trainer/task.py"]
    assert "trainer/tf2_training.py" in after


PACKAGE = {"cnn/__init__.py": "", "cnn/model.py": MODEL}


@pytest.mark.parametrize("root", ["", "project/"])
def test_a_script_beside_a_package(root: str) -> None:
    task = TASK.replace("from model", "from cnn.model")
    files = {"task.py": task, "inputs.py": INPUT, **PACKAGE}
    after = migrate_all({root + path: text for path, text in files.items()})
    assert [path for path in after if path.endswith(HELPERS)] == [f"{root}cnn/{HELPERS}"]
    for path in ("task.py", "cnn/model.py"):
        assert "from cnn.tf2_training import" in after[root + path]


def test_a_package_that_is_imported_by_relative_names() -> None:
    task = TASK.replace("from inputs", "from .inputs").replace("from model", "from .cnn.model")
    files = {"p/__init__.py": "", "p/inputs.py": INPUT, "p/task.py": task}
    after = migrate_all({**files, **{f"p/{path}": text for path, text in PACKAGE.items()}})
    assert "from .tf2_training import" in after["p/task.py"]
    assert "from ..tf2_training import" in after["p/cnn/model.py"]


def imported_behind(task: str) -> str:
    """The line above the import of the helpers in a script beside the package `trainer`."""
    files = {"trainer/__init__.py": "", "trainer/model.py": MODEL, "trainer/inputs.py": INPUT, "trainer/task.py": task}
    lines = migrate_all(files)["trainer/task.py"].splitlines()
    number = next(n for n, line in enumerate(lines) if line.startswith("from trainer.tf2_training import"))
    return next(line for line in reversed(lines[:number]) if line)


ABSOLUTE = TASK.replace("from inputs", "from trainer.inputs").replace("from model", "from trainer.model")


@pytest.mark.parametrize(
    "line",
    [
        "sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))",
        "sys.path = ['..'] + sys.path",
        "if '..' not in sys.path:\n    sys.path.insert(0, '..')",
    ],
)
def test_helpers_come_behind_what_says_where_local_modules_are(line: str) -> None:
    task = ABSOLUTE.replace("\n\nfrom trainer", f"\n\nROOT = 1\n{line}\n\nfrom trainer", 1)
    assert imported_behind(task.replace("import tensorflow", "import os\nimport sys\n\nimport tensorflow", 1)) == (
        "from trainer.model import create_model"
    )


@pytest.mark.parametrize(
    "line", ["print(sys.path)", "def more():\n    sys.path.append('..')", "path = ['..']\npath.append('x')"]
)
def test_helpers_stay_with_the_imports_at_the_head(line: str) -> None:
    task = ABSOLUTE.replace("\n\n\ndef main", f"\n\n\n{line}\n\n\ndef main", 1)
    assert imported_behind("import sys\n" + task) == "from trainer.model import create_model"
    task = ABSOLUTE.replace("\n\nfrom trainer", f"\n\n{line}\n\nfrom trainer", 1)
    above = "from trainer.model import create_model" if "print" in line else "import tensorflow as tf"
    assert imported_behind("import sys\n" + task) == above


def test_one_part_that_cannot_move_keeps_all_files() -> None:
    bad_model = MODEL.replace("train_op=train_op)", "train_op=train_op, training_hooks=[HOOK])  # HERE")
    assert "a hook of an EstimatorSpec" in manual_reason({**FILES, "model.py": bad_model})
    bad_task = TASK.replace("steps=10)", "steps=10, hooks=[HOOK])  # HERE")
    assert "`hooks` of Estimator.train" in manual_reason({**FILES, "task.py": bad_task})


def test_an_unused_file_with_estimator_calls_keeps_all_files() -> None:
    extra = "import tensorflow as tf\nimport task\n\n\ntf.estimator.export_all(task)  # HERE\n"
    assert "export_all" in manual_reason({**FILES, "export.py": extra})


def test_the_units_name_all_files() -> None:
    (unit,) = units(run(FILES))
    assert (unit.name, unit.tier) == ("model_fn", "native")
    assert set(unit.files) >= {"model.py", "task.py"}
    assert unit.location.path == "model.py" and unit.location.line == 4


def test_two_model_fns_in_one_file() -> None:
    second = MODEL.split("\n\n\n")[1].replace("model_fn", "other_model_fn")
    source = (
        f"{MODEL}\n\n{second}\n\na = tf.estimator.Estimator(model_fn)\nb = tf.estimator.Estimator(other_model_fn)\n"
    )
    text = migrate(source)
    assert "class Model(" in text and "class OtherModel(" in text
    assert "a = create_model()" in text and "b = create_other_model()" in text


def test_two_estimators_of_one_model_fn() -> None:
    text = migrate(use("a = tf.estimator.Estimator(model_fn, 'a')\nb = tf.estimator.Estimator(model_fn, 'b')\n"))
    assert text.count("(tf.keras.Model)") == 1
    assert "a = create_model(model_dir='a')\nb = create_model(model_dir='b')" in text


# -- model_fns that are not seen --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import tensorflow as tf\ne = tf.estimator.Estimator(lambda features, labels, mode: None)  # HERE\n", "not found"),
        ("import tensorflow as tf\nfrom lib import model_fn\ne = tf.estimator.Estimator(model_fn)  # HERE\n", "not found"),
        ("import tensorflow as tf\ne = tf.estimator.Estimator(**ARGS)  # HERE\n", "arguments of Estimator are not seen"),
        ("import tensorflow as tf\ne = tf.estimator.Estimator(*ARGS)  # HERE\n", "arguments of Estimator are not seen"),
        ("import tensorflow as tf\ne = tf.estimator.Estimator()  # HERE\n", "not seen"),
        (MODEL.replace("labels, mode)", "labels, mode, *args)") + "e = tf.estimator.Estimator(model_fn)\n", "*args"),
        (MODEL.replace("labels, mode)", "labels, mode, **kw)") + "e = tf.estimator.Estimator(model_fn)\n", "**kwargs"),
        (MODEL.replace("def model", "async def model") + "e = tf.estimator.Estimator(model_fn)  # HERE\n", "not found"),
        (
            "import functools\n" + MODEL + "e = tf.estimator.Estimator(functools.partial(model_fn, x=1))  # HERE\n",
            "fixes `x`",
        ),
        (MODEL + "if F:\n    def model_fn(features, labels, mode):\n        pass\n"
         "e = tf.estimator.Estimator(model_fn)  # HERE\n", "not found"),
        ("import tensorflow as tf\n\n\nclass M:\n    def model_fn(self, features, labels, mode):  # HERE\n        pass\n\n"
         "    def run(self):\n        e = tf.estimator.Estimator(self.model_fn)\n", "no EstimatorSpec"),
    ],
)  # fmt: skip
def test_model_fns_that_are_not_found(source: str, reason: str) -> None:
    assert reason in manual_reason(source)


# -- what is no program -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "from sagemaker.estimator import Estimator\n\ne = Estimator(model_fn)\ne.train(F)\n",
        "import tensorflow as tf\n\nCODE = '''\ne = tf.estimator.Estimator(model_fn)\n'''\n# tf.estimator.Estimator(f)\n",
        "class Estimator:\n    pass\n\n\ne = Estimator(model_fn)\ne.train(F)\n",
        "import tensorflow as tf\n\n\ndef run(tf):\n    e = tf.estimator.Estimator(1)\n    e.train(2)\n",
        "import mylib as tf\n\ne = tf.estimator.Estimator(1)\ne.train(2)\n",
        "class Runner:\n    def train(self, input_fn):\n        pass\n\n\nRunner().train(1)\n",
        "",
    ],
)
def test_other_code_is_not_touched(source: str) -> None:
    untouched(source)


@pytest.mark.parametrize(
    "imports",
    [
        "from tensorflow import *\n",
        "import sys\n\nif sys.version_info > (3,):\n    import tensorflow as tf\nelse:\n    import fake as tf\n",
        "import tensorflow as tf\n\ntf = patched(tf)\n",
    ],
)
def test_names_that_may_be_something_else(imports: str) -> None:
    source = MODEL.replace("import tensorflow as tf\n", imports) + "\n\ne = tf.estimator.Estimator(model_fn)\n"
    untouched(source)


def test_a_deleted_name() -> None:
    untouched(use("e = tf.estimator.Estimator(model_fn)\ndel tf\n"))


def test_an_import_that_may_be_one_of_two() -> None:
    imports = "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import other as tf\n"
    source = MODEL.replace("import tensorflow as tf\n", imports) + "\n\ne = tf.estimator.Estimator(model_fn)\n"
    untouched(source)


def test_programs_of_other_components_do_not_matter() -> None:
    bad = use("e = tf.estimator.Estimator(model_fn)\ne.train(F, hooks=[H])\n")
    assert units(run(bad))[0].tier == "manual"
    assert units(run(model_fn(DENSE)))[0].tier == "native"


@pytest.mark.parametrize(
    ("use", "imported"),
    [
        ("", r"from tf2_cluster import [\w, ]+\n"),
        (
            "estimator.train(lambda: tf.data.Dataset.from_tensors(({'x': X}, Y)), steps=1)\n",
            "import tensorflow as tf\n",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_import_that_goes_leaves_no_hole(newline: str, use: str, imported: str) -> None:
    helper = "import tensorflow as tf\n\n\ndef made(mode, loss):\n"
    helper += "    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())\n"
    helper += "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n"
    main = "import tensorflow as tf\n\nfrom helper import made\n\n\ndef model_fn(features, labels, mode):\n"
    main += "    net = tf.layers.dense(features['x'], 1)\n"
    main += "    return made(mode, tf.losses.mean_squared_error(labels, net))\n"
    main += f"\n\nestimator = tf.estimator.Estimator(model_fn)\n{use}"
    files = {path: text.replace("\n", newline) for path, text in {"helper.py": helper, "main.py": main}.items()}
    text = migrate_all(files)["main.py"].replace("\r\n", "\n")
    assert "from helper" not in text and re.search(rf"^{imported}\n\nclass Model\(", text, re.MULTILINE)
