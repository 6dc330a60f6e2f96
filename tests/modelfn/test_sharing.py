"""Variables that calls share by name: one in TF1, so never two in Keras."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn
from modelfn.symbolic import assert_same

HELPER = """
def {name}(x):
    with tf.variable_scope("{scope}", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("{variable}", [3, 4])
    return tf.matmul(x, w)
"""
BOTH = 'predictions = left(features["x"]) - right(features["x"])'


def helpers(scope: str, variable: str) -> str:
    left = HELPER.format(name="left", scope="shared", variable="w")
    return left + HELPER.format(name="right", scope=scope, variable=variable)


def test_helpers_that_share_a_variable_are_left() -> None:
    source = model_fn(f"{BOTH}  # HERE", before=helpers("shared", "w"))
    assert "the variable `shared/w` is shared by two calls" in manual_reason(source)


def test_a_helper_that_shares_with_the_model_fn_is_left() -> None:
    body = """
    with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [3, 4])
    predictions = left(features["x"]) - tf.matmul(features["x"], w)
    """
    assert "`shared/w` is shared" in manual_reason(model_fn(body, before=helpers("other", "w")))


@pytest.mark.parametrize(("scope", "variable"), [("other", "w"), ("shared", "v")])
def test_helpers_with_variables_of_their_own_move(scope: str, variable: str) -> None:
    assert "class Right(" in migrate(model_fn(BOTH, before=helpers(scope, variable)))


def test_arms_of_a_condition_share_nothing_at_a_time() -> None:
    body = """
    if params["big"]:
        predictions = left(features["x"])
    else:
        predictions = right(features["x"])
    """
    assert "class Right(" in migrate(model_fn(body, before=helpers("shared", "w")))


# -- calls that share everything: one layer, called again -------------------------------------------------------------

TOWER = """
def tower(x, units, name="tower"):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for i, n in enumerate(units):
            x = tf.layers.dense(x, n, name="fc%d" % i)
        w = tf.get_variable("w", [3])
    return x * w


"""
LOOKUP = """
def lookup(ids, name, size):
    with tf.variable_scope("tables", reuse=tf.AUTO_REUSE):
        table = tf.get_variable(name, [size, 2])
    return tf.nn.embedding_lookup(table, ids)


def item(ids):
    return lookup(ids, "item", 5) + lookup(ids, "category", 3)


