"""Programs that look easy and would train differently: they are left alone, with the reason."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, model_fn

TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
DENSE = 'predictions = tf.layers.dense(features["x"], 3)'
LEFT = {
    "a while loop of layers": (
        """
        x = features["x"]
        for u in params["units"]:
            while True:
                x = tf.layers.dense(x, u)
                break
        predictions = x
        """,
        END,
        "while loop",
    ),
    "turns of a loop that share": (
        """
        x = features["x"]
        for u in params["units"]:
            x = tf.layers.dense(x, u, name="shared", reuse=tf.AUTO_REUSE)  # HERE
        predictions = x
        """,
        END,
        "`shared` are shared by all turns",
    ),
    "minimize before the loss is complete": (
        DENSE,
        f"{LOSS}\n{TRAIN_OP.replace('minimize(loss,', 'minimize(loss,')}  # HERE\nloss = loss + 1.0\n{SPEC}",
        "gets another value after its gradients are taken",
    ),
    "a rate of dropout per mode, dropout always on": (
        f"""
        rate = 0.0
        if {TRAINING}:
            rate = 0.5
        x = tf.layers.dropout(features["x"], rate, training=True)  # HERE
        predictions = tf.layers.dense(x, 1)
        """,
        END,
        "depends on the mode",
    ),
    "predictions collected before a name changes": (
        """
        net = tf.layers.dense(features["x"], 3)
        predictions = {"raw": net}
        net = tf.layers.dense(net, 4)
        """,
        f"loss = tf.reduce_mean(tf.square(labels - net))\n{TRAIN_OP}\n{SPEC}",
        "gets another value",
    ),
    "heads of a loop in the loss": (
        """
        loss = 0.0
        predictions = {}
        for k in params["heads"]:
            logits = tf.layers.dense(features["x"], 1, name=k)
            loss += tf.reduce_mean(tf.square(labels[k] - logits))  # HERE
            predictions[k] = logits
        """,
        f"{TRAIN_OP}\n{SPEC}",
        "another value in each turn",
    ),
    "labels that lose a column": (
        'weight = labels.pop("w")\npredictions = tf.layers.dense(features["x"], 1)',
        f"loss = tf.reduce_mean(tf.square(labels['y'] - predictions) * weight)\n{TRAIN_OP}\n{SPEC}",
        "is changed",
    ),
    "an iterator that is read once": (
        """
        sizes = map(int, params["units"])  # HERE
        x = features["x"]
        for u in sizes:
            x = tf.layers.dense(x, u) * u
        for u in sizes:
            x = x * u
        predictions = x
        """,
        END,
        "read once",
    ),
    "an assignment as a control dependency": (
        DENSE,
        f"""
        counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
        with tf.control_dependencies([tf.assign_add(counter, 1.0)]):
            loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.identity(counter)
        {TRAIN_OP}
        {SPEC}
        """,
        "control dependenc",
    ),
    "a train op that does more": (
        DENSE,
        f"""
        {LOSS}
        counter = tf.get_variable("counter", [], initializer=tf.zeros_initializer())
        minimize = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        train_op = tf.group(minimize, tf.assign_add(counter, 1.0))
        {SPEC}
        """,
        "does more than to minimize",
    ),
    "collections of losses": (
        DENSE,
        f"loss = tf.losses.get_total_loss()  # HERE\n{TRAIN_OP}\n{SPEC}",
        "no loss is collected",
    ),
    "all variables": (
        DENSE,
        f"""
        loss = tf.add_n([tf.nn.l2_loss(v) for v in tf.global_variables()])  # HERE
        loss += tf.reduce_mean(tf.square(labels - predictions))
        {TRAIN_OP}
        {SPEC}
        """,
        "global_variables",
    ),
    "a variable that begins with data": (
        "w = tf.Variable(features['x'])  # HERE\npredictions = features['x'] * w",
        END,
        "known only when data flows",
    ),
    "a name that is left over from a loop": (
        """
        x = features["x"]
        for u in params["units"]:
            x = tf.layers.dense(x, u)
        predictions = tf.layers.dense(x, u)  # HERE
        """,
        END,
        "read after its loop",
    ),
}


@pytest.mark.parametrize("name", sorted(LEFT))
def test_left_alone(name: str) -> None:
    body, end, reason = LEFT[name]
    assert reason in manual_reason(model_fn(body, end=end))


@pytest.mark.parametrize("name", ["exec", "eval", "locals", "globals", "vars"])
def test_code_that_looks_at_names(name: str) -> None:
    argument = "'features'" if name in ("exec", "eval") else ""
    body = f"{name}({argument})  # HERE\n{DENSE}"
    assert name in manual_reason(model_fn(body))


def test_decorators_are_not_lost() -> None:
    source = model_fn(DENSE).replace("def model_fn", "@traced\ndef model_fn")
    assert "decorated model_fn" in manual_reason(source)


@pytest.mark.parametrize("name", ["x", "y", "y_pred", "training"])
def test_names_from_outside_that_the_methods_need(name: str) -> None:
    end = f"loss = tf.reduce_mean(tf.square(labels - predictions)) * {name}\n{TRAIN_OP}\n{SPEC}"
    assert f"`{name}` from outside" in manual_reason(model_fn(DENSE, end=end, before=f"{name} = 2.0"))


@pytest.mark.parametrize("name", ["config", "model"])
def test_names_from_outside_that_the_factory_needs(name: str) -> None:
    end = f"{LOSS}\n{TRAIN_OP.replace('0.1', f'{name}.rate')}\n{SPEC}"
    assert f"`{name}`" in manual_reason(model_fn(DENSE, end=end, before=f"import {name}"))
