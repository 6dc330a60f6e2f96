"""Where a model makes its weights by a batch, before its newest checkpoint is restored."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import migrate, migrate_all, run
from test_loop import MODEL

MADE = 'estimator = tf.estimator.Estimator(model_fn, "here", params={"units": 1})\n'
TRAIN = "estimator.train(make_input_fn(8, None), steps=20)\n"
BUILT = "(features)  # makes the weights that are restored"
RESTORED = "checkpoint.restore("


def place(text: str, part: str) -> int:
    """The line of a part of a program, which has it once."""
    lines = [number for number, line in enumerate(text.splitlines()) if part in line]
    assert len(lines) == 1, text
    return lines[0]


def test_at_the_model_where_its_data_are_known() -> None:
    text = migrate(f"{MODEL}{MADE}print(1)\n{TRAIN}")
    assert place(text, BUILT) < place(text, RESTORED) < place(text, "print(1)")


@pytest.mark.parametrize(
    "between",
    [
        "count = 8\n",
        "write_files()\n",
        "tf.io.gfile.makedirs('x')\nprepare()\n",
    ],
)
def test_above_its_first_use_where_they_are_known_there(between: str) -> None:
    train = TRAIN.replace("8", "count") if "count" in between else TRAIN
    text = migrate(f"{MODEL}{MADE}{between}{train}")
    last = between.splitlines()[0]
    assert place(text, last) < place(text, BUILT) < place(text, RESTORED) < place(text, "model.fit(")


def test_a_loop_reads_the_data_of_its_first_turn() -> None:
    text = migrate(f"{MODEL}{MADE}for epoch in range(2):\n    {TRAIN}")
    assert place(text, BUILT) < place(text, RESTORED) < place(text, "for epoch in")
    assert "initial_epoch=epoch,\n        epochs=epoch + 1," in text or "initial_epoch=epoch, epochs=epoch + 1" in text
    text = migrate(f"{MODEL}{MADE}count = 8\nfor epoch in range(2):\n    {TRAIN.replace('8', 'count')}")
    assert place(text, "count = 8") < place(text, BUILT) < place(text, RESTORED) < place(text, "for epoch in")


def test_data_without_labels() -> None:
    text = migrate(f"{MODEL}{MADE}for p in estimator.predict(make_input_fn(8, 1)):\n    print(p['score'])\n")
    assert "for features in make_input_fn(8, 1)().take(1).map(lambda features, *_: features):" in text


def test_a_name_of_the_program_keeps_its_value() -> None:
    text = migrate(f"{MODEL}features = read()\n{MADE}{TRAIN}print(features)\n")
    assert "for features_, *_ in" in text and "model(features_)  # makes" in text and "print(features)" in text


def test_steps_of_a_function_are_not_those_of_the_program() -> None:
    between = "def report():\n    print(load())\n    return 3\n\n\n"
    text = migrate(f"{MODEL}{MADE}{between}{TRAIN}")
    assert place(text, BUILT) < place(text, "def report():")


@pytest.mark.parametrize(
    "code",
    [
        "run(lambda: estimator.evaluate(make_input_fn(8, 1)))\n",
        "scores = [estimator.evaluate(make_input_fn(n, 1)) for n in (4, 8)]\n",
        TRAIN.replace("make_input_fn(8, None)", "lambda: make_input_fn(np.random.randint(8), None)()"),
        f"if load():\n    {TRAIN}else: print(estimator.evaluate(make_input_fn(8, 1)))\n",
        f"if load():\n    {TRAIN}print(estimator.get_variable_value('dense/bias'))\n",
    ],
)
def test_what_may_not_run_is_not_read_before(code: str) -> None:
    outcome = run(f"import numpy as np\n{MODEL}{MADE}{code}")["program.py"]
    text = outcome.after.decode()
    assert BUILT not in text and place(text, "restore(")
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert "with Keras 3 a second run does not find the weights" in said


@pytest.mark.parametrize(
    ("code", "above"),
    [
        (f"if load():\n    {TRAIN}", "if load():"),  # data that may not be there
        (f"while True:\n    {TRAIN}    break\n", "while True:"),
        (f"for count in (4, 8):\n    {TRAIN.replace('8', 'count')}", "for count in"),
        (f"def work():\n    {TRAIN}\nwork()\n", "def work():"),
        (f"with open('log') as log:\n    count = int(log.read())\n    {TRAIN.replace('8', 'count')}", "count = int("),
    ],
)
def test_directly_above_the_use_where_it_may_not_run(code: str, above: str) -> None:
    text = migrate(f"{MODEL}{MADE}{code}")
    assert place(text, above) < place(text, BUILT) < place(text, RESTORED) < place(text, "model.fit(")


MODES = """\
if mode == "train":
    estimator.train(make_input_fn(8, None), steps=20)
elif mode == "eval":
    print(estimator.evaluate(make_input_fn(8, 1)))
else:
    for p in estimator.predict(make_input_fn(4, 1)):
        print(p["score"])
