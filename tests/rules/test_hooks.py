"""Hooks that become callbacks, and the ops whose values they read."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, method, migrate

PROGRAM = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 3, name="fc")
    predictions = {{"p": tf.nn.softmax(logits, name="softmax_tensor")}}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.identity(loss, "cross_entropy")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensors(1)


e = tf.estimator.Estimator(model_fn)
{use}
"""
LOG = "tf.train.LoggingTensorHook(['softmax_tensor'], every_n_secs=5)"
STOP = "tf.train.StopAtStepHook(last_step=9)"
PROFILE = "tf.train.ProfilerHook(save_secs=5)"  # for which Keras has no callback: with it, the helpers stay


def used(use: str) -> str:
    """The last lines after migration."""
    return migrate(PROGRAM.format(use=use)).split("e = create_model()\n")[1].strip()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f"e.train(input_fn, hooks=[{STOP}])", "e.fit(input_fn().take(9))"),
        (
            f"e.train(input_fn, [{STOP}], None, 9)",
            "train(e, input_fn, callbacks=[StopAtStep(last_step=9)], steps=None, max_steps=9)",
        ),
        (f"h = {STOP}\ne.train(input_fn, hooks=[h])", "e.fit(input_fn().take(9))"),
        (
            f"hooks = []\nhooks.append({STOP})\ns = tf.estimator.TrainSpec(input_fn, 9, hooks)",
            "hooks = []\nhooks.append(StopAtStep(last_step=9))\ns = TrainSpec(input_fn, 9, callbacks=hooks)",
        ),
        (
            "e.train(input_fn, hooks=[tf.train.StepCounterHook(5, output_dir='d', summary_writer=None)])",
            "e.fit(input_fn(), callbacks=[tf.keras.callbacks.TensorBoard('d', update_freq=5, write_steps_per_second=True)])",
        ),
        (
            f"h = [{STOP}] if F else []\ne.train(input_fn, hooks=h)",
            "h = [StopAtStep(last_step=9)] if F else []\ntrain(e, input_fn, callbacks=h)",
        ),
        (
            f"e.train(input_fn, hooks=([{STOP}] if F else None) or [])",
            "train(e, input_fn, callbacks=([StopAtStep(last_step=9)] if F else None) or [])",
        ),
        (
            f"h = None\nif F:\n    h = [{STOP}]\ne.train(input_fn, hooks=h)",
            "h = None\nif F:\n    h = [StopAtStep(last_step=9)]\ntrain(e, input_fn, callbacks=h)",
        ),
        (
            f"h = []\nh += [{STOP}]\nh = h + [{STOP}]\nh.extend([{STOP}])\ne.train(input_fn, hooks=h)",
            "h = []\nh += [StopAtStep(last_step=9)]\nh = h + [StopAtStep(last_step=9)]\n"
            "h.extend([StopAtStep(last_step=9)])\ntrain(e, input_fn, callbacks=h)",
        ),
        (
            "h = tf.contrib.estimator.InMemoryEvaluatorHook(e, f, 5, [], 'a', every_n_iter=9)",
            "h = InMemoryEvaluator(e, f, 5, name='a', every_n_iter=9)",
        ),
        (
            "h = tf.estimator.experimental.InMemoryEvaluatorHook(estimator=e, input_fn=f)",
            "h = InMemoryEvaluator(model=e, input_fn=f)",
        ),
        ("h = tf.contrib.hooks.ProfilerHook(save_steps=5)", "h = StepProfiler(save_steps=5)"),
        (
            f"e.train(input_fn, hooks=[tf.train.GlobalStepWaiterHook(wait_until_step=int(N * I)), {PROFILE}])",
            "train(e, input_fn, callbacks=[StepWaiter(wait_until_step=int(N * I)), StepProfiler(save_secs=5)])",
        ),
        (
            "e.train(input_fn, hooks=[tf.train.CheckpointSaverHook('d', None, 5, tf.train.Saver(max_to_keep=2))])",
            "train(e, input_fn, callbacks=[CheckpointSaver('d', None, 5)])",
        ),
        (
            "h = tf.estimator.CheckpointSaverHook(checkpoint_dir='d', save_secs=5, scaffold=None, listeners=[])",
            "h = CheckpointSaver(checkpoint_dir='d', save_secs=5, listeners=[])",
        ),
        ("h = tf.train.ProfilerHook(5, None, 'd', False)", "h = StepProfiler(5, None, 'd')"),
        (
            f"e.train(input_fn, hooks=[{LOG}, {PROFILE}])",
            "train(e, input_fn, callbacks=[TensorLogger(['softmax_tensor'], every_n_secs=5), StepProfiler(save_secs=5)])",
        ),
        (
            f"e.train(input_fn, hooks=[tf.estimator.LoggingTensorHook({{'a': 'x/cross_entropy:0'}}, None, 5, False), {PROFILE}])",
            "train(e, input_fn, callbacks=[TensorLogger({'a': 'x/cross_entropy:0'}, None, 5), StepProfiler(save_secs=5)])",
        ),
        (
            "h = tf.contrib.estimator.stop_if_no_increase_hook(e, 'a', 7, min_steps=2)",
            "h = stop_if_no_improvement(e, 'a', 7, min_steps=2, higher_is_better=True)",
        ),
        (
            "h = tf.estimator.experimental.stop_if_no_decrease_hook("
            "estimator=e, metric_name='a', max_steps_without_decrease=7)",
            "h = stop_if_no_improvement(model=e, metric_name='a', max_steps=7)",
        ),
        (
            "h = tf.estimator.experimental.stop_if_higher_hook(e, 'a', threshold=1)",
            "h = stop_if_threshold_crossed(e, 'a', threshold=1, higher_is_better=True)",
        ),
        ("h = tf.estimator.experimental.stop_if_lower_hook(e, 'a', 1)", "h = stop_if_threshold_crossed(e, 'a', 1)"),
        (
            "h = tf.estimator.experimental.make_early_stopping_hook(e, should_stop_fn=f, run_every_steps=3)",
            "h = StopWhen(e, should_stop_fn=f, run_every_steps=3)",
        ),
    ],
)
def test_hooks(old: str, new: str) -> None:
    assert used(old) == new


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        ("e.train(input_fn, hooks=[HOOK])  # HERE", "`hooks` of Estimator.train"),
        (f"e.train(input_fn, hooks=[{STOP}, HOOK])  # HERE", "`hooks` of Estimator.train"),
        ("e.train(input_fn, hooks=make_hooks())  # HERE", "`hooks` of Estimator.train"),
        (f"hooks = [{STOP}]\nhooks += more()\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator.train"),
        (f"hooks = [{STOP}]\nhooks.extend(more())  # HERE\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator"),
        (f"hooks = [{STOP}]\nfill(hooks)\ne.train(input_fn, hooks=hooks)", "`hooks` of Estimator.train"),
        (f"h = [{STOP}] if F else make()\ne.train(input_fn, hooks=h)", "`hooks` of Estimator.train"),
        (f"for h in [[{STOP}]]:\n    e.train(input_fn, hooks=h)", "`hooks` of Estimator.train"),
        (f"h, n = [{STOP}], 1\ne.train(input_fn, hooks=h)", "`hooks` of Estimator.train"),
        (f"h = [{STOP}]\nh.extend(MORE)\ne.train(input_fn, hooks=h)", "`hooks` of Estimator.train"),
        (f"h = [{STOP}]\nh.insert(0, {STOP})\ne.train(input_fn, hooks=h)", "`hooks` of Estimator.train"),
        (f"e.predict(input_fn, hooks=[{STOP}])", "`hooks` of Estimator.predict"),
        (
            "h = tf.estimator.experimental.InMemoryEvaluatorHook(e, f, hooks=HOOKS)",
            "`hooks` of a InMemoryEvaluatorHook",
        ),
        ("e.train(input_fn, hooks=[tf.train.FinalOpsHook('a:0')])  # HERE", "runs ops of a graph when a session ends"),
        ("e.train(input_fn, hooks=[tf.train.NanTensorHook('a:0')])", "leave it out for the loss"),
        ("e.train(input_fn, hooks=[tf.train.SummarySaverHook(5, summary_op=OP)])", "runs summaries of a graph"),
        (f"e.evaluate(input_fn, hooks=[{STOP}])", "`hooks` of Estimator.evaluate"),
        (f"s = tf.estimator.EvalSpec(input_fn, hooks=[{STOP}])", "`hooks` of tf.estimator.EvalSpec"),
        ("h = tf.train.StepCounterHook(5, None, None, writer)", "`summary_writer` of a StepCounterHook"),
        ("h = tf.train.ProfilerHook(5, show_memory=FLAG)", "`show_memory` of a ProfilerHook"),
        ("h = tf.train.CheckpointSaverHook('d', 5, scaffold=S)", "`scaffold` of a CheckpointSaverHook"),
        ("h = tf.train.CheckpointSaverHook('d', 5, saver=tf.train.Saver([v]))", "saves some variables only"),
        ("h = tf.train.CheckpointSaverHook('d', 5, saver=S)", "the Saver of a CheckpointSaverHook is not seen"),
        (
            "h = tf.train.CheckpointSaverHook('d', 5, listeners=L)",
            "the listeners of a CheckpointSaverHook are not seen",
        ),
        ("e.train(input_fn, saving_listeners=[L()])  # HERE", "a listener of a CheckpointSaverHook is not seen"),
        (f"e.train(input_fn, hooks=[{STOP}], saving_listeners=[L()])", "`saving_listeners` beside `hooks`"),
        ("h = tf.train.StopAtStepHook", "StopAtStepHook is not migrated yet"),
        ("h = tf.train.LoggingTensorHook(['softmax_tensor'], at_end=True)", "`at_end` of a LoggingTensorHook"),
        ("h = tf.train.LoggingTensorHook(['other'], 5)  # HERE", "the name other"),
        ("h = tf.train.LoggingTensorHook(['fc'], 5)  # HERE", "the name fc"),
        ("h = tf.train.LoggingTensorHook(NAMES, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook({k: k for k in NAMES}, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook({'a': TENSOR}, 5)  # HERE", "not given by its name"),
        ("h = tf.train.LoggingTensorHook({k: k + ':0' for k in ['fc']}, 5)  # HERE", "not given by its name"),
        ("h = tf.train.LoggingTensorHook({k: k for k in ['fc'] if k}, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook({**NAMES, 'a': 'fc'}, 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook(dict(NAMES), 5)  # HERE", "are not seen"),
        ("h = tf.train.LoggingTensorHook(dict(**NAMES), 5)  # HERE", "are not seen"),
        ("n = ['fc']\nn.append(NAME)  # HERE\nh = tf.train.LoggingTensorHook(n, 5)", "are not seen"),
        ("n = {}\nn['a'] = TENSOR  # HERE\nh = tf.train.LoggingTensorHook(n, 5)", "not given by its name"),
        ("n = {}\nn['a'] += 'fc'  # HERE\nh = tf.train.LoggingTensorHook(n, 5)", "are not seen"),
    ],
)
def test_refused(use: str, reason: str) -> None:
    assert reason in manual_reason(PROGRAM.format(use=use))


