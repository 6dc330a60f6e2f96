"""Recurrent cells and loops: the cells are plain objects of `__init__`, a loop is a layer."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn, run, units

HEAD = "x = features['x']\nlengths = features['z']\n"
LOOP = "outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = outputs"


def both(body: str) -> tuple[str, str]:
    text = migrate(model_fn(HEAD + body))
    return method(text, "__init__"), method(text, "call")


@pytest.mark.parametrize(
    ("cell", "made"),
    [
        ("nn.rnn_cell.LSTMCell(4)", "LSTMCell(4)"),
        ("nn.rnn_cell.LSTMCell(num_units=4, state_is_tuple=True)", "LSTMCell(4)"),
        ("nn.rnn_cell.LSTMCell(4, forget_bias=0.0, num_proj=None)", "LSTMCell(4, forget_bias=0.0)"),
        ("nn.rnn_cell.LSTMCell(4, name='a')", "LSTMCell(4, name='a')"),
        ("nn.rnn_cell.BasicLSTMCell(4, 0.5)", "LSTMCell(4, forget_bias=0.5)"),
        ("contrib.rnn.BasicLSTMCell(4)", "LSTMCell(4)"),
        ("contrib.rnn.LSTMBlockCell(4, forget_bias=0.5, use_peephole=False)", "LSTMCell(4, forget_bias=0.5)"),
        ("contrib.rnn.LSTMBlockCell(4, use_peephole=True)", "PeepholeLSTMCell(4)"),
        ("nn.rnn_cell.LSTMCell(4, True, forget_bias=0.5)", "PeepholeLSTMCell(4, forget_bias=0.5)"),
        ("nn.rnn_cell.LSTMCell(4, use_peepholes=False)", "LSTMCell(4)"),
        ("contrib.rnn.GRUCell(4, activation=tf.nn.relu)", "GRUCell(4, activation=tf.nn.relu)"),
        ("nn.rnn_cell.BasicRNNCell(4)", "BasicRNNCell(4)"),
        (
            "nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in params['sizes']])",
            "tf.keras.layers.StackedRNNCells([GRUCell(n) for n in params['sizes']])",
        ),
    ],
)
def test_cells(cell: str, made: str) -> None:
    init, call = both(f"cell = tf.{cell}\n{LOOP}")
    layer = "RNN" if made.startswith("LSTMCell") else "tf.keras.layers.RNN"
    assert f"    cell = {made}\n" in init and f"self.rnn = {layer}(cell, return_sequences=True)" in init
    assert "outputs = self.rnn(x)" in call


@pytest.mark.parametrize(
    ("loop", "made", "used"),
    [
        (
            "dynamic_rnn(cell, x, lengths, initial_state=x)",
            "DynamicRNN(cell)",
            "self.rnn(x, sequence_length=lengths, initial_state=x)",
        ),
        ("dynamic_rnn(cell, x, time_major=True)", "DynamicRNN(cell, time_major=True)", "self.rnn(x)"),
        ("dynamic_rnn(cell, x, scope='deep', time_major=True)", "DynamicRNN(cell, time_major=True)", "self.deep(x)"),
        (
            "bidirectional_dynamic_rnn(cell, cell, x, lengths, initial_state_bw=lengths)",
            "BidirectionalRNN(cell, cell)",
            "self.bidirectional_rnn(x, sequence_length=lengths, initial_state_bw=lengths)",
        ),
        (
            "bidirectional_dynamic_rnn(cell, cell, x, time_major=True)",
            "BidirectionalRNN(cell, cell, time_major=True)",
            "self.bidirectional_rnn(x)",
        ),
        ("static_rnn(cell, tf.unstack(x, 3))", "StaticRNN(cell)", "self.rnn(tf.unstack(x, 3))"),
    ],
)
def test_loops(loop: str, made: str, used: str) -> None:
    init, call = both(f"cell = tf.nn.rnn_cell.GRUCell(3)\nout, state = tf.nn.{loop}\npredictions = state")
    assert f" = {made}\n" in init
    assert f"out, state = {used}\n" in call


def test_the_zero_state_is_made_where_the_data_flows() -> None:
    init, call = both(
        "cell = tf.nn.rnn_cell.LSTMCell(3)\nstart = cell.zero_state(params['batch'], tf.float32)\n"
        "_, state = tf.nn.dynamic_rnn(cell, x, initial_state=start)\npredictions = state.h"
    )
    assert "self.cell = LSTMCell(3)" in init and "zero_state" not in init
    assert "start = zero_state(self.cell, self.params['batch'], tf.float32)" in call
    assert "_, state = self.rnn(x, initial_state=start)" in call


def test_state_tuples() -> None:
    _, call = both(
        "cell = tf.nn.rnn_cell.LSTMCell(3)\nstart = tf.nn.rnn_cell.LSTMStateTuple(lengths, h=lengths)\n"
        "_, state = tf.nn.dynamic_rnn(cell, x, initial_state=start)\npredictions = state.h"
    )
    assert "start = LSTMStateTuple(lengths, lengths)" in call


def test_a_function_in_the_model_fn_that_makes_cells() -> None:
    init, _ = both(
        "def make(n):\n    return tf.nn.rnn_cell.LSTMCell(n)\n\n"
        f"cell = tf.nn.rnn_cell.MultiRNNCell([make(n) for n in (3, 4)])\n{LOOP}"
    )
    assert "tf.keras.layers.StackedRNNCells([LSTMCell(n) for n in (3, 4)])" in init


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=params['peep'])  # HERE", "`use_peepholes`"),
        ("cell = tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True, cell_clip=1.0)  # HERE", "`cell_clip`"),
        ("cell = tf.nn.rnn_cell.LSTMCell(4, num_proj=2)  # HERE", "`num_proj`"),
        ("cell = tf.nn.rnn_cell.BasicLSTMCell(4, state_is_tuple=False)  # HERE", "`state_is_tuple`"),
        ("cell = tf.nn.rnn_cell.GRUCell(4, reuse=tf.AUTO_REUSE)  # HERE", "`reuse`"),
        ("cell = tf.nn.rnn_cell.GRUCell(4, dtype=tf.float64)  # HERE", "`dtype`"),
        ("cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4), sum)  # HERE", "`residual_fn`"),
        ("cell = tf.contrib.cudnn_rnn.CudnnLSTM(1, 4)  # HERE", "cudnn_rnn"),
        ("cell = tf.contrib.rnn.LSTMBlockCell(4, use_peephole=1)  # HERE", "`use_peephole`"),
        ("cell = tf.contrib.rnn.LSTMBlockCell(4, cell_clip=1.0)  # HERE", "`cell_clip`"),
        ("cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4)  # HERE", "LayerNormBasicLSTMCell"),
    ],
)
def test_cells_left_alone(body: str, reason: str) -> None:
    before = "\ndef outside(n):\n    return tf.nn.rnn_cell.GRUCell(n)\n"
    assert reason in manual_reason(model_fn(f"{HEAD}{body}\n{LOOP}", before=before))


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        ("dynamic_rnn(cell)", "without `inputs`"),
        ("dynamic_rnn(cell, x, dtype=tf.float64)", "float32"),
        ("dynamic_rnn(cell, x, time_major=params['major'])", "time_major"),
        ("bidirectional_dynamic_rnn(cell, cell, x, time_major=params['major'])", "time_major"),
        ("dynamic_rnn(cell, x, scope=params['scope'])", "not a literal"),
        ("dynamic_rnn(*params['all'])", "hidden behind *"),
        ("raw_rnn(cell, x)", "raw_rnn"),
    ],
)
def test_loops_left_alone(loop: str, reason: str) -> None:
    body = f"cell = tf.nn.rnn_cell.GRUCell(3)\nout, state = tf.nn.{loop}  # HERE\npredictions = state"
    assert reason in manual_reason(model_fn(HEAD + body))


FUSED = "cell = tf.contrib.rnn.LSTMBlockFusedCell({0})\n"
READ = "outputs, state = cell(x, dtype=tf.float32, sequence_length=lengths)\npredictions = outputs"


def test_layers_over_whole_sequences() -> None:
    init, call = both(FUSED.format("4, forget_bias=0.5") + READ)
    assert "    self.cell = FusedLSTM(4, forget_bias=0.5)\n" in init
    assert "    outputs, state = self.cell(x, dtype=tf.float32, sequence_length=lengths)\n" in call


def test_a_name_that_is_kept_gets_its_last_value_only() -> None:
    body = FUSED.format("params['units']") + "cell = tf.contrib.rnn.TimeReversedFusedRNN(cell)\n" + READ
    init, _ = both(body)
    made = "    cell = FusedLSTM(params['units'])\n    self.cell = TimeReversedRNN(cell)\n"
    assert made in init


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (FUSED.format("4, use_peephole=True") + READ, "`use_peephole`"),
        (FUSED.format("4, reuse=True") + READ, "`reuse`"),
        (
            FUSED.format("4") + "with tf.variable_scope('s', initializer=tf.zeros_initializer()):\n"
            "    outputs, state = cell(x)\npredictions = outputs",
            "a layer object is called under variable_scope(initializer=…)",
        ),
    ],
)
def test_layers_over_whole_sequences_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(HEAD + body))


TWICE = """
with tf.variable_scope("one"{first}) as scope:
    cell = tf.nn.rnn_cell.GRUCell(3)
    a, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32{given})
