"""LoggingTensorHooks of a training as callbacks of `fit`: what they log, and what the model hands out for them."""

from __future__ import annotations

import re
import textwrap

import pytest
from modelfn.programs import joined, migrate, run

HEAD = """\
import tensorflow as tf

RATE = 0.1


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features["x"], 3)
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, classes)
    metrics = {"accuracy": accuracy}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    tf.identity(loss, "cross_entropy")
    tf.identity(accuracy[1], name="train_accuracy")
    tf.identity(metrics["accuracy"][1], name="same_accuracy")
    tf.identity(RATE, "rate")
    tf.identity(tf.train.get_global_step(), "step")
    tf.identity(logits, "logits_of_all")
    length = tf.reduce_mean(tf.square(logits), name="length")
    train_op = tf.train.GradientDescentOptimizer(RATE).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op{hooks})


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [1] * 8)).repeat().batch(2)


estimator = tf.estimator.Estimator(model_fn, params={}{directory})
"""
CALLBACK = "tf.keras.callbacks.LambdaCallback"


def program(hooks: str = "", spec: str = "", above: str = "", directory: str = "", steps: int = 200) -> str:
    head = HEAD.replace("{hooks}", spec).replace("{directory}", directory)
    given = f", hooks=[{hooks}]" if hooks else ""
    return head + textwrap.dedent(above) + f"estimator.train(input_fn{given}, steps={steps})\n"


def logging(tensors: str, more: str = "every_n_iter=10") -> str:
    return f"tf.train.LoggingTensorHook({tensors}, {more})"


def migrated(hooks: str = "", spec: str = "", above: str = "") -> str:
    return one_line(migrate(program(hooks, spec, above)))


def one_line(text: str) -> str:
    return re.sub(r"\n +and ", " and ", joined(text))


def messages(source: str) -> str:
    return " ".join(d.message for outcome in run(source).values() for d in (*outcome.applied, *outcome.remaining))


@pytest.mark.parametrize(
    ("name", "format_", "reads"),
    [
        ("cross_entropy", "%.6g", 'logs["loss"]'),
        ("cross_entropy:0", "%.6g", 'logs["loss"]'),
        ("train_accuracy", "%.6g", 'logs["accuracy"]'),
        ("same_accuracy", "%.6g", 'logs["accuracy"]'),
        ("rate", "%.6g", "model.optimizer.learning_rate.numpy()"),
        ("step", "%d", "model.optimizer.iterations.numpy()"),
        ("length", "%.6g", 'logs["length"]'),
    ],
)
def test_a_value_is_logged_from_what_fit_has(name: str, format_: str, reads: str) -> None:
    text = migrated(logging(f'{{"v": "{name}"}}'))
    line = f'logging.info("v = {format_}", {reads})'
    assert f"def log_progress(batch, logs):\n    if batch % 10 == 0:\n        {line}\n\n\nmodel.fit(" in text
    assert f"callbacks=[{CALLBACK}(on_train_batch_end=log_progress)]" in text
    assert "from absl import logging" in text and "tf2_training" not in text and "tf.identity" not in text


def test_a_tensor_that_is_named_like_the_step_is_no_whole_number() -> None:
    text = one_line(migrate(program(logging('["iterations_mean"]')).replace('"length"', '"iterations_mean"')))
    assert 'logging.info("iterations_mean = %.6g", logs["iterations_mean"])' in text


def test_what_fit_lacks_is_handed_out_by_the_step() -> None:
    text = migrated(logging('["length"]'))
    assert 'self.step_logs["length"] = length' in text and "self.step_logs = {}" in text
    assert "return {**super().train_step(data), **self.step_logs}" in text
    assert "metrics=[tf.keras.metrics.SparseCategoricalAccuracy(" in text and "loss=tf.keras.losses." in text


def test_the_norm_of_gradients_is_handed_out_where_it_is_computed() -> None:
    step = "tf.train.GradientDescentOptimizer(RATE)"
    clipped = f"""optimizer = {step}
    variables = tf.trainable_variables()
    gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    hook = tf.train.LoggingTensorHook({{"norm": norm, "loss": loss}}, every_n_iter=10)
    train_op = optimizer.apply_gradients(zip(gradients, variables), tf.train.get_global_step())"""
    text = program().replace(f"train_op = {step}.minimize(loss, tf.train.get_global_step())", clipped)
    text = migrate(text.replace("train_op=train_op)", "train_op=train_op, training_hooks=[hook])"))
    assert 'self.step_logs["norm"] = norm' in text and ".fit(" in text
    assert "return {**self.compute_metrics(x, y, y_pred, sample_weight), **self.step_logs}" in text