def test_the_model_hands_out_what_is_logged() -> None:
    names = "{'a': 'softmax_tensor', 'b': 'cross_entropy'}"
    text = migrate(
        PROGRAM.format(use=f"e.train(input_fn, hooks=[tf.train.LoggingTensorHook({names}, None, 5), {PROFILE}])")
    )
    assert '"p": watch(self, "softmax_tensor", tf.nn.softmax(logits, name="softmax_tensor"))' in method(text, "call")
    assert '    watch(self, "cross_entropy", tf.identity(loss, "cross_entropy"))\n' in method(text, "compute_loss")


@pytest.mark.parametrize(
    "names",
    [
        "['softmax_tensor', 'cross_entropy']",
        "{x: x for x in ('softmax_tensor', 'cross_entropy')}",
        "[x for x in NAMES]",
        "{x: x for x in NAMES}",
        "dict((x, x) for x in NAMES)",
        "dict([(x, x) for x in NAMES])",
        "dict(a='softmax_tensor', b='cross_entropy')",
        "named",
    ],
)
def test_names_that_a_list_gives(names: str) -> None:
    given = "NAMES = ['softmax_tensor', 'cross_entropy']\n"
    given += "named = {'a': 'softmax_tensor'}\nnamed['b'] = 'net/cross_entropy:0'"
    text = migrate(
        PROGRAM.format(
            use=f"{given}\ne.train(input_fn, hooks=[tf.train.LoggingTensorHook({names}, None, 5), {PROFILE}])"
        )
    )
    assert f"TensorLogger({names}, None, 5)" in text
    assert 'watch(self, "softmax_tensor"' in method(text, "call")
    assert 'watch(self, "cross_entropy"' in method(text, "compute_loss")