with tf.variable_scope("{name}"{second}) as scope:
    other = tf.nn.rnn_cell.GRUCell(3)
    b, _ = tf.nn.dynamic_rnn({cell}, x, dtype=tf.float32{given})  # HERE
predictions = a + b
"""
AUTO = ", reuse=tf.AUTO_REUSE"


@pytest.mark.parametrize(
    "given",
    [
        {"first": "", "second": "", "name": "two", "cell": "other", "given": ", scope=scope"},
        {"first": AUTO, "second": AUTO, "name": "two", "cell": "other", "given": ""},
        {"first": AUTO, "second": AUTO, "name": "two", "cell": "other", "given": ", scope=scope"},
        {"first": AUTO, "second": AUTO, "name": "one", "cell": "cell", "given": ""},  # the same cell runs twice
    ],
)
def test_layers_in_scopes_of_their_own(given: dict[str, str]) -> None:
    init, call = both(TWICE.format(**given))
    assert init.count("RNN(") == 2 and call.count("rnn(x)") + call.count("rnn_2(x)") + call.count("rnn_1(x)") == 2


@pytest.mark.parametrize("scope", ["", ", scope=scope", ", scope='inner'"])
@pytest.mark.parametrize("second", [AUTO, ", reuse=True"])
def test_layers_that_share_their_variables_by_name_are_left_alone(second: str, scope: str) -> None:
    body = TWICE.format(first=AUTO, second=second, name="one", cell="other", given=scope)
    assert "recurrent layers may share their variables by name" in manual_reason(model_fn(HEAD + body))


def test_turns_that_share_the_variables_of_a_recurrent_layer_are_left_alone() -> None:
    body = """
