"""Statements that are there for what they do: they stand where their values are known, also in loops, or are refused."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

NET = 'predictions = tf.layers.dense(features["x"], 3)'
IN_CALL = {
    "names and values": 'for name, value in [("p", predictions)]:\n    tf.summary.histogram(name, value)\n',
    "counted": 'for i in range(2):\n    tf.summary.scalar("m%d" % i, tf.reduce_mean(predictions) * i)\n',
    "features": "for key in sorted(features):\n    tf.summary.histogram(key, features[key])\n",
    "two loops": (
        'for i in range(2):\n    for j in range(2):\n        tf.summary.scalar(f"m{i}{j}", predictions[i, j])\n'
    ),
    "under a condition": (
        'for name, value in [("p", predictions)]:\n'
        '    if params["summaries"]:\n        tf.summary.histogram(name, value)\n'
    ),
}


def test_assertions_stand_where_their_values_are_known() -> None:
    body = f"{NET}\nassert predictions.shape[1:] == [3], 'three'\nassert params['u'] > 2\n"
    text = migrate(model_fn(body, end=f"{LOSS}\nassert loss.shape == []\n{TRAIN_OP}\n{SPEC}"))
    assert "    assert predictions.shape[1:] == [3], 'three'\n" in method(text, "call")
    assert "    assert params['u'] > 2\n" in method(text, "__init__")
    assert "    assert loss.shape == []\n" in method(text, "compute_loss")


@pytest.mark.parametrize("made", ["logging.getLogger(__name__)", "tf.get_logger()"])
def test_messages_of_a_logger_of_the_program_stand_where_their_values_are_known(made: str) -> None:
    body = f"{NET}\nlogger.info('net %s', predictions.shape)\n"
    text = migrate(model_fn(body, before=f"\n\nimport logging\n\nlogger = {made}\n"))
    assert "    logger.info('net %s', predictions.shape)\n" in method(text, "call")


@pytest.mark.parametrize(
    "made", ["Recorder()", "logging.getLogger(__name__)\nlogger = Recorder()", "logging.Handler()"]
)
def test_what_is_no_logger_may_do_anything(made: str) -> None:
    body = f"{NET}\nlogger.info('net %s', predictions.shape)\n"
    source = model_fn(body, before=f"\n\nimport logging\n\nlogger = {made}\n")
    assert "only has an effect" in manual_reason(source)


def test_errors_of_the_program_stand_where_their_values_are_known() -> None:
    body = """
    if features["x"] is None:
        raise ValueError("nothing to see")
    predictions = tf.layers.dense(features["x"], 3)
    if params["u"] < 2:
        raise ValueError("too few units")
    """
    text = migrate(model_fn(body))
    assert '    if features["x"] is None:\n        raise ValueError("nothing to see")\n' in method(text, "call")
    assert '        raise ValueError("too few units")\n' in method(text, "__init__")


def test_functions_that_only_check_are_called_where_their_values_are_known() -> None:
    helper = """

    def assert_known(tensor, names, name=None):
        if name is None:
            name = tensor.name
        known = {}
        for each in names:
            known[each] = True
        if name not in known:
            raise ValueError("%s is not known" % name)
    """
    text = migrate(model_fn(f"{NET}\nassert_known(predictions, ['a'])\n", before=helper))
    assert "    assert_known(predictions, ['a'])\n" in method(text, "call")
    told = helper.replace("raise", "names.append(name)\n            raise")
    source = model_fn(f"{NET}\nassert_known(predictions, ['a'])\n", before=told)
    assert "only has an effect" in manual_reason(source)
    kept = helper.replace("known = {}", "names[0] = 1\n        known = {}")
    source = model_fn(f"{NET}\nassert_known(predictions, ['a'])\n", before=kept)
    assert "only has an effect" in manual_reason(source)


def test_assertions_of_a_helper_stand_in_its_layer() -> None:
    helper = "\n\ndef net(x):\n    x = tf.layers.dense(x, 3)\n    assert x.shape[1] == 3\n    return x\n"
    text = migrate(model_fn('predictions = net(features["x"])', before=helper))
    assert "        x = self.dense(x)\n        assert x.shape[1] == 3\n" in text


@pytest.mark.parametrize("name", sorted(IN_CALL))
def test_loops_of_summaries_stand_in_call(name: str) -> None:
    text = migrate(model_fn(f"{NET}\n{IN_CALL[name]}"))
    *heads, summary = IN_CALL[name].replace("params", "self.params").splitlines()
    written = method(text, "call").splitlines()
    start = written.index(f"    {heads[0]}")
    assert written[start : start + len(heads)] == [f"    {head}" for head in heads]
    scope, inner = written[start + len(heads) : start + len(heads) + 2]
    assert scope.split("#")[0].strip() == 'with tf.name_scope(""):' and inner == f"        {summary}"


def test_loops_of_summaries_of_the_loss_stand_beside_it() -> None:
    loop = 'for i in range(2):\n    tf.summary.scalar("loss%d" % i, loss * i)'
    text = migrate(model_fn(NET, end=f"{LOSS}\n{loop}\n{TRAIN_OP}\n{SPEC}"))
    assert '    for i in range(2):\n        tf.summary.scalar("loss%d" % i, loss * i)\n' in method(text, "compute_loss")


def test_a_loop_that_prints_what_is_known_before_runs_when_the_model_is_built() -> None:
    text = migrate(model_fn(f"{NET}\nfor key, value in params.items():\n    print(key, value)\n"))
    assert "print(key, value)" in method(text, "__init__")
    assert "print" not in method(text, "call")


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("for v in tf.trainable_variables():\n    send(v)  # HERE", "only has an effect"),
        ("for p in [predictions]:\n    send(p)  # HERE", "only has an effect"),
        ("if predictions is not None:\n    send(predictions)\n    raise ValueError", "only has an effect"),
        ("while params['more']():\n    seen = tf.reduce_sum(predictions)\n    send(seen)", "only has an effect"),
        ("try:\n    seen = tf.reduce_sum(predictions)\n    send(seen)\nfinally:\n    pass", "only has an effect"),
    ],
)
def test_other_effects_are_left(statements: str, reason: str) -> None:
    assert reason in manual_reason(model_fn(f"{NET}\n{statements}"))


def test_summaries_of_what_only_training_computes_stand_with_it() -> None:
    end = f"""
if mode == tf.estimator.ModeKeys.TRAIN:
    loss = tf.losses.mean_squared_error(labels, predictions)
    tf.summary.scalar("squared", loss)
else:
    loss = tf.losses.absolute_difference(labels, predictions)
tf.summary.scalar("any", loss)
{TRAIN_OP}
{SPEC}"""
    text = method(migrate(model_fn(NET, end=end)), "compute_loss")
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("if training:")
    assert lines[at + 2 : at + 4] == ['tf.summary.scalar("squared", loss)', "else:"]
    assert '\n        tf.summary.scalar("any", loss)\n' in text or '\n    tf.summary.scalar("any", loss)\n' in text


def test_summaries_in_an_arm_of_the_forward_pass_stand_in_it() -> None:
    body = """
x = features["x"]
if mode == tf.estimator.ModeKeys.TRAIN:
    h = tf.nn.dropout(x, 0.5)
    tf.summary.histogram("h", h)
else:
    h = x
predictions = tf.layers.dense(h, 3)
"""
    lines = [line.strip() for line in method(migrate(model_fn(body)), "call").splitlines()]
    assert lines.index("else:") == lines.index('tf.summary.histogram("h", h)') + 1
