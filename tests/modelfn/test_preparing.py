"""Programs whose model_fn is spread over functions, classes and lambdas: the same network comes out of one model."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, migrate_all, model_fn, run
from modelfn.symbolic import assert_same

END = f"{LOSS}\n{TRAIN_OP}\n{SPEC}"
TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"
PARAMS = {"units": [3, 4], "u": 5, "s": 2.0, "rate": 0.5}

INLINED = {
    "a loss": (
        "def get_loss(labels, predictions):\n    return tf.losses.mean_squared_error(labels, predictions)",
        "predictions = tf.layers.dense(features['x'], 3)",
        f"loss = get_loss(labels, predictions)\n{TRAIN_OP}\n{SPEC}",
    ),
    "a train op": (
        """def get_train_op(loss, rate):
    optimizer = tf.train.GradientDescentOptimizer(rate)
    return optimizer.minimize(loss, global_step=tf.train.get_global_step())""",
        "predictions = tf.layers.dense(features['x'], 3)",
        f"{LOSS}\ntrain_op = get_train_op(loss, params['rate'])\n{SPEC}",
    ),
    "inside the spec": (
        """def get_train_op(loss, rate):
    optimizer = tf.train.GradientDescentOptimizer(rate)
    return optimizer.minimize(loss, global_step=tf.train.get_global_step())


def get_metrics(value):
    return {"mean": tf.metrics.mean(value)}""",
        "predictions = tf.layers.dense(features['x'], 3)",
        f"""{LOSS}
if mode == tf.estimator.ModeKeys.EVAL:
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=get_metrics(predictions))
return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=get_train_op(loss, 0.1))""",
    ),
    "the spec": (
        f"""def finish(mode, labels, logits):
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = tf.reduce_mean(tf.square(labels - logits))
    {TRAIN_OP}
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)""",
        "net = tf.layers.dense(features['x'], 3)",
        "return finish(mode, labels, net)",
    ),
    "several ways": (
        """def losses(labels, a, scaled):
    if scaled:
        return tf.losses.mean_squared_error(labels, a) * 2.0
    loss = tf.losses.mean_squared_error(labels, a)
    return loss""",
        "a = tf.layers.dense(features['x'], 3)",
        f"predictions = a\nloss = losses(labels, a, params['u'] > 3)\n{TRAIN_OP}\n{SPEC}",
    ),
    **{
        f"what is there already, where {test}": (
            f"""def weigh(labels, a, few):
    parts = [tf.losses.mean_squared_error(labels, a)]
    # Few are enough.
    if {test}:
        return parts
    parts = [parts[0] * 2.0]
    return parts""",
            "a = tf.layers.dense(features['x'], 3)",
            f"predictions = a\nloss = weigh(labels, a, params['u'] > {u})[0]\n{TRAIN_OP}\n{SPEC}",
        )
        for test, u in (("few", 3), ("not few", 3), ("few and labels is not None", 9), ("(not\n        few)", 9))
    },
    "names that meet": (
        """def losses(labels, net):
    x = net * 2.0
    loss = tf.losses.mean_squared_error(labels, x)
    return loss""",
        "x = features['x']\nnet = tf.layers.dense(x, 3)\npredictions = net",
        f"total = losses(labels, net) + tf.reduce_mean(x)\nloss = total\n{TRAIN_OP}\n{SPEC}",
    ),
    "layers made by a function": (
        "def dense(units):\n    return tf.layers.Dense(units)",
        "first = dense(3)\nsecond = dense(params['u'])\npredictions = second(first(features['x']))",
        END,
    ),
}
LIFTED = {
    "a nested helper": """
        def block(x, units):
            return tf.layers.dense(x, units) * params["s"]

        x = features["x"]
        for units in params["units"]:
            x = block(x, units)
        predictions = x
    """,
    "a nested helper with the mode and a default": f"""
        def block(x, units=4):
            x = tf.layers.dense(x, units)
            return tf.layers.dropout(x, 0.4, training={TRAINING})

        predictions = block(block(features["x"]), 3)
    """,
}
CLASS = f"""import tensorflow as tf


