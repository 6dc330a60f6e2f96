"""Programs with the private Keras, and with methods that layers of TensorFlow 2 do not have."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, manual_reason, migrate, migrate_all, model_fn, run, units

ESTIMATOR = """import tensorflow as tf
{imports}

model = models.Sequential([layers.Dense(4, input_shape=(3,)), layers.Dense(1)])
model.compile(optimizer=tf.train.AdamOptimizer(0.01), loss="mse")
estimator = tf.keras.estimator.model_to_estimator(model)
"""


def bridged(source: str) -> str:
    """The program with its model_fn kept."""
    outcomes = run(source, style="bridge")
    assert {unit.tier for unit in units(outcomes)} == {"bridge"}, units(outcomes)
    return outcomes[PATH].after.decode()


@pytest.mark.parametrize(
    "before, after",
    [
        ("from tensorflow.python.keras import models, layers", "from tensorflow.keras import models, layers"),
        (
            "from tensorflow.python.keras import models as m\nfrom tensorflow.python.keras import layers\nmodels = m",
            "from tensorflow.keras import models as m\nfrom tensorflow.keras import layers\nmodels = m",
        ),
        (
            "import tensorflow.python.keras.models as models\nimport tensorflow.python.keras.layers as layers",
            "import tensorflow.keras.models as models\nimport tensorflow.keras.layers as layers",
        ),
        (
            "from tensorflow.python import keras\nmodels, layers = keras.models, keras.layers",
            "from tensorflow import keras\nmodels, layers = keras.models, keras.layers",
        ),
        ("from tensorflow.contrib.keras import models, layers", "from tensorflow.keras import models, layers"),
        (
            "from tensorflow.contrib.keras.python.keras import models\nlayers = tf.contrib.keras.layers",
            "from tensorflow.keras import models\nlayers = tf.keras.layers",
        ),
    ],
)
def test_models_are_of_the_public_keras(before: str, after: str) -> None:
    text = migrate(ESTIMATOR.format(imports=before))
    assert set(after.split("\n")) <= set(text.split("\n")) and "python.keras" not in text and "contrib" not in text


@pytest.mark.parametrize(
    "before, after",
    [
        ("layers import Dense", "layers import Dense"),
        ("layers.core import Dense", "layers import Dense"),
        ("layers.core import Dense as D, Dropout", "layers import Dense as D, Dropout"),
        ("engine.training import Model", "models import Model"),
        ("engine.base_layer import Layer", "layers import Layer"),
        ("utils.np_utils import to_categorical", "utils import to_categorical"),
        ("optimizer_v2.adam import Adam", "optimizers import Adam"),
    ],
)
def test_public_names(before: str, after: str) -> None:
    imported = f"import tensorflow as tf\nfrom tensorflow.python.keras.{before}\n"
    text = migrate(model_fn("predictions = tf.layers.dense(features, 1)", before=imported))
    assert f"from tensorflow.keras.{after}\n" in text


def test_another_file() -> None:
    files = {
        "net.py": "import tensorflow as tf\nfrom tensorflow.python.keras.layers import Dense\n\n\ndef build(x):\n"
        "    return tf.nn.relu(Dense(3).apply(x))\n",
        "program.py": model_fn("predictions = net.build(features)", before="import tensorflow as tf\nimport net\n"),
    }
    after = migrate_all(files)
    text = after["net.py"] + after["program.py"]
    assert "python.keras" not in text and ".apply" not in text


def test_a_file_of_two_programs() -> None:
    net = "import tensorflow as tf\nfrom tensorflow.python.keras.layers import Dense\n\n\ndef build(x):\n"
    program = model_fn("predictions = net.build(features)", before="import tensorflow as tf\nimport net\n")
    files = {"net.py": f"{net}    return tf.nn.relu(Dense(3).apply(x))\n", "one.py": program, "two.py": program}
    for style in ("native", "bridge"):
        outcomes = run(files, style=style)
        assert {unit.tier for unit in units(outcomes)} == {style}
        text = outcomes["net.py"].after.decode()
        assert "from tensorflow.keras.layers import Dense\n" in text and ".apply" not in text


@pytest.mark.parametrize(
    "imported",
    [
        "from tensorflow.python.keras import layers\nfrom tensorflow.python.keras.engine import training\nmodels = training",
        "from tensorflow.python.keras import models, layers\nunknown = layers.Unknown",
    ],
)
def test_names_that_are_not_public_keep_the_program(imported: str) -> None:
    assert "is another Keras than tf.keras" in manual_reason(ESTIMATOR.format(imports=imported))


@pytest.mark.parametrize(
    "name", ["layers.recurrent_v2 import LSTM", "optimizers import Adagrad", "utils import tf_utils"]
)
def test_what_is_not_the_same_keeps_its_name(name: str) -> None:
    imported = f"import tensorflow as tf\nfrom tensorflow.python.keras.{name}\n"
    text = migrate(model_fn("predictions = tf.layers.dense(features, 1)", before=imported))
    assert f"from tensorflow.python.keras.{name}\n" in text


def test_files_without_programs_are_left_alone() -> None:
    files = {
        "other.py": "import tensorflow as tf\nfrom tensorflow.python.keras.layers import Dense\n\nlayer = Dense(3)\n",
        "program.py": model_fn("predictions = tf.layers.dense(features, 1)"),
    }
    assert migrate_all(files)["other.py"] == files["other.py"]


LAYERS = [
    "predictions = tf.keras.layers.Dense(1).apply(features)",
    "layer = tf.keras.layers.Dense(1)\npredictions = layer.apply(features)",
    "layer = tf.layers.Dense(1)\npredictions = layer.apply(features)",
    "predictions = Own(1).apply(features)",
]
OWN = "import tensorflow as tf\n\n\nclass Own(tf.keras.layers.Dense):\n    pass\n"


@pytest.mark.parametrize("body", LAYERS[:3])
def test_layers_are_called(body: str) -> None:
    text = migrate(model_fn(body))
    assert ".apply" not in text and "return self." in text


@pytest.mark.parametrize("body", LAYERS)
def test_layers_of_graphs_are_called(body: str) -> None:
    text = bridged(model_fn(body, before=OWN))
    assert "apply(" not in text and "(1)(features)" in text or "= layer(features)" in text


@pytest.mark.parametrize("receiver", ["ema", "dataset", "OTHER[0]"])
def test_other_objects_keep_the_method(receiver: str) -> None:
    body = f"{receiver}.apply(features)\npredictions = tf.layers.dense(features, 1)"
    names = "import tensorflow as tf\nfrom things import dataset, ema, OTHER\n"
    assert f"{receiver}.apply(features)" in bridged(model_fn(body, before=names))


def test_methods_that_are_gone_keep_the_program() -> None:
    body = "layer = tf.keras.layers.Dense(1)\npredictions = layer(features)\nlayer.get_updates_for(features)"
    (unit,) = units(run(model_fn(body, before=OWN), style="bridge"))
    assert unit.tier == "manual" and "layers of TensorFlow 2 have no `get_updates_for`" in unit.reason


def test_data_of_the_keras_of_contrib() -> None:
    before = (
        "(x, y), _ = tf.contrib.keras.datasets.mnist.load_data()\ny = tf.contrib.keras.utils.to_categorical(y, 10)\n"
    )
    text = migrate(
        model_fn(
            "predictions = tf.contrib.keras.layers.Dense(1)(features['x'])",
            before=f"import tensorflow as tf\n\n{before}",
        )
    )
    assert "(x, y), _ = tf.keras.datasets.mnist.load_data()\ny = tf.keras.utils.to_categorical(y, 10)\n" in text
    assert "tf.keras.layers.Dense(1)" in text and "contrib" not in text


def test_what_the_public_keras_does_not_have_is_told() -> None:
    source = model_fn(
        "predictions = tf.layers.dense(features['x'], 1)",
        before="import tensorflow as tf\n\nx = tf.contrib.keras.nowhere.load()\n",
    )
    assert "contrib.keras" in manual_reason(source)
