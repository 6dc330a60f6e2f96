"""Functions that make Estimators and reach their callers through packages, other names and other files."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate_all

from migrator.discover.components import components

BODY = ["predictions = tf.layers.dense(features['x'], params['units'])", LOSS, TRAIN_OP, SPEC]
MODEL_FN = "def model_fn(features, labels, mode, params):\n" + "".join(f"    {line}\n" for line in BODY)
FACTORY = "def make(units, config=None):\n    return tf.estimator.Estimator(model_fn, params={'units': units}, config=config)\n"
LINEAR = f"import tensorflow as tf\n\n\n{MODEL_FN}\n\n{FACTORY}"
TASK = """import tensorflow as tf
{imports}


def main():
    config = tf.estimator.RunConfig(tf_random_seed=3)
    model = {make}(1, config)
    model.train(lambda: None, steps=5)
"""
BY_NAME = "from .linear import make\n"
BY_STAR = "from .linear import *\n"
WAYS = [
    ({"models/__init__.py": BY_STAR}, "from models import make", "make"),
    ({"models/__init__.py": BY_STAR}, "from models import *", "make"),
    ({"models/__init__.py": BY_STAR}, "import models as m", "m.make"),
    ({"models/__init__.py": BY_NAME}, "from models import make", "make"),
    ({"models/__init__.py": BY_NAME}, "from models import make as build", "build"),
    ({"models/__init__.py": "from .linear import make as build\n"}, "from models import build", "build"),
    ({"models/__init__.py": "from .linear import make as build\n"}, "import models", "models.build"),
    ({"models/__init__.py": "from . import linear as deep\n"}, "import models", "models.deep.make"),
    ({"models/__init__.py": "from . import linear as deep\n"}, "from models import deep", "deep.make"),
    ({"models/__init__.py": "__all__ = []\n__all__ += ['make']\n" + BY_STAR}, "import models", "models.make"),
    ({"models/__init__.py": BY_STAR + "__all__ = list(names)\n"}, "from models import *", "make"),
    ({"models/__init__.py": BY_NAME, "p/__init__.py": "from models import make\n"}, "from p import make", "make"),
    ({"models/__init__.py": BY_STAR, "p/__init__.py": "from models import *\n"}, "from p import *", "make"),
    ({"models/__init__.py": BY_NAME, "p/__init__.py": "from models import make as b\n"}, "from p import b as c", "c"),
    ({"models/__init__.py": BY_STAR, "p.py": "import models\nbuild = models.make\n"}, "from p import build", "build"),
    ({"models/__init__.py": ""}, "from elsewhere import *\nfrom models.linear import *", "make"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "imports", "make"), WAYS)
def test_the_caller_moves_along(files: dict[str, str], imports: str, make: str) -> None:
    task = TASK.format(imports=imports, make=make)
    after = migrate_all({**files, "models/linear.py": LINEAR, "task.py": task})
    assert "    train(model, lambda: None, steps=5)\n" in after["task.py"] and imports in after["task.py"]
    if (
        f"    model = {make}(1)\n" in after["task.py"]
    ):  # the one caller is seen, so that the function makes the configuration
        assert "config=RunConfig(tf_random_seed=3))\n" in after["models/linear.py"]
    else:
        assert f"    config = RunConfig(tf_random_seed=3)\n    model = {make}(1, config)\n" in after["task.py"]
    assert {path: after[path] for path in files} == files


@pytest.mark.parametrize(
    "files",
    [
        {"p/__init__.py": "from .models import make\n", "p/models/__init__.py": BY_NAME},
        {"p/__init__.py": "from p.models import *\n", "p/models/__init__.py": "from p.models.linear import *\n"},
        {"p/__init__.py": "", "q.py": "from p.models.linear import make\n", "p/models/__init__.py": ""},
    ],
)
def test_files_on_the_way_travel_along(files: dict[str, str]) -> None:
    imports = "from p import make" if "q.py" not in files else "from q import make"
    tree = {**files, "p/models/linear.py": LINEAR, "task.py": TASK.format(imports=imports, make="make")}
    raw = {path: text.encode() for path, text in tree.items()}
    (component,) = components(raw)
    assert {path for path, text in tree.items() if text} <= set(component.files)
    after = migrate_all({path: tree[path] for path in component.files})
    assert "    train(model, lambda: None, steps=5)\n" in after["task.py"]


def test_a_driver_that_never_names_tensorflow_travels_along() -> None:
    tree = {
        "models.py": LINEAR,
        "factory.py": "from models import make\n\n\ndef build(config):\n    return make(1, config)\n",
        "config.py": "import tensorflow as tf\n\n\ndef config():\n    return tf.estimator.RunConfig(tf_random_seed=3)\n",
        "task.py": "from config import config\nfrom factory import build\n\nbuild(config()).train(lambda: None, steps=5)\n",
    }
    (component,) = components({path: text.encode() for path, text in tree.items()})
    assert set(component.files) == set(tree)
    after = migrate_all(tree)
    assert "\ntrain(build(config()), lambda: None, steps=5)\n" in after["task.py"]
    assert "return RunConfig(tf_random_seed=3)" in after["config.py"]


UNSEEN = [
    ("import models", "model = getattr(models, NAME)(1)  # HERE"),
    ("import models", "model = vars(models)[NAME](1)  # HERE"),
    ("import models", "model = {'a': models}['a'].make(1)  # HERE"),
    ("import models", "m = models  # HERE\n    model = m.make(1)"),
    ("from models import *", "model = globals()[NAME](1)  # HERE"),
    ("import importlib", "model = importlib.import_module('models').make(1)  # HERE"),
    ("import importlib", "model = importlib.import_module('models.' + NAME, 'p').make(1)  # HERE"),
    ("import importlib", "model = importlib.import_module(NAME + '.linear').make(1)  # HERE"),
    ("", "model = __import__('models').make(1)  # HERE"),
    ("from models import *\nfrom elsewhere import *", "model = make(1)  # HERE"),
]


@pytest.mark.parametrize(("imports", "line"), UNSEEN)
def test_what_calls_it_by_no_name_keeps_the_program(imports: str, line: str) -> None:
    task = TASK.format(imports=imports, make="make").replace("model = make(1, config)", line)
    files = {"models/__init__.py": BY_STAR, "models/linear.py": LINEAR, "task.py": task}
    assert "an Estimator is not followed here" in manual_reason(files)


SEEN = [
    "getattr(models, 'SIZE')",
    "hasattr(models, NAME)",
    "importlib.reload(models)",
    "print(models)",
    "importlib.import_module('json')",
    "importlib.import_module('plots.' + NAME)",
    "globals()['SIZE']",
    "globals().update(SIZE=1)",
    "vars(NAME)",
    "getattr(NAME, NAME)",
]


@pytest.mark.parametrize("line", SEEN)
def test_modules_that_are_looked_at_for_something_else(line: str) -> None:
    imports = "import importlib\nimport models\nfrom models import *"
    task = TASK.format(imports=imports, make="models.make").replace("    model =", f"    {line}\n    model =")
    files = {"models/__init__.py": BY_STAR, "models/linear.py": LINEAR, "task.py": task}
    assert "    train(model, lambda: None, steps=5)\n" in migrate_all(files)["task.py"]


def test_what_a_star_does_not_give() -> None:
    linear = LINEAR.replace("def model_fn", "__all__ = ['model_fn']\n\n\ndef model_fn")
    task = TASK.format(imports="from models import *\nfrom own import make", make="make")
    own = "import tensorflow as tf\n\n\ndef make(units, config):\n    return units\n"
    after = migrate_all({"models/__init__.py": BY_STAR, "models/linear.py": linear, "task.py": task, "own.py": own})
    assert "    model.train(lambda: None, steps=5)\n" in after["task.py"]


def test_the_message_names_the_estimator_that_is_not_followed() -> None:
    config = "import tensorflow as tf\n\n\ndef config():\n    return tf.estimator.RunConfig()\n"
    task = "from config import config\nfrom models import make\n\nmodel = make(1, config())\nmodel.unknown()\n"
    said = manual_reason({"models.py": LINEAR, "config.py": config, "task.py": task})
    assert "what it has to do with the Estimator of models.py:12 is not seen" in said
    assert "give migrate all files" not in said
