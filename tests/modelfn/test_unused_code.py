"""Functions that nothing names: they keep the names of TensorFlow 1, and do not keep the program."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate, migrate_all, model_fn, run

BODY = "predictions = tf.layers.dense(features['x'], 1)"
UNUSED = """

def dice(x, name=""):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        x = tf.layers.batch_normalization(x)
        return tf.get_variable("alpha", [1]) * tf.log(x)


def outer(x):
    return dice(x) + tf.layers.dense(x, 1)
"""
KEPT = """
def dice(x, name=""):
    with tf.compat.v1.variable_scope(name, reuse=tf.compat.v1.AUTO_REUSE):
        x = tf.compat.v1.layers.batch_normalization(x)
        return tf.compat.v1.get_variable("alpha", [1]) * tf.math.log(x)


def outer(x):
    return dice(x) + tf.compat.v1.layers.dense(x, 1)
"""


@pytest.mark.parametrize("head", ["", "import tensorflow.compat.v1 as tf\n"])
def test_it_keeps_its_names(head: str) -> None:
    text = migrate(model_fn(BODY, before=head + UNUSED))
    assert KEPT in text
    assert "import tensorflow as tf" in text and "tf.keras.layers.Dense(1)" in text


def test_a_file_of_helpers() -> None:
    layers = f"import tensorflow as tf\n{UNUSED}\n\ndef tower(x):\n    return tf.layers.dense(x, 1, name='out')\n"
    program = model_fn("predictions = layers.tower(features['x'])", before="import layers\nimport tensorflow as tf\n")
    after = migrate_all({PATH: program, "layers.py": layers})
    assert KEPT in after["layers.py"] and "class Tower(tf.keras.layers.Layer):" in after["layers.py"]


@pytest.mark.parametrize(
    "rest",
    [
        "table = {'dice': dice}\n",
        "table = [outer]\n",
        "chosen = globals()[name]\n",
        "import program\nchosen = getattr(program, name)\n",
        "import sys\nchosen = getattr(sys.modules[__name__], name)\n",
        "chosen = getattr(module, 'outer')\n",
        "def main():\n    return outer(1)\n\nmain()\n",
    ],
)
def test_what_may_be_called_keeps_the_program(rest: str) -> None:
    source = model_fn(
        BODY, before=f"module = name = None\n{UNUSED}".replace("module", "import tensorflow as tf\nmodule")
    )
    assert "in code that does not move" in manual_reason(f"{source}\n{rest}")


@pytest.mark.parametrize("rest", ["kind = 'outer'\n", "kinds = ['dice', 'outer']\n", "print('outer', dict(outer=1))\n"])
def test_a_text_that_is_the_name_of_a_function_finds_none(rest: str) -> None:
    assert KEPT in migrate(model_fn(BODY, before=f"import tensorflow as tf\n{UNUSED}") + f"\n{rest}")


@pytest.mark.parametrize(
    "rest",
    [
        "import operator\nchosen = operator.attrgetter('outer')(layers)\n",
        "register(layers, 'outer')\n",
        "has = hasattr(layers, 'outer')\n",
    ],
)
def test_a_text_by_which_a_module_is_asked_does(rest: str) -> None:
    """Where the file of helpers is one of the program's."""
    layers = f"import tensorflow as tf\n{UNUSED}\n\ndef tower(x):\n    return tf.layers.dense(x, 1, name='out')\n"
    source = model_fn("predictions = layers.tower(features['x'])", before="import layers\nimport tensorflow as tf\n")
    assert manual_reason({PATH: f"{source}\n{rest}", "layers.py": layers})


def test_a_text_that_is_the_name_of_a_class_may_find_it() -> None:
    source = model_fn(BODY, before=f"import tensorflow as tf\n{UNUSED.replace('def outer(x):', 'class Outer:')}")
    source = source.replace(
        "    return dice(x) + tf.layers.dense(x, 1)", "    def make(self, x):\n        return dice(x)"
    )
    assert "in code that does not move" in manual_reason(f"{source}\nkind = 'Outer'\n")


def test_a_table_of_settings_finds_no_functions() -> None:
    assert KEPT in migrate(
        model_fn(BODY, before=f"import tensorflow as tf\n{UNUSED}") + "\nsize = getattr(flags, name)\n"
    )