for name in ["x", "z"]:
    with tf.variable_scope("one", reuse=tf.AUTO_REUSE):
        predictions, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), features[name], dtype=tf.float32)  # HERE
"""
    assert "share the variables of a recurrent layer" in manual_reason(model_fn(body))


def test_calls_of_a_helper_that_may_share_the_variables_of_a_recurrent_layer() -> None:
    helper = """

    def encode(x, size):
        with tf.variable_scope("encoder", reuse=tf.AUTO_REUSE):
            _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell({size}), x, dtype=tf.float32)
        return state * size
    """
    alike = "predictions = encode(features['x'], 3) + encode(features['z'], 3)"
    text = migrate(model_fn(alike, before=helper.format(size="size")))
    assert text.count("Encode(3)") == 1 and text.count("self.encode(features[") == 2
    apart = alike.replace("['z'], 3", "['z'], 4")
    assert "may share some of their variables" in manual_reason(model_fn(apart, before=helper.format(size="3")))


GRU = "tf.nn.rnn_cell.GRUCell(4)"
TRAIN = "tf.estimator.ModeKeys.TRAIN"


@pytest.mark.parametrize(
    ("body", "made"),
    [
        (f"cell = {GRU}\nif mode == {TRAIN}:\n    cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5)",
         "cell = DropoutWrapper(cell, output_keep_prob=0.5)"),
        (f"cell = {GRU}\nif params['keep'] < 1 and mode == {TRAIN}:\n"
         "    cell = tf.nn.rnn_cell.DropoutWrapper(cell, params['keep'])",
         "if params['keep'] < 1:\n        cell = DropoutWrapper(cell, input_keep_prob=params['keep'])"),
        (f"keep = params['keep'] if mode == {TRAIN} else 1.0\n"
         f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, keep, state_keep_prob=keep)",
         "DropoutWrapper(GRUCell(4), input_keep_prob=params['keep'], state_keep_prob=params['keep'])"),
        (f"rate = params['rate']\nif mode != {TRAIN}:\n    rate = 0.0\n"
         f"cell = tf.contrib.rnn.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper({GRU}, 1 - rate) for _ in range(3)])",
         "[DropoutWrapper(GRUCell(4), input_keep_prob=1 - params['rate']) for _ in range(3)]"),
        (f"if mode == {TRAIN}:\n    keep = 0.5\nelse:\n    keep = 1.0\ndef make(n):\n"
         "    return tf.contrib.rnn.DropoutWrapper(tf.nn.rnn_cell.GRUCell(n), output_keep_prob=keep)\n"
         "cell = tf.contrib.rnn.MultiRNNCell([make(n) for n in (3, 4)])",
         "tf.keras.layers.StackedRNNCells([DropoutWrapper(GRUCell(n), output_keep_prob=0.5) for n in (3, 4)])"),
        (f"cells = [{GRU} for _ in range(2)]\nif mode == {TRAIN}:\n"
         "    cells = [tf.nn.rnn_cell.DropoutWrapper(c, output_keep_prob=0.5) for c in cells]\n"
         "cell = tf.nn.rnn_cell.MultiRNNCell(cells)",
         "    cells = [DropoutWrapper(c, output_keep_prob=0.5) for c in cells]\n"),
        (f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, 0.5)",
         "DropoutWrapper(GRUCell(4), input_keep_prob=0.5, only_in_training=False)"),
        (f"keep = 0.5 if mode == {TRAIN} else 1.0\ncell = tf.contrib.rnn.MultiRNNCell("
         f"[tf.nn.rnn_cell.DropoutWrapper({GRU}, keep) for keep in params['all']])",
         "DropoutWrapper(GRUCell(4), input_keep_prob=keep, only_in_training=False) for keep in params['all']]"),
        (f"cell = tf.contrib.rnn.ResidualWrapper(tf.contrib.rnn.DropoutWrapper({GRU}, 1.0))",
         "ResidualWrapper(DropoutWrapper(GRUCell(4)))"),
    ],
)  # fmt: skip
def test_dropout_of_cells(body: str, made: str) -> None:
    init, call = both(f"{body}\n{LOOP}")
    assert made in init and "self.rnn = tf.keras.layers.RNN(cell, return_sequences=True)" in init
    assert call.splitlines()[1:] == ["    x = features['x']", "    outputs = self.rnn(x)"] + call.splitlines()[3:]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"keep = 0.5 if mode == {TRAIN} else 0.9\ncell = tf.contrib.rnn.DropoutWrapper({GRU}, keep)  # HERE",
         "outside of training"),
        (f"keep = 0.5 if mode == tf.estimator.ModeKeys.EVAL else 1.0\n"
         f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, keep)  # HERE", "outside of training"),
        (f"keep = 0.5 if mode == {TRAIN} else params['keep']\n"
         f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, keep)  # HERE", "outside of training"),
        (f"keep = 0.5 if mode == {TRAIN} else 1.0\ncell = tf.contrib.rnn.DropoutWrapper({GRU}, keep, 0.5)  # HERE",
         "something always"),
        (f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, 0.5, variational_recurrent=True)  # HERE", "variational"),
        (f"cell = tf.contrib.rnn.DropoutWrapper({GRU}, 0.5, seed=3)  # HERE", "`seed`"),
        (f"cell = {GRU}\nrate = 0.5 if mode == {TRAIN} else 0.1\nif rate > 0.0:\n"
         "    cell = tf.contrib.rnn.DropoutWrapper(cell, 1.0 - rate)", "outside of training"),
    ],
)  # fmt: skip
def test_dropout_of_cells_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"{HEAD}{body}\n{LOOP}"))


MAKER = """
def make_cell(size, keep=1.0):
    cell = tf.nn.rnn_cell.GRUCell(size)
    return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
