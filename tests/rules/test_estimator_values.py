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
    ("after", "reason"),
    [
        ("unknown(make)  # HERE\n", "the function that makes it goes where it is not followed"),
        (
            "def run(*functions):\n    functions[0]().train(F)\n\n\nrun(make)  # HERE\n",
            "the function that makes it goes",
        ),
        ("def run(**fs):\n    fs['f']().train(F)\n\n\nrun(f=make)  # HERE\n", "the function that makes it goes"),
        ("build = other\nif F:\n    build = make  # HERE\nbuild().train(F)\n", "stands for something else as well"),
        ("def run(build):\n    build = build or F  # HERE\n    build().train(F)\n\n\nrun(make)\n", "in its place"),
    ],
)
def test_functions_that_make_estimators_and_are_lost(after: str, reason: str) -> None:
    before = use(f"def make():\n    return tf.estimator.Estimator(model_fn)\n\n\n{after}")
    assert reason in manual_reason(before)


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
        ("def make():\n    yield tf.estimator.Estimator(model_fn)  # HERE\n", "stored where it is not followed"),
        ("def fit(*es):\n    es[0].train(F)\n\n\nfit(tf.estimator.Estimator(model_fn))  # HERE\n", "* or **"),
        ("e = Fake()\nif F:\n    e = tf.estimator.Estimator(model_fn)  # HERE\ne.train(F)\n", "something else as well"),
        ("e = tf.estimator.Estimator(model_fn)\nmodel_fn(1, 2, 3)  # HERE\n", "used for more than an Estimator"),
    ],
)
def test_estimators_that_are_lost(after: str, reason: str) -> None:
    assert reason in manual_reason(use(after))


E = "tf.estimator.Estimator(model_fn)"
TRAINER = f"""class Trainer:
    def __init__(self, flags):
        self.estimator = {E}

    def fit(self, input_fn):
        self.estimator.train(
            input_fn, steps=1)
        return [self.estimator.evaluate(input_fn) for _ in "ab"]


"""


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        (TRAINER, ["train(\n            self.estimator, input_fn, steps=1)", "[evaluate(self.estimator, input_fn) for _ in"]),
        (TRAINER + "t = Trainer(F)\nt.estimator.train(F)\n", ["train(t.estimator, F)"]),
        (TRAINER + "Trainer(F).estimator.train(F)\n", ["train(Trainer(F).estimator, F)"]),
        (TRAINER + "class B(Trainer):\n    def go(self):\n        self.estimator.train(F)\n", ["train(self.estimator, F)"]),
        (TRAINER + "ts = {'a': Trainer(F)}\nfor t in ts.values():\n    t.estimator.train(F)\n", ["train(t.estimator, F)"]),
        (TRAINER + "def go(t):\n    t.estimator.train(F)\n\n\ngo(Trainer(F))\n", ["    train(t.estimator, F)"]),
        (
            f"class T:\n    @property\n    def e(self):\n        if self._e is None:\n            self._e = {E}\n"
            "        return self._e\n\n    def fit(self):\n        self.e.train(F)\n",
            ["        train(self.e, F)"],
        ),
        (
            f"class T:\n    def make(self):\n        return {E}\n\n    def fit(self):\n        e = self.make()\n"
            "        e.train(F)\n\n\nT().make().train(F)\n",
            ["        train(e, F)", "train(T().make(), F)"],
        ),
        (f"class T:\n    e = {E}\n\n\nT.e.train(F)\nT().e.evaluate(F)\n", ["train(T.e, F)", "evaluate(T().e, F)"]),
        (f"es = [{E}]\nfor e in es:\n    e.train(F)\nes[0].train(F)\n", ["    train(e, F)", "train(es[0], F)"]),
        (f"es = {{'a': {E}, 'b': {E}}}\nes[F].train(F)\n", ["train(es[F], F)"]),
        (f"es = {{}}\nes['a'] = {E}\nfor k, e in es.items():\n    e.train(F)\n", ["    train(e, F)"]),
        (f"es = []\nfor _ in F:\n    es.append({E})\nfor i, e in enumerate(es):\n    e.train(F)\n", ["    train(e, F)"]),
        (f"es = [{E} for _ in F]\n[e.evaluate(F) for e in es]\n", ["[evaluate(e, F) for e in es]"]),
        (f"d = {{'e': {E}, 'n': 1}}\nd['e'].train(F)\nprint(d['n'])\n", ["train(d['e'], F)"]),
        (f"a, b = {E}, 1\na.train(F)\n", ["train(a, F)"]),
        (f"def make():\n    return {E}, 1\n\n\ne, n = make()\ne.train(F)\n", ["train(e, F)"]),
        (f"make = lambda: {E}\nmake().train(F)\n", ["train(make(), F)"]),
        (f"(e := {E}).train(F)\n", ["train((e := create_model()), F)"]),
        (
            f"def wide():\n    return {E}\n\n\ndef deep():\n    return {E}\n\n\n"
            "MODELS = {'wide': wide, 'deep': deep}\n\n\ndef get(name):\n    if name not in MODELS:\n"
            "        raise ValueError(name)\n    return MODELS[name]()\n\n\nget(F).train(F)\n",
            ["train(get(F), F)"],
        ),
        (
            f"import functools\n\n\ndef go(e, n):\n    e.train(F, steps=n)\n\n\nrun = functools.partial(go, {E})\n",
            ["    train(e, F, steps=n)"],
        ),
        (f"if F:\n    e = {E}\nelse:\n    e = tf.estimator.LinearClassifier([F])\ne.train(F)\n", ["train(e, F)"]),
    ],
)  # fmt: skip
def test_estimators_in_other_values(after: str, lines: list[str]) -> None:
    result = migrate(use(after))
    for line in lines:
        assert line in result


