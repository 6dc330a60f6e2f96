"""Names that stand for the variables of a loop and for another one below it."""

from __future__ import annotations

import ast
import textwrap

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

from migrator.engine.fixes import splice
from migrator.normalise.draft.draft import Drafts
from migrator.normalise.names import apart
from migrator.resolve.module import Module
from migrator.resolve.project import Project

LOOP = """
x = features["x"]
for i, units in enumerate(params["units"]):
    with tf.variable_scope("layer_%d" % i):
        W = tf.get_variable("W", [3, units])
        b = tf.get_variable("b", [units])
        x = tf.matmul(x, W) + b
"""
OUTPUT = """
with tf.variable_scope("output"):
    W = tf.get_variable("W", [3, 2])
    b = tf.get_variable("b", [2])
    predictions = tf.matmul(x, W) + b + tf.nn.l2_loss(W)
"""
PARAMS = {"units": [3, 3]}


def test_variables_of_a_loop_and_one_below_it() -> None:
    text = assert_same(model_fn(LOOP + OUTPUT), **PARAMS)
    assert "for W, b in zip(" in text and "+ self.output_b + tf.nn.l2_loss(self.output_w)" in text


ABOVE = """
with tf.variable_scope("first"):
    W = tf.get_variable("W", [3, 3])
    b = tf.get_variable("b", [3])
features = {"x": tf.matmul(features["x"], W) + b}
"""


def test_a_variable_above_a_loop() -> None:
    text = assert_same(model_fn(ABOVE + LOOP + OUTPUT), **PARAMS)
    assert 'tf.matmul(features["x"], self.first_w) + self.first_b' in text and "for W, b in zip(" in text


@pytest.mark.parametrize(
    "rest",
    [
        LOOP + "predictions = x + tf.nn.l2_loss(W)",  # of the last turn, or of none
        LOOP.replace("tf.matmul(x, W) + b", "tf.matmul(x, (lambda: W)()) + b") + "predictions = x",
        LOOP.replace("        W =", "        x += W\n        W =") + "predictions = x",
        "\nif params['more']:" + LOOP.replace("\n", "\n    ") + "\npredictions = x",
    ],
)
def test_what_may_be_the_variable_above_is_left(rest: str) -> None:
    (unit, *_) = units(run(model_fn(ABOVE + rest), style="auto"))
    assert unit.tier != "native"


@pytest.mark.parametrize(
    "below",
    [
        "W = tf.square(x)\npredictions = W + 1.0",
        "if params['more']:\n    W = tf.square(x)\npredictions = x + W",  # perhaps that of the last turn
        "W = tf.square(x)\nW = W + 1.0\npredictions = W",
        "W = tf.square(x)\nread = lambda: W\npredictions = read()",
    ],
)
def test_names_of_values_stay(below: str) -> None:
    text = assert_same(model_fn(LOOP + below), more=True, **PARAMS)
    assert "W_2" not in text


@pytest.mark.parametrize(
    "below",
    [
        OUTPUT.replace("tf.nn.l2_loss(W)", "(lambda: tf.nn.l2_loss(W))()"),
        OUTPUT + "W = predictions",
        "if params['more']:\n    W = tf.get_variable('V', [3, 3])\npredictions = tf.matmul(x, W)",
    ],
)
def test_what_may_be_either_variable_is_left(below: str) -> None:
    (unit, *_) = units(run(model_fn(LOOP + below), style="auto"))
    assert unit.tier != "native"


def test_variables_one_after_the_other() -> None:
    body = """
    x = features["x"]
    W = tf.get_variable("W_in", [3, 4])
    b = tf.get_variable("b1", [4])
    x = tf.nn.relu(tf.matmul(x, W) + b)
    W = tf.get_variable("W_mid", [4, 4])
    b = tf.get_variable("b2", [4])
    x = tf.nn.relu(tf.matmul(x, W) + b)
    with tf.variable_scope("top"):
        W = tf.get_variable("W_out", [4, 2])
        b = tf.get_variable("b3", [2])
        if params["more"]:
            W = W * 2.0
    predictions = tf.matmul(x, W) + b + tf.nn.l2_loss(W)
    """
    text = assert_same(model_fn(body), more=True)
    assert "x = tf.nn.relu(tf.matmul(x, self.w_mid) + self.b2)" in text
    assert 'W_3 = self.w_out\n        if self.params["more"]:\n            W_3 = W_3 * 2.0\n' in text