"""
FLAG = """
def make_cell(size, training, rate):
    cell = tf.nn.rnn_cell.BasicLSTMCell(size)
    if training and rate > 0:
        cell = tf.contrib.rnn.DropoutWrapper(cell, 1.0 - rate)
    return cell
"""
STACK = "cell = tf.nn.rnn_cell.MultiRNNCell([{} for n in params['sizes']])"


@pytest.mark.parametrize(
    ("maker", "body", "made", "inside"),
    [
        (MAKER, f"keep = params['keep'] if mode == {TRAIN} else 1.0\n" + STACK.format("make_cell(n, keep)"),
         "make_cell(n, params['keep'])", "return DropoutWrapper(cell, output_keep_prob=keep)\n"),
        (MAKER, STACK.format(f"make_cell(n, keep=0.5 if mode == {TRAIN} else 1.0)"),
         "make_cell(n, keep=0.5)", "return DropoutWrapper(cell, output_keep_prob=keep)\n"),
        (MAKER, STACK.format("make_cell(n, 0.5)"),
         "make_cell(n, 0.5)", "return DropoutWrapper(cell, output_keep_prob=keep, only_in_training=False)\n"),
        (FLAG, f"training = mode == {TRAIN}\n" + STACK.format("make_cell(n, training, params['rate'])"),
         "make_cell(n, True, params['rate'])", "cell = DropoutWrapper(cell, input_keep_prob=1.0 - rate)\n"),
        (FLAG, STACK.format(f"make_cell(n, mode == {TRAIN}, 0.0)"),
         "make_cell(n, True, 0.0)", 'cell = LSTMCell(size)\n    if training and rate > 0:\n'),
    ],
)  # fmt: skip
def test_functions_that_make_cells(maker: str, body: str, made: str, inside: str) -> None:
    text = migrate(model_fn(f"{HEAD}{body}\n{LOOP}", before=maker))
    assert f"cell = tf.keras.layers.StackedRNNCells([{made} for n in params['sizes']])" in method(text, "__init__")
    assert inside in text and "rnn_cell" not in text


@pytest.mark.parametrize(
    ("maker", "body", "reason"),
    [
        (MAKER, f"keep = 0.5 if mode == {TRAIN} else 0.9\n" + STACK.format("make_cell(n, keep)"), "outside of training"),
        (MAKER, f"keep = 0.5 if mode == {TRAIN} else 1.0\n" + STACK.format("(make_cell(n, keep), make_cell(n, 0.5))"),
         "and others that always do"),
        (FLAG.replace("return cell", "return tf.contrib.rnn.DropoutWrapper(cell, 0.5)"),
         STACK.format(f"make_cell(n, mode == {TRAIN}, 0.5)"), "and others that always do"),
        (MAKER + "\ndef make_stack(n):\n    cells = [make_cell(n)]\n    return tf.nn.rnn_cell.MultiRNNCell(cells)\n",
         STACK.format("make_stack(n)"), "through another one"),
        (MAKER + "\ndef make_some(n):\n    cells = [make_cell(n)]\n    return cells[0]\n",
         STACK.format("make_some(n)"), "through another one"),
        (MAKER + "\nspare = make_cell(3)\n", STACK.format("make_cell(n)"), "used outside of the model_fn"),
        (MAKER + "\nmakers = [make_cell]\n", STACK.format("make_cell(n)"), "used outside of the model_fn"),
        (MAKER, STACK.format("make_cell(*params['all'])"), "called with * or **"),
        (MAKER.replace("return", "print(keep)\n    return"),
         f"keep = 0.5 if mode == {TRAIN} else 1.0\n" + STACK.format("make_cell(n, keep)"), "depends on the mode"),
        (MAKER.replace("return", "cell = tf.contrib.rnn.AttentionCellWrapper(cell)\n    return"),
         STACK.format("make_cell(n)"), "AttentionCellWrapper"),
        (FLAG.replace("and", "or"), STACK.format(f"make_cell(n, mode == {TRAIN}, 0.0)"), "depends on the mode"),
        (MAKER.replace("(size, keep=1.0)", "(size, *keep)"), STACK.format("make_cell(n)"), "with * or a decorator"),
    ],
)  # fmt: skip
def test_functions_that_make_cells_left_alone(maker: str, body: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"{HEAD}{body}\n{LOOP}", before=maker))


# -- cells that each turn of a loop makes, and cells that get other values on the way ---------------------------------

TURNS = f"""
for i in range(params["layers"]):
    with tf.variable_scope("layer_%d" % i):
        fw = tf.nn.rnn_cell.GRUCell(4)
        bw = tf.nn.rnn_cell.GRUCell(4)
        if mode == {TRAIN}:
            fw = tf.nn.rnn_cell.DropoutWrapper(fw, 0.5)
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, dtype=tf.float32)
        x = tf.concat(outputs, -1)
