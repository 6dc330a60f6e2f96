"""model_fns that a decorator of the program makes of networks."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, migrate, migrate_all

HEAD = "import functools\n\nimport tensorflow as tf\n\n\n"
DECORATOR = """def estimator_model(network):
    def helper(features, labels, mode, params):
        predictions = network(features, labels, mode, params)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"value": predictions})
        loss = tf.reduce_mean(tf.square(labels - predictions))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return helper


"""
NETWORK = """@estimator_model
def deep(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], params["units"])
    predictions = tf.layers.dropout(predictions, 0.5, training=mode == tf.estimator.ModeKeys.TRAIN)
    return tf.layers.dense(predictions, 1)


"""
USE = "tf.estimator.Estimator(deep, params=PARAMS).train(input_fn, steps=3)\n"


def check(text: str) -> None:
    """The network stands in the model, and nothing is left of the decorator."""
    assert "class DeepModel(tf.keras.Model)" in text and "self.dropout = tf.keras.layers.Dropout(0.5)" in text
    assert "labels" not in text and "estimator_model" not in text and "deep_network" not in text
    assert "create_deep_model(params=PARAMS)" in text


def test_a_decorator() -> None:
    check(migrate(HEAD + DECORATOR + NETWORK + USE))


def test_its_function_may_be_called_as_what_it_decorates() -> None:
    check(
        migrate(
            HEAD + DECORATOR.replace("    def helper", "    @functools.wraps(network)\n    def helper") + NETWORK + USE
        )
    )


def test_networks_that_ask_for_less() -> None:
    decorator = DECORATOR.replace(
        "network(features, labels, mode, params)", "network(features, params=params, mode=mode)"
    )
    check(migrate(HEAD + decorator + NETWORK.replace("features, labels, mode", "features, mode") + USE))


def test_a_decorator_of_another_file() -> None:
    files = {
        "heads.py": HEAD.removeprefix("import functools\n\n") + DECORATOR,
        "nets.py": "import tensorflow as tf\n\nfrom heads import estimator_model\n\n\n" + NETWORK,
        "task.py": "import tensorflow as tf\n\nfrom nets import deep\n\n" + USE,
    }
    after = migrate_all(files)
    assert "class DeepModel(tf.keras.Model)" in after["nets.py"] and "estimator_model" not in after["nets.py"]
    assert "def " not in after["heads.py"]
    assert "from nets import create_deep_model\n" in after["task.py"]


def test_two_networks_of_one_table() -> None:
    wide = NETWORK.replace("deep", "wide").replace(
        "    predictions = tf.layers.dropout", "    # plain\n    x = tf.layers.dropout"
    )
    use = 'NETS = {"deep": deep, "wide": wide}\n\ntf.estimator.Estimator(NETS[NAME], params=PARAMS).train(input_fn, steps=3)\n'
    text = migrate(HEAD + DECORATOR + NETWORK + wide + use)
    assert "class DeepModel(" in text and "class WideModel(" in text and "estimator_model" not in text
    assert 'NETS = {"deep": create_deep_model, "wide": create_wide_model}\n' in text


def test_what_else_is_decorated_keeps_its_decorator() -> None:
    other = "@estimator_model\ndef plain(features, labels, mode, params):\n    return features\n\n\nprint(plain(1, 2, MODE, 4))\n"
    reason = manual_reason(HEAD + DECORATOR + NETWORK + other + USE)
    assert "tf.estimator.EstimatorSpec" in reason


WRAPPED = "    def helper(features, labels, mode, params):\n"
LEFT = [
    (DECORATOR.replace("    return helper", "    REGISTRY.append(helper)\n    return helper"), NETWORK),
    (DECORATOR.replace("    return helper", "    return functools.lru_cache(helper)"), NETWORK),
    (DECORATOR.replace(WRAPPED, f"    network = checked(network)\n\n{WRAPPED}"), NETWORK),
    (DECORATOR.replace(WRAPPED, f"    @timed\n{WRAPPED}"), NETWORK),
    (DECORATOR.replace(WRAPPED, f"{WRAPPED}        print(network.__name__)\n"), NETWORK),
    (DECORATOR.replace("mode, params):\n", "mode, params, *more):\n"), NETWORK),
    (DECORATOR.replace("mode, params):\n", "mode, params={}):\n"), NETWORK),
    (DECORATOR.replace("(network)", "(network, rate=0.1)"), NETWORK),
    (DECORATOR.replace(WRAPPED, f"{WRAPPED}        global CALLS\n        CALLS += 1\n"), NETWORK),
    (DECORATOR, NETWORK.replace("@estimator_model", "@estimator_model\n@timed")),
    (DECORATOR, NETWORK.replace("@estimator_model", "@imported.estimator_model")),
    (DECORATOR, NETWORK.replace("    return", "    print(deep)\n    return")),
]


@pytest.mark.parametrize(("decorator", "network"), LEFT)
def test_left_alone(decorator: str, network: str) -> None:
    assert "decorat" in manual_reason(HEAD + decorator + network + USE)


def test_a_decorator_that_is_made() -> None:
    inner = "".join(f"    {line}\n" if line else "\n" for line in DECORATOR.rstrip().split("\n"))
    factory = f"def factory(rate):\n{inner}\n    return estimator_model\n\n\n"
    assert "decorat" in manual_reason(HEAD + factory + NETWORK.replace("@estimator_model", "@factory(0.1)") + USE)
