"""A program as an Estimator and as what it is migrated to, both in this process."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from modelfn.programs import PATH, migrate_all, run, units

from migrator.vendor.vendoring import FILE_NAMES


def old_program(source: str, folder: Path) -> types.ModuleType:
    """The program, where `tensorflow` is what it was in TensorFlow 1."""
    source = source.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf")
    return loaded("old_program", folder / "old.py", source)


def new_program(source: str, folder: Path, features: str = "columns", exact: bool = False) -> types.ModuleType:
    """The migrated program; `features` says what becomes of its feature columns, `exact` asks for optimizers of TensorFlow 1."""
    files = migrate_all({PATH: source}, features=features, exact=exact)
    load_helpers(files, folder)
    return loaded("new_program", folder / "new.py", files[PATH])


def bridged_program(source: str, folder: Path) -> types.ModuleType:
    """The migrated program, whose model_fns stay graphs."""
    outcomes = run(source, "bridge")
    assert {unit.tier for unit in units(outcomes)} == {"bridge"}, units(outcomes)
    load_helpers({path: outcome.after.decode() for path, outcome in outcomes.items()}, folder)
    return loaded("new_program", folder / "new.py", outcomes[PATH].after.decode())


def load_helpers(files: Mapping[str, str], folder: Path) -> None:
    """Those of a program, which imports them by these names."""
    for name in FILE_NAMES:
        if name in files:
            loaded(name[:-3], folder / name, files[name])


def loaded(name: str, path: Path, source: str) -> types.ModuleType:
    """A module out of a file, so that AutoGraph finds its source."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_equal_weights(estimator: Any, weights: Mapping[str, Any], rtol: float = 1e-6) -> None:
    """Compares the newest checkpoint of an Estimator with weights by their names in TensorFlow 1."""
    for name, value in weights.items():
        expected = estimator.get_variable_value(name)
        np.testing.assert_allclose(np.asarray(value), expected, rtol=rtol, atol=1e-7, err_msg=name)
