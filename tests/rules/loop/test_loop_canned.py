"""Canned Estimators whose loop is understood: a class of the program, compiled and trained by `fit`."""

from __future__ import annotations

import re
import textwrap

import pytest
from modelfn.programs import HELPERS, joined, manual_reason, migrate, migrate_all, run
from notebook_tools import notebook, sources

from migrator.discover.notebooks import decode
from migrator.engine.engine import migrate_component
from migrator.resolve.module import Module
from migrator.vocabulary.settings import Settings

INPUT = """import {tf} as tf


def input_fn(repeat=1):
    data = {{"x": [1.0, 2.0], "w": [1.0, 2.0]}}, [0, 1]
    return tf.data.Dataset.from_tensor_slices(data).repeat(repeat).batch(2)


COLUMNS = [tf.feature_column.numeric_column("x", 1)]
"""
TRAIN = "estimator.train(lambda: input_fn(None), steps=5)\n"


def program(made: str, uses: str = TRAIN, tf: str = "tensorflow.compat.v1", before: str = "") -> str:
    """A program that makes an Estimator and uses it."""
    text = INPUT.format(tf=tf) + textwrap.dedent(before)
    return f"{text}estimator = tf.estimator.{made}\n{textwrap.dedent(uses)}"


def written(made: str, uses: str = TRAIN, **more: str) -> str:
    """It after migration, on long lines; nothing is vendored for it."""
    source = program(made, uses, **more)
    assert HELPERS not in run(source)
    return joined(migrate(source))


def kept(made: str, uses: str = TRAIN, **more: str) -> None:
    """It is one that stays with helpers."""
    text = migrate(program(made, uses, **more))
    assert ".fit(" not in text and re.search(r"\b(classifier|regressor)\b", text.replace("_", " "))


def test_a_network() -> None:
    text = written("DNNClassifier([8, 4], COLUMNS, n_classes=3, dropout=0.1)")
    assert (
        textwrap.dedent(
            '''
        class DNNClassifier(tf.keras.Model):
            """Logits [batch, 3]: a network on feature columns."""

            def __init__(self, hidden_units, feature_columns, n_classes, dropout):
                super().__init__()
                self.input_layer = InputFeatures(feature_columns)
                self.hidden_layers = [tf.keras.layers.Dense(units, activation="relu") for units in hidden_units]
                self.dropout = tf.keras.layers.Dropout(dropout)
                self.logits = tf.keras.layers.Dense(n_classes)

            def call(self, features, training=False):
                net = self.input_layer(features)
                for layer in self.hidden_layers:
                    net = self.dropout(layer(net), training=training)
                return self.logits(net)
        '''
        )
        in text
    )
    optimizer = "tf.keras.optimizers.Adagrad(0.05, initial_accumulator_value=0.1, epsilon=0.0)"
    loss = 'tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")'
    assert text.endswith(
        "\n\n\nmodel = DNNClassifier([8, 4], COLUMNS, n_classes=3, dropout=0.1)\n"
        f"model.compile(optimizer={optimizer}, loss={loss},\n)\nmodel.fit(input_fn(None).take(5))\n"
    )


def test_a_weighted_sum() -> None:
    text = written("LinearRegressor(COLUMNS, label_dimension=2, loss_reduction=tf.losses.Reduction.MEAN)")
    assert "self.columns = [column_weights(column, label_dimension) for column in feature_columns]" in text
    assert 'self.bias = self.add_weight(name="bias", shape=[label_dimension], initializer="zeros")' in text
    assert "loss=tf.keras.losses.MeanSquaredError())" in text
    assert "model = LinearRegressor(COLUMNS, label_dimension=2)\n" in text


def test_ways_to_sum_up() -> None:
    text = written("LinearClassifier(COLUMNS, sparse_combiner='mean')")
    assert "column_weights(column, sparse_combiner) for column" in text
    assert "embedding_column(column, 1, combiner, tf.zeros_initializer())" in text
    assert "model = LinearClassifier(COLUMNS, sparse_combiner='mean')\n" in text


