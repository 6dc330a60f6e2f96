"""Programs that make Estimators of several kinds: canned ones, model_fns, and Keras models."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def make_optimizer(rate=0.1):
    return tf.train.AdagradOptimizer(rate)

def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 2)
    loss = tf.losses.mean_squared_error(labels, logits)
    hook = tf.train.SummarySaverHook(save_steps=10, output_dir="summaries", summary_op=tf.summary.scalar("mse", loss))
    train_op = tf.train.AdamOptimizer().minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[hook])

columns = [tf.feature_column.numeric_column("x")]
own = tf.estimator.Estimator(model_fn, "own")
deep = tf.estimator.DNNClassifier([2], columns, "deep", optimizer=make_optimizer())
wide = tf.estimator.LinearClassifier(columns, "wide", optimizer=make_optimizer)
"""
ADAGRAD = "tf.keras.optimizers.Adagrad(rate, initial_accumulator_value=0.1, epsilon=0.0)"


def migrated(text: str, style: str = "auto") -> tuple[str, list[str], list[str]]:
    """The program after the run, what was said about it, and the units with their tiers."""
    outcome = migrate_component([decode("program.py", textwrap.dedent(text).encode())], Settings(style=style))[0]
    units = [f"{unit.name} {unit.tier}" for unit in outcome.units]
    return outcome.after.decode(), [diagnostic.message for diagnostic in outcome.remaining], units


def test_canned_estimators_are_native_beside_a_graph() -> None:
    text, _, units = migrated(PROGRAM)
    assert units == ["model_fn bridge", "DNNClassifier native", "LinearClassifier native"]
    assert f"    return {ADAGRAD}\n" in text
    assert "tf.compat.v1.train.AdamOptimizer().minimize" in text
    assert 'own = graph_model(model_fn, model_dir="own")' in text
    assert 'model_dir="deep", optimizer=make_optimizer(), loss_reduction="sum"' in " ".join(text.split())


def test_an_optimizer_that_a_graph_takes_too_stays() -> None:
    both = PROGRAM.replace("tf.train.AdamOptimizer()", "make_optimizer()")
    text, said, units = migrated(both)
    assert text == both and {unit.split()[1] for unit in units} == {"manual"}
    assert any("`make_optimizer` goes to a canned Estimator, and is read for something else" in line for line in said)


def test_a_named_optimizer_that_a_graph_reads_stays() -> None:
    both = PROGRAM.replace("columns = ", "optimizer = tf.train.FtrlOptimizer(0.1)\ncolumns = ")
    both = both.replace("tf.train.AdamOptimizer()", "optimizer").replace(
        "optimizer=make_optimizer)", "optimizer=optimizer)"
    )
    text, said, _ = migrated(both)
    assert text == both
    assert any("`optimizer` goes to a canned Estimator" in line for line in said)


def test_where_the_old_import_stays_keras_is_that_of_tensorflow_2() -> None:
    text, _, _ = migrated(PROGRAM.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf"))
    assert "import tensorflow.compat.v1 as tf\n" in text
    assert ADAGRAD.replace("tf.", "tf.compat.v2.") in text


def test_a_keras_model_beside_a_graph() -> None:
    text, _, units = migrated(
        PROGRAM[: PROGRAM.index("columns = ")]
        + """\
own = tf.estimator.Estimator(model_fn, "own")
network = tf.keras.Sequential([tf.keras.layers.Dense(1)])
network.compile(optimizer="adam", loss="mse")
other = tf.keras.estimator.model_to_estimator(network, model_dir="other")
"""
    )
    assert units == ["model_fn bridge", "model_to_estimator native"]
    assert 'other = configure_keras_model(network, model_dir="other")' in text
    assert "optimizer=tf.keras.optimizers.legacy.Adam()" in text


@pytest.mark.parametrize("style", ["auto", "bridge"])
def test_all_is_native_or_nothing_needs_the_graph(style: str) -> None:
    plain = PROGRAM.replace(", training_hooks=[hook]", "").replace("    hook = tf", "    # hook = tf")
    units = migrated(plain, style)[2]
    assert sorted(units)[:2] == ["DNNClassifier native", "LinearClassifier native"]
    assert sorted(units)[2] == ("model_fn native" if style == "auto" else "model_fn bridge")


def test_a_program_that_neither_tier_holds_says_why_for_both() -> None:
    text = PROGRAM + "with tf.Session() as session:\n    session.run(OPS)\n"
    after, said, _ = migrated(text)
    assert after == text
    (message,) = (line for line in said if line.startswith("this Estimator program"))
    assert message == (
        "this Estimator program is left as it is: tf.Session works on the graph by itself; and Keras layers cannot hold it: "
        "a SummarySaverHook of some summaries, or by time, works on its graph (program.py:9)"
    )
    assert "Keras layers" not in "".join(migrated(text, "bridge")[1])


def test_one_reason_is_said_once() -> None:
    text = PROGRAM.replace('"deep", optimizer', '"deep", loss_reduction=R, optimizer')
    said = migrated(text.replace(", training_hooks=[hook]", ""))[1]
    (message,) = (line for line in said if line.startswith("this Estimator program"))
    assert (
        message
        == "this Estimator program is left as it is: `loss_reduction` is none of tf.losses.Reduction that is seen here"
    )


HEADS = """\
import tensorflow as tf

columns = [tf.feature_column.numeric_column("x")]
of_canned = tf.contrib.estimator.regression_head(label_dimension=2)
deep = tf.estimator.DNNEstimator(of_canned, [2], columns, "deep")
head = tf.contrib.estimator.binary_classification_head()

def model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1)
    optimizer = tf.train.AdamOptimizer()
    return head.create_estimator_spec(features, mode, logits, labels, optimizer)

own = tf.estimator.Estimator(model_fn, "own")
"""


def test_the_head_of_a_model_fn_beside_a_canned_estimator() -> None:
    text, _, units = migrated(HEADS)
    assert sorted(units) == ["DNNEstimator native", "model_fn native"]
    assert 'of_canned = RegressionHead(label_dimension=2, loss_reduction="sum_over_batch_size")\n' in text
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in text and "BinaryClassHead" not in text
    kept = migrated(HEADS.replace("classification_head()", "classification_head(thresholds=[0.3])"))[0]
    assert 'head = BinaryClassHead(thresholds=[0.3], loss_reduction="sum_over_batch_size")\n' in kept
    assert "loss = head.loss(x, y, y_pred)" in kept


def test_heads_of_one_canned_estimator_are_rewritten_once() -> None:
    text, _, _ = migrated(HEADS.replace("return head.", "return of_canned."))
    assert text.count("RegressionHead(") == 1
    assert "BinaryClassHead(" not in text  # which nothing reads then
