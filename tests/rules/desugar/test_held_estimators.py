"""Classes derived from an Estimator with methods and attributes of their own."""

from __future__ import annotations

import pytest
from desugared import INPUT, MODEL, below
from modelfn.programs import manual_reason, migrate_all

CLASS = """class Line(tf.estimator.Estimator):
    \"\"\"A line.\"\"\"

    def __init__(self, units, model_dir=None, config=None):
        self.units = units
        super(Line, self).__init__(model_fn, model_dir=model_dir, params={"units": units}, config=config)
        print(self.model_dir)

    def fit(self, input_fn, steps):
        self.train(input_fn, steps=steps)

    def score(self, input_fn):
        return self.evaluate(input_fn)["loss"]


"""
HEAD = CLASS.partition("        print(")[0] + "\n\n"
USE = """line = Line(1, "here")
line.fit(make_input_fn(8, None), 20)
print(line.score(make_input_fn(8, 1)), line.units)
"""


def test_a_class_holds_its_model() -> None:
    text = below(MODEL + CLASS + USE)
    assert '\n\n\nclass Line:\n    """A line."""\n' in text and text.endswith(USE.strip())
    assert "        restore(self.estimator.checkpoints, input_fn())\n" in text
    assert "        self.estimator = create_model(" in text
    assert "        self.estimator.fit(input_fn().take(steps)" in text
    assert "return self.estimator.evaluate(input_fn(), return_dict=True)" in text


def test_what_others_do_with_an_object_is_done_with_what_it_holds() -> None:
    use = """line = Line(1)
line.train(make_input_fn(8, None), steps=20)
print(line.evaluate(make_input_fn(8, 1)))
"""
    text = below(MODEL + HEAD + use)
    assert "line.estimator.fit(make_input_fn(8, None)().take(20))\n" in text


def test_what_a_class_has_without_an_object_is_read_by_its_name() -> None:
    network = """    @staticmethod
    def check(units):
        return max(units, Line.LEAST)

"""
    made = CLASS.partition("        print(")[0].replace(
        "    def __init__", f"    LEAST = 1\n\n{network}    def __init__"
    )
    made = made.replace("self.units = units", "self.units = Line.check(units)")
    use = "line = Line(1, config=tf.estimator.RunConfig(tf_random_seed=4))\nline.train(make_input_fn(8, None), steps=20)\n"
    text = below(MODEL + made + "\n\n" + use)
    assert (
        "tf.keras.utils.set_random_seed(4)" in text and "line.estimator.fit(make_input_fn(8, None)().take(20))" in text
    )
    unbound = use + "Line.fit(line, make_input_fn(8, None), 5)\n"
    reason = manual_reason(MODEL + CLASS + unbound)
    assert "it is used for more than making Estimators" in reason


def test_train_and_evaluate() -> None:
    use = """line = Line(1)
train_spec = tf.estimator.TrainSpec(make_input_fn(8, None), max_steps=20)
eval_spec = tf.estimator.EvalSpec(make_input_fn(8, 1), steps=None)
tf.estimator.train_and_evaluate(line, train_spec, eval_spec)
"""
    text = below(MODEL + HEAD + use)
    assert "line.estimator.fit(make_input_fn(8, None)().take(steps), validation_data=make_input_fn(8, 1)())" in text


STEEP = """class Steep(Line):
    def fit(self, input_fn, steps):
        super().fit(input_fn, steps)
        print(self.evaluate(input_fn))


"""


def test_a_class_that_is_derived_further() -> None:
    text = below(MODEL + CLASS + STEEP + USE.replace("Line(", "Steep("))
    assert "class Steep(Line):\n" in text and "        super().fit(input_fn, steps)\n" in text
    assert "        print(self.estimator.evaluate(input_fn(), return_dict=True))" in text