def test_files_that_no_program_imports() -> None:
    """What they call of a program's files stays for them, beside the layer, and packages pass on both."""
    tower = "import tensorflow as tf\n\n\ndef tower(x):\n    return tf.layers.dense(x, 1, name='out')\n"
    other = "import tensorflow as tf\nfrom layers import tower\n\n\nclass Net:\n    def call(self, x):\n        return tower(x)\n"
    source = model_fn(
        "predictions = tower(features['x'])", before="import tensorflow as tf\nfrom layers import tower\n"
    )
    files = {PATH: source, "layers/__init__.py": "from layers.tower import tower\n", "layers/tower.py": tower}
    after = migrate_all({**files, "others/__init__.py": "from others.net import Net\n", "others/net.py": other})
    assert "class Tower(tf.keras.layers.Layer):" in after["layers/tower.py"]
    assert "def tower(x):\n    return tf.compat.v1.layers.dense(x, 1, name='out')\n" in after["layers/tower.py"]
    assert after["layers/__init__.py"] == "from layers.tower import tower\nfrom layers.tower import Tower\n"
    assert "from layers import Tower\n" in after[PATH] and after["others/net.py"] == other


DICTS = """
class Config:
    def update(self, values):
        self.__dict__.update(values)


def show(config):
    print(config.__dict__)
"""


def test_the_dict_of_an_object_finds_no_functions() -> None:
    assert KEPT in migrate(model_fn(BODY, before=f"import tensorflow as tf\n{UNUSED}") + DICTS)


def test_the_dict_of_what_may_be_a_module_does() -> None:
    layers = f"import tensorflow as tf\n{UNUSED}\n\ndef tower(x):\n    return tf.layers.dense(x, 1, name='out')\n"
    source = model_fn("predictions = layers.tower(features['x'])", before="import layers\nimport tensorflow as tf\n")
    assert manual_reason({PATH: f"{source}\n{DICTS}show(layers)\n", "layers.py": layers})


ASKED = "import importlib\n"


@pytest.mark.parametrize(
    "rest",
    [
        "build = getattr(importlib.import_module('model.' + name), 'build')\n",
        "build = importlib.import_module(name).build\n",
        "found = importlib.import_module(name)\nbuild, more = found.build, getattr(found, 'more')\n",
    ],
)
def test_a_module_that_is_asked_by_written_names_finds_no_others(rest: str) -> None:
    source = model_fn(BODY, before=f"import tensorflow as tf\nname = None\n{UNUSED}")
    assert KEPT in migrate(f"{source}\n{ASKED}{rest}")


@pytest.mark.parametrize(
    "rest",
    [
        "build = getattr(importlib.import_module(name), 'outer')\n",
        "build = getattr(importlib.import_module(name), name)\n",
        "build = importlib.import_module(name).outer\n",
        "build = importlib.import_module(name).__dict__[name]\n",
        "found = importlib.import_module(name)\nbuild = getattr(found, name)\n",
        "found = importlib.import_module(name)\nprint(dir(found))\n",
        "found = importlib.import_module(name)\nif name:\n    found = importlib.import_module(name)\nrun(found)\n",
    ],
)
def test_a_module_that_may_be_asked_for_them_keeps_the_program(rest: str) -> None:
    source = model_fn(BODY, before=f"import tensorflow as tf\nname = None\n{UNUSED}")
    assert "in code that does not move" in manual_reason(f"{source}\n{ASKED}{rest}")


TWIST = "\n\ndef twist(x):\n    return tf.contrib.framework.nest(x)\n"


def test_what_nothing_holds_stays_with_a_remark() -> None:
    source = model_fn(BODY, before=TWIST)
    assert TWIST in migrate(source)
    remark = (
        "`twist` keeps tf.contrib.framework.nest, and would stop at it: no code of the Estimator's program calls it"
    )
    assert remark in [diagnostic.message for diagnostic in run(source)[PATH].remaining]