def test_a_variable_that_the_next_one_is_made_of_is_left() -> None:
    body = """
    W = tf.get_variable("a", [3, 3])
    W = tf.Variable(W.initialized_value(), name="b")
    predictions = tf.matmul(features["x"], W)
    """
    (unit, *_) = units(run(model_fn(body), style="auto"))
    assert unit.tier != "native"


@pytest.mark.parametrize(
    "lines",
    [
        "w = w * 2.0",
        "if params['more']:\n    w = w * 2.0",
        "w *= 2.0",
        "w = -w",
        "v = w\nif params['more']:\n    v = w + 1.0\nw = v",
        "w = w[:, :1]",
    ],
)
def test_what_is_computed_with_a_variable_is_computed_anew_for_each_batch(lines: str) -> None:
    body = f'w = tf.get_variable("w", [3, 2])\n{lines}\npredictions = tf.reduce_sum(tf.matmul(features["x"], w), 1)'
    text = assert_same(model_fn(body), more=True)
    assert "self.w = self.add_weight(" in text and text.count("self.w = ") == 1


FLAG = """
def block(x, units, pool=True, rate=0.5):
    net = x
    for width in units:
        net = tf.layers.dense(net, width)
    if pool is False:
        return net
    pool = tf.layers.flatten(net)
    rate = tf.layers.dropout(pool, rate)
    return net + pool + rate

"""


def test_an_option_whose_name_a_tensor_takes() -> None:
    body = "predictions = block(block(features['x'], [4, 3]), [3], False)"
    text = assert_same(model_fn(body, before=FLAG))
    assert "pool_2 = self.pool_2(net)" in text and "net + pool_2 + rate_2" in text and "Dropout(rate)" in text


@pytest.mark.parametrize(
    "change",
    [
        ("pool = tf.layers.flatten(net)", "pool = int(pool) + 1"),  # still a plain value
        ("pool = tf.layers.flatten(net)", "if units:\n        pool = tf.layers.flatten(net)"),  # perhaps the option
        ("pool = tf.layers.flatten(net)", "pool = tf.layers.flatten(net)\n    pool = pool + 1.0"),
        ("pool = tf.layers.flatten(net)", "pool = tf.layers.flatten(net)\n    print(f'{pool}')"),
        ("return net + pool", "return net + (lambda: pool)()"),
    ],
)
def test_options_that_stay_what_they_are(change: tuple[str, str]) -> None:
    body = "predictions = block(block(features['x'], [4, 3]), [3], False)"
    outcomes = run(model_fn(body, before=FLAG.replace(*change)), style="auto")
    assert all("pool_2" not in outcome.after.decode() for outcome in outcomes.values())


CHAIN = """
variable = tf.get_variable("first", [3, 3])
net = tf.matmul(features["x"], variable)
variable = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
variable = tf.Variable(variable, dtype=tf.float32, trainable=False)
predictions = tf.matmul(net, variable)
"""


def test_a_value_that_becomes_a_variable_under_its_name() -> None:
    text = migrate(model_fn(CHAIN))
    assert "weight_from_value(self, variable_2," in text and "tf.matmul(net, self.variable)" in text


