"""TPUEstimators: plain Keras with the batch size of each mode, and on the TPU that the program asks for when it runs."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import kept

MODEL = """
import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices(({"x": [[1.0], [2.0]]}, [[1.0], [2.0]]))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


"""
CONFIG = "config = tf.contrib.tpu.RunConfig(tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=10))\n"
RESOLVER = """resolver = None
if FLAGS.use_tpu:
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
"""
MADE = (
    "estimator = tf.contrib.tpu.TPUEstimator(\n"
    "    model_fn, use_tpu=FLAGS.use_tpu, config=config, train_batch_size=FLAGS.batch, eval_batch_size=2)\n"
)
TRAIN = "estimator.train(input_fn, steps=20)\n"


def made(after: str = TRAIN, estimator: str = MADE, before: str = CONFIG, model: str = MODEL) -> str:
    """What becomes of the code behind the functions, without line breaks at brackets."""
    text = joined(migrate(model + before + estimator + after))
    return text.partition("drop_remainder=True)\n")[2].strip()


def strategy(text: str) -> str:
    """The function that makes the strategy."""
    return text.partition("def make_strategy")[2].partition("\n\n\n")[0]


def loop(text: str) -> str:
    """What follows that function."""
    return text.partition("return tf.distribute.TPUStrategy(resolver)\n")[2].strip()


def test_a_tpu_is_asked_for_when_the_program_runs() -> None:
    text = made()
    assert strategy(text).startswith("(use_tpu):\n")
    assert loop(text) == (
        "with make_strategy(FLAGS.use_tpu).scope():\n    model = create_model()\n"
        "if FLAGS.use_tpu:\n    model.steps_per_execution = 10\n"
        'model.fit(input_fn(params={"batch_size": FLAGS.batch}).take(20))'
    )


def test_decorators_stay_with_their_function() -> None:
    decorated = f"# Trains.\n@click.command()\ndef main():\n    {TRAIN}"
    body = "".join(f"    {line}\n" for line in (CONFIG + MADE).splitlines())
    text = joined(migrate("import click\n" + MODEL + decorated.replace("def main():\n", f"def main():\n{body}")))
    assert "return tf.distribute.TPUStrategy(resolver)\n\n\n# Trains.\n@click.command()\ndef main():\n" in text


def test_one_inside_of_another_expression_keeps_the_helpers() -> None:
    inside = MADE.replace("estimator = ", "use(").rstrip() + ")\n"
    assert "make_strategy" not in made(inside, "", f"def use(estimator):\n    {TRAIN}\n\n{CONFIG}")


def test_nothing_is_vendored_for_it() -> None:
    assert not {HELPERS, "tf2_cluster.py"} & set(run(MODEL + CONFIG + MADE + TRAIN))


def test_the_loss_is_shared_among_cores() -> None:
    own = MODEL.replace(
        "tf.losses.mean_squared_error(labels, predictions)", "tf.reduce_mean(tf.pow(labels - predictions, 4))"
    )
    assert "/ tf.distribute.get_strategy().num_replicas_in_sync" in migrate(own + CONFIG + MADE + TRAIN)
    never = MADE.replace("use_tpu=FLAGS.use_tpu", "use_tpu=False")
    assert "num_replicas" not in migrate(own + CONFIG + never + TRAIN)


def test_what_finds_the_tpu_is_given() -> None:
    text = made(before=RESOLVER + CONFIG.replace("(tpu_config", "(cluster=resolver, tpu_config"))
    assert strategy(text).startswith("(use_tpu, resolver):\n")
    assert "resolver = resolver or tf.distribute.cluster_resolver.TPUClusterResolver()\n" in text
    assert loop(text).startswith(
        "resolver = None\nif FLAGS.use_tpu:\n    resolver = tf.distribute.cluster_resolver.TPU"
    )
    assert "with make_strategy(FLAGS.use_tpu, resolver).scope():\n    model = create_model()\n" in text


def test_without_a_tpu_there_is_no_strategy() -> None:
    text = made(estimator=MADE.replace("use_tpu=FLAGS.use_tpu", "use_tpu=False"))
    assert text == 'model = create_model()\nmodel.fit(input_fn(params={"batch_size": FLAGS.batch}).take(20))'


ALWAYS = pytest.mark.parametrize("use", ["use_tpu=True, ", ""])


@ALWAYS
def test_a_tpu_that_is_always_used(use: str) -> None:
    """One device takes its place where there is none, and a message says so."""
    estimator = MADE.replace("use_tpu=FLAGS.use_tpu, ", use)
    text = made(estimator=estimator)
    assert strategy(text).startswith("():\n") and "    except ValueError:\n" in strategy(text)
    assert loop(text) == (
        "with make_strategy().scope():\n    model = create_model()\nmodel.steps_per_execution = 10\n"
        'model.fit(input_fn(params={"batch_size": FLAGS.batch}).take(20))'
    )
    told = [str(d) for outcome in run(MODEL + CONFIG + estimator + TRAIN).values() for d in outcome.remaining]
    assert any("trains on one device" in text for text in told)


@ALWAYS
def test_a_tpu_that_is_always_used_and_found_by_the_program(use: str) -> None:
    found = "resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)\n"
    config = CONFIG.replace("(tpu_config", "(cluster=resolver, tpu_config")
    text = made(before=found + config, estimator=MADE.replace("use_tpu=FLAGS.use_tpu, ", use))
    assert strategy(text).startswith("(resolver):\n") and "except" not in strategy(text)
    assert "with make_strategy(resolver).scope():\n    model = create_model()\n" in text


@ALWAYS
def test_a_tpu_that_one_of_two_models_always_uses(use: str) -> None:
    second = MADE.replace("estimator = ", "second = ").replace("use_tpu=FLAGS.use_tpu, ", use)
    text = made(TRAIN + TRAIN.replace("estimator", "second"), MADE + second)
    assert strategy(text).startswith("(use_tpu):\n")
    assert "with make_strategy(FLAGS.use_tpu).scope():\n" in text and "with make_strategy(True).scope():\n" in text


@ALWAYS
def test_a_model_that_asks_for_its_tpu(use: str) -> None:
    model = MODEL.replace("if FLAGS.use_tpu:", 'if params["use_tpu"]:').replace(
        "optimizer = tf.contrib", "print(1)\n        optimizer = tf.contrib"
    )
    text = made(estimator=MADE.replace("use_tpu=FLAGS.use_tpu, ", use), model=model)
    assert 'model = create_model(params={"use_tpu": True})' in text


@ALWAYS
@pytest.mark.parametrize("size", ["size()", "batch"])
def test_one_whose_loop_is_not_plain_is_left_alone(use: str, size: str) -> None:
    source = MODEL + "batch = 8\nbatch = 9\n" + CONFIG + MADE.replace("use_tpu=FLAGS.use_tpu, ", use) + TRAIN
    source = source.replace("FLAGS.batch,", f"{size},")
    (outcome,) = run(source).values()
    assert outcome.after == source.encode() and any("asks for a TPU" in str(d) for d in outcome.remaining)


@pytest.mark.parametrize(
    ("reduction", "said"),
    [
        ("", False),
        (", tf.losses.Reduction.MEAN", False),
        (", reduction='weighted_mean'", False),
        (", tf.losses.Reduction.SUM", True),
        (", reduction=FLAGS.reduction", True),
    ],
)
def test_gradients_that_are_added_up_are_told(reduction: str, said: bool) -> None:
    model = MODEL.replace("CrossShardOptimizer(optimizer)", f"CrossShardOptimizer(optimizer{reduction})")
    for source in (model + CONFIG + MADE + TRAIN, model + CONFIG + MADE):
        told = [str(d) for outcome in run(source).values() for d in outcome.remaining]
        assert any("added up the gradients of all cores" in text for text in told) == said


def test_each_mode_has_its_batch_size() -> None:
    text = made(f"{TRAIN}print(estimator.evaluate(input_fn, steps=1))\n")
    assert 'model.evaluate(input_fn(params={"batch_size": 2}).take(1), return_dict=True)' in text


def test_predictions() -> None:
    predict = MADE.replace("eval_batch", "predict_batch")
    text = made(
        f"{TRAIN}for row in estimator.predict(lambda params: input_fn(params).take(1)):\n    print(row)\n", predict
    )
    assert 'model.predict(input_fn({"batch_size": 2}).take(1), verbose=0)' in text


def test_a_lambda_that_reads_the_batch_size() -> None:
    data = 'tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[1.0]])).repeat().batch(params["batch_size"])'
    text = made(f"estimator.train(lambda params: {data}, steps=20)\n")
    assert ".batch(FLAGS.batch).take(20))" in text


def test_parameters_of_the_program() -> None:
    text = made(estimator=MADE.replace("model_fn, ", "model_fn, params={'units': 1}, "))
    assert (
        "params = {'units': 1}\nwith make_strategy(FLAGS.use_tpu).scope():\n    model = create_model(params=params)"
        in text
    )
    assert 'input_fn(params={**params, "batch_size": FLAGS.batch})' in text


def test_checkpoints() -> None:
    text = made(
        before=CONFIG.replace("(tpu_config", "('model', tpu_config").replace("('model', ", "(model_dir='model', ")
    )
    assert "    model.steps_per_execution = 10\ncheckpoint = tf.train.Checkpoint(model=model)\n" in text
    assert "checkpoints.save(model.optimizer.iterations)" in text


def test_an_estimator_that_a_function_returns() -> None:
    factory = "def make():\n    config = tf.contrib.tpu.RunConfig()\n    return tf.contrib.tpu.TPUEstimator(\n"
    factory += "        model_fn, use_tpu=FLAGS.use_tpu, config=config, train_batch_size=8)\n\n\n"
    text = made("make().train(input_fn, steps=20)\n", factory, "")
    assert "def make():\n    with make_strategy(FLAGS.use_tpu).scope():\n        return create_model()\n" in text
    assert 'make().fit(input_fn(params={"batch_size": 8}).take(20))' in text


def test_one_that_is_returned_runs_several_steps_at_once() -> None:
    factory = f"def make():\n    {CONFIG}    return tf.contrib.tpu.TPUEstimator(\n"
    factory += "        model_fn, use_tpu=FLAGS.use_tpu, config=config, train_batch_size=8)\n\n\n"
    text = made("make().train(input_fn, steps=20)\n", factory, "")
    assert (
        "def make():\n    with make_strategy(FLAGS.use_tpu).scope():\n        model = create_model()\n"
        "    if FLAGS.use_tpu:\n        model.steps_per_execution = 10\n    return model\n" in text
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CONFIG, "tpu_config = tf.contrib.tpu.TPUConfig(10)\nconfig = tf.contrib.tpu.RunConfig(tpu_config)\n"),
        (
            CONFIG,
            "per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2\nconfig = tf.contrib.tpu.RunConfig(master=FLAGS.master, "
            "tpu_config=tf.contrib.tpu.TPUConfig(per_host_input_for_training=per_host))\n",
        ),
        ("tf.contrib.tpu.", "tf.estimator.tpu."),
        ("config=config, ", ""),
    ],
)
def test_ways_to_write_it(old: str, new: str) -> None:
    source = (MODEL + CONFIG + MADE + TRAIN).replace(old, new)
    source = source.replace(CONFIG, "") if not new else source
    expected = loop(migrate(MODEL + CONFIG + MADE + TRAIN))
    if "TPUConfig(10)" not in source and "iterations_per_loop" not in source:
        expected = expected.replace("if FLAGS.use_tpu:\n    model.steps_per_execution = 10\n", "")
    assert loop(migrate(source)) == expected


def test_cores_change_gradients_before_they_add_them_up() -> None:
    own = MODEL.replace(
        "train_op = optimizer.minimize(loss, tf.train.get_global_step())",
        "gradients = [(g * FLAGS.scale, v) for g, v in optimizer.compute_gradients(loss)]\n"
        "    train_op = optimizer.apply_gradients(gradients, tf.train.get_global_step())",
    )
    told = [str(d) for outcome in run(own + CONFIG + MADE + TRAIN).values() for d in outcome.remaining]
    assert any("each core of a TPU" in text for text in told)


GRADIENTS = {
    "computed": "gradients, variables = zip(*optimizer.compute_gradients(loss))",
    "taken": "variables = tf.trainable_variables()\n    gradients = tf.gradients(loss, variables)",
}
CLIPPED = "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)"
SCALED = "gradients = [FLAGS.scale * g for g in gradients]"


@pytest.mark.parametrize(
    ("taken", "edited", "words"),
    [
        ("computed", CLIPPED, ["`global_clipnorm` clips the sum"]),
        ("taken", CLIPPED, ["`global_clipnorm` clips the sum", "was added up undivided"]),
        ("computed", SCALED, ["each core of a TPU"]),
        ("taken", SCALED, ["each core of a TPU", "was added up undivided"]),
        ("taken", "", ["was added up undivided"]),
        ("computed", "", []),
    ],
)
def test_what_cores_do_otherwise_is_said_where_there_is_a_tpu(taken: str, edited: str, words: list[str]) -> None:
    lines = [GRADIENTS[taken], edited, "train_op = optimizer.apply_gradients(zip(gradients, variables), "]
    update = "\n    ".join(line for line in lines if line) + "tf.train.get_global_step())"
    own = MODEL.replace("train_op = optimizer.minimize(loss, tf.train.get_global_step())", update)
    one_device = MADE.replace("use_tpu=FLAGS.use_tpu", "use_tpu=False")
    told, alone = (
        [str(d) for outcome in run(own + CONFIG + made + TRAIN).values() for d in outcome.remaining]
        for made in (MADE, one_device)
    )
    of_cores = [text for text in told if " TPU of several cores" in text or "each core of a TPU" in text]
    assert len(of_cores) == len(words) and all(any(word in text for text in of_cores) for word in words)
    assert not any("cores" in text for text in alone)


@pytest.mark.parametrize(("loop_steps", "said"), [("10", False), ("300", True), ("FLAGS.loop", True), ("None", False)])
def test_checkpoints_between_loops(loop_steps: str, said: bool) -> None:
    config = f'config = tf.contrib.tpu.RunConfig(model_dir="here", tpu_config=tf.contrib.tpu.TPUConfig({loop_steps}))\n'
    train = "estimator.train(input_fn, steps=5000)\n"
    told = [str(d) for outcome in run(MODEL + config + MADE + train).values() for d in outcome.remaining]
    assert any("multiples both of 1000 and of iterations_per_loop" in text for text in told) == said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FLAGS.batch,", "size(),"),
        ("FLAGS.batch,", "batch,"),
        ("import tensorflow as tf\n", "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"),
    ],
)
def test_what_keeps_the_helpers(old: str, new: str) -> None:
    source = MODEL + CONFIG + MADE + TRAIN
    if new == "batch,":
        source = source.replace(CONFIG, f"{CONFIG}batch = 8\nbatch = 9\n")
    kept("", source.replace(old, new))


@pytest.mark.parametrize("use", ["use_tpu=FLAGS.use_tpu, ", "use_tpu=True, ", ""])
def test_a_program_that_is_told_to_do_without(use: str) -> None:
    source = MODEL + RESOLVER + CONFIG.replace("(tpu_config", "(cluster=resolver, tpu_config") + MADE + TRAIN
    text = migrate(source.replace("use_tpu=FLAGS.use_tpu, ", use), strategy="none")
    assert "tpu" not in text.lower()
    assert text.endswith('model = create_model()\nmodel.fit(input_fn(params={"batch_size": FLAGS.batch}).take(20))\n')


def test_a_program_that_only_speaks_of_tpus() -> None:
    plain = MODEL.replace("tf.contrib.tpu.TPUEstimatorSpec", "tf.estimator.EstimatorSpec").replace("(params)", "()")
    wrapped = "    if FLAGS.use_tpu:\n        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)\n"
    assert wrapped in plain
    made = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(input_fn, steps=20)\n"
    text = migrate(plain.replace('params["batch_size"]', "8") + made)
    assert text.endswith("model = create_model()\nmodel.fit(input_fn().take(20))\n")


PLAIN = """
import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": [[1.0], [2.0]]}, [[1.0], [2.0]]))
    return data.repeat().batch(2)


