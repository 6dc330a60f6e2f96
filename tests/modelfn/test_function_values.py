"""Functions that make layers and are handed around: they become classes, and so does what stands for them."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

BLOCKS = """
def plain(inputs, units, training):
    return tf.layers.dense(inputs, units)


def normal(inputs, units, training):
    net = tf.layers.batch_normalization(inputs, training=training)
    return tf.layers.dense(net, units)
"""
TOWER = """

def tower(inputs, block_fn, training):
    net = block_fn(inputs, 4, training)
    for _ in range(2):
        net = block_fn(net, 3, training)
    return net
"""
TRAINING = "training = mode == tf.estimator.ModeKeys.TRAIN\n"


def test_one_of_two_functions() -> None:
    choice = "if params['normal']:\n    block = normal\nelse:\n    block = plain\n"
    body = f"{TRAINING}{choice}predictions = tower(features['x'], block, training)"
    text = migrate(model_fn(body, before=BLOCKS + TOWER))
    assert method(text, "__init__", "Tower") == (
        "def __init__(self, block_fn):\n    super().__init__()\n    self.block = block_fn(4)\n"
        "    self.blocks = [block_fn(3) for _ in range(2)]\n"
        "    # Else Keras 3 leaves them out of checkpoints, as they are in lists.\n"
        "    self.listed_layers = tf.train.Checkpoint(blocks=list(self.blocks))\n"
    )
    assert method(text, "call", "Tower") == (
        "def call(self, inputs, training=False):\n    net = self.block(inputs, training=training)\n"
        "    for block in self.blocks:\n        net = block(net, training=training)\n    return net\n"
    )
    made = method(text, "__init__", "Model")
    assert "        block = Normal\n    else:\n        block = Plain\n" in made and "Tower(block)" in made
    assert "block" not in method(text, "call", "Model")


def test_calls_that_give_different_functions() -> None:
    body = f"{TRAINING}net = tower(features['x'], plain, training)\npredictions = tower(net, normal, training)"
    made = method(migrate(model_fn(body, before=BLOCKS + TOWER)), "__init__", "Model")
    assert "self.tower_1 = Tower(Plain)" in made and "self.tower_2 = Tower(Normal)" in made


def test_calls_that_give_the_same_function() -> None:
    more = "\n\ndef first(x, training):\n    return tower(x, plain, training)\n"
    body = f"{TRAINING}net = first(features['x'], training)\npredictions = tower(net, plain, training)"
    text = migrate(model_fn(body, before=DENSE + TOWER + more))
    assert method(text, "__init__", "Model").count("Tower(Plain)") == 1 and text.count("Tower(Plain)") == 2


def test_calls_that_fill_in_the_same_function() -> None:
    before = """
    import functools

    import tensorflow as tf


    def dense(x, units):
        return tf.layers.dense(x, units)


    def twice(x, layer):
        return layer(layer(x))


    def network(x, units):
        return twice(x, functools.partial(dense, units=units))
    """
    body = "net = network(features['x'], 3)\npredictions = twice(net, functools.partial(dense, units=4))"
    text = migrate(model_fn(body, before=before))
    assert "Twice(functools.partial(Dense, units=units))" in text and "Twice(functools.partial(Dense, units=4))" in text


def test_one_function_keeps_the_names_of_its_variables() -> None:
    text = migrate(
        model_fn(
            TRAINING + "predictions = tower(features['x'], plain, training)", before=BLOCKS.split("\n\n\n")[0] + TOWER
        )
    )
    assert "self.tower = Tower(Plain)" in text


def test_a_function_of_a_partial_model_fn() -> None:
    before = BLOCKS.split("\n\n\n")[0].replace(", training)", ")")
    source = model_fn("predictions = network(features['x'], params['units'])", before=before, after="")
    source = source.replace("mode, params)", "mode, params, network)").replace(
        "import tens", "import functools\nimport tens"
    )
    use = "estimator = tf.estimator.Estimator(functools.partial(model_fn, network=plain), params=PARAMS)\n"
    text = migrate(source + "\n" + use)
    assert "self.network_layer = network(params['units'])" in method(text, "__init__", "Model")
    assert "estimator = create_model(network=Plain, params=PARAMS)" in text


def test_a_function_that_a_builder_gets() -> None:
    before = BLOCKS.split("\n\n\n")[0].replace(", training)", ")")
    source = model_fn("predictions = network_fn(features['x'], params['units'])", before="", after="")
    head, _, function = source.partition("def model_fn")
    inner = "\n".join("    " + line if line else line for line in ("def model_fn" + function).splitlines())
    builder = f"{head}{before}\n\ndef make(network_fn):\n{inner}\n\n    return model_fn\n"
    text = migrate(builder + "\n\nestimator = tf.estimator.Estimator(make(plain), params=PARAMS)\n")
    assert "self.network = network_fn(params['units'])" in text and "make(Plain)(params=PARAMS)" in text


def test_an_entry_of_a_table() -> None:
    table = "\nNETWORKS = {'plain': plain, 'normal': normal}\n"
    body = f"{TRAINING}network = NETWORKS[params['name']]\npredictions = network(features['x'], 1, training)"
    text = migrate(model_fn(body, before=BLOCKS + table))
    assert "NETWORKS = {'plain': Plain, 'normal': Normal}\n" in text
    made = method(text, "__init__", "Model")
    assert "    network = NETWORKS[params['name']]\n    self.network_layer = network(1)\n" in made


def test_a_closure_is_filled_in() -> None:
    before = """
    def block(inputs, shortcut_fn, units):
        net = inputs
        if shortcut_fn is not None:
            net = shortcut_fn(inputs)
        return net + tf.layers.dense(inputs, units)


    def stack(inputs, units, blocks):
        width = units * 2

        def shortcut(inputs):
            return tf.layers.dense(inputs, width, use_bias=False)

        net = block(inputs, shortcut, width)
        for _ in range(1, blocks):
            net = block(net, None, width)
        return net
    """
    text = joined(migrate(model_fn("predictions = stack(features['x'], 3, 2)", before=before)))
    assert "class Shortcut(tf.keras.layers.Layer):\n    def __init__(self, width):\n" in text
    assert "self.block = Block(functools.partial(Shortcut, width=width), width)\n" in text
    assert "[Block(None, width) for _ in range(1, blocks)]" in text
    assert "        if shortcut_fn is not None:\n            self.shortcut = shortcut_fn()\n" in text
    assert "        if self.shortcut_fn is not None:\n            net = self.shortcut(inputs)\n" in text


SIZES = """

