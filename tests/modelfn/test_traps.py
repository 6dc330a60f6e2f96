"""Programs that are easy to migrate to something that runs and is wrong: migrated exactly, or left alone with the reason."""

from __future__ import annotations

import pytest

from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
PARAMS = {"units": [3, 4, 5], "scale": 2.0, "big": True, "heads": ["a", "b"]}

SAME = {
    "a local called y": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"y = tf.one_hot(labels, 3)\nw = tf.gather(y, labels)\nloss = tf.reduce_mean(y * w)\n{TRAIN_OP}\n{SPEC}".replace(
            "reduce_mean(y * w)", "reduce_mean(y * w * predictions)"
        ),
    ),
    "a local called x": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f'x = tf.one_hot(labels, 3)\nloss = tf.reduce_mean(x * features["w"] * predictions)\n{TRAIN_OP}\n{SPEC}',
    ),
    "a local called y_pred": (
        'predictions = {"p": tf.layers.dense(features["x"], 3)}',
        f'y_pred = tf.one_hot(labels, 3)\nloss = tf.reduce_mean(y_pred * predictions["p"])\n{TRAIN_OP}\n{SPEC}',
    ),
    "names that a lambda or a comprehension binds": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"""
        shifted = (lambda predictions: predictions + 1.0)(labels)
        total = sum([params for params in range(3)])
        loss = tf.reduce_mean(tf.square(shifted - predictions)) * total
        {TRAIN_OP}
        {SPEC}
        """,
    ),
    "a metric under a name that is used again": (
        'predictions = tf.layers.dense(features["x"], 3)',
        f"""
        {LOSS}
        m = tf.metrics.mean(labels)
        metrics = {{"one": m}}
        m = tf.metrics.mean(predictions)
        metrics["two"] = m
        {TRAIN_OP}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        """,
    ),
    "a rate that gets another value after minimize": (
        'rate = 0.1\npredictions = tf.layers.dense(features["x"], 3)',
        f"""
        {LOSS}
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
        rate = 0.9
        metrics = {{"m": tf.metrics.mean(predictions * rate)}}
        return tf.estimator.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        """,
    ),
    "an expensive value per mode": (
        f"""
        if {TRAINING}:
            scale = pow(params["scale"], 2)
        else:
            scale = pow(3.0, 2)
        predictions = tf.layers.dense(features["x"] * scale, 1)
        """,
        END,
    ),
    "a list that belongs to the caller": (
        """
        units = list(params["units"])
        units += [3]
        x = features["x"]
        for u in units:
            x = tf.layers.dense(x, u)
        predictions = tf.reshape(x, [-1, len(units)])
        """,
        END,
    ),
    "layers in all arms of a condition in a loop": (
        """
        x = features["x"]
        for i, u in enumerate(params["units"]):
            if i == 0:
                h = tf.layers.dense(x, u)
            elif i == 1:
                h = tf.layers.dense(h, u) + tf.layers.dense(x, u)
            else:
                h = tf.layers.dense(h, 9) * 2.0
        predictions = tf.layers.dense(h, 1)
        """,
        END,
    ),
    "two layers of one name in a loop": (
        """
        x = features["x"]
        for u in params["units"]:
            dense = tf.layers.dense(x, u)
            x = tf.layers.dense(dense, u) + dense
        predictions = x
        """,
        END,
    ),
    "layer objects chosen by a condition": (
        """
        if params["big"]:
            head = tf.layers.Dense(10)
        else:
            head = tf.layers.Dense(2)
        predictions = head(features["x"])
        """,
        END,
    ),
    "one layer name in two arms": (
        """
        if params["big"]:
            predictions = tf.layers.dense(features["x"], 1, name="out")
        else:
            predictions = tf.layers.dense(features["w"], 1, name="out")
        """,
        END,
    ),
    "a function that reads a name given later": (
        """
        def act(value):
            return value * scale
        scale = 1.0
        scale = params["scale"]
        predictions = act(tf.layers.dense(features["x"], 1))
        """,
        END,
    ),
}


@pytest.mark.parametrize("name", sorted(SAME))
def test_computes_the_same(name: str) -> None:
    body, end = SAME[name]
    assert_same(model_fn(body, end=end), **PARAMS)


@pytest.mark.parametrize("name", ["layer objects chosen by a condition", "one layer name in two arms"])
def test_computes_the_same_in_the_other_arm(name: str) -> None:
    body, end = SAME[name]
    assert_same(model_fn(body, end=end), **{**PARAMS, "big": False})


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
    "towers that share": (
        """
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            a = tf.layers.dense(features["x"], 3)
        with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
            b = tf.layers.dense(features["w"], 3)  # HERE
        predictions = a - b
        """,
        END,
        "`tower/dense` are shared",
    ),
    "turns of a loop that share": (
        """
        x = features["x"]
        for _ in range(3):
            x = tf.layers.dense(x, 3, name="shared", reuse=tf.AUTO_REUSE)  # HERE
        predictions = x
        """,
        END,
        "`shared` are shared by all turns",
    ),
    "sharing under a name that is no literal": (
        """
        n = "shared"
        a = tf.layers.dense(features["x"], 3, name=n)
        predictions = a + tf.layers.dense(features["w"], 3, name=n, reuse=True)
        """,
        END,
        "not a literal",
    ),
    "regularizer of a scope": (
        f"""
        with tf.variable_scope("net", regularizer=tf.keras.regularizers.l2(0.1)):  # HERE
            {DENSE}
        """,
        END,
        "variable_scope(regularizer",
    ),
    "minimize before the loss is complete": (
        DENSE,
        f"{LOSS}\n{TRAIN_OP.replace('minimize(loss,', 'minimize(loss,')}  # HERE\nloss = loss + 1.0\n{SPEC}",
        "minimizes something else",
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
    "features that lose a column": (
        'weight = features.pop("w")\npredictions = tf.layers.dense(features["x"], 1)',
        f"loss = tf.reduce_mean(tf.square(labels - predictions) * weight)\n{TRAIN_OP}\n{SPEC}",
        "is changed",
    ),
    "an iterator that is read once": (
        """
        sizes = map(int, params["units"])  # HERE
        x = features["x"]
        for u in sizes:
            x = tf.layers.dense(x, u) * u
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
        "get_total_loss",
    ),
    "all trainable variables": (
        DENSE,
        f"""
        loss = tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])  # HERE
        loss += tf.reduce_mean(tf.square(labels - predictions))
        {TRAIN_OP}
        {SPEC}
        """,
        "trainable_variables",
    ),
    "a variable of the old kind": (
        "w = tf.Variable(tf.zeros([1]))  # HERE\npredictions = features['x'] * w",
        END,
        "tf.Variable",
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


def test_features_are_found_by_name() -> None:
    source = model_fn(DENSE).replace("def model_fn(features, labels, mode,", "def model_fn(mode, labels, features,")
    text = migrate(source)
    assert "def call(self, features, training=False):" in text
    assert "tf.square(y - y_pred)" in method(text, "compute_loss")