def test_nothing_is_handed_out_that_nobody_reads() -> None:
    assert "watch" not in migrate(PROGRAM.format(use=f"e.train(input_fn, hooks=[{STOP}])"))


def custom(body: str, use: str = "e.train(input_fn, hooks=[H()])") -> str:
    """A program with a hook of its own."""
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return PROGRAM.format(use=use).replace(
        "def input_fn", f"class H(tf.train.SessionRunHook):\n{text}\n\n\ndef input_fn"
    )


STEP_HOOK = """
def __init__(self, n=1):
    self.timer = tf.train.SecondOrStepTimer(every_steps=n)

def begin(self):
    self.step = tf.train.get_or_create_global_step()
    if self.step is None:
        raise RuntimeError("no global step")

def before_run(self, run_context):
    return tf.train.SessionRunArgs(self.step)

def after_run(self, run_context, run_values):
    if self.timer.should_trigger_for_step(run_values.results):
        run_context.request_stop()

def end(self, session):
    tf.logging.info("done")
"""
FETCH = "def before_run(self, run_context):\n    return tf.train.SessionRunArgs({})"


@pytest.mark.parametrize(
    ("use", "new"),
    [
        (
            f"e.train(input_fn, hooks=[{PROFILE}, H(3)])",
            "train(e, input_fn, callbacks=[StepProfiler(save_secs=5), HookCallback(H(3))])",
        ),
        (
            f"h = H()\ne.train(input_fn, hooks=[{PROFILE}, {STOP}, h])\nprint(h.timer)",
            "h = H()\ntrain(e, input_fn, callbacks=[StepProfiler(save_secs=5), StopAtStep(last_step=9), "
            "HookCallback(h)])\nprint(h.timer)",
        ),
        (
            f"hooks = [{PROFILE}, H()]\nhooks.append(H(2))\ne.train(input_fn, hooks=hooks)\ne.train(input_fn, hooks=hooks)",
            "hooks = [StepProfiler(save_secs=5), HookCallback(H())]\nhooks.append(HookCallback(H(2)))\n"
            "train(e, input_fn, callbacks=hooks)\ntrain(e, input_fn, callbacks=hooks)",
        ),
    ],
)
def test_own_hooks(use: str, new: str) -> None:
    text = migrate(custom(STEP_HOOK, use))
    assert text.split("e = create_model()\n")[1].strip() == new
    assert "class H(tf.compat.v1.train.SessionRunHook):" in text
    assert "return tf.compat.v1.train.SessionRunArgs(self.step)" in text


