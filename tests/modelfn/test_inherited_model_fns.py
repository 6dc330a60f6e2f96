"""model_fns that a class inherits: they move to the one class that has what they call."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import manual_reason, method, migrate_all

BASE = """
import tensorflow as tf

SCALE = 2.0


class Base(object):
    def __init__(self, width):
        self.width = width

    def network(self, x):
        raise NotImplementedError

    # One spec for all.
    def model_fn(self, features, labels, mode):
        predictions = self.network(features["x"]) * SCALE
        loss = tf.reduce_mean(tf.square(labels - predictions))
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)
"""
NET = """
class Net(Base):
    def network(self, x):
        return tf.layers.dense(x, self.width)
"""
USE = """
net = Net(3)
estimator = tf.estimator.Estimator(net.model_fn)
"""
OTHER = NET.replace("Net", "Other")


def one_file(base: str = BASE, more: str = "", use: str = USE) -> dict[str, str]:
    return {"program.py": f"{base}\n{NET}\n{more}\n{use}"}


def test_in_one_file() -> None:
    text = migrate_all(one_file())["program.py"]
    assert "class NetModel(tf.keras.Model):" in text and "tf.keras.layers.Dense(width)" in text
    assert 'return self.dense(features["x"]) * SCALE' in method(text, "call")
    assert text.count("# One spec for all.") == 1
    assert "NotImplementedError" not in text and "def network" not in text
    assert "create_net_model(width=net.width)" in text


def test_through_several_files() -> None:
    head = "import tensorflow as tf\nfrom base import Base\n"
    files = {"base.py": BASE, "net.py": head + NET, "main.py": "import tensorflow as tf\nfrom net import Net\n" + USE}
    after = migrate_all(files)
    assert "class NetModel(tf.keras.Model):" in after["net.py"] and "SCALE" in method(after["net.py"], "call")
    assert "import SCALE" in after["net.py"] and "SCALE = 2.0" in after["base.py"]
    assert "from net import create_net_model" in after["main.py"]
    assert "EstimatorSpec" not in after["base.py"] and "class Base" in after["base.py"]


def test_a_class_that_nothing_makes_does_not_count() -> None:
    more = "class Middle(Net):\n    pass\n"
    text = migrate_all(one_file(more=more, use=USE.replace("Net(", "Middle(")))["program.py"]
    assert "class MiddleModel(tf.keras.Model):" in text


def test_several_classes_have_a_model_each() -> None:
    more = OTHER.replace("dense(x, self.width)", "dense(tf.layers.dense(x, 4), self.width)")
    use = USE + "other = Other(2)\nsecond = tf.estimator.Estimator(other.model_fn)\n"
    text = migrate_all(one_file(more=more, use=use))["program.py"]
    assert "class NetModel(tf.keras.Model):" in text and "class OtherModel(tf.keras.Model):" in text
    assert "self.dense_2(self.dense_1(" in text and text.count("* SCALE") == 2
    assert "estimator = create_net_model(width=net.width)" in text
    assert "second = create_other_model(width=other.width)" in text
    assert "def model_fn" not in text and "EstimatorSpec" not in text


def test_a_class_that_is_made_without_an_estimator_keeps_its_method() -> None:
    assert manual_reason(one_file(more=OTHER, use=USE + "other = Other(2)\n"))


def test_each_class_has_the_step_that_it_has_anew() -> None:
    base = BASE.replace("tf.train.AdamOptimizer()", "self.optimizer()").replace(
        "    # One spec",
        "    def optimizer(self):\n        return tf.train.AdamOptimizer(self.width)\n\n    # One spec",
    )
    more = OTHER + "    def optimizer(self):\n        return tf.train.GradientDescentOptimizer(self.width)\n"
    use = USE + "other = Other(2)\nsecond = tf.estimator.Estimator(other.model_fn)\n"
    text = migrate_all(one_file(base, more, use))["program.py"]
    assert text.count("Adam(width, epsilon=1e-8)") == 1 and text.count("tf.keras.optimizers.SGD(width)") == 1
    assert text.index("Adam(width, epsilon=1e-8)") < text.index("class OtherModel")


MAKER = (
    BASE.rstrip()
    + """

    def make(self):
        return tf.estimator.Estimator(self.model_fn)
