"""Gradients that are only clipped become an argument of the optimizer; a `train_step` is for all else."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, joined, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
DENSE = 'predictions = tf.layers.dense(features["x"], 1)'
SGD = "optimizer = tf.train.GradientDescentOptimizer(0.1)"
APPLY = f"train_op = optimizer.apply_gradients(zip(grads, tvars), {STEP})"
PAIRS = f"train_op = optimizer.apply_gradients(pairs, {STEP})"
UNZIPPED = "grads, tvars = zip(*optimizer.compute_gradients(loss))"
LISTED = "tvars = tf.trainable_variables()\ngrads = tf.gradients(loss, tvars)"


def program(train: str, optimizer: str = SGD, before: str = "") -> str:
    """What becomes of a model_fn that trains with the statements `train`."""
    return migrate(model_fn(DENSE, end=f"{LOSS}\n{optimizer}\n{train}\n{SPEC}", before=before))


@pytest.mark.parametrize(
    ("train", "argument"),
    [
        (f"{UNZIPPED}\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}", "global_clipnorm=5.0"),
        (
            f"{UNZIPPED}\ngrads = tf.clip_by_global_norm(grads, clip_norm=params['c'])[0]\n{APPLY}",
            "global_clipnorm=params['c']",
        ),
        (f"{LISTED}\ngrads, norm = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}", "global_clipnorm=5.0"),
        (f"limit = params['c'] * 2\n{LISTED}\ngrads = [tf.clip_by_norm(g, limit) for g in grads]\n{APPLY}", ""),
        (f"{LISTED}\ngrads = [tf.clip_by_norm(g, 2.0) for g in grads]\n{APPLY}", "clipnorm=2.0"),
        (
            f"{LISTED}\ngrads = [None if g is None else tf.clip_by_value(g, -1.0, 1.0) for g in grads]\n{APPLY}",
            "clipvalue=1.0",
        ),
        (
            "pairs = [(tf.clip_by_value(g, -params['c'], params['c']), v)\n"
            f"    for g, v in optimizer.compute_gradients(loss) if g is not None]\n{PAIRS}",
            "clipvalue=params['c']",
        ),
        (
            f"with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n"
            f"    {UNZIPPED}\n    grads, _ = tf.clip_by_global_norm(grads, 5.0)\n    {APPLY}",
            "global_clipnorm=5.0",
        ),
    ],
)
def test_arguments(train: str, argument: str) -> None:
    text = program(train)
    if not argument:  # the limit is known after the optimizer only
        argument = "clipnorm=limit"
        assert "def train_step" in text and argument not in text
        return
    assert "def train_step" not in text
    assert f"tf.keras.optimizers.SGD(0.1, {argument})" in joined(method(text, "create_model"))


def test_gradients_as_they_are() -> None:
    text = program(f"pairs = optimizer.compute_gradients(loss)\n{PAIRS}")
    assert "def train_step" not in text and "tf.keras.optimizers.SGD(0.1)" in text


def test_each_of_several_optimizers() -> None:
    chosen = "if params['adam']:\n    optimizer = tf.train.AdamOptimizer()\nelse:\n    " + SGD
    text = program(f"{UNZIPPED}\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}", chosen)
    assert "Adam(epsilon=1e-8, global_clipnorm=5.0)" in text and "SGD(0.1, global_clipnorm=5.0)" in text


def test_comments_stay() -> None:
    text = program(f"{UNZIPPED}\n# small steps\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}")
    assert "# small steps\n" in method(text, "create_model")


@pytest.mark.parametrize(
    "train",
    [
        f"{UNZIPPED}\ngrads, norm = tf.clip_by_global_norm(grads, 5.0)\ntf.summary.scalar('norm', norm)\n{APPLY}",
        f"{UNZIPPED}\nif params['c']:\n    grads, _ = tf.clip_by_global_norm(grads, params['c'])\n{APPLY}",
        f"{UNZIPPED}\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\ngrads = [g * 2.0 for g in grads]\n{APPLY}",
        f"{UNZIPPED}\ngrads, _ = tf.clip_by_global_norm(grads, 5.0, use_norm=2.0)\n{APPLY}",
        f"{LISTED}\ngrads = [tf.clip_by_value(g, 0.0, 1.0) for g in grads]\n{APPLY}",
        f"{LISTED}\ngrads = [tf.clip_by_norm(g, 1.0, axes=[0]) for g in grads]\n{APPLY}",
        f"{LISTED}\ngrads = [tf.clip_by_norm(g, 1.0) for g in grads]\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}",
        f"{LISTED}\ngrads, _ = tf.clip_by_global_norm(grads[:1], 5.0)\ntvars = tvars[:1]\n{APPLY}",
    ],
)
def test_more_than_clipping_is_a_train_step(train: str) -> None:
    text = program(train)
    assert "def train_step" in text and "clipnorm=" not in text and "clipvalue=" not in text


def test_replicas_clip_their_own_gradients() -> None:
    config = "config = tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())\n"
    train = f"{UNZIPPED}\ngrads, _ = tf.clip_by_global_norm(grads, 5.0)\n{APPLY}"
    end = f"{LOSS}\n{SGD}\n{train}\n{SPEC}"
    use = f"{config}estimator = tf.estimator.Estimator(model_fn, config=config, params=PARAMS)\n"
    text = migrate(model_fn(DENSE, end=end, after=use))
    assert "tf.clip_by_global_norm(grads, 5.0)" in method(text, "train_step")