PLAIN_HOOK = """
def begin(self):
    self.count = 0

def after_run(self, run_context, run_values):
    self.count += 1
"""


@pytest.mark.parametrize(
    ("use", "new"),
    [
        (
            f"e.train(input_fn, hooks=[{PROFILE}])\ne.evaluate(input_fn, 5, [H()], None, 'x')",
            "train(e, input_fn, callbacks=[StepProfiler(save_secs=5)])\n"
            "evaluate(e, input_fn, 5, callbacks=[HookCallback(H())], name='x')",
        ),
        ("s = tf.estimator.EvalSpec(input_fn, hooks=[H()])", "s = EvalSpec(input_fn, callbacks=[HookCallback(H())])"),
    ],
)
def test_own_hooks_of_evaluations(use: str, new: str) -> None:
    assert (
        migrate(custom(PLAIN_HOOK, use)).split("e = create_model()\n")[1].strip().replace("checkpoint_path=None, ", "")
        == new
    )


def test_own_hooks_see_the_global_step_that_they_saw() -> None:
    behind = custom(STEP_HOOK, f"e.train(input_fn, hooks=[{PROFILE}, H()])").replace(
        "import tensorflow as tf", "import tensorflow.compat.v1 as tf"
    )
    assert "HookCallback(H(), steps_behind=1)" in migrate(behind)
    switched = behind.replace("\nclass H", "\ntf.disable_v2_behavior()\n\nclass H")
    assert "HookCallback(H())" in migrate(switched)