"""
SHARED = {
    "a layer": """
        a = tf.layers.dense(features["x"], 3, name="one")
        predictions = a + tf.layers.dense(features["w"], 3, name="one", reuse=True)
    """,
    "a layer with a name that is no literal": """
        n = "shared"
        a = tf.layers.dense(features["x"], 3, name=n)
        predictions = a + tf.layers.dense(features["w"], 3, name=n, reuse=True)
    """,
    "a variable": """
        with tf.variable_scope("s"):
            a = tf.get_variable("w", [1])
        with tf.variable_scope("s", reuse=True):
            b = tf.get_variable("w", [1])
        predictions = features["x"] * a + b
    """,
}


@pytest.mark.parametrize("name", sorted(SHARED))
def test_one_layer_is_called_twice(name: str) -> None:
    text = assert_same(model_fn(SHARED[name]))
    assert method(text, "__init__").count("Dense(") + method(text, "__init__").count("add_weight(") == 1


def test_numbered_layers_of_a_scope_that_is_entered_again() -> None:
    body = """
    with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
        a = tf.layers.dense(features["x"], 3)
    with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
        b = tf.layers.dense(features["w"], 3)
    predictions = a - b
    """
    call = method(migrate(model_fn(body)), "call")
    assert 'a = self.tower_a(features["x"])\n' in call and 'b = self.tower_a(features["w"])\n' in call


def test_a_helper_that_is_called_twice() -> None:
    body = 'predictions = tower(features["x"], params["units"]) - tower(features["w"], params["units"])'
    text = assert_same(model_fn(body, before=TOWER), units=[4, 3])
    assert method(text, "__init__", "Model").count("Tower(") == 1


def test_a_helper_under_two_names_is_two_layers() -> None:
    body = """
    predictions = tower(features["x"], params["units"], "a") - tower(features["w"], params["units"], "b")
    """
    text = assert_same(model_fn(body, before=TOWER), units=[4, 3])
    assert method(text, "__init__", "Model").count("Tower(") == 2


def test_helpers_of_helpers_and_a_variable_that_is_found_by_name() -> None:
    body = """
    predictions = item(features["x"]) * item(features["w"]) + lookup(features["z"], "user", 7)
    with tf.variable_scope("tables", reuse=True):
        table = tf.get_variable("item")
    predictions = predictions * table
    """
    text = assert_same(model_fn(body, before=LOOKUP))
    assert "predictions * self.item.item.table.embeddings" in method(text, "call", "Model")


def test_a_helper_may_return_under_a_condition() -> None:
    before = """
    def activate(x, kind, name):
        if kind == "scaled":
            w = tf.get_variable(name + "_w", [3])
            return x * w
        # the rest
        b = tf.get_variable(name + "_b", [3])
        return x + b


    """
    for kind in ("scaled", "moved"):
        body = 'predictions = activate(activate(features["x"], params["kind"], "a"), params["kind"], "b")'
        text = assert_same(model_fn(body, before=before), kind=kind)
    assert method(text, "call", "Activate").count("return") == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
            a = tf.layers.dense(features["x"], 3, name="one")
            predictions = a + tf.layers.dense(features["w"], 3, tf.nn.relu, name="one", reuse=True)  # HERE
            """,
            "shared by two calls",
        ),
        (
            """
            a = tf.layers.dense(features["x"], 3, name=params["a"])
            predictions = a + tf.layers.dense(features["w"], 3, name=params["b"], reuse=tf.AUTO_REUSE)  # HERE
            """,
            "not a literal",
        ),
        (
            """
            units = 3
            a = tf.layers.dense(features["x"], units, name="one")
            units = params["units"]
            predictions = a + tf.layers.dense(features["w"], units, name="one", reuse=True)  # HERE
            """,
            "shared by two calls",
        ),
        (
            """
            a = features["x"]
            if params["deep"]:
                a = tf.layers.dense(a, 3, name="one")
            predictions = a + tf.layers.dense(features["w"], 3, name="one", reuse=tf.AUTO_REUSE)  # HERE
            """,
            "stands under a condition",
        ),
        (
            """
            with tf.variable_scope("net", reuse=True):
                w = tf.get_variable("w")  # HERE
            predictions = features["x"] * w
            """,
            "neither a shape",
        ),
        (
            """
            x = features["x"]
            for i in range(2):
                x = tower(x, params["units"] + i)  # HERE
            predictions = x
            """,
            "the turns of a loop may share",
        ),
        (
            """
            a = tower(features["x"], params["units"])
            predictions = a + tower(features["w"], [3])  # HERE
            """,
            "may share",
        ),
        (
            """
            a = tower(features["x"], params["units"], params["a"])
            predictions = a + tower(features["w"], params["units"], params["b"])  # HERE
            """,
            "may share",
        ),
        (
            """
            x = tf.layers.batch_normalization(features["x"], training=mode == tf.estimator.ModeKeys.TRAIN, name="bn")
            predictions = x + tf.layers.batch_normalization(features["w"], name="bn", reuse=True)  # HERE
            """,
            "",
        ),
    ],
)
def test_sharing_that_is_left(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(body, before=TOWER))


# -- calls that say of themselves whether they share -------------------------------------------------------------------

TOLD = """
def tower(x, scope="tower", reuse=None):
    with tf.variable_scope(scope, reuse=reuse):
        return tf.layers.dense(x, 3, name="fc")


"""
DEEP = """
def layer(x, n, name, reuse):
    return tf.layers.dense(x, n, name=name, reuse=reuse)


def tower(x, reuse=False):
    return layer(layer(x, 4, "one", reuse=reuse), 3, "two", reuse=reuse)


"""
PARTLY = """
def tower(x, reuse):
    x = tf.layers.dense(x, 3, name="one", reuse=reuse)
    return tf.layers.dense(x, 3)


"""


