"""`tf.train.init_from_checkpoint` becomes a method of the model; the numbers are those of tests/runtime."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn, run

BODY = """
with tf.variable_scope("encoder"):
    net = tf.layers.dense(features["x"], 4, name="hidden")
predictions = tf.layers.dense(net, 1, name="out")
"""
INIT = 'tf.train.init_from_checkpoint(params["path"], {"encoder/": "encoder/"})'
LIST = """
def known(variables, path):
    found = {v.name[:-2] for v in variables}
    return {name: name for name, _ in tf.train.list_variables(path) if name in found}
"""


def test_a_map_from_scope_to_scope() -> None:
    text = migrate(model_fn(f"{BODY}\n# the language model\n{INIT}"))
    assert joined(method(text, "init_from_checkpoint")) == (
        "def init_from_checkpoint(self):\n"
        '    """Gives weights their values of a checkpoint, by their names in TensorFlow 1."""\n'
        "    # the language model\n"
        '    init_from_checkpoint(self, self.params["path"], {"encoder/": "encoder/"})\n'
    )
    assert "encoder/" not in method(text, "call") + method(text, "__init__") + method(text, "compute_loss")
    names = text[text.index("    # Names in checkpoints") : text.index("    def __init__")]
    assert (
        names.split("\n")
        == [
            "    # Names in checkpoints of TensorFlow 1, and the attributes that hold the weights.",
            "    tf1_names = {",
            '        "encoder/hidden/kernel": "hidden.kernel",',
            '        "encoder/hidden/bias": "hidden.bias",',
            '        "out/kernel": "out.kernel",',
            '        "out/bias": "out.bias",',
            "    }",
            "",
        ]
        + names.split("\n")[8:]
    )
    assert method(text, "create_model").endswith("    return begin_with(model, model.init_from_checkpoint)\n")


def test_a_map_out_of_the_variables_and_messages_about_them() -> None:
    start = """
    variables = tf.trainable_variables()
    assigned = {}
    if params["path"]:
        assigned = known(variables, params["path"])
        tf.train.init_from_checkpoint(params["path"], assigned)
    for variable in variables:
        tf.logging.info("%s%s", variable.name, " *" if variable.op.name in assigned else "")
    """
    text = migrate(model_fn(BODY + "\n".join(line[4:] for line in start.split("\n")), before=LIST))
    lines = method(text, "init_from_checkpoint")
    assert "    variables = tf1_variables(self)\n    assigned = {}\n" in lines
    assert 'assigned = known(variables, self.params["path"])' in lines
    assert "    for variable in variables:\n        logging.info(" in lines


def test_variables_that_the_loss_needs_too() -> None:
    given = "{v.op.name: v for v in variables}"
    start = f"variables = tf.trainable_variables()\ntf.train.init_from_checkpoint(params['path'], {given})"
    body = f"{BODY}\n{start}"
    loss = "loss = tf.reduce_mean(tf.square(labels - predictions)) + tf.add_n([tf.nn.l2_loss(v) for v in variables])"
    train = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    spec = "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
    text = migrate(model_fn(body, end=f"{loss}\n{train}\n{spec}"))
    assert "self.trainable_variables" in method(text, "compute_loss")
    assert "variables = tf1_variables(self)" in method(text, "init_from_checkpoint")


@pytest.mark.parametrize(
    ("loop", "pattern"),
    [
        ("for i, units in enumerate([4, 3]):\n    {}, units, name='fc%d' % i)", "fc*"),
        ("for i in range(2):\n    with tf.variable_scope(f'block_{{i}}'):\n        {}, 3, name='fc')", "block_*/fc"),
        (
            "for i in range(2):\n    with tf.variable_scope('block_{{}}'.format(i)):\n        {}, 3, name='fc')",
            "block_*/fc",
        ),
        ("for i in range(2):\n    with tf.variable_scope('block' + str(i)):\n        {}, 3, name='fc')", "block*/fc"),
    ],
)
def test_layers_of_a_loop(loop: str, pattern: str) -> None:
    made = loop.format("net = tf.layers.dense(net, activation=tf.tanh, units")
    made = made.replace("units, ", "units=", 1)
    text = migrate(model_fn(f"net = features['x']\n{made}\npredictions = tf.layers.dense(net, 1, name='out')\n{INIT}"))
    assert f'"{pattern}/kernel": "' in text and ".*.kernel" in text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{INIT}\n{BODY}", "first values are read before all variables are made"),
        (
            "net = features['x']\nfor units in [4, 3]:\n    net = tf.layers.dense(net, units)\n"
            f"predictions = tf.layers.dense(net, 1)\n{INIT}",
            "names of variables of which the source does not tell all",
        ),
        (
            "net = features['x']\nfor i in [3, 4]:\n    net = tf.layers.dense(net, 4, name='fc%d' % i)\n"
            f"predictions = tf.layers.dense(net, 1, name='out')\n{INIT}",
            "names of variables of which the source does not tell all",
        ),
        (
            "net = features['x']\nfor i in range(3):\n    net = tf.layers.dense(net, 4, name='fc%d' % (i + 1))\n"
            f"predictions = tf.layers.dense(net, 1, name='out')\n{INIT}",
            "names of variables of which the source does not tell all",
        ),
        (
            "net = features['x']\nfor i in range(3):\n    if i != params['skip']:\n"
            "        net = tf.layers.dense(net, 4, name='fc%d' % i)\n"
            f"predictions = tf.layers.dense(net, 1, name='out')\n{INIT}",
            "names of variables of which the source does not tell all",
        ),
        (
            "net = features['x']\nfor i in range(3):\n    net = tf.layers.dense(net, 4, name='fc%03d' % i)\n"
            f"predictions = tf.layers.dense(net, 1, name='out')\n{INIT}",
            "names of variables of which the source does not tell all",
        ),
        (
            f"predictions = tf.keras.layers.Dense(1, name='out')(features['x'])\n{INIT}",
            "a variable that scopes of TensorFlow 1 do not hold",
        ),
        (f"{BODY}\nif mode == tf.estimator.ModeKeys.EVAL:\n    {INIT}", "outside of the training only"),
        (f"{BODY}\nunused = {INIT}", "not a statement of its own"),
        (f"{BODY}\n{INIT.replace(', {', ', True, {')}", "init_from_checkpoint takes 2 positional arguments"),
        (
            f"{BODY}\nvariables = tf.trainable_variables()\nnames = [v.name for v in variables]\n"
            "tf.train.init_from_checkpoint(params['path'], {n[:-2]: n[:-2] for n in names})\n"
            "predictions = predictions * len([n for n in names if 'x' in n])",
            "list of trainable variables is used outside of the loss",
        ),
        (f"{BODY}\n{INIT.replace('params', 'features')}", "first values hang on a tensor"),
    ],
)
def test_what_native_cannot_hold(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body))


def test_a_variable_whose_name_and_shape_a_helper_is_told() -> None:
    helper = """

    def project(x, name, scope="proj"):
        width = x.shape[-1]
        with tf.variable_scope(scope):
            table = tf.get_variable(name=name, shape=[width, 3])
        return tf.matmul(x, table)
    """
    text = migrate(model_fn(f"predictions = project(features['x'], 'table')\n{INIT}", before=helper))
    assert '        "proj/table": "table.table",\n' in text
    formatted = "predictions = project(features['x'], 't%d' % params['n'])"
    reason = manual_reason(model_fn(f"{formatted}\n{INIT}", before=helper))
    assert "names of variables of which the source does not tell all" in reason


def test_first_values_after_the_optimizer_has_its_variables() -> None:
    end = (
        "loss = tf.reduce_mean(tf.square(labels - predictions))\n"
        "train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())\n"
        f"{INIT}\n"
        "return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)"
    )
    assert "when the optimizer has its variables" in manual_reason(model_fn(BODY, end=end))


def test_modes_without_first_values_are_remarked() -> None:
    body = f"{BODY}\nif mode != tf.estimator.ModeKeys.PREDICT:\n    {INIT}"
    (outcome,) = [o for path, o in run(model_fn(body)).items() if path == "program.py"]
    said = [d.message for d in outcome.remaining]
    assert any("prediction without a checkpoint of this model begins with these values too" in text for text in said)


BERT = """
tvars = tf.trainable_variables()
initialized = {}
scaffold_fn = None
if params["path"]:
    (assigned, initialized) = known(tvars, params["path"])
    if params["use_tpu"]:

        def tpu_scaffold():
            tf.train.init_from_checkpoint(params["path"], assigned)
            return tf.train.Scaffold()

        scaffold_fn = tpu_scaffold
    else:
        tf.train.init_from_checkpoint(params["path"], assigned)