predictions = x
"""


def test_cells_of_each_turn_are_made_for_its_layer() -> None:
    init, call = both(TURNS)
    made = """\
    for i in range(params["layers"]):
        fw = GRUCell(4)
        bw = GRUCell(4)
        fw = DropoutWrapper(fw, input_keep_prob=0.5)
        self.forward_rnn_layers.append(tf.keras.layers.RNN(fw, return_sequences=True))
        self.backward_rnn_layers.append(tf.keras.layers.RNN(bw, return_sequences=True, go_backwards=True))
"""
    assert made in init
    assert "outputs_bw = tf.reverse(backward_rnn(x), axis=[1])" in call and "GRUCell" not in call


def test_cells_of_each_turn_that_are_used_for_more_are_left_alone() -> None:
    body = TURNS.replace("x = tf.concat(outputs, -1)", "x = tf.concat(outputs, -1) * fw.output_size  # HERE")
    assert "is computed in a loop when the model is built" in manual_reason(model_fn(HEAD + body.replace("# HERE", "")))


def test_cells_are_put_into_a_list_while_another_name_is_used_again() -> None:
    body = "_, start = tf.split(x, 2)\ncells = []\nfor _ in range(2):\n    cells.append(tf.nn.rnn_cell.GRUCell(4))\n"
    init, _ = both(f"{body}cell = tf.nn.rnn_cell.MultiRNNCell(cells)\n{LOOP} * start")
    assert "for _ in range(2):\n        cells.append(GRUCell(4))\n" in init


CONDITION = """
keep = params["keep"] if mode == {} else {}
cell = tf.nn.rnn_cell.GRUCell(4)
if keep < 1.0:
    cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
"""


def test_a_condition_on_what_is_kept() -> None:
    init, _ = both(CONDITION.format(TRAIN, "1.0") + LOOP)
    assert 'if params["keep"] < 1.0:\n        cell = DropoutWrapper(cell, output_keep_prob=params["keep"])' in init


def test_a_condition_on_what_is_kept_in_a_function() -> None:
    before = """
def make(kind, keep):
    cell = tf.nn.rnn_cell.GRUCell(4) if kind == "gru" else tf.nn.rnn_cell.BasicRNNCell(4)
    if keep < 1:
        cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
    return cell
"""
    body = f"""
keep = 1.0
if mode == {TRAIN}:
    keep = params["keep"]
