"""TPUEstimators of programs that train without a TPU become Keras models like any other Estimator."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, run, units

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """
import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features["x"], params["units"], name="logits")
    loss = tf.reduce_mean(tf.square(labels - logits))
    if mode == tf.estimator.ModeKeys.EVAL:

        def metric_fn(labels, logits):
            return {"error": tf.metrics.mean(labels - logits)}

        eval_metrics = (metric_fn, [labels, logits])
        return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=loss, eval_metrics=eval_metrics, scaffold_fn=None)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    if params["use_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


config = tf.contrib.tpu.RunConfig(
    master=FLAGS.master, model_dir="m", tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=100))
estimator = tf.contrib.tpu.TPUEstimator(
    use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=config, train_batch_size=32, params={"units": 3})
"""


def test_the_specs_are_those_of_an_estimator() -> None:
    text = migrate(PROGRAM)
    assert "tpu." not in text and "TPUEstimator" not in text and "compat.v1" not in text
    assert "self.error.update_state(y - y_pred)" in method(text, "compute_metrics")
    assert "use_tpu" not in method(text, "create_model")
    assert "tf.keras.optimizers.SGD(0.1)" in method(text, "create_model")
    assert 'config = RunConfig(model_dir="m")' in text


def test_a_file_that_imports_the_module_of_estimators_beside_tensorflow() -> None:
    text = PROGRAM.replace(
        "import tensorflow as tf\n",
        "import tensorflow.compat.v1 as tf\nfrom tensorflow.compat.v1 import estimator as tf_estimator\n",
    )
    text = text.replace("tf.contrib.tpu.TPUEstimatorSpec", "tf_estimator.tpu.TPUEstimatorSpec")
    text = migrate(
        text.replace("tf.contrib.tpu.", "tf_estimator.tpu.").replace("tf_estimator.tpu.Cross", "tf.tpu.Cross")
    )
    assert text.startswith("\nimport tensorflow as tf\n") and "tf_estimator" not in text
    assert "self.error.update_state(y - y_pred)" in method(text, "compute_metrics")


def test_a_name_for_tensorflow_that_stands_for_something_else() -> None:
    text = PROGRAM.replace(
        "import tensorflow as tf\n",
        "import tensorflow.compat.v1 as tf\nfrom tensorflow.compat.v1 import estimator as tf_estimator\ntf = make(tf)\n",
    )
    assert manual_reason(text.replace("tf.contrib.tpu.", "tf_estimator.tpu."))


def test_the_batch_size_goes_to_the_parameters() -> None:
    text = migrate(PROGRAM)
    given = 'TPUParams({"units": 3}, use_tpu=FLAGS.use_tpu, train_batch_size=32)'
    assert f"create_model(\n    params={given}, config=config)" in text


def test_parameters_on_lines_of_their_own() -> None:
    text = migrate(PROGRAM.replace("=32", "=FLAGS.train_batch_size, eval_batch_size=FLAGS.eval_batch_size"))
    lines = ["{", '    {"units": 3},', "    use_tpu=FLAGS.use_tpu,", "    train_batch_size=FLAGS.train_batch_size,"]
    assert "\n".join(f"    {line}" for line in lines[1:]) in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(metric_fn, [labels, logits])", "(metric_fn, {'labels': labels, 'logits': logits})"),
        ("eval_metrics=eval_metrics", "eval_metrics=(metric_fn, [labels, logits])"),
        ("(metric_fn, [labels, logits])", "(lambda y, z: {'error': tf.metrics.mean(y - z)}, [labels, logits])"),
        ("(metric_fn, [labels, logits])", "(lambda y: dict(error=tf.metrics.mean(y)), [labels - logits])"),
        ("tf.contrib.tpu.", "tf.estimator.tpu."),
        ("tf.contrib.tpu.CrossShardOptimizer", "tf.tpu.CrossShardOptimizer"),
        ("scaffold_fn=None", "host_call=None"),
        ("train_op=train_op)", "train_op=train_op, scaffold_fn=None)"),
        ("    if params", "    scaffold_fn = None\n    if params"),
    ],
)
def test_ways_to_write_it(old: str, new: str) -> None:
    assert old in PROGRAM
    assert "self.error.update_state(y - y_pred)" in migrate(PROGRAM.replace(old, new))


def test_a_scaffold_for_the_tpu_goes() -> None:
    scaffold = "    scaffold_fn = None\n    if params['use_tpu']:\n        scaffold_fn = make_scaffold\n"
    source = PROGRAM.replace("    optimizer = tf.train", f"{scaffold}    optimizer = tf.train")
    assert "scaffold" not in migrate(
        source.replace("train_op=train_op)", "train_op=train_op, scaffold_fn=scaffold_fn)")
    )


def test_what_a_tpu_calls_on_its_host_is_not_run() -> None:
    outcome = run(PROGRAM.replace("scaffold_fn=None", "host_call=(write, [loss])"))["program.py"]
    assert "write" not in outcome.after.decode()
    assert any("host_call is not run" in str(diagnostic) for diagnostic in outcome.remaining)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("use_tpu=FLAGS.use_tpu", "use_tpu=True", "asks for a TPU"),
        ("use_tpu=FLAGS.use_tpu, ", "", "asks for a TPU"),
        ('params["units"]', 'params["batch_size"]', "tells the model_fn its batch size"),
        ('params["units"]', "units_of(params)", "tells the model_fn its batch size"),
        ("scaffold_fn=None", "scaffold_fn=make_scaffold", "a scaffold_fn prepares a graph"),
        ("(metric_fn, [labels, logits])", "make_metrics(labels)", "is not seen to be a function and a list"),
        ("(metric_fn, [labels, logits])", "(lambda *y: metric_fn(*y), [labels, logits])", "is not followed"),
        ("(metric_fn, [labels, logits])", "(lambda y: {'e': tf.metrics.mean(y)}, [labels, logits])", "is not followed"),
        (
            "(metric_fn, [labels, logits])",
            "(lambda y: {k: tf.metrics.mean(y) for k in 'ab'}, [logits])",
            "is not followed",
        ),
        ("model_fn(features, labels, mode, params)", "model_fn(features, labels, mode)", "takes no params"),
        (
            "use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=config,",
            "model_fn, None, config, {}, False,",
            "given twice",
        ),
    ],
)
def test_what_stays_out_of_native(old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new)
    if "takes no" in reason:
        text = text.replace('params["units"]', "3").replace('params["use_tpu"]', "FLAGS.use_tpu")
    if reason == "given twice":
        text, reason = text.replace(', params={"units": 3}', ""), "positional arguments of a TPUEstimator"
    assert reason in manual_reason(text)


def test_the_bridge_takes_what_native_does_not() -> None:
    outcomes = run(PROGRAM.replace('params["units"]', 'params["batch_size"]'), "auto")
    (unit,) = units(outcomes)
    assert unit.tier == "bridge" and "tells the model_fn its batch size" in unit.reason


def test_a_model_fn_that_lets_go_of_its_parameters() -> None:
    text = migrate(
        PROGRAM.replace('params["units"]', "3")
        .replace('if params["use_tpu"]', "if FLAGS.use_tpu")
        .replace(
            "def model_fn(features, labels, mode, params):\n",
            "def model_fn(features, labels, mode, params):\n    del params\n",
        )
    )
    assert "del params" not in text and "class Model(tf.keras.Model)" in text


RESOLVER = "tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)"


def on_tpu(text: str, style: str = "auto") -> tuple[str, list[str]]:
    """A program under ``--strategy tpu``, and why it stays if it does."""
    outcomes = migrate_component([decode("program.py", text.encode())], Settings(strategy="tpu", style=style))
    (program,) = (outcome for outcome in outcomes if outcome.path == "program.py")
    return program.after.decode(), [unit.reason for unit in program.units if unit.tier != "native"]


@pytest.mark.parametrize("use", ["use_tpu=FLAGS.use_tpu, ", "use_tpu=True, ", ""])
@pytest.mark.parametrize(
    ("cluster", "named"),
    [
        ("", "tpu_strategy()"),
        (f"cluster={RESOLVER}, ", "tpu_strategy(tf.distribute.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name))"),
        ("cluster=resolver, ", "tpu_strategy(resolver)"),
        ("cluster=None, ", "tpu_strategy()"),
    ],
)
def test_a_tpu_by_the_option(use: str, cluster: str, named: str) -> None:
    given = PROGRAM.replace("use_tpu=FLAGS.use_tpu, ", use).replace("master=FLAGS.master, ", cluster)
    text, reasons = on_tpu(given.replace("config = tf", f"resolver = {RESOLVER}\nconfig = tf"))
    assert not reasons
    assert f'RunConfig(\n    model_dir="m", strategy={named})' in text
    shards = "num_shards=config.strategy.num_replicas_in_sync"
    assert f'params=TPUParams({{"units": 3}}, train_batch_size=32, {shards})' in text
    assert "CrossShard" not in text and "use_tpu=" not in text


@pytest.mark.parametrize(
    ("old", "new", "style", "reason"),
    [
        ("config=config", "config=make()", "native", "RunConfig of a TPUEstimator has no name"),
        (
            "scaffold_fn=None",
            "scaffold_fn=make_scaffold if params['use_tpu'] else None",
            "native",
            "a scaffold_fn prepares a graph",
        ),
        (
            "logits = tf.layers",
            "features = tf.contrib.layers.unit_norm(features)\n    logits = tf.layers",
            "auto",
            "a graph",
        ),
    ],
)
def test_what_a_tpu_needs(old: str, new: str, style: str, reason: str) -> None:
    given = PROGRAM.replace(old, new)
    text, reasons = on_tpu(given, style)
    assert text == given and reason in " ".join(reasons), reasons


def test_a_branch_of_wrappers_alone_goes() -> None:
    wrapped = "        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)\n"
    other = wrapped.replace("optimizer = ", "other = ").replace("(optimizer)", "(other)")
    begun = "    optimizer = tf.train.GradientDescentOptimizer(0.1)\n"
    text = migrate(
        PROGRAM.replace(begun, begun + begun.replace("optimizer =", "other =")).replace(wrapped, wrapped + other)
    )
    assert "CrossShard" not in text and 'params["use_tpu"]' not in text
    kept = PROGRAM.replace(wrapped, wrapped + '        print("on a TPU")\n')
    assert 'print("on a TPU")' in migrate(kept) and "CrossShard" not in migrate(kept)


TWINS = """
import tensorflow as tf
from absl import flags

FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(features, 1)
    loss = None
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        loss = tf.nn.l2_loss(predictions - labels)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    if params["use_tpu"]:
        # for the TPU
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op)
    else:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


params = {"use_tpu": FLAGS.use_tpu}
estimator = tf.contrib.tpu.TPUEstimator(model_fn, None, None, params, use_tpu=FLAGS.use_tpu, train_batch_size=8)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("    else:\n        return tf.est", "    return tf.est"),
        ('if params["use_tpu"]', "if FLAGS.use_tpu"),
        ("train_op=train_op)\n    else", "train_op=train_op, scaffold_fn=None)\n    else"),
        (
            "        # for the TPU\n        return tf.contrib.tpu.TPUEstimatorSpec(\n",
            "        # for the TPU\n        def host_call_fn(step):\n            return write(step)\n\n"
            "        step = tf.reshape(tf.train.get_global_step(), [1])\n        host_call = (host_call_fn, [step])\n"
            "        return tf.contrib.tpu.TPUEstimatorSpec(\n            host_call=host_call,\n",
        ),
    ],
)
def test_one_of_two_specs_that_say_the_same(old: str, new: str) -> None:
    assert old in TWINS
    text = migrate(TWINS.replace(old, new))
    assert "class Model(tf.keras.Model)" in text and "TPUEstimatorSpec" not in text


