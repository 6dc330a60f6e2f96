"""Heads in a model_fn: the specs that `create_estimator_spec` makes become methods of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import manual_reason, method, migrate, model_fn

HEAD = "head = tf.contrib.estimator.{}"
NET = 'logits = tf.layers.dense(features["x"], head.logits_dimension)'
SPEC = "return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, {})"
OPTIMIZER = "optimizer=tf.train.GradientDescentOptimizer(0.1)"
TRAIN_OP_FN = "train_op_fn={}"
FUNCTION = """\
def minimize(loss):
    tf.summary.scalar("rate", 0.1)
    return tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
"""


def program(
    head: str = "binary_classification_head()",
    train: str = OPTIMIZER,
    between: str = "",
    end: str = SPEC,
    before: str = "",
) -> str:
    """A model_fn with a head."""
    return model_fn(f"{HEAD.format(head)}\n{NET}\n{between}", end=end.format(train), before=before)


@pytest.mark.parametrize(
    ("head", "made"),
    [
        ("binary_classification_head()", 'BinaryClassHead(loss_reduction="sum_over_batch_size")'),
        (
            'binary_classification_head("w", [0.3], loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)',
            'BinaryClassHead(weight_column="w", thresholds=[0.3], loss_reduction="sum_over_batch_size")',
        ),
        ("multi_class_head(3)", 'MultiClassHead(n_classes=3, loss_reduction="sum_over_batch_size")'),
        (
            "regression_head(label_dimension=2)",
            'RegressionHead(label_dimension=2, loss_reduction="sum_over_batch_size")',
        ),
    ],
)
def test_heads_are_attributes(head: str, made: str) -> None:
    init = method(migrate(program(head)), "__init__")
    assert f"self.head = {made}\n" in init
    assert "self.logits = tf.keras.layers.Dense(self.head.units)" in init
    assert "self.head_metrics = self.head.metrics()" in init


@pytest.mark.parametrize(
    ("train", "between"),
    [
        (OPTIMIZER, ""),
        ("optimizer=optimizer", "optimizer = tf.train.GradientDescentOptimizer(0.1)"),
        (TRAIN_OP_FN.format("minimize"), FUNCTION),
        (
            TRAIN_OP_FN.format(
                "lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
            ),
            "",
        ),
    ],
)
def test_methods_ask_the_head(train: str, between: str) -> None:
    text = migrate(program(train=train, between=between))
    assert "return self.head.predictions(logits)" in method(text, "call")
    assert "loss = self.head.loss(x, y, y_pred)" in method(text, "compute_loss")
    assert "self.head.update_all(self.head_metrics, x, y, y_pred)" in method(text, "compute_metrics")
    assert "tf.keras.optimizers.SGD(0.1)" in method(text, "create_model")
    assert ('tf.summary.scalar("head/rate", 0.1)' in text) == (FUNCTION == between)


def test_a_head_may_have_a_name() -> None:
    text = migrate(program("multi_class_head(3, name='a')"))
    made = """named_head(MultiClassHead, n_classes=3, name='a', loss_reduction="sum_over_batch_size")"""
    assert f"self.head = {made}" in method(text, "__init__").replace("\n            ", " ").replace("( ", "(")
    assert "self.head_metrics = self.head.metrics()" in text


def test_a_spec_may_have_a_name() -> None:
    text = migrate(program(end=SPEC.replace("return", "spec =") + "\nreturn spec"))
    assert "loss = self.head.loss(x, y, y_pred)" in method(text, "compute_loss")


def test_specs_by_mode() -> None:
    end = f"""\
    if mode == tf.estimator.ModeKeys.PREDICT:
        return head.create_estimator_spec(features, mode, logits)
    {SPEC.format(OPTIMIZER)}
    """
    text = migrate(program(end=end))
    assert "return self.logits(" in method(text, "call")
    assert "self.head.predictions(logits)" in method(text, "predict_step")


def test_losses_of_regularizers_are_a_metric_too() -> None:
    net = 'tf.layers.dense(features["x"], 3, kernel_regularizer=tf.keras.regularizers.l2(0.1), name="fc")'
    train = f"{OPTIMIZER}, regularization_losses=tf.losses.get_regularization_losses()"
    text = migrate(program(between=f"logits += {net}", train=train))
    loss = method(text, "compute_loss")
    assert "loss = self.head.loss(x, y, y_pred) + regularization_loss" in loss
    assert 'tf.summary.scalar("regularization_loss", regularization_loss)' in loss
    assert 'self.regularization_loss = tf.keras.metrics.Mean(name="regularization_loss")' in text


def test_heads_outside_of_the_model_fn() -> None:
    before = "HEAD = tf.contrib.estimator.regression_head()"
    text = migrate(
        model_fn(
            'logits = tf.layers.dense(features["x"], HEAD.logits_dimension)',
            end=SPEC.replace("head", "HEAD", 1).format(OPTIMIZER),
            before=before,
        )
    )
    assert 'HEAD = RegressionHead(loss_reduction="sum_over_batch_size")' in text
    assert "HEAD.predictions(" in method(text, "call")
    assert "self.head_metrics = HEAD.metrics()" in text


def test_a_head_that_has_no_name() -> None:
    end = SPEC.replace("head", "tf.contrib.estimator.regression_head()", 1).format(OPTIMIZER)
    text = migrate(model_fn('logits = tf.layers.dense(features["x"], 1)', end=end))
    assert 'self.head = RegressionHead(loss_reduction="sum_over_batch_size")' in method(text, "__init__")
    assert "return self.head.predictions(logits)" in method(text, "call")


def test_a_helper_may_make_the_spec() -> None:
    before = f"""