@pytest.mark.parametrize(
    ("tf", "made", "compiled"),
    [
        ("tensorflow.compat.v1", "LinearClassifier(COLUMNS)", "tf.keras.optimizers.Ftrl(0.2)"),
        ("tensorflow", "LinearClassifier(COLUMNS)", "tf.keras.optimizers.Ftrl(0.2)"),
        ("tensorflow", "DNNClassifier([3], COLUMNS)", "tf.keras.optimizers.Adagrad(0.001)"),
        ("tensorflow", "DNNClassifier([3], COLUMNS, optimizer='Ftrl')", "tf.keras.optimizers.legacy.Ftrl(0.001)"),
        ("tensorflow", "LinearClassifier(COLUMNS, optimizer='Adam')", "tf.keras.optimizers.Adam(0.2)"),
        (
            "tensorflow.compat.v1",
            "DNNClassifier([3], COLUMNS, optimizer=lambda: tf.train.AdamOptimizer(0.1))",
            "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)",
        ),
        ("tensorflow.compat.v1", "DNNClassifier([3], COLUMNS, optimizer='SGD')", "tf.keras.optimizers.SGD(0.05)"),
        ("tensorflow.compat.v1", "DNNClassifier([3], COLUMNS, optimizer=make_optimizer)", "make_optimizer()"),
        ("tensorflow.compat.v1", "DNNClassifier([3], COLUMNS, optimizer=OPTIMIZER)", "OPTIMIZER"),
    ],
)
def test_optimizers(tf: str, made: str, compiled: str) -> None:
    before = ""
    if "make_" in made:
        before = "\n\ndef make_optimizer():\n    return tf.train.AdamOptimizer(0.1)\n\n\n"
    if "OPTIMIZER" in made:
        before = "OPTIMIZER = tf.train.AdamOptimizer(0.1)\n"
    assert f"model.compile(optimizer={compiled}, loss=" in written(made, tf=tf, before=before)


FACTORY = """

import tensorflow.compat.v1 as tf1


def make_optimizer(kind):
    if kind == "decayed":
        optimizer = lambda: tf.keras.optimizers.legacy.Ftrl(
            tf1.train.exponential_decay(0.1, tf1.train.get_global_step(), 10, 0.9))
    else:
        optimizer = tf.keras.optimizers.legacy.Ftrl(0.1)
    return optimizer


"""


def test_a_function_gives_compile_the_optimizer_that_it_gave_a_maker_of() -> None:
    text = written("DNNClassifier([3], COLUMNS, optimizer=make_optimizer('decayed'))", tf="tensorflow", before=FACTORY)
    decayed = "tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)"
    assert f"        optimizer = tf.keras.optimizers.legacy.Ftrl({decayed})\n" in text
    assert "model.compile(optimizer=make_optimizer('decayed'), loss=" in text and "lambda:" not in text


@pytest.mark.parametrize("rate", ["tf1.train.exponential_decay(0.1, tf1.train.get_global_step(), 10, 0.9)"])
@pytest.mark.parametrize("name", ["learning_rate=", ""])
def test_an_optimizer_of_keras_gets_a_schedule_of_keras(rate: str, name: str) -> None:
    made = f"LinearClassifier(COLUMNS, optimizer=lambda: tf.keras.optimizers.legacy.Adam({name}{rate}))"
    text = written(made, tf="tensorflow", before="import tensorflow.compat.v1 as tf1\n")
    assert f"Adam({name}tf.keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9))" in text and "tf1" not in text


def test_a_rate_that_reads_the_step_by_itself_is_refused() -> None:
    made = "LinearClassifier(COLUMNS, optimizer=lambda: tf.keras.optimizers.legacy.Adam(0.1 / tf1.train.get_global_step()))"
    source = program(made, tf="tensorflow", before="import tensorflow.compat.v1 as tf1\n")
    assert "reads the global step" in manual_reason(source)


def test_losses_of_tensorflow_2_are_averaged() -> None:
    text = written("LinearClassifier(COLUMNS)", tf="tensorflow")
    assert "loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))" in text


@pytest.mark.parametrize(
    ("read", "metrics"),
    [
        ('print(estimator.evaluate(input_fn)["accuracy"])', ["BinaryAccuracy"]),
        ('r = estimator.evaluate(input_fn)\nprint(r["loss"], r.get("auc"))', ["AUC"]),
        ('r = estimator.evaluate(input_fn)\nprint("{accuracy:0.3f} {}".format(3, **r))', ["BinaryAccuracy"]),
        ('r = estimator.evaluate(input_fn)\nprint("%(recall)f" % r)', ["Recall"]),
        ('print(estimator.evaluate(input_fn)["loss"])', []),
        (
            "print(estimator.evaluate(input_fn))",
            ["BinaryAccuracy", "AUC", "BinaryCrossentropy", "Precision", "Recall"],
        ),
        ("estimator.evaluate(input_fn)", ["BinaryAccuracy", "AUC", "BinaryCrossentropy", "Precision", "Recall"]),
    ],
)
def test_metrics_are_those_that_are_read(read: str, metrics: list[str]) -> None:
    text = written("LinearClassifier(COLUMNS)", f"{TRAIN}{read}\n")
    assert [part.partition("(")[0] for part in text.split("tf.keras.metrics.")[1:]] == metrics