@pytest.mark.parametrize(
    "change",
    [
        ("variable = [[0.0", "if params['w']:\n    variable = 1\nvariable = [[0.0"),  # read by nobody, but who knows
        ("variable = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]\n", "variable = variable.initialized_value()\n"),
    ],
)
def test_chains_that_begin_with_the_first_variable(change: tuple[str, str]) -> None:
    outcomes = run(model_fn(CHAIN.replace(*change)), style="auto")
    assert any("variable_2" not in outcome.after.decode() for outcome in outcomes.values())


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a = p\nb = make(a)\na = b\nuse(a)\nuse(a + b)", "a = p\nb = make(a)\nuse(b)\nuse(b + b)"),
        ("a = p\nb = 1\nwith c:\n    a = b\n    use(a)", "a = p\nb = 1\nwith c:\n    use(b)"),
    ],
)
def test_a_name_that_stands_for_another_one_in_the_end(body: str, wanted: str) -> None:
    assert told_apart(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        "b = make(p)\na = b\nuse(a)",  # the only value of it
        "a = p\nb = make(a)\na = b\nuse(a)\nb = 2\nuse(a)",
        "a = p\nb = make(a)\na = b\nuse(a)\na = 2\nuse(a)",
        "a = p\nb = make(a)\nif p:\n    a = b\nuse(a)",
        "a = p\nb = make(a)\na = b\nuse(lambda: a)",
        "a = p\nb = make(a)\na = b\nuse(f'{a}')",
        "a = p\nb = make(a)\nfor b in a:\n    a = b\nuse(a)",
        "a = p\na = b\nuse(a)",  # of the module
    ],
)
def test_names_that_stay_with_their_own_values(body: str) -> None:
    assert told_apart(body) == body


def told_apart(body: str) -> str:
    """The body of a function after one step."""
    head = "b = c = make = use = None\n\n\ndef f(p):\n"
    module = Module("program.py", head + textwrap.indent(body, "    ") + "\n")
    function = module.tree.body[1]
    assert isinstance(function, ast.FunctionDef)
    text = splice(
        module.source, [change.edit for change in apart.expand.expand(Drafts(Project({})), module, function)]
    ).decode()
    return textwrap.dedent(text.partition("def f(p):\n")[2]).strip()


TWO_FUSED = """
x = features["x"]
cell = tf.contrib.rnn.LSTMBlockFusedCell(4)
cell = tf.contrib.rnn.TimeReversedFusedRNN(cell)
first, _ = cell(x, dtype=tf.float32)
cell = tf.contrib.rnn.LSTMBlockFusedCell(5)
cell = tf.contrib.rnn.TimeReversedFusedRNN(cell)
second, _ = cell(first, dtype=tf.float32)
predictions = second
"""


def test_one_name_for_the_cells_of_two_layers() -> None:
    text = migrate(model_fn(TWO_FUSED))
    init, call = method(text, "__init__", "Model"), method(text, "call", "Model")
    made = "    {0} = FusedLSTM({1})\n    self.{0} = TimeReversedRNN({0})\n"
    assert made.format("cell", 4) in init and made.format("cell_2", 5) in init
    assert "first, _ = self.cell(x, " in call and "second, _ = self.cell_2(first, " in call


@pytest.mark.parametrize(
    "rest",
    [
        "predictions = tf.zeros_like(second) + cell(first, dtype=tf.float32)[0]",  # the last one
        "for _ in range(2):\n    predictions, _ = cell(second, dtype=tf.float32)",
    ],
)
def test_cells_of_one_name_below_are_the_last(rest: str) -> None:
    text = migrate(model_fn(TWO_FUSED.replace("predictions = second\n", f"{rest}\n")))
    assert text.count("self.cell_2(") >= 2 and text.count("self.cell(") == 1


@pytest.mark.parametrize(
    "old, new",
    [
        ("first, _ = cell(", "read = lambda: cell\nfirst, _ = cell("),
        (
            "cell = tf.contrib.rnn.LSTMBlockFusedCell(5)",
            "if params['more']:\n    cell = tf.contrib.rnn.LSTMBlockFusedCell(5)",
        ),
    ],
)
def test_cells_of_one_name_that_are_not_apart(old: str, new: str) -> None:
    (unit, *_) = units(run(model_fn(TWO_FUSED.replace(old, new)), style="auto"))
    assert unit.tier != "native"


