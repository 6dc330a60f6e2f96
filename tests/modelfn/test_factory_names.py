"""Names of a model_fn that the generated functions have for something else."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, migrate, model_fn
from modelfn.symbolic import assert_same

RATE = "tf.train.GradientDescentOptimizer(config['rate'])"
STEP = "minimize(loss, global_step=tf.train.get_global_step())"
PARAMS = {"train": {"rate": 0.5, "steps": 5}, "units": 3, "u": 5}
BODY = 'predictions = tf.layers.dense(features["x"], params["u"])'


def factory(text: str) -> str:
    return text[text.index("def create_model(") :]


@pytest.mark.parametrize("name", ["config", "model", "model_dir"])
def test_a_name_that_the_factory_needs_gets_another_one(name: str) -> None:
    end = f"{LOSS}\n{name} = params['train']\noptimizer = {RATE.replace('config', name)}\ntrain_op = optimizer.{STEP}\n{SPEC}"
    text = assert_same(model_fn(BODY, end=end), **PARAMS)
    assert f"        own_{name} = params['train']\n" in factory(text)
    assert (
        f"SGD(own_{name}['rate'])" in factory(text) and "def create_model(params, config=None, model_dir=None)" in text
    )


def test_a_name_that_the_learning_rate_reads() -> None:
    end = f"""
        {LOSS}
        config = params['train']
        own_config = 2.0
        step = tf.train.get_global_step()
        rate = config['rate'] / (1.0 + tf.cast(step, tf.float32) / config['steps'])
        train_op = tf.train.GradientDescentOptimizer(rate * own_config).{STEP}
        {SPEC}
    """
    text = factory(migrate(model_fn(BODY, end=end)))
    assert "own_config_2 = params['train']" in text and "rate = own_config_2['rate'] / (" in text
    assert "config['rate']" not in text.replace("own_config_2['rate']", "")


def test_a_helper_of_the_optimizer_with_a_parameter_of_that_name() -> None:
    helper = """

        def minimized(loss, config):
            if config['steps'] > 3:
                rate = config['rate']
            else:
                rate = 0.1
            return tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
    """
    end = f"{LOSS}\ntrain_op = minimized(loss, params['train'])\n{SPEC}"
    text = assert_same(model_fn(BODY, end=end, before=helper), **PARAMS)
    assert "own_config = params['train']\n" in factory(text)


def test_a_layer_keeps_a_parameter_of_that_name() -> None:
    helper = """

        def network(x, config):
            x = tf.layers.dense(x, config["u"])
            return x * 2.0 if config["units"] else x
    """
    text = assert_same(model_fn('predictions = network(features["x"], params)', before=helper), **PARAMS)
    assert "self.config = config\n" in text and 'if self.config["units"]' in text
