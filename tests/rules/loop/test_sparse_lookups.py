"""Weights that are looked up by sparse ids give the variable that Keras 3 has inside; where that is not seen, it is told."""

from __future__ import annotations

import pytest
from modelfn.programs import run
from test_loop import MODEL

TABLE = 'tf.get_variable("t", [4, 3])'
SPARSE = 'tf.nn.{}embedding_lookup_sparse({}, features["x"], None)'
SAID = "embedding_lookup_sparse takes no weights of Keras 3"
POOLED = """
def pooled(table, ids):
    return tf.nn.embedding_lookup_sparse(table, ids, None)


"""


def _migrated(layer: str, config: str = "", before: str = "") -> tuple[str, int]:
    model = MODEL.replace("    predictions =", f"    net = {layer}\n    predictions =").replace(
        'dense(features["x"], params', "dense(net, params"
    )
    model = model.replace("def model_fn(", f"{before.lstrip()}def model_fn(", 1)
    made = f'estimator = tf.estimator.Estimator(model_fn, "here", params={{"units": 1}}{config})\n'
    files = run(f"{model}{made}estimator.train(make_input_fn(8, 1))\n")
    messages = [d.message for d in (*files["program.py"].applied, *files["program.py"].remaining)]
    after = files["program.py"].after.decode()
    assert (".fit(" in after) is not bool(config)
    return after, sum(SAID in message for message in messages)


@pytest.mark.parametrize(
    "config", ["", ", config=tf.estimator.RunConfig(train_distribute=load())"], ids=["fit", "helpers"]
)
@pytest.mark.parametrize("safe", ["", "safe_"])
def test_a_weight_gives_the_variable_of_tensorflow(config: str, safe: str) -> None:
    after, told = _migrated(SPARSE.format(safe, TABLE), config)
    assert f'tf.nn.{safe}embedding_lookup_sparse(tensorflow_variable(self.t), features["x"], None)' in after
    assert not told


def test_a_name_for_a_weight_is_followed_and_a_keyword() -> None:
    lookup = 'tf.nn.embedding_lookup_sparse(sp_weights=None, sp_ids=features["x"], params=table)'
    after, told = _migrated(f"0.0\n    table = {TABLE}\n    net = {lookup}")
    assert lookup.replace("=table", "=tensorflow_variable(self.t)") in after
    assert not told


def test_what_is_computed_of_a_weight_is_a_tensor() -> None:
    after, _ = _migrated(SPARSE.format("", f"tf.nn.l2_normalize({TABLE}, 1)"))
    assert "tf.nn.embedding_lookup_sparse(tf.nn.l2_normalize(self.t, 1)" in after
    assert "tensorflow_variable" not in after


def test_a_lookup_in_a_function_that_is_handed_the_weight_is_told() -> None:
    after, told = _migrated(f'pooled({TABLE}, features["x"])', before=POOLED)
    assert 'pooled(self.t, features["x"])' in after
    assert told == 1


def test_no_lookup_is_told_of() -> None:
    after, told = _migrated('tf.layers.dense(features["x"], 3)')
    assert "tensorflow_variable" not in after
    assert not told