def test_what_fit_has_is_not_handed_out() -> None:
    text = migrated(logging('{"loss": "cross_entropy", "accuracy": "train_accuracy"}'))
    assert "step_logs" not in text and "train_step" not in text and "compute_loss" not in text


def test_steps_run_together_where_each_hundredth_is_logged() -> None:
    text = one_line(migrate(program(logging('["cross_entropy"]', "every_n_iter=100"), steps=2000)))
    assert "steps_per_execution=100" in text and "(batch + 1) % 100 == 0:\n        logging.info(" in text


def test_names_that_hold_the_hook_and_its_tensors_go() -> None:
    above = """\
        tensors = {"loss": "cross_entropy"}
        hook = tf.train.LoggingTensorHook(tensors, every_n_iter=10)
        """
    text = migrated("hook", above=above)
    assert "tensors" not in text and "hook" not in text and 'logging.info("loss = %.6g", logs["loss"])' in text


def test_a_formatter_gets_the_values() -> None:
    above = "def shown(values):\n    return str(values)\n\n\n"
    text = migrated(logging('{"a": "cross_entropy", "s": "step"}', "every_n_iter=10, formatter=shown"), above=above)
    assert 'logging.info(shown({"a": logs["loss"], "s": model.optimizer.iterations.numpy()}))' in text


def test_two_hooks_share_a_function() -> None:
    first, second = logging('["cross_entropy"]'), logging('["step"]', "every_n_iter=7")
    text = migrate(program(f"{first}, {second}"))
    assert text.count("def log_progress") == 1 and "\n    if batch % 7 == 0:\n" in text
    assert "_end=log_progress)])" in text


def test_a_hook_that_logs_each_step_asks_nothing() -> None:
    text = migrate(program(logging('["cross_entropy"]', "every_n_iter=1")))
    assert "def log_progress(batch, logs):\n    logging.info(" in text


@pytest.mark.parametrize("read", ["dense.weights[0]", "dense.kernel", "tf.identity(dense.kernel)"])
def test_a_weight_is_read_from_the_model(read: str) -> None:
    spec = f", training_hooks=[{logging('{' + repr('w') + f': {read}' + '}')}]"
    made = 'dense = tf.layers.Dense(3)\n    logits = dense(features["x"])'
    text = migrate(program(spec=spec).replace('logits = tf.layers.dense(features["x"], 3)', made))
    place = read.removeprefix("tf.identity(").removesuffix(")")
    assert f'"w = %s", model.{place}.numpy())' in text and "import tf2" not in text


def test_a_variable_is_read_from_the_model() -> None:
    spec = f", training_hooks=[{logging('{' + repr('b') + ': bias}')}]"
    made = 'bias = tf.get_variable("b", [3])\n    logits = tf.layers.dense(features["x"], 3) + bias'
    text = migrate(program(spec=spec).replace('logits = tf.layers.dense(features["x"], 3)', made))
    assert '"b = %s", model.b.numpy())' in text or '"b = %s", model.bias.numpy())' in text


def test_a_stop_of_the_spec_is_the_number_of_steps() -> None:
    spec = ", training_hooks=[tf.train.StopAtStepHook(num_steps=3)]"
    text = migrate(program(spec=spec).replace(", steps=200", ""))
    assert "model.fit(input_fn().take(3))" in text
    assert ".fit(" not in run(program(spec=spec))["program.py"].after.decode()  # which of the two ends it first


def test_a_number_with_a_name_that_callbacks_have_stays_with_helpers() -> None:
    source = program(logging('["cross_entropy"]', "every_n_iter=batch"), above="batch = 5\n")
    assert ".fit(" not in run(source)["program.py"].after.decode()


def test_a_training_in_the_line_of_others_stays_with_helpers() -> None:
    source = program(logging('["cross_entropy"]')).replace("\nestimator.train(", "\nif True: estimator.train(")
    assert ".fit(" not in run(source)["program.py"].after.decode()