class Classifier:
    last = 2

    def __init__(self, params, rate=0.1):
        self.units = params["units"]
        self.rate = rate

    def network(self, x, training):
        for units in self.units:
            x = self.block(x, units, training)
        return self.block(x, self.last, training)

    def block(self, x, units, training):
        x = tf.layers.dense(x, units)
        return tf.layers.dropout(x, self.rate, training=training)

    @staticmethod
    def loss(labels, predictions):
        return tf.losses.mean_squared_error(labels, predictions)

    def model_fn(self, features, labels, mode):
        predictions = self.network(features["x"], {TRAINING})
        loss = self.loss(labels, predictions)
        {TRAIN_OP.replace("0.1", "self.rate")}
        {SPEC}


classifier = Classifier(PARAMS)
estimator = tf.estimator.Estimator(classifier.model_fn)
"""
NETWORK = """

class Network(object):
    def __init__(self, params):
        self.units = params["units"]

    def __call__(self, x, training=False):
        for units in self.units:
            x = tf.layers.dense(x, units)
        return tf.layers.dropout(x, 0.3, training=training)
"""


@pytest.mark.parametrize("name", sorted(INLINED))
def test_inlined(name: str) -> None:
    helper, body, end = INLINED[name]
    text = assert_same(model_fn(body, end=end, before=f"\n\n{helper}\n"), **PARAMS)
    assert helper.split("(")[0] + "(" not in text


@pytest.mark.parametrize("name", sorted(LIFTED))
def test_nested(name: str) -> None:
    text = assert_same(model_fn(LIFTED[name], end=END), **PARAMS)
    assert "class Block(tf.keras.layers.Layer):" in text


def test_methods() -> None:
    text = assert_same(CLASS, **PARAMS)
    assert "class Block(tf.keras.layers.Layer):" in text
    assert (
        "create_model(\n    classifier_units=classifier.units,\n    rate=classifier.rate,\n    last=classifier.last)\n"
        in text
    )
    assert "functools" not in text


def test_objects_that_are_called() -> None:
    body = f'network = Network(params)\npredictions = network(features["x"], {TRAINING})'
    text = assert_same(model_fn(body, end=END, before=NETWORK), **PARAMS)
    assert "class Network(object)" not in text and "for units in network_units" in method(text, "__init__", "Network")


@pytest.mark.parametrize(
    ("made", "call"),
    [
        ("functools.partial(base, units=3, scale=2.0)", "create_base_model(units=3, scale=2.0)"),
        ("functools.partial(base, units=PARAMS['u'])", "create_base_model(units=PARAMS['u'])"),
        ("lambda features, labels, mode: base(features, labels, mode, 4)", "create_base_model(units=4)"),
    ],
)
def test_fixed_arguments(made: str, call: str) -> None:
    source = model_fn(
        'predictions = tf.layers.dense(features["x"], units) * scale',
        before="import functools\nimport tensorflow as tf\n",
    )
    source = source.replace(
        "def model_fn(features, labels, mode, params)", "def base(features, labels, mode, units, scale=1.5)"
    )
    source = source.replace("Estimator(model_fn, params=PARAMS)", f"Estimator({made})")
    assert f"estimator = {call}\n" in assert_same(source, **PARAMS)


def test_a_model_fn_that_hands_on() -> None:
    source = model_fn("predictions = tf.layers.dense(features, units) * 2.0", before="import tensorflow as tf\n")
    source = source.replace("def model_fn(features, labels, mode, params)", "def base(features, labels, mode, units)")
    more = 'def model_fn(features, labels, mode, params):\n    return base(features["x"], labels, mode, units=params["u"])\n\n\n'
    text = assert_same(source.replace("estimator = ", more + "estimator = "), **PARAMS)
    assert "def base" not in text


def test_a_helper_in_another_file() -> None:
    program = model_fn(
        'predictions = tf.layers.dense(features["x"], 3)',
        end=f"loss = common.get_loss(labels, predictions)\n{TRAIN_OP}\n{SPEC}",
        before="import tensorflow as tf\nimport common\n",
    )
    helper = "import tensorflow as tf\n\nSCALE = 2.0\n\n\n"
    helper += "def get_loss(a, b):\n    return SCALE * tf.losses.absolute_difference(a, b)\n"
    after = migrate_all({"program.py": program, "common.py": helper})
    assert "loss = common.SCALE * " in after["program.py"] and "get_loss" not in after["common.py"]


@pytest.mark.parametrize("line", ["import common", "from . import common", "import common as c"])
def test_a_helper_in_another_file_that_is_called_twice(line: str) -> None:
    name = line.split()[-1]
    program = model_fn(
        f"predictions = tf.matmul(features['x'], {name}.table('a')) + {name}.table('b')",
        end=f"{LOSS}\n{TRAIN_OP}\n{SPEC}",
        before=f"import tensorflow as tf\n{line}\n",
    )
    helper = "import tensorflow as tf\n\n\ndef table(name):\n    return tf.get_variable(name, [3, 1])\n"
    after = migrate_all({"program.py": program, "common.py": helper})
    assert "table(" not in after["program.py"] + after["common.py"]
    assert after["program.py"].count("self.add_weight(") == 2


def test_comments_stay() -> None:
    helper = """def get_loss(labels, predictions):
    # The mean, as in the paper.
    error = labels - predictions  # signed
    return tf.losses.mean_squared_error(labels, labels - error)"""
    end = f"# What is minimized.\nloss = get_loss(labels, predictions)\n{TRAIN_OP}\n{SPEC}"
    text = migrate(model_fn("predictions = tf.layers.dense(features['x'], 3)", end=end, before=f"\n\n{helper}\n"))
    assert "# The mean, as in the paper." in text and "# signed" in text


def test_the_edits_touch_only_what_changes() -> None:
    helper, body, end = INLINED["a loss"]
    outcome = run(model_fn(body, end=end, before=f"\n\nUNTOUCHED = 1   # odd  spacing\n\n\n{helper}\n"))
    assert b"UNTOUCHED = 1   # odd  spacing\n" in outcome["program.py"].after and HELPERS in outcome


LEFT = {
    "a generator": (
        "def parts(labels, predictions):\n    yield tf.losses.mean_squared_error(labels, predictions)",
        "loss = sum(parts(labels, predictions))",
    ),
    "a call in a comprehension": (
        """def part(labels, predictions):
    scaled = predictions * 2.0
    return tf.losses.mean_squared_error(labels, scaled)""",
        "loss = sum([part(labels, predictions) for _ in range(2)])",
    ),
    "a return in the middle of a loop": (
        """def part(labels, predictions):
    for i in range(3):
        if i == 2:
            return tf.losses.mean_squared_error(labels, predictions)""",
        "loss = part(labels, predictions)",
    ),
    "a recursive helper": (
        "def part(a, b, n):\n    return tf.losses.mean_squared_error(a, b) if n else part(a, b, n - 1)",
        'loss = part(labels, predictions, params["n"])',
    ),
    "arguments behind a star": (
        "def part(a, b):\n    return tf.losses.mean_squared_error(a, b)",
        "loss = part(*[labels, predictions])",
    ),
}


@pytest.mark.parametrize("name", sorted(LEFT))
def test_left_alone(name: str) -> None:
    helper, loss = LEFT[name]
    body = 'predictions = tf.layers.dense(features["x"], 3)'
    assert manual_reason(model_fn(body, end=f"{loss}\n{TRAIN_OP}\n{SPEC}", before=f"\n\n{helper}\n"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.rate = rate\n\n", "self.rate = rate\n\n    def slow(self):\n        self.rate = 0.01\n\n"),
        ("loss = self.loss(", "self.predictions = predictions\n        print(self)\n        loss = self.loss("),
        ("for units in self.units:", "check(self)\n        for units in self.units:"),
    ],
)
def test_objects_that_change_are_left_alone(old: str, new: str) -> None:
    assert old in CLASS
    assert manual_reason(CLASS.replace(old, new))


def test_overridden_methods_are_left_alone() -> None:
    more = "class Other(Classifier):\n    def network(self, x, training):\n        return x\n\n\nclassifier ="
    assert manual_reason(CLASS.replace("classifier =", more))
    between = more.replace("(Classifier)", "(Between)").replace("classifier =", "")
    assert manual_reason(
        CLASS.replace("classifier =", f"class Between(Classifier):\n    pass\n\n\n{between}classifier =")
    )


def test_a_method_with_a_parameter_a_line() -> None:
    text = f"""