def network(inputs, size, training):
    sizes = {18: {"block": plain, "units": [2, 2]}, 50: {"block": normal, "units": [2, 1]}}
    if size not in sizes:
        raise ValueError("no such size")
    params = sizes[size]
    net = inputs
    for units in params["units"]:
        net = params["block"](net, 2 * units if params["block"] is normal else units, training)
    return net
"""


def test_an_entry_of_one_of_several_tables() -> None:
    body = f"{TRAINING}predictions = network(features['x'], params['size'], training)"
    text = migrate(model_fn(body, before=BLOCKS + SIZES))
    made = method(text, "__init__", "Network")
    assert '{"block": Plain, "units": [2, 2]}' in made and 'for units in params["units"]' in made
    assert '2 * units if params["block"] is Normal else units' in made


def test_a_table_of_which_more_is_read_is_left() -> None:
    body = f"{TRAINING}predictions = network(features['x'], params['size'], training)"
    before = BLOCKS + SIZES.replace("    net = inputs\n", "    print(sizes[18])\n    net = inputs\n")
    assert "used for more than a call" in manual_reason(model_fn(body, before=before))


def test_a_function_is_compared_with_another_one() -> None:
    compared = TOWER.replace(
        "    net = block_fn(inputs, 4", "    size = 4 if block_fn is plain else 2\n    net = block_fn(inputs, size"
    )
    body = f"{TRAINING}net = tower(features['x'], plain, training)\npredictions = tower(net, normal, training)"
    made = method(migrate(model_fn(body, before=BLOCKS + compared)), "__init__", "Tower")
    assert "size = 4 if block_fn is Plain else 2" in made


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ("def keep(_):\n    return True\n", ""),
        ("def some(name):\n    return 'bias' not in name\nkeep = some or None\n", " if 'bias' not in v.name"),
        ("def every(name):\n    return True\ndef keep(name):\n    return 'w' in name\nkeep = None or every\n", None),
    ],
)
def test_functions_that_choose_variables(filters: str, kept: str | None) -> None:
    end = """
    {}
    decay = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if keep(v.name)])
    loss = tf.reduce_mean(tf.square(labels - predictions)) + decay
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
    """
    if kept is None:
        filters = filters.replace("keep(name)", "some(name)")
        kept = ""
    end = end.format(filters.replace("\n", "\n    "))
    text = migrate(model_fn("predictions = tf.layers.dense(features['x'], 1)", end=end))
    assert f"for v in self.trainable_variables{kept}])" in text and "keep(" not in text


DENSE = BLOCKS.split("\n\n\n")[0]


@pytest.mark.parametrize(
    ("body", "before", "reason"),
    [
        ("predictions = tower(features['x'], plain, training)", f"{DENSE}{TOWER}    print(block_fn)\n", "more than"),
        ("predictions = tower(features['x'], plain, training)", DENSE + TOWER.replace("net\n", "net * len([block_fn])\n", 1)
         .replace("return net", "return net * len([block_fn])"), "used for more than a call"),
        ("predictions = first(features['x'], training) + tower(features['x'], normal, training)",
         BLOCKS + TOWER + "\n\ndef first(x, training):\n    return tower(x, plain, training)\n",
         "another function in each call"),
        ("block = plain if params['a'] else tf.nn.relu\npredictions = block(features['x'], 1, training)", DENSE,
         "only some of the functions"),
        ("block = plain if params['a'] else other\npredictions = block(features['x'], 1, training)",
         DENSE + "\n\ndef other(inputs, units, training):\n    return tf.layers.dense(inputs, 3) + units * inputs\n",
         ""),
        ("block = plain if params['a'] else shared\npredictions = block(features['x'], 1, training)",
         DENSE + "\n\ndef shared(inputs, units, training):\n    with tf.variable_scope('a', reuse=tf.AUTO_REUSE):\n"
         "        return tf.layers.dense(inputs, units, name='d')\n", "shares its variables"),
    ],
)  # fmt: skip
def test_left_alone(body: str, before: str, reason: str) -> None:
    if reason:
        assert reason in manual_reason(model_fn(TRAINING + body, before=before))
    else:
        migrate(model_fn(TRAINING + body, before=before))


TABLE = """