def test_hooks_of_a_spec() -> None:
    hook = 'tf.train.LoggingTensorHook({"loss": loss, "acc": accuracy[1], "length": length}, every_n_iter=10)'
    text = migrated(spec=f", training_hooks=[{hook}, tf.train.NanTensorHook(loss)]")
    line = 'logging.info("loss = %.6g, acc = %.6g, length = %.6g", logs["loss"], logs["accuracy"], logs["length"])'
    assert f"        {line}\n" in text and "_end=log_progress), tf.keras.callbacks.TerminateOnNaN()]" in text
    assert 'self.step_logs["length"] = length' in text and "Hook" not in text


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("rate", "model.optimizer.learning_rate.numpy()"),
        ("scope/cross_entropy:0", 'logs["loss"]'),
        ("length", 'logs["length"]'),
    ],
)
def test_a_hook_of_a_spec_logs_by_name(name: str, read: str) -> None:
    text = migrated(spec=f", training_hooks=[{logging(repr([name]))}]")
    assert f", {read})\n" in text and "_end=log_progress)]" in text and "tf2_training" not in text


def test_a_hook_of_a_spec_that_names_no_op_is_refused() -> None:
    assert "has the name nothing" in messages(program(spec=f", training_hooks=[{logging(repr(['nothing']))}]"))


def test_a_helper_gives_a_rate_its_name() -> None:
    helper = 'def decayed(rate):\n    rate = rate * 0.5\n    tf.identity(rate, "decayed")\n    return rate\n\n\n'
    source = program(spec=f", training_hooks=[{logging(repr(['decayed']))}]")
    source = source.replace("def model_fn", helper + "def model_fn").replace(
        "Optimizer(RATE)", "Optimizer(decayed(RATE))"
    )
    text = migrate(source)
    assert '"decayed = %.6g", model.optimizer.learning_rate.numpy())' in text and "def decayed" not in text


def test_a_helper_whose_identity_is_its_value_stays_a_function() -> None:
    helper = "def halved(rate):\n    return tf.identity(rate * 0.5)\n\n\n"
    source = (
        program().replace("def model_fn", helper + "def model_fn").replace("Optimizer(RATE)", "Optimizer(halved(RATE))")
    )
    assert "SGD(halved(RATE))" in migrate(source)


def test_tensors_of_many_numbers_are_left_out_and_it_is_said() -> None:
    source = program(logging('{"loss": "cross_entropy", "all": "logits_of_all"}'))
    text = one_line(migrate(source))
    assert 'logging.info("loss = %.6g", logs["loss"])' in text
    assert "all is not logged any more" in messages(source)
    assert "# Not logged any more: all, of more numbers than one.\n" in migrate(source)
    alone = program(logging('["logits_of_all"]'))
    assert "model.fit(input_fn().take(200))" in migrate(alone)


def test_that_means_are_logged_is_said() -> None:
    said = messages(program(logging('{"a": "cross_entropy", "b": "length"}')))
    assert "means since an epoch began: a" in said and "a, b" not in said


@pytest.mark.parametrize("more", ["every_n_secs=10", "every_n_iter=None, every_n_secs=5"])
def test_what_is_logged_by_time_is_so_by_steps_which_is_said(more: str) -> None:
    source = program(logging('["cross_entropy"]', more))
    assert "if (batch + 1) % 100 == 0:" in migrate(source) or "if batch % 100 == 0:" in migrate(source)
    assert "what was logged by time is so every 100 steps" in messages(source)


def test_what_is_logged_at_the_end() -> None:
    text = migrate(program(logging('["cross_entropy"]', "every_n_iter=10, at_end=True")))
    called = "on_train_batch_end=log_progress, on_train_end=log_at_end"
    assert "def log_at_end(logs):\n    logging.info(" in text and called in joined(text)


def test_what_is_logged_at_the_end_alone() -> None:
    text = migrate(program(logging('["cross_entropy"]', "at_end=True")))
    assert "LambdaCallback(on_train_end=log_at_end)" in text and "log_progress" not in text


def test_what_may_be_logged_at_the_end_stays_as_it_is() -> None:
    hook = logging('["cross_entropy"]', "every_n_iter=10, at_end=RATE > 1")
    assert ".fit(" not in run(program(hook))["program.py"].after.decode()


def test_a_summary_of_a_metric_is_that_of_a_callback() -> None:
    spec = program(directory=', model_dir="m"').replace(
        'tf.identity(RATE, "rate")', 'tf.summary.scalar("train_accuracy", accuracy[1])'
    )
    text = migrate(spec)
    assert "tf.summary" not in text and "TensorBoard(" in text and "tf2_training" not in text
    assert "TensorBoard shows the metrics of fit" in messages(spec)