def test_what_keras_does_not_report_is_told() -> None:
    source = program("LinearClassifier(COLUMNS)", f"{TRAIN}print(estimator.evaluate(input_fn))\n")
    said = [d.message for outcome in run(source).values() for d in outcome.remaining]
    left_out = "accuracy_baseline, auc_precision_recall, label/mean, prediction/mean"
    assert f"of what an Estimator reports, the model leaves out {left_out}, which Keras does not have" in said
    assert any(text.startswith("LinearClassifier is that of TensorFlow 1, as ") for text in said)


@pytest.mark.parametrize(
    ("read", "step"),
    [
        (
            'print([row["classes"] for row in estimator.predict(input_fn)])',
            '        class_ids = tf.cast(logits > 0, tf.int64)\n        return {"classes": tf.strings.as_string(class_ids)}\n',
        ),
        (
            'print(next(estimator.predict(input_fn))["probabilities"])',
            '        return {"probabilities": tf.sigmoid(tf.concat([-logits, logits], axis=1))}\n',
        ),
        ('print(list(estimator.predict(input_fn, predict_keys="logistic")))', '{"logistic": tf.sigmoid(logits)}\n'),
    ],
)
def test_predictions_are_those_that_are_read(read: str, step: str) -> None:
    assert step in written("LinearClassifier(COLUMNS)", f"{TRAIN}{read}\n")


def test_predictions_that_may_all_be_read() -> None:
    text = written("LinearClassifier(COLUMNS)", f"{TRAIN}print(list(estimator.predict(input_fn)))\n")
    assert all(f'"{name}": ' in text for name in ("logits", "logistic", "probabilities", "class_ids", "classes"))


def test_comments_and_layout_of_what_stays() -> None:
    made = "DNNClassifier(\n    # two layers\n    hidden_units=[8, 4],  # small\n    feature_columns=COLUMNS,\n"
    made += '    optimizer=tf.train.AdamOptimizer(0.1),\n    model_dir="flowers",\n)'
    text = migrate(program(made))
    kept_lines = "    # two layers\n    hidden_units=[8, 4],  # small\n    feature_columns=COLUMNS,\n)\nmodel.compile("
    assert f"model = FlowersClassifier(\n{kept_lines}" in text
    assert 'CheckpointManager(checkpoint, "flowers", max_to_keep=5' in text


def test_the_class_stands_before_the_function_that_makes_it() -> None:
    source = INPUT.format(tf="tensorflow.compat.v1") + (
        "\n\n# Trains.\ndef main():\n    estimator = tf.estimator.LinearClassifier(COLUMNS)\n"
        "    estimator.train(lambda: input_fn(None), steps=5)\n\n\nmain()\n"
    )
    text = migrate(source)
    assert (
        "\n\n\ndef column_weights(column):" in text and "+ self.bias\n\n\n# Trains.\ndef main():\n    model = " in text
    )


@pytest.mark.parametrize(
    ("made", "uses"),
    [
        ("LinearClassifier(COLUMNS, warm_start_from='dir')", TRAIN),
        ("LinearClassifier(COLUMNS, n_classes=CLASSES)", TRAIN),
        ("LinearClassifier(COLUMNS)", TRAIN + 'print(estimator.evaluate(input_fn)["accuracy_baseline"])\n'),
        ("LinearClassifier(COLUMNS)", TRAIN + 'print(estimator.evaluate(input_fn)["auc_precision_recall"])\n'),
        ("LinearClassifier(COLUMNS)", TRAIN + 'print([p["all_classes"] for p in estimator.predict(input_fn)])\n'),
        ("DNNClassifier([3], COLUMNS)", TRAIN + "names = estimator.get_variable_names()\n"),
    ],
)
def test_what_is_not_understood_stays_with_helpers(made: str, uses: str) -> None:
    kept(made, uses, before="CLASSES = load()\n")


