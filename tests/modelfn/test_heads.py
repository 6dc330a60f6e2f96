"""Heads in a model_fn: the specs that `create_estimator_spec` makes become methods of the model."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn, run

HEAD = "head = tf.contrib.estimator.{}"
KEPT = "binary_classification_head(thresholds=[0.3])"
"""A head that stays one, for what Keras has no name for."""
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
    head: str = KEPT,
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
        (KEPT, 'BinaryClassHead(thresholds=[0.3], loss_reduction="sum_over_batch_size")'),
        (
            'binary_classification_head("w", [0.3], loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)',
            'BinaryClassHead(weight_column="w", thresholds=[0.3], loss_reduction="sum_over_batch_size")',
        ),
        (
            "multi_class_head(3, loss_fn=losses_of)",
            'MultiClassHead(n_classes=3, loss_fn=losses_of, loss_reduction="sum_over_batch_size")',
        ),
        (
            "regression_head(label_dimension=2, weight_column=COLUMN)",
            'RegressionHead(label_dimension=2, weight_column=COLUMN, loss_reduction="sum_over_batch_size")',
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
    assert "head" not in method(text, "__init__")
    assert 'SparseCategoricalAccuracy(name="accuracy/a")' in method(text, "create_model")
    assert 'tf.summary.scalar("loss/a", loss)' in method(text, "compute_loss")


def test_one_with_a_name_that_is_not_written_down_stays_a_head() -> None:
    text = migrate(program("multi_class_head(3, name=NAME)", before="NAME = 'a'\n"))
    assert "self.head = named_head(" in method(text, "__init__")


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
    before = "HEAD = tf.contrib.estimator.regression_head(weight_column=COLUMN)"
    text = migrate(
        model_fn(
            'logits = tf.layers.dense(features["x"], HEAD.logits_dimension)',
            end=SPEC.replace("head", "HEAD", 1).format(OPTIMIZER),
            before=before,
        )
    )
    assert 'HEAD = RegressionHead(weight_column=COLUMN, loss_reduction="sum_over_batch_size")' in text
    assert "HEAD.predictions(" in method(text, "call")
    assert "self.head_metrics = HEAD.metrics()" in text


def test_a_head_that_has_no_name() -> None:
    end = SPEC.replace("head", "tf.contrib.estimator.regression_head(COLUMN)", 1).format(OPTIMIZER)
    text = migrate(model_fn('logits = tf.layers.dense(features["x"], 1)', end=end))
    assert 'self.head = RegressionHead(weight_column=COLUMN, loss_reduction="sum_over_batch_size")' in method(
        text, "__init__"
    )
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
    text = migrate(
        model_fn(f"{HEAD.format('multi_class_head(N[0]())')}\n{NET}", end=SPEC.format(OPTIMIZER), after=after)
    )
    assert "return self.head.serving_outputs(self.predict_step(x))" in method(text, "serving_outputs")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (program("binary_classification_head(name='a')", f"{OPTIMIZER}, regularization_losses=losses()"), ""),
        (program(train="optimizer=make() if FAST else other()"), ""),
        (program(train=TRAIN_OP_FN.format("lambda loss, step: None")), ""),
        (program("regression_head(loss_reduction=tf.losses.Reduction.MEAN)"), ""),
        (program("regression_head(loss_fn=squares, loss_reduction=tf.losses.Reduction.SUM)"), ""),
        (program(end="return " + SPEC[len("return ") :] + "._replace(loss=0.0)"), ""),
        (program(before="class Own:\n    def create_estimator_spec(self):\n        pass"), ""),
        (program("multi_head([])"), ""),
    ],
)
def test_left_alone(source: str, reason: str) -> None:
    said = manual_reason(source)
    assert reason in said


# -- heads that are written out ---------------------------------------------------------------------------------------


def test_a_loss_of_keras_takes_the_place_of_a_head() -> None:
    text = migrate(program("binary_classification_head()"))
    assert "Head" not in text and "compute_loss" not in text
    create = joined(method(text, "create_model"))
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in create
    for metric in (
        'BinaryCrossentropy(from_logits=True, name="average_loss")',
        'BinaryAccuracy(threshold=0.0, name="accuracy")',
        'Precision(thresholds=0.0, name="precision")',
        'Recall(thresholds=0.0, name="recall")',
        'AUC(from_logits=True, name="auc")',
    ):
        assert f"tf.keras.metrics.{metric}" in create
    assert '"logistic": tf.sigmoid(logits)' in method(text, "predict_step")
    assert "tf.keras.layers.Dense(1)" in text


def test_several_classes() -> None:
    create = joined(method(text := migrate(program("multi_class_head(n_classes=3)")), "create_model"))
    assert "loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)" in create
    assert 'tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")' in create
    assert "tf.keras.layers.Dense(3)" in text and "compute_metrics" not in text


@pytest.mark.parametrize(("given", "width"), [("", 1), ("label_dimension=2", 2)])
def test_numbers(given: str, width: int) -> None:
    text = migrate(program(f"regression_head({given})"))
    assert "loss=" in method(text, "create_model") and f"tf.keras.layers.Dense({width})" in text
    assert '{"predictions": ' in method(text, "predict_step")


def test_classes_that_are_texts() -> None:
    names = 'NAMES = ["a", "b", "c"]'
    text = migrate(program("multi_class_head(len(NAMES), label_vocabulary=NAMES)", before=names))
    assert "self.table = tf.lookup.StaticHashTable(" in method(text, "__init__")
    assert "self.table.lookup(tf.reshape(y, [-1]))" in method(text, "compute_loss")
    assert '"classes": tf.gather(NAMES, class_ids)' in method(text, "predict_step")


def test_weights_of_examples() -> None:
    text = migrate(program("binary_classification_head(weight_column='w')"))
    assert "weights = tf.cast(tf.reshape(x['w'], [-1, 1]), tf.float32)" in method(text, "compute_loss")
    assert "sample_weight=weights" in method(text, "compute_metrics")


def test_labels_are_there_where_a_head_has_a_loss() -> None:
    between = "# None when predicting\nif labels is not None:\n    labels = tf.reshape(labels, [-1, 1])"
    text = migrate(program("binary_classification_head()", between=between))
    assert "is not None" not in text and "None when" not in text
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in text


def test_a_head_of_several_model_fns() -> None:
    before = "HEAD = tf.contrib.estimator.regression_head()"
    net = 'logits = tf.layers.dense(features["x"], HEAD.logits_dimension)'
    one = model_fn(net, end=SPEC.replace("head", "HEAD", 1).format(OPTIMIZER), before=before)
    other = one[one.index("def model_fn") :].replace("model_fn", "other_fn").replace("estimator =", "other =")
    text = migrate(f"{one}\n\n{other}")
    assert "Head" not in text and "HEAD" not in text


@pytest.mark.parametrize(
    ("head", "before", "between"),
    [
        ("binary_classification_head()", "", "print(head.name)"),
        ("binary_classification_head()", "KEYS = ['label/mean']", ""),
        ("binary_classification_head()", "KEYS = ['auc_precision_recall']", ""),
        ("multi_class_head(3)", "KEYS = ['all_classes']", ""),
        ("multi_class_head(COUNT)", "COUNT = 2\nCOUNT = 3", ""),
        ("multi_class_head(3, label_vocabulary=NAMES)", "NAMES = ['a', 'b']\nNAMES.append('c')", ""),
        ("multi_class_head(3, label_vocabulary=NAMES)", "from names import NAMES", ""),
        ("binary_classification_head(label_vocabulary=['a', 'b'])", "", ""),
        ("binary_classification_head(weight_column=COLUMN)", "from names import COLUMN", ""),
    ],
)
def test_more_is_wanted_of_a_head(head: str, before: str, between: str) -> None:
    assert "Head(" in migrate(program(head, before=before, between=between))


def test_a_head_by_condition() -> None:
    either = "regression_head()\nif FAST:\n    head = tf.contrib.estimator.binary_classification_head()"
    units = NET.replace("head.logits_dimension", "1")
    assert "Head" in str(run(program(either).replace(NET, units), style="auto"))


def test_what_saved_models_have_of_it() -> None:
    after = """
    def receiver():
        features = {"x": tf.placeholder(tf.float32, [None, 3]), "w": tf.placeholder(tf.float32, [None])}
        return tf.estimator.export.ServingInputReceiver(features, features)


    estimator = tf.estimator.Estimator(model_fn, "model", params=PARAMS)
    estimator.export_savedmodel("out", receiver)
    """
    text = migrate(model_fn(f"{HEAD.format('multi_class_head(3)')}\n{NET}", end=SPEC.format(OPTIMIZER), after=after))
    served = joined(method(text, "serving_outputs"))
    assert '"predict": self.predict_step(x)' in served
    assert '"serving_default": ClassificationOutput(scores=' in served and '"classification": Cl' in served
    assert '"all_classes": ' in method(text, "predict_step")


# -- heads of TensorFlow 2 --------------------------------------------------------------------------------------------

STEP = "train_op_fn=lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"


def new(head: str, train: str = STEP, between: str = "") -> str:
    """A model_fn with a head of TensorFlow 2."""
    return program(train=train, between=between).replace(HEAD.format(KEPT), f"head = tf.estimator.{head}")


@pytest.mark.parametrize(
    ("head", "made"),
    [
        (
            "BinaryClassHead(thresholds=[0.3])",
            'BinaryClassHead(thresholds=[0.3], loss_reduction="sum_over_batch_size", interpolate_auc=True)',
        ),
        (
            "MultiClassHead(3, COLUMN)",
            'MultiClassHead(n_classes=3, weight_column=COLUMN, loss_reduction="sum_over_batch_size")',
        ),
        (
            "RegressionHead(2, COLUMN)",
            'RegressionHead(label_dimension=2, weight_column=COLUMN, loss_reduction="sum_over_batch_size")',
        ),
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


def test_the_curve_of_heads_of_tensorflow_2() -> None:
    text = migrate(new("BinaryClassHead()"))
    assert 'self.auc_precision_recall = tf.keras.metrics.AUC(curve="PR", name="auc_precision_recall")' in text
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True)" in method(text, "create_model")