def test_own_hooks_read_named_tensors() -> None:
    text = migrate(custom(FETCH.format('{"a": "cross_entropy:0", "b": [tf.train.get_global_step()]}')))
    assert 'watch(self, "cross_entropy", ' in text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (FETCH.format("self.tensor"), "what a hook fetches is not seen"),
        (FETCH.format("tf.train.get_global_step() + 1"), "what a hook fetches is not seen"),
        (FETCH.format("tf.trainable_variables()"), "what a hook fetches is not seen"),
        (FETCH.format("'other:0'"), "the name other"),
        (FETCH.format("'cross_entropy:0', {}"), "returns is not migrated"),
        (FETCH.format("*self.names"), "returns is not migrated"),
        ("def before_run(self, c):\n    self.seen.append(1)", "what `before_run` of a hook changes"),
        ("def before_run(self, c):\n    self.seen[0] = 1", "what `before_run` of a hook changes"),
        ("def before_run(self, c):\n    self.n += 1", "is not set in `begin`"),
        (
            "def before_run(self, c):\n    self.n = 1\n\ndef end(self, session):\n    print(self.n)",
            "`n`, which `before_run` of a hook sets, is read elsewhere",
        ),
        ("def after_create_session(self, session, coord):\n    session.run('init')", "uses its `session`"),
        ("def after_run(self, c, v):\n    c.session.run('init')", "uses its `c`"),
        ("def after_run(self, c, v):\n    print(v)", "uses its `v`"),
        ("def after_run(self, *args):\n    pass", "with other parameters"),
        ("def begin(self):\n    self.saver = tf.train.Saver()", "a hook that uses tf.train.Saver"),
        ("def begin(self):\n    print(tf.train.get_global_step())", "computes with the tensor of the global step"),
        ("def begin(self):\n    input_fn()", "a function which uses TensorFlow"),
        ("def begin(this):\n    this.n = 1", "whose first parameter is not `self`"),
        ("def after_run(self, c, v):\n    setattr(self, 'x', 1)", "a hook that calls `setattr`"),
        ("@property\ndef begin(self):\n    pass", "a method of a hook with a decorator"),
    ],
)
def test_own_hooks_that_need_a_session(body: str, reason: str) -> None:
    assert reason in manual_reason(custom(body))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def after_run(self, c, v):\n    c.request_stop()", "stops an evaluation"),
        (FETCH.format("'cross_entropy:0'"), "a tensor that a hook of an evaluation fetches"),
    ],
)
def test_own_hooks_that_an_evaluation_cannot_run(body: str, reason: str) -> None:
    assert reason in manual_reason(custom(body, "e.evaluate(input_fn, hooks=[H()])"))
    migrate(custom(body))


def test_a_hook_of_another_base() -> None:
    program = custom("pass").replace("tf.train.SessionRunHook", "tf.train.StepCounterHook")
    assert "`hooks` of Estimator.train" in manual_reason(program)