def pairs(x, units):
    return tf.reduce_sum(tf.tile(x[:, :1], [1, 3]) * units, axis=1, keepdims=True)


def deep(x, units):
    return tf.layers.dense(x, units)


TOWERS = {"pairs": pairs, "deep": deep}
"""


def test_a_table_of_functions_of_which_some_make_no_layers() -> None:
    body = 'predictions = tf.layers.dense(TOWERS[params["name"]](features["x"], 4), 1)'
    text = migrate(model_fn(body, before="import tensorflow as tf\n" + TABLE))
    assert 'TOWERS = {"pairs": Pairs, "deep": Deep}' in text and 'self.tower_layer = TOWERS[params["name"]](4)' in text
    assert "class Pairs(tf.keras.layers.Layer):" in text and 'self.tower_layer(features["x"])' in text
    called = TABLE + "\nNUMBER = pairs(tf.ones([1, 3]), 2)\n"
    assert "only some" in manual_reason(model_fn(body, before="import tensorflow as tf\n" + called))


def test_a_closure_over_a_name_with_two_values() -> None:
    before = """
    def block(inputs, shortcut_fn):
        return shortcut_fn(inputs)


    def stack(inputs, units):
        if units > 3:
            units = 3

        def shortcut(inputs):
            return tf.layers.dense(inputs, units)

        return block(inputs, shortcut)
    """
    assert manual_reason(model_fn("predictions = stack(features['x'], 3)", before=before))