for var in tvars:
    init_string = ""
    if var.name in initialized:
        init_string = ", *INIT_FROM_CKPT*"
    tf.logging.info("  name = %s, shape = %s%s", var.name, var.shape, init_string)
"""
TPU = """
if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"p": predictions}, scaffold_fn=scaffold_fn)
loss = tf.reduce_mean(tf.square(labels - predictions))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, scaffold_fn=scaffold_fn)
"""
ESTIMATOR = """
config = tf.contrib.tpu.RunConfig(model_dir="x")
estimator = tf.contrib.tpu.TPUEstimator(model_fn, use_tpu=False, config=config, train_batch_size=8, params={"path": "y"})
"""


def test_the_way_of_bert() -> None:
    text = migrate(model_fn(BODY + BERT, end=TPU, before=LIST, after=ESTIMATOR))
    assert method(text, "init_from_checkpoint").split('"""\n')[1] == (
        "    tvars = tf1_variables(self)\n"
        "    initialized = {}\n"
        '    if self.params["path"]:\n'
        '        (assigned, initialized) = known(tvars, self.params["path"])\n'
        '        init_from_checkpoint(self, self.params["path"], assigned)\n'
        "    for var in tvars:\n"
        '        init_string = ""\n'
        "        if var.name in initialized:\n"
        '            init_string = ", *INIT_FROM_CKPT*"\n'
        '        logging.info("  name = %s, shape = %s%s", var.name, var.shape, init_string)\n'
    )


def test_a_scaffold_fn_that_reads_another_checkpoint_stays_apart() -> None:
    body = (BODY + BERT).replace(
        'point(params["path"], assigned)\n            return', 'point("gs://x", assigned)\n            return'
    )
    lines = method(migrate(model_fn(body, end=TPU, before=LIST, after=ESTIMATOR)), "init_from_checkpoint")
    assert '        if self.params["use_tpu"]:\n\n            init_from_checkpoint(self, "gs://x", assigned)\n' in lines
    assert '        else:\n            init_from_checkpoint(self, self.params["path"], assigned)\n' in lines


def test_a_scaffold_fn_that_does_more() -> None:
    body = (BODY + BERT).replace(
        "            return tf.train.Scaffold()", "            return tf.train.Scaffold(ready_op=tf.no_op())"
    )
    reason = manual_reason(model_fn(body, end=TPU, before=LIST, after=ESTIMATOR))
    assert "not a statement of its own" in reason