config = tf.contrib.tpu.RunConfig(SETTINGS)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(input_fn, steps=20)
"""


def test_a_configuration_for_tpus_of_a_plain_estimator() -> None:
    text = migrate(PLAIN.replace("SETTINGS", 'model_dir="out", save_checkpoints_steps=10'))
    assert "model.fit(" in text and "RunConfig" not in text


def test_what_it_says_of_tpus_is_not_lost() -> None:
    text = migrate(PLAIN.replace("SETTINGS", 'tf.contrib.tpu.TPUConfig(iterations_per_loop=10), model_dir="out"'))
    assert "RunConfig(" in text and "model.fit(" not in text


def test_a_tpu_in_one_branch_alone() -> None:
    branches = (
        "if FLAGS.use_tpu:\n"
        "    config = tf.contrib.tpu.RunConfig(model_dir='here', save_checkpoints_steps=FLAGS.often)\n"
        "    estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, params=params, train_batch_size=8)\n"
        "else:\n"
        "    config = tf.estimator.RunConfig(model_dir='here')\n"
        "    estimator = tf.estimator.Estimator(model_fn, config=config, params=params)\n"
    )
    text = made("estimator.train(input_fn, max_steps=20)\n", branches, "params = {'batch_size': 2}\n")
    assert "    with make_strategy().scope():\n        model = create_model(" in text
    assert 'input_fn(params={**params, "batch_size": 8} if FLAGS.use_tpu else params)' in text
    assert "% (FLAGS.often if FLAGS.use_tpu else 1000) == 0:" in text