def test_a_number_of_classes_that_travels() -> None:
    def made(*calls: str, head: str = "classes=2") -> str:
        uses = (
            f"def train(columns, {head}):\n    estimator = tf.estimator.LinearClassifier(columns, n_classes=classes)\n"
        )
        uses += f"    {TRAIN}\n\n" + "\n".join(calls) + "\n"
        return joined(migrate(INPUT.format(tf="tensorflow.compat.v1") + uses))

    assert "SparseCategoricalCrossentropy" in made("train(COLUMNS, classes=3)")
    assert "BinaryCrossentropy" in made("train(COLUMNS)")
    assert "SparseCategoricalCrossentropy" in made("N = 4\ntrain(COLUMNS, N)", head="classes")
    for calls in (["train(COLUMNS)", "train(COLUMNS, 3)"], ["train(COLUMNS, count())"], []):
        assert ".fit(" not in made(*calls)


def test_a_number_of_classes_of_another_file() -> None:
    text = INPUT.format(tf="tensorflow.compat.v1")
    text += "import metadata\nestimator = tf.estimator.LinearClassifier(COLUMNS, n_classes=metadata.CLASSES)\n" + TRAIN
    labels = "LABELS = ['a', 'b', 'c']\n"
    counted = text.replace("metadata.CLASSES", "len(metadata.LABELS)")
    for program_, others in ((text, labels + "CLASSES = len(LABELS)\n"), (counted, labels)):
        after = run({"program.py": program_, "metadata.py": others})
        assert "SparseCategoricalCrossentropy" in after["program.py"].after.decode()
    longer = run({"program.py": counted, "metadata.py": labels + "LABELS.append('d')\n"})
    assert "SparseCategoricalCrossentropy" not in longer["program.py"].after.decode()


WORD = 'tf.feature_column.categorical_column_with_identity("{}", 3)'
SHARED = f"tf.feature_column.shared_embedding_columns([{WORD.format('x')}, {WORD.format('w')}], 2)"


def test_columns_of_one_layer_share_a_table() -> None:
    source = program(f"DNNClassifier([3], {SHARED})")
    assert ".fit(" in migrate(source) and "class SharedTables" in run(source)[HELPERS].after.decode()


def test_columns_of_several_layers_that_share_a_table_stay_with_helpers() -> None:
    kept(f"DNNLinearCombinedClassifier(linear_feature_columns={SHARED})")


def test_several_of_one_kind_share_a_class() -> None:
    source = INPUT.format(tf="tensorflow.compat.v1") + (
        "first = tf.estimator.LinearClassifier(COLUMNS)\nfirst.train(input_fn)\n"
        "second = tf.estimator.LinearClassifier(COLUMNS + MORE, optimizer='SGD')\nsecond.train(input_fn)\n"
        "third = tf.estimator.DNNClassifier([3], COLUMNS)\nthird.train(input_fn)\n"
    )
    text = joined(migrate(source.replace("COLUMNS = [", "MORE = []\nCOLUMNS = [")))
    assert text.count("(tf.keras.Model):") == 2 and text.count("def column_weights(") == 1
    assert "first = LinearClassifier(COLUMNS)\nfirst.compile(optimizer=tf.keras.optimizers.Ftrl(0.2), " in text
    assert "second = LinearClassifier(COLUMNS + MORE)\nsecond.compile(optimizer=tf.keras.optimizers.SGD(0.2), " in text
    assert "third = DNNClassifier([3], COLUMNS)\nthird.compile(" in text


def test_one_that_a_function_returns() -> None:
    source = INPUT.format(tf="tensorflow.compat.v1") + (
        "\n\ndef build():\n    return tf.estimator.LinearClassifier(COLUMNS)\n\n\n"
        "estimator = build()\nestimator.train(input_fn)\n"
    )
    text = joined(migrate(source))
    assert "def build():\n    model = LinearClassifier(COLUMNS)\n    model.compile(" in text
    assert "\n    return model\n" in text


def test_one_that_a_list_is_computed_of_stays_with_helpers() -> None:
    uses = "for each in estimators:\n    each.train(input_fn)\n"
    source = (
        INPUT.format(tf="tensorflow.compat.v1")
        + f"estimators = [tf.estimator.LinearClassifier(COLUMNS) for _ in '12']\n{uses}"
    )
    assert "linear_classifier(" in migrate(source)


COMBINED = (
    "DNNLinearCombinedClassifier(linear_feature_columns=COLUMNS, dnn_feature_columns=COLUMNS, dnn_hidden_units=[3]"
)