"""
)
BOTH = "for net in (Net(3), Other(2)):\n    net.make().train(lambda: None, steps=1)\n"
DEEPER = OTHER.replace("dense(x, self.width)", "dense(tf.layers.dense(x, 4), self.width)")


def test_a_base_that_makes_the_estimator() -> None:
    text = migrate_all(one_file(MAKER, DEEPER, BOTH))["program.py"]
    assert "class Net(Base):\n    def make(self):\n        return create_net_model(width=self.width)" in text
    assert "class Other(Base):\n    def make(self):\n        return create_other_model(width=self.width)" in text
    assert "train(net.make(), lambda: None, steps=1)" in text and text.count("def make") == 2


def test_a_base_that_makes_the_estimator_for_one_class() -> None:
    text = migrate_all(one_file(MAKER, "", "Net(3).make().train(lambda: None, steps=1)\n"))["program.py"]
    assert "return create_net_model(width=self.width)" in text


def test_a_base_that_makes_the_estimator_first() -> None:
    base = BASE.replace("width = width", "width = width\n        self.made = tf.estimator.Estimator(self.model_fn)")
    use = "for net in (Net(3), Other(2)):\n    net.made.train(lambda: None, steps=1)\n"
    text = migrate_all(one_file(base, DEEPER, use))["program.py"]
    assert (
        "self.made = create_net_model(width=self.width)" in text
        and text.count("def __init__(self, width):\n        self") == 2
    )
    assert "train(net.made, lambda: None, steps=1)" in text


@pytest.mark.parametrize(
    ("base", "more", "use", "reason"),
    [
        (MAKER, DEEPER, BOTH + "Base(1)\n", ""),
        (MAKER, DEEPER + "\n    def make(self):\n        return super().make()\n", BOTH, ""),
        (MAKER, DEEPER + "\n    def make(self):\n        return Base.make(self)\n", BOTH, ""),
        (BASE, DEEPER + "\n    def model_fn(self, features, labels, mode):\n"
         "        return super().model_fn(features, labels, mode)\n", USE, "called by its name"),
    ],
)  # fmt: skip
def test_makers_that_are_not_followed(base: str, more: str, use: str, reason: str) -> None:
    assert reason in manual_reason(one_file(base, more, use))


PARAMS = BASE.replace("self.width = width", "self.params = width").replace("* SCALE", "* self.params['scale']")
OF_PARAMS = NET.replace("self.width", "self.params['width']")


def with_params(use: str, base: str = PARAMS) -> dict[str, str]:
    return {"program.py": f"{base}\n{OF_PARAMS}\n{use}"}


REGISTRY = """
tf1 = tf.compat.v1
NETS = {}


def register(name):
    def enter(cls):
        NETS[name] = cls
        return cls
    return enter


def get_net(name):
    return NETS[name]
"""
ENTERED = (
    REGISTRY
    + BASE.replace("import tensorflow as tf\n", "").replace("tf.square", "tf1.square")
    + """
    def estimator(self):
        return tf.estimator.Estimator(self.model_fn)
"""
)


def test_classes_that_a_decorator_enters_into_a_table() -> None:
    head = "import tensorflow as tf\nfrom base import Base, register\n\n\n@register({!r})"
    main = "import sys\nimport tensorflow as tf\nimport nets\nimport others\nfrom base import get_net\n"
    main += "def input_fn():\n    return tf.data.Dataset.range(3)\nmade = get_net(sys.argv[1])(3)\n"
    after = migrate_all(
        {
            "base.py": "import tensorflow as tf\n" + ENTERED,
            "nets.py": head.format("net") + NET,
            "others.py": "import tensorflow as tf\ntf1 = tf.compat.v1\n" + head.format("other") + OTHER,
            "main.py": main + "estimator = made.estimator()\nestimator.train(input_fn, steps=3)\n",
        }
    )
    assert "estimator.fit(input_fn().take(3))" in after["main.py"]
    assert "class NetModel(tf.keras.Model):" in after["nets.py"] and "compat" not in after["nets.py"]
    assert "class OtherModel(tf.keras.Model):" in after["others.py"]


def test_params_of_an_object_become_those_of_the_model() -> None:
    text = migrate_all(with_params(USE))["program.py"]
    assert "estimator = create_net_model(params=net.params)" in text
    assert 'self.params["scale"]' in text.replace("'", '"') and "partial" not in text


def test_params_beside_those_of_the_estimator_have_another_name() -> None:
    text = migrate_all(with_params(USE.replace("net.model_fn", "net.model_fn, params={'unread': 1}")))["program.py"]
    assert "create_net_model(net_params=net.params)" in text


def test_params_where_an_input_fn_asks_for_some_have_another_name() -> None:
    use = USE + "\ndef input_fn(params):\n    return params\n\n\nestimator.train(input_fn)\n"
    assert "create_net_model(net_params=net.params)" in migrate_all(with_params(use))["program.py"]


def test_a_config_of_an_object_is_not_that_of_the_estimator() -> None:
    base = PARAMS.replace("params", "config")
    files = {"program.py": f"{base}\n{OF_PARAMS.replace('params', 'config')}\n{USE}"}
    text = migrate_all(files)["program.py"]
    assert "create_net_model(net_config=net.config)" in text and "config=None, model_dir=None" in text


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (one_file(use=USE + "Base(1)\n"), "several classes share `model_fn`"),
        (one_file(more="class Middle(Net):\n    pass\n", use=USE.replace("Net(", "Middle(") + "Net(1)\n"), "several"),
        (
            one_file(BASE.replace("* SCALE", "* super().__getattribute__('width')")),
            "uses `super`",
        ),
        (one_file(BASE.replace("* SCALE", "* self.__scale")), "private"),
        (one_file(BASE.replace("    def model_fn", "    @staticmethod\n    def model_fn")), ""),
        (one_file(use="net = Net(3) if FLAG else None\nestimator = tf.estimator.Estimator(net.model_fn)\n"), ""),
    ],
)
def test_what_is_not_followed(files: dict[str, str], reason: str) -> None:
    assert reason in manual_reason({path: textwrap.dedent(text) for path, text in files.items()})


ABSTRACT = """
import abc