class Net:
    def __init__(self, units):
        self.units = units

    def model_fn(
        self,
        features,
        labels,
        mode,
    ):
        predictions = tf.layers.dense(features["x"], self.units)
        loss = tf.losses.mean_squared_error(labels, predictions)
        train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        {SPEC}


net = Net(3)
estimator = tf.estimator.Estimator(net.model_fn)
"""
    after = migrate("import tensorflow as tf\n" + text)
    assert "tf.keras.layers.Dense(units)" in after and "self,\n" not in after


def test_a_name_for_what_nobody_reads_stays() -> None:
    helper = "def net(x):\n    y, _ = tf.nn.moments(x, 1)\n    return tf.get_variable('w', []) * y\n"
    body = "a, _ = tf.nn.moments(features['z'], 1)\npredictions = net(features['x']) + a"
    text = migrate(model_fn(body, before=helper.replace("return", "w = tf.train.get_global_step()\n    return")))
    assert "y, _ = tf.nn.moments(" in text and "net__" not in text


BUILDER = """import tensorflow as tf


def make(boundaries):
    def rate_fn(step):
        rates = [0.1, 0.01, 0.001]
        return tf.train.piecewise_constant(step, boundaries, rates)

    def model_fn(features, labels, mode):
        predictions = tf.layers.dense(features["x"], 1)
        loss = tf.losses.mean_squared_error(labels, predictions)
        step = tf.train.get_global_step()
        train_op = tf.train.GradientDescentOptimizer(rate_fn(step)).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op)

    return model_fn