def test_the_spec_of_no_tpu_may_come_first() -> None:
    head, _, tail = TWINS.partition('    if params["use_tpu"]:')
    ends, _, rest = tail.partition("\n\n\n")
    first, _, second = ends.partition("    else:\n")
    text = f'{head}    if not params["use_tpu"]:\n{second}\n    else:{first.rstrip()}\n\n\n{rest}'
    assert "class Model(tf.keras.Model)" in migrate(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("EstimatorSpec(mode, predictions=predictions", "EstimatorSpec(mode, predictions=predictions * 2"),
        ("EstimatorSpec(mode, ", "EstimatorSpec(mode, training_chief_hooks=FLAGS.hooks, "),
        ("tf.estimator.EstimatorSpec(mode", "spec_of(mode"),
        ('if params["use_tpu"]', 'if params.pop("use_tpu")'),
        ("        # for the TPU", "        tf.logging.info('on a TPU')"),
        ("        # for the TPU", "        loss = loss * 2"),
        ("        # for the TPU", "        predictions = other(predictions)"),
        ("        # for the TPU", "        global SCALE\n        SCALE = 2"),
        ("        # for the TPU", "        params['scale'] = 2"),
    ],
)
def test_specs_that_may_differ_stay_two(old: str, new: str) -> None:
    assert old in TWINS
    outcomes = run(TWINS.replace(old, new), "auto")
    assert [unit.tier for unit in units(outcomes)] != ["native"]


