"""Lists of some variables, what is trained by them, and several optimizers: in Keras, attributes of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, manual_reason, method, migrate, model_fn

STEP = "tf.train.get_global_step()"
LAYERS = """
with tf.variable_scope("body"):
    x = tf.layers.dense(features["x"], 4, name="first")
    for units in params["units"]:
        x = tf.layers.dense(x, units)
    scale = tf.get_variable("scale", [4])
    fixed = tf.get_variable("fixed", [4], trainable=False)
with tf.variable_scope("head"):
    predictions = tf.layers.dense(x * scale * fixed, 1)
"""
BODY = """[
    *self.first.trainable_variables,
    *(variable for layer in self.dense_layers for variable in layer.trainable_variables),
    self.scale,
]"""


def program(train: str, body: str = LAYERS, before: str = "import re\n") -> str:
    return model_fn(
        body, end=f"{LOSS}\noptimizer = tf.train.GradientDescentOptimizer(0.1)\n{train}\n{SPEC}", before=before
    )


def flat(text: str) -> str:
    return "".join(text.split()).replace(",]", "]")


@pytest.mark.parametrize(
    "listed",
    [
        "tf.trainable_variables('body')",
        "tf.trainable_variables(scope='body')",
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='body')",
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'body/')",
        "tf.get_collection('trainable_variables', 'bo')",
        "[v for v in tf.trainable_variables() if 'body' in v.name]",
        "[v for v in tf.trainable_variables() if v.name.startswith('body')]",
        "[v for v in tf.trainable_variables() if not v.op.name.startswith('head/')]",
        "[v for v in tf.trainable_variables() if 'head' not in v.name and 'fixed' not in v.name]",
        "[v for v in tf.trainable_variables() if v not in tf.trainable_variables('head')]",
        "[v for v in tf.trainable_variables() if re.match('body/', v.name)]",
        "[v for v in tf.trainable_variables() if not re.compile('^head').search(v.op.name)]",
    ],
)
def test_the_variables_of_a_scope_are_those_of_its_attributes(listed: str) -> None:
    step = method(migrate(program(f"train_op = optimizer.minimize(loss, {STEP}, var_list={listed})")), "train_step")
    assert f"variables={flat(BODY)}" in flat(step)
    assert "self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))" in step
    named = method(
        migrate(program(f"body = {listed}\ntrain_op = optimizer.minimize(loss, {STEP}, body)")), "train_step"
    )
    assert f"body={flat(BODY)}" in flat(named)
    assert "self.optimizer.apply_gradients(zip(tape.gradient(loss, body), body))" in named


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("[v for v in every if v not in head + scale]", "[*self.first.trainable_variables,LOOP]"),
        ("[v for v in every if v in head or v in scale]", "[self.scale,*self.predictions.trainable_variables]"),
        ("[v for v in every if v.op.name == 'body/first/bias']", "[self.first.bias]"),
        ("tf.trainable_variables('body/first/kernel')", "[self.first.kernel]"),
        ("[v for v in every if not re.search(r'first/k|dense|head', v.name)]", "[self.first.bias,self.scale]"),
        ("[v for v in every if v.name.endswith('kernel:0')]", ""),
    ],
)
def test_choices_by_lists_and_whole_names(listed: str, expected: str) -> None:
    train = f"""
every = tf.trainable_variables()
head = tf.trainable_variables("head")
scale = [v for v in every if v.name.endswith("scale:0")]
mine = {listed}
train_op = optimizer.minimize(loss, {STEP}, var_list=mine)
"""
    if not expected:  # of the layers in a loop, some variables only
        assert "some of those of one layer" in manual_reason(program(train))
        return
    loop = "*(variableforlayerinself.dense_layersforvariableinlayer.trainable_variables)"
    step = flat(method(migrate(program(train)), "train_step"))
    assert f"mine={expected.replace('LOOP', loop)}" in step and "zip(tape.gradient(loss,mine),mine)" in step


@pytest.mark.parametrize("test", ["v not in others", "v != w", "v not in [w]"])
def test_variables_that_are_compared(test: str) -> None:
    train = f"""