"""


def test_each_branch_restores_by_its_own_data() -> None:
    text = migrate(f"{MODEL}mode = load()\n{MADE}{MODES}")
    assert text.count("checkpoints.checkpoint.restore(newest)") == text.count(RESTORED) == 1
    assert (
        "for features in data.take(1).map(lambda features, *_: features):" in text
    )  # those of predictions have no labels
    for line, below in (
        ("    restore(checkpoints, make_input_fn(8, None)())", "model.fit("),
        ("    restore(checkpoints, make_input_fn(8, 1)())", "model.evaluate("),
        ("    restore(checkpoints, make_input_fn(4, 1)())", "model.predict("),
    ):
        assert place(text, line) < place(text, below)


def test_a_name_of_the_program_is_not_taken() -> None:
    text = migrate(f"{MODEL}def restore():\n    return 1\n\n\nmode = load()\n{MADE}{MODES}")
    assert "def restore_(checkpoints, data):" in text and "    restore_(checkpoints, make_input_fn(8, 1)())" in text
    inner = f"def main(restore):\n{textwrap.indent(MADE + MODES, '    ')}\n\nmode = load()\nmain(mode)\n"
    text = migrate(f"{MODEL}{inner}")
    assert "def restore_(checkpoints, data):" in text and "        restore_(checkpoints, make_input_fn(8, 1)())" in text


def test_what_stands_behind_a_use_reads_what_that_restored() -> None:
    rest = "print(estimator.evaluate(make_input_fn(8, 1)))\n"
    text = migrate(f"{MODEL}{MADE}if load():\n    {TRAIN}    {rest}    {rest}")
    assert text.count(BUILT) == text.count(RESTORED) == 1 and "def restore(" not in text


def test_another_model_under_the_same_name_is_restored_anew() -> None:
    code = """\
def make():
    return tf.estimator.Estimator(model_fn, "here", params={"units": 1})


def work():
    estimator = make()
    estimator.train(make_input_fn(8, None), steps=20)
    print(estimator.evaluate(make_input_fn(8, 1)))
    estimator = make()
    print(estimator.evaluate(make_input_fn(4, 1)))


work()
"""
    text = migrate(f"{MODEL}{code}")
    assert "    restore(estimator.checkpoints, make_input_fn(8, None)())" in text
    assert "    restore(estimator.checkpoints, make_input_fn(4, 1)())" in text
    assert "restore(estimator.checkpoints, make_input_fn(8, 1)())" not in text


SERVED = """\
def serving_input_fn():
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


"""


def test_an_export_alone_makes_the_weights_by_what_it_serves() -> None:
    modes = MODES.replace("else:", "elif mode == 'predict':")
    export = 'else:\n    estimator.export_saved_model("served", serving_input_fn)\n'
    text = migrate(f"{MODEL}{SERVED}mode = load()\n{MADE}{modes}{export}")
    traced = place(text, "    serve.get_concrete_function()  # makes the weights")
    assert place(text, "serve = tf.function(") < traced < place(text, "archive = ") and text.count(RESTORED) == 2


@pytest.mark.parametrize("served", ["serving.serving_input_fn", "SERVED[mode]"])
def test_an_export_by_functions_of_another_place_makes_the_weights_by_all_of_them(served: str) -> None:
    modes = MODES.replace("else:", "elif mode == 'predict':")
    export = f'else:\n    estimator.export_saved_model("served", {served})\n'
    own = (
        f"{SERVED}{SERVED.replace('def serving', 'def other')}SERVED = {{'a': serving_input_fn, 'b': other_input_fn}}\n"
    )
    head = "import serving\n" if served.startswith("serving.") else own
    files = {"program.py": f"{MODEL}{head}mode = load()\n{MADE}{modes}{export}"}
    files.update({"serving.py": f"import tensorflow as tf\n\n\n{SERVED}"} if served.startswith("serving.") else {})
    text = migrate_all(files)["program.py"]
    traced = place(text, "        function.get_concrete_function()  # makes the weights")
    assert place(text, "    signatures = ") < place(text, "for function in signatures.values():") < traced
    assert traced < place(text, "tf.saved_model.save(") and ", signatures=signatures)" in text
    assert text.count(RESTORED) == 2


def test_another_checkpoint_is_read_once_there_are_weights() -> None:
    code = """\
if mode == "train":
    estimator.train(make_input_fn(8, None), steps=20)
elif mode == "eval":
    path = "here/model.ckpt-1" + suffix()
    print(estimator.evaluate(make_input_fn(8, 1), checkpoint_path=path))
