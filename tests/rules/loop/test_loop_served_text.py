"""SavedModels of canned Estimators that are fed strings, and tables of functions that say what is fed."""

from __future__ import annotations

import pytest
from modelfn.programs import joined, migrate, migrate_all, run

HEAD = """import tensorflow.compat.v1 as tf


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [1.0, 2.0]}, [0, 1])).batch(2)


COLUMNS = [tf.feature_column.numeric_column("x", 1)]


"""
CSV = """def csv_serving_fn():
    rows = tf.placeholder(tf.string, [None])
    return tf.estimator.export.ServingInputReceiver({"x": tf.strings.to_number(rows)}, {"csv_row": rows})


"""
JSON = """def json_serving_input_fn():
    fed = {"x": tf.placeholder(tf.float32, [None])}
    return tf.estimator.export.ServingInputReceiver(fed, fed)


"""
TABLE = 'SERVING = {"CSV": csv_serving_fn, "JSON": json_serving_input_fn}\n\n\n'
EXPORT = 'estimator.export_saved_model("served", csv_serving_fn)\n'
SPEC = 'input_signature=[tf.TensorSpec([None], tf.string, name="inputs")]'


def main(made: str, export: str = EXPORT) -> str:
    """The program below its functions."""
    return f'estimator = tf.estimator.{made}, model_dir="model")\nestimator.train(input_fn)\n{export}'


def written(made: str, export: str = EXPORT, fed: str = CSV) -> str:
    """A program after migration, on long lines."""
    return joined(migrate(HEAD + fed + main(made, export)))


def test_two_classes() -> None:
    text = written("LinearClassifier(COLUMNS")
    assert "scores = tf.sigmoid(tf.concat([-logits, logits], axis=1))" in text
    assert "classes = tf.tile([tf.strings.as_string(tf.range(scores.shape[1]))], [tf.shape(scores)[0], 1])" in text
    assert f"classify = tf.function(lambda inputs: model.classify(csv_serving_fn(inputs)), {SPEC}" in text
    outputs = '{"outputs": tf.sigmoid(model(csv_serving_fn(inputs)))}'
    assert f"regress = tf.function(lambda inputs: {outputs}, {SPEC}" in text
    names = '"predict": serve, "serving_default": classify, "classification": classify, "regression": regress'
    assert names in text
    assert 'methods.replace_method_name("classification", "tensorflow/serving/classify")' in text
    assert 'methods.replace_method_name("regression", "tensorflow/serving/regress")' in text


def test_classes_with_names() -> None:
    text = written('DNNClassifier([2], COLUMNS, n_classes=3, label_vocabulary=["a", "b", "c"]')
    assert "classes = tf.tile([self.label_vocabulary], [tf.shape(scores)[0], 1])" in text
    assert 'signatures={"predict": serve, "serving_default": classify, "classification": classify}' in text


@pytest.mark.parametrize(("kind", "function"), [("poisson", "exp"), ("logistic", "sigmoid")])
def test_rates_and_shares(kind: str, function: str) -> None:
    head = f"tf.contrib.estimator.{kind}_regression_head()"
    text = joined(migrate(HEAD.replace(".compat.v1", "") + CSV + main(f"DNNEstimator({head}, [2], COLUMNS")))
    assert f'lambda inputs: {{"outputs": tf.{function}(model(csv_serving_fn(inputs)))}}, {SPEC}' in text
    assert 'signatures={"predict": serve, "serving_default": regress, "regression": regress}' in text


def test_numbers() -> None:
    text = written("DNNRegressor([2], COLUMNS")
    assert f'lambda inputs: {{"outputs": model(csv_serving_fn(inputs))}}, {SPEC}' in text and "def classify" not in text
    assert 'signatures={"predict": serve, "serving_default": regress, "regression": regress}' in text


def test_examples_that_are_parsed() -> None:
    fed = "tf.estimator.export.build_parsing_serving_input_receiver_fn(SPEC)"
    text = written("DNNRegressor([2], COLUMNS", f'estimator.export_saved_model("served", {fed})\n', "")
    assert '{"outputs": model(tf.io.parse_example(inputs, SPEC))}' in text


def test_features_alone_have_no_more_signatures() -> None:
    text = written("LinearClassifier(COLUMNS", EXPORT.replace("csv_serving_fn", "json_serving_input_fn"), JSON)
    assert 'signatures={"predict": serve}' in text and "def classify" not in text


CHOSEN = EXPORT.replace("csv_serving_fn", "SERVING[load()]")


def test_one_of_a_table() -> None:
    text = written("DNNRegressor([2], COLUMNS", CHOSEN, CSV + JSON + TABLE)
    assert 'SERVING = {"CSV": csv_signatures, "JSON": json_signatures}\n' in text
    json = "    serve = tf.function(model.predict_step, input_signature=[json_serving_input_fn()])\n"
    assert f'def json_signatures(model):\n{json}    return {{"predict": serve}}\n\n\n' in text
    assert "def csv_serving_fn(rows):\n" in text and "signatures=SERVING[load()](model))" in text
    assert "replace_method_name" not in text  # as nobody knows which signatures there are
    outcomes = run(HEAD + CSV + JSON + TABLE + main("DNNRegressor([2], COLUMNS", CHOSEN))
    assert "have no other method any more" in str([d.message for o in outcomes.values() for d in o.remaining])


