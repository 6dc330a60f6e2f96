"""Networks that classes of other files build: the Keras class stands where the class of the owner stood."""

from __future__ import annotations

from modelfn.programs import TRAIN_OP, migrate_all

NET = """
import tensorflow as tf

WIDTH = 4


class Net(object):
    \"\"\"A small network.\"\"\"

    def __init__(self, units, scale):
        self.units = units
        self.scale = scale

    def inference(self, x):
        self.logits = tf.layers.dense(tf.layers.dense(x, self.units), 1)
        return self.logits

    def loss(self, labels):
        return self.scale * tf.reduce_mean(tf.square(labels - self.logits))
"""
BODY = f"""
def model_fn(features, labels, mode, params):
    net = Net(params["units"], {{scale}})
    predictions = net.inference(features["x"])
    loss = net.loss(labels)
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
MAIN = (
    """
import tensorflow as tf

from net import Net

{before}
%s

estimator = tf.estimator.Estimator(model_fn, params={{"units": 3}})
estimator.train(lambda: tf.data.Dataset.from_tensors(({{"x": [[1.0]]}}, [[1.0]])), steps=1)
"""
    % BODY
)


def test_the_class_is_changed_in_place() -> None:
    after = migrate_all({"net.py": NET, "main.py": MAIN.format(before="", scale=2.0)})
    head, _, rest = after["net.py"].partition("class Net(tf.keras.Model):")
    assert "WIDTH = 4" in head and '"""A small network."""' in rest and "def create_model(params):" in rest
    assert "class " not in after["main.py"] and "create_model(" in after["main.py"]
    assert "from net import create_model\n" in after["main.py"]


def test_a_file_that_is_imported_as_a_whole() -> None:
    main = MAIN.format(before="", scale=2.0).replace("from net import Net", "import net as nets")
    after = migrate_all({"net.py": NET, "main.py": main.replace("net = Net(", "net = nets.Net(")})
    assert "class Net(tf.keras.Model):" in after["net.py"]
    assert "nets.create_model(" in after["main.py"]


def test_imports_go_along() -> None:
    main = MAIN.format(before="import math\n", scale="math.sqrt(2)")
    after = migrate_all({"net.py": NET, "main.py": main})
    assert "import math\n" in after["net.py"] and "math.sqrt(2)" in after["net.py"]


def test_what_reads_its_own_file_stays() -> None:
    after = migrate_all({"net.py": NET, "main.py": MAIN.format(before="SCALE = 2.0\n", scale="SCALE")})
    assert "class Model(tf.keras.Model):" in after["main.py"].replace("class Net(", "class Model(")
    assert "class" not in after["net.py"]


def test_a_class_with_other_uses_stays_as_well() -> None:
    net = NET + "\n\nCHECKED = Net(1, 1.0).units\n"
    after = migrate_all({"net.py": net, "main.py": MAIN.format(before="", scale=2.0)})
    assert "class Net(object):" in after["net.py"] and "(tf.keras.Model)" in after["main.py"]


def test_a_model_fn_that_others_import_stays() -> None:
    other = "import main\n\nprint(main.model_fn.__name__)\n"
    outcomes = migrate_all(
        {"net.py": NET, "main.py": MAIN.format(before="", scale=2.0), "zoo.py": "import main\nmodel_fn = 1\n"}
    )
    assert "(tf.keras.Model)" in outcomes["main.py"] and other


CALLED = """
import tensorflow as tf


class Tower(object):
    def __init__(self, units, rate):
        self.rate = rate
        self.units = units

    def __call__(self, x, training):
        x = tf.layers.dropout(x, self.rate, training=training)
        return tf.layers.dense(x, self.units)
"""


def test_a_network_that_is_called_is_a_layer_of_its_file() -> None:
    main = f"""
import tensorflow as tf

from tower import Tower

WIDTH = 3


def model_fn(features, labels, mode, params):
    tower = Tower(WIDTH, rate=0.5)
    predictions = tower(features["x"], mode == tf.estimator.ModeKeys.TRAIN)
    loss = tf.reduce_mean(tf.square(labels - predictions))
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
"""
    after = migrate_all({"tower.py": CALLED, "main.py": main})
    assert "class Tower(tf.keras.layers.Layer):\n    def __init__(self, rate, units):" in after["tower.py"]
    assert "self.tower = Tower(rate=0.5, units=WIDTH)" in after["main.py"]
