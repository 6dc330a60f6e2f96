"""Programs that share the module of their network: what one takes away the other must not miss."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, run, units

from migrator.vocabulary.diagnostics import Outcome

NETWORK = """import tensorflow as tf


def tower(x, units):
    return tf.layers.dense(x, units)
"""
ONE_OPTIMIZER = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
GRAPH_ONLY = "tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.get_default_graph().as_graph_def())"
STUCK = "tf.Session().run(loss)"


def main(*, before: str = "pass", use: str = "network.tower(features['x'], 1)", imports: str = "import network") -> str:
    """A program of one file that calls the network; `before` is a statement after the loss."""
    return f"""import tensorflow as tf
{imports}


def model_fn(features, labels, mode):
    predictions = {use}
    {LOSS}
    {before}
    {ONE_OPTIMIZER}
    {SPEC}


tf.estimator.Estimator(model_fn)
"""


def tiers(outcomes: dict[str, Outcome]) -> dict[str, str]:
    return {unit.location.path: unit.tier for unit in units(outcomes)}


def texts(files: dict[str, str], style: str = "native") -> tuple[dict[str, str], dict[str, str]]:
    """Tier of each file's program, and the files after migration, which a second run leaves as they are."""
    outcomes = run(files, style)
    after = {path: outcome.after.decode() for path, outcome in outcomes.items()}
    again = {path: outcome.after.decode() for path, outcome in run(after, style).items()}
    assert again == after
    return tiers(outcomes), after


def test_two_native_programs_move_together() -> None:
    found, after = texts({"a.py": main(), "b.py": main(), "network.py": NETWORK})
    assert found == {"a.py": "native", "b.py": "native"}
    assert (
        after["network.py"].count("class Tower(tf.keras.layers.Layer)") == 1 and "def tower" not in after["network.py"]
    )
    assert "network.Tower(1)" in after["a.py"] and "network.Tower(1)" in after["b.py"]


def test_only_one_of_them_has_the_fix() -> None:
    outcomes = run({"a.py": main(), "b.py": main(), "network.py": NETWORK})
    said = [
        d
        for o in outcomes.values()
        for d in (*o.applied, *o.remaining)
        if d.code == "EST100" and "keras.Model" in d.message
    ]
    assert [d.location.path for d in said if d.fix] == ["a.py"]
    assert [d.message.rpartition("; ")[2] for d in said if not d.fix] == [
        "together with the other programs that use `tower`"
    ]


@pytest.mark.parametrize("names", [("a.py", "b.py"), ("b.py", "a.py")])
def test_beside_a_program_of_the_bridge_none_is_native(names: tuple[str, str]) -> None:
    files = {names[0]: main(), names[1]: main(before=GRAPH_ONLY), "network.py": NETWORK}
    found, after = texts(files, style="auto")
    assert set(found.values()) == {"bridge"}
    assert "def tower(x, units):\n    return tf.compat.v1.layers.dense(x, units)" in after["network.py"]
    assert all("network.tower(" in after[name] for name in names)


def test_the_reason_names_the_place() -> None:
    files = {"a.py": main(), "b.py": main(before=GRAPH_ONLY), "network.py": NETWORK}
    (unit,) = [unit for unit in units(run(files, style="auto")) if unit.location.path == "a.py"]
    assert unit.reason == "`tower` of network.py is used by others as well (b.py:6)"


@pytest.mark.parametrize("style", ["native", "auto"])
def test_beside_a_program_that_stays_the_network_is_copied(style: str) -> None:
    files = {"a.py": main(), "b.py": main(before=STUCK), "network.py": NETWORK}
    found, after = texts(files, style=style)
    assert found == {"a.py": "native", "b.py": "manual"}
    assert after["b.py"] == files["b.py"] and after["network.py"] == NETWORK
    assert "class Tower(tf.keras.layers.Layer)" in after["network_tf2.py"]


@pytest.mark.parametrize(
    "script",
    [
        "import tensorflow as tf\nimport network\nprint(network.tower(tf.zeros([1, 2]), 3))\n",
        "import tensorflow as tf\nfrom network import tower\nprint(tower(tf.zeros([1, 2]), 3))\n",
        "import tensorflow as tf\nfrom network import *\nprint(tower(tf.zeros([1, 2]), 3))\n",
    ],
)
def test_scripts_that_call_the_network(script: str) -> None:
    """No program imports them, and the function stays for them as it was."""
    found, after = texts({"a.py": main(), "script.py": script, "network.py": NETWORK}, style="auto")
    assert found == {"a.py": "native"} and "class Tower(tf.keras.layers.Layer):" in after["network.py"]
    assert "def tower(x, units):\n    return tf.compat.v1.layers.dense(x, units)\n" in after["network.py"]
    assert "tower(tf.zeros([1, 2]), 3)" in after["script.py"]


@pytest.mark.parametrize(
    "script",
    [
        "import tensorflow as tf\nfrom network import tower as t\nprint(t)\n",
        "import tensorflow as tf\nfrom network import tower\n",
        "from network import tower\n",
    ],
)
def test_scripts_that_import_the_network(script: str) -> None:
    found, after = texts({"a.py": main(), "script.py": script, "network.py": NETWORK}, style="auto")
    assert found == {"a.py": "bridge"} and "def tower" in after["network.py"]