@pytest.mark.parametrize(
    "unused",
    [
        "def twist(x=tf.contrib.framework.nest):\n    return x\n",
        "class Twist(tf.contrib.framework.Nest):\n    pass\n",
        "class Twist:\n    nest = tf.contrib.framework.nest\n    nests = [tf.contrib.framework.nest]\n",
        "@tf.contrib.framework.nest\ndef twist(x):\n    return x\n",
    ],
)
def test_what_runs_keeps_the_program(unused: str) -> None:
    assert "tf.contrib.framework" in manual_reason(model_fn(BODY, before=f"\n\n{unused}"))


@pytest.mark.parametrize("call", ["main(None)", "tf.app.run(main)", "tf.app.run()"])
def test_what_the_main_block_calls_keeps_the_program(call: str) -> None:
    after = f"""\
def main(_):
    twist(1)
    estimator = tf.estimator.Estimator(model_fn, params=PARAMS)


if __name__ == "__main__":
    {call}
"""
    assert "tf.contrib.framework" in manual_reason(model_fn(BODY, before=TWIST, after=after))


def test_the_main_block_of_another_program() -> None:
    tool = """\
import tensorflow as tf


def tower(x):
    return tf.layers.dense(x, 1, name="out")


def average(path):
    with tf.Session() as session:
        return session.run(tf.contrib.framework.load_variable(path, "w"))


if __name__ == "__main__":
    tf.app.run(average)
"""
    program = model_fn("predictions = tool.tower(features['x'])", before="import tool\nimport tensorflow as tf\n")
    program = program.replace("estimator = ", "if __name__ == '__main__':\n    estimator = ")
    files = {PATH: program, "tool.py": tool}
    after = migrate_all(files)
    assert "class Tower(tf.keras.layers.Layer):" in after["tool.py"]
    assert "with tf.compat.v1.Session() as session:" in after["tool.py"]
    said = [diagnostic.message for outcome in run(files).values() for diagnostic in outcome.remaining]
    assert any(
        message.startswith("`average` opens a session, and needs tf.compat.v1.disable_eager") for message in said
    )


OLD = """

def old_model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features["x"], 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer().minimize(loss))
"""


def test_a_model_fn_that_no_estimator_gets() -> None:
    text = migrate(model_fn(BODY, before=f"import tensorflow as tf\n{OLD}"))
    assert (
        "    return EstimatorSpec(mode, loss=loss, train_op=tf.compat.v1.train.AdamOptimizer().minimize(loss))" in text
    )
    assert "tf.keras.layers.Dense(1)" in text and text.count("(tf.keras.Model)") == 1


NETWORK = """

class Network:
    def __call__(self, x):
        return tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize("name", ["main", "train"])
def test_what_makes_an_estimator_is_in_use(name: str) -> None:
    """Nothing names `main`, which ``tf.app.run()`` calls, nor `train`, which a file elsewhere may call."""
    use = f"def {name}(_):\n    estimator = tf.estimator.Estimator(model_fn, params={{}})\n    print([Network])\n"
    source = model_fn(BODY, before=f"import tensorflow as tf\n{NETWORK}", after=use)
    assert "tf.layers.dense is in code that does not move" in manual_reason(source)


def test_a_receiver_that_nothing_calls_leaves_a_program_plain() -> None:
    receiver = "\n\ndef serve():\n    x = {'x': tf.placeholder(tf.float32)}\n"
    receiver += "    return tf.estimator.export.ServingInputReceiver(x, x)\n"
    use = "\n\nestimator = tf.estimator.Estimator(model_fn, 'm')\nestimator.train(lambda: read(), steps=3)\n"
    read = (
        "\n\ndef read():\n    return tf.data.Dataset.from_tensor_slices(({'x': [[1.0]]}, [[1.0]])).repeat().batch(1)\n"
    )
    program = model_fn(BODY, before="import tensorflow as tf\n" + receiver + read).rpartition("\nestimator =")[0] + use
    files = run({"program.py": program})
    text = files["program.py"].after.decode()
    assert not any(path.startswith("tf2_") for path in files) and "model.fit(" in text
    assert "return tf.compat.v1.estimator.export.ServingInputReceiver(x, x)" in text
    said = [*files["program.py"].applied, *files["program.py"].remaining]
    assert any("`serve` keeps tf.estimator.export.ServingInputReceiver" in d.message for d in said)