def test_trainers_of_another_file() -> None:
    files = {
        "trainer.py": use(TRAINER),
        "registry.py": "from trainer import Trainer\n\nTRAINERS = {'plain': Trainer}\ntrainer = Trainer(None)\n",
        "main.py": "import registry\nfrom registry import trainer as t\n\nt.estimator.train(F)\n"
        "registry.trainer.estimator.evaluate(F)\nregistry.TRAINERS[F](1).estimator.train(F)\n",
    }
    after = migrate_all(files)["main.py"]
    assert "train(t.estimator, F)\n" in after
    assert "evaluate(registry.trainer.estimator, F)\n" in after
    assert "train(registry.TRAINERS[F](1).estimator, F)\n" in after


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (TRAINER + "def go(t):\n    t.estimator.train(F)  # HERE\n", "of what object"),
        (
            f"class T:\n    def a(self):\n        self.e = {E}\n\n    def b(self):\n        self.e = F()  # HERE\n",
            "`.e` stands for something else",
        ),
        (f"class T:\n    def m(self):\n        if F:\n            return F()  # HERE\n        return {E}\n", "something else"),
        (
            f"class T:\n    def m(self):\n        return {E}\n\n\nclass U(T):\n    def m(self):  # HERE\n        return F()\n",
            "another `m`",
        ),
        (f"es = {{'a': {E}, 'b': F()}}\nes[F].train(F)  # HERE\n", "different kinds"),
        (f"es = [{E}]\nes.append(F())  # HERE\nes[0].train(F)\n", "something else may stand in its place"),
        (f"es = [{E}]\nF(es)  # HERE\n", "function that is not seen"),
        (f"es = [{E}]\nes.sort()  # HERE\n", "`.sort`"),
        (f"es = {{{E}}}  # HERE\n", "stored where it is not followed"),
        (f"x.e = {E}  # HERE\n", "whose class is not seen"),
        (f"def fit(e):\n    e.train(F)\n\n\nfit({E})\nfit(F())  # HERE\n", "something else"),
        (f"def make():\n    if F:\n        return F()  # HERE\n    return {E}\n", "something else"),
        (f"@F\ndef make():  # HERE\n    return {E}\n\n\nmake().train(F)\n", "decorated"),
        (f"def make():\n    return {E}\n\n\nF(make)  # HERE\n", "the function that makes it goes"),
        (f"*a, b = F, {E}  # HERE\n", "*"),
        (f"e = {E} if F else F()  # HERE\ne.train(F)\n", "something else may stand in its place"),
    ],
)  # fmt: skip
def test_other_values_that_are_lost(after: str, reason: str) -> None:
    assert reason in manual_reason(use(after))