def test_a_summary_of_a_metric_that_no_evaluation_has_stays_with_helpers() -> None:
    spec = program(directory=', model_dir="m"').replace(
        'tf.identity(RATE, "rate")', 'tf.summary.scalar("mean", tf.metrics.mean(logits)[1])'
    )
    assert ".fit(" not in run(spec)["program.py"].after.decode()


def test_a_model_that_has_no_place_for_more_logs_keeps_the_helpers() -> None:
    named = 'tf.identity(tf.reduce_mean(logits), "length")'
    hidden = 'step_logs = tf.layers.dense(features["x"], 3)\n    logits = tf.layers.dense(step_logs, 3)'
    source = program(logging('["length"]')).replace('logits = tf.layers.dense(features["x"], 3)', hidden)
    source = source.replace('length = tf.reduce_mean(tf.square(logits), name="length")', named)
    text = migrate(source)
    assert ".fit(" not in text and "TensorLogger(" in text


def test_logs_beside_summaries() -> None:
    source = program(logging('["length"]'), directory=', model_dir="m"')
    text = migrate(source.replace('tf.identity(RATE, "rate")', 'tf.summary.scalar("loss_again", loss)'))
    step = text[text.index("def train_step") : text.index("def predict_step")]
    assert "return {**super().train_step(data), **self.step_logs}" in step and "tf.summary.record_if(recorded)" in step


SCOPED = "sparse_softmax_cross_entropy_loss"


@pytest.mark.parametrize(
    "name", [f"{SCOPED}/value:0", f"tower/{SCOPED}/value", "sparse_softmax_cross_entropy_loss/value:0"]
)
def test_the_name_that_a_loss_gives_its_value(name: str) -> None:
    assert 'logging.info("l = %.6g", logs["loss"])' in migrated(logging(f"{{'l': '{name}'}}"))


@pytest.mark.parametrize(
    ("loss", "name", "seen"),
    [
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits, scope='xe')", "xe/value:0", True),
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits, scope='xe')", f"{SCOPED}/value:0", False),
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits)", "value:0", False),
        ("tf.losses.sparse_softmax_cross_entropy(labels, logits)", f"{SCOPED}_1/value:0", False),
        (
            "tf.losses.sparse_softmax_cross_entropy(labels, logits, reduction='weighted_sum')",
            f"{SCOPED}/value:0",
            False,
        ),
        ("tf.losses.log_loss(1, 1) + tf.losses.log_loss(1, 1)", "log_loss/value:0", False),
    ],
)
def test_names_of_other_losses(loss: str, name: str, seen: bool) -> None:
    source = program(logging(f"{{'l': '{name}'}}"))
    source = source.replace("tf.losses.sparse_softmax_cross_entropy(labels, logits)", loss)
    assert (".fit(" in run(source)["program.py"].after.decode()) == seen


def test_a_loss_that_is_watched_by_the_name_of_its_scope() -> None:
    hook = logging(f"{{'l': '{SCOPED}/value:0'}}")
    above = f"hooks = [{hook}]\nif load():\n    hooks = []\n"
    text = run(program("X", above=above).replace("hooks=[X]", "hooks=hooks"))["program.py"].after.decode()
    assert f'watch(self,"{SCOPED}",tf.reduce_mean(' in "".join(text.split())
    assert "TensorLogger(" in text and "loss=tf.keras.losses" not in text


@pytest.mark.parametrize("name", ["global_step", "global_step:0"])
def test_the_step_by_its_name_in_the_graph(name: str) -> None:
    text = migrated(logging(f'{{"step": "{name}", "loss": "cross_entropy"}}'))
    assert '"step = %d, loss = %.6g", model.optimizer.iterations.numpy(), logs["loss"]' in text


def parts(value: str, begun: str = "{}") -> str:
    """What becomes of a program that logs an entry of a dict which a loop fills."""
    filled = f"    parts = {begun}\n    for name in ['a', 'b']:\n        parts[name] = {value}\n    length ="
    hook = ", training_hooks=[" + logging("{'part': parts['a']}") + "]"
    return one_line(migrate(program(spec=hook).replace("    length =", filled)))


def test_an_entry_of_a_dict_of_numbers() -> None:
    text = parts("tf.reduce_mean(tf.square(logits))")
    assert 'self.step_logs["part"] = parts["a"]' in text.replace("'", '"') and 'logs["part"]' in text
    for other in (parts("logits * 2"), parts("tf.reduce_mean(logits)", "{'c': logits}")):
        assert "step_logs" not in other
