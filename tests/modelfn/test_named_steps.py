"""Steps of several optimizers in a list."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

BODY = """
with tf.variable_scope("wide"):
    wide = tf.layers.dense(features["x"], 1, name="out")
with tf.variable_scope("deep"):
    deep = tf.layers.dense(features["x"], 1, name="out_2")
predictions = wide + deep
"""
END = """
loss = tf.reduce_mean(tf.square(labels - predictions))
{steps}
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
WIDE = 'tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("wide"))'
DEEP = 'tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("deep"))'
COUNTED = "train_op = tf.assign_add(tf.train.get_global_step(), 1)"


@pytest.mark.parametrize(
    "steps",
    [
        f"ops = [{WIDE}, {DEEP}]\nwith tf.control_dependencies([tf.group(*ops)]):\n    {COUNTED}",
        f"with tf.control_dependencies([{WIDE}, {DEEP}]):\n    {COUNTED}",
        f"with tf.control_dependencies((tf.group({WIDE}, {DEEP}),)):\n    {COUNTED}",
        f"ops = [{WIDE}, {DEEP}]\nwith tf.control_dependencies(ops):\n    {COUNTED}",
        f"ops = [{WIDE}]\nops += [{DEEP}]\nwith tf.control_dependencies(ops):\n    {COUNTED}",
        f"update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)\nops = [{WIDE}, {DEEP}]\n"
        f"with tf.control_dependencies(update_ops + ops):\n    {COUNTED}",
        f"ops = []\nops.append({WIDE})\nops.append({DEEP})\nwith tf.control_dependencies(ops):\n    {COUNTED}",
    ],
    ids=["list", "dependencies", "group", "list of dependencies", "added", "beside updates", "append"],
)
def test_both_take_their_steps(steps: str) -> None:
    text = migrate(model_fn(BODY, end=END.format(steps=steps)))
    step = method(text, "train_step")
    assert step.count("apply_gradients") == 2
    assert "self.out.trainable_variables" in step and "self.out_2.trainable_variables" in step


def test_a_step_below_another_dependency_stays() -> None:
    first = "tf.control_dependencies([tf.assign_add(tf.train.get_global_step(), 1)])"
    steps = f"with {first}, tf.control_dependencies([{WIDE}]):\n    train_op = {DEEP}"
    assert manual_reason(model_fn(BODY, end=END.format(steps=steps)))


def test_steps_of_a_helper_that_may_clip() -> None:
    steps = f"""
def _train(optimizer, scope, clip=None):
    gradients = optimizer.compute_gradients(loss, tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope))
    if clip:
        gradients = [(tf.clip_by_norm(g, clip), v) for g, v in gradients]
    return optimizer.apply_gradients(gradients)

with tf.control_dependencies([_train(tf.train.FtrlOptimizer(0.1), "wide"), _train(tf.train.AdamOptimizer(0.1), "deep", 0.5)]):
    {COUNTED}
"""
    step = method(migrate(model_fn(BODY, end=END.format(steps=steps))), "train_step")
    assert "if " not in step and step.count("clip_by_norm") == 1 and step.count("apply_gradients") == 2