class Abstract(abc.ABC):
    @abc.abstractmethod
    def model_fn(self, features, labels, mode):
        pass

    @abc.abstractmethod
    def report(self):
        pass
"""


def test_abstract_methods_go_with_those_of_the_program() -> None:
    base = BASE.replace("import tensorflow as tf", "import tensorflow as tf\nfrom abstract import Abstract")
    base = base.replace("class Base(object):", "class Base(Abstract):\n    def report(self):\n        return SCALE\n")
    after = migrate_all({**one_file(base), "abstract.py": ABSTRACT})
    assert "def model_fn" not in after["abstract.py"] and "def report" in after["abstract.py"]


def test_an_abstract_base_may_have_a_metaclass() -> None:
    base = BASE.replace("class Base", "@six.add_metaclass(abc.ABCMeta)\nclass Base").replace(
        "import", "import abc\nimport six\nimport", 1
    )
    assert "class NetModel(tf.keras.Model):" in migrate_all(one_file(base))["program.py"]


def test_who_calls_the_initializer_of_a_base() -> None:
    net = "class Net(Base):\n    def __init__(self, width, **kwargs):\n        super().__init__(width, **kwargs)\n"
    net += "\n    def network(self, x):\n        return tf.layers.dense(x, self.width, use_bias=self.bias)\n"
    base = BASE.replace("(self, width):", "(self, width, bias=True):\n        self.bias = bias")
    text = migrate_all({"program.py": f"{base}\n\n{net}\n{USE.replace('Net(3)', 'Net(3, bias=False)')}"})["program.py"]
    assert "def __init__(self, width, bias):" in text and "super().__init__(width, bias=bias)" in text
    assert "use_bias=bias" in text


NAMED = (
    BASE.replace("(self, width):\n        self.width = width", "(self, config):\n        self.config = config")
    .replace("tf.train.AdamOptimizer()", "self.optimizer()")
    .replace("    # One", "    def optimizer(self):\n        return MAKERS[self.config.optimizer](0.1)\n\n    # One")
    .replace(
        "SCALE = 2.0",
        "SCALE = 2.0\nMAKERS = {'adam': tf.train.AdamOptimizer, 'sgd': tf.train.GradientDescentOptimizer}",
    )
)


@pytest.mark.parametrize("fields", ["['width', 'optimizer']", "'width optimizer'"])
def test_a_setting_with_the_name_of_a_method(fields: str) -> None:
    net = NET.replace("self.width", "self.config.width")
    use = f"\nimport collections\n\nConfig = collections.namedtuple('Config', {fields})\n" + USE.replace(
        "Net(3)", "Net(Config(3, input()))"
    )
    text = migrate_all({"program.py": f"{NAMED}\n{net}\n{use}"})["program.py"]
    assert "class NetModel(tf.keras.Model):" in text and "def optimizer(self)" not in text


def test_a_method_that_is_found_by_its_name() -> None:
    net = NET.replace("self.width", "self.config.width")
    use = USE.replace("Net(3)", "Net(Config(3, input()))") + "\nprint(getattr(net, 'optimizer')())\n"
    use = "\nimport collections\n\nConfig = collections.namedtuple('Config', 'width optimizer')\n" + use
    assert "does not move" in manual_reason(f"{NAMED}\n{net}\n{use}")


def test_a_variable_with_the_name_of_the_method_that_gives_its_value() -> None:
    base = BASE.replace("predictions = self.network(features", "score = self.score(self.network(features")
    base = base.replace(") * SCALE", "))").replace("labels - predictions", "labels - score")
    base = base.replace("predictions=predictions", "predictions=score")
    base = base.replace("    # One", "    def score(self, x):\n        return tf.layers.dense(x, 1)\n\n    # One")
    head = "import tensorflow as tf\nfrom base import Base\n"
    registry = "from net import Net\nfrom other import Other\n\nNETS = {'net': Net, 'other': Other}\n"
    use = "import tensorflow as tf\nfrom registry import NETS\n\ntf.estimator.Estimator(NETS[input()](3).model_fn)\n"
    files = {
        "base.py": base,
        "net.py": head + NET,
        "other.py": head + OTHER,
        "registry.py": registry,
        "program.py": use,
    }
    text = migrate_all(files)["registry.py"]
    assert "class NetModel(tf.keras.Model):" in text and "class OtherModel(tf.keras.Model):" in text