others = [v for v in tf.trainable_variables() if v.shape[0] > 3]
w = others[0]
train_op = optimizer.minimize(loss, {STEP}, var_list=[v for v in tf.trainable_variables() if {test}])
"""
    assert "compares variables" in manual_reason(program(train))


def test_a_choice_out_of_a_named_list() -> None:
    train = f"""
tvars = tf.trainable_variables()
body = [v for v in tvars if v.name.startswith("body/")]
grads, _ = tf.clip_by_global_norm(tf.gradients(loss, body), 1.0)
train_op = optimizer.apply_gradients(zip(grads, body), global_step={STEP})
"""
    step = method(migrate(program(train)), "train_step")
    assert f"body={flat(BODY)}" in flat(step) and "zip(grads, body)" in step


def test_all_variables_under_another_name() -> None:
    train = f"train_op = optimizer.minimize(loss, {STEP}, tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES))"
    assert "variables" not in method(migrate(program(train)), "create_model")
    assert "zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables)" in method(
        migrate(program(train)), "train_step"
    )


TWO = """
head_optimizer = tf.train.AdagradOptimizer(params["rate"])
body = optimizer.minimize(loss, {first}var_list=tf.trainable_variables("body"))
head = head_optimizer.minimize(loss, {second}var_list=tf.trainable_variables("head"))
"""


@pytest.mark.parametrize(
    ("first", "second", "group"),
    [
        (f"{STEP}, ", "", "train_op = tf.group(body, head)"),
        ("", "", f"train_op = tf.group(body, head, tf.assign_add({STEP}, 1))"),
        (f"{STEP}, ", "", "ops = [body]\nops.append(head)\ntrain_op = tf.group(*ops)"),
        (f"{STEP}, ", "", "with tf.control_dependencies([body, head]):\n    train_op = tf.no_op()"),
    ],
)
def test_two_optimizers_for_two_parts(first: str, second: str, group: str) -> None:
    text = migrate(program(TWO.format(first=first, second=second) + group))
    step, factory = method(text, "train_step"), method(text, "create_model")
    counted = bool(first)
    main, other = ("optimizer", "head_optimizer") if counted else ("head_optimizer", "optimizer_2")
    own = "head_optimizer" if counted else "optimizer"
    assert f"model.{other} = {own}\n" in factory and f"model.compile(optimizer={main}" in factory
    assert "with tf.GradientTape(persistent=True) as tape:" in step
    head = "self.head_optimizer" if counted else "self.optimizer"
    assert f"{head}.apply_gradients(zip(tape.gradient(loss, variables), variables))" in step
    assert "variables = self.predictions.trainable_variables\n" in step
    assert step.count(".apply_gradients(") == 2 and "ops" not in step


def test_optimizers_that_are_made_in_place() -> None:
    train = f"""
ops = []
ops.append(optimizer.minimize(loss, {STEP}, var_list=tf.trainable_variables("body")))
ops.append(tf.train.AdagradOptimizer(0.5).minimize(loss, var_list=tf.trainable_variables("head")))
train_op = tf.group(ops)
"""
    text = migrate(program(train))
    made = "tf.keras.optimizers.Adagrad(0.5, initial_accumulator_value=0.1, epsilon=0.0)"
    assert f"model.optimizer_2 = {made}" in method(text, "create_model")
    assert "self.optimizer_2.apply_gradients(" in method(text, "train_step")


@pytest.mark.parametrize(
    ("train", "reason"),
    [
        (TWO.format(first="", second="") + "train_op = tf.group(body, head)", "never advances"),
        (TWO.format(first=f"{STEP}, ", second=f"{STEP}, ") + "train_op = tf.group(body, head)", "more than once"),
        (
            TWO.format(first=f"{STEP}, ", second="").replace('"head"))', '"head"))\nloss = 2.0 * loss')
            + "train_op = tf.group(body, head)",
            "gets another value after its gradients are taken",
        ),
        (
            f"one = optimizer.minimize(loss, {STEP}, tf.trainable_variables('body'))\n"
            "train_op = tf.group(one, optimizer.minimize(loss, var_list=tf.trainable_variables('head')))",
            "takes several steps at once",
        ),
        (
            f"one = optimizer.minimize(loss, {STEP})\n"
            "train_op = tf.group(one, tf.train.AdamOptimizer().minimize(loss, var_list=tf.trainable_variables('head')))",
            "move the same variables",
        ),
        (f"train_op = optimizer.minimize(loss, {STEP}, tf.trainable_variables('nothing'))", "is empty"),
        (f"train_op = optimizer.minimize(loss, {STEP}, tf.trainable_variables(params['scope']))", "not a literal"),
        (
            f"some = [v for v in tf.trainable_variables() if v.shape[0] > 3]\n"
            f"train_op = optimizer.minimize(loss, {STEP}, some)",
            "",
        ),
    ],
)  # fmt: skip
def test_what_stays_out_of_native(train: str, reason: str) -> None:
    if reason:
        assert reason in manual_reason(program(train))
    else:
        assert "if v.shape[0] > 3]" in method(migrate(program(train)), "train_step")


def test_layers_of_helpers() -> None:
    body = """
