"""That Keras 3 has no weights for sparse lookups is told, whatever trains the program."""

from __future__ import annotations

import pytest
from modelfn.programs import run
from test_loop import MODEL

LOOKUP = 'tf.nn.embedding_lookup_sparse(tf.get_variable("t", [4, 3]), features["x"], None)'
SAID = "embedding_lookup_sparse takes no weights of Keras 3"


@pytest.mark.parametrize(
    "config", ["", ", config=tf.estimator.RunConfig(train_distribute=load())"], ids=["fit", "helpers"]
)
@pytest.mark.parametrize(("layer", "told"), [(LOOKUP, 1), ('tf.layers.dense(features["x"], 3)', 0)])
def test_it_is_told_once(config: str, layer: str, told: int) -> None:
    model = MODEL.replace("    predictions =", f"    net = {layer}\n    predictions =").replace(
        'dense(features["x"], params', "dense(net, params"
    )
    made = f'estimator = tf.estimator.Estimator(model_fn, "here", params={{"units": 1}}{config})\n'
    files = run(f"{model}{made}estimator.train(make_input_fn(8, 1))\n")
    messages = [d.message for d in (*files["program.py"].applied, *files["program.py"].remaining)]
    assert (".fit(" in files["program.py"].after.decode()) is not bool(config)
    assert sum(SAID in message for message in messages) == told
