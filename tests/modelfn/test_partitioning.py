"""Several partitioners in one model: each stands around what it splits, and one alone goes to the strategy."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, manual_reason, migrate, model_fn

PARTITIONERS = "tf.distribute.experimental.partitioners."
TWO = """
with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)):
    x = tf.layers.dense(features["x"], 4, name="one")
with tf.variable_scope("b", partitioner=tf.fixed_size_partitioner(params["shards"])):
    predictions = tf.layers.dense(x, 1, name="two")
"""
BY_SCOPE = "make_strategy(config, variable_partitioner=partition_by_scope)"


def migrated(body: str, before: str = "") -> str:
    return migrate(model_fn(body, before=before))


def lines(text: str) -> str:
    return textwrap.indent(textwrap.dedent(text).strip(), " " * 8)


def test_two_scopes() -> None:
    text = migrated(TWO)
    expected = f"""
    with partitioned(self, {PARTITIONERS}FixedShardsPartitioner(num_shards=2)):
        self.one = tf.keras.layers.Dense(4, name="one")
    with partitioned(
        self, {PARTITIONERS}FixedShardsPartitioner(num_shards=max(1, params["shards"]))
    ):
        self.two = tf.keras.layers.Dense(1, name="two")
    """
    assert lines(expected) in text
    assert BY_SCOPE in text
    assert "partitioned(" not in text[text.index("def call(") :]


def test_the_same_partitioner_twice_is_one() -> None:
    text = migrated(TWO.replace('params["shards"]', "2"))
    assert "make_strategy(config, variable_partitioner=partitioner)" in text
    assert "partitioned(" not in text


def test_a_name_for_one_of_them() -> None:
    body = 'big = tf.min_max_variable_partitioner(params["shards"])\n' + TWO.replace(
        'tf.fixed_size_partitioner(params["shards"])', "big"
    )
    text = migrated(body)
    assert "        big = tf.distribute" in text
    assert "with partitioned(self, big):" in text
    assert "self.big" not in text


def test_what_stands_outside_of_any_scope_stays_whole() -> None:
    text = migrated(TWO + 'predictions = tf.layers.dense(predictions, 1, name="three")')
    assert '\n        self.three = tf.keras.layers.Dense(1, name="three")' in text


def test_scopes_inside_each_other() -> None:
    body = """
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)):
        x = tf.layers.dense(features["x"], 4, name="one")
        with tf.variable_scope("b", partitioner=tf.fixed_size_partitioner(3)):
            x = tf.layers.dense(x, 4, name="two")
        with tf.variable_scope("c", partitioner=None):
            predictions = tf.layers.dense(x, 1, name="three")
    """
    expected = f"""
    with partitioned(self, {PARTITIONERS}FixedShardsPartitioner(num_shards=2)):
        self.one = tf.keras.layers.Dense(4, name="one")
        with partitioned(self, {PARTITIONERS}FixedShardsPartitioner(num_shards=3)):
            self.two = tf.keras.layers.Dense(4, name="two")
        self.three = tf.keras.layers.Dense(1, name="three")
    """
    assert lines(expected) in migrated(body)


def test_a_variable_with_a_partitioner_of_its_own() -> None:
    body = """
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [3, 1], partitioner=tf.fixed_size_partitioner(3))
        v = tf.get_variable("v", [3, 1])
    predictions = tf.matmul(features["x"], w) + tf.matmul(features["x"], v)
    """
    text = migrated(body)
    inner = text.index(f"            with partitioned(self, {PARTITIONERS}FixedShardsPartitioner(num_shards=3)):\n")
    assert f"{' ' * 16}self.a_w = self.add_weight(" in text[inner:]
    assert f"\n{' ' * 12}self.a_v = self.add_weight(" in text[inner:]


@pytest.mark.parametrize("inside", [True, False])
def test_loops(inside: bool) -> None:
    if inside:
        body = """
        x = features["x"]
        for i in range(3):
            with tf.variable_scope("deep%d" % i, partitioner=tf.fixed_size_partitioner(i + 1)):
                x = tf.layers.dense(x, 4)
        with tf.variable_scope("top", partitioner=tf.fixed_size_partitioner(2)):
            predictions = tf.layers.dense(x, 1)
        """
        expected = f"""
        for i in range(3):
            with partitioned(
                self, {PARTITIONERS}FixedShardsPartitioner(num_shards=max(1, i + 1))
            ):
                self.dense_layers.append(tf.keras.layers.Dense(4))
        """
    else:
        body = """
        x = features["x"]
        with tf.variable_scope("deep", partitioner=tf.fixed_size_partitioner(3)):
            for i in range(3):
                x = tf.layers.dense(x, 4)
        with tf.variable_scope("top", partitioner=tf.fixed_size_partitioner(2)):
            predictions = tf.layers.dense(x, 1)
        """
        expected = f"""
        with partitioned(self, {PARTITIONERS}FixedShardsPartitioner(num_shards=3)):
            self.dense_layers = [tf.keras.layers.Dense(4) for _ in range(3)]
        """
    assert lines(expected) in migrated(body)


def test_helpers_bring_theirs_along() -> None:
    before = """
    def tower(net, partitioner):
        with tf.variable_scope("tower", partitioner=partitioner):
            return tf.layers.dense(net, 4)
    """
    body = """
    x = tower(features["x"], tf.fixed_size_partitioner(2))
    predictions = tf.layers.dense(x, 1)
    """
    text = migrated(body, before)
    assert "def __init__(self, partitioner):" in text
    assert "with partitioned(self, partitioner):" in text
    assert BY_SCOPE in text
    assert f"Tower({PARTITIONERS}FixedShardsPartitioner(num_shards=2))" in text


def test_the_cluster_is_asked_where_it_is_known() -> None:
    source = model_fn(
        TWO.replace('params["shards"]', "config.num_ps_replicas"),
        after="estimator = tf.estimator.Estimator(model_fn, params={})",
    )
    text = migrate(source.replace("mode, params)", "mode, params, config)"))
    assert "TFConfigClusterResolver().cluster_spec().as_dict()" in joined(text)
    assert "Model()" in text


def test_several_in_one_statement_are_refused() -> None:
    body = """
    predictions = tf.matmul(  # HERE
        tf.matmul(features["x"], tf.get_variable("a", [3, 3], partitioner=tf.fixed_size_partitioner(2))),
        tf.get_variable("b", [3, 1], partitioner=tf.fixed_size_partitioner(3)))
    """
    assert "one statement makes variables with several partitioners" in manual_reason(model_fn(body))


def test_a_weight_of_unknown_size_is_refused() -> None:
    body = """
    with tf.variable_scope("a", partitioner=tf.fixed_size_partitioner(2)):
        w = tf.get_variable("w", [features["x"].shape[1], 4])
    with tf.variable_scope("b", partitioner=tf.fixed_size_partitioner(3)):
        predictions = tf.layers.dense(tf.matmul(features["x"], w), 1)
    """
    assert "of a size that data tell" in manual_reason(model_fn(body))
