"""Hooks of classes of a program as callbacks of `fit`."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import PATH, joined, migrate, migrate_all, run

HEAD = """\
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.reduce_mean(tf.square(labels - predictions), name="mse")
    error = tf.reduce_mean(tf.abs(labels - predictions), name="mae")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op{hooks})


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]] * 8}, [[1.0]] * 8)).repeat().batch(2)


"""
AFTER = "def after_run(self, run_context, run_values):\n    print(run_values.results)\n"
TRAIN = "estimator.train(input_fn, hooks=[H()], steps=20)\n"


def program(body: str, use: str = TRAIN, spec: str = "", base: str = "tf.train.SessionRunHook") -> str:
    hook = f"class H({base}):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n\n"
    made = "estimator = tf.estimator.Estimator(model_fn)\n"
    head, _, rest = HEAD.replace("{hooks}", spec).partition("def model_fn")
    return f"{head}{hook}def model_fn{rest}{made}{use}"


def migrate_anyhow(source: str) -> str:
    """It after migration, whatever becomes of it."""
    return run(source)[PATH].after.decode()


def asking(fetched: str, body: str = AFTER) -> str:
    return f"def before_run(self, run_context):\n    return tf.train.SessionRunArgs({fetched})\n\n{body}"


def hook(text: str) -> str:
    """The class of the hook."""
    return text[text.index("class H") : text.index("\n\n\nclass Model")]


STEP = "self.model.optimizer.iterations.numpy()"
BEGIN = "def begin(self):\n    self._step = tf.train.get_or_create_global_step()\n\n"
CREATED = "def after_create_session(self, session, coord):\n    "


@pytest.mark.parametrize(
    ("body", "moment", "read"),
    [
        ("def end(self, session):\n    print(session.run(tf.train.get_global_step()))", "end", f"print({STEP})"),
        (f"{BEGIN}def end(self, sess):\n    print(sess.run(self._step))", "end", "print(self._step.numpy())"),
        (
            f"{CREATED}self.start = session.run(fetches=tf.train.get_global_step())",
            "begin",
            f"self.start = {STEP}",
        ),
    ],
)
def test_the_step_that_a_session_is_asked_for_is_that_of_the_optimizer(body: str, moment: str, read: str) -> None:
    text = hook(migrate(program(f"{body}\n")))
    assert f"def on_train_{moment}(self, logs=None):\n        {read}" in text and "session" not in text


def test_the_step_at_the_end_of_data_that_nobody_counts() -> None:
    body = "def end(self, session):\n    print(session.run(tf.train.get_global_step()))"
    lines = program(body).replace(".repeat().batch", ".filter(keep).batch").replace(", steps=20", "")
    assert "control_dependencies" in migrate(lines)
    assert "control_dependencies" not in migrate(lines.replace("session.run(tf.train.get_global_step())", "1"))


@pytest.mark.parametrize(
    "body",
    [
        "def end(self, session):\n    print(session.run('weights'))",
        "def end(self, session):\n    print(session.run([tf.train.get_global_step()]))",
        "def end(self, session):\n    print(session.run(tf.train.get_global_step()), session.graph)",
        f"{BEGIN}    self._step = load()\n\ndef end(self, session):\n    print(session.run(self._step))".replace(
            "\n\n    ", "\n    "
        ),
        "def end(self, session):\n    print(OTHER.run(tf.train.get_global_step()))",
    ],
)
def test_what_else_a_session_is_asked_for(body: str) -> None:
    assert ".fit(" not in migrate_anyhow(program(body))


@pytest.mark.parametrize(
    ("fetched", "read"),
    [
        ('"mse"', 'logs["batch_loss"]'),
        ('fetches="net/mae:0"', 'logs["mae"]'),
        ("tf.train.get_global_step()", STEP),
        ('{"loss": "mse", "step": tf.train.get_global_step()}', f'{{"loss": logs["batch_loss"], "step": {STEP}}}'),
        ('["mae", "mse"]', '[logs["mae"], logs["batch_loss"]]'),
    ],
)
def test_what_a_hook_fetches_is_read_from_logs(fetched: str, read: str) -> None:
    text = migrate(program(asking(fetched)))
    expected = f"    def on_train_batch_end(self, batch, logs=None):\n        print({read})"
    assert hook(text) == f"class H(tf.keras.callbacks.Callback):\n{expected}"
    assert "model.fit(input_fn().take(20), callbacks=[H()])" in joined(text) and "tf2_training" not in text


@pytest.mark.parametrize(
    ("fetched", "reads", "read"),
    [
        ('{"a": "mse", "b": "mae"}', 'run_values.results["b"]', 'logs["mae"]'),
        ('["mse", "mae"]', "run_values.results[0]", 'logs["batch_loss"]'),
        ("tf.train.get_global_step()", "run_values.results + 1", f"{STEP} + 1"),
    ],
)
def test_parts_of_what_is_fetched(fetched: str, reads: str, read: str) -> None:
    assert f"print({read})" in hook(migrate(program(asking(fetched, AFTER.replace("run_values.results", reads)))))


def test_several_values_are_taken_apart() -> None:
    body = AFTER.replace("print(run_values.results)", "loss, step = run_values.results")
    text = hook(migrate(program(asking('["mse", tf.train.get_global_step()]', body))))
    assert f'loss, step = logs["batch_loss"], {STEP}' in text


def test_each_moment_has_its_method() -> None:
    text = hook(
        migrate(
            program(
                '''\
                """Counts."""

                def __init__(self, n=1):
                    """Notes a number."""
                    self.n = n

                def begin(self):
                    self.step = tf.train.get_or_create_global_step()

                def after_create_session(self, session, coord):
                    print("ready")

                def before_run(self, run_context):
                    self.asked = True
                    return tf.train.SessionRunArgs(self.step)

                def after_run(self, run_context, run_values):
                    if run_values.results > self.n:
                        run_context.request_stop()

                def end(self, session):
                    print("end")
                '''
            )
        )
    )
    assert text == textwrap.dedent(
        '''\
        class H(tf.keras.callbacks.Callback):
            """Counts."""

            def __init__(self, n=1):
                """Notes a number."""
                super().__init__()
                self.n = n

            def on_train_begin(self, logs=None):
                self.step = self.model.optimizer.iterations
                self.after_create_session()

            def after_create_session(self):
                print("ready")

            def on_train_batch_begin(self, batch, logs=None):
                self.asked = True

            def on_train_batch_end(self, batch, logs=None):
                if self.step.numpy() > self.n:
                    self.model.stop_training = True

            def on_train_end(self, logs=None):
                print("end")'''
    )


COUNTS = "def begin(self):\n    self.n = 0\n\ndef after_run(self, run_context, run_values):\n    self.n += 1\n"


def test_a_hook_of_evaluations() -> None:
    text = migrate(program(COUNTS, "estimator.evaluate(input_fn, steps=2, hooks=[H()])\n"))
    assert "def on_test_begin(" in text and "def on_test_batch_end(" in text and "on_train" not in text
    assert "model.evaluate(input_fn().take(2), callbacks=[H()])" in joined(text)


def test_a_hook_of_trainings_and_evaluations() -> None:
    use = (
        "h = H()\nestimator.train(input_fn, hooks=[h], steps=20)\nestimator.evaluate(input_fn, steps=2, hooks=[H()])\n"
    )
    text = migrate(program(COUNTS, use + "print(h.n)\n"))
    assert hook(text).endswith(
        "self.n += 1\n\n    on_test_begin = on_train_begin\n    on_test_batch_end = on_train_batch_end"
    )
    assert "h = H()\nmodel.fit(" in text and "callbacks=[h]" in text and "print(h.n)" in text


def test_a_hook_of_a_spec_is_made_from_keys() -> None:
    init = "def __init__(self, loss, n):\n    self.loss = loss\n    self.n = n\n\n"
    text = migrate(
        program(init + asking("self.loss"), TRAIN.replace(", hooks=[H()]", ""), ", training_hooks=[H(loss, 3)]")
    )
    assert 'callbacks=[H("batch_loss", 3)]' in joined(text) and "print(logs[self.loss])" in text
    assert 'self.step_logs["batch_loss"] = loss' in text


def looking(above: str, fetched: str = "self.loss") -> str:
    return f"def begin(self):\n{textwrap.indent(textwrap.dedent(above), '    ')}\n{asking(fetched)}"


@pytest.mark.parametrize(
    "above",
    [
        'self.loss = tf.get_default_graph().get_tensor_by_name("mse:0")\n',
        'graph = tf.get_default_graph()\nself.loss = graph.get_tensor_by_name("mse:0")\n',
    ],
)
def test_tensors_that_are_looked_up_by_their_names(above: str) -> None:
    text = hook(migrate(program(looking(above))))
    assert text == (
        "class H(tf.keras.callbacks.Callback):\n    def on_train_batch_end(self, batch, logs=None):\n"
        '        print(logs["batch_loss"])'
    )
    text = hook(migrate(program(looking(f"self.n = 0\n{above}"))))
    assert "    def on_train_begin(self, logs=None):\n        self.n = 0\n\n    def on_train_batch_end(" in text


NAMED = "def __init__(self, name='mse:0'):\n    self.name = name\n\n" + looking(
    "self.loss = tf.get_default_graph().get_tensor_by_name(self.name)\n"
)


@pytest.mark.parametrize("made", ["H()", "H('scope/mse:0')", "H(name='mse:0')"])
def test_tensors_that_are_looked_up_by_a_name_of_the_hook(made: str) -> None:
    text = hook(migrate(program(NAMED, TRAIN.replace("H()", made))))
    assert "get_tensor_by_name" not in text and 'print(logs["batch_loss"])' in text


@pytest.mark.parametrize("use", [TRAIN.replace("H()", "H(), H('other:0')"), TRAIN.replace("H()", "H(NAME)")])
def test_names_that_differ_or_are_not_seen_stay(use: str) -> None:
    from modelfn.programs import run

    text = run(program(NAMED, use))["program.py"].after.decode()
    assert "keras.callbacks.Callback" not in text


def test_several_tensors_in_one_argument() -> None:
    init = "def __init__(self, tensors):\n    self.tensors = tensors\n\n"
    spec = ', training_hooks=[H({"a": loss, "b": error})]'
    text = joined(migrate(program(init + asking("self.tensors"), TRAIN.replace(", hooks=[H()]", ""), spec)))
    assert 'callbacks=[H({"a": "batch_loss", "b": "tensors_b"})]' in text
    assert "print({name: logs[key] for name, key in self.tensors.items()})" in text
    one = AFTER.replace("run_values.results", 'run_values.results["b"]')
    text = migrate(program(init + asking("self.tensors", one), TRAIN.replace(", hooks=[H()]", ""), spec))
    assert 'print(logs[self.tensors["b"]])' in text
    text = migrate(
        program(
            init + asking("self.tensors"), TRAIN.replace(", hooks=[H()]", ""), ", training_hooks=[H([loss, error])]"
        )
    )
    assert "print([logs[key] for key in self.tensors])" in text


def test_the_step_of_programs_of_tensorflow_2_is_that_before() -> None:
    source = program(asking("tf.train.get_global_step()")).replace(
        "import tensorflow as", "import tensorflow.compat.v1 as"
    )
    assert f"print({STEP} - 1)" in migrate(source)


def test_a_class_of_another_file() -> None:
    whole = program(asking('"mae"'))
    own, _, rest = whole.partition("def model_fn")
    files = {
        "own_hooks.py": own,
        "program.py": f"import tensorflow as tf\nfrom own_hooks import H\n\n\ndef model_fn{rest}",
    }
    after = migrate_all(files)
    assert 'print(logs["mae"])' in after["own_hooks.py"] and "callbacks=[H()]" in joined(after["program.py"])


CREATED = "def after_create_session(self, session, coord):\n    self.m = 1\n"
SECOND = """\
def other_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    loss = tf.losses.absolute_difference(labels, predictions)
    error = tf.reduce_mean(tf.abs(labels - predictions), name="mae")
    more = tf.reduce_mean(predictions, name="mse")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