cells = []
for kind in params["kinds"]:
    cells.append(make(kind, keep))
cell = tf.nn.rnn_cell.MultiRNNCell(cells)
"""
    init = method(migrate(model_fn(HEAD + body + LOOP, before=before)), "__init__")
    assert 'if params["keep"] < 1:\n' in init and 'output_keep_prob=params["keep"])' in init


@pytest.mark.parametrize(
    "body",
    [
        CONDITION.format(TRAIN, "0.9"),  # something is dropped outside of training, too
        CONDITION.format(TRAIN, "1.0") + "else:\n    cell = tf.nn.rnn_cell.GRUCell(5)\n",
        CONDITION.format(TRAIN, "1.0") + "    x = x * 2.0\n",
        f"cells = [{GRU}]\nif mode == {TRAIN}:\n    cells = [tf.nn.rnn_cell.DropoutWrapper(c, 0.5) for c in cells if c]\n"
        "cell = cells[0]\n",
        CONDITION.format(TRAIN, "1.0") + "    cell = tf.nn.rnn_cell.ResidualWrapper(cell)\n",
    ],
)
def test_conditions_that_decide_more_are_left_alone(body: str) -> None:
    manual_reason(model_fn(HEAD + body + LOOP))


NESTED = """
def stack(training, keep):
    def make():
        cell = tf.nn.rnn_cell.GRUCell(4)
        if {}:
            cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep)
        return cell

    return tf.nn.rnn_cell.MultiRNNCell([make() for _ in range(2)])
"""


def test_a_function_in_a_function_wraps_under_a_condition() -> None:
    body = f"{HEAD}cell = stack(mode == {TRAIN}, 0.5)\n{LOOP}"
    text = method(migrate(model_fn(body, before=NESTED.format("training"))), "__init__")
    assert "cell = DropoutWrapper(cell, output_keep_prob=0.5)\n" in text and "if " not in text
    assert "    cell = tf.keras.layers.StackedRNNCells([make() for _ in range(2)])\n" in text


def test_a_function_in_a_function_under_a_condition_of_its_own_is_left_alone() -> None:
    body = f"{HEAD}cell = stack(mode == {TRAIN}, 0.5)\n{LOOP}"
    manual_reason(model_fn(body, before=NESTED.format("training and keep")))


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("cell = tf.nn.rnn_cell.GRUCell(4)\n" + LOOP, True),
        ("predictions = tf.layers.dropout(tf.layers.dense(x, 3), training=mode == tf.estimator.ModeKeys.TRAIN)", True),
        ("predictions = tf.layers.dense(x, 3)", False),
    ],
)
def test_training_of_call(body: str, asked: bool) -> None:
    """Keras 3 tells a model of training only if its `call` takes the flag, and cells that drop learn of it from there."""
    assert ("training=False" in both(body)[1]) is asked


def test_the_initializer_of_a_scope_is_not_lost() -> None:
    body = """
init = tf.random_uniform_initializer(-0.1, 0.1)
with tf.variable_scope("rnn", initializer=init):
    cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(3) for _ in range(2)])
    out, state = tf.nn.dynamic_rnn(cells, x, dtype=tf.float32)
predictions = out
"""
    init, _ = both(body)
    assert "initializer=tf.keras.initializers.RandomUniform(-0.1, 0.1))" in init


def test_a_scope_that_regularizes_cells_is_left() -> None:
    body = """
with tf.variable_scope("rnn", regularizer=tf.keras.regularizers.l2(0.1)):
    out, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)
predictions = out
"""
    assert "a recurrent layer stands under variable_scope(regularizer=…)" in manual_reason(model_fn(HEAD + body))


ENCODED_TWICE = """
with tf.variable_scope("compose", reuse=tf.AUTO_REUSE):
    a = tf.layers.dense(x, 3, name="projection")
    b = tf.layers.dense(2 * x, 3, name="projection")
    predictions = encode(a, "{first}") + encode(b, "{second}")
"""
ENCODE = """
def encode(inputs, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), inputs, dtype=tf.float32)
        return outputs
"""


@pytest.mark.parametrize(("second", "made"), [("rnn_a", 1), ("rnn_b", 2)])
def test_a_helper_with_cells_beside_layers_that_are_shared(second: str, made: int) -> None:
    body = HEAD + ENCODED_TWICE.format(first="rnn_a", second=second)
    text = migrate(model_fn(body, before=ENCODE))
    init = method(text, "__init__", of="Model")
    assert init.count("Encode(") == made and init.count("Dense(3") == 1


def test_helpers_with_cells_in_a_helper_make_no_cells_themselves() -> None:
    outer = """
def network(x):
    x = encode(x, "words")
    return tf.layers.dense(encode(x, "sentences"), 1)