LISTENER = """
class L(tf.train.CheckpointSaverListener):
    def after_save(self, session, global_step_value):
        tf.logging.info("%s: %s", global_step_value, e.evaluate(input_fn))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "e.train(input_fn, hooks=[tf.train.CheckpointSaverHook('d', 5, listeners=[L()])])",
            "train(e, input_fn, callbacks=[CheckpointSaver('d', 5, listeners=[L()])])",
        ),
        (
            "listener = L()\ne.train(input_fn, saving_listeners=[listener], max_steps=9)",
            "train(e, input_fn, callbacks=[CheckpointSaver(listeners=[listener])], max_steps=9)",
        ),
        (
            "s = tf.estimator.TrainSpec(input_fn, 9, None, [L()])",
            "s = TrainSpec(input_fn, 9, callbacks=[CheckpointSaver(listeners=[L()])])",
        ),
    ],
)
def test_listeners(old: str, new: str) -> None:
    text = used(f"{LISTENER}\n\n{old}")
    assert "class L(tf.compat.v1.train.CheckpointSaverListener):" in text
    assert 'logging.info("%s: %s", global_step_value, evaluate(e, input_fn))' in text
    assert text.endswith(new)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print(session.run(x))", "uses its `session`"),
        ("print(tf.train.get_global_step())", "uses tf.train.get_global_step"),
    ],
)
def test_listeners_that_need_a_session(body: str, reason: str) -> None:
    listener = LISTENER.replace('tf.logging.info("%s: %s", global_step_value, e.evaluate(input_fn))', body)
    assert reason in manual_reason(PROGRAM.format(use=f"{listener}\n\ne.train(input_fn, saving_listeners=[L()])"))


METRIC = 'tf.identity(accuracy[1], "train_accuracy")\n    tf.summary.scalar("acc", accuracy[1])'
LOG_METRIC = "tf.train.LoggingTensorHook(['train_accuracy'], every_n_secs=5)"


def measured(use: str, metric: str = METRIC) -> str:
    """A program with a metric that the training reads."""
    made = "accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))\n    other = tf.metrics.mean(loss)\n    "
    text = PROGRAM.replace("    train_op =", f"    {made}{metric}\n    train_op =")
    text = text.replace("train_op=train_op)", "train_op=train_op, eval_metric_ops={{'a': accuracy, 'b': other}})")
    return text.format(use=use)


@pytest.mark.parametrize(
    ("metric", "more"),
    [
        (METRIC, "metrics=True, summarized=True"),
        (METRIC.partition("\n")[0], "metrics=True"),
        ('tf.identity(accuracy[1], name="train_accuracy")', "metrics=True"),
    ],
)
def test_metrics_by_the_name_of_an_op(metric: str, more: str) -> None:
    text = migrate(measured(f"e.train(input_fn, hooks=[{LOG_METRIC}, {PROFILE}])", metric))
    assert f"TensorLogger(['train_accuracy'], every_n_secs=5, {more})" in text
    assert 'watch(self, "train_accuracy", tf.identity(self.a.result(), ' in method(text, "compute_metrics")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (measured(f"e.train(input_fn, hooks=[{LOG_METRIC}, {LOG_METRIC}, {PROFILE}])"), "several hooks read metrics"),
        (
            measured(
                f"e.train(input_fn, hooks=[{LOG_METRIC}, {PROFILE}])", METRIC.replace('acc", accuracy', 'acc", other')
            ),
            "a hook and a summary read different metrics",
        ),
        (
            measured(
                "class H(tf.train.SessionRunHook):\n"
                "    def before_run(self, context):\n"
                "        return tf.train.SessionRunArgs('train_accuracy:0')\n\n\n"
                "e.train(input_fn, hooks=[H()])"
            ),
            "read by a hook of the program's own",
        ),
    ],
)
def test_metrics_that_others_read_too(source: str, reason: str) -> None:
    assert reason in manual_reason(source)


MADE = """\
USUAL = dict((name, name) for name in ["cross_entropy"])


def logging_hook(every=5, tensors=None, **kwargs):
    if tensors is None:
        tensors = USUAL
    return tf.train.LoggingTensorHook(tensors=tensors, every_n_iter=every)


HOOKS = {"logging": logging_hook}


def hooks_of(names, **kwargs):
    hooks = []
    for name in names:
        make = HOOKS.get(name)
        hooks.append(make(**kwargs))
    return hooks


"""


def made_hook(before: str, use: str) -> str:
    return PROGRAM.format(use=use).replace("\n\ne = tf", f"\n\n{before}e = tf")


def test_names_that_a_maker_of_hooks_fills_in() -> None:
    text = migrate(made_hook(MADE, "e.train(input_fn, hooks=hooks_of(['logging'], batch=3))"))
    assert 'watch(self, "cross_entropy", tf.identity(loss, "cross_entropy"))' in method(text, "compute_loss")
    assert "TensorLogger(tensors=tensors, every_n_iter=every)" in text


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (MADE, "tensors=['softmax_tensor']"),
        (MADE, "**{'tensors': ['softmax_tensor']}"),
        (MADE.replace("make(**kwargs)", "make(5, ['softmax_tensor'])"), ""),
        (MADE.replace("make(**kwargs)", "make(*F)"), ""),
        (MADE.replace("if tensors is None", "if every"), ""),
        (MADE.replace("    if tensors is None", "    tensors = tensors\n    if tensors is None"), ""),
    ],
)
def test_names_that_a_call_may_give(made: str, given: str) -> None:
    reason = manual_reason(made_hook(made, f"e.train(input_fn, hooks=hooks_of(['logging'], {given}))"))
    assert "the tensors that are logged are not seen" in reason