@pytest.mark.parametrize(
    ("first", "second", "before"),
    [
        ('tower(features["x"])', 'tower(features["w"], reuse=True)', TOLD),
        ('tower(features["x"], "t", False)', 'tower(features["w"], "t", True)', TOLD),
        ('tower(features["x"], reuse=tf.AUTO_REUSE)', 'tower(features["w"], reuse=tf.AUTO_REUSE)', TOLD),
        ('tower(features["x"])', 'tower(features["w"], reuse=True)', DEEP),
    ],
)
def test_a_helper_that_is_told_whether_to_share(first: str, second: str, before: str) -> None:
    text = assert_same(model_fn(f"predictions = {first} - {second}", before=before))
    assert method(text, "__init__", "Model").count("Tower(") == 1
    assert "reuse" not in text


def test_a_helper_that_is_told_not_to_share() -> None:
    body = 'predictions = tower(features["x"], "a", False) - tower(features["w"], "b", reuse=False)'
    text = assert_same(model_fn(body, before=TOLD))
    assert method(text, "__init__", "Model").count("Tower(") == 2


@pytest.mark.parametrize(
    ("first", "second", "reason", "before"),
    [
        ('tower(features["x"])', 'tower(features["w"])', "`tower/fc/kernel` is shared by two calls", TOLD),
        ('tower(features["x"])', 'tower(features["w"], reuse=params["reuse"])', "may share", TOLD),
        ('tower(features["x"])', 'tower(features["w"], "tower", True)', "may share", TOLD),
        ('tower(features["x"])', 'tower(features["w"], reuse=bool(features))', "the value of a call", TOLD),
        ('tower(features["x"], False)', 'tower(features["w"], True)', "some of their variables only", PARTLY),
    ],
)
def test_helpers_that_may_share_are_left(first: str, second: str, reason: str, before: str) -> None:
    body = f"""
    a = {first}
    predictions = a - {second}
    """
    assert reason in manual_reason(model_fn(body, before=before))


def test_a_parameter_that_says_more_than_reuse_stays() -> None:
    before = PARTLY.replace("    return tf.layers.dense(x, 3)", "    return x if reuse else tf.layers.dense(x, 3)")
    body = 'predictions = tower(features["x"], False)'
    assert "def __init__(self, reuse" in assert_same(model_fn(body, before=before))


# -- turns of a loop --------------------------------------------------------------------------------------------------


def test_turns_that_share_layers_and_variables() -> None:
    body = """
    outputs = []
    for name in ["x", "w"]:
        with tf.variable_scope("encoder", reuse=tf.AUTO_REUSE):
            net = tf.layers.dense(features[name], 4, name="fc")
            b = tf.get_variable("b", [4])
            outputs.append(net * b)
    predictions = outputs[0] - outputs[1]
    """
    text = assert_same(model_fn(body))
    made = method(text, "__init__", "Model")
    assert made.count("Dense(") == made.count("add_weight(") == 1 and " for " not in made
    assert "net = self.fc(features[name])" in method(text, "call", "Model")


def test_turns_that_share_some_of_their_layers() -> None:
    body = """
    x = features["x"]
    for i in range(2):
        with tf.variable_scope("body", reuse=(i > 0)):
            x = tf.layers.dense(x, 3, name="shared")
        x = tf.layers.dense(x, 3, name="own_%d" % i)
    predictions = x
    """
    made = method(assert_same(model_fn(body)), "__init__", "Model")
    assert made.index("self.shared = tf.keras.layers.Dense(3") < made.index("self.own_layers = [")


def test_turns_that_call_a_helper_again() -> None:
    body = """
    total = tower(features["x"])
    for name in ["w", "x"]:
        total += tower(features[name], reuse=True)
    predictions = total
    """
    text = assert_same(model_fn(body, before=TOLD))
    assert method(text, "__init__", "Model").count("Tower(") == 1
    assert "total += self.tower(features[name])" in method(text, "call", "Model")