def test_a_class_in_another_file() -> None:
    steep = f"import tensorflow as tf\nfrom line import Line\n\n\n{STEEP}"
    use = f"from line import make_input_fn\nfrom steep import Steep\n\n{USE.replace('Line(', 'Steep(')}"
    after = migrate_all({"line.py": MODEL + CLASS, "steep.py": steep, "main.py": use})
    assert "print(self.estimator.evaluate(input_fn(), return_dict=True))" in after["steep.py"]
    assert after["main.py"] == use and "tf.estimator" not in after["line.py"]


def test_the_model_fn_of_a_base_that_asks_its_object() -> None:
    family = """class Base(tf.estimator.Estimator):
    def __init__(self, params, model_dir, **kwargs):
        def _model_fn(features, labels, mode, params):
            predictions = self.network(features, params)
            loss = tf.reduce_mean(tf.square(labels - predictions))
            train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        super().__init__(_model_fn, model_dir=model_dir, params=params, **kwargs)

    def network(self, features, params):
        raise NotImplementedError


class Line(Base):
    def network(self, features, params):
        return tf.layers.dense(features, params["units"])


line = Line({"units": 1}, "here", config=tf.estimator.RunConfig(tf_random_seed=1))
line.train(make_input_fn(8, None), steps=20)
"""
    text = below(f"import tensorflow as tf\n\n\n{INPUT}{family}")
    assert "class Base:\n    pass\n" in text and "class LineModel(tf.keras.Model):" in text
    assert "line.estimator.fit(make_input_fn(8, None)().take(20)" in text


@pytest.mark.parametrize("name", ["_model_fn", "model_fn"])  # the one member that TensorFlow lets a class define anew
def test_a_model_fn_that_is_a_method(name: str) -> None:
    model_fn, _, rest = MODEL.partition("def make_input_fn")
    method = model_fn.replace("import tensorflow as tf\n\n\n", "").replace("def model_fn(", f"def {name}(self, ")
    body = "".join(f"    {line}\n" if line else "" for line in method.rstrip().splitlines())
    text = f"""import tensorflow as tf


def make_input_fn{rest}class Line(tf.estimator.Estimator):
    def __init__(self):
        tf.estimator.Estimator.__init__(self, model_fn=self.{name}, params={{"units": 1}})

{body}

line = Line()
line.train(make_input_fn(8, None), steps=20)
"""
    after = below(text)
    assert "tf.estimator" not in after and "line.estimator.fit(make_input_fn(8, None)().take(20))" in after


@pytest.mark.parametrize(
    ("lines", "use", "reason"),
    [
        ("    def train(self, input_fn):\n        pass\n", USE, "anew"),
        ("    model_fn = None\n", USE, "anew"),
        ("    @classmethod\n    def make(cls):\n        return cls(1)\n", USE, "class method"),
        ("    def own(self):\n        return self._model_fn\n", USE, "_model_fn"),
        ("    def own(self):\n        load(self)\n", USE, "hands itself on"),
        ("    def own(self):\n        return super().own()\n", USE, "`own` of the Estimator"),
        ("", "load(Line)\n" + USE, "used for more"),
        ("", USE + "load(line)\n", "not followed"),
        ("", USE + "print(isinstance(line, tf.estimator.Estimator))\n", "its class or its attributes"),
        ("", USE + "print(line._model_dir)\n", "`_model_dir` of the Estimator"),
        ("", USE + "print(getattr(line, '_model_dir'))\n", ""),
        ("", USE + "print(vars(line), type(line))\n", ""),
        ("", USE + "class Steep(Line, Base):\n    pass\n", "other bases"),
        ("", USE + "class Steep(Line):\n    def train(self):\n        pass\n", "anew"),
        ("", USE + "class Steep(Line):\n    def own(self):\n        return self._estimator_fn\n", "of the Estimator"),
        ("", USE.replace("Line(1", "Line(1) if load() else tf.estimator.Estimator(model_fn"), "or another Estimator"),
    ],
)
def test_what_is_not_seen_stays(lines: str, use: str, reason: str) -> None:
    said = manual_reason(MODEL + CLASS.rstrip("\n") + "\n\n" + lines + "\n\n" + use)
    assert reason in said and "derived from" in said