def test_an_attribute_of_the_same_name_elsewhere() -> None:
    other = "class Other:\n    def __init__(self, args):\n        self.estimator = F()\n        self.estimator.train(F)\n\n\n"
    after = migrate(use(TRAINER + other + "print(args.estimator)\n"))
    assert "        self.estimator.train(F)\n" in after
    assert "print(args.estimator)\n" in after


KEPT = """models = {}


def fit(est):
    models[est.model_dir] = est
    est.train(F)


fit(tf.estimator.Estimator(model_fn, "a"))
"""


@pytest.mark.parametrize(
    "after",
    ["print(sorted(models))\n", "for name in sorted(models):\n    models[name].evaluate(F)\n"],
)
def test_a_dict_of_them_is_sorted_by_its_keys(after: str) -> None:
    text = migrate(use(KEPT + after))
    assert "    train(est, F)\n" in text and "sorted(models)" in text
    assert ("evaluate(models[name], F)" in text) is ("name" in after)


@pytest.mark.parametrize("text", ["'made {}'.format(e)", "'made %s' % e", "'%s and %s' % (1, e)", "'{0!r}'.format(e)"])
def test_a_text_may_tell_of_one(text: str) -> None:
    after = migrate(use(f"e = {E}\nprint({text})\ne.train(F)\n"))
    assert f"print({text})\ntrain(e, F)\n" in after


@pytest.mark.parametrize("text", ["'{.model_dir}'.format(e)", "TEXT.format(e)", "e % 'made'", "'{0[0]}'.format(e)"])
def test_a_text_that_reads_more_of_one_is_refused(text: str) -> None:
    manual_reason(use(f"e = {E}\nprint({text})\ne.train(F)\n"))


def test_what_sorts_them_by_themselves_is_refused() -> None:
    after = "for each in sorted(models.values(), key=lambda e: e.model_dir):\n    each.evaluate(F)\n"
    assert "handed to a function that is not seen" in manual_reason(use(KEPT + after))


ENTERED = """MADE = {}


def register(name):
    def enter(function):
        MADE[name] = function
        return function
    return enter


@register("net")
def make():
    return tf.estimator.Estimator(model_fn)


"""


def test_a_decorator_enters_what_makes_them_into_a_table() -> None:
    text = migrate(use(ENTERED + "made = MADE[NAME]()\nmade.train(F)\n"))
    assert "train(made, F)" in text


def test_a_decorator_enters_something_else_as_well() -> None:
    other = '@register("data")\ndef data():\n    return tf.data.Dataset.range(3)\n\n\n'
    assert "several values of different kinds" in manual_reason(use(ENTERED + other + "MADE[NAME]().train(F)\n"))


def test_a_decorator_that_gives_something_else() -> None:
    other = ENTERED.replace("        return function\n", "        return print\n")
    assert "a decorated function returns it" in manual_reason(use(other + "make().train(F)\n"))


TRAINERS = """class Trainer:
    def make(self):
        return tf.estimator.Estimator(model_fn)


"""


@pytest.mark.parametrize(
    "after",
    ["made = F().make()\nmade.train(F)\n", "F().make().train(F)\n",
     "made = F().make()\ntf.estimator.train_and_evaluate(made, F, F)\n"],
)  # fmt: skip
def test_what_a_method_gives_of_an_object_that_is_not_seen(after: str) -> None:
    assert "of what object this is the `.make` is not seen" in manual_reason(use(TRAINERS + after))


@pytest.mark.parametrize("after", ["made = F().make()\nmade.build(F)\n", "def f():\n    made = F.make()\nmade = 1\n"])
def test_other_methods_of_that_name(after: str) -> None:
    assert after in migrate(use(TRAINERS + "Trainer().make().train(F)\n" + after))
