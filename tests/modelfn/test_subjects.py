"""The class of a model is called after what its program is about."""

from __future__ import annotations

import re

import pytest
from modelfn.programs import migrate, migrate_all

BODY = """\
import tensorflow as tf
{head}

def {name}(features, labels, mode):
    logits = tf.layers.dense(features["x"], 1)
    loss = tf.losses.mean_squared_error(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=logits, loss=loss, train_op=train_op)

"""
FLAG = 'tf.flags.DEFINE_string("model_dir", "/tmp/{}", "")\nFLAGS = tf.flags.FLAGS\n'
OPTION = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--model-dir", default="{}")
args = parser.parse_args()
"""


def program(arguments: str, head: str = "", name: str = "model_fn") -> str:
    return BODY.format(head=head, name=name) + f"\nestimator = tf.estimator.Estimator({name}{arguments})\n"


def classes(text: str) -> list[str]:
    return re.findall(r"class (\w+)\(tf\.keras\.Model\)", text)


@pytest.mark.parametrize(
    ("arguments", "head", "expected"),
    [
        (', "models/clicks"', "", "ClicksModel"),
        (', model_dir="/tmp/iris_classifier/"', "", "IrisClassifier"),
        (", model_dir=os.path.join('runs', 'wine-quality'))  # (", "import os", "WineQualityModel"),
        (", config=tf.estimator.RunConfig(model_dir='births_model')", "", "BirthsModel"),
        (", config=config", "config = tf.estimator.RunConfig(model_dir='births')", "BirthsModel"),
        (", FLAGS.model_dir", FLAG.format("ctr_model"), "CtrModel"),
        (", args.model_dir", OPTION.format("spam"), "SpamModel"),
        (", args.model_dir or 'stripes'", OPTION.format(""), "StripesModel"),
        (", FLAGS.model_dir", FLAG.format("model"), "Model"),  # says nothing
        (", 'ckpt/2019'", "", "Model"),
        (", 'über/größe'", "", "Model"),
        ("", "", "Model"),
    ],
)
def test_the_folder_of_the_checkpoints(arguments: str, head: str, expected: str) -> None:
    text = migrate(program(arguments, head))
    assert classes(text) == [expected] and f"Builds and compiles `{expected}`" in text
    assert "def create_model(" in text  # says what it does by the name of the class


def test_the_model_fn_says_more() -> None:
    assert classes(migrate(program(", 'clicks'", name="wide_deep_model_fn"))) == ["WideDeepModel"]
    assert classes(migrate(program(", 'clicks'", name="my_model"))) == ["ClicksModel"]
    assert classes(migrate(program(", 'clicks'", name="iris_classifier"))) == ["IrisClassifier"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("wide_deep.py", "WideDeepModel"),
        ("train_stripes.py", "StripesModel"),
        ("DeepFM.py", "DeepFMModel"),
        ("run_classifier.py", "Classifier"),
        ("src/model.py", "Model"),
        ("main.py", "Model"),
    ],
)
def test_the_name_of_the_file(path: str, expected: str) -> None:
    assert classes(migrate_all({path: program("")})[path]) == [expected]


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        ("classifier", "Classifier"),
        ("wine_estimator", "WineModel"),
        ("DeepFM", "DeepFMModel"),
        ("esmm_model", "EsmmModel"),
        ("estimator_2", "Model"),
        ("est1", "Model"),
        ("m", "Model"),
    ],
)
def test_the_variable_that_holds_the_estimator(variable: str, expected: str) -> None:
    assert classes(migrate(program("").replace("estimator = ", f"{variable} = "))) == [expected]


def test_variables_of_several_estimators_say_nothing_of_their_model() -> None:
    assert classes(migrate(program("").replace("estimator =", "wines = roses ="))) == ["WinesModel"]
    more = "roses = tf.estimator.Estimator(model_fn)\n"
    assert classes(migrate(program("").replace("estimator =", "wines =") + more)) == ["Model"]


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        ('{"rating": logits}', "RatingModel"),
        ('{"digit": logits, "probabilities": logits, "class_ids": logits}', "DigitModel"),
        ('{"clicks": logits, "buys": logits}', "Model"),
        ('{"class": logits, "scores": logits}', "Model"),
        ('{name: logits for name in ["rating"]}', "Model"),
    ],
)
def test_what_is_predicted(predictions: str, expected: str) -> None:
    text = program("").replace("predictions=logits", f"predictions={predictions}")
    assert classes(migrate(text)) == [expected]
    held = program("").replace("predictions=logits", "predictions=outputs")
    held = held.replace("    return", f"    outputs = {predictions}\n    return")
    assert classes(migrate(held)) == [expected]


@pytest.mark.parametrize(
    ("owner", "expected"),
    [("Tagger", "TaggerModel"), ("WineTrainer", "WineModel"), ("DeepFM", "DeepFMModel"), ("Builder", "Model")],
)
def test_the_class_that_the_model_fn_was_a_method_of(owner: str, expected: str) -> None:
    head, tail = program("").split("def model_fn(")
    body = "\n".join(f"    {line}".rstrip() for line in tail.split("\nestimator")[0].splitlines())
    size = f"    def __init__(self, size):\n        self.size = size\n\n    def model_fn(self, {body.strip()}\n"
    text = f"{head}class {owner}:\n{size.replace('], 1)', '], self.size)')}"
    text += f"\n\nestimator = tf.estimator.Estimator({owner}(1).model_fn)\n"
    assert classes(migrate(text)) == [expected]


def test_a_name_that_the_file_has_for_something_else() -> None:
    text = migrate(program(", 'clicks'", "class ClicksModel:\n    pass\n"))
    assert classes(text) == ["ClicksNetwork"]
    text = migrate(program(", 'tagger'", "Tagger = 3\n"))
    assert classes(text) == ["TaggerModel"]


def test_folders_of_several_estimators_say_nothing_of_their_model() -> None:
    more = "other = tf.estimator.Estimator(model_fn, 'second')\n"
    assert classes(migrate(program(", 'first'") + more)) == ["Model"]
    assert classes(migrate(program(", 'second'") + more)) == ["SecondModel"]


def test_model_fns_of_two_files() -> None:
    main = "import tensorflow as tf\nimport deep\nimport wide\n\n"
    main += (
        "for model in (tf.estimator.Estimator(deep.model_fn, 'x/a'), tf.estimator.Estimator(wide.model_fn, 'x/b')):\n"
    )
    main += "    print(model.model_dir)\n"
    source = BODY.format(head="", name="model_fn")
    texts = migrate_all({"main.py": main, "deep.py": source, "wide.py": source})
    assert classes(texts["deep.py"]) == ["DeepModel"] and classes(texts["wide.py"]) == ["WideModel"]


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("ESMM: clicks and conversions", "ESMMModel"),
        ("Deep & Cross Network on clicks.", "DeepCrossNetworkModel"),
        ("A click-through model: three parts", "ClickThroughModel"),
        ("Run BERT on SQuAD", "BERTModel"),
        ("Predict house prices - with columns", "HousePricesModel"),
        ("Trains a network on digits.", "Model"),
        ("Finds words of sentences", "Model"),
        ("The model and its input, for tasks", "Model"),
        ("An example of training", "Model"),
        ("A very long name that hardly anybody would give to a class: so", "LongNameModel"),
        ("All that a file can say without a name", "Model"),
        ("", "Model"),
    ],
)
def test_how_the_docstring_of_the_file_begins(docstring: str, expected: str) -> None:
    assert classes(migrate(f'"""{docstring}"""\n{program("")}')) == [expected]


@pytest.mark.parametrize(("folder", "expected"), [("ner", "NerModel"), ("trainer", "Model"), ("src", "Model")])
def test_the_package_of_the_file(folder: str, expected: str) -> None:
    main = f"import tensorflow as tf\nfrom {folder}.model import model_fn\n\nestimator = tf.estimator.Estimator(model_fn)\n"
    texts = migrate_all({"main.py": main, f"{folder}/model.py": BODY.format(head="", name="model_fn")})
    assert classes(texts[f"{folder}/model.py"]) == [expected]
