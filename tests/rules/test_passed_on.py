"""Packages whose `__init__` passes on what other files define: its imports follow what a model_fn or a helper becomes."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, run, units

HEAD = "import tensorflow as tf\n\n\n"
HELPER = "def hidden(x):\n    return tf.layers.dense(x, 3)\n\n\n"
BODY = ["predictions = tf.layers.dense(hidden(features['x']), 1)", LOSS, TRAIN_OP, SPEC]
MODEL_FN = "def model_fn(features, labels, mode):\n" + "".join(f"    {line}\n" for line in BODY)
TRAIN = "import tensorflow as tf\n\nfrom .models import model_fn\n\nestimator = tf.estimator.Estimator(model_fn)\n"


def migrated(init: str, train: str = TRAIN, style: str = "native") -> tuple[set[str], dict[str, str]]:
    """The tiers, and the files afterwards."""
    files = {
        "p/__init__.py": "",
        "p/train.py": train,
        "p/models/__init__.py": init,
        "p/models/towers.py": HEAD + HELPER + MODEL_FN,
    }
    outcomes = run(files, style)
    return {unit.tier for unit in units(outcomes)}, {path: outcome.after.decode() for path, outcome in outcomes.items()}


@pytest.mark.parametrize(
    ("init", "after"),
    [
        ("from .towers import model_fn\n", "from .towers import create_model\n"),
        ("from .towers import hidden, model_fn\n", "from .towers import Hidden, create_model\n"),
        (
            "from .towers import model_fn\n\n__all__ = ['model_fn', \"other\"]\n",
            "from .towers import create_model\n\n__all__ = ['create_model', \"other\"]\n",
        ),
        ("from p.models.towers import model_fn\n", "from p.models.towers import create_model\n"),
        (
            "import tensorflow\n\nfrom .towers import model_fn\n",
            "import tensorflow\n\nfrom .towers import create_model\n",
        ),
        ("from . import towers\n", "from . import towers\n"),
    ],
)
def test_imports_follow(init: str, after: str) -> None:
    train = (
        TRAIN if "model_fn" in init else TRAIN.replace("import model_fn", "import towers").replace("(m", "(towers.m")
    )
    tiers, files = migrated(init, train)
    assert tiers == {"native"}
    assert files["p/models/__init__.py"] == after
    if "model_fn" in init:
        assert "from .models import create_model\n" in files["p/train.py"]
    assert "model_fn" not in "".join(files[path] for path in ("p/train.py", "p/models/__init__.py"))


@pytest.mark.parametrize(
    "init",
    [
        "from .towers import model_fn\n\nMODELS = {'towers': model_fn}\n",
        "from .towers import model_fn\n\n\ndef get():\n    return dict(f=model_fn)\n",
        "from .towers import hidden\nfrom .towers import model_fn\n\nprint(hidden)\n",
    ],
)
def test_what_reads_them_is_no_mere_passing_on(init: str) -> None:
    tiers, files = migrated(init)
    assert tiers == {"manual"}
    assert files["p/models/__init__.py"] == init
    assert "tf.estimator.Estimator(model_fn)" in files["p/train.py"]


def test_in_the_bridge_names_stay() -> None:
    tiers, files = migrated("from .towers import model_fn\n", style="bridge")
    assert tiers == {"bridge"}
    assert files["p/models/__init__.py"] == "from .towers import model_fn\n"
    assert "graph_model(model_fn)" in files["p/train.py"]
