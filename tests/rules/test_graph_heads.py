"""Heads in a model_fn that stays a graph, and heads of tf.contrib in canned Estimators."""

from __future__ import annotations

import textwrap

import pytest

from migrator.discover.sources import decode
from migrator.engine.engine import migrate_component
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def model_fn(features, labels, mode):
    head = tf.contrib.estimator.multi_class_head(3)
    logits = tf.layers.dense(features["x"], head.logits_dimension)
    return head.create_estimator_spec(features, mode, logits, labels, optimizer=tf.train.AdamOptimizer())

estimator = tf.estimator.Estimator(model_fn)
"""


def migrated(text: str, style: str = "bridge") -> tuple[str, list[str], list[str]]:
    """The program after the run, what was said, and the tiers."""
    outcome = migrate_component([decode("program.py", textwrap.dedent(text).encode())], Settings(style=style))[0]
    said = [diagnostic.message for diagnostic in outcome.remaining]
    return outcome.after.decode(), said, [unit.tier for unit in outcome.units]


def test_a_head_and_its_spec() -> None:
    text, _, tiers = migrated(PROGRAM)
    assert tiers == ["bridge"]
    assert text[text.index("def model_fn") : text.index("\n\nestimator")].splitlines()[1:] == [
        '    head = MultiClassHead(n_classes=3, loss_reduction="sum_over_batch_size")',
        '    logits = tf.compat.v1.layers.dense(features["x"], head.units)',
        "    return create_estimator_spec(head, features, mode, logits, labels, optimizer=tf.compat.v1.train.AdamOptimizer())",
    ]


@pytest.mark.parametrize(
    ("classes", "made"),
    [
        ("2", 'BinaryClassHead(weight_column=None, label_vocabulary=None, loss_reduction="sum")'),
        ("5", 'MultiClassHead(n_classes=5, weight_column=None, label_vocabulary=None, loss_reduction="sum")'),
    ],
)
def test_a_private_head(classes: str, made: str) -> None:
    lines = "from tensorflow.python.estimator.canned import head as head_lib\nSUM = tf.losses.Reduction.SUM\n"
    private = f"head_lib._binary_logistic_or_multi_class_head({classes}, None, None, tf.losses.Reduction.SUM)"
    old = PROGRAM.replace("tf.contrib.estimator.multi_class_head(3)", private)
    text, _, tiers = migrated(old.replace("import tensorflow as tf\n", f"import tensorflow as tf\n{lines}", 1))
    assert tiers == ["bridge"] and f"    head = {made}\n" in text and "head_lib" not in text


def test_several_heads_with_names() -> None:
    text, _, tiers = migrated(
        PROGRAM.replace("multi_class_head(3)", "multi_head([A, B], [1.0, 0.5])").replace(
            "import tensorflow as tf\n",
            "import tensorflow as tf\nNAME = 'b'\nA = tf.contrib.estimator.multi_label_head(3, name='a')\n"
            "B = tf.contrib.estimator.poisson_regression_head(name=NAME)\n",
        )
    )
    assert tiers == ["bridge"]
    mean = 'loss_reduction="sum_over_batch_size"'
    assert f"A = named_head(MultiLabelHead, n_classes=3, name='a', {mean})\n" in text
    assert f"B = named_head(poisson_regression_head, name=NAME, {mean})\n" in text
    assert "head = MultiHead([A, B], [1.0, 0.5])\n" in text and 'features["x"], head.units)' in text
    assert "return create_head_spec(head, features, mode, logits, labels, " in text


def test_sizes_of_single_heads_beside_several() -> None:
    heads = "A = tf.contrib.estimator.regression_head(name='a')\nB = tf.contrib.estimator.regression_head(name='b')\n"
    old = PROGRAM.replace("multi_class_head(3)", "multi_head([A, B])").replace(
        "head.logits_dimension", "A.logits_dimension"
    )
    text, _, _ = migrated(old.replace("import tensorflow as tf\n", f"import tensorflow as tf\n{heads}", 1))
    assert "A.units)" in text and "logits_dimension" not in text


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("train_op_fn=f", "train_op_fn=f, update_ops=()"),
        ("None, None, f", None),
        ("optimizer=None, train_op_fn=f, update_ops=None", "train_op_fn=f, update_ops=()"),
        ("train_op_fn=f, trainable_variables=None, update_ops=ops", "train_op_fn=f, update_ops=ops"),
    ],
)
def test_a_head_of_tensorflow_2(given: str, written: str | None) -> None:
    text = PROGRAM.replace("optimizer=tf.train.AdamOptimizer()", given).replace(
        "tf.contrib.estimator.multi_class_head", "tf.estimator.MultiClassHead"
    )
    after, said, tiers = migrated(text)
    if written is None:
        assert after == text and "arguments behind the labels are not given by name" in " ".join(said)
    else:
        assert f"create_estimator_spec(head, features, mode, logits, labels, {written})" in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "binary_classification_head('w', [0.5], loss_reduction=tf.losses.Reduction.SUM)",
            "BinaryClassHead(weight_column='w', thresholds=[0.5], loss_reduction=\"sum\")",
        ),
        (
            "regression_head('w', 3, loss_fn=loss)",
            "RegressionHead(weight_column='w', label_dimension=3, loss_fn=loss, loss_reduction=\"sum_over_batch_size\")",
        ),
        (
            "multi_class_head(n_classes=3, name=None)",
            'MultiClassHead(n_classes=3, loss_reduction="sum_over_batch_size")',
        ),
        (
            "multi_class_head(3, name='a')",
            "named_head(MultiClassHead, n_classes=3, name='a', loss_reduction=\"sum_over_batch_size\")",
        ),
    ],
)
def test_arguments_are_written_out(before: str, after: str) -> None:
    assert f"head = {after}\n" in migrated(PROGRAM.replace("multi_class_head(3)", before))[0]


def test_a_head_where_it_is_used_and_an_argument_a_line() -> None:
    text, _, _ = migrated(
        """\
        import tensorflow as tf

        def model_fn(features, labels, mode, params):
            logits = tf.layers.dense(features["x"], 1)
            return tf.contrib.estimator.regression_head().create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                logits=logits,
                train_op_fn=lambda loss: tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step()),
            )

        estimator = tf.estimator.Estimator(model_fn, params={})
        """
    )
    assert (
        "    return create_estimator_spec(\n"
        '        RegressionHead(loss_reduction="sum_over_batch_size"),\n'
        "        features=features,\n" in text
    )


def test_a_head_that_params_hand_on() -> None:
    text, _, tiers = migrated(
        PROGRAM.replace("    head = tf.contrib.estimator.multi_class_head(3)\n", "")
        .replace("head.", 'params["head"].')
        .replace("mode):", "mode, params):")
        .replace("(model_fn)", '(model_fn, params={"head": tf.contrib.estimator.multi_class_head(3)})')
    )
    assert tiers == ["bridge"]
    assert 'create_estimator_spec(\n        params["head"], features, mode' in text and 'params["head"].units)' in text


OWN = """\
import tensorflow as tf
from tensorflow.python.estimator.canned.head import _Head
from tensorflow.python.estimator.canned.optimizers import get_optimizer_instance