with tf.variable_scope("body"):
    x = block(features["x"])
predictions = tf.layers.dense(x, 1, name="head")
"""
    helper = "\n\ndef block(x):\n    return tf.layers.dense(tf.layers.dense(x, 3, name='a'), 3, name='b')\n"
    train = (
        f"{LOSS}\ntrain_op = tf.train.AdamOptimizer().minimize(loss, {STEP}, tf.trainable_variables('body'))\n{SPEC}"
    )
    text = migrate(model_fn(body, end=train, before=helper))
    assert "variables = self.block.trainable_variables\n" in method(text, "train_step")


def test_a_name_of_the_program_is_not_bound_anew() -> None:
    train = f"""
variables = tf.trainable_variables("head")
body = optimizer.minimize(loss, {STEP}, tf.trainable_variables("body"))
head = tf.train.AdagradOptimizer(0.5).apply_gradients(zip(tf.gradients(loss, variables), variables))
train_op = tf.group(body, head)
"""
    step = method(migrate(program(train)), "train_step")
    assert f"trained={flat(BODY)}" in flat(step) and "zip(tape.gradient(loss, trained), trained)" in step
    assert "zip(tape.gradient(loss, variables), variables)" in step


COLUMNS = """
with tf.variable_scope("wide"):
    linear = tf.feature_column.linear_model(features, WIDE)
with tf.variable_scope("deep"):
    x = tf.feature_column.input_layer(features, DEEP)
    for units in params["units"]:
        if params["norm"]:
            x = tf.layers.batch_normalization(x, training=mode == tf.estimator.ModeKeys.TRAIN)
        x = tf.layers.dense(x, units)