HOSTED = PROGRAM.replace("scaffold_fn=None", "host_call=host_call").replace(
    "        eval_metrics =",
    "        host_call = (write, [tf.reshape(loss, [1])])\n        eval_metrics =",
)
WRITES = "\n\ndef write(loss):\n    return tf.summary.all_v2_summary_ops()\n\n\ndef model_fn("


def test_what_only_the_host_of_a_tpu_calls_goes() -> None:
    text = migrate(HOSTED.replace("\n\ndef model_fn(", WRITES))
    assert "def write" not in text and "host_call" not in text


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("config = tf", "SAVED = [write]\nconfig = tf", "def write(loss)"),
        ("        eval_metrics =", "        log(host_call)\n        eval_metrics =", "log(host_call)"),
    ],
)
def test_what_else_uses_the_host_call_stays(old: str, new: str, kept: str) -> None:
    assert old in HOSTED
    writes = WRITES.replace("return tf.summary.all_v2_summary_ops()", "return loss")
    outcome = run(HOSTED.replace("\n\ndef model_fn(", writes).replace(old, new))["program.py"]
    assert kept in outcome.after.decode()


SHAPED = PROGRAM.replace(
    '    logits = tf.layers.dense(features["x"]',
    '    batch_size = params["batch_size"]\n    x = tf.reshape(features["x"], [batch_size, -1])\n'
    "    logits = tf.layers.dense(x",
)


@pytest.mark.parametrize(
    "shape",
    [
        "tf.reshape(features['x'], [batch_size, -1])",
        "tf.reshape(features['x'], shape=(batch_size * 2, -1))",
        "features['x'] + tf.zeros([batch_size, 3])",
        "tf.concat([features['x'], tf.random_normal([batch_size - 1 + 1, 2], seed=1)], 1)",
    ],
)
def test_shapes_are_made_of_the_batch(shape: str) -> None:
    text = migrate(SHAPED.replace('tf.reshape(features["x"], [batch_size, -1])', shape))
    assert 'batch_size = tf.shape(features["x"])[0]' in text.replace("'", '"')
    assert '"batch_size": 32' not in method(text, "call")


@pytest.mark.parametrize(
    "size",
    ["params.get('batch_size')", "params.get('batch_size', None) or params['units']", "params['batch_size'] or 3"],
)
def test_the_batch_has_a_size_whatever_is_there_in_its_place(size: str) -> None:
    text = migrate(SHAPED.replace('params["batch_size"]', size))
    assert 'batch_size = tf.shape(features["x"])[0]\n' in text


@pytest.mark.parametrize(
    "use",
    [
        "features['x'] / batch_size",
        "tf.reshape(features['x'], [batch_size / 2, -1])",
        "tf.stack([features['x'] for _ in range(batch_size)])",
        "shaped(features['x'], [batch_size, -1])",
        "tf.constant(0.0, shape=[batch_size, 3])",
    ],
)
def test_the_number_itself_is_not_in_the_batch(use: str) -> None:
    source = SHAPED.replace('tf.reshape(features["x"], [batch_size, -1])', use)
    source = source.replace(
        "\n\ndef model_fn(", "\n\ndef shaped(x, shape):\n    return tf.reshape(x, shape)\n\n\ndef model_fn("
    )
    assert "tells the model_fn its batch size" in manual_reason(source)