"""
    text = migrate(f"{MODEL}mode = load()\n{MADE}{code}")
    made, restored = "model(features)  # makes", "checkpoint.restore(path)"
    tail = text[text.index('elif mode == "eval"') :]
    assert place(tail, made) < place(tail, restored) < place(tail, "model.evaluate(")


def test_what_the_optimizer_keeps_is_told_where_it_moves_some_weights_alone() -> None:
    step = "minimize(loss, global_step=tf.train.get_global_step())"
    some = "minimize(loss, global_step=tf.train.get_global_step(), var_list=tf.trainable_variables()[:1])"
    outcome = run(f"{MODEL.replace(step, some)}{MADE}{TRAIN}")["program.py"]
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert "with Keras 3 a second run does not find what the optimizer keeps of the first one" in said


def test_nothing_is_read_where_the_program_may_end_before() -> None:
    text = migrate(f"{MODEL}def main():\n    {MADE}    if load():\n        return\n    {TRAIN}\n\nmain()\n")
    assert place(text, "if load():") < place(text, BUILT) < place(text, "model.fit(")


def test_the_optimizer_has_no_weights_of_its_own_made_where_it_moves_some() -> None:
    step = "minimize(loss, global_step=tf.train.get_global_step())"
    some = "minimize(loss, global_step=tf.train.get_global_step(), var_list=tf.trainable_variables()[:1])"
    assert step in MODEL
    text = migrate(f"{MODEL.replace(step, some)}{MADE}{TRAIN}")
    assert "optimizer.build(" not in text


CLIPPED = """\
    optimizer = tf.train.AdamOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss{variables})
    pairs = [(tf.clip_by_norm(g, 5.0), v) for g, v in pairs if {kept}]
    train_op = optimizer.apply_gradients(pairs, global_step=tf.train.get_global_step())
"""


@pytest.mark.parametrize(
    ("variables", "kept", "whole"),
    [
        ("", "g is not None", True),
        (", var_list=tf.trainable_variables()", "g is not None", True),
        ("", "'bias' not in v.name", False),
        (", tf.trainable_variables('dense')", "g is not None", False),
    ],
)
def test_the_optimizer_has_its_own_made_where_gradients_of_all_weights_reach_it(
    variables: str, kept: str, whole: bool
) -> None:
    head, _, rest = MODEL.partition("    train_op =")
    model = head + CLIPPED.format(variables=variables, kept=kept) + rest.partition("\n")[2]
    text = run(f"{model}{MADE}{TRAIN}")["program.py"].after.decode()
    assert ("optimizer.build(model.trainable_variables)" in text) is whole


def test_params_that_an_estimator_is_given_without_a_name_go_to_the_input_function() -> None:
    head = MODEL.replace(
        "def model_fn",
        "def load(size, params=None):\n    return make_input_fn(params['units'], 1)()\n\n\ndef model_fn",
        1,
    )
    head += (
        "import functools\n\nPARAMS = {'units': 1}\nestimator = tf.estimator.Estimator(model_fn, None, None, PARAMS)\n"
    )
    text = migrate(head + "estimator.train(functools.partial(load, 4))\n")
    assert "model = create_model(params=PARAMS)\n" in text and "model.fit(load(4, params=PARAMS)" in text


@pytest.mark.parametrize(
    ("chosen", "kept"), [("", False), (", var_list=tf.trainable_variables('dense')", True)], ids=["all", "some"]
)
def test_lists_of_layers_are_kept_where_the_optimizer_has_some_weights_alone(chosen: str, kept: bool) -> None:
    step, layer = (
        "global_step=tf.train.get_global_step()",
        'predictions = tf.layers.dense(features["x"], params["units"])\n',
    )
    assert step in MODEL and layer in MODEL
    stacked = f'net = features["x"]\n    for _ in range(2):\n        net = tf.layers.dense(net, 3)\n    {layer}'
    model = MODEL.replace(step, step + chosen).replace(layer, stacked.replace('dense(features["x"]', "dense(net"))
    text = migrate(f"{model}{MADE}{TRAIN}")
    assert ("self.listed_layers = tf.train.Checkpoint(dense_layers=list(self.dense_layers))" in text) is kept


PARTIAL = """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], params["units"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": predictions})
    judged = tf.layers.dense(predictions, 1, name="judge")
    loss = tf.reduce_mean(tf.square(judged - features["y"]))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_input_fn(count, epochs):
    def input_fn():
        return tf.data.Dataset.from_tensor_slices({"x": [[1.0]] * count, "y": [[1.0]] * count}).repeat(epochs).batch(2)

    return input_fn


"""
PREDICT = "for p in estimator.predict(make_input_fn(4, 1)):\n    print(p['score'])\n"


def test_weights_that_predictions_do_not_make_are_made_by_what_reads_them() -> None:
    text = migrate(f"{PARTIAL}{MADE}{PREDICT}{TRAIN}print(estimator.evaluate(make_input_fn(8, 1)))\n")
    assert text.count(BUILT) == text.count(RESTORED) == 2
    predicts, trains = text[text.index("checkpoints = ") : text.index("print(")], text[text.index("print(") :]
    assert "optimizer.build(" not in predicts and place(predicts, RESTORED) < place(predicts, "model.predict(")
    assert place(trains, "optimizer.build(") < place(trains, RESTORED) < place(trains, "model.fit(")


def test_what_training_alone_makes_is_not_there() -> None:
    first = 'predictions = tf.layers.dense(features["x"], params["units"])\n'
    assert first in MODEL
    more = f'{first}    if mode == "train":\n        predictions = tf.layers.dense(predictions, 1, name="more")\n'
    head = MODEL.replace(first, more)
    outcome = run(f"{head}{MADE}{TRAIN}")["program.py"]
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert BUILT not in outcome.after.decode() and "with Keras 3 a second run does not find the weights" in said