"""
    text = migrate(model_fn(HEAD + "predictions = network(x)", before=ENCODE + outer))
    assert method(text, "__init__", of="Network").count("Encode(") == 2
    assert "tf.keras.layers.RNN(" in method(text, "__init__", of="Encode")


def test_a_layer_that_may_be_a_part_of_cells_is_left_alone() -> None:
    body = """
predictions = encode(x, "rnn_a")
with tf.variable_scope("rnn_a", reuse=tf.AUTO_REUSE):
    predictions += tf.layers.dense(x, 3, name="rnn")
"""
    reason = manual_reason(model_fn(HEAD + body, before=ENCODE))
    assert "variables may be shared under a name that is not a literal" in reason


# -- loops of which only parts are read: Keras's own layer ------------------------------------------------------------

LSTM = "cell = tf.nn.rnn_cell.LSTMCell(3)\n"
WHOLE = "self.rnn = RNN(cell, return_sequences=True)\n"


@pytest.mark.parametrize(
    ("body", "made", "used"),
    [
        (LSTM + "out, _ = tf.nn.dynamic_rnn(cell, x, lengths)\npredictions = out",
         "self.rnn = RNN(cell, return_sequences=True)\n",
         "    mask = tf.sequence_mask(lengths, tf.shape(x)[1])\n    out = tf.identity(self.rnn(x, mask=mask))  # without"),
        (LSTM + "out, _ = tf.nn.dynamic_rnn(cell, x, lengths)\npredictions = tf.concat([out, x], 2) + out[:, :1]",
         "self.rnn = RNN(cell, return_sequences=True)\n", "    out = self.rnn(x, mask=mask)\n"),
        (LSTM + "out, state = tf.nn.dynamic_rnn(cell, x, lengths)\npredictions = tf.layers.dense(out, 3) + state.h",
         "return_state=True", "    out, _, state_h = self.rnn(x, mask=mask)\n    out = tf.identity(out)  # without"),
        (LSTM + "out = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]\npredictions = out", WHOLE, "out = self.rnn(x)\n"),
        (LSTM + "_, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)\npredictions = state.h",
         "self.rnn = RNN(cell)\n",
         "    state_h = self.rnn(x, mask=mask)\n"),
        (LSTM + "_, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = state[1] + state.c",
         "self.rnn = RNN(cell, return_state=True)\n",
         "    _, state_c, state_h = self.rnn(x)\n"),
        (LSTM + "out, (c, h) = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = out[:, 0] + h",
         "self.rnn = RNN(cell, return_sequences=True, return_state=True)\n",
         "    out, _, h = self.rnn(x)\n"),
        (f"cell = tf.nn.rnn_cell.DropoutWrapper({GRU}, 0.5)\n"
         "_, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = state",
         "tf.keras.layers.RNN(cell, return_state=True)\n",
         "    _, state = self.rnn(x)\n"),
        ("cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(n) for n in (2, 3)])\n"
         "_, states = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = states[-1].h",
         "self.rnn = RNN(cell, return_state=True)\n",
         "    _, *states = self.rnn(x)\n"),
        ("cell = tf.nn.rnn_cell.LSTMCell(3, activation=tf.nn.relu)\n"
         "out, _ = tf.nn.dynamic_rnn(cell, x, lengths)\npredictions = out",
         "tf.keras.layers.RNN(cell, return_sequences=True, zero_output_for_mask=True)", "    out = tf.identity(self.rnn("),
        (LSTM + "out, _ = tf.nn.dynamic_rnn(cell, x * 2.0, lengths, dtype=tf.float32)\npredictions = out",
         "self.rnn = RNN(", "    inputs = x * 2.0\n    mask = tf.sequence_mask(lengths, tf.shape(inputs)[1])\n"),
        (f"fw, bw = {GRU}, {GRU}\n(a, b), _ = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, lengths, dtype=tf.float32)\n"
         "predictions = a + b",
         "self.backward_rnn = tf.keras.layers.RNN(bw, return_sequences=True, go_backwards=True, zero_output_for_mask=True)",
         "    a = self.forward_rnn(x, mask=mask)\n    b = tf.reverse(self.backward_rnn(x, mask=mask), axis=[1])\n"),
        (f"_, (a, b) = tf.nn.bidirectional_dynamic_rnn({GRU}, {GRU}, x, dtype=tf.float32)\npredictions = a + b",
         "self.backward_rnn = tf.keras.layers.RNN(GRUCell(4), go_backwards=True)\n",
         "    a = self.forward_rnn(x)\n    b = self.backward_rnn(x)\n"),
    ],
)  # fmt: skip
def test_loops_of_which_parts_are_read(body: str, made: str, used: str) -> None:
    init, call = both(body)
    assert made in init and used in call


@pytest.mark.parametrize(
    "body",
    [
        LSTM + "out, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = tf.concat(state, 1)",
        LSTM
        + "out, state = tf.nn.dynamic_rnn(cell, x, initial_state=cell.zero_state(4, tf.float32))\npredictions = out",
        LSTM + "pair = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\npredictions = pair[0]",
        LSTM + "out, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)\npredictions = out",
        f"_, state = tf.nn.bidirectional_dynamic_rnn({GRU}, {GRU}, x, dtype=tf.float32)\npredictions = state[0]",
        f"(x, b), _ = tf.nn.bidirectional_dynamic_rnn({GRU}, {GRU}, x, dtype=tf.float32)\npredictions = x + b",
    ],
)
def test_loops_of_which_more_is_read_keep_the_pair(body: str) -> None:
    init, _ = both(body)
    assert "DynamicRNN(" in init or "BidirectionalRNN(" in init


STACKED = """
cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
others = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
predictions, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(cells, others, x, {given})
"""


def test_layers_of_both_directions_on_top_of_each_other() -> None:
    init, call = both(STACKED.format(given="dtype=tf.float32, sequence_length=lengths"))
    assert "self.stack_bidirectional_rnn = StackedBidirectionalRNN(cells, others)" in init
    assert "self.stack_bidirectional_rnn(x, sequence_length=lengths)" in call


def test_layers_of_both_directions_of_another_type_are_left_alone() -> None:
    assert "float32" in manual_reason(model_fn(HEAD + STACKED.format(given="dtype=tf.float64")))


def test_the_scopes_of_recurrent_layers_are_known_to_the_comparison() -> None:
    body = f"""