def test_cells_that_data_choose_are_refused() -> None:
    cells = "if tf.executing_eagerly():\n    cell = tf.contrib.rnn.LSTMBlockFusedCell(5)"
    body = TWO_FUSED.replace("cell = tf.contrib.rnn.LSTMBlockFusedCell(5)", cells)
    assert "made while data flow" in manual_reason(model_fn(body))


OUTPUTS = """
outputs = tf.layers.dense(features["x"], params["units"][0])
targets = tf.expand_dims(labels, -1)
loss = tf.losses.mean_squared_error(targets, outputs)
"""
SPEC = """
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
return tf.estimator.EstimatorSpec(mode, predictions={"output": outputs}, loss=loss, train_op=train_op)
"""


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("outputs = outputs[:, -1]", "outputs_2 = outputs[:, -1]"),
        (
            "if outputs.shape[1] != 1:\n    outputs = outputs[:, -1]",
            "outputs_2 = outputs[:, -1] if outputs.shape[1] != 1 else outputs",
        ),
    ],
)
def test_an_output_that_becomes_a_part_of_itself_below_the_loss(below: str, expected: str) -> None:
    text = migrate(model_fn(OUTPUTS + below, end=SPEC))
    assert expected in method(text, "predict_step") and 'return {"output": outputs_2}' in text
    assert "outputs_2" not in method(text, "call") and "outputs[:, -1]" not in method(text, "call")


@pytest.mark.parametrize(
    "body",
    [
        OUTPUTS.replace("\nloss", "\noutputs = outputs[:, -1:]\nloss"),  # the loss is of the part
        OUTPUTS.replace("\nloss", "\nif outputs.shape[1] != 1:\n    outputs = outputs[:, -1:]\nloss"),
        OUTPUTS + "reward = outputs[:, -1]",
    ],
)
def test_other_parts_keep_the_name(body: str) -> None:
    assert "outputs_2" not in migrate(model_fn(body, end=SPEC))


ARMS = """
x = features["x"]
if params["shared"]:
    w = tf.get_variable("w", [3, 3])
    x = tf.add_n([tf.matmul(x, w) for _ in range(2)])
else:
    for i in range(2):
        w = tf.get_variable("w_%d" % i, [3, 3])
        x = tf.matmul(x, w)
predictions = tf.layers.dense(x, 2)
"""


@pytest.mark.parametrize("shared", [True, False])
def test_variables_of_a_loop_in_one_arm_and_one_in_the_other(shared: bool) -> None:
    assert_same(model_fn(ARMS), shared=shared)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("predictions = ", "x = x + tf.nn.l2_loss(w)\npredictions = "),  # it may be either
        ('    w = tf.get_variable("w", [3, 3])\n', "    w = x\n"),
        ('x = features["x"]\n', 'x = w = features["x"]\n'),
        ('        w = tf.get_variable("w_%d" % i, [3, 3])\n        x = tf.matmul(x, w)', "        x = tf.matmul(x, w)"),
    ],
)
def test_arms_that_share_more_are_left(old: str, new: str) -> None:
    module = Module(
        "program.py",
        "import tensorflow as tf\n\n\ndef f(features, params):\n" + textwrap.indent(ARMS.replace(old, new), "    "),
    )
    function = module.tree.body[1]
    assert old in ARMS and isinstance(function, ast.FunctionDef)
    assert not apart._apart_in_arms(module, function)


def test_a_variable_below_a_loop_in_a_scope() -> None:
    body = 'x = features["x"]\nwith tf.variable_scope("net"):\n' + textwrap.indent(
        """for i in range(2):
    w = tf.get_variable("w_%d" % i, [3, 3])
    x = tf.matmul(x, w)
w = tf.get_variable("out", [3, 2])
predictions = tf.matmul(x, w)
""",
        "    ",
    )
    assert_same(model_fn(body))