def test_each_part_of_a_combined_model_has_its_optimizer() -> None:
    text = written(f"{COMBINED}, dnn_optimizer=tf.train.AdamOptimizer(0.1), linear_sparse_combiner='mean')")
    adam = "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)"
    assert f".compile(optimizer={adam}, linear_optimizer=tf.keras.optimizers.Ftrl(0.005), loss=" in text
    assert "def compile(self, optimizer, linear_optimizer, **kwargs):" in text and "def train_step(self, data):" in text
    assert (
        "def __init__(self, linear_feature_columns, dnn_feature_columns, dnn_hidden_units, linear_sparse_combiner):"
        in text
    )
    assert 'self.logits = tf.keras.layers.Dense(1, name="logits")' in text
    assert "return self.logits(net) + tf.add_n([column(features) for column in self.columns]) + self.bias" in text


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ("weight_column='w'", "y, y_pred, x[self.weight_column]"),
        ("label_vocabulary=['no', 'yes']", "self.class_ids(y), y_pred, sample_weight"),
        ("weight_column='w', label_vocabulary=['no', 'yes']", "self.class_ids(y), y_pred, x[self.weight_column]"),
    ],
)
def test_labels_as_numbers_and_weights_of_examples(given: str, arguments: str) -> None:
    uses = f"{TRAIN}print(estimator.evaluate(input_fn)['accuracy'], next(estimator.predict(input_fn))['classes'])\n"
    text = written(f"LinearClassifier(COLUMNS, {given})", uses)
    for method in ("compute_loss", "compute_metrics"):
        assert (
            f"def {method}(self, x, y, y_pred, sample_weight):\n        return super().{method}(x, {arguments})" in text
        )
    assert ("weighted_metrics=[" in text) == ("weight_column" in given)
    assert f"model = LinearClassifier(COLUMNS, {given})\n" in text
    assert ("tf.gather(self.label_vocabulary, class_ids)" in text) == ("label_vocabulary" in given)


@pytest.mark.parametrize(
    "made",
    [
        "LinearClassifier(COLUMNS, weight_column=COLUMNS[0])",
        "DNNLinearCombinedClassifier(linear_feature_columns=COLUMNS)",
        f"{COMBINED}, dnn_activation_fn=None)",
    ],
)
def test_other_weights_and_half_models_stay_with_helpers(made: str) -> None:
    kept(made)


def test_a_class_stands_in_the_cell_that_uses_it() -> None:
    cells = [INPUT.format(tf="tensorflow.compat.v1"), "COLUMNS[:1]"]
    cells += ["# The network.\nestimator = tf.estimator.DNNRegressor([8], COLUMNS)\n" + TRAIN]
    (outcome,) = migrate_component([decode("a.ipynb", notebook(*cells))], Settings(style="native"))
    _, shown, made = sources(outcome.after)
    assert shown == "COLUMNS[:1]"
    assert made.startswith("class DNNRegressor(tf.keras.Model):")
    assert "\n\n\n# The network.\nmodel = DNNRegressor(" in made


def test_the_border_of_a_cell_is_no_comment() -> None:
    text = "# %% migrate: cell 1\nimport os\n# %% migrate: cell 2\n# Why.\nx = 1\n"
    start = text.index("x = 1")
    assert text[Module("a.ipynb", text).above_comments(start) :] == "# Why.\nx = 1\n"
    assert text[Module("a.py", text).above_comments(start) :].startswith("# %% migrate: cell 2")


RECEIVER = """
def receiver():
    fed = {"x": tf.placeholder(tf.float32, [None])}
    return tf.estimator.export.ServingInputReceiver(fed, fed)


"""


def test_a_served_model_predicts_all() -> None:
    uses = TRAIN + 'estimator.export_saved_model("out", receiver)\n'
    text = written("DNNClassifier([8], COLUMNS, n_classes=3, model_dir='dir')", uses, before=RECEIVER)
    assert '"probabilities": tf.nn.softmax(logits)' in text and '"class_ids": class_ids' in text
    assert "serve = tf.function(model.predict_step, input_signature=[receiver()])" in text
    assert 'signatures={"predict": serve}' in text
    text = written("DNNRegressor([8], COLUMNS, model_dir='dir')", uses, before=RECEIVER)
    assert 'return {"predictions": super().predict_step(data)}' in text


def test_an_exporter_serves_all_predictions() -> None:
    uses = (
        "tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=20),\n"
        "    tf.estimator.EvalSpec(input_fn, exporters=tf.estimator.FinalExporter('final', receiver)))\n"
    )
    text = written("LinearRegressor(COLUMNS, model_dir='dir')", uses, before=RECEIVER)
    assert 'return {"predictions": super().predict_step(data)}' in text and 'signatures={"predict": serve}' in text


