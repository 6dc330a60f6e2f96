"""Canned Estimators: what their call becomes, and what stands in the way."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import USE, manual_reason, migrate, model_fn, run, untouched

V1 = "import tensorflow.compat.v1 as tf\n"
V2 = "import tensorflow as tf\n"
ADAGRAD = "tf.keras.optimizers.Adagrad(0.05, initial_accumulator_value=0.1, epsilon=0.0)"
LEGACY = "tf.keras.optimizers.legacy."
MEAN = 'loss_reduction="sum_over_batch_size"'
TAGS = 'summary_tags="v2"'


def migrated(statements: str, head: str = V1) -> str:
    """The statements after the imports of a program, migrated."""
    text = migrate(f"{head}\n{statements}\n")
    return re.split(r"\nfrom tf2_\w+ import ", text)[-1].split("\n\n", 1)[1].strip()


def inner(call: str, head: str = V1) -> str:
    """The arguments of a canned Estimator after migration, on one line."""
    text = migrated(f"e = tf.estimator.{call}", head)
    text = " ".join(text[len("e = ") :].split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "DNNClassifier([8], COLUMNS)",
            f'dnn_classifier(hidden_units=[8], feature_columns=COLUMNS, optimizer={ADAGRAD}, loss_reduction="sum")',
        ),
        (
            "DNNRegressor([8], COLUMNS, 'dir', 2, 'w', 'SGD', tf.nn.tanh, 0.1, None, CONFIG)",
            "dnn_regressor(hidden_units=[8], feature_columns=COLUMNS, model_dir='dir', label_dimension=2, weight_column='w', "
            "optimizer=tf.keras.optimizers.SGD(0.05), activation_fn=tf.nn.tanh, dropout=0.1, config=CONFIG, "
            'loss_reduction="sum")',
        ),
        (
            "LinearClassifier(COLUMNS, n_classes=3, warm_start_from=None)",
            "linear_classifier(feature_columns=COLUMNS, n_classes=3, optimizer=tf.keras.optimizers.Ftrl(0.2), "
            'loss_reduction="sum")',
        ),
        (
            "LinearRegressor(COLUMNS, sparse_combiner='mean', loss_reduction=tf.losses.Reduction.MEAN)",
            "linear_regressor(feature_columns=COLUMNS, sparse_combiner='mean', loss_reduction=\"mean\", "
            "optimizer=tf.keras.optimizers.Ftrl(0.2))",
        ),
        (
            "DNNLinearCombinedClassifier(dnn_feature_columns=COLUMNS, dnn_hidden_units=[8])",
            "dnn_linear_combined_classifier(dnn_feature_columns=COLUMNS, dnn_hidden_units=[8], dnn_optimizer="
            'tf.keras.optimizers.Adagrad(0.001, initial_accumulator_value=0.1, epsilon=0.0), loss_reduction="sum")',
        ),
        (
            "DNNLinearCombinedRegressor(linear_feature_columns=COLUMNS, linear_optimizer='Ftrl')",
            "dnn_linear_combined_regressor(linear_feature_columns=COLUMNS, linear_optimizer=tf.keras.optimizers.Ftrl(0.005), "
            'loss_reduction="sum")',
        ),
        ("BaselineClassifier()", 'baseline_classifier(optimizer=tf.keras.optimizers.Ftrl(0.3), loss_reduction="sum")'),
        (
            "DNNEstimator(tf.estimator.RegressionHead(2), [8], COLUMNS)",
            f"dnn_estimator(head=RegressionHead(label_dimension=2, {MEAN}), hidden_units=[8], feature_columns=COLUMNS, "
            f"optimizer={ADAGRAD})",
        ),
    ],
)
def test_of_tensorflow_1(old: str, new: str) -> None:
    assert inner(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "DNNClassifier([8], COLUMNS)",
            f"dnn_classifier(hidden_units=[8], feature_columns=COLUMNS, optimizer={LEGACY}Adagrad(0.001), {MEAN}, "
            f"interpolate_auc=True, {TAGS})",
        ),
        (
            "DNNClassifier([8], COLUMNS, None, 3, None, None, 'RMSProp', tf.nn.relu, 0.1, CONFIG)",
            "dnn_classifier(hidden_units=[8], feature_columns=COLUMNS, model_dir=None, n_classes=3, weight_column=None, "
            f"label_vocabulary=None, optimizer={LEGACY}RMSprop(0.001), activation_fn=tf.nn.relu, dropout=0.1, "
            f"config=CONFIG, {MEAN}, {TAGS})",
        ),
        (
            "LinearRegressor(COLUMNS, optimizer=tf.keras.optimizers.Adam(0.1))",
            f"linear_regressor(feature_columns=COLUMNS, optimizer={LEGACY}Adam(0.1), {MEAN}, {TAGS})",
        ),
        (
            "LinearRegressor(COLUMNS, optimizer=tf.keras.optimizers.legacy.Adam(0.1))",
            f"linear_regressor(feature_columns=COLUMNS, optimizer={LEGACY}Adam(0.1), {MEAN}, {TAGS})",
        ),
        ("BaselineRegressor()", f"baseline_regressor(optimizer={LEGACY}Ftrl(0.3), {MEAN})"),
    ],
)
def test_of_tensorflow_2(old: str, new: str) -> None:
    assert inner(old, V2) == new


@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        (V1, "tf.contrib.estimator.multi_label_head(3)", f"MultiLabelHead(n_classes=3, {MEAN})"),
        (
            V2,
            "tf.estimator.MultiLabelHead(3, 'w', [0.5])",
            f"MultiLabelHead(n_classes=3, weight_column='w', thresholds=[0.5], {MEAN}, interpolate_auc=True, "
            "predict_classes=True)",
        ),
        (
            V1,
            "tf.contrib.estimator.poisson_regression_head('w')",
            f"poisson_regression_head(weight_column='w', {MEAN})",
        ),
        (V2, "tf.estimator.PoissonRegressionHead(2)", f"poisson_regression_head(label_dimension=2, {MEAN})"),
        (V2, "tf.estimator.LogisticRegressionHead()", f"logistic_regression_head({MEAN})"),
        (
            V2,
            "tf.estimator.RegressionHead(inverse_link_fn=tf.exp, loss_fn=F)",
            f"LinkedRegressionHead(inverse_link_fn=tf.exp, loss_fn=F, {MEAN})",
        ),
        (V2, "tf.estimator.RegressionHead(inverse_link_fn=None)", f"RegressionHead({MEAN})"),
        (V2, "tf.estimator.RegressionHead(name=None)", f"RegressionHead({MEAN})"),
        (V2, "tf.estimator.RegressionHead(name='a')", f"named_head(RegressionHead, name='a', {MEAN})"),
        (
            V1,
            "tf.contrib.estimator.poisson_regression_head(name=N)",
            f"named_head(poisson_regression_head, name=N, {MEAN})",
        ),
    ],
)
def test_heads(head: str, old: str, new: str) -> None:
    assert f"linear_estimator(head={new}, feature_columns=C" in inner(f"LinearEstimator({old}, C)", head)


@pytest.mark.parametrize("name", ["DNNEstimator", "LinearEstimator", "BaselineEstimator", "DNNLinearCombinedEstimator"])
def test_estimators_of_contrib(name: str) -> None:
    call = "e = tf.{}.{}(head=tf.contrib.estimator.regression_head(), optimizer=tf.train.AdamOptimizer(), **MORE)"
    call = call.replace(", optimizer", ", dnn_optimizer") if "Combined" in name else call
    columns = {"DNNEstimator": "feature_columns=C, hidden_units=[3]", "LinearEstimator": "feature_columns=C"}
    columns["DNNLinearCombinedEstimator"] = "dnn_feature_columns=C, dnn_hidden_units=[3]"
    call = call.replace("**MORE", columns.get(name, ""))
    old, new = (migrated(call.format(place, name), V2) for place in ("estimator", "contrib.estimator"))
    assert old == new


def test_warm_start() -> None:
    layout = "e = tf.estimator.LinearRegressor(\n    # wide\n    feature_columns=C,\n    warm_start_from={},\n)"
    assert migrated(layout.format("'dir'")) == (
        "e = with_warm_start(\n    linear_regressor,\n    # wide\n    feature_columns=C,\n    warm_start_from='dir',\n"
        '    optimizer=LazyFtrl(0.2),\n    loss_reduction="sum",\n)'
    )
    old = "LinearEstimator(tf.estimator.RegressionHead(), C, warm_start_from=tf.estimator.WarmStartSettings(D, '.*age.*'))"
    assert inner(old) == (
        f"with_warm_start(linear_estimator, head=RegressionHead({MEAN}), feature_columns=C, "
        "warm_start_from=WarmStartSettings(D, '.*age.*'), optimizer=LazyFtrl(0.2))"
    )
    words = "{'linear/linear_model/word/weights': tf.estimator.VocabInfo('new.txt', 9, 0, 'old.txt')}"
    settings = f"WarmStartSettings('dir', None, {words})"
    made = inner(f"LinearRegressor(C, warm_start_from=tf.estimator.{settings})")
    assert f"warm_start_from={settings.replace('tf.estimator.', '')}"[:-1] in made
    short = "LinearRegressor(C, optimizer='SGD', warm_start_from=F, loss_reduction=tf.losses.Reduction.MEAN)"
    assert inner(short) == (
        "with_warm_start(linear_regressor, feature_columns=C, optimizer=tf.keras.optimizers.SGD(0.2), "
        'warm_start_from=F, loss_reduction="mean")'
    )


@pytest.mark.parametrize(
    ("program", "version"),
    [
        (V1 + "e = tf.estimator.BaselineRegressor()\n", 1),
        ("import tensorflow as tf\ne = tf.compat.v1.estimator.BaselineRegressor()\n", 1),
        ("from tensorflow.compat.v1 import estimator\ne = estimator.BaselineRegressor()\n", 1),
        (V2 + "tf.logging.set_verbosity(tf.logging.INFO)\ne = tf.estimator.BaselineRegressor()\n", 1),
        (V2 + "e = tf.estimator.BaselineRegressor()\n", 2),
        (V2 + "tf.random.set_seed(1)\ne = tf.estimator.BaselineRegressor()\n", 2),
        ("from tensorflow import estimator as est\ne = est.BaselineRegressor()\n", 2),
    ],
)
def test_imports_decide_and_the_report_says_so(program: str, version: int) -> None:
    outcome = run(program)["program.py"]
    assert ("tf.keras.optimizers.Ftrl(0.3)" if version == 1 else "legacy.Ftrl(0.3)") in outcome.after.decode()
    said = [d.message for d in outcome.applied + outcome.remaining if "is that of TensorFlow" in d.message]
    assert said and all(f"BaselineRegressor is that of TensorFlow {version}, as " in message for message in said)


def test_another_file_of_the_program_decides_where_one_does_not() -> None:
    files = {
        "model.py": V2 + "\n\ndef build():\n    return tf.estimator.BaselineRegressor()\n",
        "task.py": V2 + "import model\n\ntf.app.run\ne = model.build()\ne.train(F)\nc = tf.estimator.RunConfig()\n",
    }
    assert "tf.keras.optimizers.Ftrl(0.3)" in run(files)["model.py"].after.decode()


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (
            "opt = tf.train.AdamOptimizer(0.1)\ne = tf.estimator.BaselineRegressor(optimizer=opt)",
            "opt = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)",
        ),
        (
            "e = tf.estimator.BaselineRegressor(optimizer=lambda: tf.train.AdamOptimizer(0.1))",
            "optimizer=lambda: tf.keras.optimizers.Adam(0.1, epsilon=1e-8)",
        ),
        (
            "def make():\n    return tf.train.AdamOptimizer(0.1)\n\n\ne = tf.estimator.BaselineRegressor(optimizer=make)",
            "    return tf.keras.optimizers.Adam(0.1, epsilon=1e-8)",
        ),
        (
            "e = tf.estimator.BaselineRegressor(optimizer=tf.train.AdamOptimizer(0.1) if X else 'SGD')",
            "optimizer=tf.keras.optimizers.Adam(0.1, epsilon=1e-8) if X else tf.keras.optimizers.SGD(0.3)",
        ),
        (
            "e = tf.estimator.BaselineRegressor(optimizer=lambda: tf.train.AdamOptimizer(\n"
            "    tf.train.exponential_decay(0.1, tf.train.get_global_step(), 100, 0.9)))",
            "tf.keras.optimizers.Adam(\n    tf.keras.optimizers.schedules.ExponentialDecay(0.1, 100, 0.9),\n    epsilon=1e-8)",
        ),
        (
            "opt = tf.train.AdamOptimizer(0.1)\nopt = tf.contrib.estimator.clip_gradients_by_norm(opt, 5.0)\n"
            "e = tf.estimator.BaselineRegressor(optimizer=opt)",
            "opt = tf.keras.optimizers.Adam(0.1, epsilon=1e-8, global_clipnorm=5.0)\ne = ",
        ),
        (
            "opt = tf.contrib.estimator.clip_gradients_by_norm(tf.train.AdamOptimizer(0.1), clip_norm=FLAGS.norm)\n"
            "e = tf.estimator.BaselineRegressor(optimizer=opt)",
            "opt = tf.keras.optimizers.Adam(0.1, epsilon=1e-8, global_clipnorm=FLAGS.norm)\ne = ",
        ),
    ],
)
def test_optimizers_are_rewritten_where_they_are_made(statements: str, expected: str) -> None:
    assert expected in migrated(statements)


def test_layout_and_comments_stay() -> None:
    before = """
        e = tf.estimator.DNNRegressor(
            # two layers
            hidden_units=[8, 4],  # small
            feature_columns=COLUMNS,
            input_layer_partitioner=tf.fixed_size_partitioner(2),
        )
    """.replace("        ", "", 1).replace("\n        ", "\n")
    assert migrated(before) == (
        "e = dnn_regressor(\n    # two layers\n    hidden_units=[8, 4],  # small\n    feature_columns=COLUMNS,\n"
        f'    optimizer={ADAGRAD},\n    loss_reduction="sum",\n)'
    )


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            "e = tf.estimator.DNNClassifier([8], COLUMNS, optimizer='Lion')  # HERE",
            "`optimizer` of DNNClassifier: no optimizer is called 'Lion'; known are Adagrad, Adam, Ftrl, RMSProp, SGD",
        ),
        (
            "e = tf.estimator.DNNLinearCombinedRegressor(dnn_feature_columns=C, dnn_optimizer=FLAGS.optimizer)  # HERE",
            "`dnn_optimizer` of DNNLinearCombinedRegressor is not followed to an optimizer",
        ),
        (
            "e = tf.estimator.LinearRegressor(C, optimizer=tf.estimator.experimental.LinearSDCA('id'))  # HERE",
            "not followed to an optimizer that is known here (tf.estimator.experimental.LinearSDCA)",
        ),
        ("e = tf.estimator.LinearRegressor(C, optimizer=tf.train.AdamOptimizer)  # HERE", "is an optimizer class"),
        (
            "o = tf.train.AdamOptimizer(0.1)\nkeep = o\no = tf.contrib.estimator.clip_gradients_by_norm(o, 5.0)  # HERE\n"
            "e = tf.estimator.LinearRegressor(C, optimizer=o)",
            "`optimizer` of LinearRegressor is not followed to an optimizer",
        ),
        (
            "o = tf.train.AdamOptimizer(0.1)\nif F:\n    o = tf.contrib.estimator.clip_gradients_by_norm(o, 5.0)  # HERE\n"
            "e = tf.estimator.LinearRegressor(C, optimizer=o)",
            "`optimizer` of LinearRegressor is not followed to an optimizer",
        ),
        (
            "o = tf.contrib.estimator.clip_gradients_by_norm(UNSEEN, 5.0)  # HERE\n"
            "e = tf.estimator.LinearRegressor(C, optimizer=o)",
            "clip_gradients_by_norm of an optimizer that is made elsewhere",
        ),
        (
            "o = tf.contrib.estimator.clip_gradients_by_norm(tf.train.AdamOptimizer(), f())  # HERE\n"
            "e = tf.estimator.LinearRegressor(C, optimizer=o)",
            "the norm of clip_gradients_by_norm is computed",
        ),
        (
            "e = tf.estimator.LinearRegressor(C, warm_start_from=tf.estimator.WarmStartSettings('dir', ['a', 'b']))  # HERE",
            "`vars_to_warm_start` as a list takes the state of optimizers along",
        ),
        ("e = tf.estimator.LinearRegressor(C, loss_reduction=R)  # HERE", "`loss_reduction` is none of"),
        ("e = tf.estimator.LinearRegressor(C, units=3)  # HERE", "has no argument `units`"),
        ("e = tf.estimator.LinearRegressor(**ARGUMENTS)  # HERE", "hidden behind * or **"),
        ("e = tf.estimator.LinearEstimator(HEAD, C)  # HERE", "`head` of LinearEstimator is none of the heads"),
        (
            "import tensorflow_hub as hub\ne = tf.estimator.DNNRegressor([8], [hub.text_embedding_column('a', 'b')])  # HERE",
            "`feature_columns` has a feature column of another library, tensorflow_hub.text_embedding_column",
        ),
        *(
            (
                f"import tensorflow_hub as hub\nTEXT = hub.text_embedding_column('a', 'b')  # HERE\n{made}",
                "of another library",
            )
            for made in (
                "e = tf.estimator.DNNRegressor([8], [TEXT])",
                "MORE = [TEXT]\nMORE += C\ne = tf.estimator.DNNRegressor([8], feature_columns=MORE)",
                "def columns():\n    found = list(C)\n    found.append(TEXT)\n    return found\n"
                "e = tf.estimator.DNNRegressor([8], columns())",
            )
        ),
        (
            "from lib import my_column\ndef make():\n    mine = my_column('a')  # HERE\n    columns = [mine]\n"
            "    return tf.estimator.LinearRegressor(columns)\ne = make()",
            "`feature_columns` has a feature column of another library, lib.my_column",
        ),
        (
            "e = tf.estimator.LinearRegressor(C)\ne.get_variable_shapes()  # HERE",
            "`.get_variable_shapes` of an Estimator",
        ),
        ("e = tf.estimator.BoostedTreesClassifier(C, 10)  # HERE", "boosted trees have no match in Keras"),
        (
            "class Mine(tf.estimator.DNNClassifier):  # HERE\n    pass",
            "a class derived from tf.estimator.DNNClassifier",
        ),
    ],
)
def test_refused(statements: str, reason: str) -> None:
    assert reason in manual_reason(f"{V1}\n{statements}\n")


@pytest.mark.parametrize(
    "program",
    [
        "import tensorflow as tf\n\nc = tf.contrib.learn.DNNClassifier([8], COLUMNS)  # HERE\nc.fit(x=X, y=Y)\n",
        "from tensorflow.contrib import learn\n\nc = learn.LinearRegressor(COLUMNS)  # HERE\n",
    ],
)
def test_estimators_of_contrib_learn_are_told_of(program: str) -> None:
    assert "is not migrated: first write it with tf.estimator, which TensorFlow 1 has" in manual_reason(program)


def test_other_names_of_contrib_learn_are_no_estimators() -> None:
    untouched("from tensorflow.contrib import learn\n\nDATA = learn.datasets.load_dataset('iris')\n")


@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        (V1, "tf.feature_column.shared_embedding_columns([A, B], 3)", "shared_embedding_columns([A, B], 3)"),
        (
            V1,
            "tf.feature_column.shared_embedding_columns([A, B], 3, 'sum', None, 'ids', None, None, 1.0)",
            "shared_embedding_columns([A, B], 3, 'sum', None, 'ids', 1.0)",
        ),
    ],
)
def test_columns_that_share_a_table(head: str, old: str, new: str) -> None:
    assert f"COLUMNS = {new}\n" in migrated(f"COLUMNS = {old}\ne = tf.estimator.DNNRegressor([8], COLUMNS)", head)


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        (
            "C = tf.feature_column.shared_embedding_columns([A], 3, ckpt_to_load_from='c', tensor_name_in_ckpt='t')  # HERE",
            "`ckpt_to_load_from` of tf.feature_column.shared_embedding_columns is not migrated yet",
        ),
        ("make = tf.feature_column.shared_embedding_columns  # HERE", "columns is handed on without a call"),
    ],
)
def test_columns_that_share_a_table_are_refused(statements: str, reason: str) -> None:
    assert reason in manual_reason(f"{V1}\n{statements}\ne = tf.estimator.DNNRegressor([8], C)\n")


def test_canned_estimators_of_tensorflow_2_do_not_train_a_shared_table() -> None:
    program = "C = tf.feature_column.shared_embeddings([A], 3)  # HERE\ne = tf.estimator.DNNRegressor([8], C)\n"
    assert "never train what tf.feature_column.shared_embeddings makes" in manual_reason(f"{V2}\n{program}")


def test_partitioners_are_unknown_in_tensorflow_2() -> None:
    reason = manual_reason(f"{V2}\ne = tf.estimator.DNNRegressor([8], C, input_layer_partitioner=P)  # HERE\n")
    assert "has no argument `input_layer_partitioner`" in reason


def test_variables_are_read_by_their_names() -> None:
    text = migrated(
        "e = tf.estimator.BaselineRegressor()\nv = [e.get_variable_value(n) for n in e.get_variable_names()]"
    )
    assert text.endswith("v = [variable_value(e, n) for n in variable_names(e)]")


def test_variables_have_no_such_names_where_a_model_fn_becomes_layers() -> None:
    before = "c = tf.estimator.BaselineRegressor()\nprint(c.get_variable_names())  # HERE\n"
    assert "`.get_variable_names` of an Estimator" in manual_reason(
        model_fn("predictions = tf.layers.dense(features, 1)", after=USE.format(params="") + before)
    )


@pytest.mark.parametrize(
    ("imported", "name"),
    [
        ("import os", "tf.contrib.learn.RunConfig"),
        ("from tensorflow.contrib import learn", "learn.RunConfig"),
    ],
)
def test_run_config_of_contrib(imported: str, name: str) -> None:
    program = f"import tensorflow as tf\n{imported}\n\nc = {name}(save_summary_steps=5, num_cores=2, master='')\n"
    text = migrate(program + "e = tf.estimator.LinearRegressor(C, config=c)\n")
    assert "c = RunConfig(save_summary_steps=5)\n" in text and "contrib" not in text


def test_run_config_of_contrib_by_position() -> None:
    program = "c = tf.contrib.learn.RunConfig('grpc://worker', 2, False, 1, 7)\n"
    text = migrate(V2 + program + "e = tf.estimator.LinearRegressor(C, config=c)\n")
    assert "c = RunConfig(tf_random_seed=7)\n" in text


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("", "strategy=canned_strategy()"),
        ("save_summary_steps=1", "save_summary_steps=1, strategy=canned_strategy()"),
        ("session_config=None, save_summary_steps=1", "strategy=canned_strategy(), save_summary_steps=1"),
        ("device_fn=None, session_config=None", "strategy=canned_strategy()"),
        ("train_distribute=S", "strategy=S"),
    ],
)
def test_where_clusters_may_train_the_strategy_is_made_before_optimizers(given: str, made: str) -> None:
    lines = f"c = tf.estimator.RunConfig({given})\ne = tf.estimator.LinearRegressor(COLUMNS, config=c)"
    assert f"c = RunConfig({made})\n" in migrated(f"{lines}\ntf.estimator.train_and_evaluate(e, T, E)")
    assert "canned_strategy" not in migrated(f"{lines}\ne.train(INPUT)")


SEVERAL = """\
win = tf.contrib.estimator.binary_classification_head(name="win")
goals = tf.contrib.estimator.regression_head(name="goals")
head = tf.contrib.estimator.multi_head([win, goals], head_weights=[1.0, 0.5])
e = tf.contrib.estimator.DNNEstimator(head, [8], C)
"""


def test_several_heads() -> None:
    text = migrate(f"{V1}\n{SEVERAL}")
    assert 'win = named_head(BinaryClassHead, name="win", loss_reduction="sum_over_batch_size")' in text
    assert 'goals = named_head(RegressionHead, name="goals", loss_reduction="sum_over_batch_size")' in text
    assert "head = CombinedHead([win, goals], head_weights=[1.0, 0.5])" in text and "    head=head,\n" in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[win, goals]", "HEADS", "the heads that one is made of are not seen"),
        ("[win, goals]", "[win, *HEADS]", "the heads that one is made of are not seen"),
        ("[win, goals]", "[win, OTHER]", "is none of the heads"),
        ("head_weights=", "weights=", "has no argument `weights`"),
    ],
)
def test_several_heads_that_are_refused(old: str, new: str, reason: str) -> None:
    assert reason in manual_reason(f"{V1}\n{SEVERAL.replace(old, new)}")