def finish(head, features, labels, mode, logits):
    {SPEC.format(OPTIMIZER)}
"""
    text = migrate(program(end="return finish(head, features, labels, mode, logits)", before=before))
    assert "loss = self.head.loss(x, y, y_pred)" in method(text, "compute_loss")


def test_exports_have_the_signatures_of_the_head() -> None:
    after = """
    estimator = tf.estimator.Estimator(model_fn, params=PARAMS)
    estimator.export_savedmodel("out", receiver)
    """
    text = migrate(model_fn(f"{HEAD.format('multi_class_head(3)')}\n{NET}", end=SPEC.format(OPTIMIZER), after=after))
    assert "return self.head.serving_outputs(self.predict_step(x))" in method(text, "serving_outputs")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (program("binary_classification_head(name='a')", f"{OPTIMIZER}, regularization_losses=losses()"), ""),
        (program(train="optimizer=make() if FAST else other()"), ""),
        (program(train=TRAIN_OP_FN.format("lambda loss, step: None")), ""),
        (program("regression_head(loss_reduction=tf.losses.Reduction.SUM)"), ""),
        (program(end="return " + SPEC[len("return ") :] + "._replace(loss=0.0)"), ""),
        (program(before="class Own:\n    def create_estimator_spec(self):\n        pass"), ""),
        (program("multi_head([])"), ""),
    ],
)
def test_left_alone(source: str, reason: str) -> None:
    said = manual_reason(source)
    assert reason in said


# -- heads of TensorFlow 2 --------------------------------------------------------------------------------------------

STEP = "train_op_fn=lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"


def new(head: str, train: str = STEP, between: str = "") -> str:
    """A model_fn with a head of TensorFlow 2."""
    return program(train=train, between=between).replace(
        HEAD.format("binary_classification_head()"), f"head = tf.estimator.{head}"
    )


@pytest.mark.parametrize(
    ("head", "made"),
    [
        (
            "BinaryClassHead()",
            'BinaryClassHead(loss_reduction="sum_over_batch_size", interpolate_auc=True)',
        ),
        ("MultiClassHead(3)", 'MultiClassHead(n_classes=3, loss_reduction="sum_over_batch_size")'),
        ("RegressionHead(2)", 'RegressionHead(label_dimension=2, loss_reduction="sum_over_batch_size")'),
    ],
)
def test_heads_of_tensorflow_2(head: str, made: str) -> None:
    text = migrate(new(head))
    assert f"self.head = {made}\n" in method(text, "__init__")
    assert "loss = self.head.loss(x, y, y_pred)" in method(text, "compute_loss")
    assert "tf.keras.optimizers.SGD(0.1)" in method(text, "create_model")


@pytest.mark.parametrize(
    ("given", "moves"), [("", False), (", update_ops=tf.get_collection(tf.GraphKeys.UPDATE_OPS)", True)]
)
def test_they_run_the_updates_that_they_are_given(given: str, moves: bool) -> None:
    between = "logits = tf.layers.batch_normalization(logits, training=mode == tf.estimator.ModeKeys.TRAIN)"
    text = migrate(new("RegressionHead()", STEP + given, between))
    assert ("momentum=1.0" not in text) == moves


def test_what_their_train_op_writes_is_of_the_training() -> None:
    assert 'tf.summary.scalar("training/rate", 0.1)' in migrate(
        new("RegressionHead()", "train_op_fn=minimize", FUNCTION)
    )


@pytest.mark.parametrize(
    "train",
    [
        "optimizer=tf.keras.optimizers.SGD(0.1), trainable_variables=tf.trainable_variables()",
        f"{STEP}, trainable_variables=tf.trainable_variables()",
    ],
)
def test_steps_of_keras_optimizers_are_left(train: str) -> None:
    manual_reason(new("RegressionHead()", train))


def test_heads_of_both_kinds_are_left() -> None:
    source = new("RegressionHead()", between="other = tf.contrib.estimator.regression_head()")
    manual_reason(source)