class Head(_Head):
    def create_estimator_spec(self, features, mode, logits, labels=None, train_op_fn=None):
        loss = tf.reduce_sum(tf.square(logits - labels))
        return tf.estimator.EstimatorSpec(mode, logits, loss, train_op_fn(loss))

def model_fn(features, labels, mode):
    optimizer = get_optimizer_instance("Ftrl", learning_rate=0.1)
    step = tf.train.get_global_step()
    with tf.variable_scope("head", regularizer=lambda w: None):
        logits = tf.layers.dense(features["x"], 1)
    return Head().create_estimator_spec(features, mode, logits, labels, lambda loss: optimizer.minimize(loss, step))

estimator = tf.estimator.Estimator(model_fn)
"""


@pytest.mark.parametrize("root", ["tensorflow", "tensorflow_estimator"])
def test_a_head_of_the_program_is_an_ordinary_class(root: str) -> None:
    after, said, tiers = migrated(OWN.replace("from tensorflow.", f"from {root}."))
    assert tiers == ["bridge"], said
    assert "class Head(object):\n    def create_estimator_spec(" in after
    assert "return EstimatorSpec(mode, logits, loss, train_op_fn(loss))" in after
    assert "return Head().create_estimator_spec(features, mode, logits, labels, " in after
    assert 'get_optimizer_instance("Ftrl", learning_rate=0.1)' in after
    assert ".canned" not in after


def test_a_head_that_leaves_the_spec_to_another_class_is_refused() -> None:
    after, said, tiers = migrated(OWN.replace("def create_estimator_spec", "def create_loss"))
    assert tiers == ["manual"] * len(tiers) and "_Head is not migrated yet" in " ".join(said)
    assert "tf.estimator.Estimator(" in after


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "tf.contrib.estimator.multi_class_head",
            "tf.estimator.MultiClassHead",
            "`optimizer` of a head of TensorFlow 2",
        ),
        (
            "estimator =",
            "h = tf.estimator.RegressionHead()\nestimator =",
            "heads of TensorFlow 2 and of tf.contrib make EstimatorSpecs",
        ),
        (
            "labels, optimizer",
            "labels, regularization_losses=[tf.contrib.estimator.multi_head([head])], optimizer",
            "`regularization_losses` of several heads",
        ),
        ("_head(3)", "_head(3, loss_reduction=how)", "`loss_reduction` is none of tf.losses.Reduction"),
        ("labels, optimizer", "labels, update_ops=[], optimizer", "create_estimator_spec has no argument"),
        ("import tensorflow as tf", "import tensorflow as tf\nfrom mine import head", "the head that makes"),
        ("estimator =", "make = tf.contrib.estimator.multi_class_head\nestimator =", "a head is handed on before"),
        (
            "def model",
            "class H:\n    def create_estimator_spec(self):\n        pass\n\ndef model",
            "a head of the program's own",
        ),
    ],
)
def test_what_is_refused(old: str, new: str, reason: str) -> None:
    text = PROGRAM.replace(old, new)
    if "mine" in new:
        text = text.replace("    head = tf.contrib.estimator.multi_class_head(3)\n", "")
    after, said, tiers = migrated(text)
    assert after == text and tiers == ["manual"]
    assert any(reason in message for message in said), said


def test_heads_of_contrib_in_canned_estimators() -> None:
    text, _, tiers = migrated(
        """\
        import tensorflow as tf

        columns = [tf.feature_column.numeric_column("x")]
        head = tf.contrib.estimator.binary_classification_head(weight_column="w")
        estimator = tf.estimator.DNNEstimator(head, [4], columns)
        """,
        style="auto",
    )
    assert tiers == ["native"]
    assert 'head = BinaryClassHead(weight_column="w", loss_reduction="sum_over_batch_size")' in text