with tf.variable_scope("enc"):
    (a, b), _ = tf.nn.bidirectional_dynamic_rnn({GRU}, {GRU}, x, dtype=tf.float32)
_, predictions = tf.nn.dynamic_rnn({GRU}, a + b, dtype=tf.float32, scope="dec")
"""
    (unit,) = units(run(model_fn(HEAD + body)))
    assert dict(unit.variables) == {
        "enc/bidirectional_rnn/fw/": "forward_rnn",
        "enc/bidirectional_rnn/bw/": "backward_rnn",
        "dec/": "dec",
    }


DIRECTIONS = """
with tf.variable_scope("one", reuse=tf.AUTO_REUSE):
    fw, bw = [tf.nn.rnn_cell.GRUCell(3) for _ in range(2)]
    (a, b), _ = tf.nn.bidirectional_dynamic_rnn(fw, bw, x, dtype=tf.float32)
with tf.variable_scope("{second}", reuse=tf.AUTO_REUSE):
    left, right = [tf.nn.rnn_cell.GRUCell(3) for _ in range(2)]
    pair, states = tf.nn.bidirectional_dynamic_rnn(left, right, x, dtype=tf.float32)
predictions = a + b + pair[0] + states[0]
"""


def test_directions_that_share_their_variables_by_name_are_left_alone() -> None:
    """One loop becomes a layer for each direction, the other one layer for both: their names in TensorFlow 1 are the same."""
    assert "may share their variables by name" in manual_reason(model_fn(HEAD + DIRECTIONS.format(second="one")))
    assert "BidirectionalRNN(" in both(DIRECTIONS.format(second="two"))[0]


def test_directions_in_a_helper_that_two_scopes_enter() -> None:
    helper = """
def encode(inputs, scope):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        cells = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3)
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(cells[0], cells[1], inputs, dtype=tf.float32)
        return tf.concat(outputs, -1)
"""
    body = HEAD + 'predictions = encode(x, "a") + encode(2 * x, "a") + encode(x, "b")'
    assert method(migrate(model_fn(body, before=helper)), "__init__", of="Model").count("Encode(") == 2


@pytest.mark.parametrize(
    "end",
    ["return CELLS[kind](units)", "cell = CELLS[kind](units)\n    return tf.nn.rnn_cell.DropoutWrapper(cell, 0.5)"],
)
def test_cells_of_a_table_are_chosen_where_they_are_made(end: str) -> None:
    before = f"""
CELLS = {{"gru": tf.nn.rnn_cell.GRUCell, "lstm": tf.nn.rnn_cell.LSTMCell}}


def make(kind, units):
    {end}
"""
    init = method(migrate(model_fn(f"{HEAD}cell = make(params['kind'], 3)\n{LOOP}", before=before)), "__init__")
    assert ' == "gru":\n        cell = GRUCell(3)\n' in init and ' == "lstm":\n        cell = LSTMCell(3)\n' in init
    assert "rnn_cell" not in init and "CELLS" not in init


def test_a_table_of_cells_beside_other_functions_is_left_alone() -> None:
    before = """
CELLS = {"gru": tf.nn.rnn_cell.GRUCell, "own": print}


def make(kind, units):
    return CELLS[kind](units)
"""
    manual_reason(model_fn(f"{HEAD}cell = make(params['kind'], 3)\n{LOOP}", before=before))