predictions = linear + tf.layers.dense(x, 1, name="out")
"""


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("tf.trainable_variables('wide')", "variables=self.linear.trainable_variables"),
        ("tf.trainable_variables('wide/linear_model')", "variables=self.linear.trainable_variables"),
        ("tf.trainable_variables('deep')", "*self.input_layer.trainable_variables,"),
        ("tf.trainable_variables('deep')", "forlayerinself.batch_normalization_layersiflayerisnotNoneforvariable"),
        ("[v for v in tf.trainable_variables() if not v.name.startswith('wide')]", "*self.input_layer.trainable_"),
    ],
)
def test_the_variables_of_columns_belong_to_their_scope(listed: str, expected: str) -> None:
    updates = "train_op = optimizer.minimize(loss, {}, var_list={})"
    run = "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n    "
    step = flat(method(migrate(program(run + updates.format(STEP, listed), COLUMNS)), "train_step"))
    assert expected in step
    assert ("self.linear" in step) == ("wide" in listed and "not" not in listed)


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ("'embedding_weights' in v.name or 'wide' in v.op.name", {"linear", "input_layer"}),
        ("'embedding_weights' not in v.name and not v.name.startswith('wide')", {"dense_layers", "out"}),
        ("v.op.name.endswith('weights')", {"linear", "input_layer"}),
        ("not v.name.endswith('weights:0')", {"dense_layers", "out"}),
    ],
)
def test_the_variables_of_columns_have_names_that_end_alike(asked: str, chosen: set[str]) -> None:
    listed = f"[v for v in tf.trainable_variables() if {asked}]"
    step = method(
        migrate(program(f"train_op = optimizer.minimize(loss, {STEP}, var_list={listed})", COLUMNS)), "train_step"
    )
    assert {name for name in ("linear", "input_layer", "dense_layers", "out") if f"self.{name}" in step} == chosen


@pytest.mark.parametrize(
    "listed",
    [
        "tf.trainable_variables('deep/input_layer/city')",
        "[v for v in tf.trainable_variables() if 'deep' in v.name]",  # a column of the linear part may be called so
        "[v for v in tf.trainable_variables() if 'city' in v.name]",
        "tf.trainable_variables('.*city')",
    ],
)
def test_some_variables_of_columns_are_not_told_apart(listed: str) -> None:
    reason = manual_reason(program(f"train_op = optimizer.minimize(loss, {STEP}, var_list={listed})", COLUMNS))
    assert "columns are chosen by more than their scope" in reason or "names of variables, which differ" in reason


CONDITIONS = """
with tf.variable_scope("body"):
    x = tf.layers.dense(features["x"], 4, name="first")
    if params["second"]:
        x = tf.layers.dense(x, 4, name="second")
    {orelse}
with tf.variable_scope("head"):
    predictions = tf.layers.dense(x, 1)
"""


@pytest.mark.parametrize(
    ("orelse", "init"),
    [
        ("", 'if params["second"]:\n        self.second = SECOND\n    else:\n        self.second = None\n'),
        (
            "else:\n        x = tf.layers.dense(x, 4, name='other')",
            "self.other = OTHER\n        self.second = None\n",
        ),
        (
            "elif params['third']:\n        scale = tf.get_variable('scale', [4])\n        x *= scale",
            "    else:\n        if params['third']:\n            self.scale = self.add_weight(\n",
        ),
    ],
)
def test_a_layer_that_a_condition_makes_is_listed_where_there_is_one(orelse: str, init: str) -> None:
    updates = f"train_op = optimizer.minimize(loss, {STEP}, var_list=tf.trainable_variables('body'))"
    text = migrate(program(updates, CONDITIONS.format(orelse=orelse)))
    step, made = flat(method(text, "train_step")), method(text, "__init__")
    assert flat("*(self.second.trainable_variables if self.second is not None else [])") in step
    assert ("*([self.scale]ifself.scaleisnotNoneelse[])" in step) is ("scale" in orelse)
    assert "self.second = None\n" in made and ("self.scale = None\n" in made) is ("scale" in orelse)
    if init:
        expected = init.replace("SECOND", 'tf.keras.layers.Dense(4, name="second")')
        expected = expected.replace("OTHER", "tf.keras.layers.Dense(4, name='other')")
        assert flat(expected) in flat(made)


def test_layers_of_conditions_that_nobody_lists_are_made_as_before() -> None:
    made = method(
        migrate(program(f"train_op = optimizer.minimize(loss, {STEP})", CONDITIONS.format(orelse=""))), "__init__"
    )
    assert "None" not in made


ENCODER = """
def encoder(x, training):
    with tf.variable_scope("encoder"{scope}):
        table = tf.get_variable("table", [4, 3])
        scale = tf.get_variable("scale", [3])
        x = tf.matmul(x, table) * scale
        for i in range(params_of_all["depth"]):
            x = tf.layers.dense(x, 3, name="fc_%d" % i)
        return tf.layers.batch_normalization(x, training=training, name="bn")