def test_numbers_have_signatures_of_examples() -> None:
    receiver = "tf.estimator.export.build_parsing_serving_input_receiver_fn({'x': tf.FixedLenFeature([], tf.float32)})"
    text = migrate(
        program(
            "DNNRegressor([8], COLUMNS, model_dir='dir')", TRAIN + f'estimator.export_saved_model("out", {receiver})\n'
        )
    )
    assert "model.fit(" in text and "tf.saved_model.save(" in text


CONFIG = "import argparse\n\nargs = argparse.ArgumentParser().parse_args()\nCONFIG = tf.estimator.RunConfig({fields})\n"


@pytest.mark.parametrize("fields", ["'flowers', keep_checkpoint_max=3", "args.model_dir, save_checkpoints_steps=9"])
def test_a_configuration_of_the_file(fields: str) -> None:
    source = program("DNNClassifier([3], COLUMNS, config=CONFIG)", before=CONFIG.format(fields=fields))
    made = "\n\ndef build():\n    return tf.estimator.DNNClassifier([3], COLUMNS, config=CONFIG)\n\n\nestimator = build()\n"
    source = source.replace("estimator = tf.estimator.DNNClassifier([3], COLUMNS, config=CONFIG)\n", made)
    assert HELPERS not in run(source)
    text = joined(migrate(source))
    assert "CONFIG" not in text and f"CheckpointManager(checkpoint, {fields.partition(',')[0]}" in text.replace(
        '"', "'"
    )
    changed = source.replace("\n\nestimator = build", "\n\nargs.model_dir = 'other'\nestimator = build")
    assert (HELPERS in run(changed)) is ("args" in fields)


def test_a_configuration_of_the_older_library() -> None:
    config = "tf.contrib.learn.RunConfig(num_cores=4, keep_checkpoint_max=1)"
    text = written(f"DNNClassifier([3], COLUMNS, config={config})")
    assert "RunConfig" not in text and "num_cores" not in text


def test_a_configuration_that_nobody_gives() -> None:
    source = program("X", "") + (
        "\n\nclass Flowers:\n    def __init__(self, config=None):\n        self.config = config\n"
        "        self.estimator = tf.estimator.DNNClassifier([3], COLUMNS, config=self.config)\n\n"
        "    def train(self):\n        self.estimator.train(lambda: input_fn(None), steps=5)\n\n\nFlowers().train()\n"
    )
    source = source.replace("estimator = tf.estimator.X\n", "")
    assert HELPERS not in run(source)
    assert HELPERS in run(source.replace("Flowers()", "Flowers(load())"))


def test_one_of_several_models_in_one_folder() -> None:
    build = (
        "\n\ndef build(kind):\n    if kind == 'wide':\n        {0}tf.estimator.LinearClassifier(COLUMNS, model_dir='f')\n"
        "    else:\n        {0}tf.estimator.DNNClassifier([3], COLUMNS, model_dir='f')\n{1}\n\nestimator = build('wide')\n"
    )
    for made in (("return ", ""), ("model = ", "    return model\n")):
        source = INPUT.format(tf="tensorflow.compat.v1") + build.format(*made) + TRAIN
        assert HELPERS not in run(source), made
    both = "a = tf.estimator.LinearClassifier(COLUMNS, model_dir='f')\n"
    other = program("DNNClassifier([3], COLUMNS, model_dir='f')", before=both)
    assert HELPERS not in run(other)
    assert HELPERS in run(other + "print(a.evaluate(input_fn))\n")


def test_hooks_of_the_program_and_an_optimizer_beside_the_import_of_compat_v1() -> None:
    hook = """

        class Stop(tf.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                run_context.request_stop()


        """
    uses = "estimator.train(input_fn, hooks=[Stop()])\n"
    made = "DNNClassifier([3], COLUMNS, optimizer=tf.train.AdamOptimizer(0.1))"
    text = written(made, uses, before=textwrap.dedent(hook))
    assert "class Stop(tf.keras.callbacks.Callback):" in text and "callbacks=[Stop()]" in text


def test_the_name_of_the_feature_with_weights_may_stand_in_another_file() -> None:
    made = "LinearClassifier(COLUMNS, weight_column=schema.WEIGHT)"
    files = {"program.py": program(made, before="import schema\n"), "schema.py": "WEIGHT = 'w'\n"}
    text = migrate_all(files)["program.py"]
    assert "weight_column=schema.WEIGHT)" in text and "x[self.weight_column]" in text and ".fit(" in text
    kept(made, before="class schema:\n    WEIGHT = input()\n")
