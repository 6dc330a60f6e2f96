"""Estimators are followed from where they are made to all their uses, or the program stays as it is."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, migrate_all

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}
"""


def use(after: str) -> str:
    """A program whose model_fn is followed by `after`."""
    return MODEL + "\n\n" + after


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ("def make():\n    return tf.estimator.Estimator(model_fn)\n\n\nmake().train(F)\n", "train(make(), F)"),
        ("def make():\n    return tf.estimator.Estimator(model_fn)\n\n\ne = make()\ne.train(F)\n", "train(e, F)"),
        ("def fit(est):\n    est.train(F)\n\n\nfit(tf.estimator.Estimator(model_fn))\n", "    train(est, F)"),
        ("def fit(est):\n    est.train(F)\n\n\nfit(est=tf.estimator.Estimator(model_fn))\n", "    train(est, F)"),
        ("def fit(n, *, est):\n    est.train(F)\n\n\nfit(1, est=tf.estimator.Estimator(model_fn))\n", "    train(est, F)"),
        ("a = b = tf.estimator.Estimator(model_fn)\na.train(F)\nb.evaluate(F)\n", "evaluate(b, F)"),
        ("e = tf.estimator.Estimator(model_fn)\nr = [e.evaluate(F) for _ in 'ab']\n", "[evaluate(e, F) for _ in 'ab']"),
        ("tf.estimator.Estimator(model_fn).train(F)\n", "train(create_model(), F)"),
        ("e: tf.estimator.Estimator = 1\n".replace("tf.estimator.Estimator = 1", "object = tf.estimator.Estimator(model_fn)")
         + "e.train(F)\n", "train(e, F)"),
        (
            "e = None\n\n\ndef setup():\n    global e\n    e = tf.estimator.Estimator(model_fn)\n\n\ndef go():\n    e.train(F)\n",
            "    train(e, F)",
        ),
        ("e = tf.estimator.Estimator(model_fn)\ne.train(F).evaluate(F)\n", "evaluate(train(e, F), F)"),
    ],
)  # fmt: skip
def test_estimators_are_followed(after: str, line: str) -> None:
    assert f"{line}\n" in migrate(use(after))


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ("def run(build):\n    e = build()\n    e.train(F)\n\n\nrun(make)\n", "    train(e, F)"),
        ("def run(n, build=None):\n    build().train(F)\n\n\nrun(1, build=make)\n", "    train(build(), F)"),
        (
            "def inner(f):\n    f().train(F)\n\n\ndef run(build):\n    inner(build)\n\n\nrun(make)\n",
            "    train(f(), F)",
        ),
        ("build = make\nbuild().train(F)\n", "train(build(), F)"),
        ("e = make()\ne.train(F)\ntf.app.run(make)\n", "train(e, F)"),
    ],
)
def test_functions_that_make_estimators_are_followed(after: str, line: str) -> None:
    assert f"{line}\n" in migrate(use(f"def make():\n    return tf.estimator.Estimator(model_fn)\n\n\n{after}"))


@pytest.mark.parametrize(
    "after",
    [
        "unknown(make)  # HERE\n",
        "makers = [make]  # HERE\n",
        "def run(*functions):\n    functions[0]().train(F)\n\n\nrun(make)  # HERE\n",
        "def run(**functions):\n    functions['f']().train(F)\n\n\nrun(f=make)  # HERE\n",
        "build = other\nif F:\n    build = make  # HERE\nbuild().train(F)\n",
        "def run(build):\n    build = build or F\n    build().train(F)\n\n\nrun(make)  # HERE\n",
    ],
)
def test_functions_that_make_estimators_and_are_lost(after: str) -> None:
    before = use(f"def make():\n    return tf.estimator.Estimator(model_fn)\n\n\n{after}")
    assert "the function that makes it goes where it is not followed" in manual_reason(before)


def test_a_function_of_another_file_that_makes_estimators() -> None:
    loop = "def fit(build, input_fn):\n    build().train(input_fn, steps=1)\n"
    main = "import loop\nimport model\n\nloop.fit(model.make, None)\n"
    make = use("def make():\n    return tf.estimator.Estimator(model_fn)\n")
    after = migrate_all({"main.py": main, "loop.py": loop, "model.py": make})
    assert "    train(build(), input_fn, steps=1)\n" in after["loop.py"]


def test_an_estimator_handed_to_another_file() -> None:
    loop = "def fit(estimator, input_fn):\n    estimator.train(input_fn, steps=1)\n    return estimator.evaluate(input_fn)\n"
    main = use("import loop\n\nprint(loop.fit(tf.estimator.Estimator(model_fn), None))\n")
    after = migrate_all({"main.py": main, "loop.py": loop})
    assert "    train(estimator, input_fn, steps=1)\n    return evaluate(estimator, input_fn)\n" in after["loop.py"]
    assert "from tf2_training import evaluate, train" in after["loop.py"]


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("class A:\n    def __init__(self):\n        self.e = tf.estimator.Estimator(model_fn)  # HERE\n", "attribute"),
        ("es = [tf.estimator.Estimator(model_fn)]  # HERE\n", "stored where it is not followed"),
        ("es = {'a': tf.estimator.Estimator(model_fn)}  # HERE\n", "stored where it is not followed"),
        ("e = tf.estimator.Estimator(model_fn)\nunknown(e)  # HERE\n", "function that is not seen"),
        ("e = tf.estimator.Estimator(model_fn)\ngetattr(e, 'train')(F)  # HERE\n", "function that is not seen"),
        ("e = tf.estimator.Estimator(model_fn)\nfit = e.train  # HERE\n", "`.train` of an Estimator"),
        ("e = tf.estimator.Estimator(model_fn)\ne.get_variable_names()  # HERE\n", "`.get_variable_names`"),
        ("e = tf.estimator.Estimator(model_fn)\ne.get_variable_value('d')  # HERE\n", "`.get_variable_value`"),
        (
            "e = tf.estimator.Estimator(model_fn)\nd = tf.estimator.BoostedTreesClassifier([], 3)  # HERE\n",
            "boosted trees",
        ),
        (
            "class E(tf.estimator.Estimator):  # HERE\n    pass\n\n\ne = tf.estimator.Estimator(model_fn)\n",
            "Estimator is not",
        ),
        ("make = lambda: tf.estimator.Estimator(model_fn)  # HERE\n", "stored where it is not followed"),
        ("def make():\n    yield tf.estimator.Estimator(model_fn)  # HERE\n", "stored where it is not followed"),
        ("a, b = tf.estimator.Estimator(model_fn), 1  # HERE\n", "stored where it is not followed"),
        ("(e := tf.estimator.Estimator(model_fn)).train(F)  # HERE\n", "stored where it is not followed"),
        ("def fit(*es):\n    es[0].train(F)\n\n\nfit(tf.estimator.Estimator(model_fn))  # HERE\n", "* or **"),
        ("class T:\n    def make(self):\n        return tf.estimator.Estimator(model_fn)\n", "a method returns it"),
        ("class C:\n    e = tf.estimator.Estimator(model_fn)  # HERE\n", "class attribute"),
        ("e = Fake()\nif F:\n    e = tf.estimator.Estimator(model_fn)  # HERE\ne.train(F)\n", "something else as well"),
        ("e = tf.estimator.Estimator(model_fn)\nmodel_fn(1, 2, 3)  # HERE\n", "used for more than an Estimator"),
    ],
)
def test_estimators_that_are_lost(after: str, reason: str) -> None:
    assert reason in manual_reason(use(after))