TASK = """
def tower(x, name):
    with tf.variable_scope({scope}, reuse=tf.AUTO_REUSE):
        x = tf.layers.dense(x, 4)
        return tf.layers.dense(x, 1, name="out")
"""
TASKS = """
    total = 0.0
    for task in ["click", "buy"]:
        total += tower(features["x"], "tower_" + task)
    predictions = total
"""


def test_turns_that_name_the_scope_of_a_helper_have_layers_of_their_own() -> None:
    text = assert_same(model_fn(TASKS, before=TASK.format(scope="name")))
    assert 'self.tower_layers = [Tower("tower_" + task) for task in ["click", "buy"]]' in text


NUMBERED = """
def tower(x, name, units=(3, 2)):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        for n in units:
            x = tf.layers.dense(x, n)
        return tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize("given", ['"tower_%s" % task', 'f"{task}/tower"'])
def test_layers_without_a_name_are_told_apart_by_the_scope_of_the_turn(given: str) -> None:
    body = TASKS.replace('"tower_" + task', given)
    assert "self.tower_layers = [Tower(" in migrate(model_fn(body, before=NUMBERED))


def test_a_scope_around_the_call_tells_the_turns_apart() -> None:
    call = 'total += tower(features["x"], "tower_" + task)'
    around = f'with tf.variable_scope("of_" + task):\n            {call}'.replace('"tower_" + task', '"tower"')
    assert "self.tower_layers = [Tower(" in migrate(model_fn(TASKS.replace(call, around), before=NUMBERED))


def test_layers_without_a_name_of_turns_in_one_scope_are_left_alone() -> None:
    turns = TASKS.replace("        total", "        for _ in range(2):\n            total")
    reason = manual_reason(model_fn(turns, before=NUMBERED))
    assert "the turns of a loop may share the variables of a helper" in reason


@pytest.mark.parametrize("scope", ['"one"', '"one" if name else name'])
def test_turns_that_name_no_scope_of_a_helper_are_left_alone(scope: str) -> None:
    reason = manual_reason(model_fn(TASKS, before=TASK.format(scope=scope)))
    assert "the turns of a loop may share the variables of a helper" in reason


NORMAL = """
def tower(x, training):
    with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
        return tf.layers.batch_normalization(x, training=training, name="bn")
"""


@pytest.mark.parametrize(
    ("call", "reason", "before"),
    [
        ("tf.layers.dense(x, i + 3, name='fc', reuse=tf.AUTO_REUSE)", "shared by all turns", ""),
        ("tf.layers.dense(x, 3, reuse=tf.AUTO_REUSE)", "shared by all turns", ""),
        ("tf.layers.batch_normalization(x, training=TRAIN, name='bn', reuse=tf.AUTO_REUSE)", "in no certain order", ""),
        ("tower(x, mode == tf.estimator.ModeKeys.TRAIN)", "in no certain order", NORMAL),
    ],
)
def test_turns_that_may_share_are_left(call: str, reason: str, before: str) -> None:
    body = f"""
    x = features["x"]
    for i in range(2):
        x = {call}
    predictions = x
    """
    assert reason in manual_reason(model_fn(body, before=before))


@pytest.mark.parametrize("training", ["", ", training=False", ", training=0"])
def test_a_shared_normalization_that_never_trains(training: str) -> None:
    call = f"tf.layers.batch_normalization(features[{{!r}}], name='bn', reuse=tf.AUTO_REUSE{training})"
    text = assert_same(model_fn(f"predictions = {call.format('x')} + {call.format('w')}"))
    assert text.count("BatchNormalization(") == 1


def test_a_shared_normalization_that_trains_is_left() -> None:
    training = "training=mode == tf.estimator.ModeKeys.TRAIN"
    call = f"tf.layers.batch_normalization(features[{{!r}}], name='bn', reuse=tf.AUTO_REUSE, {training})"
    update = "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n    "
    body = f"predictions = {call.format('x')} + {call.format('w')}"
    assert "moving statistics" in manual_reason(model_fn(body, end=f"{LOSS}\n{update}{TRAIN_OP}\n{SPEC}"))