def test_a_table_of_another_file() -> None:
    program = HEAD.replace("import tensorflow.compat.v1 as tf", "import tensorflow.compat.v1 as tf\nimport serving")
    program += main("DNNRegressor([2], COLUMNS", CHOSEN.replace("SERVING", "serving.SERVING"))
    files = {"task.py": program, "serving.py": f"import tensorflow.compat.v1 as tf\n\n\n{CSV}{JSON}{TABLE}"}
    found = migrate_all(files)
    assert "signatures=serving.SERVING[load()](model))" in joined(found["task.py"])
    assert "def csv_signatures(model):\n" in found["serving.py"] and "placeholder" not in found["serving.py"]


def test_a_function_of_another_file() -> None:
    program = HEAD.replace("import tensorflow.compat.v1 as tf", "import tensorflow.compat.v1 as tf\nimport serving")
    program += main("DNNRegressor([2], COLUMNS", EXPORT.replace("csv_serving_fn", "serving.csv_serving_fn"))
    found = migrate_all({"task.py": program, "serving.py": f"import tensorflow.compat.v1 as tf\n\n\n{CSV}"})
    assert "signatures=serving.csv_signatures(model))" in joined(found["task.py"])
    assert "def csv_serving_fn(rows):\n" in found["serving.py"] and "placeholder" not in found["serving.py"]
    assert "    return {'x'" not in found["serving.py"] and "\n\n\ndef csv_signatures(model):\n" in found["serving.py"]


def test_features_that_are_not_seen_to_be_a_dict() -> None:
    fed = CSV.replace('({"x": tf.strings.to_number(rows)}, ', "(features, ")
    fed = fed.replace("    return", "    features, _ = parse(rows)\n    return")
    text = written("DNNRegressor([2], COLUMNS", fed=fed)  # whose columns take nothing else
    assert "def csv_serving_fn(rows):\n    features, _ = parse(rows)\n    return features\n" in text


def imported(statement: str, name: str = "csv_serving_fn", more: str = "") -> dict[str, str]:
    """All files of a program that imports the function by this statement, after migration."""
    program = HEAD.replace("as tf\n", f"as tf\n{statement}\n", 1)
    program += main("DNNRegressor([2], COLUMNS", EXPORT.replace("csv_serving_fn", name)) + more
    serving = f"import tensorflow.compat.v1 as tf\n\nSIZE = 3\n\n\n{CSV}"
    return migrate_all({"task.py": program, "serving.py": serving})


@pytest.mark.parametrize("names", ["{}", "SIZE, {}", "(\n    {},\n    SIZE,\n)"])
def test_a_function_that_is_imported_by_its_name(names: str) -> None:
    found = imported("from serving import " + names.format("csv_serving_fn"))
    assert "signatures=csv_signatures(model))" in joined(found["task.py"])
    assert "from serving import " + names.format("csv_signatures") + "\n" in found["task.py"]
    assert "\n\n\ndef csv_signatures(model):\n" in found["serving.py"] and "placeholder" not in found["serving.py"]


def test_a_function_that_is_imported_where_its_new_name_is_taken() -> None:
    found = imported("from serving import csv_serving_fn", more="csv_signatures = 3\n")
    assert "from serving import csv_signatures as csv_signatures_\n" in found["task.py"]
    assert "signatures=csv_signatures_(model))" in joined(found["task.py"])


@pytest.mark.parametrize(
    ("statement", "name", "more"),
    [
        ("from serving import csv_serving_fn as serve", "serve", ""),
        ("from serving import *", "csv_serving_fn", ""),
        ("from serving import csv_serving_fn", "csv_serving_fn", "print(csv_serving_fn)\n"),
        ("try:\n    from serving import csv_serving_fn\nexcept ImportError:\n    pass", "csv_serving_fn", ""),
    ],
)
def test_an_imported_function_that_stays(statement: str, name: str, more: str) -> None:
    assert ".fit(" not in imported(statement, name, more)["task.py"]


@pytest.mark.parametrize(
    ("table", "more"),
    [
        (TABLE.replace("json_serving_input_fn", "lambda: load()"), ""),
        (TABLE.replace("json_serving_input_fn", "load"), ""),
        (TABLE, "print(csv_serving_fn)\n"),
        (TABLE, "print(SERVING)\n"),
    ],
)
def test_tables_that_stay(table: str, more: str) -> None:
    text = written("DNNRegressor([2], COLUMNS", CHOSEN + more, CSV + JSON + table)
    assert ".fit(" not in text and "SERVING[load()]" in text and "_signatures" not in text