@pytest.mark.parametrize(
    "script",
    [
        "import network\nprint(network)\n",
        "import tensorflow as tf\n\n\ndef tower(x):\n    return tf.abs(x)\n\n\nprint(tower(1.0))\n",
        "import tensorflow as tf\nfrom other import tower\nprint(tower(1.0))\n",
        "import tensorflow as tf\nimport network\nnetwork = None\n",
    ],
)
def test_scripts_that_do_not(script: str) -> None:
    found, _ = texts({"a.py": main(), "script.py": script, "network.py": NETWORK}, style="auto")
    assert found == {"a.py": "native"}


def test_programs_that_need_different_layers() -> None:
    network = NETWORK.replace("(x, units)", "(x, units, scale)", 1).replace("units)\n", "units) * scale\n")
    static = main(use="network.tower(features['x'], 1, 2.0)")
    dynamic = main(use="network.tower(features['x'], 1, features['scale'])")
    found, after = texts({"a.py": static, "b.py": dynamic, "network.py": network}, style="auto")
    assert set(found.values()) == {"bridge"} and "def tower" in after["network.py"]


def test_a_chain_of_shared_helpers() -> None:
    network = NETWORK + "\n\ndef deep(x, units):\n    return tower(x, units) + 1.0\n"
    deep = main(use="network.deep(features['x'], 1)")
    found, after = texts({"a.py": main(), "b.py": deep, "network.py": network}, style="auto")
    assert len(set(found.values())) == 1, "either both are native or none is"
    assert ("def tower" in after["network.py"]) == (found["a.py"] == "bridge")


OPTIMIZATION = """import tensorflow as tf


class Halving(tf.train.Optimizer):
    def __init__(self, rate, name="Halving"):
        super(Halving, self).__init__(False, name)
        self.rate = rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None:
                continue
            assignments.append(param.assign(param - self.rate * grad / 2.0))
        return tf.group(*assignments, name=name)


def create_optimizer(loss, rate):
    step = tf.train.get_or_create_global_step()
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    train_op = Halving(rate).apply_gradients(zip(gradients, variables), global_step=step)
    return tf.group(train_op, [step.assign(step + 1)])
"""


def with_optimizer(**given: str) -> str:
    text = main(**given).replace("import network\n", "import network\nimport optimization\n")
    return text.replace(ONE_OPTIMIZER, "train_op = optimization.create_optimizer(loss, 0.1)")


def test_programs_that_share_an_optimizer_class_become_native_together() -> None:
    files = {"a.py": with_optimizer(), "b.py": with_optimizer(), "network.py": NETWORK, "optimization.py": OPTIMIZATION}
    found, after = texts(files, style="auto")
    assert found == {"a.py": "native", "b.py": "native"}
    assert "class Halving(KernelOptimizer)" in after["optimization.py"] and "create_optimizer" not in after["a.py"]
    assert "optimization.Halving(" in after["a.py"] and "optimization.Halving(" in after["b.py"]


def test_one_that_cannot_keeps_the_other_from_it() -> None:
    files = {"a.py": with_optimizer(), "b.py": with_optimizer(before=GRAPH_ONLY)}
    found, _ = texts({**files, "network.py": NETWORK, "optimization.py": OPTIMIZATION}, style="auto")
    assert set(found.values()) == {"bridge"}


FLAGGED = """import tensorflow as tf


def tower(is_training, x, units):
    x = tf.layers.dense(x, units)
    if is_training:
        x = tf.nn.dropout(x, keep_prob=0.5)
    return x
"""
PREDICTS = """import tensorflow as tf
import network


def model_fn(features, labels, mode):
    predictions = network.tower({flag}, features["x"], 1)
    if mode != tf.estimator.ModeKeys.PREDICT:
        raise ValueError("only predicts")
    return tf.estimator.EstimatorSpec(mode, predictions={{"y": predictions}})


print(list(tf.estimator.Estimator(model_fn).predict(lambda: {{"x": [[1.0]]}})))
"""
TRAINS = main(use="network.tower(mode == tf.estimator.ModeKeys.TRAIN, features['x'], 1)")


def test_a_flag_that_one_program_fixes() -> None:
    """Each could be native by itself, but with another layer: only together they are."""
    found, after = texts({"a.py": PREDICTS.format(flag="False"), "b.py": TRAINS, "network.py": FLAGGED}, style="auto")
    assert found == {"a.py": "native", "b.py": "native"}
    assert "def call(self, x, training=False):" in after["network.py"]
    assert "self.tower(features['x'], training=training)" in after["b.py"].replace('"', "'")
    assert "self.tower(features['x'], training=False)" in after["a.py"].replace('"', "'")


@pytest.mark.parametrize("flag", ["None", "bool(features)", "1"])
def test_a_flag_that_is_none(flag: str) -> None:
    found, after = texts({"a.py": PREDICTS.format(flag=flag), "b.py": TRAINS, "network.py": FLAGGED}, style="auto")
    assert found == {"a.py": "bridge", "b.py": "native"}
    assert "def tower(is_training, x, units):" in after["network.py"] and "network.tower(" in after["a.py"]


def test_a_flag_that_both_fix_stays_a_value() -> None:
    files = {"a.py": PREDICTS.format(flag="False"), "b.py": main(use="network.tower(True, features['x'], 1)")}
    found, after = texts({**files, "network.py": FLAGGED}, style="auto")
    assert found == {"a.py": "native", "b.py": "native"}
    assert "def __init__(self, is_training, units):" in after["network.py"]