estimator = tf.estimator.Estimator(make([10, 20]))
"""


def test_a_function_beside_the_model_fn_in_its_builder() -> None:
    text = migrate(BUILDER)
    factory = method(text, "create_model", "")
    assert "    rates = [0.1, 0.01, 0.001]\n" in factory
    assert " = tf.keras.optimizers.schedules.PiecewiseConstantDecay(boundaries, rates)\n" in factory
    assert "rate_fn" not in text


def test_a_function_beside_the_model_fn_that_reads_what_the_model_fn_names_anew() -> None:
    line = "        step = tf.train.get_global_step()\n"
    text = BUILDER.replace(line, f"{line}        boundaries = [3]\n        tf.identity(boundaries)\n")
    assert "does not move with the model_fn" in manual_reason(text)


@pytest.mark.parametrize(
    "line",
    [
        'w = features.pop("w")',
        'w = features.pop("w", None)',
        'w = features["w"]\n    del features["w"]',
        'features["w"] = tf.square(features["w"])\n    w = features["w"]',
        'features.update(w=tf.square(features["w"]))\n    w = features["w"]',
    ],
)
def test_a_model_fn_that_changes_its_features_works_on_a_copy(line: str) -> None:
    body = f'''
    """A network."""
    # taken out
    {line}
    x = tf.concat([features[key] for key in sorted(features)], axis=1)
    predictions = tf.layers.dense(x, 3) * w
    '''
    text = assert_same(model_fn(body))
    assert "    features = dict(features)\n    # taken out\n" in method(text, "call")


def test_features_that_are_copied_already_are_not_copied_again() -> None:
    text = assert_same(
        model_fn('features = dict(features)\nw = features.pop("w")\npredictions = tf.layers.dense(w, 3)')
    )
    assert text.count("dict(features)") == 1


def test_a_helper_that_changes_its_features_is_not_followed() -> None:
    helper = "\n\ndef net(features):\n    w = features.pop('w')\n    return tf.layers.dense(w, 3)\n"
    assert "is changed" in manual_reason(model_fn("predictions = net(features)", before=helper))