params_of_all = {{"depth": 2}}
"""
ENCODED = """
hidden = encoder(features["x"], mode == tf.estimator.ModeKeys.TRAIN)
predictions = tf.layers.dense(hidden, 1, name="out")
"""
FROZEN = "[v for v in tf.trainable_variables() if {}]"


def frozen(asked: str, scope: str = "") -> str:
    """A program that trains some variables, among which are some of a helper."""
    run = "with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):\n    "
    train = f"{run}train_op = optimizer.minimize(loss, {STEP}, var_list={FROZEN.format(asked)})"
    return program(train, ENCODED, ENCODER.format(scope=scope))


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("not v.name.startswith('encoder/table')", "variable is not self.encoder.table]"),
        ("v.name not in ('encoder/table:0',)", ""),
        (
            "'encoder/table' not in v.name and 'encoder/scale' not in v.name",
            "if variable is not self.encoder.table and variable is not self.encoder.scale",
        ),
        ("'encoder/scale' in v.name or 'table' in v.name", "[self.encoder.table, self.encoder.scale]"),
    ],
)
def test_all_but_some_variables_of_a_helper(asked: str, written: str) -> None:
    if not written:
        assert "what is asked of the name of a variable is not followed" in manual_reason(frozen(asked))
        return
    step = " ".join(method(migrate(frozen(asked)), "train_step").split())
    assert written in step


@pytest.mark.parametrize(
    ("asked", "scope"),
    [
        ("not v.name.startswith('encoder/table')", ", partitioner=tf.fixed_size_partitioner(2)"),
        ("'encoder/fc_0' not in v.name", ""),
        ("'beta' not in v.name", ""),
    ],
)
def test_shards_and_variables_without_an_attribute_are_left_alone(asked: str, scope: str) -> None:
    assert "has some of those of one layer" in manual_reason(frozen(asked, scope))


def test_an_option_that_freezes_variables() -> None:
    step = " ".join(
        method(migrate(frozen("not params['freeze'] or 'encoder/table' not in v.name")), "train_step").split()
    )
    assert "if variable is not self.encoder.table] if self.params['freeze'] else self.trainable_variables" in step


TURNS = """
total = tf.layers.dense(features["x"], 1, name="body")
{before}for {head}:
    total += tf.layers.dense(features["x"], 1, name={name})
predictions = total
"""


@pytest.mark.parametrize(
    ("before", "head", "name", "asked"),
    [
        ("", "task in ('ctr', 'cvr')", "'gate_' + task", "'ctr' in v.name or 'body' in v.name"),
        ("", "task in ('ctr', 'cvr')", "'gate_%s' % task", "'ctr' not in v.name"),
        ("tasks = ['ctr', 'cvr']\n", "task in tasks", "'gate_' + task", "'ctr' not in v.name"),
        ("", "task in params['tasks']", "'gate_' + task", "'ctr' not in v.name"),
        ("", "task, units in params['tasks'].items()", "'gate_' + task", "'ctr' not in v.name"),
    ],
)
def test_texts_that_turns_give_to_names_decide(before: str, head: str, name: str, asked: str) -> None:
    body = TURNS.format(before=before, head=head, name=name)
    listed = f"[v for v in tf.trainable_variables() if {asked}]"
    reason = manual_reason(program(f"train_op = optimizer.minimize(loss, {STEP}, var_list={listed})", body))
    assert "has some of those of one layer" in reason


@pytest.mark.parametrize(
    ("head", "name", "asked"),
    [
        ("task in ('ctr', 'cvr')", "'gate_' + task", "'gate' in v.name"),
        ("task in params['tasks']", "'gate_' + task", "v.name.startswith('gate')"),
        ("i, task in enumerate(params['tasks'])", "'gate_%d' % i", "'body' not in v.name"),
        ("i in range(params['depth'])", "'gate_%d' % i", "'body' not in v.name"),
    ],
)
def test_turns_that_are_chosen_alike(head: str, name: str, asked: str) -> None:
    body = TURNS.format(before="", head=head, name=name)
    listed = f"[v for v in tf.trainable_variables() if {asked}]"
    step = method(
        migrate(program(f"train_op = optimizer.minimize(loss, {STEP}, var_list={listed})", body)), "train_step"
    )
    assert "self.gate_layers for variable" in step and "self.body" not in step