other = tf.estimator.Estimator(other_fn)
other.train(input_fn, hooks=[H()], steps=20)
"""


def test_a_class_for_two_models_that_hand_out_the_same() -> None:
    other, more = (
        "tf.losses.absolute_difference(labels, predictions)",
        '    more = tf.reduce_mean(predictions, name="mse")\n',
    )
    loss = 'tf.reduce_mean(tf.abs(labels - predictions), name="mse")'
    both = SECOND.replace(other, loss).replace(more, "")
    text = migrate(program(asking('"mse"'), TRAIN + both))
    assert text.count("callbacks=[H()]") == 2 and 'print(logs["batch_loss"])' in text


def test_the_end_of_something_else_is_no_method_of_a_hook() -> None:
    ends = COUNTS + "\ndef end(self, session):\n    print(self.n)\n"
    text = migrate(program(ends, 'import re\nprint(re.match("a", "ab").end())\n' + TRAIN))
    assert "def on_train_end(self, logs=None):" in text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (program("def after_run(self, run_context, run_values):\n    self.model = 1\n"), "an attribute of callbacks"),
        (
            program(
                "def before_run(self, run_context):\n    if self.x:\n        return tf.train.SessionRunArgs('mse')\n\n"
                + AFTER
            ),
            "asks sometimes",
        ),
        (program(COUNTS, TRAIN + "other(H)\n"), "the class is used elsewhere"),
        (program(COUNTS.replace("+= 1", "+= batch"), "batch = 32\n" + TRAIN), "a name that a parameter hides"),
        (program(COUNTS.replace("self.n += 1", 'logs = ["step"]')), "a name that hides a parameter"),
        (program(COUNTS.replace("self.n += 1", "import batch")), "a module that hides a parameter"),
        (program("def __init__(self): self.m = 1\n\n" + COUNTS), "a method in one line"),
        (program(COUNTS.replace(":\n    self.n = 0", ": self.n = 0")), "another"),
        (program(COUNTS.replace("self.n = 0", "self.n = 0; self.m = 1")), "two statements in a line"),
        (program(f"{COUNTS}\n{CREATED}".replace("n = 0", "n = 0\n    if self.n:\n        return")), "an early end"),
        (program(COUNTS, f"h = H()\nh.begin()\n{TRAIN.replace('H()', 'h')}"), "a method that is called elsewhere"),
        (program(COUNTS.replace("self.n = 0", "super().begin()\n    self.n = 0")), "a method of the base"),
        (
            program(looking('self.loss = tf.get_default_graph().get_tensor_by_name("other:0")\n')),
            "a name that is not seen",
        ),
        (program(looking('self.loss = other().get_tensor_by_name("mse:0")\n')), "a graph that is not seen"),
        (program(looking("self.loss = tf.get_default_graph().get_operations()[0]\n")), "an op of the graph"),
        (program(asking('"mse"'), TRAIN + SECOND), "a name that is the loss of one of two models"),
        (program(COUNTS, TRAIN, base="tf.train.LoggingTensorHook"), "a class of the library with more to it"),
        (program(COUNTS, "estimator.predict(input_fn, hooks=[H()])\n"), "predictions"),
        (
            program(COUNTS, TRAIN.replace("[H()]", "[H(), tf.train.FeedFnHook(None)]")),
            "another hook that is not understood",
        ),
    ],
)
def test_what_stays_with_helpers(source: str, why: str) -> None:
    from modelfn.programs import run

    text = run(source)["program.py"].after.decode()
    assert ".fit(" not in text and "keras.callbacks.Callback" not in text, why
